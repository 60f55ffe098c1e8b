"""The commands that are about the session."""

from __future__ import annotations

from dataclasses import replace

from codeagent.core.approvals import ApprovalRequest, Approve, Decision, TextPreview, Verdict
from codeagent.core.context import CompactionReason, ContextReport, HistoryCompacted
from codeagent.core.events import (
    ContextMeasured,
    ModelChanged,
    ReplyEnded,
    StepStarted,
    TextStreamed,
    TurnEnd,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from codeagent.core.messages import Unpriced, Usage

TITLE = "compact: this summary in place of 12 messages"
USAGE = Usage(input_tokens=1_000, cache_read_tokens=9_000, output_tokens=50)
OF_QWEN = (Unpriced(model="openai-chat/qwen", tokens=12_345),)
OF_PHI = (Unpriced(model="openai-chat/phi", tokens=1_000),)
COMPACTED = HistoryCompacted(
    reason=CompactionReason.FULL, kept=4, summary="## Task\nThe [totals].", before=90_000, after=9_000, window=100_000
)


def summary_question() -> ApprovalRequest:
    return ApprovalRequest(
        call_id="compaction-1",
        tool="compact",
        preview=TextPreview(
            title="compact: this summary in place of 12 messages", text="## Task\nAll.", is_proposal=True
        ),
        touches=(),
        verdict=Verdict(decision=Decision.ASK, because="The window is nearly full."),
    )


async def test_compact_passes_its_focus_on(stage_of):
    async with stage_of() as stage:
        await stage.type("/compact the discount\n")
        await stage.until(lambda: stage.conversation.compacted == ["the discount"])


async def test_compact_says_so_when_there_is_nothing_to_sum_up(stage_of):
    async with stage_of() as stage:
        stage.conversation.report = ContextReport(used=0, window=None, is_estimate=True, parts=())
        await stage.type("/compact\n")
        await stage.until(lambda: "Nothing was said yet" in stage.text)
        assert stage.conversation.compacted == []


async def test_context_shows_what_fills_the_window_and_how_to_free_it(stage_of):
    async with stage_of(size=(100, 40)) as stage:
        await stage.type("/context\n")
        await stage.until(lambda: "60,000 tokens of 100,000 (60 %)" in stage.text)
        assert "shop/[cart].py" in stage.text
        assert "/compact FOCUS" in stage.text
        assert "At 85 % this happens by itself" in stage.text


async def test_cost_shows_tokens_cache_hits_and_each_turn_also_of_a_resumed_session(stage_of):
    past = (
        TurnStarted(turn=1, text="first things"),
        UsageReported(usage=USAGE, cost=0.5),
        TurnEnded(turn=1, reason=TurnEnd.DONE, text="Done.", usage=USAGE, cost=0.5),
    )
    async with stage_of(past=past, size=(120, 40)) as stage:
        stage.app.bridge.emit(TurnStarted(turn=2, text="second things"))
        stage.app.bridge.emit(UsageReported(usage=USAGE, cost=1.25))
        stage.app.bridge.emit(TurnEnded(turn=2, reason=TurnEnd.DONE, text="Done.", usage=USAGE, cost=0.75))
        await stage.type("/cost\n")
        await stage.until(lambda: "This session  $1.25" in stage.text)
        assert "18,000 tokens, 90 % of what was sent" in stage.text
        page = stage.text.partition("Turns, the latest first")[2]
        assert page.index("second things") < page.index("first things")


async def test_an_unknown_price_is_said(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        stage.app.bridge.emit(UsageReported(usage=USAGE, cost=None, unpriced=OF_QWEN))
        await stage.type("/cost\n")
        await stage.until(lambda: "This session  price unknown" in stage.text)
        assert "  12,345 tokens of openai-chat/qwen without a price" in stage.text
        assert "models.toml" in stage.text


async def test_what_is_known_of_a_cost_is_said_beside_what_has_no_price(stage_of):
    past = (
        TurnStarted(turn=1, text="first things"),
        UsageReported(usage=USAGE, cost=0.5, unpriced=OF_QWEN),
        TurnEnded(turn=1, reason=TurnEnd.DONE, text="Done.", usage=USAGE, cost=0.5, unpriced=OF_QWEN),
    )
    async with stage_of(past=past, size=(120, 40)) as stage:
        await stage.until(lambda: "$0.50 + 12k unpriced" in stage.text)
        stage.app.bridge.emit(UsageReported(usage=USAGE, cost=0.75, unpriced=(*OF_QWEN, *OF_PHI)))
        await stage.until(lambda: "$0.75 + 13k unpriced" in stage.text)
        await stage.type("/cost\n")
        await stage.until(lambda: "This session  $0.75" in stage.text)
        assert "  + 12,345 tokens of openai-chat/qwen without a price" in stage.text
        assert "  + 1,000 tokens of openai-chat/phi without a price" in stage.text
        assert "$0.5000 + 12,345 tokens without a price · " in stage.text


async def test_the_meter_follows_estimates_compactions_and_a_new_model(stage_of):
    async with stage_of() as stage:
        stage.app.bridge.emit(ContextMeasured(tokens=86_000, window=100_000))
        await stage.until(lambda: "context 86 %" in stage.text)
        stage.app.bridge.emit(COMPACTED)
        await stage.until(lambda: "context 9 %" in stage.text)
        stage.app.bridge.emit(ModelChanged(model="openai/gpt-other"))
        await stage.until(lambda: "gpt-other" in stage.text)


async def test_a_compaction_is_one_line_that_opens_to_the_summary(stage_of):
    async with stage_of() as stage:
        stage.app.bridge.emit(COMPACTED)
        await stage.until(lambda: "summed up to make room: 90,000 → 9,000 tokens" in stage.text)
        assert "The [totals]." not in stage.text
        await stage.pilot.press("ctrl+o")
        await stage.until(lambda: "The [totals]." in stage.text)


async def test_a_resumed_session_shows_its_compactions_and_how_full_the_window_was_after(stage_of):
    past = (UsageReported(usage=replace(USAGE, input_tokens=80_000), window=100_000, cost=0.5), COMPACTED)
    async with stage_of(past=past) as stage:
        await stage.until(lambda: "summed up" in stage.text)
        assert "context 9 %" in stage.text
        assert "claude-test" in stage.text


async def test_a_summary_is_shown_and_can_be_edited_before_it_is_used(stage_of):
    answers = []

    async def turn(emit, approver):
        answers.append(await approver.ask(summary_question()))

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "this summary in place of 12 messages" in stage.text)
        await stage.pilot.press("tab")
        await stage.press_slowly("e")
        await stage.pilot.press("ctrl+home", "X")
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: answers)
        assert answers == [Approve(edited="X## Task\nAll.")]


async def test_another_model_is_picked_from_the_list_and_the_header_follows(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/model\n")
        await stage.until(lambda: "openai-chat/qwen[3]" in stage.text)
        await stage.type("qwen\n")
        await stage.until(lambda: "qwen[3] · ask" in stage.text)


async def test_a_switch_leaves_a_line_where_the_other_model_begins_to_answer(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        bridge = stage.app.bridge
        await stage.bench.set_model("openai/first")
        await stage.until(lambda: "first · ask" in stage.text)
        assert "model:" not in stage.text
        bridge.emit(TurnStarted(turn=1, text="hello"))
        bridge.emit(StepStarted(turn=1, step=1))
        bridge.emit(TextStreamed(text="One reply "))
        await stage.bench.set_model("openai/second")
        await stage.bench.set_model("openai/third")
        bridge.emit(TextStreamed(text="in one piece."))
        bridge.emit(ReplyEnded())
        await stage.until(lambda: "model: openai/first → openai/third" in stage.text)
        assert stage.text.index("One reply in one piece.") < stage.text.index("model: openai/first")
        bridge.emit(TurnEnded(turn=1, reason=TurnEnd.DONE, text=""))
        await stage.bench.set_effort("high")
        await stage.until(lambda: "effort: default → high" in stage.text)


async def test_a_model_that_is_not_in_the_list_is_taken_as_it_is_typed(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/model\n")
        await stage.until(lambda: "openai-chat/qwen[3]" in stage.text)
        await stage.type("openai/new-one")
        await stage.until(lambda: "Enter takes it as it is typed." in stage.text)
        await stage.type("\n")
        await stage.until(lambda: "new-one · ask" in stage.text)


async def test_what_names_no_model_is_told_and_the_model_stays(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/model gibberish\n")
        await stage.until(lambda: "does not name a model" in stage.text)
        assert "claude-test · ask" in stage.text


async def test_new_starts_an_empty_session_and_the_old_one_no_longer_reaches_the_screen(stage_of):
    async with stage_of() as stage:
        await stage.type("remember me\n")
        await stage.until(lambda: "remember me" in stage.text)
        stage.app.bridge.emit(UsageReported(usage=USAGE, window=100_000, cost=3.0))
        await stage.type("/new\n")
        await stage.until(lambda: len(stage.desks) == 2 and "What shall we do?" in stage.text)
        assert "remember me" not in stage.text
        assert "$3.00" not in stage.text
        stage.desks[0][0].emit(TurnStarted(turn=9, text="a late word"))
        await stage.type("fresh words\n")
        await stage.until(lambda: stage.desks[1][0].sent == ["fresh words"])
        assert "a late word" not in stage.text
        assert stage.desks[0][0].sent == ["remember me"]


async def test_new_at_a_question_waits_and_follows_once_the_turn_is_stopped(stage_of):
    async def turn(emit, approver):
        await approver.ask(summary_question())

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "this summary in place" in stage.text)
        await stage.type("/new\n")
        await stage.until(lambda: "waits for the turn to end" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: len(stage.desks) == 2 and "What shall we do?" in stage.text)
        assert not stage.desks[0][0].is_running
        assert "this summary in place" not in stage.text


async def test_resume_lists_the_older_sessions_and_opens_the_chosen_one(stage_of):
    async with stage_of(size=(100, 30)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: "mend [old-1]" in stage.text)
        assert "mend [s-1]" not in stage.text
        await stage.type("old\n")
        await stage.until(lambda: len(stage.desks) == 2)
        assert stage.desks[1][0].opening.resume == "old-1"


async def test_resume_takes_the_beginning_of_an_id(stage_of):
    async with stage_of() as stage:
        await stage.type("/resume old\n")
        await stage.until(lambda: len(stage.desks) == 2)


async def test_a_session_that_is_open_elsewhere_is_offered_as_a_copy(stage_of):
    async with stage_of() as stage:
        await stage.type("/resume locked\n")
        await stage.until(lambda: "open in another codeagent" in stage.text)
        await stage.type("\n")
        await stage.until(lambda: len(stage.desks) == 2)
        assert stage.desks[1][0].opening.forks


async def test_a_session_that_is_open_elsewhere_can_be_left_and_the_one_that_is_open_stays(stage_of):
    async with stage_of() as stage:
        await stage.type("stay\n")
        await stage.type("/resume locked\n")
        await stage.until(lambda: "go on with a copy" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "go on with a copy" not in stage.text)
        await stage.type("still here\n")
        await stage.until(lambda: stage.conversation.sent == ["stay", "still here"])


async def test_tools_lists_what_the_model_can_do(stage_of):
    async with stage_of() as stage:
        await stage.type("/tools\n")
        await stage.until(lambda: "Reads a file [text or image]." in stage.text)
        assert "path  offset?" in stage.text
        assert "Long files" not in stage.text


async def test_effort_is_chosen_by_name_or_from_a_list_and_shown_in_the_top_line(stage_of):
    async with stage_of(size=(120, 30)) as stage:
        await stage.type("/effort high\n")
        await stage.until(lambda: "claude-test · high effort · ask" in stage.text)
        await stage.type("/effort\n")
        await stage.until(lambda: "as the model does by itself" in stage.text)
        await stage.type("def\n")
        await stage.until(lambda: stage.bench.efforts == ["high", ""])
        await stage.until(lambda: "effort" not in stage.text)


async def test_a_new_session_goes_on_with_the_model_that_was_chosen(stage_of):
    async with stage_of() as stage:
        await stage.type("/new\n")
        await stage.until(lambda: len(stage.desks) == 2)
        assert stage.desks[1][0].opening.model == "anthropic/claude-test"


async def test_a_message_is_pinned_from_a_list_and_a_pin_is_taken_away_again(stage_of):
    async with stage_of(size=(120, 30)) as stage:
        await stage.type("/pin\n")
        await stage.until(lambda: "Nothing was said yet." in stage.text)
        await stage.type("keep it\n")
        await stage.until(lambda: stage.conversation.sent)
        await stage.type("/pin\n")
        await stage.until(lambda: "you: keep it" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: "Stays word for word: you: keep it" in stage.text)
        await stage.type("/pin @a.py:1-2\n")
        await stage.until(lambda: "you: keep it, @a.py:1-2" in stage.text)
        await stage.type("/unpin\n")
        await stage.until(lambda: "Take a pin away" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: [pin.label for pin in stage.conversation.pins] == ["@a.py:1-2"])
