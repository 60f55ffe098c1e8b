from __future__ import annotations

import asyncio

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.errors import ContextOverflow, ProviderRejected
from codeagent.core.events import HistoryAppended, Level, NoticeGiven, StepStarted, ToolStarted, TurnEnd, UsageReported
from codeagent.core.messages import Origin, StopReason, TextBlock, ThinkingBlock, Usage
from codeagent.core.protocols import ReplyFinished
from tests.agent.stage import FreeProbe, Model, Prices, Probe, Read, Shell, Stage, Write, call, reply


async def test_the_model_is_asked_again_until_it_calls_nothing(tmp_path):
    (tmp_path / "a").write_text("A")
    model = Model(
        reply("Look.", call("c1", "read", path="a")), reply("", call("c2", "read", path="a")), reply("Found it.")
    )
    stage = Stage(model, Read(tmp_path))
    ended = await stage.send()
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Found it.")
    assert [event.step for event in stage.of(StepStarted)] == [1, 2, 3]


async def test_each_request_is_the_one_before_with_more_at_its_end(tmp_path):
    (tmp_path / "a").write_text("A")
    model = Model(reply("", call("c1", "read", path="a")), reply("", call("c2", "read", path="a")), reply("Done."))
    await Stage(model, Read(tmp_path)).send()
    for one, two in zip(model.requests, model.requests[1:], strict=False):
        assert two.messages[: len(one.messages)] == one.messages
        assert (two.system, two.tools) == (one.system, one.tools)


async def test_the_reply_is_in_the_history_before_its_calls_start(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="true"))), Shell(tmp_path))
    await stage.send()
    kinds = [event.kind for event in stage.events]
    appended = [index for index, event in enumerate(stage.events) if isinstance(event, HistoryAppended)]
    assert appended[1] < kinds.index("tool_started") < appended[2]


async def test_results_enter_the_history_in_call_order_whatever_ends_first():
    async def act(say, progress):
        await asyncio.sleep(0.1 if say == "slow" else 0)
        return say

    stage = Stage(Model(reply("", call("c1", "p", say="slow"), call("c2", "p", say="fast"))), FreeProbe("p", act))
    await stage.send()
    assert list(stage.results()) == ["c2", "c1"]
    assert [result.text for result in stage.session.messages[2].results] == ["slow", "fast"]


async def test_ids_that_a_service_uses_again_are_made_unique(tmp_path):
    (tmp_path / "a").write_text("A")
    same = reply("", call("call_0", "read", path="a"), call("call_0", "read", path="a"), call("", "read", path="a"))
    stage = Stage(Model(same, same), Read(tmp_path))
    await stage.send()
    ids = [event.call_id for event in stage.of(ToolStarted)]
    assert ids[:2] == ["call_0", "call_0-2"]
    assert len(set(ids)) == 6


async def test_calls_run_even_when_the_service_says_that_the_turn_is_over(tmp_path):
    (tmp_path / "a").write_text("A")
    stage = Stage(Model(reply("", call("c1", "read", path="a"), stop=StopReason.END_TURN)), Read(tmp_path))
    assert (await stage.send()).text == "That is all."
    assert stage.results()["c1"].text == "A"


async def test_a_pause_is_followed_by_another_request():
    stage = Stage(PausingModel(reply("Searching.", stop=StopReason.PAUSE_TURN), reply("Found.")))
    assert (await stage.session.send("Go")).text == "Found."
    assert len(stage.model.requests) == 2


async def test_pauses_without_an_end_stop_the_turn_as_soon_as_cut_replies_do():
    stage = Stage(PausingModel(*[reply("Searching.", stop=StopReason.PAUSE_TURN)] * 9))
    ended = await stage.session.send("Go")
    assert ended.reason is TurnEnd.ERROR
    assert ended.text.startswith("The model paused its reply 4 times in a row. ")
    assert len(stage.model.requests) == 4


class PausingModel(Model):
    """After a pause a service takes a history that ends in its own words."""

    async def stream(self, request):
        self.requests.append(request)
        yield ReplyFinished(message=self.steps.pop(0))


async def test_an_empty_reply_ends_the_turn_and_leaves_no_empty_message():
    stage = Stage(Model(reply("")))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert ended.text.startswith("The model sent an empty reply. ")
    assert [message.kind for message in stage.session.messages] == ["user"]
    await stage.send("Still there?")


async def test_an_empty_reply_after_calls_is_no_answer_and_after_a_part_that_was_cut_off_it_is_one(tmp_path):
    stage = Stage(Model(reply("", call("c1", "bash", command="true")), reply("")), Shell(tmp_path))
    assert (await stage.send()).reason is TurnEnd.ERROR
    stage = Stage(Model(reply("All is well.", stop=StopReason.MAX_TOKENS), reply("")))
    ended = await stage.send()
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "All is well.")


async def test_a_refusal_ends_the_turn_and_its_calls_do_not_run(tmp_path):
    refused = reply("I won't.", call("c1", "bash", command="touch x"), stop=StopReason.REFUSAL)
    stage = Stage(Model(refused), Shell(tmp_path))
    ended = await stage.send()
    assert (ended.reason, ended.text) == (TurnEnd.REFUSED, "I won't.")
    assert list(tmp_path.iterdir()) == []
    await stage.send("Something else.")


# --- cut off by the output limit -----------------------------------------------------------------


@pytest.mark.parametrize("raw", ['{"path":"a.py","content":"line1\\nlin', "", '{"path":"a.py"}', "{}"])
async def test_a_call_cut_by_the_output_limit_is_dropped_and_the_model_told_to_split(tmp_path, raw):
    model = Model(
        reply("Writing.", call("c1", "write", raw), stop=StopReason.MAX_TOKENS),
        reply("", call("c2", "write", path="a.py", content="short")),
    )
    stage = Stage(model, Write(tmp_path))
    assert (await stage.send()).reason is TurnEnd.DONE
    assert [event.call_id for event in stage.of(ToolStarted)] == ["c2"]
    told = model.requests[1].messages[-1]
    assert told.origin is Origin.HARNESS
    assert "output limit" in told.text
    assert "smaller pieces" in told.text


async def test_whole_calls_before_the_cut_run(tmp_path):
    cut = reply(
        "",
        call("c1", "write", path="a", content="whole"),
        call("c2", "write", '{"path": "b", "con'),
        stop=StopReason.MAX_TOKENS,
    )
    stage = Stage(Model(cut), Write(tmp_path))
    await stage.send()
    assert (tmp_path / "a").read_text() == "whole"
    assert not (tmp_path / "b").exists()
    assert [one.id for one in stage.session.messages[1].calls] == ["c1"]


async def test_text_cut_by_the_output_limit_goes_on(tmp_path):
    model = Model(reply("Part one", stop=StopReason.MAX_TOKENS), reply(" and two."))
    stage = Stage(model)
    ended = await stage.send()
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "Part one and two.")
    assert "Go on exactly where it stopped" in model.requests[1].messages[-1].text


async def test_after_three_continuations_in_a_row_the_turn_ends(tmp_path):
    cut = reply("", call("c1", "write", '{"path'), stop=StopReason.MAX_TOKENS)
    stage = Stage(Model(*[cut] * 9), Write(tmp_path))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert "output limit" in ended.text
    assert "model.max_tokens" in ended.text
    assert len(stage.model.requests) == 4


async def test_a_whole_reply_lets_the_model_be_cut_off_again(tmp_path):
    cut = reply("", call("c1", "write", '{"path'), stop=StopReason.MAX_TOKENS)
    whole = reply("", call("ok", "bash", command="true"))
    stage = Stage(Model(cut, cut, whole, cut, cut, reply("Done.")), Write(tmp_path), Shell(tmp_path))
    assert (await stage.send()).text == "Done."


async def test_a_reply_that_is_cut_before_it_says_anything_leaves_no_empty_message():
    cut = reply("", stop=StopReason.MAX_TOKENS)
    stage = Stage(Model(cut, reply("Now.")))
    assert (await stage.send()).text == "Now."


# --- limits and failures -------------------------------------------------------------------------


async def test_the_step_limit_ends_the_turn_with_a_valid_history(tmp_path):
    model = Model(*(reply("", call(f"c{n}", "bash", command=f"echo {n}")) for n in range(9)))
    stage = Stage(model, Shell(tmp_path), limits=Limits(steps=3))
    ended = await stage.send()
    assert ended.reason is TurnEnd.STEP_LIMIT
    assert len(model.requests) == 3
    assert len(stage.results()) == 3


async def test_the_cost_limit_ends_the_turn_before_the_next_request(tmp_path):
    model = Model(*(reply("", call(f"c{n}", "bash", command=f"echo {n}")) for n in range(9)))
    stage = Stage(model, Shell(tmp_path), limits=Limits(max_cost=2.0))
    ended = await stage.send()
    assert (ended.reason, ended.cost) == (TurnEnd.BUDGET, 2.0)
    assert len(model.requests) == 2


async def test_a_model_without_a_price_is_not_asked_where_a_cost_limit_was_set():
    model = Model(reply("Done."))
    stage = Stage(model, limits=Limits(max_cost=2.0), ledger=Prices(None))
    ended = await stage.send()
    assert ended.reason is TurnEnd.BUDGET
    assert ended.text.startswith("No price is known for played/one, so the limit of $2.00 cannot be kept.")
    assert model.requests == []


async def test_an_unknown_price_is_nobodys_business_without_a_cost_limit():
    stage = Stage(Model(reply("Done.")), ledger=Prices(None))
    await stage.send()
    assert stage.of(NoticeGiven) == []
    assert stage.of(UsageReported)[0].cost is None


async def test_usage_is_reported_per_request_and_summed_per_turn(tmp_path):
    model = Model(
        reply("", call("c1", "bash", command="true"), usage=Usage(input_tokens=10, output_tokens=1)),
        reply("Done.", usage=Usage(input_tokens=20, output_tokens=2)),
        reply("Again.", usage=Usage(input_tokens=5)),
    )
    stage = Stage(model, Shell(tmp_path))
    first, second = await stage.send(), await stage.send()
    assert first.usage == Usage(input_tokens=30, output_tokens=3)
    assert (second.usage, second.cost) == (Usage(input_tokens=5), 1.0)
    assert [event.cost for event in stage.of(UsageReported)] == [1.0, 2.0, 3.0]
    assert stage.of(UsageReported)[0].window == 200_000


@pytest.mark.parametrize("failure", [ContextOverflow("prompt is too long: 210000 tokens"), None])
async def test_a_conversation_that_no_longer_fits_ends_the_turn_with_what_the_service_said_and_what_to_do(failure):
    stage = Stage(Model(failure or reply("", stop=StopReason.CONTEXT_EXCEEDED)))
    ended = await stage.send()
    assert ended.reason is TurnEnd.ERROR
    assert (failure.message if failure else "no longer fits") in ended.text
    assert all(way in ended.text for way in ("a new session", "a larger window", "models.toml", "window = "))
    assert [event for event in stage.of(NoticeGiven) if event.level is not Level.INFO] == []


async def test_a_refused_request_ends_the_turn_and_is_not_repeated():
    stage = Stage(Model(ProviderRejected("The key is wrong.", hint="Set another.", status=401)))
    ended = await stage.send()
    assert (ended.reason, ended.text) == (TurnEnd.ERROR, "The key is wrong. Set another.")
    assert len(stage.model.requests) == 1


async def test_a_bug_in_the_loop_ends_the_turn_and_every_call_still_has_a_result(caplog):
    async def act(say, progress):
        return "done"

    stage = Stage(Model(reply("", call("c1", "p"), call("c2", "p")), reply("Fine.")), Probe("p", act))

    def broken(event):
        if event.kind == "tool_started" and event.call_id == "c2":
            raise RuntimeError("a listener fell over")

    stage.listeners.append(broken)
    ended = await stage.session.send("Go")
    assert ended.reason is TurnEnd.ERROR
    assert "a listener fell over" in caplog.text
    assert sorted(stage.results()) == ["c1", "c2"]
    assert (await stage.session.send("Again")).text == "Fine."


async def test_thinking_stays_and_blank_text_goes():
    message = reply("Answer.")
    thinking = ThinkingBlock(text="hm", signature="sig", provider="p")
    blocks = (thinking, TextBlock(text="\n\n"), *message.blocks)
    stage = Stage(Model(type(message)(blocks=blocks, stop=message.stop, model=message.model)))
    await stage.send()
    assert stage.session.messages[1].blocks == (thinking, TextBlock(text="Answer."))
