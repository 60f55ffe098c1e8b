"""Counts that no model can reach are set aside for an estimate, and neither cost nor limit believes them."""

from __future__ import annotations

import math

import pytest

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.limits import Limits
from codeagent.agent.session import before
from codeagent.core.events import TurnEnd, UsageReported
from codeagent.core.messages import Usage
from codeagent.providers.catalog import Catalog
from codeagent.providers.tally import believable
from tests.agent.services import PROTOCOLS
from tests.agent.stage import Stage
from tests.server.replies import RawStream, data_lines

MODELS = {"messages": "claude-sonnet-4-5", "chat": "gpt-5", "responses": "gpt-5"}
PREFIXES = {"messages": "anthropic", "chat": "openai-chat", "responses": "openai"}
ABSURD = [1e308, 10**15, 2**63, 10**400, -5, math.nan, math.inf, "12", True, None, [7], {"tokens": 7}]
WORDS = "Done, all of it."


def messages(prompt: object, written: object) -> list[object]:
    counts = {"input_tokens": prompt, "output_tokens": written}
    return [
        {"type": "message_start", "message": {"usage": counts}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": WORDS}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": written}},
        {"type": "message_stop"},
    ]


def chat(prompt: object, written: object) -> list[object]:
    counts = {"prompt_tokens": prompt, "completion_tokens": written}
    pieces = [{"choices": [{"delta": {"content": piece}}], "usage": counts} for piece in (WORDS[:4], WORDS[4:])]
    return [*pieces, {"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": counts}, "[DONE]"]


def responses(prompt: object, written: object) -> list[object]:
    item = {"type": "message", "content": [{"type": "output_text", "text": WORDS}]}
    usage = {"input_tokens": prompt, "output_tokens": written}
    return [{"type": "response.completed", "response": {"output": [item], "usage": usage}}]


@pytest.fixture(params=PROTOCOLS)
async def stage(request, model_server):
    name, catalog = MODELS[request.param], Catalog()
    url = model_server.url if request.param == "messages" else model_server.openai_url
    known = catalog.limits(f"{PREFIXES[request.param]}/{name}")
    provider = PROTOCOLS[request.param](name, "key", url, known)
    stage = Stage(provider, limits=Limits(max_cost=1.0, retries=0), ledger=catalog)
    stage.says = {"messages": messages, "chat": chat, "responses": responses}[request.param]
    yield stage
    await provider.aclose()


@pytest.mark.parametrize("count", ABSURD, ids=str)
async def test_an_absurd_count_costs_no_more_than_an_estimate_and_stops_nothing(stage, model_server, count):
    for prompt, written in ((count, count), (count, 20), (900, count), (900, 20)):
        model_server.reply(RawStream(chunks=data_lines(*stage.says(prompt, written))))
        ended = await stage.send()
        assert (ended.reason, ended.text) == (TurnEnd.DONE, WORDS)
    assert ended.cost is not None
    assert 0 < ended.cost < 0.05
    reports = stage.of(UsageReported)
    assert all(report.context < 5_000 for report in reports)
    assert reports[0].usage.is_estimate
    assert reports[0].usage.output_tokens < 100
    assert not reports[-1].usage.is_estimate
    assert (reports[-1].usage.input_tokens, reports[-1].usage.output_tokens) == (900, 20)


@pytest.mark.parametrize(
    ("usage", "window", "most", "is_believed"),
    [
        (Usage(input_tokens=1_000_000, output_tokens=64_000), 200_000, 64_000, True),
        (Usage(input_tokens=1_000_001, output_tokens=10), 200_000, 64_000, False),
        (Usage(cache_read_tokens=600_000, cache_write_tokens=500_000), 200_000, 64_000, False),
        (Usage(input_tokens=10, output_tokens=128_001), 200_000, 64_000, False),
        (Usage(input_tokens=10, output_tokens=150_000), 200_000, None, True),
        (Usage(input_tokens=9_000_000, output_tokens=150_000), None, None, True),
        (Usage(input_tokens=10_000_001), None, None, False),
    ],
)
def test_what_a_window_and_an_answer_can_hold_is_believed(usage, window, most, is_believed):
    assert believable(usage, window, most) == (usage if is_believed else Usage())


def test_a_cost_without_end_in_an_old_record_is_passed_over():
    past = [UsageReported(usage=Usage(), cost=cost, window=None) for cost in (0.25, math.inf, math.nan)]
    assert before(past, Bookmarks()).spent == 0.25
