"""A terminal that shrinks to almost nothing in the midst of anything, and grows back: all is as it was, and goes on."""

import pytest
from textual import events

TINY = (20, 5)

WINDOWS = {
    "text": ([*"half a thought"], "half a thought"),
    "completion": ([*"see ", "at", *"shop"], "@shop/money.py"),
    "commands": (["slash"], "/model"),
    "search": (["ctrl+f", *"hello"], "hello"),
    "history": (["ctrl+r", *"old"], "Typed before"),
    "palette": (["ctrl+p", *"mod"], "Commands"),
    "help": (["f1"], "Help"),
    "what runs": (["ctrl+t"], "othing runs"),
}


@pytest.mark.parametrize("window", WINDOWS)
async def test_a_window_comes_back_as_it_was(stage_of, window):
    keys, sign = WINDOWS[window]
    async with stage_of(size=(80, 24)) as stage:
        await stage.pilot.press(*keys)
        await stage.until(lambda: sign in stage.text)
        await stage.pilot.pause()
        focused, before = stage.app.focused, stage.text
        await stage.pilot.resize_terminal(*TINY)
        await stage.pilot.pause()
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: stage.text == before)
        assert stage.app.focused is focused


VIEWS = {
    "question": [],
    "reason": ["t", *"not so"],
    "edit": ["e", *"new "],
    "rules": ["a"],
    "why": ["question_mark"],
}


@pytest.mark.parametrize("view", VIEWS)
async def test_a_question_comes_back_as_it_was_with_all_that_was_typed(stage_of, ask_diff, view):
    async def turn(emit, approver):
        await approver.ask(ask_diff())

    async with stage_of(turn, size=(80, 24)) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        for key in VIEWS[view][:1]:
            await stage.press_slowly(key)
        await stage.pilot.press(*VIEWS[view][1:])
        await stage.pilot.pause()
        focused, before = stage.app.focused, stage.text
        await stage.pilot.resize_terminal(*TINY)
        await stage.pilot.pause()
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: stage.text == before)
        assert stage.app.focused is focused
        assert dialog.waiting == 1
