"""Which model answers when a session is opened: the one of the command line, of the session itself, of the settings."""

from __future__ import annotations

from collections.abc import Iterable

from codeagent.config.launch import Launch
from codeagent.core.errors import ConfigError
from codeagent.core.events import AgentEvent, ModelChanged, SessionStarted
from codeagent.core.protocols import Provider
from codeagent.core.values import value
from codeagent.model_switch import ModelSwitch
from codeagent.models import choose_model, is_on_this_machine
from codeagent.providers.catalog import ModelName, ProviderKind


@value
class OpenModel:
    """The model that answers first; ``notice`` says why it is not the one that the session last used."""

    name: ModelName
    provider: Provider
    notice: str = ""


def open_model(switch: ModelSwitch, launch: Launch, past: Iterable[AgentEvent]) -> OpenModel:
    """Makes the client; ``past`` is what a resumed session did before. Raises NoModel and other ConfigErrors."""
    last, effort, address = last_used(past)
    is_told = bool(launch.flags.get("model", {}).get("name"))
    if effort is not None:
        switch.set_effort(effort)
    notice = ""
    if last and not is_told:
        try:
            name = ModelName.parse(last)
            is_free = name.provider is ProviderKind.OPENAI_CHAT and switch.settings.openai_base_url is None
            return OpenModel(name=name, provider=switch.take(name, address if is_free else ""))
        except ConfigError as error:
            notice = f"This session last used {last}, which cannot be used now: {error.message}"
    name = choose_model(switch.settings, switch.keys, switch.catalog)
    provider = switch.take(name)
    return OpenModel(name=name, provider=provider, notice=f"{notice} {name} answers instead." if notice else "")


def last_used(past: Iterable[AgentEvent]) -> tuple[str, str | None, str]:
    """The model that a session last used, the effort if it was changed, and where it answered on this machine.

    A script is no model to go on with. What was said to a model on this machine never
    goes to a service because an address is missing.
    """
    last, effort, address = "", None, ""
    for event in past:
        match event:
            case SessionStarted(model=model, address=own):
                last, address = model, own
            case ModelChanged(model=model, effort=changed, address=own):
                last, effort, address = model, changed, own
            case _:
                continue
    is_script = last.startswith(f"{ProviderKind.SCRIPTED}/")
    return "" if is_script else last, effort, address if is_on_this_machine(address) else ""
