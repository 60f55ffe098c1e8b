"""What the model has seen of each file, so that it never changes text it does not know."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.diff import FileDiff, LineKind, split_lines
from codeagent.core.errors import FileProblem, StaleFile, Unread
from codeagent.workspace.files import decode

Ranges = tuple[tuple[int, int], ...]
_MOST_SIGHTINGS = 40
_ABSENT = {False: "were not read yet", True: "are not in the conversation, or not any more"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one call showed or wrote of a file: ``lines`` are 1-based inclusive ranges, None is every line.

    Where ``is_own``, the text stands in the call itself, else in its result.
    """

    lines: Ranges | None
    call_id: str = ""
    is_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
    """What was seen of one file, and where in the conversation, oldest first.

    ``digest`` tells the content it was seen in; ``told`` is a later content that the
    model was told of ("" is none, "gone" a deleted file). ``is_forgotten`` when
    something that was seen of it has left the conversation.
    """

    path: Path
    digest: str
    sightings: tuple[Sighting, ...]
    told: str = ""
    is_forgotten: bool = False

    @property
    def lines(self) -> Ranges | None:
        """All lines that were seen and are still in the conversation; None is every line."""
        ranges: list[tuple[int, int]] = []
        for sighting in self.sightings:
            if sighting.lines is None:
                return None
            ranges += sighting.lines
        return _merged(ranges)


class SeenFiles:
    """The record of one session, by canonical path; may be used from several threads."""

    def __init__(self) -> None:
        self._files: dict[Path, SeenFile] = {}
        self._lock = threading.Lock()

    def shown(self, path: Path, data: bytes, lines: Iterable[int] | None = None, *, call_id: str = "") -> None:
        """Notes that a call's result showed ``lines`` (1-based, whole ones; None is all) of a file with ``data``."""
        seen = Sighting(lines=None if lines is None else _ranges(lines), call_id=call_id)
        fresh = SeenFile(path=path, digest=_digest(data), sightings=())
        with self._lock:
            known = self._files.get(path, fresh)
            known = replace(known, told="") if known.digest == fresh.digest else fresh
            self._files[path] = _with(known, seen)

    def wrote(self, path: Path, data: bytes, diff: FileDiff | None = None, *, call_id: str = "") -> None:
        """Notes that a call wrote ``data``: the lines that came in are known, those seen before move along.

        Without a ``diff`` the model wrote the whole file and knows all of it.
        """
        fresh = SeenFile(path=path, digest=_digest(data), sightings=())
        lines = None if diff is None else _added(diff)
        with self._lock:
            if diff is not None and (known := self._files.get(path)):
                moved = tuple(_moved_along(sighting, diff) for sighting in known.sightings)
                fresh = replace(fresh, sightings=moved, is_forgotten=known.is_forgotten)
            self._files[path] = _with(fresh, Sighting(lines=lines, call_id=call_id, is_own=True))

    def keep_only(self, calls: Container[str], results: Container[str]) -> None:
        """Forgets what is no longer in the conversation: that has these calls, and these results in full."""
        with self._lock:
            for path, known in self._files.items():
                held = tuple(
                    one
                    for one in known.sightings
                    if not one.call_id or one.call_id in (calls if one.is_own else results)
                )
                if held != known.sightings:
                    self._files[path] = replace(known, sightings=held, is_forgotten=True)

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
        if not known.sightings and known.is_forgotten:
            raise Unread(
                f"What was read of {display} was taken out of the conversation since.",
                hint="Read it again, then repeat the call.",
            )
        if (seen := known.lines) is None:
            return
        wanted = _ranges(lines) if lines is not None else _all_lines(data)
        missing = _without(wanted, seen)
        if missing:
            places = ", ".join(f"{first}-{last}" if first < last else str(first) for first, last in missing[:5])
            first, last = missing[0]
            raise Unread(
                f"Of {display} these lines {_ABSENT[known.is_forgotten]}: {places}{', …' if len(missing) > 5 else ''}.",  # noqa: PLR2004 - five places are enough to go on with
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

    def restore(self, files: Sequence[SeenFile]) -> None:
        """Takes over a snapshot; where a file changed since, ``changed`` tells of it and ``require`` refuses."""
        with self._lock:
            self._files.update((known.path, known) for known in files)


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


def _with(known: SeenFile, seen: Sighting) -> SeenFile:
    """The file with one more sighting; older ones that it holds whole are left out, and too many are put together.

    What is put together counts as seen where the oldest part was, so it is never held for longer than it is there.
    """
    older = [one for one in known.sightings if not _holds(seen, one)]
    while len(older) >= _MOST_SIGHTINGS:
        first, second = older[:2]
        both = None if first.lines is None or second.lines is None else _merged((*first.lines, *second.lines))
        older[:2] = [replace(first, lines=both)]
    return replace(known, sightings=(*older, seen))


def _holds(newer: Sighting, older: Sighting) -> bool:
    if newer.lines is None or older.lines is None:
        return newer.lines is None
    return not _without(older.lines, newer.lines)


def _moved_along(seen: Sighting, diff: FileDiff) -> Sighting:
    return seen if seen.lines is None else replace(seen, lines=_moved(seen.lines, diff))


def _added(diff: FileDiff) -> Ranges:
    """The lines that came in, numbered as in the new file."""
    added: list[tuple[int, int]] = []
    for hunk in diff.hunks:
        new = hunk.new_start
        for line in hunk.lines:
            if line.kind is LineKind.ADDED:
                added.append((new, new))
            new += line.kind is not LineKind.REMOVED
    return _merged(added)


def _moved(seen: Ranges, diff: FileDiff) -> Ranges:
    """Seen lines of the old file, numbered as in the new file."""
    kept: list[tuple[int, int]] = []
    position, shift = 1, 0
    for hunk in diff.hunks:
        kept += _clipped(seen, position, hunk.old_start - 1, shift)
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            if line.kind is LineKind.SAME:
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
