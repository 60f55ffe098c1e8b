"""What Textual is told of the keys in the table, and what it has to learn about terminals and a person's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from string import ascii_letters, digits, punctuation
from typing import ClassVar

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.events import Focus
from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage] - the names that its parser gives
from textual.screen import ModalScreen, Screen, ScreenResultType

from codeagent.core.keys import KEYS, Place


def bindings(*places: Place) -> list[Binding]:
    """What Textual is told of the keys in ``places``; the config's names are their ids."""
    return [
        Binding(key.keys, key.action, key.what, show=False, priority=key.goes_first, id=key.name)
        for key in KEYS
        if key.place in places and key.action
    ]


QUIT = Binding("ctrl+d", "app.quit", show=False, id="quit")
"""Outside of the prompt, which has its own meaning for it; the person's own key for it holds here too."""

UNDO = next(binding for binding in bindings(Place.PROMPT) if binding.id == "undo")
"""In fields other than the prompt."""

Chain = list[tuple[DOMNode, BindingsMap]]
"""Who is asked what a key means, from the widget with the keyboard up to the app, and what they know."""


def own_keys_first(chain: Chain, keymap: Mapping[str, str]) -> Chain:
    """Leaves a key that the person chose no other meaning than theirs, wherever theirs is reached.

    Fields have Textual's own meanings for keys, such as cutting for Ctrl+X; they come
    before those of the screen. A key for ``stop`` closes whatever Escape closes, too.
    """
    stops = keys_for("stop", keymap)
    for key in own_keys(keymap, *Place):
        is_reached = False
        for node, bindings in reversed(chain):
            found = bindings.key_to_bindings
            own = [one for one in found.get(key, ()) if one.id is not None and key in keys_for(one.id, keymap)]
            if key in stops:
                own += [one.with_key(key) for one in found.get("escape", ()) if one.id != "stop" and one not in own]
            is_reached = is_reached or bool(own)
            if is_reached or node is chain[-1][0]:
                found.pop(key, None)
            if own:
                found[key] = own
    return chain


def keys_for(name: str, keymap: Mapping[str, str]) -> frozenset[str]:
    """The person's own keys for what the table calls ``name``."""
    return frozenset(one.strip() for one in keymap.get(name, "").split(",") if one.strip())


def own_keys(keymap: Mapping[str, str], *places: Place) -> frozenset[str]:
    """All keys that the person chose for something in ``places``."""
    return frozenset(one for key in KEYS if key.place in places for one in keys_for(key.name, keymap))


class OwnKeysScreen(Screen[ScreenResultType]):
    """A screen on which the person's own keys mean what they chose them for."""

    @property
    def _binding_chain(self) -> Chain:
        return own_keys_first(super()._binding_chain, self.app._keymap)  # noqa: SLF001  # pyright: ignore[reportUnknownMemberType, reportPrivateUsage] - it has no public name


_ROOMY = 15
"""Where a window has so many rows, it leaves the lines below the header and above the status line whole."""


class Window(ModalScreen[ScreenResultType]):
    """A window over the main screen, with the same."""

    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (_ROOMY, "-roomy")]  # noqa: RUF012 - as Textual has it
    IS_LEFT_FOR_TEXT: ClassVar[bool] = True
    """Whether it closes when a sentence is typed that it has no field for."""

    @property
    def _binding_chain(self) -> Chain:
        return own_keys_first(super()._binding_chain, self.app._keymap)  # noqa: SLF001  # pyright: ignore[reportUnknownMemberType, reportPrivateUsage] - it has no public name


_BEGIN_WORDS = frozenset({"approve", "deny", "deny_because", "always", "edit", "approve_all", "approve_for_run"})


def answers_that_begin_words(keymap: Mapping[str, str]) -> dict[str, str]:
    """The actions of a question by the keys with which a sentence can begin as well."""
    return {
        one.strip(): key.action
        for key in KEYS
        if key.place is Place.QUESTION and key.action in _BEGIN_WORDS
        for one in keymap.get(key.name, key.keys).split(",")
    }


class KeyPress:
    """A key that means something else when it is pressed again ``within`` so many seconds."""

    def __init__(self, *, within: float = 0.5) -> None:
        self._within = within
        self._at = float("-inf")

    @property
    def is_second(self) -> bool:
        """Whether this press, which is thereby noted, follows soon on another."""
        before, self._at = self._at, Focus().time
        return self._at - before < self._within


class _PlainKey(StrEnum):
    """Keys that terminals send and Textual's table does not hold."""

    ALT_ENTER = "alt+enter"


def teach_alt_enter() -> None:
    """Makes Textual read ESC CR as Alt+Enter, which is what a plain terminal sends for it.

    Escape alone is still told by its pause, as before.
    """
    if isinstance(ANSI_SEQUENCES_KEYS, dict):
        ANSI_SEQUENCES_KEYS["\x1b\r"] = (_PlainKey.ALT_ENTER,)  # pyright: ignore[reportArgumentType] - its own Keys cannot be extended


DELETE_WORD = "alt+d"
"""As readline has it: the word behind the cursor goes."""


def characters_with_alt(keymap: Mapping[str, str]) -> frozenset[str]:
    """The characters that mean something with Alt held down."""
    bound = {one.strip() for key in KEYS for one in keymap.get(key.name, key.keys).split(",")} | {DELETE_WORD}
    characters = ascii_letters + digits + punctuation
    return frozenset(one for one in characters if f"alt+{_character_to_key(one)}" in bound)
