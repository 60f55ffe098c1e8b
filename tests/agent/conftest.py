"""A session at each of the model services in turn."""

from __future__ import annotations

import pytest

from tests.agent.services import PROTOCOLS, Scene


@pytest.fixture(params=PROTOCOLS)
async def scene(request, model_server):
    url = model_server.url if request.param == "messages" else model_server.openai_url
    provider = PROTOCOLS[request.param]("test", "key", url)
    yield Scene(request.param, model_server, provider)
    await provider.aclose()
