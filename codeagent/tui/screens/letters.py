"""Tells what a letter at the transcript or in a window is for: alone it acts, with others it is a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, TextArea

from codeagent.tui.keys import Window
from codeagent.tui.screens.typing import is_text
from codeagent.tui.widgets.prompt import Prompt

LETTER_SECONDS = 0.15
"""A letter acts when no other follows so soon; nothing is allowed by one here, so that it need not wait for long."""

_AT_ONCE = ("move", "scroll", "add")
"""What looks around, or opens a field for what follows, does not wait for more."""

AnyScreen = Screen[Any]


class Letters:
    """The same at the transcript and in windows without a field: a letter alone acts, a sentence is for the prompt."""

    def __init__(self, prompt: Prompt, remark: Callable[[str], None]) -> None:
        """``remark`` tells the person why a letter did nothing."""
        self._prompt = prompt
        self._remark = remark
        self._held: tuple[AnyScreen, events.Key] | None = None
        self._timer: Timer | None = None
        self._last_text = float("-inf")

    async def keep(self, event: events.Key | events.Paste, screen: AnyScreen) -> bool:
        """Whether the key is looked after here; if not, the keyboard is where it belongs now."""
        held = self._let_go()
        if held is not None:
            is_again = isinstance(event, events.Key) and event.key == held[1].key
            if held[0] is screen and is_text(event) and not is_again:
                return await self._type(held[1].character or "", event, screen)
            await self._act(*held)
        if isinstance(screen.focused, Input | TextArea) or not screen.is_active:
            return False
        if isinstance(event, events.Paste):
            return await self._type("", event, screen)
        return event.is_printable and await self._keep_first(event, screen)

    async def _keep_first(self, event: events.Key, screen: AnyScreen) -> bool:
        """A letter with none before it that waits for more."""
        found = screen.active_bindings.get(event.key)
        does = found.binding.action if found is not None and found.enabled else ""
        is_at_home = screen is self._prompt.screen
        if event.time < self._last_text + LETTER_SECONDS or (is_at_home and not does):
            return await self._type("", event, screen)
        if does.startswith(_AT_ONCE):
            return False
        self._held = (screen, event)
        self._timer = screen.set_timer(LETTER_SECONDS, self._after_keys_that_came)
        return True

    async def _type(self, begun: str, event: events.Key | events.Paste, screen: AnyScreen) -> bool:
        """A window that can be left is left for it, the safe way; in all others it is kept for later."""
        self._last_text = event.time
        if isinstance(screen, Window) and screen.IS_LEFT_FOR_TEXT and (found := screen.active_bindings.get("escape")):
            await screen.app.run_action(found.binding.action, found.node)  # pyright: ignore[reportUnknownMemberType] - an app of any result
        home = self._prompt.screen
        home.set_focus(self._prompt)
        if not home.is_active:
            begun += event.text if isinstance(event, events.Paste) else event.character or ""
        if begun:
            self._prompt.post_message(events.Paste(begun))  # behind what is on its way there
        return not home.is_active

    async def _act(self, screen: AnyScreen, event: events.Key) -> None:
        found = screen.active_bindings.get(event.key) if screen.is_active else None
        if found is not None and found.enabled:
            await screen.app.run_action(found.binding.action, found.node)  # pyright: ignore[reportUnknownMemberType] - an app of any result
        elif screen.is_active:
            self._remark(f"{event.character} means nothing here")

    def _after_keys_that_came(self) -> None:
        self._prompt.app.call_later(self._settle, self._held)  # pyright: ignore[reportUnknownMemberType] - an app of any result

    async def _settle(self, held: tuple[AnyScreen, events.Key] | None) -> None:
        if held is not None and held is self._held:
            self._let_go()
            await self._act(*held)

    def _let_go(self) -> tuple[AnyScreen, events.Key] | None:
        held, self._held = self._held, None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        return held
