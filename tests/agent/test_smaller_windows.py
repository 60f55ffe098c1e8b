"""A service whose window is smaller than the model is known to have."""

from __future__ import annotations

import pytest

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.history import restore
from codeagent.agent.session import before
from codeagent.core.context import HistoryCompacted
from codeagent.core.events import TurnEnd
from codeagent.providers.error_bodies import window_in
from tests.agent.services import PROTOCOLS
from tests.agent.stage import FAST, Prices, Probe, Stage
from tests.server.replies import Call, Refuse, Reply, Say, Tokens, say

REFUSALS = {
    "messages": "prompt is too long: {sent} tokens > 9000 maximum",
    "chat": "This model's maximum context length is 9000 tokens. However, you requested {sent} tokens.",
    "responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
}
SUMMARY = say("## Task\n" + "What was done so far. " * 60)


async def talk(say, progress):
    return "word " * 800


def uncounted(part: Call | Say) -> Reply:
    return Reply(parts=(part,), tokens=Tokens(input=0, output=0))


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_window_that_a_refusal_tells_counts_from_then_on_and_no_message_fails(protocol, model_server):
    url = model_server.url if protocol == "messages" else model_server.openai_url
    provider = PROTOCOLS[protocol]("test", "key", url)
    model_server.window = (9_000, REFUSALS[protocol])
    model_server.asides[b"You sum up a coding session"] = SUMMARY
    stage = Stage(provider, Probe("look", talk), ledger=Prices(size=200_000), limits=FAST)
    for at in range(12):
        model_server.reply(uncounted(Call("look", {"say": "it"})), uncounted(Say("Fine. " * 300)))
        ended = await stage.send(f"Request {at}.")
        assert (ended.reason, at) == (TurnEnd.DONE, at), ended.text
        assert f"Request {at}." in model_server.requests[-1].raw.decode()
    refused = [request for request in model_server.requests if request.refused]
    assert 1 <= len(refused) <= 3
    told = before(stage.journal.events, Bookmarks()).told
    assert 7_000 < told[provider.model] <= 9_000
    assert stage.of(HistoryCompacted)[-1].window == told[provider.model]
    assert restore(stage.journal.events) == stage.session.messages
    await provider.aclose()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_number_below_what_the_service_took_before_is_no_window(protocol, model_server):
    url = model_server.url if protocol == "messages" else model_server.openai_url
    provider = PROTOCOLS[protocol]("test", "key", url)
    model_server.asides[b"You sum up a coding session"] = SUMMARY
    stage = Stage(provider, Probe("look", talk), ledger=Prices(), limits=FAST)
    model_server.reply(Reply(parts=(Say("Fine."),), tokens=Tokens(input=20_000)))
    await stage.send("word " * 14_000)
    model_server.reply(Refuse(status=400, message="context window exceeds limit: 2013"), say("Still here."))
    assert (await stage.send("And now?")).text == "Still here."
    [window] = {event.window for event in stage.of(HistoryCompacted)}
    assert window is not None
    assert window >= 18_000
    await provider.aclose()


@pytest.mark.parametrize(
    ("said", "window"),
    [
        ("prompt is too long: 33670 tokens > 32000 maximum", 32_000),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it", 200_000),
        ("This model's maximum context length is 32768 tokens. However, your messages resulted in 40000.", 32_768),
        ("the request (9210 tokens) exceeds the available context size (8192 tokens), try increasing it", 8_192),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 1000", 4_096),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
        ("Request too large for gpt on tokens per min (TPM): Limit 30,000, Requested 45,000.", 30_000),
        ("maximum prompt length is 131072 but the request contains 140000 tokens", 131_072),
        ("Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)", 262_144),
        ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]", 204_800),
        ("The prompt length (15000) should not exceed max_num_tokens (9000)", 9_000),
        ("Prompt length (15000) exceeds model context window (9000)", 9_000),
        ("Prompt exceeds max length", None),
        ("invalid params, context window exceeds limit (2013)", None),
        ("Your input exceeds the context window of this model.", None),
        ("Request exceeds the maximum allowed number of bytes: 32000000", None),
    ],
)
def test_services_name_their_window_in_many_words(said, window):
    assert window_in(said) == window
