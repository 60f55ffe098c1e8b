"""Chooses the model: from the settings, or from the key that is there."""

from __future__ import annotations

import re
from pathlib import Path

from codeagent.config.settings import ModelSettings
from codeagent.core.errors import ConfigError, NoModel
from codeagent.keys import KEY_VARIABLES, FoundKey, Keys
from codeagent.providers.catalog import Catalog, ModelName, ProviderKind, without_login

NO_KEY_NEEDED = "none"
LOCAL_KEY = FoundKey(secret=NO_KEY_NEEDED, place="", remedy="")
"""What a server that was found on this machine is sent in the place of a key."""
_SILENT = "your keyring does not answer"
_THIS_MACHINE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:/|$)", re.IGNORECASE)


def choose_model(settings: ModelSettings, keys: Keys, catalog: Catalog) -> ModelName:
    """The model to talk to; raises NoModel when none is named and no key tells which one is meant."""
    if settings.name:
        return ModelName.parse(settings.name)
    if keys.find(ProviderKind.ANTHROPIC):
        return ModelName(provider=ProviderKind.ANTHROPIC, name=_newest(catalog, ProviderKind.ANTHROPIC))
    if settings.openai_base_url:
        raise NoModel(
            f"A model server is set ({without_login(settings.openai_base_url)}), but no model of it.",
            hint="Name one: codeagent --model openai-chat/NAME",
        )
    if keys.find(ProviderKind.OPENAI):
        return ModelName(provider=ProviderKind.OPENAI, name=_newest(catalog, ProviderKind.OPENAI))
    if keys.store.is_silent:
        variable = KEY_VARIABLES[ProviderKind.ANTHROPIC]
        raise NoModel(f"No model yet: {_SILENT}.", hint=f"Unlock it and start again, or set {variable}.")
    raise NoModel("No model yet: no key was found and no model was named.")


def key_for(name: ModelName, settings: ModelSettings, keys: Keys) -> FoundKey:
    """The key for a model; a server of the person's own may need none. Raises NoModel."""
    if name.provider is ProviderKind.SCRIPTED:
        return FoundKey(secret="", place="", remedy="")
    is_anthropic = name.provider is ProviderKind.ANTHROPIC
    own_url = settings.anthropic_base_url if is_anthropic else settings.openai_base_url
    kind = key_kind(name.provider, settings)
    variable, command = KEY_VARIABLES[kind], f"codeagent config set-key {kind}"
    if key := keys.find(kind):
        return key
    if own_url is None and keys.store.is_silent:
        hint = f"Unlock it and try again, or set {variable}; {command} keeps a key in a file as long as it is silent."
        raise NoModel(f"{name} needs a key, and {_SILENT}.", hint=hint)
    if own_url is None:
        raise NoModel(f"{name} needs a key, and none was found.", hint=f"{command} keeps one, or set {variable}.")
    remedy = f"No key was sent: {command} keeps one, or set {variable}."
    return FoundKey(secret=NO_KEY_NEEDED, place="", remedy=remedy)


def key_kind(kind: ProviderKind, settings: ModelSettings) -> ProviderKind:
    """Whose key a service takes: one that was stored for OpenAI itself is never sent to another server."""
    if kind is ProviderKind.ANTHROPIC:
        return kind
    return ProviderKind.OPENAI_CHAT if settings.openai_base_url else ProviderKind.OPENAI


def own_address(name: ModelName, settings: ModelSettings) -> str:
    """Where a model answers by the settings: a server of the person's own, or a script's file; else nothing."""
    if name.provider is ProviderKind.SCRIPTED:
        return str(Path(name.name).expanduser().absolute())
    url = settings.anthropic_base_url if name.provider is ProviderKind.ANTHROPIC else settings.openai_base_url
    return without_login(url or "")


def is_on_this_machine(url: str) -> bool:
    """Whether an address leads nowhere but to this machine."""
    return _THIS_MACHINE.match(url) is not None


def script_of(name: ModelName) -> Path:
    """The file of a scripted model; raises ConfigError when it is not there."""
    path = Path(name.name).expanduser()
    if not path.is_file():
        raise ConfigError(f"There is no script {path}.", hint="--model scripted/FILE takes a file of JSON lines.")
    return path


def _newest(catalog: Catalog, service: ProviderKind) -> str:
    prefix = f"{service}/"
    return next(name.removeprefix(prefix) for name in catalog.names() if name.startswith(prefix))
