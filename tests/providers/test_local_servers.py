"""Model servers that answer on this machine."""

from __future__ import annotations

import socket
import time

from codeagent.providers.local_servers import USUAL_PORTS, find_local_servers
from tests.server.scripted_server import ScriptedServer


def test_a_server_that_lists_its_models_is_found():
    with ScriptedServer(models=("qwen3", "llama")) as server:
        port = int(server.url.rpartition(":")[2])
        [found] = find_local_servers({port: "Ollama"})
    assert (found.name, found.url, found.models) == ("Ollama", server.openai_url, ("qwen3", "llama"))


def test_what_stays_silent_is_waited_for_a_quarter_of_a_second():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        assert list(find_local_servers({silent.getsockname()[1]: "vLLM", 9: "Ollama"})) == []
        assert time.monotonic() - started < 5


def test_the_usual_ports_are_those_of_the_four_servers():
    assert sorted(USUAL_PORTS) == [1234, 8000, 8080, 11434]
