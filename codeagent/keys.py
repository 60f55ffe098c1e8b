"""Which key opens a model service, and where it came from: the environment, the keyring or the key file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codeagent.config.places import HOME_VARIABLE, Places
from codeagent.core.errors import ConfigError
from codeagent.core.values import value
from codeagent.providers.catalog import ProviderKind
from codeagent.store.keys import PATIENCE, KeyStore, system_keyring

KEY_VARIABLES: Mapping[ProviderKind, str] = {
    ProviderKind.ANTHROPIC: "ANTHROPIC_API_KEY",
    ProviderKind.OPENAI: "OPENAI_API_KEY",
    ProviderKind.OPENAI_CHAT: "OPENAI_API_KEY",
}
"""The environment variable of each service that takes a key."""

_LONGEST_KEY = 8_000
"""Characters; servers take no longer line in the head of a request."""
_LITTLE_PATIENCE = 0.5
"""Seconds that a keyring is waited for where no key of it is needed."""


@value
class FoundKey:
    """A key; ``place`` says in words where it is, ``remedy`` what to do when it is not accepted."""

    secret: str
    place: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Keys:
    """Looks for keys: a variable of the environment goes before what was stored."""

    environ: Mapping[str, str]
    store: KeyStore

    def find(self, kind: ProviderKind, patience: float = PATIENCE) -> FoundKey | None:
        """The key of a service, ``openai-chat`` being a server of the person's own.

        It may wait for the keyring, but no longer than ``patience`` in seconds.
        """
        variable = KEY_VARIABLES.get(kind)
        if variable is None:
            return None
        command = f"codeagent config set-key {kind}"
        if secret := self.environ.get(variable, "").strip():
            remedy = f"It comes from {variable} in the environment: set it anew, or unset it and use {command}."
            return FoundKey(secret=secret, place=f"{variable} in the environment", remedy=remedy)
        if (stored := self.store.get(kind, patience)) and (secret := stored.secret.strip()):
            remedy = f"It comes from {stored.place}: {command} replaces it."
            return FoundKey(secret=secret, place=stored.place, remedy=remedy)
        return None

    def keep(self, service: str, secret: str) -> str:
        """Keeps a key that the person entered, and says where; raises ConfigError."""
        return self.store.keep(key_service(service), usable_key(secret))

    def secrets(self) -> tuple[str, ...]:
        """The keys in use and those that are kept beside them, so that they can be taken out of what is written."""
        found = [self.find(kind, _LITTLE_PATIENCE) for kind in KEY_VARIABLES]
        return tuple(dict.fromkeys((*(key.secret for key in found if key), *self.store.at_hand())))


def find_keys(environ: Mapping[str, str], places: Places) -> Keys:
    """The keys of this machine; the keyring is left out where all of the program's files are under one folder."""
    find_keyring = (lambda: None) if environ.get(HOME_VARIABLE) else system_keyring
    return Keys(environ, KeyStore(places.keys_file, find_keyring))


def key_service(name: str) -> ProviderKind:
    """A service that takes a key, by its name; raises ConfigError."""
    kind = next((kind for kind in KEY_VARIABLES if kind == name.strip().lower()), None)
    if kind is None:
        raise ConfigError(f"{name} is no service with a key.", hint=f"There are {', '.join(KEY_VARIABLES)}.")
    return kind


def usable_key(text: str) -> str:
    """A key as it was entered, without what surrounds it; raises ConfigError for what can be none."""
    key = text.strip().strip("\"'`").strip()
    if not key:
        raise ConfigError("No key was entered; nothing was changed.")
    if len(key) > _LONGEST_KEY:
        raise ConfigError(f"That is no key: it has more than {_LONGEST_KEY:,} characters.", hint="Nothing was changed.")
    if not key.isascii() or not key.isprintable() or any(mark in key for mark in " \"'`"):
        raise ConfigError("That is no key: a key is one word of plain characters.", hint="Nothing was changed.")
    return key
