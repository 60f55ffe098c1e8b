"""Megabytes in one line, by each protocol: handed on in pieces, and whoever waits for the loop has a turn between."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise

import pytest

from codeagent.core.errors import ProviderRejected
from codeagent.core.messages import TextBlock, UserMessage
from codeagent.core.protocols import ModelRequest, ReplyFinished, TextPiece, ThinkingPiece, UsagePiece
from codeagent.providers import connection
from codeagent.providers.pieces import LARGEST
from tests.agent.services import PROTOCOLS
from tests.benchmarks.stall import watched
from tests.server.replies import RawStream, Reply, Say, Think
from tests.server.scripted_server import ScriptedServer

SIZE = 5_000_000
TRIES = 5
WORDS = ("ünd so weiter " * (SIZE // 14 + 1))[:SIZE]
KINDS = {"text": (Say(WORDS, size=SIZE),), "thinking": (Think(WORDS, size=SIZE), Say("So."))}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_megabytes_in_one_event_come_in_pieces_with_a_turn_of_the_loop_between(protocol, kind):
    turns, seen, shown = 0, [], []

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    with ScriptedServer(Reply(parts=KINDS[kind])) as server:
        provider = PROTOCOLS[protocol]("test", "key", server.url if protocol == "messages" else server.openai_url)
        request = ModelRequest(system="", messages=(UserMessage(blocks=(TextBlock(text="Go on."),)),), tools=())
        async with asyncio.TaskGroup() as group:
            counting = group.create_task(count())
            async for event in provider.stream(request):
                if isinstance(event, TextPiece | ThinkingPiece) and event.text:
                    shown.append(event.text)
                    seen += [turns] * (len(event.text) == LARGEST)
                if isinstance(event, ReplyFinished):
                    whole = event.message
            counting.cancel()
        await provider.aclose()
    assert max(map(len, shown)) == LARGEST
    assert len(shown) >= SIZE // LARGEST
    assert all(before < after for before, after in pairwise(seen))
    assert "".join(shown).removesuffix("So.") == WORDS
    assert WORDS in {block.text for block in whole.blocks if hasattr(block, "text")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_megabytes_in_one_event_never_hold_up_the_loop_for_as_long_as_it_takes_to_parse_them(protocol):
    stretches: list[float] = []
    parsing: list[float] = []
    while len(stretches) < TRIES and not (stretches and min(stretches) < min(parsing)):
        parsing.append(milliseconds_to_parse(json.dumps(WORDS, ensure_ascii=False).encode()))
        with ScriptedServer(Reply(parts=KINDS["text"])) as server:
            provider = PROTOCOLS[protocol]("test", "key", server.url if protocol == "messages" else server.openai_url)
            request = ModelRequest(system="", messages=(UserMessage(blocks=(TextBlock(text="Go on."),)),), tools=())
            async with watched() as stall:
                async for event in provider.stream(request):
                    if isinstance(event, UsagePiece):
                        stall.cpu = 0.0  # the SDK is loaded by now
            stretches.append(stall.cpu)
            await provider.aclose()
    assert min(stretches) < min(parsing)


def milliseconds_to_parse(payload: bytes) -> float:
    """Of the processor's time, with what a payload is looked through for."""
    began = time.thread_time()
    assert json.loads(payload.decode())
    assert payload.count(b"{") + payload.count(b"[") == 0
    return (time.thread_time() - began) * 1_000


@pytest.mark.parametrize("begins", [b"data: ", b": ", b"<html>", b"data: {}\n\ndata: "])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_line_without_an_end_is_no_reply_and_fills_no_memory(protocol, begins, monkeypatch):
    monkeypatch.setattr(connection, "LONGEST_EVENT", 1_000_000)
    with ScriptedServer(RawStream(chunks=(begins, *[b"x" * 100_000] * 30), stalls=True)) as server:
        provider = PROTOCOLS[protocol]("test", "key", server.url if protocol == "messages" else server.openai_url)
        request = ModelRequest(system="", messages=(UserMessage(blocks=(TextBlock(text="Go on."),)),), tools=())
        with pytest.raises(
            ProviderRejected, match=r"sent 1 MB without a word of a reply, and the connection was closed"
        ):
            async for _ in provider.stream(request):
                pass
        await provider.aclose()
