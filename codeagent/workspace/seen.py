"""What the model has seen of each file, so that it never changes text it does not know."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.diff import FileDiff, LineKind, split_lines
from codeagent.core.errors import FileProblem, StaleFile, Unread
from codeagent.workspace.files import decode

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
    """What was seen of one file: ``lines`` are 1-based inclusive ranges, None is every line.

    ``digest`` tells the content it was seen in; ``told`` is a later content that the
    model was told of ("" is none, "gone" a deleted file).
    """

    path: Path
    digest: str
    lines: Ranges | None
    told: str = ""


class SeenFiles:
    """The record of one session, by canonical path; may be used from several threads."""

    def __init__(self) -> None:
        self._files: dict[Path, SeenFile] = {}
        self._lock = threading.Lock()

    def shown(self, path: Path, data: bytes, lines: Iterable[int] | None = None) -> None:
        """Notes that the model was shown ``lines`` (1-based, whole ones; None is all) of a file that holds ``data``."""
        digest, seen = _digest(data), None if lines is None else _ranges(lines)
        with self._lock:
            known = self._files.get(path)
            if known is not None and known.digest == digest:
                seen = None if seen is None or known.lines is None else _merged((*known.lines, *seen))
            self._files[path] = SeenFile(path=path, digest=digest, lines=seen)

    def wrote(self, path: Path, data: bytes, diff: FileDiff | None = None) -> None:
        """Notes that we wrote ``data``: the lines that came in are known, those seen before move along.

        Without a ``diff`` the model wrote the whole file and knows all of it.
        """
        with self._lock:
            known = self._files.get(path)
            if diff is None or (known is not None and known.lines is None):
                lines = None
            else:
                lines = _moved(known.lines or () if known else (), diff)
            self._files[path] = SeenFile(path=path, digest=_digest(data), lines=lines)

    def require(self, path: Path, data: bytes, lines: Iterable[int] | None, display: str) -> None:
        """Passes when the model has seen ``lines`` (1-based; None is all) of the file as it is now.

        ``display`` is the path for messages. Raises Unread for what was never shown and
        StaleFile when the file's content is another one since.
        """
        known = self._files.get(path)
        if known is None:
            raise Unread(f"{display} was not read yet.", hint="Read it first, then repeat the call.")
        if known.digest != _digest(data):
            raise StaleFile(f"{display} changed since it was read.", hint="Read it again, then repeat the call.")
        if known.lines is None:
            return
        wanted = _ranges(lines) if lines is not None else _all_lines(data)
        missing = _without(wanted, known.lines)
        if missing:
            places = ", ".join(f"{first}-{last}" if first < last else str(first) for first, last in missing[:5])
            first, last = missing[0]
            raise Unread(
                f"Of {display} these lines were not read yet: {places}{', …' if len(missing) > 5 else ''}.",  # noqa: PLR2004 - five places are enough to go on with
                hint=f"Read them first (offset {first}, limit {last - first + 1}), then repeat the call.",
            )

    def changed(self, read: Callable[[Path], bytes | None]) -> tuple[Path, ...]:
        """The seen files that hold something else now; each change is told once.

        ``read`` gives a file's bytes, None when it is gone or cannot be read.
        """
        found: list[Path] = []
        for known in self.snapshot():
            data = read(known.path)
            digest = "gone" if data is None else _digest(data)
            told = "" if digest == known.digest else digest
            with self._lock:
                if told == known.told or self._files.get(known.path) != known:
                    continue
                self._files[known.path] = replace(known, told=told)
            if told:
                found.append(known.path)
        return tuple(found)

    def forget(self, path: Path) -> None:
        """Drops what was seen of a file."""
        with self._lock:
            self._files.pop(path, None)

    def paths(self) -> tuple[Path, ...]:
        """The files of which something was seen, in the order they were first seen."""
        return tuple(known.path for known in self.snapshot())

    def snapshot(self) -> tuple[SeenFile, ...]:
        """Everything that was seen, to be kept with the session."""
        with self._lock:
            return tuple(self._files.values())

    def restore(self, files: Sequence[SeenFile], read: Callable[[Path], bytes | None]) -> None:
        """Takes over a snapshot, but only of files that still hold what was seen; ``read`` as for changed."""
        for known in files:
            data = read(known.path)
            if data is not None and _digest(data) == known.digest:
                with self._lock:
                    self._files[known.path] = replace(known, told="")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _all_lines(data: bytes) -> Ranges:
    try:
        count = len(split_lines(decode(data).text))
    except FileProblem:
        count = data.count(b"\n") + 1
    return ((1, count),) if count else ()


def _ranges(lines: Iterable[int]) -> Ranges:
    return _merged((line, line) for line in lines)


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same lines as few ordered ranges."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def _without(wanted: Ranges, seen: Ranges) -> Ranges:
    """The lines of ``wanted`` that are not in ``seen``; both are ordered."""
    missing: list[tuple[int, int]] = []
    for start, last in wanted:
        first = start
        for seen_first, seen_last in seen:
            if seen_last < first or seen_first > last:
                continue
            if seen_first > first:
                missing.append((first, seen_first - 1))
            first = seen_last + 1
        if first <= last:
            missing.append((first, last))
    return tuple(missing)


def _moved(seen: Ranges, diff: FileDiff) -> Ranges:
    """Seen lines of the old file and lines that came in, numbered as in the new file."""
    kept: list[tuple[int, int]] = []
    position, shift = 1, 0
    for hunk in diff.hunks:
        kept += _clipped(seen, position, hunk.old_start - 1, shift)
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            if line.kind is LineKind.ADDED:
                kept.append((new, new))
            elif line.kind is LineKind.SAME:
                kept += _clipped(seen, old, old, new - old)
            old += line.kind is not LineKind.ADDED
            new += line.kind is not LineKind.REMOVED
        position, shift = old, new - old
    kept += _clipped(seen, position, None, shift)
    return _merged(kept)


def _clipped(seen: Ranges, first: int, last: int | None, shift: int) -> Ranges:
    """The part of ``seen`` from ``first`` to ``last`` (None is the end), moved by ``shift`` lines."""
    return tuple(
        (max(start, first) + shift, (end if last is None else min(end, last)) + shift)
        for start, end in seen
        if end >= first and (last is None or start <= last)
    )
