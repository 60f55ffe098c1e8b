"""Asks a model service which models it has: ``GET /v1/models``, which all of the protocols know."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from codeagent.core.text import storable
from codeagent.providers.sse import as_object, as_text, parse_object

_MOST = 1_000


def list_models(base_url: str, headers: Mapping[str, str], *, seconds: float) -> tuple[str, ...]:
    """The names that the service gives its models, none when it does not say; call it on a thread.

    ``base_url`` ends before ``/models``; nothing is waited for longer than ``seconds``.
    """
    try:
        with httpx2.Client(timeout=seconds, follow_redirects=False) as client:
            response = client.get(f"{base_url.rstrip('/')}/models", headers=dict(headers))
            body = parse_object(response.text) if response.is_success else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError):
        return ()
    found = as_object(body).get("data")
    entries = found if isinstance(found, list) else []
    names = [storable(as_text(as_object(entry).get("id"))) for entry in entries[:_MOST]]
    return tuple(dict.fromkeys(name for name in names if name.strip()))
