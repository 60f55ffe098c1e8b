"""Asks a model service which models it has: ``GET /v1/models``, which all of the protocols know.

It is the cheapest request that needs a key, and so tells whether one is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from codeagent.core.errors import ProviderError, ProviderUnavailable
from codeagent.core.text import storable
from codeagent.providers.failures import Service
from codeagent.providers.sse import as_object, as_text, parse_object

_MOST = 1_000
_UNAUTHORIZED, _TOO_MANY, _FAILED = 401, 429, 500


def list_models(base_url: str, headers: Mapping[str, str], *, seconds: float) -> tuple[str, ...]:
    """The names that the service gives its models, none when it does not say; call it on a thread.

    ``base_url`` ends before ``/models``; nothing is waited for longer than ``seconds``.
    """
    try:
        response = _asked(base_url, headers, seconds)
        body = parse_object(response.text) if response.is_success else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError):
        return ()
    found = as_object(body).get("data")
    entries = found if isinstance(found, list) else []
    names = [storable(as_text(as_object(entry).get("id"))) for entry in entries[:_MOST]]
    return tuple(dict.fromkeys(name for name in names if name.strip()))


def key_problem(service: Service, base_url: str, headers: Mapping[str, str], *, seconds: float) -> ProviderError | None:
    """Why the service does not take the key in the headers, or could not be asked; None when it said nothing of it.

    A key may be good for models and not for their list, so that only a plain no counts.
    """
    try:
        response = _asked(base_url, headers, seconds)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
        return service.unreachable(error)
    if response.status_code == _UNAUTHORIZED:
        return service.refused(_UNAUTHORIZED, response.headers, response.text)
    if response.status_code == _TOO_MANY or response.status_code >= _FAILED:
        return ProviderUnavailable(f"{service.name} answered with HTTP {response.status_code}.")
    return None


def _asked(base_url: str, headers: Mapping[str, str], seconds: float) -> httpx2.Response:
    """The answer; a redirect is one, as a key goes nowhere else."""
    with httpx2.Client(timeout=seconds, follow_redirects=False) as client:
        return client.get(f"{base_url.rstrip('/')}/models", headers=dict(headers))
