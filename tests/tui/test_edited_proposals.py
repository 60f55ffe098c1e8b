"""What the person makes of a proposal is never lost, whatever happens to the file, the question or the program."""

import asyncio
import os
import signal
from dataclasses import replace

import pytest

from codeagent.core.approvals import Approve, DiffPreview
from codeagent.core.diff import make_diff
from codeagent.core.events import ToolEnded, ToolStarted
from codeagent.core.messages import Outcome, TextBlock, ToolResult
from codeagent.tui import drafts
from tests.tui.conftest import BEFORE
from tests.tui.test_typing_at_questions import Asking, until_it_listens


def changed_by_someone(request):
    """The same call on a file whose first line is another one now."""
    before = BEFORE.replace("line 1\n", "line of someone else\n")
    after = request.preview.proposal.replace("line 1\n", "line of someone else\n")
    return replace(request, preview=DiffPreview(diff=make_diff("shop/cart.py", before, after), proposal=after))


OF_CART = "My edit of shop/cart.py, which was not used:\n"


class Editing(Asking):
    """A turn with one call, whose question can change and which can end."""

    async def __call__(self, emit, approver):
        self.emit = emit
        emit(ToolStarted(call_id="c1", name="edit", arguments_json="{}"))
        await super().__call__(emit, approver)

    async def end(self, outcome):
        if task := self.open.pop("c1", None):
            task.cancel()
            await asyncio.wait([task])
        result = ToolResult(call_id="c1", blocks=(TextBlock(text="no such text"),), outcome=outcome)
        self.emit(ToolEnded(result=result))


async def open_editor(stage, typed):
    """Opens the edit of the proposal and types at its beginning."""
    await stage.type("go\n")
    await until_it_listens(stage)
    await stage.press_slowly("e")
    editor = stage.app.main.approval._text._editor
    await stage.until(lambda: stage.app.focused is editor)
    editor.move_cursor((0, 0))
    await stage.type(typed)
    await stage.until(lambda: editor.text.startswith(typed))
    return editor


async def it_is_there_again(stage, editor, text):
    """The edit opens with the text that was typed before."""
    await until_it_listens(stage)
    await stage.press_slowly("e")
    await stage.until(lambda: stage.app.focused is editor)
    assert editor.text == text


async def ask_anew(stage, asking, request):
    before = stage.app.main.approval.in_view
    asking.withdraw("c1")
    await stage.until(lambda: before.is_called_off)
    asking.ask(request)
    await stage.until(lambda: stage.app.main.approval.in_view is not before)


async def test_an_edit_that_is_open_while_its_file_changes_stays_open_and_is_compared_with_the_new_file(
    stage_of, ask_diff
):
    request = ask_diff()
    asking = Editing(request)
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        mine, cursor = editor.text, editor.cursor_location
        await ask_anew(stage, asking, changed_by_someone(request))
        await stage.until(lambda: "Your text stays, and is compared with the new file" in stage.text)
        assert stage.app.focused is editor
        assert (editor.text, editor.cursor_location) == (mine, cursor)
        await stage.type("!")
        await until_old_enough(stage)
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Approve(edited=mine.replace("mine", "mine!"))}


async def until_old_enough(stage):
    """The change was in view long enough for an answer to be meant for it."""
    dialog = stage.app.main.approval
    await stage.until(lambda: not dialog.is_just_changed)


async def test_an_editor_in_which_nothing_was_typed_holds_the_new_proposal_after_the_file_changed(stage_of, ask_diff):
    request = ask_diff()
    asking = Editing(request)
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "")
        anew = changed_by_someone(request)
        await ask_anew(stage, asking, anew)
        await stage.until(lambda: editor.text == anew.preview.proposal)
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: "The file changed just now" in stage.text)
        assert asking.answers == {}


async def test_no_answer_counts_between_the_change_of_the_file_and_the_new_question(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        question = stage.app.main.approval.in_view
        asking.withdraw("c1")
        await stage.until(lambda: question.is_called_off)
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: "The file changed just now" in stage.text)
        assert asking.answers == {}
        assert editor.text.startswith("mine")


async def test_a_kept_edit_is_there_again_at_the_changed_question(stage_of, ask_diff):
    request = ask_diff()
    asking = Editing(request)
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        mine = editor.text
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.approval.is_at_question)
        question = stage.app.main.approval.in_view
        asking.withdraw("c1")
        await stage.until(lambda: stage.app.main.approval.in_view is not question)
        asking.ask(changed_by_someone(request))
        await stage.until(lambda: "Your edited text is kept: e opens it" in stage.text)
        await it_is_there_again(stage, editor, mine)


async def test_leaving_the_editor_while_the_new_question_is_on_its_way_keeps_the_text(stage_of, ask_diff):
    request = ask_diff()
    asking = Editing(request)
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        mine, question = editor.text, stage.app.main.approval.in_view
        asking.withdraw("c1")
        await stage.until(lambda: question.is_called_off)
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.app.main.approval.waiting)
        asking.ask(changed_by_someone(request))
        await stage.until(lambda: stage.app.main.approval.waiting)
        await it_is_there_again(stage, editor, mine)


async def test_an_edit_that_was_sent_and_asked_about_again_is_kept_when_the_file_changes_then(stage_of, ask_diff):
    request = ask_diff()
    asking = Editing(request)
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        mine = editor.text
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers == {"c1": Approve(edited=mine)})
        asking.ask(changed_by_someone(request))
        await stage.until(lambda: stage.app.main.approval.waiting)
        await it_is_there_again(stage, editor, mine)


async def test_the_new_diff_that_was_asked_for_comes_into_view_before_other_questions(stage_of, ask_diff):
    first, second = ask_diff("c1"), ask_diff("c2")
    asking = Editing(first, second)
    async with stage_of(asking) as stage:
        dialog = stage.app.main.approval
        editor = await open_editor(stage, "mine")
        stage.app.main.prompt.put("a draft, which keeps the keyboard")
        stage.app.screen.set_focus(editor)
        mine = editor.text
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers)
        assert dialog.in_view.request is second
        anew = replace(first, preview=DiffPreview(diff=make_diff("shop/cart.py", BEFORE, mine), proposal=mine))
        asking.ask(anew)
        await stage.until(lambda: dialog.in_view.request is anew)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.DENIED, Outcome.CANCELLED])
@pytest.mark.parametrize("was_sent", [False, True], ids=["open", "sent"])
async def test_an_edit_whose_call_ends_without_it_goes_to_the_prompt(stage_of, ask_diff, outcome, was_sent):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        mine, prompt = editor.text, stage.app.main.prompt
        if was_sent:
            await stage.pilot.press("ctrl+s")
            await stage.until(lambda: asking.answers)
        await asking.end(outcome)
        await stage.until(lambda: prompt.full_text == f"{OF_CART}{mine}")
        assert "your text is in the prompt" in stage.text
        assert stage.app.focused is prompt


async def test_an_emptied_text_leaves_no_line_about_it_in_the_prompt(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        editor.load_text("")
        await asking.end(Outcome.FAILED)
        await stage.until(lambda: not stage.app.main.approval.waiting)
        await stage.pilot.pause()
        assert stage.app.main.prompt.is_empty
        assert stage.app.main.approval.typed() == []


async def test_an_edit_that_was_carried_out_leaves_the_prompt_alone(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        await open_editor(stage, "mine")
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers)
        await asking.end(Outcome.OK)
        await asyncio.sleep(0)
        await stage.pilot.pause()
        assert stage.app.main.prompt.is_empty


async def test_an_open_edit_is_the_draft_of_a_program_that_is_left(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        await stage.app.action_quit()
        assert stage.bench.kept == OF_CART + editor.text


async def test_what_is_typed_into_an_open_edit_is_kept_as_the_prompts_draft_is(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        await stage.until(lambda: stage.bench.kept == OF_CART + editor.text)


async def test_an_edit_that_was_left_is_still_in_the_draft(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        mine = (await open_editor(stage, "mine")).text
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.approval.is_at_question)
        await stage.app.action_quit()
        assert stage.bench.kept == OF_CART + mine


async def test_a_sentence_for_the_model_is_kept_while_it_is_typed(stage_of, ask_diff):
    async with stage_of(Editing(ask_diff())) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        await stage.until(lambda: stage.app.main.approval.has_focus_within)
        await stage.until(lambda: not stage.app.main.approval.is_at_question)
        await stage.type("not so")
        await stage.until(lambda: stage.bench.kept == "not so")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_an_open_edit_is_the_draft_of_a_program_that_is_told_to_end(stage_of, ask_diff, monkeypatch, number):
    monkeypatch.setattr(drafts, "SECONDS", 3600.0)  # so that nothing else keeps it
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        mine = (await open_editor(stage, "mine")).text
        os.kill(os.getpid(), number)
        await stage.until(lambda: not stage.app.is_running)
        assert stage.bench.kept == OF_CART + mine
        assert stage.app.return_code == 128 + number
        assert not isinstance(asking.answers.get("c1"), Approve)


async def test_an_edit_from_before_waits_in_the_history_by_its_name_and_no_enter_sends_it(stage_of):
    async with stage_of(draft=f"then the tests\n{OF_CART}x = 1\n") as stage:
        prompt = stage.app.main.prompt
        await stage.until(lambda: "draft from before · ctrl+c clears · ↑ your edit of shop/cart.py" in stage.text)
        assert prompt.text == "then the tests"
        assert stage.bench.kept == "then the tests"
        prompt.clear_typed()
        await stage.pilot.press("up")
        assert prompt.text == f"{OF_CART}x = 1"


async def test_an_edit_alone_says_where_it_is(stage_of):
    async with stage_of(draft=f"{OF_CART}x = 1\n") as stage:
        await stage.until(lambda: "your edit of shop/cart.py from before · ↑ brings it" in stage.text)
        assert stage.app.main.prompt.is_empty
        assert stage.bench.typed[-1] == f"{OF_CART}x = 1"


async def test_a_long_edit_that_was_not_used_keeps_its_first_line_in_view(stage_of, ask_diff):
    asking = Editing(ask_diff())
    async with stage_of(asking) as stage:
        editor = await open_editor(stage, "mine")
        editor.load_text("x = 1\n" * 30)
        await asking.end(Outcome.FAILED)
        await stage.until(lambda: "[pasted text #1" in stage.app.main.prompt.text)
        assert stage.app.main.prompt.text.startswith(OF_CART)


FAMILY = "👨\u200d👩\u200d👧\u200d👦"


async def test_a_step_in_an_open_edit_is_a_whole_character(stage_of, ask_diff):
    async with stage_of(Editing(ask_diff())) as stage:
        editor = await open_editor(stage, "a")
        editor.insert(FAMILY)
        await stage.pilot.press("left", "x", "right", "backspace")
        assert editor.text.splitlines()[0].startswith("ax")
        assert FAMILY[0] not in editor.text
        assert FAMILY[-1] not in editor.text


async def test_a_step_in_a_sentence_is_a_whole_character(stage_of, ask_diff):
    async with stage_of(Editing(ask_diff())) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        await stage.press_slowly("t")
        await stage.until(lambda: stage.app.main.approval.has_focus_within)
        field = stage.app.focused
        field.insert(f"a{FAMILY}")
        await stage.pilot.press("left", "x", "right", "y")
        assert field.value == f"ax{FAMILY}y"
        await stage.pilot.press("left", "backspace", "delete")
        assert field.value == "ax"
        await stage.pilot.press("shift+left", "left", "b")
        assert field.value == "abx"
