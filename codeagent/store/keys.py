"""The keys of model services that the person entered: in the system's keyring, else in a file for them alone."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Protocol

from codeagent.core.errors import ConfigError
from codeagent.core.json_types import JsonObject
from codeagent.core.values import value
from codeagent.workspace.private import change_private, close_to_others, read_private, way_out

_log = logging.getLogger(__name__)
_NAME = "codeagent"
IN_KEYRING = "your keyring"
PATIENCE = 5.0
"""Seconds in which a keyring must give a key that is needed; one that waits to be unlocked may never answer."""
_handed_out: set[str] = set()
"""What keyrings have given in this run, so that it can be taken out of whatever is written."""
_asked: dict[str, Future[str]] = {}
"""What the keyring was asked for and has not answered, by service; it is not asked again meanwhile."""
_silence = threading.Event()


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
    """Keeps one key a service; ``find_keyring`` is asked when a key is first looked for.

    It may wait for the keyring: use a thread.
    """

    def __init__(self, file: Path, find_keyring: Callable[[], Keyring | None]) -> None:
        self._file = file
        self._find_keyring = find_keyring
        self.refusal = ""
        """Why the key that was kept last is not in the keyring, in a sentence; empty where there is none, or it is."""

    @property
    def is_silent(self) -> bool:
        """Whether the keyring has kept somebody waiting who needs a key, and has not answered since."""
        return _silence.is_set()

    def close_file(self) -> tuple[str, str]:
        """Keeps others on the machine from reading the file; what was found and what to do, where they could.

        Both are empty where nothing was the matter.
        """
        try:
            is_mended = close_to_others(self._file)
        except OSError as error:
            found = f"{self._file} can be read by others, and that cannot be changed: {error.strerror}."
            return found, f"Run chmod 600 {self._file}."
        if not is_mended:
            return "", ""
        found = f"{self._file} could be read by others; now it can be read by you alone."
        return found, "If others use this machine, replace the keys in it."

    def get(self, service: str, patience: float = PATIENCE) -> StoredKey | None:
        """The key of a service; the file's, else the keyring's if it gives one in that many seconds.

        The file has one only where the keyring did not take it, so that it is the newer.
        """
        found = read_private(self._file).get(service)
        if isinstance(found, str) and found.strip():
            return StoredKey(secret=found, place=str(self._file))
        if secret := self._in_keyring(service, patience):
            _handed_out.add(secret)
            return StoredKey(secret=secret, place=IN_KEYRING)
        return None

    def at_hand(self) -> tuple[str, ...]:
        """The keys in the file, and those that a keyring has given in this run; it never waits."""
        in_file = [found for found in read_private(self._file).values() if isinstance(found, str) and found]
        return (*in_file, *_handed_out)

    def keep(self, service: str, secret: str) -> str:
        """Keeps a key in the keyring, or in the file where there is none; says where. Raises ConfigError."""

        def keep() -> str:
            keyring = self._find_keyring()
            if keyring is None:
                return ""
            keyring.set_password(_NAME, service, secret)
            return "kept" if keyring.get_password(_NAME, service) == secret else "lost"

        self.refusal = ""
        try:
            answer = _ask(keep).result(0 if self.is_silent else PATIENCE)
        except Exception as error:  # noqa: BLE001 - a keyring is somebody else's program; the file takes its place
            _log.warning("the keyring did not take a key", exc_info=True)
            answer, self.refusal = "", _refusal(error)
        if answer == "lost":
            self.refusal = "Your keyring did not keep it."
        if answer == "kept":
            _asked.pop(service, None)
            self._forget(service)
            return IN_KEYRING
        self._change(lambda keys: keys.update({service: secret}))
        return str(self._file)

    def remove(self, service: str) -> tuple[str, ...]:
        """Forgets a key; the places where it was. Raises ConfigError."""
        places: list[str] = []

        def remove() -> str:
            if (keyring := self._find_keyring()) is not None:
                keyring.delete_password(_NAME, service)
            return ""

        if self._forget(service):
            places.append(str(self._file))
        if self._in_keyring(service, PATIENCE):
            try:
                _ask(remove).result(PATIENCE)
            except Exception as error:
                gone = f"The key is gone from {self._file}, but your" if places else "Your"
                raise ConfigError(f"{gone} keyring did not let its key go.", hint="Remove it there.") from error
            places.insert(0, IN_KEYRING)
        if self.is_silent and not places:
            hint = "Unlock it, and try again."
            raise ConfigError("Your keyring does not answer; what it holds was not removed.", hint=hint)
        return tuple(places)

    def _in_keyring(self, service: str, patience: float) -> str:
        """What the keyring has; nothing where it does not say so in time, and then its answer counts the next time."""

        def look() -> str:
            keyring = self._find_keyring()
            found = keyring.get_password(_NAME, service) if keyring is not None else ""
            _silence.clear()
            if found and not isinstance(found, str):  # pyright: ignore[reportUnnecessaryIsInstance] - other people's
                raise TypeError("The keyring gave something that is no text.")
            return found or ""

        asked = _asked.get(service)
        if asked is None:
            asked = _asked[service] = _ask(look)
        try:
            found = asked.result(0 if self.is_silent else patience)
        except Exception:  # noqa: BLE001 - a keyring is somebody else's program: locked or broken, it has no key
            if patience >= PATIENCE and not asked.done():
                _silence.set()
            _log.warning("the keyring did not answer", exc_info=True)
            found = ""
        else:
            _silence.clear()
        if asked.done():
            _asked.pop(service, None)
        return found

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


def _ask(question: Callable[[], str]) -> Future[str]:
    """What a keyring will answer, some time; the thread that waits for it keeps no program from ending."""
    answer: Future[str] = Future()

    def wait() -> None:
        try:
            answer.set_result(question())
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is waited for
            answer.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - a keyring that wants to end the program does not
            answer.set_exception(RuntimeError(f"The keyring raised {type(error).__name__}."))

    threading.Thread(target=wait, name="keyring", daemon=True).start()
    return answer


def _refusal(error: Exception) -> str:
    """Why a keyring did not take a key; the words of its own are for its makers."""
    if isinstance(error, TimeoutError):
        return "Your keyring does not answer; unlock it and keep the key again to have it there."
    if type(error).__name__ == "KeyringLocked":  # the package is optional
        return "Your keyring is locked; unlock it and keep the key again to have it there."
    return "Your keyring did not take it."


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
