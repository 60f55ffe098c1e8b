"""Which places a shell command surely writes to by its words, so that what the sandbox would refuse is known before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from codeagent.policy.commands import Command
from codeagent.policy.effort import spend
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.replaced import written_names
from codeagent.policy.shell_script import Direction
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name
from codeagent.workspace.git_places import repository_of

_MOST = 20
_RESOLVED = 5
_VALUED = {
    "touch": "drt",
    "mkdir": "m",
    "truncate": "sr",
    "rmdir": "",
    "tee": "",
    "chmod": "",
    "chown": "",
    "chgrp": "",
}
"""Programs whose operands are written to, with the letters of those options that take a value."""

_BEHIND_FIRST = frozenset({"chmod", "chown", "chgrp"})
_TAKES_AWAY = frozenset({"rm", "unlink", "mv"})
_NEVER_WRITTEN = frozenset({"-", "/dev/null", "/dev/stdout", "/dev/stderr"})
_READS_SETTINGS = ("-l", "--list", "--get", "--show", "get", "list")
_ELSEWHERE = frozenset({"--global", "--system", "-f", "--file"})
_REMOTES = frozenset({"add", "remove", "rm", "rename", "set-url", "set-branches"})


def surely_written(commands: Iterable[Command], paths: NamedPaths) -> tuple[Path, ...]:
    """The first of them; ``paths`` knows where the commands run."""
    found: dict[Path, None] = {}
    for inner in chain.from_iterable(command.everything() for command in commands):
        folders = paths.folders(inner.simple.places)
        for path in _written(inner, folders[0]) if len(folders) == 1 else ():
            found[path] = None
            if len(found) == _MOST:
                return tuple(found)
    return tuple(found)


def _written(command: Command, folder: Path) -> Iterator[Path]:
    targets = [one.target for one in command.simple.redirections if one.direction is not Direction.READS]
    texts = [text_of(target) for target in targets if is_clear(target) and not target.text.isdecimal()]
    name, words = base_name(command.simple.name), command.words
    if words and all(map(is_clear, words)):
        texts += _operands(words, _VALUED[name]) if name in _VALUED else written_names(words, folder)
        yield from _settings([word.text for word in words], folder) if name == "git" else ()
    for text in texts:
        if not text or text in _NEVER_WRITTEN or "\0" in text:
            continue
        spend(_RESOLVED)
        with suppress(OSError, RuntimeError):  # what cannot be a path is written to by nobody
            if not (name in _TAKES_AWAY and (folder / text).is_symlink()):  # the link goes, not what it leads to
                yield (folder / text).resolve()


def is_clear(word: Word) -> bool:
    """Whether it is known which path the word is."""
    return word.is_known and not word.glob and (not word.has_tilde or word.text == "~" or word.text.startswith("~/"))


def text_of(word: Word) -> str:
    """The path that a clear word is."""
    return str(Path.home()) + word.text[1:] if word.has_tilde else word.text


def _operands(words: Sequence[Word], valued: str) -> list[str]:
    """What is no option and no value of one."""
    found: list[str] = []
    rest = iter(words[1:])
    is_over = False
    for word in rest:
        if is_over or not word.text.startswith("-") or word.text == "-":
            found.append(text_of(word))
        elif word.text == "--":
            is_over = True
        elif word.text[1] != "-" and word.text[-1] in valued:
            next(rest, None)
    return found[1:] if base_name(words[0].text) in _BEHIND_FIRST else found


def _settings(texts: Sequence[str], folder: Path) -> Iterator[Path]:
    """The settings of the repository, for git commands that surely change them."""
    is_config = texts[1:2] == ["config"] and texts[3:] and not _ELSEWHERE & set(texts[2:])
    writes = bool(is_config) and not any(text.startswith(_READS_SETTINGS) for text in texts[2:])
    if writes or (texts[1:2] == ["remote"] and _REMOTES & set(texts[2:3])):
        top = repository_of(folder)
        if top is not None and (top / ".git").is_dir():
            yield top / ".git/config"
