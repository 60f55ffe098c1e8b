"""The connection to OpenAI and to servers like it; the one place that knows its SDK."""

from __future__ import annotations

import asyncio
import hashlib

import httpx2

from codeagent.core.errors import ProviderRejected
from codeagent.core.text import storable
from codeagent.providers.catalog import Limits, without_login
from codeagent.providers.connection import HEADERS, HOOKS, timeouts
from codeagent.providers.failures import Service
from codeagent.providers.left_aside import import_only
from codeagent.providers.network import NO_ANSWER, route_to

import_only("openai", ("_client", "AsyncOpenAI"), ("_exceptions", "OpenAIError"), ("_exceptions", "APIStatusError"))
import openai  # noqa: E402 - as far as the line above went

DEFAULT_URL = "https://api.openai.com/v1"


class OpenAIConnection:
    """A client that connects with the first request; ``service`` is how failures speak of it."""

    def __init__(self, model: str, api_key: str, base_url: str | None, limits: Limits, key_remedy: str) -> None:
        self._key = api_key
        self._url = (base_url or DEFAULT_URL).rstrip("/")
        self._limits = limits
        self._client: openai.AsyncOpenAI | None = None
        self._connecting = asyncio.Lock()
        self.service = Service(
            name="OpenAI" if self.is_openai else without_login(self._url),
            url=self._url,
            model=model,
            key_variable="OPENAI_API_KEY",
            url_variable="OPENAI_BASE_URL",
            secret=api_key,
            key_remedy=key_remedy,
            is_output_set=limits.is_output_set,
        )

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI's own service, which needs a key."""
        return self._url.startswith("https://api.openai.com")

    def cache_key(self, system: str) -> list[bytes]:
        """The field that brings requests with the same beginning to the same cache; OpenAI alone is known to take it.

        https://developers.openai.com/api/docs/guides/prompt-caching
        """
        key = hashlib.sha256(storable(system).encode()).hexdigest()[:32]
        return [b'"prompt_cache_key":"%b"' % key.encode()] if self.is_openai else []

    async def post(self, path: str, body: bytes) -> httpx2.Response:
        """Sends a ready request; returns the open response, or raises a ProviderError."""
        async with self._connecting:
            client = self._client or await asyncio.to_thread(self._connect)
            self._client = client
        try:
            return await client.post(
                path,
                cast_to=httpx2.Response,
                content=body,
                options={"headers": HEADERS, "follow_redirects": False},  # a key goes nowhere else
            )
        except openai.APIStatusError as error:
            raise self.service.refused(error.status_code, error.response.headers, error.response.text) from error
        except (openai.OpenAIError, *NO_ANSWER) as error:
            raise self.service.unreachable(error) from error

    async def aclose(self) -> None:
        """Closes the connections that are kept for the next request."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _connect(self) -> openai.AsyncOpenAI:
        """The SDK's client; loading certificates makes it slow, so it is made in a thread."""
        if not self._key and self.is_openai:
            raise ProviderRejected(
                "There is no key for OpenAI.", hint="codeagent config set-key openai keeps one, or set OPENAI_API_KEY."
            )
        self.service.require_fit()
        try:
            return openai.AsyncOpenAI(
                api_key=self._key or "none",
                base_url=self._url,
                max_retries=0,
                timeout=timeouts(self._limits),
                http_client=openai.DefaultAsyncHttpxClient(event_hooks=HOOKS, **route_to(self._url)),
            )
        except (httpx2.InvalidURL, openai.OpenAIError, ValueError, OSError) as error:
            raise self.service.unreachable(error) from error
