"""The models a person can choose from, and the change to another in the middle of a session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace

from codeagent.agent.session import Session
from codeagent.config.settings import ModelSettings
from codeagent.core.desk import LocalServer, ModelChoice
from codeagent.core.errors import ConfigError
from codeagent.core.protocols import Provider
from codeagent.core.values import value
from codeagent.keys import Keys
from codeagent.model_list import LastList
from codeagent.models import NO_KEY_NEEDED, key_kind, own_address
from codeagent.providers.catalog import EFFORTS, Catalog, Effort, ModelName, ProviderKind

_ORDER = (ProviderKind.ANTHROPIC, ProviderKind.OPENAI, ProviderKind.OPENAI_CHAT)

_CLIENTS_KEPT = 3


@value
class LastPlace:
    """Where a model answered that no setting names, and how many steps of a script were played."""

    address: str = ""
    played: int = 0


NOWHERE = LastPlace()


@dataclass(slots=True)
class ModelSwitch:
    """Which models there are, which one answers and how hard it thinks.

    ``make`` builds the client for a model, also for one in a place that no setting names,
    and is given the last client of that model;
    ``ask`` asks a service, by a key, which models it has;
    ``find_servers`` looks for servers on this machine. All are called on a thread.
    """

    catalog: Catalog
    settings: ModelSettings
    keys: Keys
    last_list: LastList
    make: Callable[[ModelName, Effort | None, LastPlace, Provider | None], Provider]
    ask: Callable[[ModelSettings, ProviderKind, str], Sequence[str]]
    find_servers: Callable[[], Sequence[LocalServer]]
    effort: Effort | None = None
    name: ModelName | None = None
    _addresses: dict[str, str] = field(default_factory=dict[str, str])
    """Where the models of servers on this machine are."""

    _clients: dict[str, Provider] = field(default_factory=dict[str, Provider])
    """The last client of each of the models that answered last."""

    @property
    def address(self) -> str:
        """Where the model answers: on this machine, at an address of the settings, in a file; empty for a service."""
        found = self._addresses.get(str(self.name), "")
        return found or (own_address(self.name, self.settings) if self.name else "")

    async def choices(self) -> AsyncGenerator[tuple[ModelChoice, ...]]:
        """The models as far as they are known; then again, once the services and this machine were asked.

        First come those that a service lists, then those of servers on this machine,
        then those of the catalog.
        """
        reachable = await asyncio.to_thread(self._reachable)
        last = await asyncio.to_thread(self.last_list.read)
        known = [name for name in self.catalog.names() if name.partition("/")[0] in reachable]
        before = [name for name in last if name.partition("/")[0] in reachable]
        yield tuple(map(self._choice, dict.fromkeys([*before, *known])))
        async with asyncio.TaskGroup() as group:
            local = group.create_task(asyncio.to_thread(self.find_servers))
            asked = [group.create_task(asyncio.to_thread(self._listed, kind, key)) for kind, key in reachable.items()]
        listed = [name for task in asked for name in task.result()]
        if listed:
            await asyncio.to_thread(self.last_list.keep, listed)
        found: dict[str, LocalServer] = {}
        for server in local.result():
            for name in (f"{ProviderKind.OPENAI_CHAT}/{model}" for model in server.models):
                if name not in listed:
                    found.setdefault(name, server)
        self._addresses |= {name: server.url for name, server in found.items()}
        yield tuple(self._choice(name, found.get(name)) for name in dict.fromkeys([*listed, *found, *known]))

    async def change(self, session: Session, name: str) -> None:
        """Another model answers from the next request on; raises ConfigError for what names none or has no key."""
        provider = await asyncio.to_thread(lambda: self.take(ModelName.parse(name)))
        before = session.set_provider(provider, self.effort or "", self.address)
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

    def take(self, name: ModelName, last: LastPlace = NOWHERE) -> Provider:
        """The client for a model, which is the one that answers from now on; raises ConfigError.

        ``last`` is where it answered before, where it is not a server that was just found.
        """
        last = replace(last, address=last.address or self._addresses.get(str(name), ""))
        provider = self.make(name, self.effort, last, self._clients.get(str(name)))
        self.name = name
        self._clients.pop(str(name), None)
        self._clients[str(name)] = provider
        if len(self._clients) > _CLIENTS_KEPT:
            del self._clients[next(iter(self._clients))]
        if last.address:
            self._addresses[str(name)] = last.address
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

    def _choice(self, name: str, server: LocalServer | None = None) -> ModelChoice:
        if server is not None:
            return ModelChoice(name=name, detail=f"{server.name} on this machine · {server.url.split('/')[2]}")
        card = self.catalog.card(name)
        parts = [f"{_short(card.window):>4} tokens"] if card and card.window else []
        if card and card.price:
            parts.append(f"{_dollars(card.price.input)} in, {_dollars(card.price.output)} out a million")
        return ModelChoice(name=name, detail=" · ".join(parts))


def _dollars(amount: float) -> str:
    """Whole dollars without cents, else two digits of them or as many as there are: $3, $0.10, $0.075."""
    return f"${amount:g}" if amount == int(amount) or round(amount, 2) != amount else f"${amount:.2f}"


def _short(tokens: int) -> str:
    """A window's size as people say it: 200k, 1M, 1.05M."""
    return f"{tokens / 1_000_000:.4g}M" if tokens >= 1_000_000 else f"{tokens / 1_000:.4g}k"  # noqa: PLR2004 - a million
