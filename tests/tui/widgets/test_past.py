from codeagent.core.approvals import Mode
from codeagent.core.events import (
    AgentEvent,
    Delivery,
    HistoryAppended,
    Level,
    MessageDelivered,
    ModelChanged,
    NoticeGiven,
    SessionStarted,
    TextStreamed,
    ToolEnded,
    ToolStarted,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import (
    AssistantMessage,
    Origin,
    Outcome,
    ResultsMessage,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolResult,
    UserMessage,
)
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.past import past_blocks

INKS = inks_of(load_themes()["dark"])


def shown(*events: AgentEvent) -> list[str]:
    return [block.lines(60, INKS)[0].text.strip() for block in past_blocks(events)]


def reply(text: str) -> HistoryAppended:
    blocks = (ThinkingBlock(text="hm"), TextBlock(text=text))
    return HistoryAppended(message=AssistantMessage(blocks=blocks, stop=StopReason.END_TURN))


def test_a_turn_comes_back_in_order():
    assert shown(
        TurnStarted(turn=1, text="hello"),
        HistoryAppended(message=UserMessage(blocks=(TextBlock(text="hello"),))),
        TextStreamed(text="hi"),
        reply("hi *there*"),
        ToolStarted(call_id="1", name="read", arguments_json='{"path": "a.py"}'),
        ToolEnded(result=ToolResult(call_id="1", blocks=())),
        MessageDelivered(message_id="m", text="and b", delivery=Delivery.STEER, step=2),
        NoticeGiven(text="saved", level=Level.INFO),
        TurnEnded(turn=1, reason=TurnEnd.DONE, text="hi there"),
    ) == ["› hello", "Thought  hm", "hi there", "✓ read   a.py", "› and b", "· saved"]


def test_a_call_that_never_ended_shows_as_stopped():
    (heading,) = shown(ToolStarted(call_id="1", name="bash", arguments_json='{"command": "sleep 9"}'))
    assert heading.split() == ["–", "bash", "sleep", "9", "stopped"]


def test_a_result_that_only_the_history_knows_ends_its_call():
    result = ToolResult(call_id="1", blocks=(), outcome=Outcome.FAILED)
    (heading,) = shown(
        ToolStarted(call_id="1", name="bash", arguments_json="{}"),
        HistoryAppended(message=ResultsMessage(results=(result,))),
    )
    assert heading.split() == ["✗", "bash", "failed"]


def test_a_switch_to_another_model_is_told_once_there_is_something_above_it():
    started = SessionStarted(session_id="s", model="a/one", mode=Mode.ASK, cwd="/")
    assert shown(
        started,
        ModelChanged(model="a/two"),
        TurnStarted(turn=1, text="hello"),
        ModelChanged(model="a/three"),
        ModelChanged(model="a/three", effort="high"),
        ModelChanged(model="a/three", effort="high"),
        TurnStarted(turn=2, text="and now"),
        ModelChanged(model="a/one"),
    ) == [
        "› hello",
        "· model: a/two → a/three",
        "· effort: default → high",
        "› and now",
        "· model: a/three → a/one · effort: high → default",
    ]


def test_why_a_turn_ended_is_said_when_it_was_not_done():
    assert shown(
        TurnEnded(turn=1, reason=TurnEnd.CANCELLED, text=""), TurnEnded(turn=2, reason=TurnEnd.ERROR, text="no network")
    ) == ["· Stopped.", "✗ no network"]


def test_a_long_reply_is_cut_into_its_parts():
    assert len(past_blocks([reply("words\n\n" * 1_000)])) > 500


def test_a_shell_command_of_the_persons_own_is_shown_as_one():
    told = "I ran this in the shell myself:\n$ make test\n2 passed\n[exit code 0]"
    words, heading = shown(HistoryAppended(message=UserMessage(blocks=(TextBlock(text=told),), origin=Origin.SHELL)))
    assert "!make test" in words
    assert heading.split()[:4] == ["✓", "bash", "make", "test"]
