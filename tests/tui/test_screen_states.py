"""Pictures of the states in between: what is waited for, folded, named, copied; somebody looks at each."""

import asyncio
import base64
from pathlib import Path

import pytest
from textual.events import Paste

from codeagent.core.approvals import Mode
from codeagent.core.context import CompactionReason, HistoryCompacted, Pin
from codeagent.core.events import (
    Delivery,
    HistoryAppended,
    MessageDelivered,
    ReplyEnded,
    RetryScheduled,
    SessionStarted,
    StepStarted,
    TextStreamed,
    ThinkingStreamed,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import AssistantMessage, StopReason, TextBlock
from codeagent.tui.replay import ReplayApp, Told
from tests.tui import scenes
from tests.tui.scenes import SIZES, filled, shows, typed

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
RICH = """\
Totals now hold for **every** discount; the *old* rule, `1 - discount`, is gone. See https://example.org/totals.

| discount | the price of one item before | after | what the customer reads on the receipt |
| :------- | ---------------------------: | ----: | :------------------------------------- |
| 50 %     | 20.00                        | 20.00 | half price                             |
| 100 %    | error                        | 0.00  | 全商品無料です — enjoy                 |

1. Nested lists
   - hang under their number, also when a line is so long that it has to go on below
     - and a third level
2. 日本語の文章は単語の間に空白がなくても、正しい幅で折り返されます。
3. Emoji take two cells: ✅ done, 🚀 shipped, 👩‍💻 reviewed.
4. שלום עולם, and then English again.

```python
TOTALS = {name: sum(item.price * item.count for item in cart.items) * (1 - cart.discount) for name, cart in carts}
```

> A quote goes on and on until it is longer than a narrow screen is wide, and then it goes on below.
"""


async def waiting(emit, _approver):
    """The model service failed, and is asked again in a moment."""
    scenes.look_around(emit)
    emit(StepStarted(turn=1, step=2))
    emit(RetryScheduled(attempt=2, attempts=6, seconds=8.0, reason="The service is overloaded (529)."))
    await asyncio.Event().wait()


async def steered(emit, _approver):
    """A message that came while it worked, and an end that was not wanted."""
    scenes.look_around(emit)
    text = "also cover negative discounts"
    emit(MessageDelivered(message_id="m1", text=text, delivery=Delivery.STEER, step=2))
    summed = HistoryCompacted(
        reason=CompactionReason.FULL, kept=4, summary="# Goal\nTotals are right.", before=171_000, after=24_000
    )
    emit(summed)
    emit(TextStreamed(text="I'll refuse them where the discount is set."))
    emit(ReplyEnded())
    emit(TurnEnded(turn=1, reason=TurnEnd.ERROR, text="The service refused the key (401). Check it with /doctor."))


async def thinking(emit, _approver):
    """A reply with a longer thought before it."""
    emit(StepStarted(turn=1, step=1))
    thought = "The discount is a fraction, so one is all of it.\n\nThen the divisor is zero. Multiplying avoids that, "
    emit(ThinkingStreamed(text=thought + "and is what the tests want: half of forty is twenty."))
    emit(TextStreamed(text="The total has to be multiplied, not divided."))
    emit(ReplyEnded())


async def rich(emit, _approver):
    """A reply that holds all that is hard to lay out."""
    emit(StepStarted(turn=1, step=1))
    emit(TextStreamed(text=RICH))
    emit(ReplyEnded())


TURNS = {
    "retry": (waiting, typed("the totals are wrong\n", until=("Trying again in 8 s", "again in 8 s"))),
    "steered": (steered, typed("the totals are wrong\n", until=("refused the key", "f1 keys"))),
    "thinking": (thinking, typed("why\n", "tab", "enter", until=("half of forty", "esc prompt"))),
    "times": (scenes.tools_in_every_state, typed("the totals are wrong\n", "f2", until=("4,000 carts", "03:0"))),
    "own command": (scenes.done, typed("!pytest -q\n", until=("✓ bash", "f1 keys"))),
}


@SIZES
@pytest.mark.parametrize("name", TURNS)
def test_a_turn(picture, name, size, theme):
    turn, steps = TURNS[name]
    assert picture(steps, size, turn=turn, theme=theme)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_markdown_that_is_hard_to_lay_out(picture, columns):
    steps = typed("show me\n", until=("goes on below", "f1"))
    assert picture(steps, (columns, 64), turn=rich, theme="dark")


def pasted(text):
    async def steps(stage):
        await shows("f1 keys", "main*")(stage)
        await stage.type("look at ")
        stage.app.post_message(Paste(text))
        await stage.until(lambda: "]" in stage.app.main.prompt.text)
        await stage.type("what is wrong?")
        await shows("what is wrong?")(stage)

    return steps


@SIZES
def test_a_folded_paste(picture, size, theme):
    assert picture(pasted("\n".join(f"line {number}" for number in range(45))), size, theme=theme)


@SIZES
def test_an_image_in_the_prompt(picture, tmp_path, size, theme):
    (tmp_path / "receipt.png").write_bytes(PIXEL)
    assert picture(pasted(str(tmp_path / "receipt.png")), size, theme=theme)


@SIZES
def test_a_prompt_of_several_lines_in_vi_mode(picture, size, theme):
    steps = typed("mend the totals:\\\n- of all carts\\\n- of all receipts", "escape", until=(" normal", "receipts"))
    assert picture(steps, size, theme=theme, vi=True)


async def pinned(stage):
    stage.conversation.pins = (Pin(label="you: keep the tests", text="keep the tests"),)
    await typed("round to cents\n/pin\n", until=("you: round to cents", "esc leave"))(stage)


async def rule_typed(stage):
    await typed("/permissions\n", "a", until=("esc back",))(stage)
    await stage.type("deny read(*.log)")
    await shows("It denies all that fits", "Holds for")(stage)


WINDOWS = {
    "tools": typed("/tools\n", until=("Reads a file", "offset?")),
    "pin": pinned,
    "adding a rule": rule_typed,
    "renaming": typed("/resume\n", "ctrl+r", until=("New title", "esc leave as it is")),
    "deleting": typed("/resume\n", "ctrl+d", until=("Delete “a shop in a day”?",)),
    "fork": typed("/fork\n", until=("Fork here", "also cover negative discounts")),
    "modes": typed("/mode\n", until=("esc leave", "plan")),
    "no such command": typed("/rewnid\n", until=("/rewind",)),
}


@SIZES
@pytest.mark.parametrize("name", WINDOWS)
def test_a_window(picture, timeline, name, size, theme):
    async def steps(stage):
        await filled(stage)
        await WINDOWS[name](stage)

    assert picture(steps, size, timeline=timeline, theme=theme)


@SIZES
def test_taking_back_what_the_person_changed_since(picture, timeline, tmp_path, size, theme):
    (tmp_path / "shop" / "cart.py").write_text(scenes.NEW.replace("self.sum * (1", "self.sum * max(0, 1"))
    steps = typed("/undo\n", until=("you changed the same lines since", "Take back"))
    assert picture(steps, size, timeline=timeline, theme=theme)


@SIZES
def test_a_replay(snap_compare, tmp_path, size, theme):
    reply = AssistantMessage(blocks=(TextBlock(text=scenes.ANSWER),), stop=StopReason.END_TURN)
    events = [
        SessionStarted(session_id="s-1", model="anthropic/claude-test", mode=Mode.ASK, cwd="/src/shop"),
        TurnStarted(turn=1, text="the totals are wrong"),
        HistoryAppended(message=reply),
        TurnEnded(turn=1, reason=TurnEnd.DONE, text=""),
    ]
    told = [Told(at=float(number), event=event) for number, event in enumerate(events)]
    root = Path.home() / "src" / "shop"
    app = ReplayApp(told=told, title="mend the totals", root=root, theme=theme, speed=4.0, reduced_motion=True)

    async def to_the_end(pilot):
        while not app.main.query("#replay"):
            await pilot.pause()
        await pilot.press("end")
        while not app.is_over:
            await pilot.pause()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=to_the_end)
