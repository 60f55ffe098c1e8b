"""A text at which a service only fails, or breaks off the connection, is found when a second turn ends so too."""

from __future__ import annotations

import pytest

from codeagent.agent.history import restore
from codeagent.core.events import TurnEnd
from codeagent.core.refused import LEFT_OUT
from tests.agent.services import PROTOCOLS
from tests.providers.test_refused_texts import POISON, connect, staged, told
from tests.server.replies import Hangup, Refuse, say


@pytest.fixture(params=PROTOCOLS)
async def provider(request, model_server):
    made = connect(request.param, model_server)
    yield made
    await made.aclose()


@pytest.mark.parametrize("fault", [Refuse(status=500, body=b""), Hangup(reset=True)], ids=["500", "reset"])
async def test_a_text_at_which_a_service_only_fails_is_left_out_when_all_tries_of_a_second_turn_end_so(
    model_server, provider, fault
):
    stage = staged(provider)
    model_server.asides = {POISON: fault}
    model_server.reply(say("Hello."), say("Went on."))
    await stage.send("Hello.")
    assert (await stage.send("please POISON it")).reason is TurnEnd.ERROR
    assert LEFT_OUT.encode() not in model_server.requests[-1].raw

    assert (await stage.send("Then something else.")).text == "Went on."

    assert "“please POISON it”, so it is left out of what" in told(stage)[-1]
    requests = len(model_server.requests)
    model_server.reply(say("Still here."))
    assert (await stage.send("And now?")).text == "Still here."
    assert len(model_server.requests) == requests + 1
    assert restore(stage.journal.events) == stage.session.messages


@pytest.mark.parametrize(
    "more", [{"status": 503}, {"status": 529}, {"status": 429}, {"status": 500, "retry_after": "0"}]
)
async def test_a_service_that_is_busy_or_down_has_no_text_left_out(model_server, provider, more):
    stage = staged(provider)
    model_server.reply(say("Hello."))
    await stage.send("Hello.")
    model_server.asides = {POISON: Refuse(message="Not now", **more)}
    for text in ("please POISON it", "Then something else.", "And now?"):
        assert (await stage.send(text)).reason is TurnEnd.ERROR
    assert LEFT_OUT.encode() not in b"".join(request.raw for request in model_server.requests)


async def test_where_a_service_fails_at_all_it_is_asked_in_vain_a_few_times_and_then_sent_all_again(
    model_server, provider
):
    stage = staged(provider)
    model_server.reply(say("Hello."))
    await stage.send("Hello.")
    model_server.asides = {b"Hello.": Refuse(status=500, body=b"")}
    counts: list[int] = []
    for text in ("One.", "Two.", "Three.", "Four."):
        before = len(model_server.requests)
        assert (await stage.send(text)).reason is TurnEnd.ERROR
        counts.append(len(model_server.requests) - before)
    assert (counts[0], counts[-1]) == (3, 3)
    assert sum(counts) <= 12 + 2 * 3
    model_server.asides = {}
    model_server.reply(say("Fine."))
    assert (await stage.send("Five.")).text == "Fine."
    assert LEFT_OUT.encode() not in model_server.requests[-1].raw
    assert told(stage) == []
