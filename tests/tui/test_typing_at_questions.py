"""Whatever is typed while questions come and go: a sentence is never an answer, and no letter of it is lost."""

import asyncio
import random
from functools import partial

import pytest
from textual import events

from codeagent.core.approvals import Approve, Deny
from codeagent.tui.screens.typing import JUST_NOW_SECONDS

SENTENCES = (
    "yes please", "no wait", "try it at 5", "always the same", "just no", "ok do it", "so what", "kk fine", "[x] done",
    " hello", "edit that", "Yes and no", "retry", "jk", "?no", "oh no", "see s", "please", "1 more", "to do: all",
)  # fmt: skip
LAST = {"jk": "jk!"}  # what is made of the question's keys alone is for the question, unless text goes on


def post(stage, text):
    """All of it at once, as fast as a machine can."""
    for character in text:
        name = {" ": "space", "?": "question_mark", "[": "left_square_bracket", "]": "right_square_bracket"}
        stage.app.post_message(events.Key(name.get(character, character), character))


class Asking:
    """A turn in which questions come, change and go as the test wants."""

    def __init__(self, *requests):
        self.answers = {}
        self.requests = list(requests)
        self.open = {}
        self.group = None

    async def __call__(self, emit, approver):
        self.approver = approver
        async with asyncio.TaskGroup() as self.group:
            for request in self.requests:
                self.ask(request)
            await asyncio.Event().wait()

    def ask(self, request):
        self.open[request.call_id] = self.group.create_task(self._ask(request))

    async def _ask(self, request):
        self.answers[request.call_id] = await self.approver.ask(request)
        del self.open[request.call_id]

    def withdraw(self, call_id):
        if task := self.open.pop(call_id, None):
            task.cancel()


async def until_it_listens(stage):
    dialog = stage.app.main.approval
    if dialog.waiting and stage.app.main.prompt.is_empty:
        await stage.until(lambda: not dialog.waiting or dialog.answers_to(events.Focus().time))


async def test_a_sentence_at_a_question_goes_to_the_prompt_whole_and_changes_nothing_there(stage_of, ask_diff):
    asking = Asking(ask_diff("c1"), ask_diff("c2"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        dialog, prompt = stage.app.main.approval, stage.app.main.prompt
        for sentence in (LAST.get(sentence, sentence) for sentence in SENTENCES):
            await until_it_listens(stage)
            question = dialog.in_view
            post(stage, sentence)
            await stage.until(lambda: prompt.text == sentence)  # noqa: B023
            await stage.pilot.pause()
            assert prompt.text == sentence
            assert asking.answers == {}
            assert question.left_out == set()
            assert stage.app.focused is prompt
            prompt.clear_typed()


class Fuzz:
    """One person at the keyboard and one agent that asks, changes and withdraws; ``typed`` is what the prompt holds."""

    def __init__(self, stage, asking, chance, *requests):
        self.stage, self.asking, self.chance, self.requests = stage, asking, chance, requests
        self.typed, self.number = "", 2

    async def settle(self):
        await self.stage.until(lambda: self.stage.app.main.prompt.text == self.typed)

    async def type(self):
        words = self.chance.choice(SENTENCES)
        words = words.removeprefix("?") if not self.typed else words  # alone it asks for help
        self.typed += LAST.get(words, words)
        post(self.stage, LAST.get(words, words))

    async def paste(self):
        self.typed += "y\nn"
        self.stage.app.post_message(events.Paste("y\nn"))

    async def listen(self):
        await self.settle()
        await until_it_listens(self.stage)

    async def ask(self):
        self.number += 1
        self.asking.ask(self.chance.choice(self.requests)(call_id=f"c{self.number}"))

    async def withdraw(self):
        self.asking.withdraw(f"c{self.chance.randint(1, self.number)}")

    async def change(self):
        if (name := f"c{self.chance.randint(1, self.number)}") in self.asking.open:
            self.asking.withdraw(name)
            self.asking.ask(self.chance.choice(self.requests)(call_id=name))

    async def clear(self):
        await self.settle()
        self.stage.app.main.prompt.clear_typed()
        self.typed = ""

    async def wait(self):
        await self.stage.pilot.pause(self.chance.choice([0, 0.05, 0.3]))


@pytest.mark.parametrize("seed", range(12))
async def test_sentences_never_answer_and_are_never_lost_while_questions_come_and_go(
    stage_of, ask_diff, ask_command, seed
):
    asking, chance = Asking(ask_diff("c1"), ask_command("make", "c2")), random.Random(seed)
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        fuzz = Fuzz(stage, asking, chance, ask_diff, partial(ask_command, "rm x"))
        deeds = [fuzz.type, fuzz.paste, fuzz.listen, fuzz.ask, fuzz.withdraw, fuzz.change, fuzz.clear, fuzz.wait]
        for deed in chance.choices(deeds, weights=[3, 1, 2, 1, 1, 1, 1, 1], k=16):
            await deed()
        await fuzz.settle()
        await stage.pilot.pause()
        await fuzz.settle()
        assert asking.answers == {}


@pytest.mark.parametrize("seed", range(8))
async def test_only_what_was_answered_by_a_key_of_its_own_is_allowed(stage_of, ask_diff, ask_command, seed):
    chance = random.Random(seed)
    asking = Asking(
        *(ask_diff(f"c{number}") if number % 2 else ask_command("make", f"c{number}") for number in range(4))
    )
    allowed, denied = set(), set()
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        dialog, prompt = stage.app.main.approval, stage.app.main.prompt
        while len(allowed | denied) < 4:
            await stage.until(lambda: dialog.answers_to(events.Focus().time))
            name = dialog.in_view.request.call_id
            key = chance.choice(["y", "n", "words", "right_square_bracket", "j", "question_mark"])
            if key in "yn" and chance.random() < 0.5:
                await stage.press_slowly("question_mark")
            if key == "words":
                post(stage, "yes but")
                await stage.until(lambda: prompt.text == "yes but")
                prompt.clear_typed()
            elif key in "yn":
                dialog.in_view.was_warned = True  # all of it counts as read
                await stage.press_slowly(key)
                await stage.until(lambda: name in asking.answers)  # noqa: B023
                (allowed if key == "y" else denied).add(name)
            else:
                await stage.press_slowly(key)
                if key == "question_mark":
                    await stage.press_slowly("e")
                    await stage.pilot.press("escape")
        assert {name for name, answer in asking.answers.items() if isinstance(answer, Approve)} == allowed
        assert {name for name, answer in asking.answers.items() if isinstance(answer, Deny)} == denied


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.1, 0.14, 0.2, 0.4])
async def test_a_reason_goes_whole_to_one_place_however_soon_after_t_it_is_typed(stage_of, ask_command, seconds):
    asking = Asking(ask_command("make", "c1"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        post(stage, "t")
        await asyncio.sleep(seconds)
        post(stage, "not now, thanks")
        prompt, dialog = stage.app.main.prompt, stage.app.main.approval
        await stage.until(
            lambda: (
                prompt.text == "tnot now, thanks" or (dialog._text.sentence == "not now, thanks" and not prompt.text)
            )
        )
        assert asking.answers == {}


async def listens_for_a_while(stage):
    await until_it_listens(stage)
    await asyncio.sleep(JUST_NOW_SECONDS + 0.1)


async def by_hand(stage, text, seconds=0.05):
    """One key after the other, as the terminal told of them."""
    start = events.Focus().time
    for number, character in enumerate(text):
        key = events.Key("space" if character == " " else character, character)
        key.time = start + number * seconds
        stage.app.post_message(key)


@pytest.mark.parametrize("seconds", [0.03, 0.08, 0.14])
async def test_what_is_typed_right_behind_t_at_a_question_that_was_looked_at_is_the_reason(
    stage_of, ask_command, seconds
):
    asking = Asking(ask_command("make", "c1"), ask_command("make b", "c2"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await listens_for_a_while(stage)
        await by_hand(stage, "tyes, use ninja", seconds)
        await stage.until(lambda: stage.app.main.approval._text.sentence == "yes, use ninja")
        assert stage.app.main.prompt.is_empty
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Deny(feedback="yes, use ninja")}


async def test_esc_takes_what_was_typed_right_behind_t_to_the_prompt_with_its_t(stage_of, ask_command):
    asking = Asking(ask_command("make", "c1"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await listens_for_a_while(stage)
        await by_hand(stage, "try ninja")
        prompt = stage.app.main.prompt
        await stage.until(lambda: stage.app.main.approval._text.sentence == "ry ninja")
        await stage.until(lambda: "esc takes it to the prompt, with its t" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: prompt.text == "try ninja" and stage.app.focused is prompt)
        assert stage.app.main.approval.is_at_question
        assert asking.answers == {}


async def test_what_was_typed_right_behind_t_goes_to_the_prompt_with_its_t_where_the_question_is_withdrawn(
    stage_of, ask_command
):
    asking = Asking(ask_command("make", "c1"), ask_command("make b", "c2"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await listens_for_a_while(stage)
        await by_hand(stage, "try ninja")
        dialog, prompt = stage.app.main.approval, stage.app.main.prompt
        await stage.until(lambda: dialog._text.sentence == "ry ninja")
        assert dialog.typed() == ["try ninja"]
        asking.withdraw("c1")
        await stage.until(lambda: prompt.text == "try ninja")
        await stage.pilot.press("ctrl+c")
        await listens_for_a_while(stage)
        await stage.press_slowly("t")
        await stage.pilot.press(*"no")
        await stage.until(lambda: dialog._text.sentence == "no")
        asking.withdraw("c2")
        await stage.until(lambda: prompt.text == "no")


async def test_a_reason_that_was_asked_for_by_itself_is_kept_at_its_question(stage_of, ask_command):
    async with stage_of(Asking(ask_command("make", "c1"))) as stage:
        await stage.type("go\n")
        await listens_for_a_while(stage)
        await stage.press_slowly("t")
        await stage.pilot.press(*"no")
        await stage.until(lambda: stage.app.main.approval._text.sentence == "no")
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.approval.is_at_question)
        assert stage.app.main.prompt.is_empty


@pytest.mark.parametrize("text", ["try ninja", "tell me more", "tyn"])
async def test_what_comes_in_one_read_goes_to_the_prompt_whole_however_long_a_question_stood(
    stage_of, ask_command, text
):
    asking = Asking(ask_command("make", "c1"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await listens_for_a_while(stage)
        await by_hand(stage, text, 0.001)
        await stage.until(lambda: stage.app.main.prompt.text == text)
        assert asking.answers == {}


async def test_a_letter_of_a_reason_is_no_answer_where_the_question_goes_as_it_is_opened(stage_of, ask_command):
    asking = Asking(ask_command("make", "c1"), ask_command("make b", "c2"))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
        await listens_for_a_while(stage)
        await by_hand(stage, "tyyyy", 0.05)
        asking.withdraw("c1")
        prompt, dialog = stage.app.main.prompt, stage.app.main.approval
        await stage.until(lambda: "yyyy" in prompt.text or "yyyy" in dialog._text.begun)
        await stage.pilot.pause(0.3)
        assert asking.answers == {}


@pytest.mark.parametrize("key", ["tab", "ctrl+c", "left"])
async def test_where_a_sentence_went_is_told_no_longer_than_it_is_typed(stage_of, ask_diff, key):
    async with stage_of(Asking(ask_diff("c1"))) as stage:
        await stage.type("go\n")
        await until_it_listens(stage)
        post(stage, "try it")
        await stage.until(lambda: "That went to the prompt: t alone asks for the reason" in stage.text)
        await stage.pilot.press(key)
        await stage.until(lambda: "That went to the prompt" not in stage.text)
