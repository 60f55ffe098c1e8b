"""The connection to Anthropic and to servers like it; the one place that knows its SDK."""

from __future__ import annotations

import asyncio

import httpx2

from codeagent.core.errors import ProviderRejected
from codeagent.providers.catalog import Limits, without_login
from codeagent.providers.connection import HEADERS, HOOKS, timeouts
from codeagent.providers.failures import Service
from codeagent.providers.left_aside import Seldom, import_only
from codeagent.providers.network import NO_ANSWER, route_to


def is_unrecorded(*arguments: object) -> bool:
    """Whether nobody records the span of OpenTelemetry's that is among the arguments: then its end means nothing."""
    spans = (getattr(argument, "is_recording", None) for argument in arguments)
    return any(is_recording is not None and not is_recording() for is_recording in spans)


import_only(
    "anthropic",
    ("_client", "AsyncAnthropic"),
    ("_base_client", "DefaultAsyncHttpxClient"),
    ("_exceptions", "AnthropicError"),
    ("_exceptions", "APIStatusError"),
    seldom=(
        Seldom("_error_classes", "make_status_error"),
        Seldom("lib._tracing", "finish_api_call_span", is_idle=is_unrecorded),
    ),
)
import anthropic  # noqa: E402 - as far as the line above went

DEFAULT_URL = "https://api.anthropic.com"


class AnthropicConnection:
    """A client that connects with the first request; ``service`` is how failures speak of it."""

    def __init__(self, model: str, api_key: str, base_url: str | None, limits: Limits, key_remedy: str) -> None:
        self._key = api_key
        self._url = (base_url or DEFAULT_URL).rstrip("/").removesuffix("/v1")
        self._limits = limits
        self._client: anthropic.AsyncAnthropic | None = None
        self._connecting = asyncio.Lock()
        self.service = Service(
            name="Anthropic" if base_url is None else without_login(self._url),
            url=self._url,
            model=model,
            key_variable="ANTHROPIC_API_KEY",
            url_variable="ANTHROPIC_BASE_URL",
            secret=api_key,
            key_remedy=key_remedy,
            is_output_set=limits.is_output_set,
        )

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
        except anthropic.APIStatusError as error:
            raise self.service.refused(error.status_code, error.response.headers, error.response.text) from error
        except (anthropic.AnthropicError, *NO_ANSWER) as error:
            raise self.service.unreachable(error) from error

    async def aclose(self) -> None:
        """Closes the connections that are kept for the next request."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _connect(self) -> anthropic.AsyncAnthropic:
        """The SDK's client; loading certificates makes it slow, so it is made in a thread."""
        if not self._key and self._url == DEFAULT_URL:
            hint = "codeagent config set-key anthropic keeps one, or set ANTHROPIC_API_KEY."
            raise ProviderRejected("There is no key for Anthropic.", hint=hint)
        self.service.require_fit()
        try:
            return anthropic.AsyncAnthropic(
                api_key=self._key or "none",
                base_url=self._url,
                max_retries=0,
                timeout=timeouts(self._limits),
                # the SDK's own choice, but one that says nothing on the terminal where it cannot be made
                http_client=anthropic.DefaultAsyncHttpxClient(event_hooks=HOOKS, **route_to(self._url)),
            )
        except (httpx2.InvalidURL, ValueError, OSError) as error:
            raise self.service.unreachable(error) from error
