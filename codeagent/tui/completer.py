"""What the prompt completes: commands from the table and of one's own, files from the workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from codeagent.tui.custom_commands import CustomCommands
from codeagent.tui.widgets.completion import Completing, CompletionKind, Suggestion

MOST_FILES = 30

FindFiles = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""The files whose path fits a query, best first, at most so many."""


class Completer:
    """Finds the suggestions for a word."""

    def __init__(self, find_files: FindFiles, custom: CustomCommands) -> None:
        self._find_files = find_files
        self._custom = custom

    async def __call__(self, word: Completing) -> tuple[Suggestion, ...]:
        """The suggestions, best first."""
        if word.kind is CompletionKind.COMMAND:
            if not word.query:
                await self._custom.refresh()
            fitting = [command for command in self._custom.rows if command.name.startswith(word.query)]
            return tuple(Suggestion(text=f"/{command.name}", detail=command.summary) for command in fitting)
        return tuple(Suggestion(text=f"@{path}") for path in await self._find_files(word.query, MOST_FILES))
