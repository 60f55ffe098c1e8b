"""The key that quits when it is pressed again, with nothing typed, sent or answered in between."""

from __future__ import annotations

from codeagent.tui.keys import KeyPress
from codeagent.tui.screens.main import MainScreen

_SECONDS = 2.0
_AGAIN = "again quits"


class QuitKey:
    """Remembers for two seconds that it was pressed, and says so on the ``main`` screen."""

    def __init__(self, main: MainScreen) -> None:
        self._main = main
        self._press = KeyPress(within=_SECONDS)

    @property
    def is_again(self) -> bool:
        """Whether this press, which is thereby noted, quits; else the status line says that another would."""
        if self._press.is_second:
            return True
        self._main.status.remark(f"{self._main.status.keys['copy-or-quit']} {_AGAIN}", _SECONDS)
        return False

    def note_typed(self) -> None:
        """The prompt was changed: with a text in it the person goes on, while the key itself may have cleared it."""
        if not self._main.prompt.is_empty:
            self.forget()

    def forget(self) -> None:
        """The person went on: the next press is a first one."""
        self._press = KeyPress(within=_SECONDS)
        if self._main.status.status.remark.endswith(_AGAIN):
            self._main.status.forget_remark()
