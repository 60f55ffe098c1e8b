"""Sessions that outgrow the model's window."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from codeagent.agent.history import restore
from codeagent.agent.shrinking import CLEARED, images_under_way, shrunk, still_there, words_under_way
from codeagent.agent.summaries import Judges
from codeagent.core.approvals import Approve, Deny, Withdraw
from codeagent.core.context import CompactionReason, HistoryCompacted
from codeagent.core.errors import ContextOverflow, ProviderRejected, ProviderUnavailable
from codeagent.core.events import (
    ContextMeasured,
    MessageDelivered,
    MessagesReturned,
    NoticeGiven,
    TurnEnd,
    UsageReported,
)
from codeagent.core.messages import (
    AssistantMessage,
    ImageBlock,
    Origin,
    Outcome,
    ResultsMessage,
    StopReason,
    TextBlock,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.protocols import ModelRequest
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.agent.stage import FAST, Model, Prices, Probe, Stage, Write, call, reply
from tests.server.replies import Call, Tokens, say

LONG = "word " * 300


def is_summing_up(request: ModelRequest) -> bool:
    return request.system.startswith("You sum up")


class Clever(Model):
    """Plays its replies to the session, and gives summaries in between."""

    def __init__(self, *steps, summaries=("The totals.",), counts=True):
        super().__init__(*steps)
        self.summaries = list(summaries)
        self.asked: list[ModelRequest] = []
        self.counts = counts

    async def stream(self, request):
        if not is_summing_up(request):
            async for event in super().stream(request):
                yield event
            return
        self.asked.append(request)
        given = self.summaries.pop(0) if len(self.summaries) > 1 else self.summaries[0]
        if isinstance(given, Exception):
            raise given
        whole = given if isinstance(given, AssistantMessage) else reply(given and f"## Task\n{given}")
        async for event in Model(whole).stream(request):
            yield event


class Reader:
    """A person who looks at summaries."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.questions = []

    async def ask(self, request):
        self.questions.append(request)
        answer = self.answers.pop(0)
        return await answer() if callable(answer) else answer


async def talk(say, progress):
    return LONG


def staged(model, *, size=4_000, judges=None, **changes) -> Stage:
    return Stage(model, Probe("look", talk), ledger=Prices(size=size), limits=replace(FAST, **changes), judges=judges)


def looking(turns: int, *, words="Fine. " * 60):
    """Replies of turns that each look once."""
    return [one for at in range(turns) for one in (reply("", call(f"c{at}", "look", say="it")), reply(words))]


async def talked(stage: Stage, turns: int) -> None:
    for at in range(turns):
        assert (await stage.send(f"Request {at}.")).reason is TurnEnd.DONE


async def test_old_outputs_go_first_and_the_most_recent_ones_stay():
    stage = staged(Clever(*looking(12, words="Ok.")))
    await talked(stage, 12)
    first = stage.of(HistoryCompacted)[0]
    assert (first.summary, first.reason) == ("", CompactionReason.FULL)
    assert first.after < 0.6 * 4_000 < first.before
    assert stage.model.asked == []
    texts = [result.text for message in stage.model.requests[-1].messages if isinstance(message, ResultsMessage)
             for result in message.results]  # fmt: skip
    assert texts[0] == CLEARED
    assert texts[-1] == LONG


async def test_when_outputs_are_not_enough_the_model_sums_up_and_the_last_part_stays():
    stage = staged(Clever(*looking(30)))
    await talked(stage, 30)
    summed = [event for event in stage.of(HistoryCompacted) if event.summary]
    assert summed
    assert all(event.after < event.before for event in summed)
    messages = stage.session.messages
    assert messages[0].origin is Origin.SUMMARY
    assert "The totals." in messages[0].text
    last_request = stage.model.requests[-1].messages
    assert any("Request 29." in message.text for message in last_request if message.kind == "user")


async def test_the_summary_is_made_from_what_was_said_and_from_the_summary_before():
    stage = staged(Clever(*looking(40), summaries=["FIRST SUMMARY", "later"]))
    await talked(stage, 40)
    first, second = stage.model.asked[:2]
    assert "PERSON: Request 0." in first.messages[0].text
    assert "CALL look" in first.messages[0].text
    assert "EARLIER SUMMARY:" in second.messages[0].text
    assert "FIRST SUMMARY" in second.messages[0].text


def sent_words(request: ModelRequest) -> list[str]:
    own = {Origin.PROMPT, Origin.STEERING, Origin.FOLLOW_UP}
    return [one.text for one in request.messages if one.kind == "user" and one.origin in own]


async def test_what_the_person_said_in_this_turn_stays_word_for_word_however_often_it_is_summed_up():
    async def steer(say, progress):
        stage.session.steer("The prices are net.")
        return LONG

    calls = [reply("Fine. " * 60, call(f"c{at}", "look", say="it")) for at in range(60)]
    calls[5] = reply("", call("s", "steer"))
    stage = Stage(
        Clever(reply("Hello."), *calls, reply("Done.")),
        *(Probe("look", talk), Probe("steer", steer)),
        ledger=Prices(size=4_000),
        limits=replace(FAST, steps=100),
    )
    await stage.send("Hello.")
    assert (await stage.send("Sum up the totals of orders.csv.")).text == "Done."
    assert len([event for event in stage.of(HistoryCompacted) if event.summary]) >= 3
    for request in stage.model.requests[10:]:
        assert sent_words(request)[-2:] == ["Sum up the totals of orders.csv.", "The prices are net."]
    assert sent_words(stage.model.requests[-1]) == ["Sum up the totals of orders.csv.", "The prices are net."]
    assert restore(stage.journal.events) == stage.session.messages


def test_of_long_words_the_middle_goes_once_and_the_short_ones_beside_them_stay_whole():
    long, short = UserMessage(blocks=(TextBlock(text="a" * 9_000),)), "Net prices."
    steering = UserMessage(blocks=(TextBlock(text=short),), origin=Origin.STEERING)
    first = words_under_way([long, steering], 2, 1_000)
    assert first[1] == short
    assert 900 < len(first[0]) < 1_100
    plan = HistoryCompacted(reason=CompactionReason.FULL, kept=0, summary="It.", words=first)
    assert words_under_way(shrunk([long, steering], plan), 3, 1_000) == first


@pytest.mark.parametrize("stops", [[StopReason.MAX_TOKENS, StopReason.END_TURN], [StopReason.MAX_TOKENS] * 2])
async def test_a_summary_that_is_cut_off_is_asked_for_with_more_room_and_never_used_as_it_is(stops):
    summaries = [reply(f"## Task\nsummary {at}", stop=stop) for at, stop in enumerate(stops)]
    stage = staged(Clever(*looking(3), summaries=summaries), size=200_000)
    await talked(stage, 3)
    before = stage.session.messages
    await stage.session.compact()
    first, second = stage.model.asked
    assert second.max_tokens > first.max_tokens
    if stops[-1] is StopReason.END_TURN:
        assert "summary 1" in stage.session.messages[0].text
    else:
        assert stage.session.messages == before
        assert "cut off" in stage.of(NoticeGiven)[-1].text


async def test_two_thousand_turns_go_through_a_window_of_32k():
    model = Clever(*looking(2_000, words="Looked at it. " * 8))
    stage = staged(model, size=32_000)
    for at in range(2_000):
        assert (await stage.session.send(f"Request {at}.")).reason is TurnEnd.DONE
    assert stage.of(HistoryCompacted)
    assert max(event.tokens for event in stage.of(ContextMeasured)) <= 0.9 * 32_000
    assert len(stage.of(HistoryCompacted)) < 200


async def test_a_resumed_session_goes_on_from_the_compacted_history():
    stage = staged(Clever(*looking(30)))
    await talked(stage, 30)
    assert any(event.summary for event in stage.of(HistoryCompacted))
    assert restore(stage.journal.events) == stage.session.messages


async def test_off_leaves_the_history_alone():
    stage = staged(Clever(*looking(30)), compact_at=None)
    await talked(stage, 30)
    assert stage.of(HistoryCompacted) == []


async def test_an_unknown_window_is_learnt_from_the_refusal_and_the_request_goes_out_once_more():
    model = Clever(*looking(10), ContextOverflow("Too long."), reply("Made it."))
    stage = staged(model, size=None)
    await talked(stage, 10)
    ended = await stage.send("And now?")
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Made it.")
    [compaction] = stage.of(HistoryCompacted)
    assert compaction.reason is CompactionReason.OVERFLOW


async def test_a_history_that_stays_too_long_ends_the_turn_after_a_few_more_tries():
    model = Clever(*looking(10), *[ContextOverflow("Too long.")] * 9)
    stage = staged(model, size=None)
    await talked(stage, 10)
    requests = len(model.requests)
    ended = await stage.send("And now?")
    assert ended.reason is TurnEnd.ERROR
    assert ended.text.startswith("Too long. ")
    assert "new session" in ended.text
    assert len(model.requests) <= requests + 6


async def test_one_huge_output_does_not_brick_the_session():
    async def flood(say, progress):
        return "x" * 400_000

    after = [reply("Went on."), reply("Still here.")]
    model = Clever(reply("", call("c1", "flood")), ContextOverflow("Too long."), *after)
    stage = Stage(model, Probe("flood", flood), ledger=Prices(size=None), limits=FAST)
    assert (await stage.send()).text == "Went on."
    assert (await stage.send()).text == "Still here."
    assert len(stage.results()["c1"].text) == 400_000
    sent = model.requests[-1].messages
    assert max(len(one.results[0].text) for one in sent if isinstance(one, ResultsMessage)) < 100_000


async def test_a_reply_that_ran_into_the_end_of_the_window_goes_on_after_room_was_made():
    model = Clever(*looking(10), reply("Half of", stop=StopReason.CONTEXT_EXCEEDED), reply("the rest."))
    stage = staged(model, size=None)
    await talked(stage, 10)
    ended = await stage.send("And now?")
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "the rest.")


USELESS = {
    "nothing": "",
    "a refusal": reply("No.", stop=StopReason.REFUSAL),
    "a refusal of the service": ProviderRejected("No.", status=400),
    "a sentence": reply("I cannot help with that."),
    "half of it": reply("## Task\nThe tot", stop=StopReason.MAX_TOKENS),
}


@pytest.mark.parametrize("useless", USELESS.values(), ids=USELESS)
async def test_a_model_whose_summary_is_useless_is_not_asked_for_one_again_and_the_session_goes_on(useless):
    stage = staged(Clever(*looking(60), summaries=[useless]))
    await talked(stage, 60)
    assert len(stage.model.asked) <= 2
    [warning] = [event.text for event in stage.of(NoticeGiven)]
    assert all(said in warning for said in ("not asked for one again", "/compact", "another model"))
    excerpts = [event.summary for event in stage.of(HistoryCompacted) if event.summary]
    assert excerpts
    assert all("This is an excerpt" in summary for summary in excerpts)
    assert max(event.tokens for event in stage.of(ContextMeasured)) < 4_400
    assert restore(stage.journal.events) == stage.session.messages


async def test_what_the_person_asks_for_is_tried_again_after_a_useless_summary_and_trusts_the_model_again():
    stage = staged(Clever(*looking(60), summaries=["", "", "The totals."]))
    while not stage.model.asked:
        await talked(stage, 1)
    await stage.session.compact()
    assert len(stage.model.asked) == 2
    assert "not asked" not in stage.of(NoticeGiven)[-1].text
    await stage.session.compact()
    await talked(stage, 15)
    assert len(stage.model.asked) > 3
    assert "The totals." in stage.of(HistoryCompacted)[-1].summary


async def test_another_model_is_asked_for_a_summary_after_a_useless_one():
    stage = staged(Clever(*looking(60), summaries=[""]))
    while not stage.model.asked:
        await talked(stage, 1)
    other = Clever(*looking(20))
    other.model = "played/two"
    stage.session.set_provider(other)
    await talked(stage, 10)
    assert other.asked
    assert any("The totals." in event.summary for event in stage.of(HistoryCompacted))


async def test_summaries_that_are_longer_than_what_they_replace_are_not_asked_for_in_each_turn():
    counts = [Usage(input_tokens=3_600 if at > 8 else 400, output_tokens=10) for at in range(20)]
    stage = staged(Clever(*[reply("Fine. " * 80, usage=usage) for usage in counts], summaries=["much " * 900]))
    await talked(stage, 20)
    assert len(stage.model.asked) == 1
    [warning] = [event.text for event in stage.of(NoticeGiven)]
    assert "no shorter" in warning
    assert "not asked for one again" in warning


async def test_a_service_that_cannot_be_reached_for_a_summary_is_asked_three_times_and_told_what_can_be_done():
    stage = staged(Clever(*looking(40), summaries=[ProviderUnavailable("Away.", most_retries=1)]), retries=1)
    await talked(stage, 40)
    warnings = [event.text for event in stage.of(NoticeGiven)]
    assert len(warnings) == 3
    assert "/compact" in warnings[-1]
    assert [event for event in stage.of(HistoryCompacted) if event.summary] == []


async def test_after_a_useless_summary_a_refusal_for_length_is_mended_by_an_excerpt_at_once():
    model = Clever(*looking(10), *[ContextOverflow("Too long."), reply("Made it.")] * 2, summaries=[""])
    stage = staged(model, size=None)
    await talked(stage, 10)
    assert (await stage.send("And now?")).text == "Made it."
    assert (await stage.send("And now?")).text == "Made it."
    assert len(model.asked) == 1
    assert len(stage.of(NoticeGiven)) == 1


async def test_a_window_too_small_for_the_fixed_parts_asks_for_no_summary():
    model = Clever(reply("Ok."))
    stage = Stage(model, ledger=Prices(size=100), limits=FAST)
    assert (await stage.send("please " * 500)).text == "Ok."
    assert model.asked == []
    assert len(stage.of(NoticeGiven)) == 1


async def test_without_any_summary_an_overflow_is_mended_by_an_excerpt():
    model = Clever(*looking(10), ContextOverflow("Too long."), reply("Made it."), summaries=[""])
    stage = staged(model, size=None)
    await talked(stage, 10)
    assert (await stage.send("And now?")).text == "Made it."
    assert "Request 0." in stage.of(HistoryCompacted)[0].summary


async def test_the_person_can_edit_the_summary_and_is_shown_what_it_is_now_before_it_counts():
    reader = Reader(Approve(edited="Only this matters."), *[Approve()] * 9)
    stage = staged(Clever(*looking(14)), judges=Judges(approver=reader))
    await talked(stage, 14)
    assert stage.of(HistoryCompacted)[-1].summary
    first = next(event for event in stage.of(HistoryCompacted) if event.summary)
    assert first.summary == "Only this matters."
    assert "The totals." in reader.questions[0].preview.text
    assert reader.questions[1].preview.text == "Only this matters."


async def test_an_edited_summary_that_is_refused_when_it_is_shown_counts_no_more_than_any_other():
    reader = Reader(Approve(edited="Only this matters."), Deny())
    stage = staged(Clever(*looking(16)), judges=Judges(approver=reader))
    await talked(stage, 13)
    assert len(reader.questions) == 2
    assert [event for event in stage.of(HistoryCompacted) if event.summary] == []


@pytest.mark.parametrize("answer", [Deny(), Withdraw(reason="closed")])
async def test_a_refused_summary_leaves_the_history_and_is_not_asked_for_again(answer):
    reader = Reader(answer)
    stage = staged(Clever(*looking(16)), judges=Judges(approver=reader))
    await talked(stage, 13)
    assert len(reader.questions) == 1
    assert [event for event in stage.of(HistoryCompacted) if event.summary] == []


async def test_without_a_summary_no_request_is_made_that_cannot_fit_and_the_turn_says_what_to_do():
    reader = Reader(Deny(), Deny(), Approve())
    stage = staged(Clever(*looking(30)), judges=Judges(approver=reader))
    while (ended := await stage.send("Go on.")).reason is TurnEnd.DONE:
        pass
    assert ended.reason is TurnEnd.ERROR
    assert "no longer fits" in ended.text
    assert all(command in ended.text for command in ("/compact", "/new", "/model"))
    assert len(reader.questions) == len(stage.model.asked) == 2
    assert max(event.tokens for event in stage.of(ContextMeasured)) < 4_000
    assert (await stage.send("Then sum it up.")).reason is TurnEnd.DONE
    assert restore(stage.journal.events) == stage.session.messages


async def test_a_summary_that_was_refused_is_not_asked_for_again_by_the_service_in_the_same_turn():
    reader = Reader(Deny())
    model = Clever(*looking(9), *[ContextOverflow("Too long.")] * 3)
    stage = staged(model, size=4_000, judges=Judges(approver=reader))
    await talked(stage, 9)
    while not reader.questions:
        ended = await stage.send("And now? " * 20)
    assert (ended.reason, len(reader.questions)) == (TurnEnd.ERROR, 1)
    assert "/compact FOCUS" in ended.text


REFUSES = "I cannot help with that."


async def test_a_sentence_is_no_summary_and_is_asked_for_once_more():
    stage = staged(Clever(*looking(9), summaries=[reply(REFUSES), "The totals."]), size=200_000)
    await talked(stage, 9)
    await stage.session.compact()
    assert "The totals." in stage.session.messages[0].text
    first, second = stage.model.asked
    assert second.messages[: len(first.messages)] == first.messages


async def test_a_sentence_twice_leaves_the_conversation_as_it_is():
    stage = staged(Clever(*looking(9), summaries=[reply(REFUSES)]), size=200_000)
    await talked(stage, 9)
    before = stage.session.messages
    await stage.session.compact()
    assert stage.session.messages == before
    assert REFUSES in stage.of(NoticeGiven)[-1].text


async def test_a_person_who_looks_at_a_sentence_is_told_that_it_is_short():
    reader = Reader(Approve(), Approve())
    stage = staged(Clever(*looking(9), summaries=[reply(REFUSES)]), size=200_000, judges=Judges(approver=reader))
    await talked(stage, 9)
    await stage.session.compact()
    assert "very short" in reader.questions[0].warnings[0]
    assert REFUSES in stage.session.messages[0].text


async def test_a_short_summary_of_little_is_one():
    little = "They said fine, looked at it once, and that is all that there was to it, so far."
    stage = staged(Clever(reply("Fine. " * 80), *looking(1), summaries=[reply(little)]), size=200_000)
    await talked(stage, 2)
    await stage.session.compact()
    assert little in stage.session.messages[0].text


SHOT, PLAN = (ImageBlock(media_type="image/png", data="aGk=", name=name) for name in ("shot.png", "plan.png"))


@pytest.mark.parametrize(("size", "stay"), [(16_000, (SHOT,)), (32_000, (SHOT, PLAN))])
async def test_images_of_the_turn_under_way_stay_as_far_as_they_fit(size, stay):
    calls = [reply("Fine. " * 200, call(f"c{at}", "look", say="it")) for at in range(size // 100)]
    stage = staged(Clever(*calls, reply("Done.")), size=size, steps=400)
    await stage.session.send("Build this.", (SHOT, PLAN))
    assert len([event for event in stage.of(HistoryCompacted) if event.summary]) >= 2
    [prompt] = [one for one in stage.session.messages if one.kind == "user" and one.origin is Origin.PROMPT]
    assert tuple(block for block in prompt.blocks if isinstance(block, ImageBlock)) == stay
    assert prompt.text.startswith("Build this.")
    assert ("plan.png" in prompt.text) == (PLAN not in stay)
    assert restore(stage.journal.events) == stage.session.messages


def test_a_picture_that_came_without_a_word_stays_too():
    shown = UserMessage(blocks=(SHOT, PLAN))
    assert words_under_way([shown], 1, 1_000) == ("",)
    assert images_under_way([shown], 1, 9) == ((2,), ("",))
    plan = HistoryCompacted(reason=CompactionReason.FULL, kept=0, summary="It.", words=("",), images=(2,))
    assert shrunk([shown], plan)[1:] == [shown]


REMOVED = "[The image of this output was removed to make room. Make the call again if you need it.]"


@pytest.mark.parametrize(
    ("blocks", "left"),
    [((SHOT,), REMOVED), ((TextBlock(text="shot.png, 1 by 1"), SHOT), f"shot.png, 1 by 1\n{REMOVED}")],
)
def test_the_model_is_told_of_an_image_that_was_taken_out_of_an_output(blocks, left):
    calls = reply("", call("c1", "look"))
    results = ResultsMessage(results=(ToolResult(call_id="c1", outcome=Outcome.OK, blocks=blocks),))
    plan = HistoryCompacted(reason=CompactionReason.FULL, kept=2, shortened=("c1",), shortened_to=1_000)
    after = shrunk([calls, results], plan)
    assert after[1].results[0].blocks == (TextBlock(text=left),)
    assert still_there(after) == ({"c1"}, frozenset())


async def test_a_refusal_with_a_reason_gives_another_summary():
    reader = Reader(Deny(feedback="keep the ticket number"), *[Approve()] * 9)
    stage = staged(Clever(*looking(14)), judges=Judges(approver=reader))
    await talked(stage, 14)
    assert "keep the ticket number" in stage.model.asked[1].messages[0].text


async def test_where_the_mode_lets_things_happen_nobody_is_asked():
    stage = staged(Clever(*looking(14)), judges=Judges(approver=Reader(), reviews=lambda: False))
    await talked(stage, 14)
    assert any(event.summary for event in stage.of(HistoryCompacted))


async def test_compact_sums_up_at_once_with_a_focus_and_keeps_the_turn_count():
    model = Clever(*looking(3), reply("Next."))
    stage = staged(model, size=200_000)
    await talked(stage, 3)
    await stage.session.compact("the discount")
    assert "the discount" in model.asked[0].messages[0].text
    [compaction] = stage.of(HistoryCompacted)
    assert compaction.reason is CompactionReason.WANTED
    assert (await stage.send("Go on.")).turn == 5


async def test_a_summary_that_makes_nothing_shorter_is_not_used():
    stage = staged(Clever(reply("Ok."), reply("Fine."), summaries=["long " * 200]), size=200_000)
    await talked(stage, 2)
    before = stage.session.messages
    await stage.session.compact()
    assert stage.session.messages == before
    assert "no shorter" in stage.of(NoticeGiven)[-1].text


async def test_compact_during_a_turn_happens_before_its_next_request():
    async def compact(say, progress):
        await stage.session.compact()
        return "asked for"

    model = Clever(*looking(3), reply("", call("k", "squeeze")), reply("Done."))
    stage = Stage(model, Probe("look", talk), Probe("squeeze", compact), limits=FAST)
    await talked(stage, 3)
    assert (await stage.send("Now.")).text == "Done."
    assert len(stage.of(HistoryCompacted)) == 1


async def test_a_message_typed_while_the_conversation_is_summed_up_is_delivered_once():
    model = Clever(*looking(3), reply("Heard."))
    gate = asyncio.Event()

    async def wait():
        stage.session.steer("and the negative ones")
        gate.set()
        return Approve()

    stage = staged(model, size=200_000, judges=Judges(approver=Reader(wait)))
    await talked(stage, 3)
    await stage.session.compact()
    assert gate.is_set()
    assert [event.text for event in stage.of(MessageDelivered)] == ["and the negative ones"]
    assert stage.of(MessagesReturned) == []
    assert model.requests[-1].messages[-1].text == "and the negative ones"


async def test_stopping_while_a_summary_is_read_stops_the_turn_and_keeps_the_history():
    async def never():
        await asyncio.Event().wait()

    stage = staged(Clever(*looking(3)), size=200_000, judges=Judges(approver=Reader(never)))
    await talked(stage, 3)
    before = stage.session.messages
    task = asyncio.ensure_future(stage.session.compact())
    await asyncio.sleep(0.02)
    stage.session.steer("later")
    await stage.session.cancel()
    await task
    assert stage.events[-1].reason is TurnEnd.CANCELLED
    assert stage.session.messages == before
    assert [event.text for event in stage.of(MessagesReturned)] == ["later"]


async def test_a_compaction_that_cannot_be_recorded_leaves_the_history_as_it_was():
    stage = staged(Clever(*looking(3)), size=200_000)
    await talked(stage, 3)
    before = stage.session.messages
    stage.journal.refuses = lambda event: isinstance(event, HistoryCompacted)
    await stage.session.compact()
    assert stage.events[-1].reason is TurnEnd.ERROR
    assert stage.session.messages == before


async def test_what_a_summary_costs_is_counted_but_is_no_part_of_the_window():
    stage = staged(Clever(*looking(3)), size=200_000)
    await talked(stage, 3)
    cost = stage.of(UsageReported)[-1].cost
    await stage.session.compact()
    assert stage.of(UsageReported)[-1].cost == cost + 1
    assert stage.of(ContextMeasured)[-1].tokens == stage.of(HistoryCompacted)[-1].after


async def test_the_person_is_asked_at_the_cost_limit_and_the_turn_goes_on():
    model = Model(*[reply("", call(f"c{at}", "look")) for at in range(4)], reply("Done."))
    reader = Reader(Approve(), Deny())
    stage = Stage(model, Probe("look", talk), limits=replace(FAST, max_cost=2.0), judges=Judges(approver=reader))
    ended = await stage.send()
    assert ended.reason is TurnEnd.BUDGET
    assert len(model.requests) == 4
    assert [question.tool for question in reader.questions] == ["limit", "limit"]


async def test_the_person_is_asked_at_the_step_limit_and_the_turn_goes_on():
    model = Model(*[reply("", call(f"c{at}", "look")) for at in range(3)], reply("Done."))
    stage = Stage(model, Probe("look", talk), limits=replace(FAST, steps=2), judges=Judges(approver=Reader(Approve())))
    assert (await stage.send()).text == "Done."


async def test_stopping_at_the_question_stops_the_turn():
    async def never():
        await asyncio.Event().wait()

    model = Model(*[reply("", call(f"c{at}", "look")) for at in range(3)])
    stage = Stage(model, Probe("look", talk), limits=replace(FAST, steps=1), judges=Judges(approver=Reader(never)))
    turn = asyncio.ensure_future(stage.session.send("Do it."))
    await asyncio.sleep(0.05)
    await stage.session.cancel()
    assert (await turn).reason is TurnEnd.CANCELLED


async def test_the_meter_follows_the_provider_and_estimates_in_between():
    counted = Usage(input_tokens=3_000, output_tokens=100)
    model = Model(reply("", call("c1", "look"), usage=counted), reply("Done.", usage=counted))
    stage = staged(model, size=10_000)
    await stage.send()
    first, second = stage.of(ContextMeasured)
    assert first.tokens < 3_000
    assert second.tokens > 3_100
    assert stage.session.context().used == 3_100


async def test_context_says_what_fills_the_window(tmp_path):
    steps = [call("c1", "look", say="a"), call("c2", "write", path="a.py", content="x" * 900)]
    stage = Stage(Model(reply("", *steps), reply("Done.")), Probe("look", talk), Write(tmp_path), limits=FAST)
    await stage.send("Look.")
    report = stage.session.context()
    assert report.is_estimate
    assert sum(part.tokens for part in report.parts) == report.used
    assert report.by_tool[0].name == "look"
    assert [part.name for part in report.by_file] == ["a.py"]
    assert (report.window, report.compact_at) == (200_000, 0.85)


@pytest.fixture(params=["messages", "chat", "responses"])
async def provider(request, model_server):
    match request.param:
        case "messages":
            provider = AnthropicProvider("claude-test", "key", model_server.url)
        case "chat":
            provider = OpenAIChatProvider("chat-test", "key", model_server.openai_url)
        case _:
            provider = OpenAIProvider("gpt-test", "key", model_server.openai_url)
    yield provider
    await provider.aclose()


@pytest.mark.parametrize("resumes", [False, True])
async def test_a_strict_service_takes_the_compacted_history(provider, model_server, resumes):
    looks = [one for _ in range(8) for one in (say("", Call("look", {"say": "it"})), say("Fine. " * 60))]
    counted = [replace(one, tokens=Tokens(input=3_500, output=10)) for one in looks]
    model_server.reply(
        *counted, say("## Task\nSUMMARY"), say("After."), say("", Call("look", {"say": "it"})), say("Last.")
    )
    stage = staged(provider, size=200_000)
    await talked(stage, 8)
    await stage.session.compact()
    if resumes:
        stage = Stage(provider, Probe("look", talk), history=restore(stage.journal.events), limits=FAST)
    assert (await stage.send("And now?")).text == "After."
    assert (await stage.send("And then?")).text == "Last."
    assert model_server.refusals == []
    assert "SUMMARY" in model_server.requests[-1].raw.decode()
    assert "Request 0." not in model_server.requests[-1].raw.decode()
