"""Where the words of a command lead, so that a yes to it is not taken for one to other places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from codeagent.policy.commands import Command
from codeagent.policy.effort import spend
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.shell_words import Word

_MOST = 200
_RESOLVED = 5
_BEFORE_PATTERN = re.compile(r"(?:[^*?\[]*/)?")

LedTo = Mapping[str, tuple[str, object]]
"""For each path that is named, where that really is, and which folder stands there, if one does."""


def led_to(commands: Iterable[Command], paths: NamedPaths) -> LedTo:
    """Where the first paths lead that the line names, patterns by the folder that they begin in."""
    every = chain.from_iterable(command.everything() for command in commands)
    named = chain.from_iterable(_named(inner, paths) for inner in every)
    found = dict.fromkeys(islice(named, _MOST))
    spend(_RESOLVED * len(found))
    return {path: _there(path) for path in found}


def leads_elsewhere(asked: LedTo, now: LedTo) -> bool:
    """Whether a path leads to another place by now, or to another folder; what was not there may have come.

    What was not looked at lies in a folder that has come since, and that is a word of the line itself.
    """
    return any(
        was_real != now[path][0] or (folder is not None and folder != now[path][1])
        for path, (was_real, folder) in asked.items()
        if path in now
    )


def _named(inner: Command, paths: NamedPaths) -> Iterator[str]:
    words = (*inner.words[1:], *(one.target for one in inner.simple.redirections))
    texts = [text for word in words if (text := _text(word)) and "\0" not in text]
    for folder in paths.folders(inner.simple.places):
        yield str(folder)
        yield from (str(folder / text) for text in texts)


def _text(word: Word) -> str:
    """The path that a word may be, without the name of an option before it."""
    if not word.is_known:
        return ""
    text = str(Path.home()) + word.text[1:] if word.has_tilde and word.text[1:2] in {"", "/"} else word.text
    if text.startswith("-"):
        text = text.partition("=")[2]
    found = _BEFORE_PATTERN.match(text) if word.glob else None
    return (found[0] or ".") if found else text


def _there(path: str) -> tuple[str, object]:
    try:
        real = Path(path).resolve()
        status = real.stat() if real.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # a circle of links, or no path at all
        return path, None
    return str(real), (status.st_dev, status.st_ino) if status else None
