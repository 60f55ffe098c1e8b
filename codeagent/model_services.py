"""Where the model services list their models; that list also tells whether a key is accepted."""

from __future__ import annotations

from collections.abc import Mapping

from codeagent.config.settings import ModelSettings
from codeagent.core.desk import KeyProblem
from codeagent.core.values import value
from codeagent.keys import KEY_VARIABLES, key_service, usable_key
from codeagent.providers.catalog import ProviderKind, without_login
from codeagent.providers.failures import Service
from codeagent.providers.listing import key_problem, list_models

_ANTHROPIC_URL, _OPENAI_URL = "https://api.anthropic.com", "https://api.openai.com/v1"
_ANTHROPIC_VERSION = "2023-06-01"
_LIST_SECONDS = 2.0
_CHECK_SECONDS = 5.0
_UNAUTHORIZED = 401


@value
class ModelList:
    """A service's list: its address without ``/models``, and what to send along."""

    url: str
    headers: Mapping[str, str]


def model_list(kind: ProviderKind, key: str, settings: ModelSettings) -> ModelList:
    """Where a service lists its models, and how it is asked with this key."""
    if kind is ProviderKind.ANTHROPIC:
        url = (settings.anthropic_base_url or _ANTHROPIC_URL).rstrip("/").removesuffix("/v1") + "/v1"
        return ModelList(url=url, headers={"x-api-key": key, "anthropic-version": _ANTHROPIC_VERSION})
    return ModelList(url=settings.openai_base_url or _OPENAI_URL, headers={"Authorization": f"Bearer {key}"})


def listed_models(
    settings: ModelSettings, kind: ProviderKind, key: str, *, seconds: float = _LIST_SECONDS
) -> tuple[str, ...]:
    """The models of a service, as it lists them; none when it does not say in time. Call it on a thread."""
    place = model_list(kind, key, settings)
    return list_models(place.url, place.headers, seconds=seconds)


def check_key(service: str, entered: str, settings: ModelSettings) -> KeyProblem | None:
    """Asks a service whether it takes a key, with one cheap request; None when nothing speaks against it.

    Waits a few seconds at the most; call it on a thread. Raises ConfigError for
    what can be no key.
    """
    kind, key = key_service(service), usable_key(entered)
    if kind is ProviderKind.OPENAI_CHAT and not settings.openai_base_url:
        return None  # no server is named yet
    if kind is ProviderKind.OPENAI:  # its key is never sent to another server
        settings = settings.model_copy(update={"openai_base_url": None})
    place = model_list(kind, key, settings)
    own_url = place.url.removesuffix("/v1") if kind is ProviderKind.ANTHROPIC else place.url
    own_name = without_login(own_url)
    is_own = place.url.startswith((_ANTHROPIC_URL, _OPENAI_URL))
    names = {ProviderKind.ANTHROPIC: "Anthropic", ProviderKind.OPENAI: "OpenAI"}
    asked = Service(
        name=names.get(kind, own_name) if is_own else own_name,
        url=own_url,
        model="",
        key_variable=KEY_VARIABLES[kind],
        url_variable="ANTHROPIC_BASE_URL" if kind is ProviderKind.ANTHROPIC else "OPENAI_BASE_URL",
        secret=key,
    )
    error = key_problem(asked, place.url, place.headers, seconds=_CHECK_SECONDS)
    if error is None:
        return None
    is_refused = error.status == _UNAUTHORIZED
    text = error.message if is_refused else f"{error.message} The key was not checked."
    return KeyProblem(text=text, is_refused=is_refused)
