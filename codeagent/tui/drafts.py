"""What the person typed is kept: in the history once it was sent, as a draft until then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from textual.app import App

from codeagent.core.desk import Workbench

SECONDS = 0.5
"""How long after the last key the draft is kept."""


class Drafts:
    """Keeps on threads, so that no key waits; nothing is kept before a session is open.

    ``unsent`` is all that was typed and not sent yet. Each worker has a description: else
    Textual would make one, at each key, of all that the session holds.
    """

    def __init__(self, app: App[str], unsent: Callable[[], str]) -> None:
        self._app = app
        self._unsent = unsent
        self._bench: Workbench | None = None

    def connect(self, bench: Workbench) -> None:
        """A session is open."""
        self._bench = bench

    def sent(self, text: str) -> None:
        """The text was sent: it belongs to the history."""
        if self._bench is not None:
            remember = partial(self._bench.remember, text)
            self._app.run_worker(remember, thread=True, group="history", description="remembers what was sent")

    def changed(self, wait: float = 0) -> None:
        """Something else is unsent now; it is kept after ``wait`` seconds, unless it changes again."""
        keep = partial(self.keep, wait)
        self._app.run_worker(keep, group="draft", exclusive=True, description="keeps the draft")

    async def keep(self, wait: float = 0) -> None:
        """Keeps what is unsent after ``wait`` seconds."""
        await asyncio.sleep(wait)
        if self._bench is not None:
            await asyncio.to_thread(self._bench.save_draft, self._unsent())
