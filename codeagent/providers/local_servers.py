"""Model servers that answer on this machine: Ollama, llama.cpp, LM Studio and vLLM on their usual ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from codeagent.core.desk import LocalServer
from codeagent.providers.listing import list_models

USUAL_PORTS: Mapping[int, str] = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
_SECONDS = 0.25


def find_local_servers(ports: Mapping[int, str] = USUAL_PORTS) -> Sequence[LocalServer]:
    """The servers that list their models within a quarter of a second; loopback only. Call it on a thread."""
    with ThreadPoolExecutor(max_workers=len(ports)) as pool:
        listed = list(pool.map(_listed, ports))
    return list(_answering(ports, listed))


def _listed(port: int) -> tuple[str, ...]:
    return list_models(_url(port), {"Authorization": "Bearer none"}, seconds=_SECONDS)


def _answering(ports: Mapping[int, str], listed: Sequence[tuple[str, ...]]) -> Iterator[LocalServer]:
    for (port, name), models in zip(ports.items(), listed, strict=True):
        if models:
            yield LocalServer(name=name, url=_url(port), models=models)


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1"
