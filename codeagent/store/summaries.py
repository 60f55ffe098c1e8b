"""What a stored session was about, read from its record without decoding all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from codeagent.core.archive import SessionNamed, SessionSummary
from codeagent.core.commands import is_compaction
from codeagent.core.errors import JournalError
from codeagent.core.events import AgentEvent, SessionStarted, TurnEnded, TurnStarted, UsageReported
from codeagent.store.records import decode_record

_COMPACTION = re.compile(rb'^.*"event":\{"kind":"turn_started","turn":\d+,"text":"/compact.*$', re.MULTILINE)
TITLE_LENGTH = 80
_LAST_LENGTH = 200


def summary_of(path: Path, *, place: str = "") -> SessionSummary:
    """The summary of the record at ``path``; of one that a newer version wrote it says just that. Raises OSError."""
    data = path.read_bytes()
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    turns = data.count(_mark("turn_started")) - sum(_is_compaction(line) for line in _COMPACTION.findall(data))
    summary = SessionSummary(session_id=path.stem, title="", updated_at=changed, turns=turns, model="", place=place)
    try:
        return _filled(summary, data)
    except JournalError as error:
        return replace(summary, title=error.message)


def _is_compaction(line: bytes) -> bool:
    record = decode_record(line)
    return record is not None and isinstance(record.event, TurnStarted) and is_compaction(record.event.text)


def _filled(summary: SessionSummary, data: bytes) -> SessionSummary:
    first = next(_found(data, "turn_started"), None)
    named = next(_found(data, "session_named", last_first=True), None)
    started = next(_found(data, "session_started", last_first=True), None)
    usage = next(_found(data, "usage_reported", last_first=True), None)
    title = first.text if isinstance(first, TurnStarted) else ""
    if isinstance(named, SessionNamed) and named.title:
        title = named.title
    return replace(
        summary,
        title=_line(title, TITLE_LENGTH),
        model=started.model if isinstance(started, SessionStarted) else "",
        cost=usage.cost if isinstance(usage, UsageReported) else None,
        unpriced=usage.unpriced if isinstance(usage, UsageReported) else (),
        last_words=_line(_last_said(data), _LAST_LENGTH),
    )


def _last_said(data: bytes) -> str:
    """The last answer, or what it was asked for where there is none; a turn that only summed up does not count."""
    for started in _found(data, "turn_started", last_first=True):
        if isinstance(started, TurnStarted) and not is_compaction(started.text):
            for ended in _found(data, "turn_ended", last_first=True):
                if isinstance(ended, TurnEnded) and ended.turn <= started.turn:
                    return (ended.text if ended.turn == started.turn else "") or started.text
            return started.text
    return ""


def _mark(kind: str) -> bytes:
    """How an event of a kind begins in a line; inside a JSON string it never does, since quotes are escaped there."""
    return b'"event":{"kind":"%s"' % kind.encode()


def _found(data: bytes, kind: str, *, last_first: bool = False) -> Iterator[AgentEvent]:
    """The events of a kind, decoded as they are asked for."""
    mark = _mark(kind)
    at = data.rfind(mark) if last_first else data.find(mark)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        record = decode_record(data[start:] if end < 0 else data[start:end])
        if record is not None:
            yield record.event
        at = data.rfind(mark, 0, at) if last_first else data.find(mark, at + 1)


def _line(text: str, length: int) -> str:
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length else f"{line[: length - 1]}…"
