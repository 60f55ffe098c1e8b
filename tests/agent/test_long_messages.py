"""What the person says may be longer than the model's window: the session goes on, whatever knows of that window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.history import restore, user_message
from codeagent.agent.session import before
from codeagent.core.context import HistoryCompacted
from codeagent.core.events import Level, NoticeGiven, TurnEnd
from codeagent.core.messages import Message, Origin
from codeagent.tui.widgets.compaction_block import heading
from tests.agent.services import PROTOCOLS
from tests.agent.stage import FAST, Prices, Probe, Stage, reply
from tests.server.replies import Call, Reply, Say, Tokens, say

HUGE = "begin " + "word " * 50_000 + "end"
WINDOW = 9_000
NAMED = "prompt is too long: {sent} tokens > 9000 maximum"
UNNAMED = "Your input exceeds the context window of this model."


@pytest.fixture(params=PROTOCOLS)
async def provider(request, model_server) -> AsyncIterator[object]:
    url = model_server.url if request.param == "messages" else model_server.openai_url
    made = PROTOCOLS[request.param]("test", "key", url)
    yield made
    await made.aclose()


def uncounted(text: str) -> Reply:
    return Reply(parts=(Say(text),), tokens=Tokens(input=0, output=0))


async def goes_on(stage: Stage, server) -> None:
    """The next message is answered at once."""
    server.reply(uncounted("Still here."))
    sent = len(server.requests)
    assert (await stage.send("And now?")).text == "Still here."
    assert len(server.requests) == sent + 1
    assert restore(stage.journal.events) == stage.session.messages


def summaries(server) -> int:
    return sum(b"You sum up a coding session" in request.raw for request in server.requests)


@pytest.mark.parametrize(("refusal", "size"), [(NAMED, None), (UNNAMED, None), (NAMED, WINDOW), (UNNAMED, 200_000)])
async def test_a_message_longer_than_the_window_is_sent_without_its_middle(model_server, provider, refusal, size):
    model_server.window = (WINDOW, refusal)
    stage = Stage(provider, ledger=Prices(size=size), limits=FAST)
    model_server.reply(uncounted("Hello."), uncounted("I read its ends."))
    await stage.send("Hello.")

    ended = await stage.send(HUGE)

    assert (ended.reason, ended.text) == (TurnEnd.DONE, "I read its ends.")
    sent = model_server.requests[-1].raw.decode()
    assert "begin word" in sent
    assert "word end" in sent
    assert "characters were removed here to make room" in sent
    assert summaries(model_server) == 0
    assert any(HUGE in str(event) for event in stage.journal.events)
    await goes_on(stage, model_server)


async def test_the_person_is_told_once_that_the_middle_is_left_out(model_server, provider):
    model_server.window = (WINDOW, NAMED)
    stage = Stage(provider, ledger=Prices(size=None), limits=FAST)
    await stage.send(HUGE)
    (notice,) = [event for event in stage.of(NoticeGiven) if event.level is not Level.INFO]
    assert notice.text.startswith(f"This is longer than the window of {provider.model}: 2")
    (compaction,) = stage.of(HistoryCompacted)
    assert heading(compaction).startswith("The middle of a long message was taken out to make room: ")
    assert heading(replace(compaction, words_to=0)).startswith("Nothing had to be taken out, by a new count: ")


@pytest.mark.parametrize("way", ["steer", "follow_up"])
async def test_a_long_message_said_during_a_turn_does_not_brick_the_session_either(model_server, provider, way):
    model_server.window = (WINDOW, NAMED)

    async def look(say, progress):
        getattr(stage.session, way)(HUGE)
        await asyncio.sleep(0)
        return "looked"

    stage = Stage(provider, Probe("look", look), ledger=Prices(size=None), limits=FAST)
    model_server.reply(Reply(parts=(Call("look", {"say": "it"}),), tokens=Tokens(input=0, output=0)))
    assert (await stage.send("Look.")).reason is TurnEnd.DONE
    assert "begin word" in model_server.requests[-1].raw.decode()
    await goes_on(stage, model_server)


def stuck() -> list[tuple[Message, ...]]:
    """Histories that earlier versions left behind a message that had no answer."""
    huge = user_message(HUGE, Origin.PROMPT)
    earlier = (user_message("Hello.", Origin.PROMPT), reply("Hello."))
    summed_up = user_message("The conversation so far was summed up.", Origin.SUMMARY)
    return [
        (huge,),
        (*earlier, huge),
        (summed_up, huge, user_message("short", Origin.PROMPT), user_message("x", Origin.PROMPT)),
    ]


@pytest.mark.parametrize("history", stuck())
@pytest.mark.parametrize("refusal", [NAMED, UNNAMED])
async def test_a_session_that_a_long_message_had_bricked_goes_on_again(model_server, provider, history, refusal):
    model_server.window = (WINDOW, refusal)
    model_server.asides[b"You sum up a coding session"] = say("## Task\n" + "What was done. " * 60)
    stage = Stage(provider, ledger=Prices(size=None), limits=FAST, history=history)
    model_server.reply(uncounted("Here."))
    ended = await stage.send("short")
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Here.")


async def test_a_resumed_session_sends_the_message_as_it_was_cut(model_server, provider):
    model_server.window = (WINDOW, NAMED)
    stage = Stage(provider, ledger=Prices(size=None), limits=FAST)
    await stage.send(HUGE)
    past = stage.journal.events
    again = Stage(
        provider, ledger=Prices(size=None), limits=FAST, history=restore(past), before=before(past, Bookmarks())
    )
    refused = len([one for one in model_server.requests if one.refused])
    assert (await again.send("And now?")).reason is TurnEnd.DONE
    assert len([one for one in model_server.requests if one.refused]) == refused


async def test_a_wish_for_room_cuts_what_is_longer_than_the_window(model_server, provider):
    stage = Stage(
        provider, ledger=Prices(size=WINDOW), limits=FAST, history=(user_message(HUGE, Origin.PROMPT), reply("Ok."))
    )
    await stage.session.compact()
    assert len(stage.session.messages[0].text) < 20_000
    assert model_server.requests == []


async def test_a_message_that_fits_stays_whole_where_the_rest_can_be_summed_up(model_server, provider):
    model_server.window = (WINDOW, NAMED)
    model_server.asides[b"You sum up a coding session"] = say("## Task\n" + "What was done. " * 20)
    stage = Stage(provider, ledger=Prices(size=None), limits=FAST)
    for at in range(3):
        model_server.reply(uncounted("Fine. " * 800))
        assert (await stage.send(f"Request {at}.")).reason is TurnEnd.DONE
    whole = "word " * 4_400
    model_server.reply(uncounted("Read."))
    assert (await stage.send(whole)).text == "Read."
    assert whole.strip() in model_server.requests[-1].raw.decode()
    assert summaries(model_server) == 1
