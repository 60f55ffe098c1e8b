"""What the person typed is kept: in the history once it was sent, as a draft until then."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from threading import Lock
from time import monotonic

from textual.app import App
from textual.worker import Worker

from codeagent.core.desk import Workbench
from codeagent.core.messages import Draft
from codeagent.tui.screens.main import MainScreen

SECONDS = 0.2
"""How long after the last key the draft is kept."""


class Drafts:
    """Keeps on threads, so that no key waits, one at a time: the last to write has the newest.

    What is unsent on ``main`` is kept; nothing before a session is open.
    Each worker has a description: else Textual would make one, at each key, of all that the session holds.
    """

    def __init__(self, app: App[str], main: MainScreen) -> None:
        self._app = app
        self._main = main
        main.prompt.on_set_aside = self.sent
        self._newest = Draft()
        self._sent: deque[Draft] = deque()
        self._writing = Lock()
        self._bench: Workbench | None = None
        self._due = 0.0
        self._waiting: Worker[None] | None = None

    def connect(self, bench: Workbench) -> None:
        """A session is open."""
        self._bench = bench

    def sent(self, text: str) -> None:
        """The text was sent, or made way for what was: it belongs to the history."""
        if self._bench is not None:
            self._sent.append(self._main.prompt.draft_of(text))
            remember = partial(self._remember, self._bench)
            self._app.run_worker(remember, thread=True, group="history", description="remembers what was sent")

    def changed(self, wait: float = 0) -> None:
        """Something else is unsent now; it is kept after ``wait`` seconds, unless it changes again."""
        self._due = monotonic() + wait
        if self._waiting is None or self._waiting.is_finished or not wait:
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = self._app.run_worker(self._wait, group="draft", description="keeps the draft")

    async def _wait(self) -> None:
        """One waits for all that is typed: a burst of letters would start and end thousands."""
        while (left := self._due - monotonic()) > 0:  # noqa: ASYNC110 - the time moves on with each key
            await asyncio.sleep(left)
        self._waiting = None  # what changes from here on is kept by another
        await self.keep()

    async def keep(self) -> None:
        """Keeps what is unsent now."""
        if self._bench is not None:
            self._newest = self._main.unsent
            await asyncio.to_thread(self._save, self._bench)

    def _remember(self, bench: Workbench) -> None:
        with self._writing:
            while self._sent:
                bench.remember(self._sent.popleft())

    def _save(self, bench: Workbench) -> None:
        with self._writing:
            bench.save_draft(self._newest)
