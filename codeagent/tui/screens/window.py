"""What all windows over the main screen have in common."""

from __future__ import annotations

from textual.screen import ModalScreen, ScreenResultType

from codeagent.tui.keys import Chain, own_keys_first


class Window(ModalScreen[ScreenResultType]):
    """A window in which the person's own keys mean what they chose them for."""

    @property
    def _binding_chain(self) -> Chain:
        return own_keys_first(super()._binding_chain, self.app._keymap)  # pyright: ignore[reportUnknownMemberType, reportPrivateUsage] - no public name for it
