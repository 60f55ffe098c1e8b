"""What ``--model`` can be completed to: models set, used lately, listed by the services, and known.

Whoever completes waits for the answer, so a service is asked seldom, for a second at the
most, and without opening a keyring; what goes wrong is passed over in silence.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from codeagent.config.places import Places
from codeagent.config.settings import ModelSettings
from codeagent.config.sources import load_settings
from codeagent.core.errors import CodeagentError
from codeagent.core.text import clean
from codeagent.keys import Keys
from codeagent.model_list import LastList
from codeagent.model_services import listed_models, model_list
from codeagent.models import NO_KEY_NEEDED, key_kind
from codeagent.providers.catalog import Catalog, ProviderKind, without_login
from codeagent.providers.sse import as_object, as_text, parse_object
from codeagent.store.keys import KeyStore
from codeagent.store.sessions import Sessions

_SECONDS = 1.0
_ASKING = "asks for models"
_LATELY = 8
"""So many sessions of the workspace are looked at."""
_LONGEST_LINE = 65_536


def known_models(places: Places, root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names, the likeliest first; raises ConfigError where the person's own table of models cannot be read."""
    settings = _settings(places, root, environ)
    last_list = LastList(places.listed_models)
    _bring_up_to_date(last_list, settings, Keys(environ, KeyStore(places.keys_file, lambda: None)))
    set_here = [settings.name] if settings.name else []
    names = [*set_here, *_used_lately(places, root), *last_list.read(), *Catalog(places.models_file).names()]
    return tuple(dict.fromkeys(map(clean, names)))


def end_at_once_if_asking() -> None:
    """Ends the program where a service still keeps a thread waiting, which would keep its end waiting too."""
    if any(thread.name == _ASKING for thread in threading.enumerate()):
        os._exit(0)


def _settings(places: Places, root: Path, environ: Mapping[str, str]) -> ModelSettings:
    """The person's own settings, without any that a project brings; the defaults where they cannot be read."""
    with suppress(CodeagentError):
        return load_settings(places, root, environ, {}, project=None).settings.model
    return ModelSettings()


def _used_lately(places: Places, root: Path) -> Iterator[str]:
    """The models with which the last sessions of the workspace began."""
    for path in islice(Sessions(places.sessions, root).paths(), _LATELY):
        with suppress(OSError), path.open("rb") as record:
            event = as_object(as_object(parse_object(record.readline(_LONGEST_LINE))).get("event"))
            model = as_text(event.get("model"))
            if model and not model.startswith(f"{ProviderKind.SCRIPTED}/"):  # whose file is not told
                yield model


def _bring_up_to_date(last_list: LastList, settings: ModelSettings, keys: Keys) -> None:
    """Asks the services that were not asked a moment ago, all at once; late answers are not waited for."""
    threads = [
        threading.Thread(target=_ask, args=(last_list, settings, kind, key), name=_ASKING, daemon=True)
        for kind, key in _reachable(settings, keys)
        if last_list.is_due(without_login(model_list(kind, key, settings).url))
    ]
    for thread in threads:
        thread.start()
    until = time.monotonic() + _SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _ask(last_list: LastList, settings: ModelSettings, kind: ProviderKind, key: str) -> None:
    url = without_login(model_list(kind, key, settings).url)
    last_list.keep((), asked=url)  # now, so that one that never answers is not asked with every key
    if names := listed_models(settings, kind, key, seconds=_SECONDS):
        last_list.keep([f"{kind}/{name}" for name in names], asked=url)


def _reachable(settings: ModelSettings, keys: Keys) -> Iterator[tuple[ProviderKind, str]]:
    """The services with a key at hand, or an address of their own that may need none."""
    has_own = {
        ProviderKind.ANTHROPIC: settings.anthropic_base_url is not None,
        ProviderKind.OPENAI: False,
        ProviderKind.OPENAI_CHAT: settings.openai_base_url is not None,
    }
    for kind, is_own in has_own.items():
        if kind is ProviderKind.OPENAI_CHAT and not is_own:
            continue
        key = keys.find(key_kind(kind, settings))
        if key is not None or is_own:
            yield kind, key.secret if key else NO_KEY_NEEDED
