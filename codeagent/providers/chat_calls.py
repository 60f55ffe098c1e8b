"""The calls of a Chat Completions reply while they stream in: which piece belongs to which call.

Servers leave out indexes, or give each call the index 0; leave out ids, or make
up another one for each piece; send a name once, in each piece, or in pieces. A
piece begins a call only where it cannot be more of one that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.providers.history import parse_arguments
from codeagent.providers.pieces import GrowingText
from codeagent.providers.sse import as_object, as_text, as_written

KNOWN_FIELDS = frozenset({"index", "id", "type", "function"})
"""All others are the server's own, which wants them back, such as Gemini's ``extra_content`` with its signatures."""


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
