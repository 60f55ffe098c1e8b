"""Nothing typed for something else may answer a question."""

import asyncio

import pytest
from textual import events

from codeagent.core.approvals import Approve, Deny, Withdraw
from codeagent.core.events import NoticeGiven
from codeagent.tui.screens import typing
from codeagent.tui.screens.main import QUIET_SECONDS
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.answer_text import Sentence

LONG = 600.0  # seconds that no test lasts, however busy the machine


class Asking:
    """A turn that asks questions when told to, and keeps the answers."""

    def __init__(self, *requests, at_once=True):
        self.requests = requests
        self.answers = {}
        self.go = asyncio.Event()
        if at_once:
            self.go.set()

    async def __call__(self, emit, approver):
        await self.go.wait()

        async def ask(request):
            self.answers[request.call_id] = await approver.ask(request)

        async with asyncio.TaskGroup() as group:
            for request in self.requests:
                group.create_task(ask(request))


async def begin(stage):
    await stage.type("go\n")


async def live(stage):
    """Waits until the question has earned the keyboard and its keys count."""
    dialog = stage.app.main.approval
    await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))


async def test_a_question_takes_the_keyboard_after_a_quiet_moment_and_y_answers(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        stage.app.main.prompt.put("go")
        started = asyncio.get_running_loop().time()
        stage.app.post_message(events.Key("enter", "\r"))
        await live(stage)
        assert asyncio.get_running_loop().time() - started >= QUIET_SECONDS
        await stage.pilot.press("y")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Approve()}
        assert stage.app.focused is stage.app.main.prompt


async def test_typing_on_never_answers_and_stays_in_the_prompt(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1), at_once=False)
    async with stage_of(asking) as stage:
        await begin(stage)
        for index, character in enumerate("1 yes a"):
            if index == 2:
                asking.go.set()
            await stage.type(character)
            await asyncio.sleep(0.1)
        assert stage.app.main.approval.waiting == 1
        assert asking.answers == {}
        assert stage.app.main.prompt.text == "1 yes a"
        await asyncio.sleep(QUIET_SECONDS + 0.2)
        assert stage.app.focused is stage.app.main.prompt


async def send(stage, text, seconds=0.0):
    """Types at machine speed, or with so long a pause between keys."""
    for character in text:
        stage.app.post_message(events.Key("space" if character == " " else character, character))
        await asyncio.sleep(seconds)


async def test_a_letter_pressed_before_the_question_had_the_keyboard_answers_nothing_and_can_be_pressed_again(
    stage_of, ask_diff
):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        stage.app.main.prompt.put("go")
        stage.app.post_message(events.Key("enter", "\r"))
        early = events.Key("y", "y")
        await live(stage)
        stage.app.post_message(early)
        await stage.until(lambda: "Shown just now: press y again" in stage.text)
        assert asking.answers == {}
        assert stage.app.main.prompt.is_empty
        await stage.press_slowly("y")
        assert asking.answers == {"c1": Approve()}


async def test_a_letter_that_comes_too_soon_after_the_question_took_the_keyboard_answers_nothing(
    stage_of, ask_diff, monkeypatch
):
    monkeypatch.setattr("codeagent.tui.widgets.question_pane.REACTION_SECONDS", LONG)
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.until(lambda: stage.app.main.approval.has_focus)
        await stage.press_slowly("y")
        assert asking.answers == {}
        assert stage.app.main.prompt.is_empty


def stand_out(stage):
    """The keys that stand out in the row of answers."""
    (answers,) = stage.app.query(AnswerKeys)
    strips = [answers.render_line(row) for row in range(answers.size.height)]
    return [segment.text for strip in strips for segment in strip if segment.style and segment.style.bold]


async def test_the_keys_stand_out_as_soon_as_they_count_and_no_sooner(stage_of, ask_diff, monkeypatch):
    asking = Asking(ask_diff("c1", hunks=1), ask_diff("c2", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.until(lambda: {"y", "n"} <= set(stand_out(stage)))
        assert stage.app.main.approval.answers_to(events.Focus().time)
        monkeypatch.setattr("codeagent.tui.widgets.question_pane.REACTION_SECONDS", LONG)
        await stage.pilot.press("right_square_bracket")
        await stage.until(lambda: stage.app.main.approval.is_listening)
        await stage.pilot.pause()
        assert "2 of 2 waiting" in stage.text
        assert stand_out(stage) == []


async def test_no_key_stands_out_while_the_turn_is_being_stopped(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.until(lambda: stand_out(stage))
        stage.app.main.approval.stop_listening()
        await stage.pilot.pause()
        assert stand_out(stage) == []


async def test_a_letter_typed_as_the_question_comes_up_is_taken_from_the_prompt_which_gives_the_keyboard_on(
    stage_of, ask_diff, monkeypatch
):
    monkeypatch.setattr("codeagent.tui.screens.typing.JUST_NOW_SECONDS", LONG)
    asking = Asking(ask_diff(hunks=1), at_once=False)
    async with stage_of(asking) as stage:
        await begin(stage)
        await asyncio.sleep(typing.ALONE_SECONDS)  # the letter does not follow on the text
        asking.go.set()
        await stage.until(lambda: stage.app.main.approval.waiting)
        early = events.Key("y", "y")
        stage.app.post_message(early)
        await stage.until(lambda: "press y again" in stage.text)
        assert asking.answers == {}
        await live(stage)
        await stage.press_slowly("y")
        assert asking.answers == {"c1": Approve()}


async def test_the_next_question_does_not_take_the_second_key_of_a_double_press(stage_of, ask_diff):
    asking = Asking(ask_diff("c1", hunks=1), ask_diff("c2", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        stage.app.post_message(events.Key("y", "y"))
        stage.app.post_message(events.Key("y", "y"))
        await stage.until(lambda: "c1" in asking.answers)
        await live(stage)
        assert list(asking.answers) == ["c1"]


@pytest.mark.parametrize("sentence", ["yes please", "no wait", "edit that", "always"])
async def test_a_sentence_typed_at_ten_keys_a_second_goes_to_the_prompt_whole_and_answers_nothing(
    stage_of, ask_diff, sentence
):
    asking = Asking(ask_diff("c1", hunks=1), ask_diff("c2", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await send(stage, sentence, 0.1)
        await stage.until(lambda: stage.app.main.prompt.text == sentence)
        await asyncio.sleep(QUIET_SECONDS)
        assert asking.answers == {}
        assert stage.app.focused is stage.app.main.prompt
        assert stage.app.main.approval.is_at_question


async def test_a_letter_with_another_key_right_behind_it_answers_nothing(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        stage.app.post_message(events.Key("y", "y"))
        stage.app.post_message(events.Key("enter", "\r"))
        await stage.until(lambda: stage.app.main._typing._held is None)
        await asyncio.sleep(2 * typing.ALONE_SECONDS)
        assert asking.answers == {}
        assert stage.app.main.prompt.is_empty
        assert stage.conversation.queued == {}


@pytest.mark.parametrize(("key", "answer"), [("y", Approve()), ("n", Deny())])
async def test_the_question_is_answered_from_its_reasons_as_without_them(stage_of, ask_diff, key, answer):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.press_slowly("question_mark")
        assert "esc back" in stage.text
        assert "y approve" in stage.text
        await stage.press_slowly(key)
        assert asking.answers == {"c1": answer}


@pytest.mark.parametrize(("key", "shown"), [("t", "why not, for the model"), ("a", "stores this rule")])
async def test_a_reason_or_a_rule_is_asked_for_from_the_reasons_as_without_them(stage_of, ask_diff, key, shown):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.press_slowly("question_mark", key)
        await stage.until(lambda: shown in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.approval.is_at_question)
        assert asking.answers == {}


async def test_at_the_reasons_a_letter_without_a_meaning_there_says_how_to_get_back(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.press_slowly("question_mark", "e")
        assert "esc goes back to the question, where e answers" in stage.text
        assert asking.answers == {}


@pytest.mark.parametrize("place", ["question", "reasons", "sentence", "transcript"])
async def test_ctrl_d_denies_what_is_open_and_quits_wherever_nothing_is_typed(stage_of, ask_diff, place):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        keys = {"question": [], "reasons": ["question_mark"], "sentence": ["t"], "transcript": ["tab"]}
        await stage.press_slowly(*keys[place])
        await stage.pilot.press("ctrl+d")
        await stage.until(lambda: not stage.app.is_running)
        assert not any(isinstance(answer, Approve) for answer in asking.answers.values())


async def test_ctrl_d_deletes_where_a_sentence_is_typed(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.press_slowly("t")
        await stage.until(lambda: isinstance(stage.app.focused, Sentence))
        await stage.type("nay")
        await stage.pilot.press("home", "ctrl+d", "enter")
        await stage.until(lambda: asking.answers == {"c1": Deny(feedback="ay")})


async def test_the_next_question_takes_the_keyboard_after_another_quiet_moment(stage_of, ask_diff):
    asking = Asking(ask_diff("c1", hunks=1), ask_diff("c2", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.pilot.press("y")
        await stage.until(lambda: "c1" in asking.answers)
        await live(stage)
        await stage.pilot.press("n")
        await stage.until(lambda: "c2" in asking.answers)
        assert asking.answers["c2"] == Deny()


async def test_a_paste_never_answers(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        stage.app.post_message(events.Paste("y\ny\n"))
        await stage.until(lambda: stage.app.main.prompt.text == "y\ny\n")
        assert asking.answers == {}


async def test_a_draft_keeps_the_keyboard_until_tab_gives_it_to_the_question(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1), at_once=False)
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.type("a draft")
        asking.go.set()
        await stage.until(lambda: stage.app.main.approval.waiting)
        await asyncio.sleep(QUIET_SECONDS + 0.1)
        assert stage.app.focused is stage.app.main.prompt
        assert "tab answer the question" in stage.text
        await stage.pilot.press("tab")
        await live(stage)
        await stage.pilot.press("y")
        await stage.until(lambda: asking.answers)
        assert stage.app.main.prompt.text == "a draft"


async def test_tab_gives_it_to_the_question_from_a_word_that_nothing_completes(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1), at_once=False)
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.type("see @nowhere")
        asking.go.set()
        await stage.until(lambda: stage.app.main.approval.waiting)
        await stage.pilot.press("tab")
        await stage.until(lambda: stage.app.main.approval.has_keyboard)


async def test_enter_means_nothing_until_an_answer_was_chosen_with_the_arrows(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.pilot.press("enter")
        await stage.pilot.pause(0.05)
        assert asking.answers == {}
        await stage.pilot.press("right", "right", "enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Deny()}


async def test_stopping_the_turn_closes_the_question_without_an_answer(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.conversation.is_running)
        assert asking.answers == {}
        assert not stage.app.main.approval.display
        assert stage.app.focused is stage.app.main.prompt


async def test_leaving_the_app_allows_nothing_that_is_open(stage_of, ask_diff):
    asking = Asking(ask_diff("c1", hunks=1), ask_diff("c2", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        stage.app.bridge.close()
        await stage.until(lambda: len(asking.answers) == 2)
        assert {type(answer) for answer in asking.answers.values()} == {Withdraw}
        assert await stage.app.bridge.ask(ask_diff("c3", hunks=1)) == Withdraw(reason="codeagent was closed")


async def test_a_withdrawn_question_gives_the_keyboard_back(stage_of, ask_diff):
    asking = Asking(ask_diff("c1", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.conversation.cancel()
        await stage.until(lambda: stage.app.focused is stage.app.main.prompt)
        await stage.pilot.press("y")
        assert stage.app.main.prompt.text == "y"


async def test_what_is_typed_right_behind_an_answer_stays_in_the_prompt(stage_of, ask_diff):
    asking = Asking(ask_diff("c1", hunks=1), ask_diff("c2", hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.press_slowly("y")
        await send(stage, "now")
        await stage.until(lambda: stage.app.main.prompt.text == "now")
        await asyncio.sleep(QUIET_SECONDS)
        assert list(asking.answers) == ["c1"]


async def test_a_reason_typed_at_machine_speed_arrives_whole(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.press_slowly("t")
        await send(stage, "nay")
        await stage.until(lambda: "nay" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers == {"c1": Deny(feedback="nay")})


async def test_alt_up_at_a_question_takes_the_queued_message_back_and_goes_to_the_prompt(stage_of, ask_command):
    async def turn(emit, approver):
        await approver.ask(ask_command("make"))

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.waiting)
        stage.conversation.steer("also negative ones")
        await stage.to_question()
        await stage.pilot.press("alt+up")
        await stage.until(lambda: stage.app.main.prompt.text == "also negative ones")
        assert stage.app.main.prompt.has_focus
        assert dialog.waiting


async def test_pages_are_the_questions_when_it_is_longer_than_its_place_and_else_the_transcripts(
    stage_of, ask_command, ask_diff
):
    async def turn(emit, approver):
        for number in range(60):
            emit(NoticeGiven(text=f"note {number}"))
        await approver.ask(ask_command("make"))
        await approver.ask(ask_diff())

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        transcript = stage.app.main.transcript
        for is_transcripts in (True, False):
            await stage.to_question()
            transcript.scroll_to_end()
            await stage.pilot.press("pagedown", "pageup")
            await stage.until(lambda wanted=is_transcripts: transcript.follows is not wanted)
            await stage.press_slowly("y")


async def test_the_status_line_says_where_tab_and_esc_lead(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await begin(stage)
        await live(stage)
        await stage.until(lambda: "tab transcript · esc stop" in stage.text)
        await stage.pilot.press("?")
        await stage.until(lambda: "tab transcript · esc back" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "tab transcript · esc stop" in stage.text)
        await stage.pilot.press("tab")
        await stage.until(lambda: "esc prompt" in stage.text)
        assert stage.app.main.transcript in stage.app.focused.ancestors_with_self
        await stage.pilot.press("escape")
        await stage.until(lambda: "tab answer the question · esc stop" in stage.text)
        assert stage.app.focused is stage.app.main.prompt
