"""Chooses the model: from the settings, or from the key that is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codeagent.config.settings import ModelSettings
from codeagent.core.errors import ConfigError, NoModel
from codeagent.providers.catalog import Catalog, ModelName, ProviderKind

ANTHROPIC_KEY, OPENAI_KEY = "ANTHROPIC_API_KEY", "OPENAI_API_KEY"
NO_KEY_NEEDED = "none"


def choose_model(settings: ModelSettings, environ: Mapping[str, str], catalog: Catalog) -> ModelName:
    """The model to talk to; raises NoModel when none is named and no key tells which one is meant."""
    if settings.name:
        return ModelName.parse(settings.name)
    if environ.get(ANTHROPIC_KEY):
        return ModelName(provider=ProviderKind.ANTHROPIC, name=_newest(catalog, ProviderKind.ANTHROPIC))
    if settings.openai_base_url:
        raise NoModel(
            f"A model server is set ({settings.openai_base_url}), but no model of it.",
            hint="Name one: codeagent --model openai-chat/NAME",
        )
    if environ.get(OPENAI_KEY):
        return ModelName(provider=ProviderKind.OPENAI, name=_newest(catalog, ProviderKind.OPENAI))
    raise NoModel("There is no model to talk to yet: no key was found and no model was named.")


def key_for(name: ModelName, settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """The key for a model; a server of the person's own may need none. Raises NoModel."""
    match name.provider:
        case ProviderKind.ANTHROPIC:
            variable, needs_one = ANTHROPIC_KEY, settings.anthropic_base_url is None
        case ProviderKind.OPENAI | ProviderKind.OPENAI_CHAT:
            variable, needs_one = OPENAI_KEY, settings.openai_base_url is None
        case ProviderKind.SCRIPTED:
            return ""
    key = environ.get(variable, "")
    if not key and needs_one:
        raise NoModel(f"{name} needs a key, and {variable} is not set.", hint=f"export {variable}=…")
    return key or NO_KEY_NEEDED


def script_of(name: ModelName) -> Path:
    """The file of a scripted model; raises ConfigError when it is not there."""
    path = Path(name.name).expanduser()
    if not path.is_file():
        raise ConfigError(f"There is no script {path}.", hint="--model scripted/FILE takes a file of JSON lines.")
    return path


def _newest(catalog: Catalog, service: ProviderKind) -> str:
    prefix = f"{service}/"
    return next(name.removeprefix(prefix) for name in catalog.names() if name.startswith(prefix))
