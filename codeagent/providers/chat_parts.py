"""Content that comes as a list of parts, as Mistral's does: put together again, so that it can go back as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.providers.pieces import GrowingText
from codeagent.providers.sse import as_list, as_object, as_text, is_empty

_TEXT = "text"
_THINKING = "thinking"
_GROWS = frozenset({_TEXT, "output_text", _THINKING})
"""Parts that stream in pieces; any other comes whole."""


@dataclass(slots=True)
class _Part:
    """A part that may still grow: ``text`` is what it says, ``inner`` the list of parts that a thought may be."""

    fields: JsonObject
    text: GrowingText = field(default_factory=GrowingText)
    inner: ContentParts | None = None

    @property
    def kind(self) -> str:
        return as_text(self.fields.get("type")) or _TEXT

    def whole(self) -> JsonObject:
        if self.kind == _THINKING:
            return {**self.fields, _THINKING: str(self.text) if self.inner is None else self.inner.all()}
        return {**self.fields, _TEXT: str(self.text)} if self.kind in _GROWS else self.fields


class ContentParts:
    """The parts of one reply's content so far, those that came in pieces joined."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def say(self, text: str) -> None:
        """Content that is plain text."""
        if self._parts and self._parts[-1].kind == _TEXT:
            self._parts[-1].text.add(text)
        else:
            self.add({"type": _TEXT, _TEXT: text})

    def add(self, fields: JsonObject) -> None:
        """One more part, or more of the last one."""
        kind = as_text(fields.get("type")) or _TEXT
        last = self._parts[-1] if self._parts else None
        if last is None or kind not in _GROWS or last.kind != kind or fields.get("index") != last.fields.get("index"):
            last = _Part({})
            self._parts.append(last)
        last.fields |= {key: value for key, value in fields.items() if not is_empty(value)}
        if kind not in _GROWS:
            return
        said = fields.get(_THINKING if kind == _THINKING else _TEXT)
        last.text.add(as_text(said))
        for one in map(as_object, as_list(said)):
            last.inner = last.inner or ContentParts()
            last.inner.add(one)

    @property
    def says_more(self) -> bool:
        """Whether there is more to it than one text."""
        return any(part.fields.keys() - {"type", _TEXT} or part.kind != _TEXT for part in self._parts)

    def all(self) -> list[JsonValue]:
        """All parts as they go back."""
        return [part.whole() for part in self._parts]


def show_part(part: JsonObject, say: Callable[[str], None], think: Callable[[str], None]) -> None:
    """Tells what a part says: thinking, which may be a list of texts itself, and the text of any other part."""
    if part.get("type") != _THINKING:
        say(said_by(part))
        return
    think(as_text(part.get(_THINKING)))
    for inner in map(as_object, as_list(part.get(_THINKING))):
        think(as_text(inner.get(_TEXT)))


def said_by(part: JsonObject) -> str:
    """The text of a part that is no thought."""
    return "" if part.get("type") == _THINKING else as_text(part.get(_TEXT)) or as_text(part.get("refusal"))
