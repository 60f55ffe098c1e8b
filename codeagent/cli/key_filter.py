"""Takes the keys of model services out of what a run without a screen prints, also where one comes in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codeagent.core.events import AgentEvent, TextStreamed, ThinkingStreamed, ToolEnded, ToolProgressed
from codeagent.core.json_types import JsonValue
from codeagent.core.text import Redactor

Piece = TextStreamed | ThinkingStreamed | ToolProgressed


class KeyFilter:
    """Knows the keys that the program holds; other texts, even those shaped like a key, are the person's to see."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._redactor = Redactor(keys)
        self._waiting: dict[str, Piece] = {}

    def text(self, text: str) -> str:
        """The text without the keys."""
        return self._redactor.redact_known(text)

    def json(self, found: JsonValue) -> JsonValue:
        """The value without the keys in any of its texts."""
        match found:
            case str():
                return self.text(found)
            case list():
                return [self.json(item) for item in found]
            case dict():
                return {name: self.json(item) for name, item in found.items()}
            case _:
                return found

    def events(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """The event, behind what waited for it; the end of a piece that may be the beginning of a key waits."""
        if not isinstance(event, Piece):
            yield from self._over(event)
            yield event
            return
        stream = event.call_id if isinstance(event, ToolProgressed) else event.kind
        before = self._waiting.pop(stream, None)
        text = (before.text if before else "") + event.text
        cut = len(text) - self._redactor.begun(text)
        if cut < len(text):
            self._waiting[stream] = replace(event, text=text[cut:])
        if cut or not text:
            yield replace(event, text=text[:cut])

    def _over(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """What waited for more of the reply, or of a call that is over."""
        ended = event.result.call_id if isinstance(event, ToolEnded) else ""
        for stream, piece in tuple(self._waiting.items()):
            if stream == ended or not isinstance(piece, ToolProgressed):
                yield self._waiting.pop(stream)
