"""Full-text search over the records of sessions: a scan of the bytes, decoding only the lines that hold the words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.archive import Speaker
from codeagent.core.context import HistoryCompacted
from codeagent.core.errors import JournalError
from codeagent.core.events import AgentEvent, HistoryAppended, MessageDelivered, TurnStarted
from codeagent.core.json_types import JsonValue
from codeagent.core.messages import AssistantMessage, Origin, ResultsMessage, TextBlock, ToolCall, UserMessage
from codeagent.store.beside import Beside
from codeagent.store.journal import folder_beside
from codeagent.store.records import decode_record

_BEFORE, _AROUND = 40, 200
_HEAD = 160  # the part of a line that names its kind
_KINDS = tuple(
    b'"kind":"%s"' % kind for kind in (b"turn_started", b"message_delivered", b"history_appended", b"compacted")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The words in one event: its number, who said it, and the line around them."""

    record: int
    speaker: Speaker
    text: str
    start: int


def search_record(path: Path, words: str) -> Iterator[Found]:
    """Where the words stand in a session, in any letter case, the latest first; one place an event.

    Raises OSError. Parts that were kept in files of their own are searched as well.
    """
    data = path.read_bytes()
    beside = Beside(folder_beside(path))
    kept = tuple(f'"{name}"'.encode() for name in beside.names_with(_needles(words)))
    lowered = data.lower()
    marks = (*_needles(words), *kept)
    ends = sorted({_end_of_line(lowered, at) for mark in marks for at in _places(lowered, mark)}, reverse=True)
    for end in ends:
        start = data.rfind(b"\n", 0, end) + 1
        line = data[start:end]
        if not any(kind in line[:_HEAD] for kind in _KINDS):
            continue
        try:
            record = decode_record(line, beside)
        except JournalError:
            return
        if record is None:
            continue
        for speaker, text in _said(record.event):
            at = text.lower().find(words.lower())
            if at >= 0:
                shown, begin = _around(text, at, len(words))
                yield Found(record=data.count(b"\n", 0, start), speaker=speaker, text=shown, start=begin)
                break


def _said(event: AgentEvent) -> Iterator[tuple[Speaker, str]]:
    match event:
        case TurnStarted(text=text) | MessageDelivered(text=text):
            yield Speaker.PERSON, text
        case HistoryCompacted(summary=text):
            yield Speaker.AGENT, text
        case HistoryAppended(message=AssistantMessage(blocks=blocks)):
            for block in blocks:
                if isinstance(block, TextBlock):
                    yield Speaker.AGENT, block.text
                elif isinstance(block, ToolCall):
                    yield Speaker.TOOL, _plain(block.arguments_json)
        case HistoryAppended(message=ResultsMessage(results=results)):
            for result in results:
                yield Speaker.TOOL, result.text
        case HistoryAppended(message=UserMessage(origin=Origin.SHELL, blocks=blocks)):
            yield from ((Speaker.PERSON, block.text) for block in blocks if isinstance(block, TextBlock))
        case _:
            return


def _plain(arguments_json: str) -> str:
    """A call's arguments as text: the values, one below the other."""
    try:
        found: JsonValue = json.loads(arguments_json)
    except (ValueError, RecursionError):
        return arguments_json
    if not isinstance(found, dict):
        return arguments_json
    return "\n".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in found.values())


def _needles(words: str) -> tuple[bytes, ...]:
    """How the words may stand in a lowered record: inside JSON, once or, in a call's arguments, twice.

    Beyond ASCII a model may write its arguments in any case, and escaped.
    """
    forms = dict.fromkeys((words.lower(), words, words.upper(), words.capitalize(), words.title()))
    once = [_escaped(form) for form in forms]
    twice = [_escaped(_escaped(form, is_ascii=is_ascii)) for form in forms for is_ascii in (False, True)]
    return tuple(dict.fromkeys(form.encode(errors="replace").lower() for form in (*once, *twice)))


def _escaped(text: str, *, is_ascii: bool = False) -> str:
    """The text as it stands between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=is_ascii)[1:-1]


def _places(data: bytes, needle: bytes) -> Iterator[int]:
    """One place a line."""
    at = data.find(needle)
    while at >= 0:
        yield at
        end = data.find(b"\n", at)
        at = -1 if end < 0 else data.find(needle, end)


def _end_of_line(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _around(text: str, at: int, length: int) -> tuple[str, int]:
    """The line in which the words stand, cut to what can be shown, and where they stand in it."""
    first = max(text.rfind("\n", 0, at) + 1, at - _BEFORE)
    last = text.find("\n", at + length)
    last = min(len(text) if last < 0 else last, at + _AROUND)
    lead = "…" if first > 0 and text[first - 1] != "\n" else ""
    return lead + text[first:last].replace("\n", " "), at - first + len(lead)
