"""Which model answers when a session is opened: the one of the command line, of the session itself, of the settings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from codeagent.config.launch import Launch
from codeagent.config.settings import ModelSettings
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.events import AgentEvent, HistoryAppended, ModelChanged, SessionStarted, TurnStarted
from codeagent.core.protocols import Provider
from codeagent.core.values import value
from codeagent.model_switch import LastPlace, ModelSwitch
from codeagent.models import choose_model, is_on_this_machine, own_address
from codeagent.providers.catalog import ModelName, ProviderKind

_SCRIPTED = f"{ProviderKind.SCRIPTED}/"


@value
class OpenModel:
    """The model that answers first; ``notice`` says why it is not the one that the session last used."""

    name: ModelName
    provider: Provider
    notice: str = ""


@value
class LastModel:
    """What a session last used: the model, the effort if it was changed, and where it answered.

    ``played`` are the steps of its script, if it is one.
    """

    name: str = ""
    effort: str | None = None
    address: str = ""
    played: int = 0


def open_model(switch: ModelSwitch, launch: Launch, past: Iterable[AgentEvent]) -> OpenModel:
    """Makes the client; ``past`` is what a resumed session did before. Raises NoModel and other ConfigErrors.

    A script that is set is always meant for this run, as a flag is.
    """
    last = last_used(past)
    is_told = bool(launch.flags.get("model", {}).get("name")) or (switch.settings.name or "").startswith(_SCRIPTED)
    if last.effort is not None:
        switch.set_effort(last.effort)
    notice = ""
    if last.name and not is_told:
        _check_server(last, switch.settings)
        try:
            name = _named(last)
            return OpenModel(name=name, provider=switch.take(name, _place(last, name, switch.settings)))
        except ConfigError as error:
            notice = f"This session last used {last.name}, which cannot be used now: {error.message}"
    try:
        name = choose_model(switch.settings, switch.keys, switch.catalog)
    except NoModel as error:
        raise NoModel(f"{notice} {error.message}".lstrip(), hint=error.hint) from error
    provider = switch.take(name)
    return OpenModel(name=name, provider=provider, notice=f"{notice} {name} answers instead." if notice else "")


def last_used(past: Iterable[AgentEvent]) -> LastModel:
    """What a session last used.

    What it was opened anew with counts once it answered, or once something was said
    to a server of the person's own that a service must not hear.
    """
    last, effort, address, replies = "", None, "", list[str]()
    opened: SessionStarted | None = None
    for event in past:
        is_answer = isinstance(event, HistoryAppended) and event.message.kind == "assistant"
        is_private = isinstance(event, TurnStarted) and not address
        if opened is not None and (is_answer or is_private):
            last, address, opened = opened.model, opened.address, None
        match event:
            case SessionStarted(model=model, address=own) if not last:
                last, address = model, own
            case SessionStarted():
                opened = event
            case ModelChanged(model=model, effort=changed, address=own):
                last, effort, address, opened = model, changed, own, None
            case HistoryAppended(message=message) if message.kind == "assistant":
                replies.append(message.model)
            case _:
                continue
    script = Path(address).name if last.startswith(_SCRIPTED) else ""
    played = sum(model.startswith(_SCRIPTED) and Path(model).name == script for model in replies)
    return LastModel(name=last, effort=effort, address=address, played=played)


def _named(last: LastModel) -> ModelName:
    """The name that makes the client; a script is called after its file alone, which stands in its address."""
    if last.name.startswith(_SCRIPTED) and last.address:
        return ModelName(provider=ProviderKind.SCRIPTED, name=last.address)
    return ModelName.parse(last.name)


def _place(last: LastModel, name: ModelName, settings: ModelSettings) -> LastPlace:
    """Where the model answers again: by a setting, which goes before where it was, else there."""
    is_set = name.provider is ProviderKind.SCRIPTED or own_address(name, settings)
    return LastPlace(address="" if is_set else last.address, played=last.played)


def _check_server(last: LastModel, settings: ModelSettings) -> None:
    """Raises ConfigError where nothing leads to the server any more that answered.

    What was said to a server of the person's own never goes to a service because its
    address is missing. One on this machine is asked again, without a key; for any
    other the setting has to be there, which a key belongs to.
    """
    kind = last.name.partition("/")[0]
    is_set = settings.anthropic_base_url if kind == ProviderKind.ANTHROPIC else settings.openai_base_url
    if is_set or kind == ProviderKind.SCRIPTED or not last.address or is_on_this_machine(last.address):
        return
    variable = "ANTHROPIC_BASE_URL" if kind == ProviderKind.ANTHROPIC else "OPENAI_BASE_URL"
    raise ConfigError(
        f"This session last used {last.name} at {last.address}, which no setting names now.",
        hint=f"Set {variable} to it, or go on with another model: --model PROVIDER/NAME.",
    )
