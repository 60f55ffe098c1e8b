import asyncio
import contextlib
from pathlib import Path

import pytest
from textual import events

from codeagent.core.approvals import Deny, Mode
from codeagent.core.desk import WorkspaceStatus
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.events import (
    ApprovalSettled,
    CallStreamed,
    Delivery,
    Level,
    MessageDelivered,
    MessageQueued,
    NoticeGiven,
    ReplyEnded,
    RetryScheduled,
    SessionStarted,
    StepStarted,
    TextStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
    TurnStarted,
    UsageReported,
)
from codeagent.core.messages import ChangeDetails, Outcome, ReadDetails, TextBlock, ToolResult, Usage
from codeagent.tui.widgets import prompt


async def test_the_first_frame_stands_before_the_session_is_open(stage_of):
    async with stage_of(gate=asyncio.Event()) as stage:
        assert "What shall we do?" in stage.text
        assert "starting…" in stage.text
        assert stage.app.focused is stage.app.main.prompt


async def test_what_is_sent_before_the_session_is_open_is_kept_and_sent_in_order(stage_of):
    gate, go_on = asyncio.Event(), asyncio.Event()

    async def turn(emit, approver):
        await go_on.wait()

    async with stage_of(turn, gate=gate) as stage:
        await stage.type("first\nsecond\nthird")
        assert "queued: “first”" in stage.text
        gate.set()
        await stage.until(lambda: stage.desks and stage.conversation.queued)
        assert stage.conversation.sent == ["first"]
        assert list(stage.conversation.queued.values()) == ["second"]
        assert stage.app.main.prompt.text == "third"


async def test_a_command_typed_before_the_session_is_open_is_carried_out_then(stage_of):
    gate = asyncio.Event()
    async with stage_of(gate=gate) as stage:
        await stage.type("/mode plan\n")
        await stage.until(lambda: "queued: “/mode plan”" in stage.text)
        gate.set()
        await stage.until(lambda: stage.desks and stage.bench.current is Mode.PLAN)
        assert stage.conversation.sent == []


async def test_what_is_being_typed_when_the_session_opens_is_completed(stage_of):
    gate = asyncio.Event()
    async with stage_of(gate=gate) as stage:
        await stage.type("/rew")
        assert "Go back to before a message" not in stage.text
        gate.set()
        await stage.until(lambda: "/rewind   Go back to before a message" in stage.text)


async def test_tab_stays_at_the_prompt_where_the_list_comes_only_with_the_session(stage_of):
    gate = asyncio.Event()
    async with stage_of(gate=gate) as stage:
        await stage.type("/rew")
        await stage.pilot.press("tab")
        gate.set()
        await stage.until(lambda: "/rewind   Go back to before a message" in stage.text)
        await stage.pilot.press("tab")
        await stage.until(lambda: "› /rewind" in stage.text)


async def test_a_prompt_from_the_command_line_is_sent_when_the_session_is_open(stage_of):
    async with stage_of(prompt="mend the totals") as stage:
        await stage.until(lambda: stage.conversation.sent == ["mend the totals"])


async def test_without_a_model_the_welcome_says_what_to_do_and_d_starts_the_demo(stage_of):
    error = NoModel("No model is set.", hint="A server answers at 127.0.0.1:11434 [ollama].")
    async with stage_of(error=error) as stage:
        await stage.until(lambda: "ANTHROPIC_API_KEY" in stage.text)
        assert "A server answers at 127.0.0.1:11434 [ollama]." in stage.text
        assert "--model openai-chat/NAME" in stage.text
        await stage.pilot.press("d")
        await stage.pilot.pause()
    assert stage.app.return_value == "demo"


async def test_a_click_on_the_demo_line_starts_the_demo(stage_of):
    async with stage_of(error=NoModel("No model is set.")) as stage:
        await stage.until(lambda: "The demo" in stage.text)
        await stage.pilot.click("Choices", offset=(8, 2))
        await stage.pilot.pause()
    assert stage.app.return_value == "demo"


async def test_a_broken_config_ends_the_start(stage_of):
    async with stage_of(error=ConfigError("The file config.toml is broken [line 3].")) as stage:
        await stage.until(lambda: stage.app.return_code == 2)


async def test_a_turn_is_shown_as_it_happens(stage_of):
    async def turn(emit, approver):
        emit(StepStarted(turn=1, step=1))
        emit(TextStreamed(text="I look at **totals**."))
        emit(ReplyEnded())
        emit(ToolStarted(call_id="c1", name="read", arguments_json='{"path": "shop/cart.py"}'))
        emit(ToolEnded(result=ToolResult(call_id="c1", blocks=(TextBlock(text="1→x"),)), seconds=0.1))
        emit(UsageReported(usage=Usage(input_tokens=3000, output_tokens=400), window=10_000, cost=0.123))

    async with stage_of(turn) as stage:
        await stage.type("the totals are wrong\n")
        await stage.until(lambda: "shop/cart.py" in stage.text)
        assert "› the totals are wrong" in stage.text
        assert "I look at totals." in stage.text
        assert "context 34 %" in stage.text
        assert "$0.12" in stage.text
        assert "What shall we do?" not in stage.text


async def test_a_message_typed_during_a_turn_waits_above_the_prompt_until_it_was_delivered(stage_of):
    deliver, go_on = asyncio.Event(), asyncio.Event()

    async def turn(emit, approver):
        await deliver.wait()
        emit(MessageDelivered(message_id="m1", text="also negative ones", delivery="steer", step=2))
        await go_on.wait()

    async with stage_of(turn) as stage:
        await stage.type("first\n")
        await stage.type("also negative ones\n")
        assert "queued: “also negative ones”" in stage.text
        assert "alt+↑ take back" in stage.text
        deliver.set()
        stage.conversation.queued.clear()
        await stage.until(lambda: "seen before step 2" in stage.text)
        assert "queued:" not in stage.text


async def test_alt_enter_queues_a_follow_up(stage_of):
    async def turn(emit, approver):
        await asyncio.Event().wait()

    async with stage_of(turn) as stage:
        await stage.type("first\nlast")
        await stage.pilot.press("alt+enter")
        assert "later: “last”" in stage.text


async def test_alt_up_takes_the_last_queued_message_back_into_the_prompt(stage_of):
    async def turn(emit, approver):
        await asyncio.Event().wait()

    async with stage_of(turn) as stage:
        await stage.type("first\nsecond\nthird\n")
        await stage.pilot.press("alt+up")
        assert stage.app.main.prompt.text == "third"
        assert list(stage.conversation.queued.values()) == ["second"]
        assert "third" not in stage.text.split("queued")[1].splitlines()[0]


async def test_escape_stops_the_turn_and_queued_text_comes_back_to_the_prompt(stage_of):
    async def turn(emit, approver):
        await asyncio.Event().wait()

    async with stage_of(turn) as stage:
        await stage.type("first\nsecond\nthi")
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.conversation.is_running)
        await stage.until(lambda: "Stopped." in stage.text)
        assert stage.app.main.prompt.text == "second\nthi"
        assert "queued:" not in stage.text


async def slow_to_stop(emit, approver):
    """A turn that ends only some time after it was stopped: when it is stopped a second time."""
    for _ in range(2):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


@pytest.mark.parametrize("columns", [60, 100])
async def test_a_turn_that_takes_its_time_to_stop_says_so_at_once_and_a_second_escape_hurries_it(stage_of, columns):
    async with stage_of(slow_to_stop, size=(columns, 30)) as stage:
        await stage.type("go\n")
        await stage.until(lambda: stage.conversation.is_running)
        await stage.pilot.press("escape")
        await stage.until(lambda: "stopping" in stage.text and "esc end by force" in stage.text)
        assert stage.conversation.is_running
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.conversation.is_running)
        await stage.until(lambda: "stopping" not in stage.text and "by force" not in stage.text)


async def test_what_is_sent_while_a_turn_stops_goes_out_afterwards_in_order_or_is_taken_back(stage_of):
    async with stage_of(slow_to_stop) as stage:
        await stage.type("go\n")
        await stage.until(lambda: stage.conversation.is_running)
        await stage.pilot.press("escape")
        await stage.until(lambda: "stopping" in stage.text)
        await stage.type("second\nthird\nfourth\n")
        await stage.until(lambda: "waits for the turn to stop" in stage.text)
        await stage.pilot.press("alt+up")
        assert stage.app.main.prompt.text == "fourth"
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.conversation.sent == ["go", "second"])
        await stage.until(lambda: list(stage.conversation.queued.values()) == ["third"])
        assert stage.app.main.prompt.text == "fourth"


async def test_a_retry_counts_down_and_goes_when_the_next_step_starts(stage_of):
    go_on, end = asyncio.Event(), asyncio.Event()

    async def turn(emit, approver):
        emit(RetryScheduled(attempt=2, attempts=6, seconds=30, reason="The service is busy [529]."))
        await go_on.wait()
        emit(StepStarted(turn=1, step=2))
        await end.wait()

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "Trying again in 30 s (2 of 6)" in stage.text)
        assert "The service is busy [529]." in stage.text
        go_on.set()
        await stage.until(lambda: "Trying again" not in stage.text)


async def test_shift_tab_changes_the_mode_and_it_is_shown_at_both_ends(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("shift+tab")
        assert stage.bench.current is Mode.EDITS
        assert "claude-test · edits" in stage.text
        assert stage.text.splitlines()[-1].startswith(" edits")


async def test_a_command_of_the_persons_own_runs_and_is_shown(stage_of):
    async with stage_of() as stage:
        await stage.type("!make test\n")
        await stage.until(lambda: stage.bench.ran == ["make test"])
        await stage.until(lambda: "✓ bash" in stage.text)
        assert "› !make test" in stage.text


async def test_enter_says_when_it_stops_the_command_that_runs(stage_of, ask_command):
    async def turn(emit, approver):
        emit(ToolStarted(call_id="b1", name="bash", arguments_json="{}"))
        emit(ToolPreviewed(call_id="b1", preview=ask_command("git log").preview, label="git log"))
        emit(ToolRunning(call_id="b1", makes_way=True))
        await ends.wait()
        emit(ToolEnded(result=ToolResult(call_id="b1", blocks=(TextBlock(text="x"),)), seconds=1))
        await asyncio.sleep(60)

    ends = asyncio.Event()
    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "enter steer, stop command" in stage.text)
        ends.set()
        await stage.until(lambda: "enter steer ·" in stage.text)


async def test_escape_stops_a_command_of_the_persons_own(stage_of):
    async with stage_of() as stage:
        await stage.type("!sleep 60\n")
        await stage.until(lambda: stage.bench.ran == ["sleep 60"])
        await stage.until(lambda: "1 running" in stage.text and "enter send · esc stop command" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "✓ bash" not in stage.text and "stopped" in stage.text.lower())
        await stage.until(lambda: "1 running" not in stage.text and "ctrl+p commands" in stage.text)


async def test_a_command_of_the_persons_own_is_listed_while_it_runs_and_stopped_there(stage_of):
    async with stage_of() as stage:
        await stage.type("!sleep 60\n")
        await stage.until(lambda: stage.bench.ran == ["sleep 60"])
        await stage.pilot.press("ctrl+t")
        await stage.until(lambda: "x stop" in stage.text and "sleep 60" in stage.text)
        await stage.pilot.press("x")
        await stage.until(lambda: "Nothing runs" in stage.text)


async def test_quitting_and_taking_back_are_told_by_the_persons_own_keys(stage_of):
    go_on = asyncio.Event()

    async def turn(emit, approver):
        await go_on.wait()

    async with stage_of(turn, keymap={"copy-or-quit": "f5", "take-back": "alt+down"}) as stage:
        await stage.type("first\n")
        await stage.type("second\n")
        await stage.until(lambda: "alt+↓ take back" in stage.text)
        await stage.pilot.press("f5")
        await stage.until(lambda: "f5 again quits" in stage.text)
        go_on.set()


async def test_ctrl_c_clears_the_prompt_first_and_quits_only_when_pressed_again(stage_of):
    async with stage_of() as stage:
        await stage.type("half a thought")
        await stage.pilot.press("ctrl+c")
        assert stage.app.main.prompt.is_empty
        assert stage.app.is_running
        await stage.pilot.press("ctrl+c")
        assert "ctrl+c again quits" in stage.text
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: not stage.app.is_running)


async def test_ctrl_d_quits_on_an_empty_prompt_only(stage_of):
    async with stage_of() as stage:
        await stage.type("ab")
        await stage.pilot.press("home", "ctrl+d")
        assert stage.app.main.prompt.text == "b"
        await stage.pilot.press("ctrl+d", "ctrl+d")
        await stage.until(lambda: not stage.app.is_running)


async def test_a_draft_is_kept_and_comes_back(stage_of, monkeypatch):
    monkeypatch.setattr(prompt, "DRAFT_SECONDS", 0.0)  # it counts as looked at
    async with stage_of(draft="unfinished") as stage:
        await stage.until(lambda: stage.app.main.prompt.text == "unfinished")
        await stage.until(lambda: "draft from before · ctrl+c clears" in stage.text)
        await stage.type("!")
        await stage.until(lambda: stage.bench.kept == "unfinished!")


@pytest.mark.parametrize("key", ["ctrl+c", "enter"])
async def test_a_draft_that_is_cleared_or_sent_is_not_spoken_of(stage_of, monkeypatch, key):
    monkeypatch.setattr(prompt, "DRAFT_SECONDS", 0.0)
    async with stage_of(draft="unfinished") as stage:
        await stage.until(lambda: "draft from before" in stage.text)
        await stage.pilot.press(key)
        await stage.until(lambda: stage.app.main.prompt.is_empty and "draft from before" not in stage.text)


async def test_what_is_typed_before_a_draft_can_be_seen_is_not_mixed_with_it(stage_of, monkeypatch):
    monkeypatch.setattr(prompt, "DRAFT_SECONDS", 3600.0)
    async with stage_of(draft="unfinished") as stage:
        await stage.until(lambda: stage.app.main.prompt.text == "unfinished")
        await stage.type("go")
        assert stage.app.main.prompt.text == "go"
        assert stage.app.main.prompt.typed_before[-1] == "unfinished"
        await stage.until(lambda: "draft from before · ↑ brings it" in stage.text)
        await stage.until(lambda: stage.bench.kept == "go" and stage.bench.typed[-1:] == ["unfinished"])


@pytest.mark.parametrize("key", ["enter", "alt+enter"])
async def test_enter_meant_for_an_empty_prompt_neither_sends_a_draft_nor_takes_it_away(stage_of, monkeypatch, key):
    monkeypatch.setattr(prompt, "DRAFT_SECONDS", 3600.0)
    async with stage_of(draft="unfinished") as stage:
        await stage.until(lambda: stage.app.main.prompt.text == "unfinished")
        await stage.pilot.press(key, "left", "right", key)
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == "unfinished"
        assert "draft from before · ctrl+c clears" in stage.text
        assert "unfinished" not in stage.bench.typed


async def test_a_shell_command_that_was_a_draft_waits_in_the_history(stage_of):
    async with stage_of(draft="!echo") as stage:
        await stage.until(lambda: "draft from before · ↑ brings it" in stage.text)
        assert stage.app.main.prompt.text == ""
        await stage.until(lambda: stage.bench.typed[-1:] == ["!echo"])
        await stage.pilot.press("up")
        assert stage.app.main.prompt.text == "!echo"


async def test_a_sent_prompt_is_remembered_and_its_draft_forgotten(stage_of, monkeypatch):
    monkeypatch.setattr(prompt, "DRAFT_SECONDS", 0.0)
    async with stage_of(draft="send me") as stage:
        await stage.until(lambda: stage.app.main.prompt.text == "send me")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.bench.typed[-1] == "send me" and stage.bench.kept == "")


async def test_a_resumed_session_is_shown_with_where_it_stands(stage_of):
    past = (
        TurnStarted(turn=1, text="what was asked before"),
        UsageReported(usage=Usage(input_tokens=5000), window=10_000, cost=1.5),
    )
    async with stage_of(past=past) as stage:
        await stage.until(lambda: "what was asked before" in stage.text)
        assert "context 50 %" in stage.text
        assert "$1.50" in stage.text


async def test_no_key_costs_more_in_a_long_session(stage_of, monkeypatch):
    asked = []
    monkeypatch.setattr(TurnStarted, "__repr__", lambda self: asked.append(self) or "a turn")
    async with stage_of(past=(TurnStarted(turn=1, text="before"),)) as stage:
        await stage.type("/the @sh words")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.main.prompt.is_empty)
        assert asked == []  # nothing goes through the past to describe what it does


async def test_square_brackets_are_shown_and_never_read_as_markup(stage_of):
    nasty = "[/] [bold] [red]x[/blue] [@click=app.quit]q[/] \\[ a[b].py"

    async def turn(emit, approver):
        emit(NoticeGiven(text=nasty, level=Level.WARNING))
        await asyncio.Event().wait()

    async with stage_of(turn, size=(120, 30)) as stage:
        await stage.pilot.press("x")
        stage.app.main.prompt.put(nasty)
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.text.count(nasty) == 2)
        stage.app.main.prompt.put(nasty)
        await stage.pilot.press("enter")
        await stage.until(lambda: f"queued: “{nasty}”" in stage.text)
        stage.app.main.status.remark(nasty, 5)
        await stage.until(lambda: "[@click=app.quit]" in stage.text.splitlines()[-1])


async def test_the_screen_holds_at_its_smallest_size(stage_of):
    async with stage_of(size=(60, 15)) as stage:
        lines = stage.text.splitlines()
        assert lines[0].startswith(" codeagent  …/shop  main*")
        assert lines[0].endswith("  claude-test · ask · sandboxed")
        assert "›" in stage.text
        assert lines[-1].startswith(" ask")


async def test_keys_of_the_config_replace_those_of_the_table(stage_of):
    async with stage_of(keymap={"mode": "f3"}) as stage:
        await stage.pilot.press("f3")
        assert stage.bench.current is Mode.EDITS
        await stage.pilot.press("shift+tab")
        assert stage.bench.current is Mode.EDITS


async def test_idle_draws_nothing(stage_of):
    async with stage_of() as stage:
        await stage.pilot.pause(0.2)
        drawn = []
        draw = stage.app._display
        stage.app._display = lambda screen, renderable: (drawn.append(renderable), draw(screen, renderable))
        await stage.pilot.pause(1.5)
        assert [one for one in drawn if one is not None] == []


async def test_no_escape_sequence_of_others_reaches_the_terminal(stage_of):
    nasty = "a\x1b]0;pwn\x07b\x1b[1A\x1b[2Kc\x9b31md\x1b]52;c;ZXZpbA==\x07e"

    async def turn(emit, approver):
        emit(StepStarted(turn=1, step=1))
        emit(TextStreamed(text=nasty))
        emit(ReplyEnded())
        emit(CallStreamed(name=nasty, size=3))
        emit(ToolStarted(call_id="c1", name=nasty, arguments_json=nasty))
        emit(ToolProgressed(call_id="c1", text=nasty))
        emit(ToolEnded(result=ToolResult(call_id="c1", blocks=(TextBlock(text=nasty),), outcome=Outcome.FAILED)))
        emit(NoticeGiven(text=nasty))
        emit(MessageQueued(message_id="m9", text=nasty, delivery=Delivery.STEER, waits_for=nasty))
        emit(SessionStarted(session_id="s", model=nasty, mode=Mode.ASK, cwd=nasty))
        await asyncio.Event().wait()

    async with stage_of(turn, size=(120, 40)) as stage:
        stage.app.bridge.show_workspace(WorkspaceStatus(root=Path("/"), branch=nasty, sandbox=nasty))
        stage.app.main.prompt.put(nasty)
        await stage.pilot.press("enter")
        await stage.until(lambda: "queued: " in stage.text)
        assert [mark for mark in stage.text if mark != "\n" and (mark < " " or "\x7f" <= mark <= "\x9f")] == []


async def test_a_command_of_the_persons_own_shows_its_output(stage_of):
    async with stage_of() as stage:
        await stage.type("!make\n")
        await stage.until(lambda: "     out" in stage.text)


async def test_a_denied_call_shows_what_the_person_said(stage_of, ask_command):
    async def turn(emit, approver):
        emit(ToolStarted(call_id="c1", name="bash", arguments_json="{}"))
        emit(ApprovalSettled(call_id="c1", answer=Deny(feedback="use make")))
        said = ToolResult(call_id="c1", blocks=(TextBlock(text="Not run."),), outcome=Outcome.DENIED)
        emit(ToolEnded(result=said, seconds=0.0))

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "You said: use make" in stage.text)
        assert "Not run." not in stage.text


async def test_a_call_that_made_way_for_a_message_says_so(stage_of):
    async def turn(emit, approver):
        emit(ToolStarted(call_id="c1", name="bash", arguments_json="{}"))
        said = ToolResult(call_id="c1", blocks=(TextBlock(text="Ended."),), outcome=Outcome.CANCELLED, code="MADE_WAY")
        emit(ToolEnded(result=said, seconds=0.0))

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "stopped for your message" in stage.text)


async def test_a_clicked_address_is_copied_and_shown_whole_and_not_opened(stage_of):
    async with stage_of() as stage:
        transcript = stage.app.main.transcript
        stage.app.main.end_greeting()
        transcript.stream_text("see [the manual](https://a.example/b) and [this](file:///etc/passwd)")
        transcript.end_text()
        await stage.until(lambda: "the manual" in stage.text and "What shall we do" not in stage.text)
        await stage.pilot.click(transcript, offset=(10, 0))
        await stage.until(lambda: "copied https://a.example/b" in stage.text)
        assert stage.app.clipboard == "https://a.example/b"


@pytest.mark.parametrize("keys", [["ctrl+p"], ["f1"], ["ctrl+t"], ["ctrl+r"], [*"/permissions", "enter"]])
async def test_what_is_typed_right_behind_the_key_that_closes_a_window_reaches_the_prompt(stage_of, keys):
    async with stage_of() as stage:
        stage.bench.typed.append("an older message")
        await stage.pilot.press(*(key.replace("/", "slash") for key in keys))
        await stage.until(lambda: "esc leave" in stage.text)
        stage.app.post_message(events.Key("escape", "\x1b"))
        for letter in "hello":
            stage.app.post_message(events.Key(letter, letter))
        await stage.until(lambda: stage.app.main.prompt.text == "hello")


def edited(call_id):
    return ToolEnded(result=ToolResult(call_id=call_id, blocks=(), details=ChangeDetails(diffs=())))


async def test_the_branchs_star_comes_with_the_first_change_while_the_turn_goes_on(stage_of):
    async with stage_of() as stage:
        await stage.until(lambda: "main*" in stage.text)
        stage.bench.is_dirty = False
        stage.app.bridge.emit(TurnStarted(turn=1, text="go"))
        stage.app.bridge.emit(edited("1"))
        await stage.until(lambda: "main*" not in stage.text)
        stage.bench.is_dirty = True
        stage.app.bridge.emit(edited("2"))
        await stage.until(lambda: "main*" in stage.text)


async def test_however_much_is_changed_meanwhile_the_workspace_is_looked_at_once_more(stage_of):
    async with stage_of() as stage:
        await stage.until(lambda: "main*" in stage.text)
        before, stage.bench.may_look = stage.bench.looks, asyncio.Event()
        stage.app.bridge.emit(edited("0"))
        await stage.until(lambda: stage.bench.looks == before + 1)
        for number in range(1, 20):
            stage.app.bridge.emit(edited(str(number)))
        stage.bench.may_look.set()
        await stage.until(lambda: stage.bench.looks == before + 2)
        await stage.app.workers.wait_for_complete()
        assert stage.bench.looks == before + 2


async def test_what_only_reads_lets_nobody_look_at_the_workspace(stage_of):
    async with stage_of() as stage:
        await stage.until(lambda: "main*" in stage.text)
        before = stage.bench.looks
        details = ReadDetails(path="a.py", first_line=1, last_line=1, total_lines=1)
        stage.app.bridge.emit(ToolEnded(result=ToolResult(call_id="1", blocks=(), details=details)))
        stage.app.bridge.emit(edited("2"))
        await stage.until(lambda: stage.bench.looks == before + 1)
        await stage.pilot.pause()
        assert stage.bench.looks == before + 1
