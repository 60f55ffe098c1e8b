"""Asks a model service which models it has: ``GET /v1/models``, which all of the protocols know.

It is the cheapest request that needs a key, and so tells whether one is accepted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httpx2

from codeagent.core.errors import ProviderError, ProviderUnavailable
from codeagent.core.text import storable
from codeagent.core.values import value
from codeagent.providers.failures import Service
from codeagent.providers.network import NO_ANSWER, route_to
from codeagent.providers.sse import as_object, as_text, parse_object

_MOST = 1_000
_MOST_BYTES = 8_000_000
_UNAUTHORIZED, _TOO_MANY, _FAILED = 401, 429, 500
_NO_ANSWER = (*NO_ANSWER, ValueError, OSError, ExceptionGroup)


@value
class _Answer:
    status: int
    headers: Mapping[str, str]
    text: str


def list_models(base_url: str, headers: Mapping[str, str], *, seconds: float) -> tuple[str, ...]:
    """The names that the service gives its models, none when it does not say; call it on a thread.

    ``base_url`` ends before ``/models``; all of it takes no longer than ``seconds``.
    """
    try:
        return _names(asyncio.run(_ask_alone(base_url, headers, seconds)))
    except _NO_ANSWER:
        return ()


async def models_at(client: httpx2.AsyncClient, base_url: str, *, seconds: float) -> tuple[str, ...]:
    """The same of a service that needs no key, asked through ``client``."""
    try:
        return _names(await _asked(client, base_url, {}, seconds))
    except _NO_ANSWER:
        return ()


def key_problem(service: Service, base_url: str, headers: Mapping[str, str], *, seconds: float) -> ProviderError | None:
    """Why the service does not take the key in the headers, or could not be asked; None when it said nothing of it.

    A key may be good for models and not for their list, so that only a plain no counts.
    """
    try:
        answer = asyncio.run(_ask_alone(base_url, headers, seconds))
    except _NO_ANSWER as error:
        return service.unreachable(error)
    if answer.status == _UNAUTHORIZED:
        return service.refused(_UNAUTHORIZED, answer.headers, answer.text)
    if answer.status == _TOO_MANY or answer.status >= _FAILED:
        return ProviderUnavailable(f"{service.name} answered with HTTP {answer.status}.")
    return None


def _names(answer: _Answer) -> tuple[str, ...]:
    body = parse_object(answer.text) if answer.status < 300 else None  # noqa: PLR2004 - the end of success
    found = as_object(body).get("data")
    entries = found if isinstance(found, list) else []
    names = [storable(as_text(as_object(entry).get("id"))) for entry in entries[:_MOST]]
    return tuple(dict.fromkeys(name for name in names if name.strip()))


async def _ask_alone(base_url: str, headers: Mapping[str, str], seconds: float) -> _Answer:
    async with httpx2.AsyncClient(**route_to(base_url)) as client:
        return await _asked(client, base_url, headers, seconds)


async def _asked(client: httpx2.AsyncClient, base_url: str, headers: Mapping[str, str], seconds: float) -> _Answer:
    """The answer, whole in time however slowly it comes; a redirect is one, as a key goes nowhere else."""
    url, body = f"{base_url.rstrip('/')}/models", bytearray()
    async with (
        asyncio.timeout(seconds),
        client.stream("GET", url, headers=dict(headers), timeout=seconds, follow_redirects=False) as response,
    ):
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _MOST_BYTES:
                raise ValueError("A list of models is never so long.")
    return _Answer(status=response.status_code, headers=response.headers, text=body.decode("utf-8", "replace"))
