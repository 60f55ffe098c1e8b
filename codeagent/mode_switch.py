"""The permission mode in force, and who hears of a change."""

from __future__ import annotations

from codeagent.core.approvals import Mode
from codeagent.core.events import Emit, ModeChanged


class ModeSwitch:
    """Holds the mode; every change is told through ``emit``."""

    def __init__(self, mode: Mode, emit: Emit) -> None:
        self._mode = mode
        self.emit = emit

    def get(self) -> Mode:
        """The mode now."""
        return self._mode

    def set(self, mode: Mode) -> None:
        """Another mode from now on."""
        if mode is not self._mode:
            self._mode = mode
            self.emit(ModeChanged(mode=mode))
