"""Keeps the start and the end of a command's output, however much it prints, and the rest in a log file."""

from __future__ import annotations

import threading
from codecs import IncrementalDecoder, getincrementaldecoder
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.cut_texts import without_cut_start
from codeagent.core.text import Redactor, counted
from codeagent.workspace.output_log import OutputLog

_LIVE_BYTES = 8_192
_OPEN_LINE_BYTES = 8_192
_WIDEST_CHARACTER = 4
_NEAR = 200
_CONTINUATION = frozenset(range(0x80, 0xC0))


@dataclass(slots=True)
class Captured:
    """Output as it comes in; every method may be called from any thread.

    ``limit`` is how many characters of it are kept for the model, one third from
    the start and two from the end. ``log`` gets the raw bytes up to a cap, but for
    ``secrets``, keys that no log may hold. Of a
    line that is overwritten with carriage returns only the last state is kept.
    """

    limit: int
    log: Path | None = None
    secrets: tuple[str, ...] = ()
    total_bytes: int = 0
    total_newlines: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)
    _dropped: int = 0
    _open_line: bytes = b""
    _ends_open: bool = False
    _live: bytearray = field(default_factory=bytearray)
    _is_flood: bool = False
    _decoder: IncrementalDecoder = field(default_factory=lambda: getincrementaldecoder("utf-8")("replace"))
    _log: OutputLog = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._log = OutputLog(self.log, self.secrets)

    def add(self, data: bytes) -> None:
        """Takes more output; writes it to the log."""
        if not data:
            return
        with self._lock:
            self.total_bytes += len(data)
            self.total_newlines += data.count(b"\n")
            self._ends_open = not data.endswith(b"\n")
            self._log.add(data)
            self._live += data
            if len(self._live) > 2 * _LIVE_BYTES:
                del self._live[:-_LIVE_BYTES]
                self._is_flood = True
            self._keep(self._closed_lines(data))

    def take_live(self) -> str:
        """What came in since the last time; of very much only the end. Half a character waits for its rest."""
        with self._lock:
            data, is_flood = self._live, self._is_flood or len(self._live) > _LIVE_BYTES
            self._live, self._is_flood = bytearray(), False
            if not is_flood:
                return self._decoder.decode(data)
            self._decoder.reset()
            return "\n…\n" + without_cut_start(self._decoder.decode(_without_broken_start(data[-_LIVE_BYTES:])))

    def kept(self) -> tuple[str, bool]:
        """Start and end of the output, and whether something between had to be left out (a line says what)."""
        with self._lock:
            head, tail = self._head, self._tail + _last_states(self._open_line)
            dropped, total_newlines = self._dropped, self.total_newlines
        if not dropped:
            head = tail = head + tail
            text = head.decode("utf-8", "replace")
            if len(text) <= self.limit:
                return text, False
        size = dropped + len(tail) + (len(head) if dropped else 0)
        third, redactor = self.limit // 3, Redactor(self.secrets)
        start = head.decode("utf-8", "replace")
        start = start[: redactor.cut(start, _end_near_newline(start, third))]
        end = _without_broken_start(tail).decode("utf-8", "replace")
        end = without_cut_start(end) if dropped else end
        at = _start_near_newline(end, max(0, len(end) + third - self.limit))
        end = end[redactor.cut(end, at, keeps_end=True) :]
        lines = max(0, total_newlines - start.count("\n") - end.count("\n"))
        left_out = max(0, size - len(start.encode()) - len(end.encode()))
        # ASCII: one `…` doubles what a text takes
        note = f"[... {counted(lines, 'line')} ({counted(left_out, 'byte')}) left out ...]"
        return f"{start.removesuffix(chr(10))}\n{note}\n{end}", True

    @property
    def total_lines(self) -> int:
        """Lines so far; a last one without a newline counts."""
        with self._lock:
            return self.total_newlines + (self._ends_open and self.total_bytes > 0)

    @property
    def log_problem(self) -> str:
        """Why the log does not hold everything; empty when it does."""
        with self._lock:
            return self._log.problem

    def close(self, *, keep_log: bool) -> None:
        """No more output will come; the log is removed unless it is to be kept."""
        with self._lock:
            self._log.close(is_kept=keep_log)

    def _closed_lines(self, data: bytes) -> bytes:
        """What can be kept for good: an unfinished line waits, it may still be overwritten."""
        data = self._open_line + data
        cut = data.rfind(b"\n") + 1
        closed, rest = _last_states(data[:cut]), data[cut:]
        if b"\r" in rest:
            last = rest.rstrip(b"\r").rpartition(b"\r")[2]
            rest = last + b"\r" if rest.endswith(b"\r") else last
        if len(rest) > _OPEN_LINE_BYTES and not rest.endswith(b"\r"):
            closed, rest = closed + rest, b""
        self._open_line = rest
        return closed

    def _keep(self, data: bytes) -> None:
        third = self.limit // 3
        room = third * _WIDEST_CHARACTER - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        tail_limit = (self.limit - third) * _WIDEST_CHARACTER
        self._tail += data
        if len(self._tail) > 2 * tail_limit:
            self._dropped += len(self._tail) - tail_limit
            del self._tail[:-tail_limit]


def _last_states(data: bytes) -> bytes:
    """Each line as it stands after its carriage returns; those before a newline are line endings."""
    if b"\r" not in data:
        return data
    data = data.replace(b"\r\n", b"\n")
    if b"\r" not in data:
        return data
    return b"\n".join(line.rstrip(b"\r").rpartition(b"\r")[2] for line in data.split(b"\n"))


def _without_broken_start(data: bytearray) -> bytearray:
    skip = 0
    while skip < min(_WIDEST_CHARACTER - 1, len(data)) and data[skip] in _CONTINUATION:
        skip += 1
    return data[skip:]


def _end_near_newline(text: str, at: int) -> int:
    return text.rfind("\n", max(0, min(at, len(text)) - _NEAR), at) + 1 or at


def _start_near_newline(text: str, at: int) -> int:
    return text.find("\n", at, at + _NEAR) + 1 or at
