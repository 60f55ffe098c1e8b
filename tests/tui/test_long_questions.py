"""However small the screen, all of a question can be reached, and the answers stay in view."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.approvals import DiffPreview, ProjectEntry, ProjectPreview, RuleOffer, Withdraw
from codeagent.core.diff import make_diff
from codeagent.tui.widgets.question_lines import command_lines

SIZES = [(80, 24), (40, 12)]
LAST = "THE_END"


class Asking:
    """A turn that asks one question and keeps its answer."""

    def __init__(self, request):
        self.request = request
        self.answers = []

    async def __call__(self, emit, approver):
        self.answers.append(await approver.ask(self.request))


async def begin(stage):
    await stage.type("go\n")
    await stage.to_question()


def _here_document(command):
    lines = "\n".join(f"echo {number}" for number in range(36))
    return command(f"sh <<'X'\n{lines}\ntouch {LAST}\nX")


def _long_word(command):
    return command(f"echo {'a' * 300} && touch {LAST}")


def _change(command):
    new = "\n".join(f"line {number}" for number in range(40)) + f"\n{LAST}\n"
    preview = DiffPreview(diff=make_diff("a.txt", None, new), proposal=new)
    return replace(command("x"), tool="write", preview=preview)


def _project(command):
    text = "\n".join(f"Rule {number}." for number in range(40)) + f"\n{LAST}\n"
    entry = ProjectEntry(name="AGENTS.md", effect="instructions for the model", text=text)
    return replace(command("x"), tool="trust", preview=ProjectPreview(root=Path("/src/shop"), entries=(entry,)))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("build", [_here_document, _long_word, _change, _project])
async def test_all_of_a_question_can_be_reached_and_a_yes_waits_for_its_end(stage_of, ask_command, build, size):
    asking = Asking(build(ask_command))
    async with stage_of(asking, size=size) as stage:
        await begin(stage)
        dialog = stage.app.main.approval
        if LAST not in stage.text:
            assert "more of" in stage.text
            await stage.press_slowly("y")
            assert asking.answers == []
        assert LAST in "".join([text async for text in _pages(stage, "y ", "n ")])
        assert dialog.waiting == 1
        await stage.press_slowly("y")
        await stage.until(lambda: asking.answers)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_all_rules_can_be_reached_before_one_is_stored(stage_of, ask_command, size):
    rules = [f"bash(make target-{number} {'a' * 50})" for number in range(8)] + [f"bash({LAST})"]
    request = replace(ask_command("make"), offers=tuple(RuleOffer(rule=rule, covers=f"runs {rule}") for rule in rules))
    asking = Asking(request)
    async with stage_of(asking, size=size) as stage:
        await begin(stage)
        await stage.press_slowly("end", "a")
        assert "more of" in stage.text
        assert LAST in "".join([text async for text in _pages(stage, "1 ")])
        assert asking.answers == []


async def _pages(stage, *answers):
    """What is on the screen, page by page to the end, with the answers on each."""
    while True:
        page = stage.text
        assert all(answer in page for answer in answers)
        yield page
        if "more of" not in page and "press again" not in page:
            return
        await stage.pilot.press("pagedown")
        await stage.until(lambda page=page: stage.text != page)


async def test_a_yes_from_the_reasons_still_waits_for_the_end_of_the_question(stage_of, ask_command):
    asking = Asking(_change(ask_command))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.press_slowly("question_mark", "y")
        assert "never seen" in stage.text
        assert asking.answers == []


async def test_looking_at_the_reasons_keeps_the_place_in_the_question_and_what_was_seen_of_it(stage_of, ask_command):
    asking = Asking(_change(ask_command))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.press_slowly("pagedown", "pagedown", "pagedown", "end")
        assert LAST in stage.text
        await stage.press_slowly("question_mark")
        assert LAST not in stage.text
        await stage.press_slowly("escape")
        await stage.until(lambda: LAST in stage.text)
        await stage.press_slowly("question_mark", "y")
        await stage.until(lambda: asking.answers)


def _hunks(command):
    old = [f"line {number}" for number in range(90)]
    new = [f"changed {number}" if number in {10, 40, 41, 42, 70} else line for number, line in enumerate(old)]
    preview = DiffPreview(
        diff=make_diff("a.txt", "\n".join(old) + "\n", "\n".join(new) + "\n"), proposal="\n".join(new) + "\n"
    )
    return replace(command("x"), tool="edit", preview=preview)


@pytest.mark.parametrize("looks", [["s", "s"], ["end", "s"], ["s", "end", "s"], ["end", "s", "home", "s", "home"]])
async def test_what_was_seen_in_one_layout_is_seen_in_the_other(stage_of, ask_command, looks):
    asking = Asking(_hunks(ask_command))
    async with stage_of(asking, size=(120, 50)) as stage:
        await begin(stage)
        assert "more of" in stage.text
        await stage.press_slowly(*looks, "y")
        await stage.until(lambda: asking.answers)


async def test_more_of_what_is_around_a_hunk_leaves_its_heading_and_its_change_in_view(stage_of, ask_command):
    async with stage_of(Asking(_hunks(ask_command)), size=(80, 40)) as stage:
        await begin(stage)
        await stage.press_slowly("o")
        assert "▸ ● line 11" in stage.text
        assert "− line 10" in stage.text


async def test_what_was_not_seen_in_one_layout_is_not_seen_in_the_other(stage_of, ask_command):
    asking = Asking(_hunks(ask_command))
    async with stage_of(asking, size=(120, 24)) as stage:
        await begin(stage)
        await stage.press_slowly("s", "s", "y")
        assert "never seen" in stage.text
        assert asking.answers == []


async def test_what_was_seen_of_a_question_is_known_when_it_comes_back_into_view(stage_of, ask_command):
    command = "\n".join(f"echo {number}" for number in range(20))
    answers = []

    async def turn(emit, approver):
        async with asyncio.TaskGroup() as group:
            for number in (1, 2):
                group.create_task(approver.ask(ask_command(command, f"c{number}"))).add_done_callback(answers.append)

    async with stage_of(turn) as stage:
        await begin(stage)
        await stage.press_slowly("end", "right_square_bracket", "left_square_bracket", "y")
        await stage.until(lambda: answers)


async def test_the_rules_are_shown_at_once_and_none_is_stored_before_the_question_was_seen(stage_of, ask_command):
    offer = RuleOffer(rule="write(a.txt)", covers="changes of a.txt")
    asking = Asking(replace(_change(ask_command), offers=(offer,)))
    async with stage_of(asking) as stage:
        await begin(stage)
        await stage.press_slowly("a")
        assert "stores this rule" in stage.text
        await stage.press_slowly("1")
        assert "never seen" in _lower_border(stage)
        assert asking.answers == []
        await stage.press_slowly("escape", "end", "a", "1")
        await stage.until(lambda: asking.answers)


@pytest.mark.parametrize("size", [*SIZES, (30, 14)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_what_was_never_seen_is_said_in_the_border_until_one_scrolls(stage_of, ask_command, size):
    async with stage_of(Asking(_change(ask_command)), size=size) as stage:
        await begin(stage)
        await stage.press_slowly("y")
        assert "press again" in _lower_border(stage)
        await stage.press_slowly("down")
        assert "more of" in _lower_border(stage)


def _lower_border(stage):
    return next(line for line in stage.text.splitlines() if "╯" in line)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_huge_command_is_laid_out_once_and_before_it_is_shown(stage_of, ask_command, size):
    command_lines.cache_clear()
    asking = Asking(ask_command("echo " + "\u200b" * 20_000))
    async with stage_of(asking, size=size) as stage:
        await begin(stage)
        assert command_lines.cache_info().misses == 1
        assert command_lines.cache_info().hits >= 1


async def test_a_huge_command_is_not_asked_about_in_an_app_that_is_closed_meanwhile(stage_of, ask_command):
    asking = Asking(ask_command("echo " + "a\u202e" * 20_000))
    async with stage_of(asking) as stage:
        await stage.type("go\n")
    assert [type(answer) for answer in asking.answers] in ([], [Withdraw])
