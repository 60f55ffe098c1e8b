"""The commands of one's own as the screens know them: read when the session opens and whenever a slash is typed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from codeagent.core.commands import COMMANDS, Command, NoSuchCommand
from codeagent.core.custom_commands import CustomCommand, FoundCommands
from codeagent.core.desk import Workbench

Row = Command | CustomCommand


class CustomCommands:
    """What was found last; each notice is told once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._bench: Workbench | None = None
        self._found: FoundCommands | None = None
        self._told: set[str] = set()

    @property
    def known(self) -> Sequence[CustomCommand]:
        """The commands found last."""
        return self._found.commands if self._found is not None else ()

    @property
    def rows(self) -> Sequence[Row]:
        """Every command there is, those of the table first."""
        return (*COMMANDS, *self.known)

    @property
    def folder(self) -> str:
        """Where the person's own lie; empty while that is not known."""
        return str(self._found.folder) if self._found is not None else ""

    async def connect(self, bench: Workbench) -> None:
        """Reads them for a session."""
        self._bench = bench
        await self.refresh()

    async def refresh(self) -> None:
        """Reads them anew: files come and go, and so does trust."""
        if self._bench is not None:
            self._found = await asyncio.to_thread(self._bench.custom_commands)
            for notice in self._found.notices:
                if notice not in self._told:
                    self._told.add(notice)
                    self._tell(notice)

    def explained(self, error: NoSuchCommand, text: str) -> NoSuchCommand:
        """The error; with the name that may be meant, or the reason when its project is not trusted."""
        name = text.strip().removeprefix("/").partition(" ")[0]
        if self._found is None or name not in self._found.withheld:
            names = [str(row.name) for row in self.rows]
            close = [] if any(one.startswith(name) for one in names) else get_close_matches(name, names, n=1)
            return NoSuchCommand(error.message, hint=f"Did you mean /{close[0]}?") if close else error
        return NoSuchCommand(
            f"/{name} is a command of this project, which is not trusted as it is now.", hint=TRUST_HINT
        )


TRUST_HINT = "To let its commands count: codeagent trust"
