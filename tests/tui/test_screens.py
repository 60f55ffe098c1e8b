"""Pictures of the screens; somebody looks at each when it changes."""

import asyncio

from textual.events import Focus

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


async def seen(pilot, *words):
    """Waits until all of that can be read."""
    end = asyncio.get_running_loop().time() + 20
    while not all(word in reading(pilot) for word in words):
        assert asyncio.get_running_loop().time() < end, reading(pilot)
        await pilot.pause(0.02)


def reading(pilot):
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def pressing(*keys, until=()):
    """Sends a message, waits until keys count at the question, and presses some; then ``until`` can be read."""

    async def run(pilot):
        await seen(pilot, "f1 keys")
        await pilot.press(*"totals", "enter")
        dialog = pilot.app.main.approval
        while not dialog.answers_to(Focus().time):
            await pilot.pause(0.02)
        await pilot.press(*keys)
        await seen(pilot, "waiting for you", "approve", *until)
        await pilot.pause()

    return run


def waiting_for(*words):
    async def run(pilot):
        await seen(pilot, *words)

    return run


def test_the_first_screen(snap_compare, app_of):
    ready = waiting_for("~/src/shop", "main*", "What shall we do?", "f1 keys")
    assert snap_compare(app_of(), terminal_size=(80, 24), run_before=ready)


def test_the_welcome(snap_compare, app_of):
    error = NoModel("No model is set, and no key was found.", hint="Ollama answers at 127.0.0.1:11434.")
    ready = waiting_for("No model is set")
    assert snap_compare(app_of(error=error), terminal_size=(80, 24), run_before=ready)


def test_a_question_about_a_change(snap_compare, app_of, ask_diff):
    app = app_of(asking(ask_diff("c1"), ask_diff("c2")))
    ready = pressing("j", "space", until=("left out", "1 of 2 waiting"))
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


def test_old_and_new_side_by_side(snap_compare, app_of, ask_diff):
    ready = pressing("s", until=("line 3 ", "│", "one column"))
    assert snap_compare(app_of(asking(ask_diff())), terminal_size=(120, 40), run_before=ready)


def test_a_question_about_a_command_in_the_light(snap_compare, app_of, ask_command):
    request = ask_command("rm -rf build && pytest -q", warnings=("rm -rf deletes build/ with all that is in it.",))
    assert snap_compare(app_of(asking(request), theme="light"), terminal_size=(120, 40), run_before=pressing())


def test_a_question_on_the_smallest_screen(snap_compare, app_of, ask_diff):
    assert snap_compare(app_of(asking(ask_diff())), terminal_size=(60, 15), run_before=pressing())


def test_help(snap_compare, app_of):
    async def run(pilot):
        await seen(pilot, "f1 keys", "main*")
        await pilot.press("f1")
        await seen(pilot, "Commands", "/rewind")
        for widget in pilot.app.screen.walk_children():
            widget.styles.scrollbar_size_vertical = 0  # as long as the list is: it says nothing of the looks
        await pilot.pause()

    assert snap_compare(app_of(), terminal_size=(100, 32), run_before=run)


def test_finding_words(snap_compare, app_of, ask_diff):
    async def run(pilot):
        await pressing()(pilot)
        await pilot.press("ctrl+f", *"tot")
        await seen(pilot, "2 of 2", "esc back")
        await pilot.pause()

    assert snap_compare(app_of(asking(ask_diff())), terminal_size=(100, 32), run_before=run)
