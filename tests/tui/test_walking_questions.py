"""Going from one waiting question to the next as fast as a key repeats, and what that lets count as seen."""

from codeagent.core.approvals import Approve
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
