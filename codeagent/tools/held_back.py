"""What the sandbox kept a command from, and when that is worth a question: whether to run it once more without."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from codeagent.core.approvals import CommandPreview
from codeagent.workspace.bounds import Refusal
from codeagent.workspace.shell_process import Confine

_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"|([^\s'\"|&;<>()]+)")
_HIDES_FAILURE = re.compile(r"[|;\n&]")
_LARGEST_LOOKED_AT = 1_000_000
_MOST_LOOKED_AT = 50
_MOST_NAMED = 3


@dataclass(slots=True)
class HeldBack:
    """Remembers for a session what was offered although the command went well, so that it is offered once only."""

    offered: set[Path] = field(default_factory=set[Path])

    def worth_asking(
        self, refusals: Sequence[Refusal], command: str, cwd: Path, exit_code: int | None
    ) -> tuple[Refusal, ...]:
        """The refusals that a question is about; none where the command has no exit code.

        Behind an exit code of 0 only what the command surely failed of: a program says so in the plain form, the
        command names the place or is one whose exit code is not that of its parts, and nothing in it deals with
        failure (``||``).
        """
        if exit_code is None or exit_code != 0:
            return tuple(refusals) if exit_code else ()
        if "||" in command:
            return ()
        hides = _HIDES_FAILURE.search(command) is not None
        named = tuple(_named(command, cwd))
        found = [
            refusal
            for refusal in refusals
            if refusal.written is not None
            and refusal.is_plain
            and refusal.written not in self.offered
            and (hides or _is_among(refusal.written.resolve(), named))
        ]
        self.offered.update(refusal.written for refusal in found if refusal.written is not None)
        return tuple(found)


def in_words(refusals: Sequence[Refusal]) -> str:
    """What the sandbox kept it from: the end of a sentence."""
    *others, last = map(str, refusals)
    return f"{', '.join(others)} and {last}" if others else last


def once_more(preview: CommandPreview, missed: Sequence[Refusal]) -> tuple[CommandPreview, str]:
    """How a command would run once more after it was kept from something, and what is let through to it, in words.

    Where it missed nothing but services, those alone are opened, and the rest of the sandbox stays.
    """
    services = tuple(dict.fromkeys(refusal.service for refusal in missed))
    if all(services):
        return replace(preview, reaches=services, has_run=True), f"with {' and '.join(services)} in reach"
    held_back = f"The sandbox kept it from {in_words(missed)}."
    return replace(preview, held_back=held_back, reaches=(), has_run=True), "without the sandbox"


def as_asked(confine: Confine, preview: CommandPreview) -> Confine | None:
    """What holds a command: less where the person was told so by ``preview`` and said yes."""
    if preview.held_back:
        return None
    if preview.let_through:
        confine = confine.with_git_open()
    if preview.reaches:
        confine = confine.with_opened(preview.reaches)
    return confine.with_services_open() if preview.opens_services else confine


def what_would_be_refused(writes: Sequence[Path], confine: Confine, show: Callable[[Path], str]) -> tuple[str, str]:
    """Of places that a command writes to: why it must run without the sandbox, or else what that would let through.

    Where it is about git's own files alone, the sandbox can let these through and hold all else.
    """
    refused = [path for path in writes if confine.keeps_from(path)]
    if not refused:
        return "", ""
    shown = " and ".join(map(show, refused[:_MOST_NAMED]))
    if any(map(confine.with_git_open().keeps_from, refused)):
        return f"The sandbox would keep it from writing to {shown}.", ""
    return "", shown


def own_refusals(
    refusals: Sequence[Refusal], command: str, cwd: Path, started: float, *, is_read_only: bool
) -> tuple[Refusal, ...]:
    """The refusals that are this command's own, not those that it printed out of a file.

    A command that only reads is refused no writing; a line of a file that it names and that is older
    than ``started`` (seconds of the wall clock) was read there, and one of its own words is one that it prints.
    """
    own = [refusal for refusal in refusals if not (is_read_only and refusal.written is not None)]
    if not own:
        return ()
    read = "\n".join((command, *_texts(command, cwd, started)))
    return tuple(refusal for refusal in own if refusal.line.strip() not in read)


def _words(command: str) -> Iterator[str]:
    for found in _WORD.finditer(command):
        yield found[1] or found[2] or found[3] or ""


def _named(command: str, cwd: Path) -> Iterator[Path]:
    """The places that its words may mean, the values of options too."""
    for word in _words(command):
        for text in dict.fromkeys((word, word.partition("=")[2])):
            if text and "\0" not in text:
                with suppress(OSError, RuntimeError):  # a circle of links, a name that is too long, nobody's home
                    yield (cwd / Path(text).expanduser()).resolve()


def _is_among(written: Path, named: Sequence[Path]) -> bool:
    """Whether one of the places is the one that is written, the folder it is in, or below it."""
    return any(place in {written, written.parent} or place.is_relative_to(written) for place in named)


def _texts(command: str, cwd: Path, started: float) -> Iterator[str]:
    """What stands in the files that the command names and did not write."""
    for word in islice(dict.fromkeys(_words(command)), _MOST_LOOKED_AT):
        try:
            names = islice(glob.iglob(word, root_dir=cwd), _MOST_LOOKED_AT)  # noqa: PTH207 - a word may be absolute
            for path in (cwd / name for name in names):
                status = path.stat()
                if path.is_file() and status.st_size <= _LARGEST_LOOKED_AT and status.st_mtime < started:
                    yield path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
