"""The command palette (Ctrl+P): the same commands that can be typed after a slash."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from codeagent.tui.commands import COMMANDS


class CommandProvider(Provider):
    """All commands, found by their names and by what they do."""

    async def discover(self) -> Hits:
        """Every command, before anything is typed."""
        for command in COMMANDS:
            yield DiscoveryHit(f"/{command.name}", self._runs(command.name), help=command.summary)

    async def search(self, query: str) -> Hits:
        """The commands that fit."""
        matcher = self.matcher(query)
        for command in COMMANDS:
            score = matcher.match(f"/{command.name} {command.summary}")
            if score > 0:
                name = f"/{command.name}"
                yield Hit(score, matcher.highlight(name), self._runs(command.name), text=name, help=command.summary)

    def _runs(self, name: str) -> partial[object]:
        return partial(self.app.run_action, f"app.command('{name}')")
