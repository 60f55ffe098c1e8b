from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from codeagent.agent.limits import Limits
from codeagent.core.approvals import Access, Approve, CommandPreview, Deny, Touch
from codeagent.core.errors import FileProblem
from codeagent.core.events import ApprovalAsked, ApprovalSettled, ToolEnded, ToolPreviewed, ToolProgressed, ToolStarted
from codeagent.core.messages import ImageBlock, Outcome, TextBlock, ToolResult
from codeagent.core.protocols import Allowed, Offer
from tests.agent.stage import (
    FAST,
    FixedPlan,
    FreeProbe,
    Model,
    Person,
    Probe,
    Read,
    Shell,
    Stage,
    Write,
    call,
    reply,
    said,
)


async def outcome_of(stage: Stage, call_id: str = "c1") -> ToolResult:
    await stage.send()
    return stage.results()[call_id]


async def test_a_call_is_started_previewed_and_ended_and_its_result_reaches_the_model(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    stage = Stage(Model(reply("", call("c1", "read", path="a.txt"))), Read(tmp_path))
    assert (await outcome_of(stage)).text == "hello"
    kinds = [type(event) for event in stage.events if isinstance(event, (ToolStarted, ToolPreviewed, ToolEnded))]
    assert kinds == [ToolStarted, ToolPreviewed, ToolEnded]
    assert stage.model.requests[1].messages[-1].results[0].text == "hello"


async def test_the_preview_names_the_object_of_the_call(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    stage = Stage(Model(reply("", call("c1", "read", path="a.txt"))), Read(tmp_path))
    await stage.send()
    assert stage.of(ToolPreviewed)[0].label == "a.txt"


async def test_an_unknown_tool_is_answered_with_the_known_ones(tmp_path):
    stage = Stage(Model(reply("", call("c1", "raed", path="a"))), Read(tmp_path), Shell(tmp_path))
    result = await outcome_of(stage)
    assert (result.outcome, result.code) == (Outcome.FAILED, "UNKNOWN_TOOL")
    assert "bash, read" in result.text


async def test_bad_arguments_fail_with_every_problem_and_nothing_runs(tmp_path):
    stage = Stage(Model(reply("", call("c1", "write", content=5, extra=1))), Write(tmp_path))
    result = await outcome_of(stage)
    assert result.code == "BAD_ARGUMENTS"
    assert all(word in result.text for word in ("path", "content", "extra"))
    assert list(tmp_path.iterdir()) == []


async def test_cut_off_arguments_are_never_run(tmp_path):
    raw = '{"command":"touch half; rm -rf build/tm'
    stage = Stage(Model(reply("", call("c1", "bash", raw))), Shell(tmp_path))
    result = await outcome_of(stage)
    assert result.code == "BAD_ARGUMENTS"
    assert raw in result.text
    assert list(tmp_path.iterdir()) == []


async def test_started_and_history_keep_the_models_words_while_the_plan_sees_mended_values(tmp_path):
    raw = '"{\\"path\\": \\"a.txt\\", \\"content\\": \\"x\\"}"'
    stage = Stage(Model(reply("", call("c1", "write", raw))), Write(tmp_path))
    await stage.send()
    assert (tmp_path / "a.txt").read_text() == "x"
    assert stage.of(ToolStarted)[0].arguments_json == raw
    assert stage.session.messages[1].calls[0].arguments_json == raw


async def test_a_failure_of_the_tool_is_told_to_the_model_with_its_code(tmp_path):
    stage = Stage(Model(reply("", call("c1", "read", path="none.txt"))), Read(tmp_path))
    result = await outcome_of(stage)
    assert (result.outcome, result.code) == (Outcome.FAILED, "FILE_PROBLEM")


async def test_a_bug_in_a_tool_is_its_own_failure_and_the_turn_goes_on(caplog):
    async def broken(say, progress):
        raise ZeroDivisionError("oops")

    stage = Stage(Model(reply("", call("c1", "probe")), reply("Never mind.")), Probe("probe", broken))
    ended = await stage.send()
    assert stage.results()["c1"].outcome is Outcome.INTERNAL
    assert ended.text == "Never mind."
    assert "ZeroDivisionError" in caplog.text


async def test_a_refused_plan_asks_nobody(tmp_path):
    class Refusing(Probe):
        async def plan(self, arguments, context):
            raise FileProblem("no such thing")

    person = Person()
    stage = Stage(Model(reply("", call("c1", "probe"))), Refusing("probe", None), gate=person)
    await stage.send()
    assert stage.of(ApprovalAsked) == []
    assert stage.of(ToolPreviewed) == []


async def test_a_denial_tells_the_model_what_the_person_typed(tmp_path):
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await person.answer(Deny(feedback="use b instead"))
    ended = await turn
    result = stage.results()["c1"]
    assert (result.outcome, result.code) == (Outcome.DENIED, "DENIED")
    assert "use b instead" in result.text
    assert not (tmp_path / "a").exists()
    assert len(ended.denials) == 1
    assert ended.denials[0].startswith("write a: ")


async def test_a_long_call_that_was_denied_is_told_in_a_few_words(tmp_path):
    person = Person()
    stage = Stage(
        Model(reply("", call("c1", "bash", command="echo one\n" + "echo two\n" * 300_000))),
        Shell(tmp_path),
        gate=person,
    )
    turn = asyncio.ensure_future(stage.send())
    await person.answer(Deny(feedback="no" * 5_000))
    [denial] = (await turn).denials
    assert denial.startswith("bash echo one echo two ")
    assert "…: Not run" in denial
    assert len(denial) < 1_500


async def test_a_denial_without_words_says_not_to_work_around_it(tmp_path):
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await person.answer(Deny())
    await turn
    assert "another way" in stage.results()["c1"].text


async def test_a_gate_that_raises_is_a_denial(tmp_path, caplog):
    class Broken:
        async def check(self, call, plan):
            raise KeyError("rules")

    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=Broken())
    result = await outcome_of(stage)
    assert result.outcome is Outcome.DENIED
    assert not (tmp_path / "a").exists()
    assert "KeyError" in caplog.text


async def test_an_edited_plan_is_shown_again_and_is_what_runs(tmp_path):
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await person.answer(Approve(edited="mine"))
    await turn
    assert (tmp_path / "a").read_text() == "mine"
    assert [event.preview.proposal for event in stage.of(ToolPreviewed)] == ["x", "mine"]
    assert "The person edited the text." in stage.results()["c1"].text


async def test_a_file_that_changes_under_the_question_is_planned_and_asked_anew(tmp_path):
    target = tmp_path / "a"
    target.write_text("old")
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    _, withdrawn = await person.questions.get()
    target.write_text("changed by the person")
    request = await person.answer(Approve())
    await turn
    assert withdrawn.cancelled()
    assert "changed by the person" in str(request.preview.diff)
    assert target.read_text() == "x"


async def test_a_file_that_changes_right_before_the_write_is_asked_about_again(tmp_path):
    target = tmp_path / "a"
    target.write_text("old")
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    _, first = await person.questions.get()
    target.write_text("changed")
    first.set_result(Approve())
    request = await person.answer(Deny())
    await turn
    assert "changed" in str(request.preview.diff)
    assert target.read_text() == "changed"
    assert stage.results()["c1"].outcome is Outcome.DENIED


async def test_a_file_that_is_gone_for_a_moment_leaves_the_question_open(tmp_path):
    target, aside = tmp_path / "a", tmp_path / "aside"
    target.write_text("old")
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    _, question = await person.questions.get()
    target.rename(aside)
    await asyncio.sleep(0.6)
    aside.rename(target)
    await asyncio.sleep(1.2)
    question.set_result(Approve())
    await turn
    assert len(stage.of(ApprovalAsked)) == 1
    assert target.read_text() == "x"


async def test_a_file_that_becomes_unreadable_under_the_question_withdraws_it(tmp_path):
    target = tmp_path / "a"
    target.write_text("old")
    person = Person()
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person)
    turn = asyncio.ensure_future(stage.send())
    await person.questions.get()
    target.unlink()
    target.mkdir()
    await turn
    assert stage.of(ApprovalSettled)[0].answer.kind == "withdraw"
    assert stage.results()["c1"].is_error


async def test_a_stale_file_nobody_was_asked_about_is_a_stale_result(tmp_path):
    target = tmp_path / "a"
    target.write_text("old")

    class Meddling:
        async def check(self, call, plan):
            target.write_text("changed")
            return Allowed(plan=plan)

    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=Meddling())
    result = await outcome_of(stage)
    assert (result.outcome, result.code) == (Outcome.FAILED, "STALE")
    assert target.read_text() == "changed"


async def test_a_file_that_never_comes_to_rest_is_given_up(tmp_path):
    target = tmp_path / "a"
    target.write_text("0")
    times = 0

    class Restless:
        async def check(self, call, plan):
            nonlocal times
            times += 1
            target.write_text(str(times))
            return Allowed(plan=plan, was_asked=True)

    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=Restless())
    assert (await outcome_of(stage)).code == "STALE"
    assert times == 10


async def test_waiting_for_a_person_does_not_count_as_tool_time(tmp_path):
    person = Person()
    limits = Limits(tool_seconds=1)
    stage = Stage(
        Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), gate=person, limits=limits
    )
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, ApprovalAsked))
    await asyncio.sleep(1.2)
    await person.answer(Approve())
    await turn
    assert stage.results()["c1"].outcome is Outcome.OK
    assert stage.of(ToolEnded)[0].seconds < 1


async def test_running_out_of_time_ends_that_call_alone_and_keeps_its_output():
    async def slow(say, progress):
        progress("half way")
        await asyncio.sleep(0 if say else 30)
        return "done"

    model = Model(reply("", call("c1", "probe"), call("c2", "probe", say="quick")))
    stage = Stage(model, FreeProbe("probe", slow), limits=Limits(tool_seconds=1))
    await stage.send()
    result = stage.results()["c1"]
    assert (result.outcome, result.code) == (Outcome.TIMED_OUT, "TIMEOUT")
    assert "half way" in result.text
    assert stage.results()["c2"].outcome is Outcome.OK


async def test_a_tool_names_its_own_time_limit_or_none_at_all():
    class Patient(FreeProbe):
        def timeout(self, arguments):
            return None

    async def slow(say, progress):
        await asyncio.sleep(0.15)
        return "done"

    stage = Stage(Model(reply("", call("c1", "p"))), Patient("p", slow), limits=Limits(tool_seconds=0.05))
    assert (await outcome_of(stage)).text == "done"


async def test_a_timeout_error_of_the_tools_own_is_a_fault_not_a_time_limit(caplog):
    async def failing(say, progress):
        raise TimeoutError("a socket")

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", failing))
    assert (await outcome_of(stage)).outcome is Outcome.INTERNAL


async def test_progress_after_the_end_is_not_told():
    kept = []

    async def leaky(say, progress):
        kept.append(progress)
        progress("in time")
        return "done"

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", leaky))
    await stage.send()
    kept[0]("too late")
    assert [event.text for event in stage.of(ToolProgressed)] == ["in time"]


class Logging:
    def __init__(self, name, log, reason="", replacement=None):
        self.name, self.log, self.reason, self.replacement = name, log, reason, replacement

    async def before(self, call, plan):
        self.log.append(f"{self.name} before")
        return self.reason

    async def after(self, call, result):
        self.log.append(f"{self.name} after")
        return self.replacement or result


async def test_hooks_lie_round_the_run_like_an_onion():
    log = []

    async def act(say, progress):
        log.append("run")
        return "done"

    hooks = (Logging("outer", log), Logging("inner", log))
    await Stage(Model(reply("", call("c1", "p"))), Probe("p", act), hooks=hooks).send()
    assert log == ["outer before", "inner before", "run", "inner after", "outer after"]


async def test_a_hook_may_deny_and_the_ones_outside_it_see_the_denial():
    log = []

    async def act(say, progress):
        log.append("run")
        return "done"

    hooks = (Logging("outer", log), Logging("inner", log, reason="not on Fridays"))
    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", act), hooks=hooks)
    result = await outcome_of(stage)
    assert log == ["outer before", "inner before", "outer after"]
    assert result.outcome is Outcome.DENIED
    assert "not on Fridays" in result.text


async def test_a_hook_may_replace_the_result_but_not_whose_it_is():
    async def act(say, progress):
        return "done"

    hooks = (Logging("one", [], replacement=said("somebody-else", "replaced")),)
    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", act), hooks=hooks)
    assert (await outcome_of(stage)).text == "replaced"


async def test_a_hook_that_raises_before_the_run_keeps_it_from_running(caplog):
    class Broken(Logging):
        async def before(self, call, plan):
            raise OSError("hook")

    ran = []

    async def act(say, progress):
        ran.append(say)
        return "done"

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", act), hooks=(Broken("b", []),))
    assert (await outcome_of(stage)).outcome is Outcome.INTERNAL
    assert ran == []


async def test_a_result_that_cannot_be_written_down_is_that_tools_failure():
    async def act(say, progress):
        return "unwritable" if say else "fine"

    stage = Stage(Model(reply("", call("c1", "p", say="x"), call("c2", "p"))), Probe("p", act))
    stage.journal.refuses = lambda event: isinstance(event, ToolEnded) and event.result.text == "unwritable"
    ended = await stage.send()
    assert ended.text == "That is all."
    assert stage.results()["c1"].code == "NOT_RECORDED"
    assert stage.results()["c2"].outcome is Outcome.OK


async def test_the_end_of_a_call_is_in_the_journal_before_anybody_is_told():
    async def act(say, progress):
        return "done"

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", act))
    stage.listeners.append(
        lambda event: None if not isinstance(event, ToolEnded) else written.append(event in stage.journal.events)
    )
    written = []
    await stage.send()
    assert written == [True]


async def test_results_are_stored_as_text_that_can_be_written_and_are_never_empty():
    async def act(say, progress):
        return "bad \ud800 text" if say else ""

    stage = Stage(Model(reply("", call("c1", "p", say="x"), call("c2", "p"))), Probe("p", act))
    await stage.send()
    assert stage.results()["c1"].text == "bad � text"
    assert stage.results()["c2"].text == "(no output)"


async def test_images_in_a_result_stay():
    image = ImageBlock(media_type="image/png", data="AAAA")

    async def act(say, progress):
        return ToolResult(call_id="c1", blocks=(TextBlock(text="see"), image))

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", act))
    assert image in (await outcome_of(stage)).blocks


async def test_three_failures_switch_a_tool_off_and_a_new_prompt_switches_it_on(tmp_path):
    model = Model(
        *(reply("", call(f"c{n}", "read", path=f"no{n}")) for n in range(3)),
        reply("", call("c3", "read", path="no")),
        reply("Sorry."),
        reply("", call("c4", "read", path="no")),
    )
    stage = Stage(model, Read(tmp_path))
    await stage.send()
    assert stage.results()["c3"].outcome is Outcome.DISABLED
    await stage.send("Again.")
    assert stage.results()["c4"].outcome is Outcome.FAILED


async def test_three_failures_in_one_step_leave_the_tool_on(tmp_path):
    model = Model(
        reply("", *(call(f"c{n}", "read", path=f"no{n}") for n in range(5))),
        reply("", call("c5", "read", path="no")),
    )
    stage = Stage(model, Read(tmp_path))
    await stage.send()
    assert stage.results()["c5"].outcome is Outcome.FAILED


async def test_a_call_turned_away_while_a_trial_runs_gives_no_second_trial(tmp_path):
    async def act(say, progress):
        await asyncio.sleep(0.05 if say == "slow" else 0)
        if say != "good":
            raise FileProblem("bad")
        return "good"

    model = Model(
        *(reply("", call(f"c{n}", "p", say=f"bad {n}")) for n in range(3)),
        reply("", call("ok", "q", say="good")),
        reply("", call("trial", "p", say="slow"), call("away", "p")),
        reply("", call("after", "p")),
    )
    stage = Stage(model, FreeProbe("p", act), FreeProbe("q", act))
    await stage.send()
    outcomes = {one: result.outcome for one, result in stage.results().items()}
    assert outcomes["trial"] is Outcome.FAILED
    assert (outcomes["away"], outcomes["after"]) == (Outcome.DISABLED, Outcome.DISABLED)


async def test_running_out_of_time_three_times_switches_a_tool_off():
    async def slow(say, progress):
        await asyncio.sleep(30)
        return "never"

    steps = [reply("", call(f"c{n}", "p", say=str(n))) for n in range(4)]
    stage = Stage(Model(*steps), FreeProbe("p", slow), limits=Limits(tool_seconds=0.01))
    await stage.send()
    assert stage.results()["c2"].outcome is Outcome.TIMED_OUT
    assert stage.results()["c3"].outcome is Outcome.DISABLED


async def test_a_command_that_ran_into_its_own_limit_does_not_count():
    async def limited(say, progress):
        return ToolResult(call_id="?", blocks=(TextBlock(text="timed out after 5 s"),), outcome=Outcome.TIMED_OUT)

    steps = [reply("", call(f"c{n}", "p", say=str(n))) for n in range(5)]
    stage = Stage(Model(*steps), FreeProbe("p", limited))
    await stage.send()
    assert {result.outcome for result in stage.results().values()} == {Outcome.TIMED_OUT}


async def test_the_third_identical_call_in_a_row_gets_a_reminder(tmp_path):
    (tmp_path / "a").write_text("text")
    model = Model(*(reply("", call(f"c{n}", "read", path="a")) for n in range(4)))
    stage = Stage(model, Read(tmp_path))
    await stage.send()
    assert ["third identical" in result.text for result in stage.results().values()] == [False, False, True, False]


async def test_repetition_counts_in_call_order_whatever_ends_first(tmp_path):
    async def act(say, progress):
        await asyncio.sleep(0.05 if say == "same" else 0)
        return "done"

    calls = [call(f"c{n}", "p", say="same") for n in range(3)] + [call("c3", "p", say="other")]
    stage = Stage(Model(reply("", *calls)), FreeProbe("p", act))
    await stage.send()
    assert [one for one, result in stage.results().items() if "third identical" in result.text] == ["c2"]


async def test_a_plan_widened_by_the_person_waits_for_the_locks_it_now_needs(tmp_path):
    order = []

    async def long(say, progress):
        await asyncio.sleep(0.1)
        order.append(say)
        return "done"

    async def widened(progress):
        order.append("widened")
        return said("c2", "done")

    class Widening:
        async def check(self, call, plan):
            whole = (Touch(path=None, access=Access.WRITE),)
            return Allowed(plan=FixedPlan(whole, widened) if call.id == "c2" else plan, was_asked=True)

    class Reader(FreeProbe):
        def touches(self, arguments, context):
            return (Touch(path=tmp_path, access=Access.READ),)

    model = Model(reply("", call("c1", "p", say="first"), call("c2", "p", say="second")))
    stage = Stage(model, Reader("p", long), gate=Widening())
    await stage.send()
    assert order == ["first", "widened"]


async def test_a_reply_that_cannot_be_written_down_ends_the_turn_before_any_tool_starts(tmp_path):
    stage = Stage(Model(reply("", call("c1", "write", path="a", content="x"))), Write(tmp_path), limits=FAST)
    stage.journal.refuses = lambda event: event.kind == "history_appended" and event.message.kind == "assistant"
    ended = await stage.send()
    assert ended.reason.value == "error"
    assert stage.of(ToolStarted) == []


class Offering(FixedPlan):
    """Fails of a sandbox; its offer is a plan that works."""

    def offer(self, result):
        return Offer(plan=self.better, what="run once more")


class Offerer(Probe):
    """A command that the person may have run once more."""

    async def plan(self, arguments, context):
        async def fail(progress):
            progress("trying")
            return said(context.call_id, "held back")

        async def work(progress):
            return said(context.call_id, await self.action(arguments.say, progress))

        preview = CommandPreview(command="x", cwd=Path("/"), timeout=1)
        plan = Offering((), fail, preview)
        plan.better = FixedPlan((), work, replace(preview, held_back="The sandbox kept it."))
        return plan


async def works(say, progress):
    return "done"


async def answered(*answers, act=works):
    stage = Stage(Model(reply("", call("c1", "p"))), Offerer("p", act), gate=Person())
    turn = asyncio.ensure_future(stage.send())
    asked = [await stage.gate.answer(answer) for answer in answers]
    await turn
    return stage.results()["c1"], asked, stage


async def test_an_offer_at_the_end_of_a_run_is_asked_about_and_its_result_counts():
    result, asked, _ = await answered(Approve(), Approve())
    assert [request.preview.held_back for request in asked] == ["", "The sandbox kept it."]
    assert (result.text, result.outcome) == ("done", Outcome.OK)


async def test_an_offer_that_is_turned_down_leaves_the_first_result_and_says_so():
    result, _, _ = await answered(Approve(), Deny(feedback="never"))
    assert result.text == "held back\n[It was not run once more: The person said no. The person says: never]"
    assert result.outcome is Outcome.OK


async def test_stopping_while_an_offer_is_open_keeps_the_first_result():
    stage = Stage(Model(reply("", call("c1", "p"))), Offerer("p", works), gate=Person())
    turn = asyncio.ensure_future(stage.send())
    await stage.gate.answer(Approve())
    await stage.until(lambda event: isinstance(event, ApprovalAsked) and event.request.preview.held_back)
    await stage.session.cancel()
    await turn
    assert stage.results()["c1"].text == "held back\n[It was not run once more: the person stopped the turn.]"


async def test_an_offer_that_cannot_be_kept_leaves_the_first_result():
    async def breaks(say, progress):
        raise FileProblem("It is gone.")

    result, _, _ = await answered(Approve(), Approve(), act=breaks)
    assert "It is gone." in result.text
