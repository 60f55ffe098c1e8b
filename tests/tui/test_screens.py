"""Pictures of the screens; somebody looks at each when it changes."""

import asyncio

from codeagent.core.errors import NoModel
from codeagent.core.events import (
    ApprovalAsked,
    ReplyEnded,
    StepStarted,
    TextStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolStarted,
    UsageReported,
)
from codeagent.core.messages import ReadDetails, TextBlock, ToolResult, Usage
from codeagent.tui.screens.main import QUIET_SECONDS
from codeagent.tui.widgets.approval import REACTION_SECONDS


def asking(*requests):
    """A turn that looks at a file and then asks."""

    async def turn(emit, approver):
        emit(StepStarted(turn=1, step=1))
        emit(TextStreamed(text="I'll look at how totals are computed."))
        emit(ReplyEnded())
        emit(ToolStarted(call_id="r1", name="read", arguments_json='{"path": "shop/cart.py"}'))
        details = ReadDetails(path="shop/cart.py", first_line=1, last_line=88, total_lines=88)
        emit(ToolEnded(result=ToolResult(call_id="r1", blocks=(TextBlock(text="1→x"),), details=details)))
        emit(UsageReported(usage=Usage(input_tokens=68_000), window=200_000, cost=0.12))
        async with asyncio.TaskGroup() as group:
            for request in requests:
                emit(ToolStarted(call_id=request.call_id, name=request.tool, arguments_json="{}"))
                emit(ToolPreviewed(call_id=request.call_id, preview=request.preview, label="shop/cart.py"))
                emit(ApprovalAsked(request=request))
                group.create_task(approver.ask(request))

    return turn


def pressing(*keys):
    """Sends a message, waits for the question to have the keyboard, and presses keys."""

    async def run(pilot):
        await pilot.pause(0.1)
        await pilot.press(*"totals", "enter")
        await pilot.pause(QUIET_SECONDS + REACTION_SECONDS + 0.3)
        await pilot.press(*keys)
        await pilot.pause(0.3)

    return run


async def settle(pilot):
    await pilot.pause(0.3)


def test_the_first_screen(snap_compare, app_of):
    assert snap_compare(app_of(), terminal_size=(80, 24), run_before=settle)


def test_the_welcome(snap_compare, app_of):
    error = NoModel("No model is set, and no key was found.", hint="Ollama answers at 127.0.0.1:11434.")
    assert snap_compare(app_of(error=error), terminal_size=(80, 24), run_before=settle)


def test_a_question_about_a_change(snap_compare, app_of, ask_diff):
    app = app_of(asking(ask_diff("c1"), ask_diff("c2")))
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing("j", "space"))


def test_a_question_about_a_command_in_the_light(snap_compare, app_of, ask_command):
    request = ask_command("rm -rf build && pytest -q", warnings=("rm -rf deletes build/ with all that is in it.",))
    assert snap_compare(app_of(asking(request), theme="light"), terminal_size=(120, 40), run_before=pressing())


def test_a_question_on_the_smallest_screen(snap_compare, app_of, ask_diff):
    assert snap_compare(app_of(asking(ask_diff())), terminal_size=(60, 15), run_before=pressing())


def test_help(snap_compare, app_of):
    async def run(pilot):
        await pilot.pause(0.1)
        await pilot.press("f1")
        await pilot.pause(0.2)

    assert snap_compare(app_of(), terminal_size=(100, 32), run_before=run)
