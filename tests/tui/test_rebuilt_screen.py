"""A session that is opened again, or replayed, looks as it did live: line for line."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.approvals import (
    Access,
    ApprovalRequest,
    Approve,
    Decision,
    Deny,
    DiffPreview,
    Mode,
    Touch,
    Verdict,
)
from codeagent.core.context import CompactionReason, HistoryCompacted
from codeagent.core.diff import make_diff
from codeagent.core.events import (
    REFUSED,
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    ConversationRestored,
    ConversationRewound,
    Delivery,
    HistoryAppended,
    Level,
    MessageDelivered,
    MessageQueued,
    NoticeGiven,
    ReplyEnded,
    SessionStarted,
    StepStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import (
    AssistantMessage,
    ChangeDetails,
    CommandDetails,
    Origin,
    Outcome,
    ResultsMessage,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.output_colours import colours_of
from codeagent.store.journal import JournalFile
from codeagent.tui.replay import LONGEST_PAUSE, ReplayApp, Told, beats
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.inks import inks_of
from tests.agent.stage import Model
from tests.agent.stage import Stage as Talk

DIFF = make_diff("cart.py", "a\nb\nc\n", "a\nB\nc\n")
LONG = "A **paragraph** of words.\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" * 60


def reply(text: str, *calls: ToolCall, thinking: str = "") -> list[AgentEvent]:
    """A reply as it comes in live, then as the history keeps it."""
    blocks = (ThinkingBlock(text=thinking),) if thinking else ()
    blocks += (TextBlock(text=text),) if text else ()
    pieces = [TextStreamed(text=text[start : start + 7]) for start in range(0, len(text), 7)]
    stop = StopReason.TOOL_USE if calls else StopReason.END_TURN
    return [
        *([ThinkingStreamed(text=thinking)] if thinking else []),
        *pieces,
        ReplyEnded(),
        HistoryAppended(message=AssistantMessage(blocks=(*blocks, *calls), stop=stop)),
    ]


def said(number: int, text: str) -> list[AgentEvent]:
    message = UserMessage(blocks=(TextBlock(text=text),))
    return [TurnStarted(turn=number, text=text), HistoryAppended(message=message), StepStarted(turn=number, step=1)]


def call(call_id: str, name: str = "edit") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments_json='{"path": "cart.py"}')


def begun(call_id: str, name: str = "edit", *, preview: bool = True) -> list[AgentEvent]:
    started = ToolStarted(call_id=call_id, name=name, arguments_json='{"path": "cart.py"}')
    shown = ToolPreviewed(call_id=call_id, preview=DiffPreview(diff=DIFF, proposal="B"), label="cart.py")
    return [started, shown] if preview else [started]


def asked(call_id: str, answer) -> list[AgentEvent]:
    request = ApprovalRequest(
        call_id=call_id,
        tool="edit",
        preview=DiffPreview(diff=DIFF, proposal="B"),
        touches=(Touch(path=Path("/tmp/cart.py"), access=Access.WRITE),),
        verdict=Verdict(decision=Decision.ASK, because="mode"),
    )
    return [ApprovalAsked(request=request), ApprovalSettled(call_id=call_id, answer=answer)]


def result(call_id: str, text: str = "done", **others) -> ToolResult:
    return ToolResult(call_id=call_id, blocks=(TextBlock(text=text),), **others)


def over(number: int, reason: TurnEnd = TurnEnd.DONE, text: str = "") -> list[AgentEvent]:
    return [TurnEnded(turn=number, reason=reason, text=text)]


def results(*ended: ToolResult) -> list[AgentEvent]:
    return [HistoryAppended(message=ResultsMessage(results=ended))]


CHANGED = result("c1", details=ChangeDetails(diffs=(DIFF,), level="exact"))
DENIED = result("c2", "Not run: the person said no.", outcome=Outcome.DENIED, code="DENIED")
FAILED = result(
    "c3",
    "boom\nno such thing",
    details=CommandDetails(
        command="make",
        cwd="/",
        ended="exit code 2",
        exit_code=2,
        seconds=1.0,
        colours=colours_of("\x1b[31mboom\x1b[0m\nno such thing"),
    ),
)
RICH: list[AgentEvent] = [
    SessionStarted(session_id="s", model="m", mode=Mode.ASK, cwd="/"),
    NoticeGiven(text="A rule of yours has no effect.", level=Level.WARNING),
    *said(1, "mend the totals\nplease"),
    *reply("I'll look.", call("c1"), call("c2"), thinking="Where are\nthe totals?"),
    *begun("c1"),
    *begun("c2"),
    *asked("c1", Approve()),
    *asked("c2", Deny(feedback="not that one")),
    ToolProgressed(call_id="c1", text="writing"),
    ToolEnded(result=CHANGED, seconds=0.2),
    ToolEnded(result=DENIED, seconds=0.0),
    *results(CHANGED, DENIED),
    MessageQueued(message_id="m1", text="and the tests", delivery=Delivery.STEER, waits_for="bash"),
    HistoryAppended(message=UserMessage(blocks=(TextBlock(text="and the tests"),), origin=Origin.STEERING)),
    MessageDelivered(message_id="m1", text="and the tests", delivery=Delivery.STEER, step=2),
    *reply("", call("c3", "bash")),
    *begun("c3", "bash", preview=False),
    ToolProgressed(call_id="c3", text="boom\nno such thing"),
    ToolEnded(result=FAILED, seconds=1.0),
    *results(FAILED),
    *reply(LONG, thinking="Nearly done."),
    *over(1),
    NoticeGiven(text="Took back edit cart.py: 1 file."),
    HistoryCompacted(reason=CompactionReason.FULL, kept=2, summary="## Task\nTotals.", before=9_000, after=900),
    *said(2, "a second thing"),
    *reply("It is done."),
    *over(2),
    *said(3, "a third thing"),
    *reply("Half of an ans"),
    *over(3, TurnEnd.CANCELLED),
    ConversationRewound(turn=2),
    ConversationRestored(turn=2),
    ConversationRewound(turn=3),
    *said(4, "instead of the third"),
    *reply("Instead."),
    *over(4, TurnEnd.ERROR, "The network is gone."),
    *said(5, "going on"),
    *over(5, TurnEnd.STEP_LIMIT, "Stopped after 50 steps, which is the limit."),
    *said(6, "more"),
    *over(6, TurnEnd.BUDGET),
    *said(7, "and more"),
    *over(7, TurnEnd.REFUSED, "and more"),
]
PASSING = TextStreamed | ThinkingStreamed | ReplyEnded | ToolProgressed


def rows(app) -> list[str]:
    """All rows of the transcript, those out of view as well."""
    transcript = app.main.transcript
    transcript.flush()
    column = transcript.column
    for index in range(len(column)):
        column.measure(index)
    lines = [column.line(row) for row in range(column.height)]
    return ["".join(piece.text for piece in line.pieces).rstrip() for line in lines]


async def kept(tmp_path: Path, events: list[AgentEvent]) -> tuple[AgentEvent, ...]:
    """What the record gives back of them."""
    journal = JournalFile(tmp_path / "a.jsonl", redact=str)
    for event in events:
        if not isinstance(event, PASSING):
            await journal.append(event)
    journal.close()
    again, past = JournalFile.reopen(journal.path, redact=str)
    again.close()
    return past.events


async def live(stage_of, events: list[AgentEvent], *, is_open: bool) -> list[str]:
    async with stage_of(size=(90, 30)) as stage:
        for event in events:
            stage.app.bridge.emit(event)
        if is_open:
            stage.app.main.transcript.toggle_all()
        return rows(stage.app)


@pytest.mark.parametrize("is_open", [False, True])
async def test_a_session_opened_again_shows_what_it_showed(stage_of, tmp_path, is_open):
    past = await kept(tmp_path, RICH)
    seen = await live(stage_of, RICH, is_open=is_open)
    async with stage_of(size=(90, 30), past=past) as stage:
        if is_open:
            stage.app.main.transcript.toggle_all()
        assert rows(stage.app) == seen


async def test_what_a_model_said_as_it_refused_stands_once_above_what_to_do(stage_of):
    streamed = TextStreamed(text="I'd rather not.")
    ended = over(7, TurnEnd.REFUSED, "I'd rather not.")
    seen = await live(stage_of, [*said(7, "Do it"), streamed, *ended], is_open=False)
    shown = [row.strip() for row in seen if "rather not" in row or "refused" in row]
    assert shown == ["I'd rather not.", f"! {REFUSED}"]


async def test_output_keeps_its_colours_in_a_session_opened_again(stage_of, tmp_path):
    past = await kept(tmp_path, RICH)
    async with stage_of(size=(90, 30), past=past) as stage:
        rows(stage.app)
        column = stage.app.main.transcript.column
        pieces = [piece for row in range(column.height) for piece in column.line(row).pieces]
        (boom,) = [piece for piece in pieces if piece.text == "boom"]
        assert boom.style.color == inks_of(load_themes()["dark"]).error.color


async def test_a_replay_shows_what_was_seen(stage_of, tmp_path):
    past = await kept(tmp_path, RICH)
    seen = await live(stage_of, RICH, is_open=False)
    told = [Told(at=number * 60.0, event=event) for number, event in enumerate(past)]
    app = ReplayApp(told=told, title="mend", root=tmp_path, theme="dark", speed=0.001, reduced_motion=True)
    async with app.run_test(size=(90, 30)) as pilot:
        while not app.main.query("#replay"):
            await pilot.pause()
        await pilot.press("end")
        while not app.is_over:
            await pilot.pause()
        assert rows(app) == seen


OWN = CommandDetails(
    command="make\ntest",
    cwd="/",
    ended="exit code 1",
    exit_code=1,
    seconds=0.0,
    colours=colours_of("\x1b[31mboom\x1b[0m\n"),
)
OWN_RESULT = ToolResult(call_id="own", blocks=(TextBlock(text="boom\n[exit code 1]"),), details=OWN)


def styles_of(app, words: str) -> list[object]:
    column = app.main.transcript.column
    pieces = [piece for row in range(column.height) for piece in column.line(row).pieces]
    return [piece.style for piece in pieces if piece.text == words]


async def test_a_command_of_the_persons_own_looks_the_same_live_opened_again_and_replayed(stage_of, tmp_path):
    async with stage_of(size=(90, 30)) as stage:
        stage.bench.own_result = OWN_RESULT
        stage.app._outgoing.send("!make\ntest")
        await stage.until(lambda: any("✗ bash" in row for row in rows(stage.app)))
        seen, style = rows(stage.app), styles_of(stage.app, "boom")
    talk = Talk(Model())
    talk.session.add_shell_result("make\ntest", OWN_RESULT)
    await talk.session.keep_asides()
    past = await kept(tmp_path, [*talk.of(HistoryAppended)])
    async with stage_of(size=(90, 30), past=past) as stage:
        assert rows(stage.app) == seen
        assert styles_of(stage.app, "boom") == style
    told = [Told(at=0.0, event=event) for event in past]
    app = ReplayApp(told=told, title="mend", root=tmp_path, theme="dark", reduced_motion=True)
    async with app.run_test(size=(90, 30)) as pilot:
        while not app.is_over:
            await pilot.pause()
        assert rows(app) == seen
        assert styles_of(app, "boom") == style


@pytest.mark.parametrize(("lines", "seconds"), [(3, 1.0), (200, 1.0), (1, 90.0), (0, 1.0)])
def test_a_commands_output_comes_in_the_course_of_the_time_that_it_took(lines, seconds):
    text = "".join(f"line {number}\n" for number in range(lines))
    details = CommandDetails(command="make", cwd="/", ended="exit code 2", exit_code=2, seconds=seconds)
    ended = ToolEnded(result=result("c3", f"{text}[exit code 2]", details=details), seconds=seconds)
    told = [Told(at=0.0, event=begun("c3", "bash", preview=False)[0]), Told(at=seconds, event=ended)]
    played = [*beats(told)][1:]
    *pieces, (_, last) = played
    assert last == ended
    assert "".join(event.text for _, event in pieces) == text
    assert {event.call_id for _, event in pieces} <= {"c3"}
    pauses = [pause for pause, _ in played]
    assert sum(pauses) == pytest.approx(min(seconds, LONGEST_PAUSE))
    assert max(pauses) == pytest.approx(min(pauses))


async def test_turns_that_were_taken_back_leave_the_screen(stage_of, tmp_path):
    seen = "\n".join(await live(stage_of, RICH, is_open=False))
    assert "a second thing" in seen
    assert "a third thing" not in seen
    assert "instead of the third" in seen


async def test_a_replay_can_be_held_and_goes_on(tmp_path):
    told = [Told(at=0.0, event=event) for event in [*said(1, "hello"), *reply("words " * 400), *over(1)]]
    app = ReplayApp(told=told, title="mend", root=tmp_path, theme="dark", reduced_motion=True)
    async with app.run_test(size=(90, 30)) as pilot:
        while not app.main.query("#replay"):
            await pilot.pause()
        await pilot.press("space")
        assert "paused" in str(app.main.query_one("#replay-what").render())
        await pilot.press("+", "+", "-")
        assert "2×" in str(app.main.query_one("#replay-what").render())
        assert not app.is_over
        await pilot.press("space", "end")
        while not app.is_over:
            await pilot.pause()
        assert "the end" in str(app.main.query_one("#replay-what").render())
        await pilot.press("q")
    assert app.return_code == 0
