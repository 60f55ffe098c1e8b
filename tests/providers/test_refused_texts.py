"""A text that a service refuses for ever is left out of what it is sent, and the session goes on; on every protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from codeagent.agent.history import restore
from codeagent.core.context import HistoryCompacted
from codeagent.core.events import NoticeGiven, TurnEnd
from codeagent.core.refused import LEFT_OUT
from codeagent.providers.refused_texts import tries
from tests.agent.services import PATIENT, PROTOCOLS
from tests.agent.stage import Probe, Stage
from tests.providers.conftest import called, replied, result, results, said
from tests.server.replies import Call, Refuse, Reply, Say, say

REFUSALS = [
    (400, "Invalid request"),
    (400, "messages.4.content.0.text: Invalid value"),
    (400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."),
    (400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."),
    (403, "Your chosen model requires moderation and your input was flagged for violence."),
    (422, "content: unprocessable"),
    (500, "tokenizer failed: invalid special token"),
]
POISON = b"POISON"


def connect(protocol: str, server):
    return PROTOCOLS[protocol]("test", "key", server.url if protocol == "messages" else server.openai_url)


@pytest.fixture(params=PROTOCOLS)
async def provider(request, model_server) -> AsyncIterator[object]:
    made = connect(request.param, model_server)
    yield made
    await made.aclose()


async def look(text, progress):
    return f"a POISON b {text}" if text == "bad" else f"all of {text}"


def staged(provider, **more) -> Stage:
    return Stage(provider, Probe("look", look), limits=PATIENT, **more)


def looks_at(*names: str) -> Reply:
    return Reply(parts=tuple(Call("look", {"say": name}) for name in names))


def told(stage: Stage) -> list[str]:
    return [event.text for event in stage.of(NoticeGiven)]


async def goes_on(stage: Stage, server) -> None:
    """The next turn costs no refusal, and disk and memory agree."""
    requests, notices = len(server.requests), len(told(stage))
    server.reply(say("Still here."))
    assert (await stage.send("And now?")).text == "Still here."
    assert len(server.requests) == requests + 1
    assert POISON not in server.requests[-1].raw
    assert len(told(stage)) == notices
    assert server.refusals == [one.refused for one in server.requests if POISON in one.raw]
    assert restore(stage.journal.events) == stage.session.messages


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refused_output_is_left_out_and_the_turn_goes_on(model_server, provider, refusal):
    model_server.will_not_take = {POISON: refusal}
    stage = staged(provider)
    model_server.reply(say("Hello."), looks_at("bad"), say("I cannot see it."))
    await stage.send("Hello.")

    ended = await stage.send("Look.")

    assert (ended.reason, ended.text) == (TurnEnd.DONE, "I cannot see it.")
    assert LEFT_OUT in model_server.requests[-1].raw.decode()
    (notice,) = told(stage)
    what = f"The service refused the output of look, so it is left out of what {provider.model} is sent"
    assert notice == f"{what} and stays in the session. It said: {refusal[1].rstrip('.')}."
    await goes_on(stage, model_server)


async def test_of_several_outputs_those_that_are_good_stay_where_a_half_is_enough(model_server, provider):
    model_server.will_not_take = {POISON: REFUSALS[0]}
    stage = staged(provider)
    model_server.reply(looks_at("one", "two", "bad", "four"), say("Seen."))
    assert (await stage.send("Look.")).text == "Seen."
    sent = model_server.requests[-1].raw.decode()
    assert "all of one" in sent
    assert "all of two" in sent
    assert len(model_server.requests) == 4
    await goes_on(stage, model_server)


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refused_reply_is_left_out(model_server, provider, refusal):
    model_server.will_not_take = {POISON: refusal}
    stage = staged(provider)
    model_server.reply(say("some POISON words"), say("Went on."))
    await stage.send("Say it.")
    assert (await stage.send("And then?")).text == "Went on."
    assert told(stage)[0].startswith("The service refused a reply, so it is left out")
    await goes_on(stage, model_server)


async def test_of_a_refused_call_its_arguments_are_left_out(model_server, provider):
    model_server.will_not_take = {POISON: REFUSALS[0]}
    stage = staged(provider)
    model_server.reply(Reply(parts=(Say("Looking."), Call("look", {"say": "POISON"}))), say("Went on."))
    assert (await stage.send("Look.")).text == "Went on."
    await goes_on(stage, model_server)


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_message_of_the_persons_that_is_refused_does_not_poison_the_next_one(model_server, provider, refusal):
    model_server.will_not_take = {POISON: refusal}
    stage = staged(provider)
    model_server.reply(say("Hello."), say("Went on."))
    await stage.send("Hello.")

    refused = await stage.send("please POISON it")
    ended = await stage.send("Then something else.")

    assert refused.reason is TurnEnd.ERROR
    assert refusal[1].rstrip(".") in refused.text
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Went on.")
    assert told(stage)[-1].startswith("The service refused “please POISON it”, so it is left out")
    assert "Hello." in model_server.requests[-1].raw.decode()
    await goes_on(stage, model_server)


async def test_what_the_person_says_once_more_is_sent_once_more(model_server, provider):
    model_server.will_not_take = {POISON: REFUSALS[0]}
    stage = staged(provider)
    model_server.reply(say("Hello."), say("Went on."))
    await stage.send("Hello.")
    await stage.send("please POISON it")
    await stage.send("Then something else.")
    assert (await stage.send("please POISON it")).reason is TurnEnd.ERROR
    await goes_on(stage, model_server)

    model_server.will_not_take = {}
    model_server.reply(say("Now I take it."))
    assert (await stage.send("please POISON it")).text == "Now I take it."
    assert POISON in model_server.requests[-1].raw


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("is_healed", [True, False])
async def test_a_resumed_session_goes_on_without_the_text(model_server, protocol, is_healed):
    model_server.will_not_take = {POISON: REFUSALS[2]} if is_healed else {}
    first, second = connect(protocol, model_server), connect(protocol, model_server)
    stage = staged(first)
    model_server.reply(looks_at("bad"))
    if not is_healed:  # as an earlier version left it
        model_server.reply(Refuse(status=401, message="No."))
    await stage.send("Look.")
    model_server.will_not_take = {POISON: REFUSALS[2]}

    again = staged(second, history=restore(stage.journal.events))
    requests = len(model_server.requests)
    assert (await again.send("And now?")).reason is TurnEnd.DONE
    assert len(model_server.requests) - requests == (1 if is_healed else 2)
    await first.aclose()
    await second.aclose()


async def test_a_summary_is_asked_for_without_the_refused_text(model_server, provider):
    model_server.will_not_take = {POISON: REFUSALS[2]}
    stage = staged(provider)
    model_server.reply(
        looks_at("bad"), say("Fine. " * 200), say("Two. " * 200), say("## Task\n" + "What was done. " * 9)
    )
    await stage.send("Look.")
    await stage.send("And now?")
    await stage.session.compact()
    assert stage.of(HistoryCompacted)[-1].summary
    await goes_on(stage, model_server)


async def test_requests_stay_the_same_to_the_byte_behind_the_note(model_server, provider):
    model_server.will_not_take = {POISON: REFUSALS[0]}
    stage = staged(provider)
    model_server.reply(looks_at("bad"), say("One."), say("Two."))
    await stage.send("Look.")
    await stage.send("And now?")
    before, after = (
        request.raw.replace(b',"cache_control":{"type":"ephemeral"}', b"") for request in model_server.requests[-2:]
    )
    assert after.startswith(before.removesuffix(b"]}"))


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
async def test_what_blames_no_content_leaves_nothing_out(model_server, provider, status):
    stage = staged(provider)
    model_server.reply(say("Hello."), looks_at("good"), *[Refuse(status=status, message="Not now")] * 3)
    await stage.send("Hello.")
    assert (await stage.send("Look.")).reason is TurnEnd.ERROR
    assert LEFT_OUT.encode() not in b"".join(request.raw for request in model_server.requests)
    assert told(stage) == []


async def test_where_nothing_that_is_left_out_helps_all_is_sent_again_the_next_time(model_server, provider):
    stage = staged(provider)
    model_server.reply(say("Hello."), looks_at("one", "two", "three"))
    await stage.send("Hello.")
    model_server.reply(*[Refuse(status=400, message="tools are not supported")] * 4)
    ended = await stage.send("Look.")
    assert ended.reason is TurnEnd.ERROR
    assert len(model_server.requests) == 6
    model_server.reply(say("Fine."))
    assert (await stage.send("And now?")).text == "Fine."
    assert LEFT_OUT.encode() not in model_server.requests[-1].raw


def test_at_most_three_guesses_are_made_and_what_was_said_last_stays():
    turn = (said("a"), replied(called("c1"), called("c2")), results(result("c1"), result("c2")), said("b"), said("c"))
    found = list(tries(turn, (), "anthropic/m"))
    assert len(found) == 3
    assert found[0] | found[1] <= found[2]
    assert len(found[2]) == 5


def test_what_was_taken_before_is_not_to_blame():
    taken = (said("a"), replied("b"), said("c"))
    reply = replied("d")
    assert list(tries((*taken, reply, said("e")), taken, "m")) == list(tries((reply, said("e")), (), "m"))
