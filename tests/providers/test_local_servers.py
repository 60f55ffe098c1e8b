"""Model servers that answer on this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from codeagent.providers.local_servers import USUAL_PORTS, find_local_servers
from tests.server.scripted_server import ScriptedServer

LIST = b'{"object": "list", "data": [{"id": "qwen3"}, {"id": "llama"}, {"id": ""}, {}, 5]}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(LIST) + LIST


@contextmanager
def machine(answer: Callable[[socket.socket], None]) -> Iterator[tuple[int, list[bytes]]]:
    """A server on this machine that does with a request what it likes; its port, and the requests it got."""
    got: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                got.append(connection.recv(65_536))
                try:
                    answer(connection)
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], got
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_a_server_that_lists_its_models_is_found_and_sent_nothing_but_the_question(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "the-key")
    with machine(lambda connection: connection.sendall(WHOLE)) as (port, got):
        [found] = find_local_servers({port: "Ollama"})
    assert (found.name, found.url, found.models) == ("Ollama", f"http://127.0.0.1:{port}/v1", ("qwen3", "llama"))
    [request] = got
    line, *headers = request.decode().split("\r\n")
    assert line == "GET /v1/models HTTP/1.1"
    sent = {header.partition(":")[0].lower() for header in headers if header}
    assert sent <= {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert request.endswith(b"\r\n\r\n")


def drip(connection: socket.socket, data: bytes) -> None:
    for at in range(len(data)):
        connection.sendall(data[at : at + 1])
        time.sleep(0.05)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda connection: connection.recv(1), id="silence"),
        pytest.param(lambda connection: drip(connection, HEAD + b"X: " + b"y" * 9_000), id="headers that never end"),
        pytest.param(lambda connection: drip(connection, WHOLE + b" " * 9_000), id="a list that comes too slowly"),
        pytest.param(lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"), id="another protocol"),
        pytest.param(lambda connection: connection.sendall(b"\x00\xff" * 9), id="bytes"),
        pytest.param(lambda connection: connection.sendall(WHOLE[:-9]), id="a cut list"),
        pytest.param(lambda connection: connection.sendall(HEAD + b"\r\n<html>"), id="a web page"),
        pytest.param(lambda connection: connection.sendall(HEAD + b"\r\n" + b"[" * 9_000_000), id="no end"),
        pytest.param(
            lambda connection: connection.sendall(
                b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
            ),
            id="a redirect",
        ),
        pytest.param(lambda connection: connection.close(), id="nothing"),
    ],
)
def test_what_is_no_such_server_is_passed_over_and_not_waited_for(answer):
    began = time.monotonic()
    with machine(answer) as (port, _):
        assert list(find_local_servers({port: "vLLM", 9: "Ollama"})) == []
        assert time.monotonic() - began < 20, "a server that drips is waited for no longer than any other"


def test_a_server_that_wants_a_key_is_not_offered():
    with ScriptedServer(key="the-right-one") as server:
        assert list(find_local_servers({int(server.url.rpartition(":")[2]): "vLLM"})) == []


def test_the_usual_ports_are_those_of_the_four_servers():
    assert sorted(USUAL_PORTS) == [1234, 8000, 8080, 11434]
