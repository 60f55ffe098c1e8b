"""Model servers that answer on this machine: Ollama, llama.cpp, LM Studio and vLLM on their usual ports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import httpx2

from codeagent.core.desk import LocalServer
from codeagent.providers.listing import models_at

USUAL_PORTS: Mapping[int, str] = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
_SECONDS = 0.5


def find_local_servers(ports: Mapping[int, str] = USUAL_PORTS) -> Sequence[LocalServer]:
    """The servers that list their models within half a second; call it on a thread.

    Each is sent one GET on the loopback address, past every proxy, with nothing in it.
    """
    return asyncio.run(_found(ports))


async def _found(ports: Mapping[int, str]) -> list[LocalServer]:
    async with httpx2.AsyncClient(trust_env=False) as client, asyncio.TaskGroup() as group:
        asked = {
            port: group.create_task(models_at(client, url_of(port), seconds=_SECONDS)) for port in ports
        }  # fmt: skip
    return [
        LocalServer(name=ports[port], url=url_of(port), models=task.result())
        for port, task in asked.items()
        if task.result()
    ]


def url_of(port: int) -> str:
    """The base URL of a server on this machine."""
    return f"http://127.0.0.1:{port}/v1"
