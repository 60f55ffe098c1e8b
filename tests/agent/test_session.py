from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.approvals import Approve
from codeagent.core.errors import ProviderUnavailable, SessionBusy
from codeagent.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    Delivery,
    HistoryAppended,
    MessageDelivered,
    MessageQueued,
    MessagesReturned,
    ReplyEnded,
    StepStarted,
    TextStreamed,
    ToolEnded,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import ImageBlock, Origin, Outcome, StopReason
from codeagent.core.protocols import Allowed, CallPiece, ReplyFinished, TextPiece, ToolContext
from tests.agent.stage import (
    FixedPlan,
    FreeProbe,
    Model,
    Person,
    Probe,
    Read,
    Shell,
    ShellArguments,
    Stage,
    SteadyProbe,
    Write,
    call,
    reply,
    said,
)


def is_running_text(event):
    return isinstance(event, ToolProgressed)


def texts(request):
    return [message.text for message in request.messages if message.kind == "user"]


async def test_a_turn_begins_and_ends_once_and_answers():
    stage = Stage(Model(reply("Hello.")))
    ended = await stage.send("Hi")
    assert (ended.reason, ended.text, ended.turn) == (TurnEnd.DONE, "Hello.", 1)
    assert [event.text for event in stage.of(TurnStarted)] == ["Hi"]
    assert stage.events[-1] == ended


async def test_a_second_turn_at_the_same_time_is_refused(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="echo x; sleep 0.2"))), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    with pytest.raises(SessionBusy):
        await stage.session.send("me too")
    await turn


async def test_turns_are_numbered_on_after_a_resume():
    first = Stage(Model(reply("One.")))
    await first.send()
    second = Stage(Model(reply("Two.")), history=first.session.messages)
    assert (await second.send()).turn == 2


async def test_a_new_turn_can_start_as_soon_as_the_end_is_told():
    stage = Stage(Model(reply("One."), reply("Two.")))
    running = []
    stage.listeners.append(
        lambda event: running.append(stage.session.is_running) if isinstance(event, TurnEnded) else None
    )
    await stage.send()
    assert running == [False]


# --- steering ------------------------------------------------------------------------------------


async def test_steering_skips_calls_that_have_not_started_and_follows_all_results(tmp_path):
    model = Model(
        reply("", call("c1", "bash", command="echo go; sleep 0.2"), call("c2", "bash", command="touch second"))
    )
    stage = Stage(model, Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    message_id = stage.session.steer("use the other file")
    await turn
    results = stage.results()
    assert results["c1"].outcome is Outcome.OK
    assert (results["c2"].outcome, results["c2"].code) == (Outcome.SKIPPED, "SKIPPED")
    assert not (tmp_path / "second").exists()
    after = model.requests[1].messages
    assert [message.kind for message in after[-2:]] == ["results", "user"]
    assert after[-1].origin is Origin.STEERING
    assert [(event.message_id, event.step) for event in stage.of(MessageDelivered)] == [(message_id, 2)]


async def test_steering_cancels_a_running_call_whose_tool_allows_it():
    async def long(say, progress):
        progress("begun")
        await asyncio.sleep(30)
        return "never"

    stage = Stage(Model(reply("", call("c1", "p"))), FreeProbe("p", long))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.steer("stop looking")
    await asyncio.wait_for(turn, 5)
    result = stage.results()["c1"]
    assert (result.outcome, result.code) == (Outcome.CANCELLED, "MADE_WAY")
    assert "begun" in result.text
    assert [event.makes_way for event in stage.of(ToolRunning)] == [True]


async def test_steering_lets_a_running_call_finish_whose_tool_does_not_allow_it():
    async def long(say, progress):
        progress("begun")
        await asyncio.sleep(0.1)
        return "whole"

    stage = Stage(Model(reply("", call("c1", "p"))), SteadyProbe("p", long))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.steer("hm")
    await turn
    assert stage.results()["c1"].text == "whole"
    assert [event.makes_way for event in stage.of(ToolRunning)] == [False]


async def test_steering_leaves_an_open_question_open_and_follows_its_answer(tmp_path):
    person = Person()
    model = Model(reply("", call("c1", "write", path="a", content="x"), call("c2", "write", path="a", content="y")))
    stage = Stage(model, Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ApprovalAsked))
    stage.session.steer("also b")
    assert stage.of(MessageQueued)[0].waits_for == "your answer to write a"
    await asyncio.sleep(0.05)
    assert stage.of(ApprovalSettled) == []
    await person.answer(Approve())
    await turn
    assert (tmp_path / "a").read_text() == "x"
    assert stage.results()["c2"].outcome is Outcome.SKIPPED
    assert texts(model.requests[1])[-1] == "also b"


async def test_steering_during_a_reply_does_not_cut_it_but_its_calls_are_skipped(tmp_path):
    go = asyncio.Event()

    async def streaming(request):
        yield TextPiece(text="I will")
        await go.wait()
        yield ReplyFinished(message=reply("I will write.", call("c1", "write", path="a", content="x")))

    model = Model(streaming, reply("All right."))
    stage = Stage(model, Write(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, TextStreamed))
    stage.session.steer("rather not")
    go.set()
    ended = await turn
    assert ended.text == "All right."
    assert stage.results()["c1"].outcome is Outcome.SKIPPED
    assert model.requests[1].messages[1].text == "I will write."
    assert not (tmp_path / "a").exists()


async def test_a_queued_message_says_what_it_waits_for(tmp_path):
    waits = []

    async def streaming(request):
        yield TextPiece(text="I will")
        stage.session.follow_up("later")
        stage.session.steer("now")
        waits.extend(event.waits_for for event in stage.of(MessageQueued))
        yield ReplyFinished(message=reply("I will."))

    stage = Stage(Model(streaming, reply("", call("c1", "bash", command="echo go; sleep 0.2"))), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.steer("and this")
    await turn
    assert waits == ["the model to finish", "the end of this reply"]
    assert stage.of(MessageQueued)[-1].waits_for == "bash echo go; sleep 0.2"


async def test_a_queued_message_names_a_command_as_the_person_changed_it(tmp_path):
    shell = Shell(tmp_path)

    class Changing:
        async def check(self, call, plan):
            mine = await shell.plan(ShellArguments(command="echo go; sleep 0.1"), ToolContext(call_id=call.id))
            return Allowed(plan=mine, was_asked=True)

    model = Model(reply("", call("c1", "bash", command="echo proposed")), reply("Done."))
    stage = Stage(model, shell, gate=Changing())
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.steer("and this")
    await turn
    assert stage.of(MessageQueued)[-1].waits_for == "bash echo go; sleep 0.1"


async def test_several_steering_messages_arrive_in_order_each_once(tmp_path):
    model = Model(reply("", call("c1", "bash", command="echo go; sleep 0.2")))
    stage = Stage(model, Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send("start"))
    await stage.until(is_running_text)
    for text in ("one", "two", "three"):
        stage.session.steer(text)
    await turn
    assert texts(model.requests[1]) == ["start", "one", "two", "three"]
    assert len(model.requests) == 2


async def test_steering_after_the_last_call_still_gets_its_answer():
    async def streaming(request):
        yield TextPiece(text="Fi")
        stage.session.steer("one more thing")
        yield ReplyFinished(message=reply("Finished."))

    model = Model(streaming, reply("Done too."))
    stage = Stage(model)
    ended = await stage.send()
    assert ended.text == "Done too."
    assert texts(model.requests[1])[-1] == "one more thing"


async def test_a_follow_up_waits_until_the_model_stops_calling_tools(tmp_path):
    model = Model(
        reply("", call("c1", "bash", command="echo go; sleep 0.1")),
        reply("", call("c2", "bash", command="true")),
        reply("Finished."),
        reply("And tests."),
    )
    stage = Stage(model, Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.follow_up("then write tests")
    ended = await turn
    assert ended.text == "And tests."
    assert all(result.outcome is Outcome.OK for result in stage.results().values())
    assert texts(model.requests[2]) == ["Do it."]
    assert texts(model.requests[3])[-1] == "then write tests"
    assert stage.of(MessageDelivered)[0].delivery is Delivery.FOLLOW_UP


async def test_steering_goes_before_follow_ups():
    async def streaming(request):
        yield TextPiece(text="Fi")
        stage.session.follow_up("later")
        stage.session.steer("now")
        yield ReplyFinished(message=reply("Finished."))

    model = Model(streaming, reply("Now done."), reply("Later done."))
    stage = Stage(model)
    await stage.send("start")
    assert texts(model.requests[1]) == ["start", "now"]
    assert texts(model.requests[2]) == ["start", "now", "later"]


async def test_a_message_taken_back_never_reaches_the_model(tmp_path):
    model = Model(reply("", call("c1", "bash", command="echo go; sleep 0.2")))
    stage = Stage(model, Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    message_id = stage.session.steer("oh no")
    assert stage.session.take_back(message_id) == "oh no"
    assert stage.session.take_back(message_id) is None
    assert [event.message_ids for event in stage.of(MessagesReturned)] == [(message_id,)]
    await turn
    assert texts(model.requests[1]) == ["Do it."]


async def test_a_follow_up_taken_back_at_the_last_moment_lets_the_turn_end():
    async def streaming(request):
        yield TextPiece(text="Fi")
        ids.append(stage.session.follow_up("later"))
        yield ReplyFinished(message=reply("Finished."))

    ids = []
    stage = Stage(Model(streaming))
    stage.listeners.append(
        lambda event: stage.session.take_back(ids[0]) if event.kind == "usage_reported" and ids else None
    )
    assert (await stage.send()).text == "Finished."
    assert len(stage.model.requests) == 1


async def test_a_message_typed_while_nothing_runs_goes_straight_back():
    stage = Stage(Model())
    message_id = stage.session.steer("hello?")
    assert [event.message_ids for event in stage.of(MessagesReturned)] == [(message_id,)]
    await stage.send()
    assert texts(stage.model.requests[0]) == ["Do it."]


async def test_steering_opens_a_tool_that_was_switched_off(tmp_path):
    model = Model(
        reply("", *(call(f"c{n}", "read", path=f"no{n}") for n in range(3))),
        reply("", call("w", "bash", command="echo go; sleep 0.2; exit 3")),
        reply("", call("c4", "read", path="no"), call("c5", "read", path="none")),
    )
    stage = Stage(model, Read(tmp_path), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.steer("try again")
    await turn
    assert {stage.results()[one].outcome for one in ("c4", "c5")} == {Outcome.FAILED}


# --- stopping ------------------------------------------------------------------------------------


async def test_stopping_kills_the_command_skips_the_rest_and_the_next_request_is_valid(tmp_path):
    model = Model(
        reply("", call("c1", "bash", command="echo $$ > pid; echo go; exec sleep 30"), call("c2", "read", path="a")),
        reply("Fine."),
    )
    stage = Stage(model, Shell(tmp_path), Read(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    await asyncio.wait_for(stage.session.cancel(), 5)
    ended = await turn
    assert ended.reason is TurnEnd.CANCELLED
    results = stage.results()
    assert (results["c1"].outcome, results["c1"].code) == (Outcome.CANCELLED, "ABORTED")
    assert (results["c2"].outcome, results["c2"].code) == (Outcome.CANCELLED, "ABORTED_BEFORE_DISPATCH")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    await stage.send("go on")
    assert [message.kind for message in model.requests[-1].messages] == ["user", "assistant", "results", "user"]


async def test_stopping_a_second_time_hurries_what_takes_its_time_to_end():
    begun, hurried = asyncio.Event(), asyncio.Event()

    class SlowEnd(FixedPlan):
        def hurry(self):
            hurried.set()

    class SlowTool(Probe):
        async def plan(self, arguments, context):
            async def run(progress):
                begun.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    await hurried.wait()

            return SlowEnd((), run)

    stage = Stage(Model(reply("", call("c1", "slow"))), SlowTool("slow", None))
    turn = asyncio.ensure_future(stage.send())
    await begun.wait()
    first = asyncio.ensure_future(stage.session.cancel())
    await asyncio.sleep(0.01)
    assert not hurried.is_set()
    await asyncio.wait_for(stage.session.cancel(), 30)
    await first
    assert (await turn).reason is TurnEnd.CANCELLED
    assert stage.results()["c1"].code == "ABORTED"


async def test_stopping_never_cuts_a_write_and_its_result_counts(tmp_path):
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="whole"))), Write(tmp_path, seconds=0.3))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: event.kind == "tool_previewed")
    await asyncio.sleep(0.1)
    await stage.session.cancel()
    ended = await turn
    assert (tmp_path / "a").read_text() == "whole"
    assert stage.results()["c1"].outcome is Outcome.OK
    assert ended.reason is TurnEnd.CANCELLED


async def test_stopping_withdraws_open_questions_and_nothing_is_done(tmp_path):
    person = Person()
    calls = (call("c1", "write", path="a", content="x"), call("c2", "write", path="b", content="x"))
    stage = Stage(Model(reply("", *calls)), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ApprovalAsked) and len(stage.of(ApprovalAsked)) == len(calls))
    await stage.session.cancel()
    await turn
    assert [event.answer.kind for event in stage.of(ApprovalSettled)] == ["withdraw", "withdraw"]
    assert {result.code for result in stage.results().values()} == {"ABORTED"}
    assert list(tmp_path.iterdir()) == []


async def test_stopping_a_reply_keeps_and_marks_what_was_written():
    async def endless(request):
        yield TextPiece(text="The answer is ")
        yield CallPiece(name="bash", size=10)
        await asyncio.sleep(30)

    stage = Stage(Model(endless))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: event.kind == "call_delta")
    await asyncio.wait_for(stage.session.cancel(), 1)
    ended = await turn
    partial = stage.session.messages[-1]
    assert (ended.reason, ended.text) == (TurnEnd.CANCELLED, "The answer is")
    assert partial.stop is StopReason.CANCELLED
    assert partial.text.startswith("The answer is")
    assert "stopped this reply" in partial.text
    assert [event.discarded for event in stage.of(ReplyEnded)] == [False]
    await stage.send("and?")


async def test_stopping_closes_the_stream_of_the_model():
    closed = []

    async def endless(request):
        try:
            yield TextPiece(text="x")
            await asyncio.sleep(30)
        finally:
            closed.append(True)

    stage = Stage(Model(endless))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, TextStreamed))
    await stage.session.cancel()
    await turn
    assert closed == [True]


async def test_stopping_while_a_retry_is_awaited_ends_at_once():
    stage = Stage(Model(ProviderUnavailable("busy", retry_after=60)))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: event.kind == "retry_scheduled")
    await asyncio.wait_for(stage.session.cancel(), 1)
    assert (await turn).reason is TurnEnd.CANCELLED


async def test_stopping_gives_queued_messages_back_in_order(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="echo go; sleep 30"))), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    ids = (stage.session.follow_up("first"), stage.session.steer("second"))
    await stage.session.cancel()
    await turn
    returned = stage.of(MessagesReturned)
    assert [(event.message_ids, event.text) for event in returned] == [(ids, "first\n\nsecond")]
    assert stage.of(MessageDelivered) == []
    assert stage.events.index(returned[0]) < stage.events.index(stage.of(TurnEnded)[0])


async def test_messages_left_by_an_error_are_given_back():
    async def failing(request):
        yield TextPiece(text="x")
        stage.session.steer("hello")
        raise RuntimeError("bug")

    stage = Stage(Model(failing))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert [event.text for event in stage.of(MessagesReturned)] == ["hello"]


async def test_a_message_that_cannot_be_written_down_is_given_back(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="echo go; sleep 0.2"))), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.journal.refuses = lambda event: event.kind == "history_appended" and event.message.kind == "user"
    stage.session.steer("one")
    stage.session.steer("two")
    assert (await turn).reason is TurnEnd.ERROR
    assert [event.text for event in stage.of(MessagesReturned)] == ["one\n\ntwo"]


async def test_stopping_twice_or_when_idle_is_harmless(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="echo go; sleep 30"))), Shell(tmp_path))
    await stage.session.cancel()
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    async with asyncio.TaskGroup() as group:
        group.create_task(stage.session.cancel())
        group.create_task(stage.session.cancel())
    await turn
    assert len(stage.of(TurnEnded)) == 1


async def test_stopping_before_the_first_request_ends_the_turn():
    stage = Stage(Model())
    stops = []
    stage.listeners.append(
        lambda event: (
            stops.append(asyncio.ensure_future(stage.session.cancel())) if isinstance(event, TurnStarted) else None
        )
    )
    assert (await stage.send()).reason is TurnEnd.CANCELLED
    await stops[0]
    assert stage.model.requests == []


async def test_stopping_wins_over_steering(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="echo go; sleep 30"))), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.steer("x")
    await stage.session.cancel()
    assert (await turn).reason is TurnEnd.CANCELLED
    assert len(stage.model.requests) == 1


async def test_a_cancelled_caller_leaves_an_ended_turn_behind(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="echo go; sleep 30"))), Shell(tmp_path))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert stage.of(TurnEnded)[0].reason is TurnEnd.CANCELLED
    assert stage.results()["c1"].outcome is Outcome.CANCELLED
    stage.assert_promises()


async def test_nothing_of_a_turn_comes_after_its_end():
    late = []

    async def leaky(say, progress):
        late.append(progress)
        return "done"

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", leaky))
    await stage.send()
    late[0]("later")
    stage.session.steer("hello")
    after = stage.events[stage.events.index(stage.of(TurnEnded)[0]) + 1 :]
    assert [event.kind for event in after] == ["message_queued", "messages_returned"]


# --- the rest ------------------------------------------------------------------------------------


async def test_going_on_after_the_step_limit_needs_no_new_words(tmp_path):
    model = Model(reply("", call("c1", "bash", command="true")), reply("Finished."))
    stage = Stage(model, Shell(tmp_path), limits=Limits(steps=1))
    assert (await stage.send()).reason is TurnEnd.STEP_LIMIT
    ended = await stage.session.go_on()
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Finished.")
    assert model.requests[1].messages[-1].kind == "results"


async def test_going_on_after_an_answer_says_so_to_the_model():
    stage = Stage(Model(reply("One."), reply("Two.")))
    await stage.send()
    assert (await stage.session.go_on()).text == "Two."
    assert stage.session.messages[2].origin is Origin.HARNESS


async def test_another_model_answers_from_the_next_request_on(tmp_path):
    other = Model(reply("From the other."))
    first = Model(reply("", call("c1", "bash", command="true")))
    stage = Stage(first, Shell(tmp_path))
    stage.listeners.append(lambda event: stage.session.set_provider(other) if isinstance(event, ToolStarted) else None)
    assert (await stage.send()).text == "From the other."
    assert len(first.requests) == 1


async def test_the_persons_own_command_is_shown_with_the_next_message():
    stage = Stage(Model(reply("I see.")))
    stage.session.add_shell_result("make", said("", "it broke"))
    assert stage.session.messages == ()
    await stage.send("why?")
    shell, words = stage.model.requests[0].messages
    assert (shell.origin, words.text) == (Origin.SHELL, "why?")
    assert "$ make" in shell.text
    assert "it broke" in shell.text


async def test_the_persons_own_command_is_written_down_at_once_and_during_a_turn_at_its_end(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="true")), reply("I see."), reply("Yes.")), Shell(tmp_path))
    stage.session.add_shell_result("make", said("", "it broke"))
    await stage.session.keep_asides()
    assert ["$ make" in message.text for message in stage.session.messages] == [True]

    def run_another(event):
        if isinstance(event, ToolStarted):
            stage.session.add_shell_result("make again", said("", "it works"))

    stage.listeners.append(run_another)
    await stage.send("why?")
    assert [message.kind for message in stage.session.messages][-2:] == ["assistant", "user"]
    assert "$ make again" in stage.session.messages[-1].text
    kept = [event.message.text for event in stage.of(HistoryAppended) if event.message.kind == "user"]
    assert [text.splitlines()[1] for text in kept if "$ " in text] == ["$ make", "$ make again"]


async def test_images_go_with_the_message_that_was_said_meanwhile(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="true")), reply("A cat.")), Shell(tmp_path))
    cat, dog = (ImageBlock(media_type="image/png", data="AAAA", name=name) for name in ("cat", "dog"))

    def say_more(event):
        if isinstance(event, ToolStarted):
            stage.session.steer("and this", (dog,))

    stage.listeners.append(say_more)
    await stage.session.send("look", (cat,))
    said = [message for message in stage.model.requests[-1].messages if message.kind == "user"]
    assert [[block for block in message.blocks if block.kind == "image"] for message in said] == [[cat], [dog]]


async def test_what_is_sent_can_always_be_stored():
    stage = Stage(Model())
    await stage.session.send("half \udce9")
    await stage.session.send("   ")
    assert [message.text for message in stage.session.messages if message.kind == "user"] == ["half �", "(nothing)"]


async def test_ends_of_calls_and_steps_are_in_the_journal_and_streams_are_not(tmp_path: Path):
    stage = Stage(Model(reply("x", call("c1", "bash", command="echo hi"))), Shell(tmp_path))
    await stage.send()
    kinds = {type(event) for event in stage.journal.events}
    assert {TurnStarted, StepStarted, ToolStarted, ToolEnded, TurnEnded} <= kinds
    assert not kinds & {TextStreamed, ToolProgressed, ReplyEnded}


async def test_a_turn_ends_in_words_even_when_the_disk_is_full():
    stage = Stage(Model())
    stage.journal.refuses = lambda event: True
    ended = await stage.session.send("Hi")
    assert (ended.reason, ended.text) == (TurnEnd.ERROR, "The disk is full.")
    assert not stage.session.is_running


def told(*news):
    waiting = list(news)
    return lambda: waiting.pop(0) if waiting else ""


async def test_news_goes_to_the_model_before_the_persons_words():
    model = Model(reply("Good."))
    stage = Stage(model, news=told("job 1 is over"))
    await stage.send("Hi")
    assert texts(model.requests[0]) == ["job 1 is over", "Hi"]


async def test_news_during_a_turn_follows_the_results():
    async def act(say, progress):
        return "done"

    model = Model(reply("", call("c1", "p")), reply("Good."))
    stage = Stage(model, Probe("p", act), news=told("", "", "job 1 is over"))
    await stage.send("Hi")
    assert [message.kind for message in model.requests[1].messages] == ["user", "assistant", "results", "user"]
    assert texts(model.requests[1]) == ["Hi", "job 1 is over"]


async def test_news_alone_starts_no_request():
    model = Model(reply("Good."))
    stage = Stage(model, news=told("", "", "job 1 is over"))
    await stage.send("Hi")
    assert len(model.requests) == 1


async def test_one_call_can_be_stopped_and_the_turn_goes_on(tmp_path):
    model = Model(reply("", call("c1", "bash", command="echo go; sleep 30"), call("c2", "p")), reply("Over."))

    async def act(say, progress):
        return "ran"

    stage = Stage(model, Shell(tmp_path), Probe("p", act))
    turn = asyncio.ensure_future(stage.send())
    await stage.until(is_running_text)
    stage.session.stop_call("c1")
    ended = await asyncio.wait_for(turn, 5)
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Over.")
    results = stage.results()
    assert results["c1"].outcome is Outcome.CANCELLED
    assert "the person stopped this call" in results["c1"].text
    assert "go" in results["c1"].text
    assert results["c2"].text == "ran"


async def test_stopping_a_call_that_is_not_under_way_changes_nothing():
    stage = Stage(Model(reply("Good.")))
    stage.session.stop_call("c9")
    assert (await stage.send("Hi")).reason is TurnEnd.DONE
