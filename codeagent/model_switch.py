"""The models a person can choose from, and the change to another in the middle of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeagent.agent.session import Session
from codeagent.config.settings import ModelSettings
from codeagent.core.desk import ModelChoice
from codeagent.core.errors import ConfigError
from codeagent.core.protocols import Provider
from codeagent.keys import Keys
from codeagent.model_list import LastList
from codeagent.models import NO_KEY_NEEDED, key_kind
from codeagent.providers.catalog import EFFORTS, Catalog, Effort, ModelName, ProviderKind

_ORDER = (ProviderKind.ANTHROPIC, ProviderKind.OPENAI, ProviderKind.OPENAI_CHAT)


@dataclass(slots=True)
class ModelSwitch:
    """Which models there are, which one answers and how hard it thinks.

    ``make`` builds the client, on a thread; ``ask`` asks a service, by a key, which models it has, on a thread too.
    """

    catalog: Catalog
    settings: ModelSettings
    keys: Keys
    last_list: LastList
    make: Callable[[ModelName, Effort | None], Provider]
    ask: Callable[[ModelSettings, ProviderKind, str], Sequence[str]]
    effort: Effort | None = None
    name: ModelName | None = None

    async def choices(self) -> tuple[ModelChoice, ...]:
        """The models of the services that can be reached, as they list them, then those of the catalog."""
        reachable = await asyncio.to_thread(self._reachable)
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(asyncio.to_thread(self._listed, kind, key)) for kind, key in reachable.items()]
        listed = [name for task in asked for name in task.result()]
        if listed:
            await asyncio.to_thread(self.last_list.keep, listed)
        known = [name for name in self.catalog.names() if name.partition("/")[0] in reachable]
        return tuple(self._choice(name) for name in dict.fromkeys([*listed, *known]))

    async def change(self, session: Session, name: str) -> None:
        """Another model answers from the next request on; raises ConfigError for what names none or has no key."""
        provider = await asyncio.to_thread(lambda: self.take(ModelName.parse(name)))
        before = session.set_provider(provider, self.effort or "")
        if not session.is_running:  # else a reply of the one before may still be streaming
            await before.aclose()

    async def change_effort(self, session: Session, effort: str) -> None:
        """The model thinks so hard from the next request on, empty is as it likes; raises ConfigError."""
        before = self.effort
        self.set_effort(effort)
        try:
            await self.change(session, str(self.name))
        except ConfigError:
            self.effort = before
            raise

    def take(self, name: ModelName) -> Provider:
        """The client for a model, which is the one that answers from now on; raises ConfigError."""
        provider = self.make(name, self.effort)
        self.name = name
        return provider

    def set_effort(self, effort: str) -> None:
        """How hard the next client's model should think; empty leaves that to the model. Raises ConfigError."""
        found: Effort | None = next((level for level in EFFORTS if level == effort), None)
        if effort and found is None:
            raise ConfigError(f"There is no effort {effort}.", hint=f"There are {', '.join(EFFORTS)} and default.")
        self.effort = found

    def _reachable(self) -> dict[ProviderKind, str]:
        """The services with a key or an address of their own, and their keys."""
        own = {
            ProviderKind.ANTHROPIC: self.settings.anthropic_base_url,
            ProviderKind.OPENAI_CHAT: self.settings.openai_base_url,
        }
        found = {kind: self.keys.find(key_kind(kind, self.settings)) for kind in _ORDER}
        if not self.settings.openai_base_url:
            del found[ProviderKind.OPENAI_CHAT]
        return {kind: key.secret if key else NO_KEY_NEEDED for kind, key in found.items() if key or own.get(kind)}

    def _listed(self, kind: ProviderKind, key: str) -> list[str]:
        return [f"{kind}/{name}" for name in self.ask(self.settings, kind, key)]

    def _choice(self, name: str) -> ModelChoice:
        card = self.catalog.card(name)
        parts = [f"{card.window:,} tokens"] if card and card.window else []
        if card and card.price:
            parts.append(f"${card.price.input:g} in, ${card.price.output:g} out for a million")
        return ModelChoice(name=name, detail=" · ".join(parts))
