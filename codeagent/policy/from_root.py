"""How a command is written when it is started from the workspace root: which program a relative path really means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from codeagent.policy.commands import Command
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import SHELLS, base_name

_RUN_SCRIPTS = SHELLS | frozenset(
    {"python", "pypy", "node", "nodejs", "perl", "ruby", "php", "lua", "luajit", "tclsh", "pwsh", "Rscript", "julia"}
)
_NO_SCRIPT = frozenset({"-c", "-e", "-m", "--eval", "-p", "--print"})


def from_root(command: Command, folders: Sequence[Path], root: Path) -> tuple[tuple[Word, ...], ...]:
    """The ways to write the command at ``root``; ``folders`` are those where it runs, none when that is not known.

    After ``cd sub`` the program ``./x`` is ``sub/x``, and a rule that allows ``./x`` is not about it. Empty when no
    rule can be about the command: a wrapper has a relative program run somewhere else.
    """
    words = command.words
    if tuple(folders) == (root,) or not any(_script(found.words) is not None for found in command.everything()):
        return (words,)
    at = _script(words)
    if at is None or len(folders) != 1 or any(_script(found.words) is not None for found in command.inner):
        return ()
    written = PurePosixPath(words[at].text)
    if ".." in written.parts:
        return ()
    real = folders[0] / written
    names = (str(real.relative_to(root)), f"./{real.relative_to(root)}") if real.is_relative_to(root) else (str(real),)
    return tuple((*words[:at], Word(name), *words[at + 1 :]) for name in names if "/" in name)


def _script(words: Sequence[Word]) -> int | None:
    """Which word names what runs by a path that depends on the folder; None when there is none."""
    if not words or not words[0].is_fixed:
        return None
    if "/" in words[0].text:
        return None if words[0].text.startswith("/") else 0
    if base_name(words[0].text).rstrip("0123456789.") not in _RUN_SCRIPTS:
        return None
    for at, word in enumerate(words[1:], start=1):
        if word.text in _NO_SCRIPT or not word.is_fixed:
            return None
        if not word.text.startswith("-"):
            return None if word.text.startswith("/") else at
    return None
