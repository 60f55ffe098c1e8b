"""Proxies and certificates of one's own, as the usual variables of the environment name them."""

from __future__ import annotations

import asyncio
import gc
import socket
import socketserver
import ssl
import subprocess
import threading
import warnings
from urllib.parse import urlsplit

import pytest

from codeagent.core.errors import ContextOverflow, ProviderError, ProviderRejected, ProviderUnavailable
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.failures import Service
from codeagent.providers.listing import key_problem, list_models
from codeagent.providers.network import proxy_to
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.server.replies import say

HOST = "model.test"
VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
)


class Proxy(socketserver.ThreadingTCPServer):
    """Passes everything on to the model server; behind CONNECT it speaks TLS with a certificate of its own."""

    daemon_threads = False  # each connection is seen to its end
    allow_reuse_address = True

    def __init__(self, target, certificate, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.target = target
        self.asked = []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.request.recv(65_536)
        method, target, rest = head.split(b" ", 2)
        self.server.asked.append((method.decode(), target.decode()))
        client = self.request
        with socket.create_connection(self.server.target) as server:
            if method == b"CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                try:
                    client = self.server.context.wrap_socket(client, server_side=True)
                except (ssl.SSLError, OSError):
                    return
            else:
                path = urlsplit(target.decode()).path.encode()
                server.sendall(b" ".join((method, path, rest)))
            with client:
                back = threading.Thread(target=relay, args=(server, client), daemon=True)
                back.start()
                relay(client, server)
                back.join()


class SocksHandler(Handler):
    """The handshake of SOCKS 5 (RFC 1928), for a client without a name and a host by its name."""

    def handle(self):
        count = self.read(2)[1]
        self.read(count)
        self.request.sendall(b"\x05\x00")
        self.read(4)
        host = self.read(self.read(1)[0])
        self.server.asked.append((host.decode(), int.from_bytes(self.read(2))))
        with socket.create_connection(self.server.target) as server:
            self.request.sendall(b"\x05\x00\x00\x01" + bytes(6))
            back = threading.Thread(target=relay, args=(server, self.request), daemon=True)
            back.start()
            relay(self.request, server)
            back.join()

    def read(self, size):
        return self.request.recv(size, socket.MSG_WAITALL)


def relay(source, sink):
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate for the host that nobody but us trusts, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
    ]
    words += ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return both


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def proxy(model_server, certificate, request):
    handler = getattr(request, "param", Handler)
    with Proxy(("127.0.0.1", urlsplit(model_server.url).port), certificate, handler) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()


@pytest.fixture(params=["messages", "chat", "responses"])
async def provider_at(request):
    """Makes a provider of each protocol, for a scheme."""
    made = []

    def make(scheme):
        match request.param:
            case "messages":
                made.append(AnthropicProvider("claude-test", "key", f"{scheme}://{HOST}"))
            case "chat":
                made.append(OpenAIChatProvider("chat-test", "key", f"{scheme}://{HOST}/v1"))
            case _:
                made.append(OpenAIProvider("gpt-test", "key", f"{scheme}://{HOST}/v1"))
        return made[-1]

    yield make
    for provider in made:
        await provider.aclose()


async def test_requests_go_through_the_proxy_of_the_environment(proxy, model_server, provider_at, ask_for, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    model_server.reply(say("Through."))
    assert (await ask_for(provider_at("http"))).text == "Through."
    assert proxy.asked[0][1].startswith(f"http://{HOST}/v1/")


async def test_a_certificate_of_ones_own_is_trusted_behind_a_tunnel(
    proxy, model_server, provider_at, ask_for, monkeypatch, certificate
):
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    model_server.reply(say("Through."))
    assert (await ask_for(provider_at("https"))).text == "Through."
    assert proxy.asked[0] == ("CONNECT", f"{HOST}:443")


async def test_a_certificate_that_nobody_trusts_is_told_with_what_to_set(proxy, provider_at, ask_for, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    with pytest.raises(ProviderRejected, match=r"could not be verified.*SSL_CERT_FILE"):
        await ask_for(provider_at("https"))


@pytest.mark.parametrize(
    ("dead", "why"), [("http://127.0.0.1:9", "was refused"), ("http://proxy.invalid:9", "cannot be")]
)
async def test_a_proxy_that_is_not_there_is_told_as_such_and_not_as_the_service(
    proxy, provider_at, ask_for, monkeypatch, dead, why
):
    monkeypatch.setenv("HTTPS_PROXY", dead)
    with pytest.raises(ProviderUnavailable, match=rf"proxy on the way to .*{HOST}.*{why}.*HTTPS_PROXY"):
        await ask_for(provider_at("https"))
    monkeypatch.setenv("NO_PROXY", HOST)
    with pytest.raises(ProviderUnavailable) as told:
        await ask_for(provider_at("https"))
    assert "proxy" not in str(told.value).lower()
    assert f"https://{HOST} cannot be" in str(told.value)


@pytest.mark.parametrize(
    ("scheme", "variable"),
    [("http", "HTTP_PROXY"), ("http", "http_proxy"), ("https", "https_proxy"), ("http", "ALL_PROXY")],
)
async def test_a_dead_proxy_is_told_by_the_variable_that_names_it(provider_at, ask_for, monkeypatch, scheme, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with pytest.raises(ProviderUnavailable, match=rf"Check {variable} and NO_PROXY"):
        await ask_for(provider_at(scheme))


@pytest.mark.parametrize("proxy", [SocksHandler], indirect=True)
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
async def test_requests_go_through_a_socks_proxy(proxy, model_server, provider_at, ask_for, monkeypatch, variable):
    monkeypatch.setenv(variable, proxy.url.replace("http", "socks5h"))
    model_server.reply(say("Through."))
    assert (await ask_for(provider_at("http"))).text == "Through."
    assert proxy.asked[0] == (HOST, 80)


@pytest.mark.parametrize("held", [None, "", "junk", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"])
async def test_certificates_that_cannot_be_read_are_told_at_once(provider_at, ask_for, monkeypatch, tmp_path, held):
    file = tmp_path / "certificates.pem"
    if held is not None:
        file.write_text(held)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(ProviderRejected, match=rf"SSL_CERT_FILE names {file}, which cannot be read.*unset it"):
        await ask_for(provider_at("https"))


@pytest.mark.parametrize("address", ["nonsense://proxy", "http://[::1", "ftp://user:pass-word@proxy"])
async def test_an_address_that_is_no_proxys_is_told_at_once_without_its_password(
    provider_at, ask_for, monkeypatch, address
):
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(ProviderRejected, match=rf"proxy for https://{HOST} has no usable address.*HTTPS_PROXY") as told:
        await ask_for(provider_at("https"))
    assert "pass-word" not in str(told.value)


def service_at(scheme: str) -> Service:
    return Service(name="Acme", url=f"{scheme}://{HOST}", model="m", key_variable="KEY", url_variable="URL")


class Refusing(socketserver.BaseRequestHandler):
    """A proxy that gives everybody the answer of its server."""

    def handle(self):
        self.server.asked.append(self.request.recv(65_536))
        self.request.sendall(self.server.answer)


@pytest.fixture
def refusing():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
        server.asked, server.url = [], f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def answer(status, page):
    return f"HTTP/1.1 {status} Sorry\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n{page}".encode()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
async def test_what_is_said_to_this_machine_goes_through_no_proxy(
    refusing, model_server, ask_for, monkeypatch, host, protocol
):
    refusing.answer = answer(403, "no")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refusing.url)
    url = model_server.url.replace("127.0.0.1", host)
    match protocol:
        case "messages":
            provider = AnthropicProvider("claude-test", "key", url)
        case "chat":
            provider = OpenAIChatProvider("chat-test", "key", f"{url}/v1")
        case _:
            provider = OpenAIProvider("gpt-test", "key", f"{url}/v1")
    model_server.reply(say("Straight."))
    assert (await ask_for(provider)).text == "Straight."
    await asyncio.to_thread(list_models, f"{url}/v1", {"Authorization": "Bearer key"}, seconds=5.0)
    await provider.aclose()
    assert refusing.asked == []


async def test_a_proxy_that_makes_no_sense_does_not_matter_on_this_machine(model_server, ask_for, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy")
    provider = AnthropicProvider("claude-test", "key", model_server.url)
    model_server.reply(say("Straight."))
    assert (await ask_for(provider)).text == "Straight."
    await provider.aclose()


@pytest.mark.parametrize(
    ("url", "left_out", "is_proxied"),
    [
        ("http://model.test/v1", "", True),
        ("http://127.8.8.8:1/v1", "", False),
        ("http://127.1:1/v1", "", False),
        ("http://[::1]:1/v1", "", False),
        ("http://[::ffff:127.0.0.1]/v1", "", False),
        ("http://LOCALHOST./v1", "", False),
        ("http://0.0.0.0:11434/v1", "", False),
        ("http://localhost.model.test/v1", "", True),
        ("http://128.0.0.1/v1", "", True),
        ("http://model.test/v1", "[::1", True),
        ("http://model.test/v1", "[::1],ü.de", True),
        ("http://ü.de/v1", "[::1],ü.de", False),
        ("http://model.test/v1", " other , Model.Test ", False),
        ("http://a.model.test/v1", "model.test", False),
        ("http://a.model.test/v1", "*.model.test", False),
        ("http://amodel.test/v1", "model.test", True),
        ("http://model.test:81/v1", "model.test:81", False),
        ("http://model.test/v1", "model.test:81", True),
        ("http://model.test/v1", "http://model.test", False),
        ("http://model.test/v1", "https://model.test", True),
        ("http://10.1.2.3/v1", "10.0.0.0/8", False),
        ("http://[fd00::1]/v1", "fd00::/8", False),
        ("http://model.test/v1", "a,*", False),
    ],
)
def test_what_goes_through_a_proxy(monkeypatch, url, left_out, is_proxied):
    monkeypatch.setenv("HTTP_PROXY", "proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", left_out)
    found = proxy_to(url)
    assert (found is not None) is is_proxied
    if found:
        assert (found.address, found.named_by) == ("http://proxy.test:3128", "HTTP_PROXY")


@pytest.mark.parametrize("left_out", ["[::1]", "ü.de", "*.x,[::1"])
async def test_an_odd_exception_leaves_the_proxy_in_use(
    proxy, model_server, provider_at, ask_for, monkeypatch, left_out
):
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("NO_PROXY", left_out)
    model_server.reply(say("Through."))
    assert (await ask_for(provider_at("http"))).text == "Through."
    assert proxy.asked


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (407, ProviderRejected, r"The proxy on the way to .* wants a name and a password.*Check HTTP_PROXY"),
        (403, ProviderRejected, r"or the proxy on the way to it, refused .*HTTP 403.*: Blocked.*Check HTTP_PROXY"),
        (402, ProviderRejected, r"or the proxy on the way to it, refused .*HTTP 402.*: Blocked.*Check HTTP_PROXY"),
        (413, ContextOverflow, r"or the proxy on the way to it, takes no request of this length.*Check HTTP_PROXY"),
        (429, ProviderUnavailable, r"or the proxy on the way to it, is getting too many.*: Blocked.*Check HTTP_PROXY"),
        *(
            (status, ProviderUnavailable, r"or the proxy on the way to it, .*: Blocked.*Check HTTP_PROXY")
            for status in (500, 502, 503, 504)
        ),
    ],
)
async def test_an_answer_that_may_be_the_proxys_names_it(
    refusing, provider_at, ask_for, monkeypatch, status, kind, told
):
    refusing.answer = answer(status, "<html><title>Blocked</title></html>")
    monkeypatch.setenv("HTTP_PROXY", refusing.url)
    with pytest.raises(kind, match=told):
        await ask_for(provider_at("http"))


SIGNS = [("server", "squid/6.10"), ("x-squid-error", "ERR_TOO_BIG 0"), ("server", "Zscaler/6.2")]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("status", [402, 413, 429, 503])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_says_who_it_is_is_named_alone(monkeypatch, scheme, status, sign):
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", "http://proxy.test:3128")
    told = str(service_at(scheme).refused(status, dict([sign]), "<html><title>No</title></html>"))
    assert told.startswith(f"The proxy on the way to {scheme}://{HOST} ")
    assert told.endswith(f"Check {scheme.upper()}_PROXY and NO_PROXY.")


@pytest.mark.parametrize(
    ("scheme", "proxy", "headers", "body"),
    [
        ("https", "http://proxy.test:3128", {"server": "cloudflare", "via": "1.1 google"}, "<html>Busy</html>"),
        ("http", "http://proxy.test:3128", {"server": "squid"}, '{"error": {"message": "Busy"}}'),
        ("http", "", {"server": "squid"}, "<html>Busy</html>"),
    ],
)
@pytest.mark.parametrize("status", [402, 413, 429, 503])
def test_what_no_proxy_can_have_said_is_the_services(monkeypatch, scheme, proxy, headers, body, status):
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", proxy)
    assert "proxy" not in str(service_at(scheme).refused(status, headers, body)).lower()


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (407, ProviderRejected, "does not accept the name and the password"),
        (403, ProviderRejected, "refused: 403 Sorry"),
        (502, ProviderUnavailable, "refused: 502 Sorry"),
    ],
)
async def test_only_a_busy_proxy_is_asked_again_for_a_tunnel(
    refusing, provider_at, ask_for, monkeypatch, status, kind, told
):
    refusing.answer = answer(status, "")
    monkeypatch.setenv("HTTPS_PROXY", refusing.url.replace("//", "//me:pass-word@"))
    with pytest.raises(kind, match=rf"The proxy on the way to https://{HOST} {told}.*Check HTTPS_PROXY") as raised:
        await ask_for(provider_at("https"))
    assert "pass-word" not in str(raised.value)


SOCKS_NONSENSE = [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00\x5b" + bytes(6), b""]


@pytest.fixture
def left_open():
    """The transport leaves a connection to its collector where the handshake of SOCKS goes wrong."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.mark.usefixtures("left_open")
@pytest.mark.parametrize("nonsense", SOCKS_NONSENSE)
async def test_what_speaks_no_socks_is_told_as_the_proxy_on_every_protocol(
    refusing, provider_at, ask_for, monkeypatch, nonsense
):
    refusing.answer = nonsense
    monkeypatch.setenv("ALL_PROXY", refusing.url.replace("http", "socks5"))
    told = rf"The proxy on the way to https://{HOST} cannot be reached: Malformed reply. Check ALL_PROXY"
    with pytest.raises(ProviderUnavailable, match=told) as raised:
        await ask_for(provider_at("https"))
    assert raised.value.most_retries == 3


@pytest.mark.usefixtures("left_open")
def test_a_list_of_models_behind_what_speaks_no_socks_is_empty_and_its_key_unchecked(refusing, monkeypatch):
    refusing.answer = SOCKS_NONSENSE[0]
    monkeypatch.setenv("ALL_PROXY", refusing.url.replace("http", "socks5"))
    assert list_models(f"https://{HOST}/v1", {}, seconds=5.0) == ()
    problem = key_problem(service_at("https"), f"https://{HOST}/v1", {}, seconds=5.0)
    assert "proxy on the way" in str(problem)
    assert "ALL_PROXY" in str(problem)


@pytest.mark.parametrize(
    ("nonsense", "told"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "sent something that is no HTTP answer"),
        (b"", "closed the connection without an answer"),
        (
            b"HTTP/1.1 200 OK\r\n\r\nnot tls at all, sorry, sorry",
            "does not speak HTTPS|closed the|broke off the TLS handshake",
        ),
    ],
)
async def test_a_proxy_that_hangs_up_or_answers_no_http_is_named_with_its_variable(
    refusing, provider_at, ask_for, monkeypatch, nonsense, told
):
    refusing.answer = nonsense
    monkeypatch.setenv("HTTPS_PROXY", refusing.url)
    with pytest.raises(ProviderError, match=rf"proxy on the way to .*(?:{told}).*Check HTTPS_PROXY") as raised:
        await ask_for(provider_at("https"))
    assert isinstance(raised.value, ProviderRejected) or raised.value.most_retries == 3
    monkeypatch.setenv("NO_PROXY", HOST)
    assert "proxy" not in str(service_at("https").unreachable(ConnectionResetError())).lower()
