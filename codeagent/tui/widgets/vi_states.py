"""What vi's undo goes back and forth between: a text before and after each change."""

from __future__ import annotations

from codeagent.core.values import value
from codeagent.tui.widgets.vi_motions import on_text

_MOST_KEPT = 2_000_000


@value
class Typed:
    """The text and the cursor's place in it, before a key or after it."""

    text: str
    at: int


class States:
    """The texts before and after each change, to go back and forth between."""

    def __init__(self) -> None:
        self._states = [Typed(text="", at=0)]
        self._at = 0

    def note(self, now: Typed) -> None:
        """The text as it is after a change, whoever made it, or where the cursor was moved to before the next one."""
        if self._states[self._at].text == now.text:
            self._states[self._at] = now
        else:
            del self._states[self._at + 1 :]
            self._states.append(now)
            while len(self._states) > 1 and sum(len(state.text) for state in self._states) > _MOST_KEPT:
                del self._states[0]
            self._at = len(self._states) - 1

    def earlier(self, now: Typed) -> Typed:
        """The text before the last change."""
        self.note(now)
        self._at = max(self._at - 1, 0)
        return self._here()

    def later(self, now: Typed) -> Typed:
        """The text after the change that was taken back."""
        self.note(now)
        self._at = min(self._at + 1, len(self._states) - 1)
        return self._here()

    def _here(self) -> Typed:
        state = self._states[self._at]
        return Typed(text=state.text, at=on_text(state.text, state.at))
