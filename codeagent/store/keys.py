"""The keys of model services that the person entered: in the system's keyring, else in a file for them alone."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from codeagent.core.errors import ConfigError
from codeagent.core.json_types import JsonObject
from codeagent.core.values import value
from codeagent.workspace.private import change_private, read_private, way_out

_log = logging.getLogger(__name__)
_NAME = "codeagent"
IN_KEYRING = "your keyring"
_handed_out: set[str] = set()
"""What keyrings have given in this run, so that it can be taken out of whatever is written."""


class Keyring(Protocol):
    """What is used of a system's keyring: passwords by the name of a program and of a user."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """The password, None when there is none."""
        ...

    def set_password(self, service: str, username: str, password: str, /) -> None:
        """Keeps it."""
        ...

    def delete_password(self, service: str, username: str, /) -> None:
        """Forgets it."""
        ...


@value
class StoredKey:
    """A key, and in words the place where it is kept."""

    secret: str
    place: str


class KeyStore:
    """Keeps one key a service; ``find_keyring`` is asked when a key is first looked for."""

    def __init__(self, file: Path, find_keyring: Callable[[], Keyring | None]) -> None:
        self._file = file
        self._find_keyring = find_keyring

    def get(self, service: str) -> StoredKey | None:
        """The key of a service; the keyring's goes before the file's. It may wait for the keyring: use a thread."""
        if secret := self._in_keyring(service):
            _handed_out.add(secret)
            return StoredKey(secret=secret, place=IN_KEYRING)
        found = read_private(self._file).get(service)
        return StoredKey(secret=found, place=str(self._file)) if isinstance(found, str) and found else None

    def at_hand(self) -> tuple[str, ...]:
        """The keys in the file, and those that a keyring has given in this run; it never waits."""
        in_file = [found for found in read_private(self._file).values() if isinstance(found, str) and found]
        return (*in_file, *_handed_out)

    def keep(self, service: str, secret: str) -> str:
        """Keeps a key in the keyring, or in the file where there is none; says where. Raises ConfigError."""
        keyring = self._find_keyring()
        if keyring is not None:
            try:
                keyring.set_password(_NAME, service, secret)
                is_kept = keyring.get_password(_NAME, service) == secret
            except Exception:  # noqa: BLE001 - a keyring is somebody else's program; the file takes its place
                _log.warning("the keyring did not take a key", exc_info=True)
                is_kept = False
            if is_kept:
                self._forget(service)
                return IN_KEYRING
        self._change(lambda keys: keys.update({service: secret}))
        return str(self._file)

    def remove(self, service: str) -> tuple[str, ...]:
        """Forgets a key; the places where it was. Raises ConfigError."""
        places: list[str] = []
        keyring = self._find_keyring()
        if keyring is not None and self._in_keyring(service):
            try:
                keyring.delete_password(_NAME, service)
            except Exception as error:
                raise ConfigError("The keyring did not let the key go.", hint="Remove it there.") from error
            places.append(IN_KEYRING)
        if self._forget(service):
            places.append(str(self._file))
        return tuple(places)

    def _in_keyring(self, service: str) -> str:
        keyring = self._find_keyring()
        if keyring is None:
            return ""
        try:
            return keyring.get_password(_NAME, service) or ""
        except Exception:  # noqa: BLE001 - a keyring is somebody else's program: locked or broken, it has no key
            _log.warning("the keyring did not answer", exc_info=True)
            return ""

    def _forget(self, service: str) -> bool:
        """Takes a key out of the file; False when it was not there."""
        if service not in read_private(self._file):
            return False
        self._change(partial(_without, service))
        return True

    def _change(self, change: Callable[[JsonObject], None]) -> None:
        try:
            change_private(self._file, change)
        except OSError as error:
            text = f"The key cannot be kept in {self._file}: {error.strerror}."
            raise ConfigError(text, hint=way_out(error)) from error


def _without(service: str, keys: JsonObject) -> None:
    keys.pop(service, None)


def system_keyring() -> Keyring | None:
    """The system's keyring, where the optional package for it is installed and finds one that works."""
    try:
        backend = importlib.import_module("keyring").get_keyring()
        works = backend.priority > 0
    except ImportError:
        return None
    except Exception:  # noqa: BLE001 - looking for a keyring starts programs of others; without one the file serves
        _log.warning("no keyring could be opened", exc_info=True)
        return None
    return backend if works else None
