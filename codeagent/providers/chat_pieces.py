"""The calls and parts of a Chat Completions reply while they stream in: which piece belongs to which of them.

Servers leave out indexes, or give each call the index 0; leave out ids, or make
up another one for each piece; send a name once, in each piece, or in pieces. A
piece begins a call only where it cannot be more of one that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.providers.history import parse_arguments
from codeagent.providers.pieces import GrowingText
from codeagent.providers.sse import as_list, as_object, as_text, as_written, is_empty

KNOWN_FIELDS = frozenset({"index", "id", "type", "function"})
"""All others are the server's own, which wants them back, such as Gemini's ``extra_content`` with its signatures."""
_TEXT = "text"
_THINKING = "thinking"
_GROWS = frozenset({_TEXT, "output_text", _THINKING})
"""Parts that stream in pieces; any other comes whole."""


@dataclass(slots=True)
class GrowingCall:
    """A call that is still growing; ``others`` are fields that its server added."""

    id: str = ""
    name: str = ""
    arguments: GrowingText = field(default_factory=GrowingText)
    others: JsonObject = field(default_factory=dict[str, JsonValue])

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object."""
        last = self.arguments.pieces[-1] if self.arguments.pieces else ""
        return last.rstrip().endswith("}") and parse_arguments(str(self.arguments)) is not None


class GrowingCalls:
    """The calls of one reply, in the order in which they began."""

    def __init__(self, tools: AbstractSet[str]) -> None:
        """``tools`` are the names that the model was offered."""
        self._tools = tools
        self._calls: list[GrowingCall] = []
        self._by_index: dict[int, GrowingCall] = {}

    @property
    def all(self) -> Sequence[GrowingCall]:
        """What there is so far."""
        return self._calls

    def grow(self, piece: JsonObject) -> GrowingCall:
        """Adds a piece; the call that it is part of."""
        function = as_object(piece.get("function"))
        name, arguments = as_text(function.get("name")), as_written(function.get("arguments"))
        call = self._call_of(piece, name, arguments)
        call.id = call.id or as_text(piece.get("id"))
        self._name(call, name)
        call.others |= {key: value for key, value in piece.items() if key not in KNOWN_FIELDS}
        is_repeated = name and call.is_whole and arguments == str(call.arguments)
        if arguments and not is_repeated:
            call.arguments.add(arguments)
        return call

    def add(self, name: str, arguments_json: str) -> None:
        """Adds a whole call."""
        call = GrowingCall(name=name)
        call.arguments.add(arguments_json)
        self._calls.append(call)

    def _call_of(self, piece: JsonObject, name: str, arguments: str) -> GrowingCall:
        index, given = piece.get("index"), as_text(piece.get("id"))
        if isinstance(index, int):
            known = self._by_index.get(index)
            if known is not None and given and given != known.id:
                known = self._with_id(given) or known
        else:
            known = (self._with_id(given) if given else None) or (self._calls[-1] if self._calls else None)
        has_place = isinstance(index, int)
        if known is None or _begins_another(known, given, name, arguments, has_place=has_place):
            known = GrowingCall()
            self._calls.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        return known

    def _with_id(self, given: str) -> GrowingCall | None:
        return next((call for call in self._calls if call.id == given), None)

    def _name(self, call: GrowingCall, given: str) -> None:
        """A name comes once, or again in each piece, or grows, or comes in pieces."""
        if given.startswith(call.name):
            call.name = given or call.name
        elif given and (call.name not in self._tools or call.name + given in self._tools):
            call.name += given


def _begins_another(known: GrowingCall, given: str, name: str, arguments: str, *, has_place: bool) -> bool:
    """Whether a piece with the place of a known call, or with none, is the beginning of another one."""
    if given and known.id and given == known.id:
        return False
    if given and known.id:
        return known.is_whole or bool(name and (name != known.name or not known.arguments.size))
    if not name:
        return False
    if has_place:
        return bool(arguments) and known.is_whole and arguments != str(known.arguments)
    return known.is_whole or name != known.name or not (arguments and known.arguments.size)


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
    """The parts of a content that comes as a list, as Mistral's does, put together so that it can go back as it was."""

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
