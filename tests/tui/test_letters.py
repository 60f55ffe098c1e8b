"""At the transcript and in windows a letter alone does what it is for; a sentence is kept whole and does nothing."""

import pytest
from textual import events

from codeagent.core.changes import Pace, Reversal
from codeagent.tui.screens.changes import ChangesScreen, ProgressScreen
from codeagent.tui.screens.jobs import JobsScreen, Work
from codeagent.tui.screens.pages import Page
from tests.tui.test_transcript_keys import ran
from tests.tui.test_typing_at_questions import post


class Window:
    """A window of each kind, and what was done in it."""

    def __init__(self, kind):
        self.done = []
        work = Work(key="1", name="job 1", what="make", state="1 s", tail="", stop=self._stop)
        self.screen = {
            "jobs": lambda: JobsScreen(lambda: (work,)),
            "page": lambda: Page("Page", lambda _: "words"),
        }[kind]()

    async def _stop(self):
        self.done.append("stop")


@pytest.mark.parametrize("text", ["copy that", "please do", "co", "hello"])
async def test_a_sentence_at_the_transcript_goes_to_the_prompt_whole(stage_of, text):
    async with stage_of() as stage:
        ran(stage, "1", "first [words]")
        await stage.pilot.press("tab", "up")
        post(stage, text)
        await stage.until(lambda: stage.app.main.prompt.text == text)
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == text
        assert stage.app.clipboard == ""
        assert "kept open" not in stage.text


@pytest.mark.parametrize("kind", ["jobs", "page"])
@pytest.mark.parametrize("text", ["xylophone", "quit that", "how is it", "y\nn"])
async def test_a_sentence_at_a_window_leaves_it_and_goes_to_the_prompt_whole(stage_of, kind, text):
    async with stage_of() as stage:
        window = Window(kind)
        await stage.app.push_screen(window.screen)
        if "\n" in text:
            stage.app.post_message(events.Paste(text))
        else:
            post(stage, text)
        await stage.until(lambda: stage.app.main.prompt.text == text)
        await stage.until(lambda: stage.app.main.is_active)
        assert stage.app.focused is stage.app.main.prompt
        assert window.done == []


async def test_a_sentence_at_changes_decides_nothing(stage_of):
    async with stage_of() as stage:
        answers = []
        reversal = Reversal(entries=(), what="an edit", files=())
        await stage.app.push_screen(ChangesScreen.of(reversal, stage.app.main.transcript._palette), answers.append)
        post(stage, "you know")
        await stage.until(lambda: stage.app.main.prompt.text == "you know")
        await stage.until(lambda: answers)
        assert answers == [None]


async def test_a_letter_alone_acts_and_one_that_means_nothing_says_so(stage_of):
    async with stage_of() as stage:
        window = Window("jobs")
        await stage.app.push_screen(window.screen)
        await stage.press_slowly("z")
        await stage.until(lambda: "z means nothing here" in stage.app.main.status.status.remark)
        await stage.press_slowly("x")
        await stage.until(lambda: window.done == ["stop"])
        assert stage.app.screen is window.screen
        assert stage.app.main.prompt.is_empty


async def test_what_is_typed_while_something_is_under_way_waits_in_the_prompt(stage_of):
    async with stage_of() as stage:
        await stage.app.push_screen(ProgressScreen("Taking back", pace := Pace()))
        post(stage, "hello there")
        await stage.until(lambda: stage.app.main.prompt.text == "hello there")
        assert not pace.is_stopped


async def test_the_list_of_what_runs_names_its_keys_on_the_smallest_screen(stage_of):
    async with stage_of(size=(20, 5)) as stage:
        await stage.app.push_screen(Window("jobs").screen)
        await stage.until(lambda: "job 1" in stage.text and "x stop" in stage.text, seconds=8)
