"""What went wrong at a model service, in one clear sentence, and whether another try can help."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import ssl
from collections.abc import Mapping

import httpx2
from socksio import SOCKSError

from codeagent.core.errors import ContextOverflow, ProviderError, ProviderRejected, ProviderUnavailable
from codeagent.core.json_types import JsonValue
from codeagent.core.seldom import seldom
from codeagent.core.text import Redactor, clean
from codeagent.core.values import value
from codeagent.providers.catalog import without_login
from codeagent.providers.error_bodies import (
    BUSY,
    LONGEST_QUOTE,
    error_of,
    is_busy,
    is_flagged,
    is_page,
    is_too_long,
    quoted,
    said_by_page,
    speaks_of_length,
    status_of,
    told_apart,
    tools_refused,
    trouble_of,
    window_in,
    window_named,
)
from codeagent.providers.network import (
    Proxy,
    deepest,
    is_of_another_host,
    is_of_certificates,
    is_refused,
    proxy_to,
    tls_reason,
    words_of,
)
from codeagent.providers.sse import as_object, parse_object, retry_after

_log = logging.getLogger(__name__)

_LONGEST_MESSAGE = 600
_LONGEST_PAGE = 20_000
_SHORTEST_SECRET = 6  # less, such as the "none" for a server without a key, may be a word of any message
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"})
_RETRIES_AT_NOBODY = 3  # some seconds: enough for a server that is being started again
_LAST_PORT = 65_535
_NO_MODEL = "model_not_found"
_LATER = "Send the message again later, or choose another model."
_PROXY_WANTS_NAME = 407
_PROXIES = seldom(
    r"\b(?:squid|zscaler|blue ?coat|bluecoat|mcafee web gateway|forcepoint|tinyproxy|privoxy)\b", re.IGNORECASE
)
"""What proxies that people are behind call themselves; the gateways in front of services have other names."""
_ABOUT_OUTPUT = seldom(r"max_(?:output_|completion_)?tokens")
_OUT_OF_MONEY = seldom(
    r"insufficient_quota|credit balance|exceeded your current quota|billing|payment required|spending limit",
    re.IGNORECASE,
)


class Unanswered(ProviderUnavailable):
    """Nothing of an answer came, as on a connection that was kept too long, or that holds the rest of the last one."""


@value
class Service:
    """A model service as failures speak of it.

    ``key_remedy`` says where its key came from and how to mend it, else ``key_variable``
    is named. ``is_output_set``: the person chose how long a reply may be.
    """

    name: str
    url: str
    model: str
    key_variable: str
    url_variable: str
    secret: str = ""
    key_remedy: str = ""
    is_output_set: bool = False

    def require_fit(self) -> None:
        """Raises ProviderRejected for what no request can be sent to, or with, before a key goes anywhere.

        A key that no header can carry is never shown.
        """
        if not self._has_host:
            raise self._no_address()
        if not (self.secret.isascii() and self.secret.isprintable()):
            raise ProviderRejected(
                f"The key for {self.name} cannot be sent: a key is one line of plain characters.",
                hint=self.key_remedy or f"Check {self.key_variable}.",
            )

    def refused(self, status: int, headers: Mapping[str, str], body: str) -> ProviderError:  # noqa: PLR0911 - one return a cause
        """The error for an HTTP status other than success; ``body`` as it came."""
        told = parse_object(body.strip().removeprefix("[").removesuffix("]"))
        kind, whole = error_of(told or body)
        said = self._heard(whole, status)
        wait = retry_after(headers)
        if location := headers.get("location", "") if 300 <= status < 400 else "":  # noqa: PLR2004
            return ProviderRejected(
                f"{self.place} sends requests on to {self._safe(location)}; a key does not follow to another address.",
                hint=f"If that is your service, set {self.url_variable} to its address.",
                status=status,
            )
        speaker = None if told else self._speaking_proxy(headers)
        if status == 413 or is_too_long(status, f"{kind} {said}"):  # noqa: PLR2004
            return self._overflow(said, status, speaker, window_named(told))
        busy = is_busy(status)
        if speaker is not None:
            return self._refused_at_proxy(speaker, status, said, is_busy=busy, wait=wait)
        if (refusal := tools_refused(said, status, self.model, self.place)) is not None:
            return refusal
        is_over_quota = kind == "insufficient_quota" or (wait is None and _OUT_OF_MONEY().search(said))
        if status == 402 or (status == 429 and is_over_quota):  # noqa: PLR2004
            return ProviderRejected(
                f"{self.name} wants payment{quoted(said)}",
                hint="Check the account's credit and limits.",
                status=status,
                said=said,
            )
        if (should_retry := headers.get("x-should-retry")) != "false" and (busy or should_retry == "true"):
            trouble = f"{self.name} {trouble_of(status)}{quoted(said)}"
            return ProviderUnavailable(trouble, status=status, retry_after=wait, said=said)
        refusal = self._rejected(status, kind, said)
        return told_apart(refusal, body, self.name)

    def reported(self, error: JsonValue) -> ProviderError:
        """The error for a failure that the service reports in mid-stream."""
        kind, whole = error_of({"error": error})
        said = self._heard(whole)
        status = status_of(as_object(error))
        if status >= 400:  # noqa: PLR2004
            return self.refused(status, {}, json.dumps({"error": error}))
        if speaks_of_length(f"{kind} {said}"):
            return self._overflow(said, window=window_named({"error": error}))
        return ProviderUnavailable(f"{self.name} broke off its reply{quoted(said)}")

    def _overflow(
        self, said: str, status: int | None = None, speaker: str | None = None, window: int | None = None
    ) -> ContextOverflow:
        if speaker is not None:  # a shorter history gets past a proxy as well
            text = f"{speaker} takes no request of this length (HTTP {status}){quoted(said)}"
            return ContextOverflow(text, hint=self._check_proxy, status=status, said=said)
        problem = f"The request is too long for {self.model}{quoted(said)}"
        return ContextOverflow(problem, status=status, window=window or window_in(said), said=said)

    def unreachable(self, error: BaseException) -> ProviderError:  # noqa: PLR0911 - one return a cause
        """The error for a request that got no answer."""
        cause = deepest(error)
        if (misfit := self._misfit(error)) is not None:
            return misfit
        if is_of_another_host(cause):
            return ProviderRejected(
                f"The certificate of {self.place} is one for another host.",
                hint=f"Check {self.url_variable}: the address has to be a name that the certificate is for.",
            )
        if isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(cause):
            return ProviderRejected(
                f"The certificate of {self.place} could not be verified.",
                hint="Behind a company proxy, set SSL_CERT_FILE to its certificate file.",
            )
        if isinstance(cause, httpx2.UnsupportedProtocol | httpx2.InvalidURL) or not self._has_host:
            return self._no_address()
        if isinstance(cause, httpx2.TimeoutException | TimeoutError):
            return ProviderUnavailable(f"{self.place} did not answer in time.")
        if isinstance(cause, httpx2.ProxyError):
            return self._no_tunnel(self._safe(str(cause)))
        if is_refused(error):
            hint = self._check_proxy if self._is_proxied else f"Start the server there, or change {self.url_variable}."
            return ProviderUnavailable(
                f"Nothing answers at {self._first_hop}: the connection was refused.",
                hint=hint,
                most_retries=_RETRIES_AT_NOBODY,
            )
        if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError | ConnectionError) or self._is_cut(cause):
            return self._unanswered(cause)
        if tls_reason(cause) in _NO_TLS:
            wish = f"Check {self.url_variable}: a server of your own may want http://."
            return ProviderRejected(
                f"{self._either} does not speak HTTPS{quoted(self._safe(words_of(cause)))}",
                hint=self._check_proxy if self._is_proxied else wish,
            )
        hop = self._first_hop[:1].upper() + self._first_hop[1:] if self._is_proxied else self.place
        is_unknown = isinstance(cause, socket.gaierror)
        return ProviderUnavailable(
            f"{hop} cannot be {'found' if is_unknown else 'reached'}{quoted(self._safe(words_of(cause)))}",
            hint=self._check_proxy if self._is_proxied else f"Check the network, and {self.url_variable} if it is set.",
            most_retries=_RETRIES_AT_NOBODY if is_unknown or isinstance(cause, SOCKSError) else None,
        )

    def _is_cut(self, cause: BaseException) -> bool:
        """Whether TLS broke off behind a proxy, which was reached."""
        return self._is_proxied and isinstance(cause, ssl.SSLError) and tls_reason(cause) not in _NO_TLS

    def _unanswered(self, cause: BaseException) -> Unanswered:
        """The error where a connection ended before any answer; nothing tells at which end of a tunnel."""
        is_nonsense = isinstance(cause, httpx2.RemoteProtocolError) and "disconnected" not in str(cause)
        if isinstance(cause, ssl.SSLError):
            what = f"broke off the TLS handshake{quoted(self._safe(words_of(cause)))}"
        else:
            what = (
                "sent something that is no HTTP answer." if is_nonsense else "closed the connection without an answer."
            )
        if self._is_proxied:
            return Unanswered(f"{self._either} {what}", hint=self._check_proxy, most_retries=_RETRIES_AT_NOBODY)
        return Unanswered(
            f"{self.place} {what}", hint=f"Check {self.url_variable} if it is set." if is_nonsense else ""
        )

    def _misfit(self, error: BaseException) -> ProviderRejected | None:
        """The error where the environment's certificates, proxy or additions let no request be sent at all."""
        cause = deepest(error)  # the words for a header would quote what may be secret
        if isinstance(cause, UnicodeEncodeError | httpx2.LocalProtocolError) and self._has_host:
            return ProviderRejected(
                f"What the environment adds to requests for {self.place} cannot be sent.",
                hint="Check the variables for its tokens, organization and headers: each is one line of plain text.",
            )
        if is_of_certificates(error):
            named = clean(os.environ.get("SSL_CERT_FILE", "")) or "nothing that is there"
            return ProviderRejected(
                f"SSL_CERT_FILE names {named}, which cannot be read as certificates{quoted(words_of(error))}",
                hint="Set it to a file of certificates, or unset it.",
            )
        if isinstance(error, ValueError | httpx2.InvalidURL) and self._has_host and (proxy := proxy_to(self.url)):
            return ProviderRejected(
                f"The proxy for {self.place} has no usable address.",
                hint=f"Check {proxy.named_by}: it starts with http://, https:// or socks5://.",
            )
        return None

    def _no_address(self) -> ProviderRejected:
        return ProviderRejected(
            f"{self.place} is not a usable base URL.",
            hint=f"Check {self.url_variable}: it starts with http:// or https://, and ports end at 65535.",
        )

    @property
    def _first_hop(self) -> str:
        """Where a connection goes."""
        return f"the proxy on the way to {self.place}" if self._is_proxied else self.place

    @property
    def _either(self) -> str:
        """Who may be to blame for what came back."""
        return f"{self.place}, or the proxy on the way to it," if self._is_proxied else self.place

    @property
    def _is_proxied(self) -> bool:
        return proxy_to(self.url) is not None

    @property
    def _check_proxy(self) -> str:
        proxy = proxy_to(self.url)
        return f"Check {proxy.named_by if proxy else 'the proxy'} and NO_PROXY."

    def _speaking_proxy(self, headers: Mapping[str, str]) -> str | None:
        """Who may have given an answer in no service's words; through https only a proxy that says so can have."""
        if not self._is_proxied:
            return None
        if "x-squid-error" in headers or _PROXIES().search(headers.get("server", "")):
            return f"The proxy on the way to {self.place}"
        return None if self.url.lower().startswith("https:") else self._either

    def _refused_at_proxy(
        self, speaker: str, status: int, said: str, *, is_busy: bool, wait: float | None
    ) -> ProviderError:
        """The error for what ``speaker`` answered, which is no answer of a model service."""
        if status == _PROXY_WANTS_NAME and (proxy := proxy_to(self.url)):
            return self._unknown_to_proxy(proxy)
        if is_busy:
            trouble = f"{speaker} {trouble_of(status)}{quoted(said)}"
            return ProviderUnavailable(trouble, hint=self._check_proxy, status=status, retry_after=wait)
        text = f"{speaker} refused the request (HTTP {status}){quoted(said)}"
        return ProviderRejected(text, hint=self._check_proxy, status=status)

    def _no_tunnel(self, said: str) -> ProviderError:
        """The error where a proxy lets no connection through; ``said`` begins with its status, if it speaks HTTP."""
        proxy, status = proxy_to(self.url), int(said[:3]) if said[:3].isdecimal() else 0
        if proxy and status == _PROXY_WANTS_NAME:
            return self._unknown_to_proxy(proxy)
        text = f"The proxy on the way to {self.place} refused{quoted(said)}"
        if 400 <= status < 500 and status not in BUSY:  # noqa: PLR2004
            return ProviderRejected(text, hint=self._check_proxy, status=status)
        return ProviderUnavailable(text, hint=self._check_proxy)

    def _unknown_to_proxy(self, proxy: Proxy) -> ProviderRejected:
        is_named = "@" in proxy.address
        wish = "does not accept the name and the password" if is_named else "wants a name and a password"
        return ProviderRejected(
            f"The proxy on the way to {self.place} {wish} (HTTP {_PROXY_WANTS_NAME}).",
            hint=f"Check {proxy.named_by}: it holds them as in http://NAME:PASSWORD@HOST:PORT.",
            status=_PROXY_WANTS_NAME,
        )

    def broke_off(self, error: BaseException | None = None) -> ProviderUnavailable:
        """The error for a stream that ended before the reply was whole."""
        if isinstance(error, httpx2.TimeoutException):
            return ProviderUnavailable(f"{self.name} went silent in the middle of its reply.")
        return ProviderUnavailable(f"The connection to {self.name} broke off in the middle of its reply.")

    def not_a_stream(self, content_type: str, start: str) -> ProviderRejected:
        """The error for an answer that is no model's reply, such as a web page."""
        kind = "a web page" if is_page(start) else content_type.partition(";")[0] or "no content type"
        return ProviderRejected(
            f"{self.place} answered with {kind}, not with a model's reply{quoted(self._safe(start)[:LONGEST_QUOTE])}",
            hint=" ".join(
                (f"Check the base URL ({self.url_variable}).", self._check_proxy if self._speaking_proxy({}) else "")
            ),
        )

    @property
    def place(self) -> str:
        """Scheme, host and port of the service, without any name or password in its URL."""
        if not self._has_host:
            return self._safe(without_login(self.url))
        url = httpx2.URL(self.url)
        return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"

    @property
    def _has_host(self) -> bool:
        try:
            url = httpx2.URL(self.url)
            return bool(url.host) and (url.port is None or 0 < url.port <= _LAST_PORT)
        except httpx2.InvalidURL:
            return False

    def _rejected(self, status: int, kind: str, said: str) -> ProviderRejected:
        match status:
            case 401 if without_login(self.url) != self.url:
                text = f"{self.name} does not accept the name and the password in its address, or the key"
                hint = f"Check {self.url_variable} and {self.key_variable}."
            case 401:
                text, hint = f"{self.name} does not accept the key", self.key_remedy or f"Check {self.key_variable}."
            case 403 if is_flagged(f"{kind} {said}"):
                text = f"{self.name} refused the content of the request (HTTP {status})"
                hint = "Say it in other words, or choose another model."
            case 403:
                text = f"{self.name} does not let this key do that"
                hint = self.key_remedy or f"Check the rights of {self.key_variable}."
            case 404 if kind == _NO_MODEL or re.search(rf"(?<![\w-]){re.escape(self.model)}(?![\w-])", said):
                text = f"{self.place} knows no model {self.model}"
                hint = f"Check the model's name, and {self.url_variable} if it is set."
            case 404 | 405:
                text = f"{self.place} knows no model {self.model}, or no such address"
                hint = f"Check the model's name and the base URL ({self.url_variable})."
            case _ if is_busy(status):
                text, hint = f"{self.name} {trouble_of(status)}", _LATER
            case _ if _ABOUT_OUTPUT().search(said):
                text = f"{self.name} refused the most tokens that a reply may have (HTTP {status})"
                another = "Set another number as model.max_tokens, or leave that setting out."
                hint = another if self.is_output_set else "Set a number that it takes as model.max_tokens."
            case _:
                text = f"{self.name} refused the request (HTTP {status})"
                hint = "Try another model, or say it in other words."
        return ProviderRejected(f"{text}{quoted(said)}", hint=hint, status=status, said=said)

    def _heard(self, whole: str, status: int | None = None) -> str:
        """What a service said, as far as it is read; what is too long to be told goes to the log."""
        if len(whole) > LONGEST_QUOTE:
            _log.warning("%s said (status %s): %s", self.name, status, self._safe(whole, _LONGEST_PAGE))
        return self._safe(whole)

    def _safe(self, text: str, most: int = _LONGEST_MESSAGE) -> str:
        text = text[:_LONGEST_PAGE]
        words = said_by_page(text) if is_page(text) else text
        short = " ".join(clean(words).split())
        if len(self.secret) >= _SHORTEST_SECRET:
            short = short.replace(self.secret, "[redacted]")
        short = Redactor((self.secret,)).redact(short)
        return short if len(short) <= most else short[:most] + " …"
