"""What the prompt completes: commands, the models and levels that may follow them, files from the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing

from codeagent.core.approvals import Mode
from codeagent.core.commands import CommandName
from codeagent.core.desk import ModelChoice, Workbench
from codeagent.core.errors import CodeagentError
from codeagent.tui.custom_commands import CustomCommands
from codeagent.tui.screens.picker import Item
from codeagent.tui.widgets.completion import MOST_FILES, Completing, CompletionKind, Suggestion

MOST_MODELS = 200
_ASK_AGAIN = 60.0  # seconds after which the services are asked for their models anew
_LEVELS = (
    Suggestion(text="low", detail="quick and cheap"),
    Suggestion(text="medium"),
    Suggestion(text="high", detail="for hard problems"),
    Suggestion(text="default", detail="as the model likes"),
)


class Completer:
    """Finds the suggestions for a word."""

    def __init__(self, bench: Workbench, custom: CustomCommands, themes: Callable[[], Iterable[Item]]) -> None:
        self._bench = bench
        self._themes = themes
        self._custom = custom
        self._listing: asyncio.Future[tuple[ModelChoice, ...]] | None = None
        self._listed_at = 0.0

    async def __call__(self, word: Completing) -> tuple[Suggestion, ...]:
        """The suggestions, best first."""
        match word.kind:
            case CompletionKind.COMMAND:
                if not word.query:
                    await self._custom.refresh()
                fitting = [command for command in self._custom.rows if command.name.startswith(word.query)]
                return tuple(Suggestion(text=f"/{command.name}", detail=command.summary) for command in fitting)
            case CompletionKind.ARGUMENT:
                return _fitting(word.query, await self._arguments(word.command))
            case CompletionKind.FILE:
                return await self._files(word.query)

    async def _files(self, query: str) -> tuple[Suggestion, ...]:
        """Those that fit best, and one more where there are more."""
        return tuple(Suggestion(text=f"@{path}") for path in await self._bench.files(query, MOST_FILES + 1))

    async def _arguments(self, command: str) -> Iterable[Suggestion]:
        match command:
            case CommandName.MODEL:
                return [Suggestion(text=choice.name, detail=choice.detail) for choice in await self._models()]
            case CommandName.EFFORT:
                return _LEVELS
            case CommandName.THEME:
                return [Suggestion(text=theme.value, detail=theme.detail) for theme in self._themes()]
            case _:
                return [Suggestion(text=mode) for mode in Mode]

    async def _models(self) -> tuple[ModelChoice, ...]:
        """The models, none where the list of them is damaged.

        Asking for them goes on while more is typed, and serves all of that; it ends
        by itself within seconds, else with the loop.
        """
        now = asyncio.get_running_loop().time()
        if self._listing is None or now - self._listed_at > _ASK_AGAIN:
            self._listing, self._listed_at = asyncio.ensure_future(_last_of(self._bench.models())), now
        try:
            return await asyncio.shield(self._listing)
        except CodeagentError:
            return ()


async def _last_of(listings: AsyncGenerator[tuple[ModelChoice, ...]]) -> tuple[ModelChoice, ...]:
    """The fullest of the lists."""
    async with aclosing(listings):
        return [choices async for choices in listings][-1]


def _fitting(query: str, found: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    """Those that begin with what was typed, then those that hold it; only the one that is typed whole."""
    known, sought = tuple(found), query.casefold()
    if whole := next((one for one in known if one.text == query), None):
        return (whole,)
    begins = [one for one in known if one.text.casefold().startswith(sought)]
    holds = [one for one in known if sought in one.text.casefold() and one not in begins]
    return tuple((*begins, *holds)[:MOST_MODELS])
