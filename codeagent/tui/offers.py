"""What can be done right here about a missing model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeagent.core.desk import LocalServer
from codeagent.core.errors import ConfigError
from codeagent.core.values import value

DEMO = "demo"
"""What the app returns when the demo is wanted."""

Servers = Callable[[], Sequence[LocalServer]]
"""Looks for model servers on this machine; called on a thread."""


def _keeps_none(service: str, key: str) -> str:
    raise ConfigError(f"The key for {service} ({len(key)} characters) can not be kept here.")


def _nothing_against(_service: str, _key: str) -> str:
    return ""


@value
class Offers:
    """What the welcome can do about a missing model.

    ``servers`` looks for servers on this machine; ``check_key`` asks a service
    about a key and says in a sentence what speaks against it; ``keep_key`` keeps it
    and says where. Those two may raise ConfigError. All are called on a thread.
    """

    servers: Servers = tuple
    check_key: Callable[[str, str], str] = _nothing_against
    keep_key: Callable[[str, str], str] = _keeps_none
