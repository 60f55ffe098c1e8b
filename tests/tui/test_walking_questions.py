"""Going from one waiting question to the next as fast as a key repeats, and what that lets count as seen."""

import asyncio

import pytest

from codeagent.core.approvals import Approve
from codeagent.core.events import ToolEnded, ToolRunning, ToolStarted
from codeagent.core.messages import Outcome, TextBlock, ToolResult
from codeagent.tui import running
from tests.tui.test_typing_at_questions import Asking, post, until_it_listens


def three(ask_diff):
    return [ask_diff(call_id=f"c{number}", hunks=1) for number in (1, 2, 3)]


async def test_a_repeated_key_goes_through_all_questions_and_types_nothing(stage_of, ask_diff):
    asking = Asking(*three(ask_diff))
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await until_it_listens(stage)
        post(stage, "]]]]]")
        await stage.until(lambda: dialog.in_view.request.call_id == "c3")
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == ""
        assert dialog.has_keyboard
        await until_it_listens(stage)
        await stage.press_slowly("y")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c3": Approve()}


async def test_an_answer_right_behind_it_answers_nothing(stage_of, ask_diff):
    asking = Asking(*three(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        post(stage, "]]y")
        await stage.until(lambda: "press y again" in stage.text or stage.app.main.prompt.text)
        await stage.pilot.pause()
        assert asking.answers == {}


async def test_what_was_only_flicked_past_was_not_seen(stage_of, ask_diff):
    asking = Asking(*three(ask_diff))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        post(stage, "]]")
        await stage.until(lambda: stage.app.main.approval.in_view.request.call_id == "c3")
        await until_it_listens(stage)
        await stage.press_slowly("Y")
        await stage.until(lambda: "1 not looked at yet" in stage.text)
        assert asking.answers == {"c1": Approve(), "c3": Approve()}


class Preparing(Asking):
    """A turn with three calls, all under way, whose questions are ready when the test says so."""

    are_running = True

    async def __call__(self, emit, approver):
        self.emit, self.approver = emit, approver
        for request in self.requests:
            emit(ToolStarted(call_id=request.call_id, name="edit", arguments_json="{}"))
            if self.are_running:
                emit(ToolRunning(call_id=request.call_id))
        async with asyncio.TaskGroup() as self.group:
            await asyncio.Event().wait()


class Deciding(Preparing):
    """The same where none of them was decided about yet."""

    are_running = False


async def test_questions_stand_in_the_order_of_their_calls_and_the_one_in_view_stays(stage_of, ask_diff):
    first, second, third = three(ask_diff)
    asking = Preparing(first, second, third)
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await stage.until(lambda: asking.group is not None)
        asking.ask(second)
        await stage.until(lambda: dialog.waiting)
        await until_it_listens(stage)
        asking.ask(third)
        await stage.until(lambda: "1 of 2 waiting" in stage.text)
        asking.ask(first)
        await stage.until(lambda: "2 of 3 waiting" in stage.text)
        assert dialog.in_view.request is second
        assert dialog.is_listening
        assert dialog.has_keyboard
        await stage.press_slowly("]")
        assert dialog.in_view.request is third
        await stage.press_slowly("]")
        assert dialog.in_view.request is first


async def test_an_answer_is_for_the_question_in_view_however_many_come_before_it(stage_of, ask_diff):
    first, second, third = three(ask_diff)
    asking = Preparing(first, second, third)
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await stage.until(lambda: asking.group is not None)
        asking.ask(third)
        await stage.until(lambda: stage.app.main.approval.waiting)
        await until_it_listens(stage)
        asking.ask(first)
        asking.ask(second)
        await stage.until(lambda: "3 of 3 waiting" in stage.text)
        await stage.press_slowly("y")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c3": Approve()}


async def held(stage, asking, *requests):
    """Their questions are ready in this order, and none of them is shown."""
    dialog = stage.app.main.approval
    await stage.type("go\n")
    await stage.until(lambda: asking.group is not None)
    for request in requests:
        asking.ask(request)
    await stage.until(lambda: dialog.first_held is not None)
    await stage.pilot.pause()
    assert not dialog.display
    assert dialog.in_view is None
    assert stage.app.focused is stage.app.main.prompt
    return dialog


@pytest.fixture
def patience(monkeypatch):
    monkeypatch.setattr(running, "LONGEST_HOLD", 3600.0)


@pytest.mark.usefixtures("patience")
async def test_the_first_call_that_asks_is_shown_first_though_later_ones_were_ready_before(stage_of, ask_diff):
    first, second, third = three(ask_diff)
    asking = Deciding(first, second, third)
    async with stage_of(asking) as stage:
        dialog = await held(stage, asking, third, second)
        asking.ask(first)
        await stage.until(lambda: "1 of 3 waiting" in stage.text)
        assert dialog.in_view.request is first


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("is_over", [False, True], ids=["runs unasked", "is over"])
async def test_questions_are_shown_as_soon_as_the_earlier_call_cannot_ask_any_more(stage_of, ask_diff, is_over):
    first, second, third = three(ask_diff)
    asking = Deciding(first, second, third)
    async with stage_of(asking) as stage:
        dialog = await held(stage, asking, third, second)
        if is_over:
            result = ToolResult(call_id="c1", blocks=(TextBlock(text="done"),), outcome=Outcome.OK)
            asking.emit(ToolEnded(result=result))
        else:
            asking.emit(ToolRunning(call_id="c1"))
        await stage.until(lambda: "1 of 2 waiting" in stage.text)
        assert dialog.in_view.request is second


async def test_a_call_that_takes_long_to_ask_holds_the_others_back_for_a_moment_only(stage_of, ask_diff, monkeypatch):
    monkeypatch.setattr(running, "LONGEST_HOLD", 0.01)
    first, second, third = three(ask_diff)
    asking = Deciding(first, second, third)
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        await stage.type("go\n")
        await stage.until(lambda: asking.group is not None)
        asking.ask(second)
        await stage.until(lambda: dialog.in_view is not None)
        await stage.until(lambda: stage.app.main.status.status.waiting == 1)
        await until_it_listens(stage)
        asking.ask(first)
        await stage.until(lambda: "2 of 2 waiting" in stage.text)
        await stage.press_slowly("y")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c2": Approve()}


@pytest.mark.usefixtures("patience")
async def test_a_key_typed_while_questions_are_held_back_answers_none(stage_of, ask_diff):
    first, second, third = three(ask_diff)
    asking = Deciding(first, second, third)
    async with stage_of(asking) as stage:
        await held(stage, asking, second)
        post(stage, "y")
        await stage.until(lambda: stage.app.main.prompt.text == "y")
        assert asking.answers == {}


@pytest.mark.usefixtures("patience")
async def test_stopping_the_turn_takes_the_questions_away_that_are_held_back(stage_of, ask_diff):
    first, second, third = three(ask_diff)
    asking = Deciding(first, second, third)
    async with stage_of(asking) as stage:
        dialog = await held(stage, asking, third, second)
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.conversation.is_running)
        await stage.until(lambda: dialog.first_held is None)
        assert not dialog.display
