"""The way to a service: which proxy of the environment is on it, and why a request got no answer."""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from ipaddress import ip_address, ip_network
from typing import TypedDict
from urllib.request import getproxies, proxy_bypass

import httpx2
from socksio import SOCKSError

from codeagent.core.seldom import seldom
from codeagent.core.values import value

NO_ANSWER = (httpx2.HTTPError, httpx2.InvalidURL, UnicodeEncodeError, SOCKSError)
"""What a request without an answer raises; what a SOCKS proxy says wrong comes as its own kind of error."""
_TELLING = (httpx2.TimeoutException, httpx2.UnsupportedProtocol, httpx2.ProxyError, httpx2.ProtocolError, SOCKSError)
_NUMBER = seldom(r"^\[Errno -?\d+\] ")
_PORTS = {"http": 80, "https": 443}


@value
class Proxy:
    """A proxy as the environment names it; ``named_by`` says in words where."""

    address: str
    named_by: str


class Route(TypedDict):
    """What a client of httpx2 is made with, so that its requests go this way and no other."""

    trust_env: bool
    proxy: str | None
    verify: ssl.SSLContext


def route_to(url: str) -> Route:
    """The way to a service, with the certificates that the environment names; loading them is slow.

    Raises OSError or ssl.SSLError where they cannot be read.
    """
    proxy = proxy_to(url)
    return Route(trust_env=False, proxy=proxy.address if proxy else None, verify=httpx2.create_ssl_context())


def proxy_to(url: str) -> Proxy | None:
    """The proxy that stands before a service; what is said to this machine never goes through one."""
    try:
        place = httpx2.URL(url)
    except httpx2.InvalidURL:
        return None
    proxies = getproxies()
    address = proxies.get(place.scheme) or proxies.get("all")
    if not address or _is_on_this_machine(place.host) or proxy_bypass(place.host):
        return None
    if any(_is_left_out(place, entry.strip().lower()) for entry in proxies.get("no", "").split(",")):
        return None
    names = (f"{place.scheme}_proxy", f"{place.scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    named_by = next(filter(os.environ.get, names), "the proxy in the system's settings")
    return Proxy(address=address if "://" in address else f"http://{address}", named_by=named_by)


def _is_on_this_machine(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    with suppress(OSError):
        name = socket.inet_ntoa(socket.inet_aton(name))  # 127.1 as well
    try:
        found = ip_address(name)
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_loopback or found.is_unspecified


def _is_left_out(place: httpx2.URL, entry: str) -> bool:
    """Whether an entry of NO_PROXY stands for a place: a host and all below it, an address, a network, or ``*``.

    What cannot be read stands for none, as curl has it.
    """
    scheme, _, entry = entry.rpartition("://")
    if scheme not in {"", "all", place.scheme}:
        return False
    with suppress(ValueError):
        return ip_address(place.host) in ip_network(entry.replace("[", "").replace("]", ""), strict=False)
    name, _, port = entry.partition(":")
    name = name.removeprefix("*").strip(".")
    if port not in {"", str(place.port or _PORTS.get(place.scheme))}:
        return False
    hosts = (place.host.lower(), place.raw_host.decode("ascii", "replace").lower())
    return entry == "*" or (bool(name) and any(f".{host}".endswith(f".{name}") for host in hosts))


def is_of_certificates(error: BaseException) -> bool:
    """Whether the certificates to trust could not be loaded, before any connection; those come inside other errors."""
    if isinstance(error, ssl.SSLError):
        return "NO_CERTIFICATE_OR_CRL_FOUND" in str(error) or "PEM lib" in str(error)
    return isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError | PermissionError)


def is_of_another_host(cause: BaseException) -> bool:
    """Whether a certificate is sound, and names other hosts than the one that was asked."""
    return any(words in str(cause) for words in ("Hostname mismatch", "IP address mismatch"))


def tls_reason(cause: BaseException) -> str:
    """The name that OpenSSL has for a failure; an error made in Python has none."""
    return (getattr(cause, "reason", None) or "") if isinstance(cause, ssl.SSLError) else ""


def words_of(cause: BaseException) -> str:
    """What the system says of a failure, without its numbers: in words of its own, and in small letters."""
    if isinstance(cause, ssl.SSLError):
        return tls_reason(cause).replace("_", " ").lower()
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror[:1].lower() + cause.strerror[1:]
    return "" if isinstance(cause, UnicodeError) else _NUMBER().sub("", str(cause))


def is_refused(error: BaseException | None) -> bool:
    """Whether nobody listens at the address, or at any of several."""
    if error is None or isinstance(error, ConnectionRefusedError):
        return error is not None
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_refused, error.exceptions))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - a group of any errors
    return is_refused(error.__cause__ or error.__context__)


def deepest(error: BaseException) -> BaseException:
    """The httpx or ssl error behind what an SDK raised."""
    found = error
    while (cause := found.__cause__ or found.__context__) is not None:
        if isinstance(found, _TELLING):
            break
        found = cause
        if isinstance(found, ssl.SSLError | OSError):
            break
    return found
