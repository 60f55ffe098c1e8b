"""Whatever is on the screen, the status line is its last row and the cursor can be seen."""

import asyncio

import pytest

SIZES = [(20, 5), (40, 10), (60, 15), (80, 24), (120, 40)]


def is_in_view(stage) -> bool:
    main = stage.app.main
    width, height = stage.app.size
    cursor = main.prompt.cursor_screen_offset
    is_last_row = main.status.region.bottom == height and main.status.region.height == 2
    return is_last_row and 0 <= cursor.x < width and 0 <= cursor.y < height - 2 and main.prompt.region.contains(*cursor)


async def holds(stage):
    """It is so when nothing moves any more."""
    for _ in range(20):
        await stage.until(lambda: is_in_view(stage))
        await stage.pilot.pause(0.2)
        if is_in_view(stage):
            return
    raise AssertionError(stage.text)


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_text_in_a_session_that_just_began(stage_of, size):
    async with stage_of(size=size) as stage:
        stage.app.main.prompt.put("some words to fill a line with " * 5)
        await holds(stage)


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_paste(stage_of, size):
    async with stage_of(size=size) as stage:
        stage.app.main.prompt.put("\n".join(f"line {number}" for number in range(30)))
        await holds(stage)


@pytest.mark.parametrize("lines", [9, 21, 60])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_long_draft_stays_at_the_bottom_and_scrolls_in_a_third_of_the_screen(stage_of, size, lines):
    async with stage_of(size=size) as stage:
        main = stage.app.main
        main.prompt.put("\n".join(f"line {number}" for number in range(1, lines + 1)))
        await stage.until(lambda: main.prompt.region.height == min(lines, size[1] // 3))
        await stage.until(lambda: main.prompt.region.bottom == main.status.region.y)
        await holds(stage)
        assert f"line {lines}" in stage.text
        assert main.transcript.region.bottom <= main.query_one("#bottom").region.y


async def test_the_cursor_stays_in_view_on_each_new_line_of_a_long_draft(stage_of):
    async with stage_of(size=(80, 24)) as stage:
        prompt = stage.app.main.prompt
        for number in range(1, 13):
            await stage.type(f"line {number}")
            await stage.pilot.press("ctrl+j")
            await stage.until(lambda: prompt.wrapped_document.height - prompt.scroll_offset.y <= prompt.size.height)
            await holds(stage)


async def test_a_question_keeps_its_keys_under_a_long_draft(stage_of, ask_diff):
    async def turn(emit, approver):
        await approver.ask(ask_diff())

    async with stage_of(turn, size=(80, 24)) as stage:
        await stage.type("go\n")
        await stage.until(lambda: stage.app.main.approval.waiting)
        stage.app.main.prompt.put("\n".join(f"line {number}" for number in range(40)))
        await holds(stage)
        await stage.until(lambda: "y approve" in stage.text)
        assert stage.app.main.prompt.region.bottom == stage.app.main.status.region.y
        assert stage.app.main.approval.region.height >= 10


async def test_a_terminal_that_becomes_small(stage_of):
    async with stage_of(size=(120, 40)) as stage:
        stage.app.main.prompt.put("\n".join("abcdefghi"))
        for size in [(40, 10), (60, 15), (20, 5)]:
            await stage.pilot.resize_terminal(*size)
            await stage.until(lambda size=size: stage.app.main.status.region.width == size[0])
            await holds(stage)


@pytest.mark.parametrize("size", SIZES)
async def test_messages_sent_before_the_session_is_open(stage_of, size):
    async with stage_of(size=size, gate=asyncio.Event()) as stage:
        await stage.type("one\ntwo\n")
        stage.app.main.prompt.put("three\nfour\nfive")
        await holds(stage)


@pytest.mark.parametrize("size", SIZES[1:])
async def test_a_question_with_a_draft_and_queued_messages(stage_of, ask_diff, size):
    async def turn(emit, approver):
        await approver.ask(ask_diff())

    async with stage_of(turn, size=size) as stage:
        await stage.type("go\n")
        await stage.until(lambda: stage.app.main.approval.waiting)
        stage.conversation.steer("one")
        stage.conversation.steer("two")
        stage.app.main.prompt.put("\n".join("abcdefghi"))
        await stage.until(lambda: stage.app.main.approval.region.height >= 3)
        await holds(stage)


@pytest.mark.parametrize(
    ("columns", "words"),
    [(80, "! for a shell command"), (60, "type / for commands "), (40, "› Ask for a change ")],
)
async def test_an_empty_prompt_says_as_much_as_fits(stage_of, columns, words):
    async with stage_of(size=(columns, 24)) as stage:
        await stage.until(lambda: words.rstrip() in stage.text)
        line = next(line for line in stage.text.splitlines() if "Ask for a change" in line)
        assert line.endswith(words.rstrip())
