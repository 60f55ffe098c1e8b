"""A terminal that shrinks to almost nothing in the midst of anything, and grows back: all is as it was, and goes on."""

import pytest
from textual import events

from codeagent.tui.screens.picker import Picker
from codeagent.tui.widgets.drawn_question import TOO_SMALL

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


LOW = (80, 14)
"""As wide as before: some parts of the screen have the same size on both, but show less on this one."""


@pytest.mark.parametrize("window", WINDOWS)
async def test_a_window_comes_back_as_it_was(stage_of, window):
    keys, sign = WINDOWS[window]
    async with stage_of(size=(80, 24)) as stage:
        await stage.pilot.press(*keys)
        await stage.until(lambda: sign in stage.text)
        await stage.pilot.pause()
        focused, before = stage.app.focused, stage.text
        for small in (TINY, LOW):
            await stage.pilot.resize_terminal(*small)
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
        for small in (TINY, LOW):
            await stage.pilot.resize_terminal(*small)
            await stage.pilot.pause()
            await stage.pilot.resize_terminal(80, 24)
            await stage.until(lambda: stage.text == before)
            assert stage.app.focused is focused
        assert dialog.waiting == 1


@pytest.mark.parametrize("size", [TINY, (30, 6)])
async def test_where_a_question_and_its_keys_have_no_room_no_answer_counts_and_what_is_typed_is_seen(
    stage_of, ask_diff, size
):
    answers = []

    async def turn(emit, approver):
        answers.append(await approver.ask(ask_diff()))

    async with stage_of(turn, size=size) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        assert "make the window" in stage.text
        await stage.press_slowly("y", "y", "enter", "n", "Y")
        assert answers == []
        assert dialog.waiting == 1
        await stage.pilot.press(*"use ")
        await stage.until(lambda: "› use" in stage.text)
        stage.app.main.prompt.clear_typed()
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: "n deny" in stage.text)
        await stage.to_question()
        await stage.press_slowly("n")
        await stage.until(lambda: answers)


@pytest.mark.parametrize(("size", "short"), [((60, 15), "! It pushes. + 1 more"), ((40, 10), "… + 2 more")])
async def test_a_command_begins_in_view_whatever_is_said_of_it_and_all_of_that_follows(
    stage_of, ask_command, size, short
):
    lost = "Deletes every file below build, which undo cannot bring back since git ignores all that is in there." * 3
    warnings = (lost, "It pushes.", "Runs as root.")
    request = ask_command("rm -rf build && make", warnings=warnings)

    async def turn(emit, approver):
        await approver.ask(request)

    async with stage_of(turn, size=size) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        assert "$ rm -rf build && make" in stage.text
        assert short in stage.text
        await stage.press_slowly("end")
        await stage.until(lambda: "! Runs as root." in stage.text)
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: short not in stage.text and "$ rm -rf" in stage.text)


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_the_answer_to_why_is_in_view_whatever_is_warned_of(stage_of, ask_command, size):
    warnings = tuple(f"build-{number} would be deleted with everything below." for number in range(15))

    async def turn(emit, approver):
        await approver.ask(ask_command("rm -rf build-*", warnings=warnings))

    async with stage_of(turn, size=size) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        await stage.press_slowly("question_mark")
        await stage.until(lambda: "No rule covers it." in stage.text)
        await stage.press_slowly("end")
        await stage.until(lambda: "! build-14 would be deleted" in stage.text)


async def test_a_small_question_has_an_empty_row_above_its_keys_on_a_high_screen_and_none_on_a_low_one(
    stage_of, ask_command
):
    async def turn(emit, approver):
        await approver.ask(ask_command("make"))

    async with stage_of(turn, size=(80, 24)) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        high, rows = stage.text, dialog.size.height
        for size in ((79, 23), LOW):
            await stage.pilot.resize_terminal(*size)
            await stage.until(lambda: dialog.size.height == rows - 1)
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: stage.text == high)
        await stage.pilot.resize_terminal(*LOW)
        await stage.until(lambda: dialog.size.height == rows - 1)


async def test_how_the_chosen_file_begins_is_shown_as_soon_as_there_is_room_and_no_longer(stage_of):
    async with stage_of(size=LOW) as stage:
        stage.bench.paths = tuple(f"shop/{number}.py" for number in range(9))
        await stage.type("@shop")
        await stage.until(lambda: "@shop/7.py" in stage.text)
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: "# shop/0.py" in stage.text)
        await stage.pilot.resize_terminal(*LOW)
        await stage.until(lambda: "# shop/0.py" not in stage.text)


async def test_nothing_says_any_more_that_there_is_no_room_once_there_is(stage_of, ask_diff):
    async def turn(emit, approver):
        await approver.ask(ask_diff())

    async with stage_of(turn, size=(80, 24)) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        await stage.press_slowly("t")
        await stage.until(lambda: not dialog.is_at_question)
        await stage.pilot.press(*"no")
        await stage.pilot.resize_terminal(*TINY)
        await stage.until(lambda: dialog.is_cramped)
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.main.status.status.remark == TOO_SMALL)
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: not stage.app.main.status.status.remark)


async def test_the_end_of_a_long_reason_stays_in_view_where_the_window_is_narrower(stage_of, ask_diff):
    async def turn(emit, approver):
        await approver.ask(ask_diff())

    async with stage_of(turn, size=(80, 24)) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))
        await stage.press_slowly("t")
        await stage.until(lambda: not dialog.is_at_question)
        stage.app.post_message(events.Paste("a long reason " * 4 + "the end"))
        await stage.until(lambda: "the end" in stage.text)
        await stage.pilot.resize_terminal(40, 14)
        await stage.until(lambda: "│ end " in stage.text and "enter deny" in stage.text)


async def test_the_chosen_command_and_the_prompt_are_in_view_on_the_smallest_screen(stage_of):
    async with stage_of(size=TINY) as stage:
        await stage.pilot.press("slash")
        await stage.until(lambda: "/help" in stage.text)
        assert "› /" in stage.text
        for _ in range(9):
            await stage.pilot.press("down")
            chosen = stage.app.main.completions.chosen.text
            await stage.until(lambda chosen=chosen: f" {chosen[:9]}" in stage.text)
            assert "› /" in stage.text


async def test_the_theme_that_the_bar_stands_on_stays_in_view_where_the_window_shrinks(stage_of):
    async with stage_of(size=(80, 24)) as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: isinstance(stage.app.screen, Picker))
        await stage.pilot.press(*["down"] * 4)
        picker = stage.app.screen
        chosen = picker._shown[picker._list.highlighted].value
        await stage.pilot.resize_terminal(*TINY)
        await stage.until(lambda: chosen[:7] in stage.text)


@pytest.mark.parametrize(("columns", "keys"), [(80, "ctrl+d delete · esc leave"), (40, "enter open · esc leave")])
async def test_the_keys_of_the_list_of_sessions_are_named_whole(stage_of, columns, keys):
    async with stage_of(size=(columns, 14)) as stage:
        await stage.type("/resume\n")
        await stage.until(lambda: f"{keys} ─╯" in stage.text)
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: "enter keep it · esc" in stage.text)
