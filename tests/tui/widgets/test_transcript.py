import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot

from codeagent.core.events import HistoryAppended, Level, TurnStarted
from codeagent.core.messages import (
    AssistantMessage,
    CommandDetails,
    Outcome,
    SearchDetails,
    StopReason,
    TextBlock,
    ToolResult,
)
from codeagent.tui.themes import load_themes, to_textual
from codeagent.tui.widgets.session_transcript import SessionTranscript

THEMES = load_themes()


class Page(App[None]):
    """Nothing but a transcript, and the messages it sent."""

    def __init__(self) -> None:
        super().__init__()
        self.transcript = SessionTranscript(THEMES["dark"], reduced_motion=True)
        self.below: list[int] = []
        self.links: list[str] = []

    def compose(self) -> ComposeResult:
        self.register_theme(to_textual(THEMES["dark"]))
        self.theme = "dark"
        yield self.transcript

    def on_column_view_new_below(self, message: SessionTranscript.NewBelow) -> None:
        self.below.append(message.count)

    def on_panel_column_link_clicked(self, message: SessionTranscript.LinkClicked) -> None:
        self.links.append(message.address)


@asynccontextmanager
async def opened(size: tuple[int, int] = (60, 12)) -> AsyncIterator[tuple[SessionTranscript, Page, Pilot[None]]]:
    app = Page()
    async with app.run_test(size=size) as pilot:
        yield app.transcript, app, pilot


def screen(transcript: SessionTranscript) -> list[str]:
    transcript.flush()
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def fill(transcript: SessionTranscript, count: int = 40) -> None:
    for number in range(count):
        transcript.add_user(f"message {number}")
    transcript.flush()


def finish(transcript: SessionTranscript, call_id: str, code: int = 0, text: str = "done") -> None:
    details = CommandDetails(command="make", cwd=".", ended=f"exit code {code}", exit_code=code)
    transcript.tool_ended(ToolResult(call_id=call_id, blocks=(TextBlock(text=text),), details=details), 1)


async def test_a_turn_is_shown_as_it_happens():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("mend it")
        transcript.stream_thinking("let me see")
        transcript.stream_text("I will **look**.")
        transcript.end_text()
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1")
        transcript.add_note("saved", Level.INFO)
        assert [line for line in screen(transcript) if line] == [
            " › mend it",
            "   Thought  let me see",
            "   I will look.",
            "   ✓ bash   make" + " " * 37 + "1.0 s",
            " · saved",
        ]


async def test_it_follows_the_end_while_the_person_is_there():
    async with opened() as (transcript, _, _pilot):
        fill(transcript)
        transcript.stream_text("the end")
        assert screen(transcript)[-1] == "   the end"


async def test_it_stays_where_the_person_scrolled_to_and_counts_what_is_new():
    async with opened() as (transcript, app, pilot):
        fill(transcript)
        transcript.scroll_to(y=20)
        before = screen(transcript)
        transcript.stream_text("a\n\nb\n\nc\n\n")
        assert screen(transcript) == before
        await pilot.pause()
        assert app.below[-1] == 6
        transcript.scroll_end(animate=False)
        await pilot.pause()
        assert (app.below[-1], screen(transcript)[-1]) == (0, "   c")


async def test_it_follows_again_once_the_person_is_back_at_the_end():
    async with opened() as (transcript, _, pilot):
        fill(transcript)
        transcript.scroll_to(y=5)
        transcript.scroll_end(animate=False)
        await pilot.pause()
        transcript.stream_text("new")
        assert screen(transcript)[-1] == "   new"


async def test_what_changes_above_the_view_moves_nothing_in_it():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        fill(transcript)
        transcript.scroll_to(y=6)
        before = screen(transcript)
        finish(transcript, "1", code=1, text="\n".join("abcdef"))
        assert screen(transcript) == before


async def test_scrolling_up_row_by_row_never_skips_or_repeats_a_row():
    async with opened() as (transcript, _, _pilot):
        for number in range(60):
            transcript.stream_text(f"## {number}\n\n```\ncode {number}\n```\n\n- {number}\n\n")
            transcript.end_text()
        transcript.flush()
        rows = screen(transcript)
        while transcript.scroll_offset.y:
            transcript.scroll_to(y=transcript.scroll_offset.y - 1)
            shown = screen(transcript)
            assert shown[1:] == rows[: len(shown) - 1]
            rows = [shown[0], *rows]
        assert [row.strip() for row in rows if row.startswith("    code")] == [f"code {number}" for number in range(60)]


@pytest.mark.parametrize("follows", [True, False])
async def test_another_width_wraps_anew_and_keeps_the_place(follows):
    words = "several words that take more than a single row when the screen is narrow as it is here"
    async with opened() as (transcript, _, pilot):
        for number in range(50):
            transcript.add_user(f"{number}: {words}")
        transcript.flush()
        if not follows:
            transcript.scroll_to(y=61)
        top = screen(transcript)[-1 if follows else 0]
        await pilot.resize_terminal(37, 12)
        await pilot.pause()
        narrow = screen(transcript)
        assert all(len(line) <= 37 for line in narrow)
        assert set(top.split()[1:3]) <= set(" ".join(narrow[-3:] if follows else narrow[:2]).split())
        await pilot.resize_terminal(60, 12)
        await pilot.pause()
        assert screen(transcript)[-1 if follows else 0] == top


async def test_a_failed_call_opens_by_itself_and_enter_closes_it():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1", code=2, text="no rule")
        assert "     no rule" in screen(transcript)
        transcript.choose("previous")
        transcript.toggle_chosen()
        assert "     no rule" not in screen(transcript)


async def test_a_click_on_its_heading_opens_a_panel():
    async with opened() as (transcript, _, pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1", text="all built")
        transcript.flush()
        await pilot.click(SessionTranscript, offset=(10, 0))
        assert "     all built" in screen(transcript)


async def test_choosing_walks_the_panels_and_copying_gives_what_one_holds():
    async with opened() as (transcript, _, _pilot):
        for call_id in "abc":
            transcript.tool_started(call_id, "bash", '{"command": "make"}')
            finish(transcript, call_id, text=f"output {call_id}")
        transcript.flush()
        transcript.choose("previous")
        transcript.choose("previous")
        transcript.choose("previous")
        transcript.choose("next")
        assert transcript.copy_chosen() == "output b"


async def test_all_panels_open_and_close_together():
    async with opened() as (transcript, _, _pilot):
        for call_id in "ab":
            transcript.tool_started(call_id, "bash", '{"command": "make"}')
            finish(transcript, call_id, text=f"output {call_id}")
        transcript.toggle_all()
        opened_panels = screen(transcript)
        transcript.toggle_all()
        assert ("     output a" in opened_panels, "     output b" in opened_panels) == (True, True)
        assert not any("output" in line for line in screen(transcript))


async def test_what_opened_by_itself_is_as_it_was_after_all_were_opened_and_closed():
    async with opened() as (transcript, _, _pilot):
        for call_id, code in (("a", 0), ("b", 2), ("c", 2)):
            transcript.tool_started(call_id, "bash", '{"command": "make"}')
            finish(transcript, call_id, code=code, text="\n".join(f"{call_id} {row}" for row in range(30)))
        transcript.tool_started("own", "bash", '{"command": "ls"}', is_open=True)
        finish(transcript, "own", text="own output")
        transcript.choose("previous")
        transcript.choose("previous")
        transcript.toggle_chosen()
        transcript.toggle_chosen()
        transcript.unchoose()
        before = screen(transcript)
        assert "     own output" in before
        assert "     b 29" in before
        assert "     c 29" not in before
        transcript.toggle_all()
        transcript.toggle_all()
        assert screen(transcript) == before


async def test_a_call_that_fails_while_all_are_open_closes_to_how_it_would_have_opened():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("0", "bash", '{"command": "make"}')
        transcript.toggle_all()
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1", code=2, text="\n".join(map(str, range(30))))
        transcript.toggle_all()
        shown = [line.text.strip() for line in transcript.column.lines(1)]
        assert shown[1:3] == ["… 18 rows above; enter shows all", "18"]


async def test_a_countdown_takes_one_place_and_goes_away():
    async with opened() as (transcript, _, _pilot):
        transcript.set_countdown("again in 2 s")
        transcript.set_countdown("again in 1 s")
        counting = [line for line in screen(transcript) if line]
        transcript.set_countdown(None)
        assert (counting, [line for line in screen(transcript) if line]) == ([" ! again in 1 s"], [])


async def test_a_discarded_reply_is_taken_out_and_written_anew():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("go")
        transcript.stream_text("half a sen")
        transcript.flush()
        transcript.end_text(discarded=True)
        transcript.stream_text("whole")
        transcript.end_text()
        assert [line for line in screen(transcript) if line] == [" › go", "   whole"]


async def test_selecting_with_the_mouse_copies_words_across_blocks():
    async with opened() as (transcript, app, pilot):
        transcript.add_user("mend the totals of this cart please, all of them, and then say which ones")
        transcript.stream_text("- yes\n- it is done")
        transcript.end_text()
        transcript.flush()
        await pilot.mouse_down(SessionTranscript, offset=(8, 0))
        await pilot.hover(SessionTranscript, offset=(8, 4))
        await pilot.mouse_up(SessionTranscript, offset=(8, 4))
        expected = "the totals of this cart please, all of them, and then say which ones\n\n- yes\n- it "
        assert app.screen.get_selected_text() == expected
        assert transcript.selected_text() == expected


async def test_a_click_clears_the_selection_and_a_double_click_marks_a_word():
    async with opened() as (transcript, _, pilot):
        transcript.add_user("look at shop/cart.py now")
        transcript.flush()
        transcript.select_word(Offset(13, 0))
        word = transcript.selected_text()
        await pilot.click(SessionTranscript, offset=(30, 8))
        assert (word, transcript.selected_text()) == ("shop/cart.py", "")


async def test_a_triple_click_marks_the_line_as_it_was_written():
    text = "one line that is much too long to fit into a single row of this screen"
    async with opened() as (transcript, _, _pilot):
        transcript.add_user(f"{text}\nanother")
        transcript.flush()
        transcript.select_paragraph(Offset(5, 1))
        assert transcript.selected_text() == text


async def test_a_clicked_address_is_told():
    async with opened() as (transcript, app, pilot):
        transcript.stream_text("see https://a.example/b now")
        transcript.end_text()
        transcript.flush()
        await pilot.click(SessionTranscript, offset=(12, 0))
        await pilot.pause()
        assert app.links == ["https://a.example/b"]


async def test_a_click_leaves_the_keyboard_where_it_was():
    async with opened() as (transcript, app, pilot):
        app.set_focus(None)
        transcript.add_user("hello")
        await pilot.click(SessionTranscript, offset=(5, 0))
        assert app.focused is None


async def test_other_colours_show_at_once():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("hello")
        transcript.flush()
        transcript.set_palette(THEMES["light"])
        (first, *_) = transcript.render_line(0)
        assert first.style is not None
        assert first.style.bgcolor is not None
        assert first.style.bgcolor.name == THEMES["light"].surface


async def test_the_clock_stands_still_when_nothing_happens():
    async with opened() as (transcript, _, pilot):
        transcript.add_user("hello")
        await pilot.pause(0.2)
        timer = transcript._timer
        assert timer is not None
        assert not timer._active.is_set()


async def test_ten_thousand_messages_cost_a_few_drawn_blocks_and_no_widget():
    events = [
        event
        for turn in range(5_000)
        for event in (
            TurnStarted(turn=turn, text=f"question {turn}"),
            HistoryAppended(
                message=AssistantMessage(blocks=(TextBlock(text=f"answer {turn}"),), stop=StopReason.END_TURN)
            ),
        )
    ]
    async with opened() as (transcript, app, _pilot):
        transcript.load(events)
        assert screen(transcript)[-1] == "   answer 4999"
        assert transcript.column.drawn_count <= 40
        assert len(list(app.screen.walk_children())) <= 5


async def test_a_chunk_draws_only_the_last_block_however_long_the_transcript():
    async with opened() as (transcript, _, _pilot):
        fill(transcript, 1_000)
        transcript.stream_text("first\n\nsecond")
        transcript.flush()
        tail = len(transcript.column) - 1
        kept = [drawn for index, drawn in transcript.column._drawn.items() if index != tail]
        transcript.stream_text(" goes on")
        transcript.flush()
        assert {id(drawn) for drawn in kept} < {id(drawn) for drawn in transcript.column._drawn.values()}


async def test_a_call_that_was_stopped_is_not_shown_as_trouble():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "sleep 9"}')
        transcript.tool_ended(ToolResult(call_id="1", blocks=(), outcome=Outcome.CANCELLED), 2)
        assert screen(transcript)[0].split() == ["–", "bash", "sleep", "9", "stopped"]


async def test_finding_goes_upwards_through_all_places_and_round_again():
    async with opened() as (transcript, _, _pilot):
        fill(transcript, 40)
        found = await transcript.seek("MESSAGE 1")
        places: list[str] = []
        numbers: list[int] = []
        for _ in range(12):
            assert transcript.marked is not None
            row = transcript.column.row(transcript.marked[0].block, 0)
            assert 0 <= row - transcript.scroll_offset.y < transcript.size.height
            places.append(transcript.column.line(row).text.strip())
            numbers.append(found.number)
            found = await transcript.find_next("previous")
        assert places == [f"› message {number}" for number in [*range(19, 9, -1), 1, 19]]
        assert (numbers, found.total) == ([*range(11, 0, -1), 11], 11)


async def test_finding_downwards_goes_the_other_way():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("total, total and total")
        assert (await transcript.seek("total")).number == 3
        last = transcript.marked
        assert (await transcript.find_next("previous")).number == 2
        assert (await transcript.find_next("next")).number == 3
        assert transcript.marked == last
        assert (await transcript.find_next("next")).number == 1


async def test_a_panel_that_holds_the_words_is_open_while_one_is_there():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1", text="a needle in the hay")
        await transcript.seek("needle")
        assert "     a needle in the hay" in screen(transcript)
        assert transcript.selected_text() == "needle"
        transcript.end_search(stays=False)
        assert "     a needle in the hay" not in screen(transcript)
        await transcript.seek("needle")
        transcript.end_search(stays=True)
        assert "     a needle in the hay" in screen(transcript)


async def test_a_panel_that_opened_by_itself_shows_the_rows_it_left_out_while_one_is_sought_there():
    async with opened((60, 20)) as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        rows = [*("hay" for _ in range(5)), "a needle", *("hay" for _ in range(30)), "the last needle"]
        finish(transcript, "1", code=1, text="\n".join(rows))
        before = screen(transcript)
        assert (await transcript.seek("needle")).total == 2
        assert (await transcript.find_next("previous")).number == 1
        assert "     a needle" in screen(transcript)
        transcript.end_search(stays=False)
        assert screen(transcript) == before


async def test_words_in_a_heading_do_not_hide_the_same_words_below_it():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1", text="make: all built")
        assert (await transcript.seek("make")).total == 2
        assert "     make: all built" in screen(transcript)


async def test_every_place_in_view_stands_out_while_it_is_sought():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("total and total")
        await transcript.seek("total")
        strip = transcript.render_line(0)
        shown = [segment.text for segment in strip if segment.style and segment.style.underline]
        here = [segment.text for segment in strip if segment.style and segment.style.bold and "total" in segment.text]
        assert (shown, here) == (["total", "total"], ["total"])
        transcript.end_search(stays=False)
        assert not any(segment.style and segment.style.underline for segment in transcript.render_line(0))


async def test_leaving_the_search_goes_back_to_where_it_began():
    async with opened() as (transcript, _, _pilot):
        fill(transcript, 40)
        transcript.scroll_to(y=50)
        before = screen(transcript)
        await transcript.seek("message 3")
        assert screen(transcript) != before
        transcript.end_search(stays=False)
        assert screen(transcript) == before
        transcript.scroll_to_end()
        await transcript.seek("message 3")
        transcript.end_search(stays=False)
        assert transcript.follows


async def test_what_a_heading_says_came_of_a_call_is_found_and_marked_there():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "grep", '{"pattern": "discount"}')
        details = SearchDetails(matches=7, files=3)
        blocks = (TextBlock(text="shop/cart.py:1:discount"),)
        transcript.tool_ended(ToolResult(call_id="1", blocks=blocks, outcome=Outcome.OK, details=details), 0.1)
        assert (await transcript.seek("7 matches in 3 files")).total == 1
        assert transcript.selected_text() == "7 matches in 3 files"
        assert (await transcript.seek("shop/cart.py:1")).total == 1


async def test_words_that_stand_nowhere_are_not_found():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("hello **bold** world")
        assert (await transcript.seek("absent")).total == 0
        transcript.stream_text("hello **bold** world")
        transcript.end_text()
        assert (await transcript.seek("**")).total == 2  # in what the person typed; in Markdown it is no word


async def test_marking_beyond_the_edge_scrolls():
    async with opened() as (transcript, app, pilot):
        fill(transcript, 40)
        bottom = transcript.scroll_offset.y
        await pilot.mouse_down(SessionTranscript, offset=(6, 5))
        await pilot.hover(SessionTranscript, offset=(6, 2))
        transcript._pointer = Offset(6, -3)
        transcript._drag()
        await pilot.mouse_up(SessionTranscript, offset=(6, 0))
        assert transcript.scroll_offset.y == bottom - 3
        assert app.screen.get_selected_text()


async def test_a_selection_stays_on_its_words_while_text_streams_in():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("keep these words")
        transcript.flush()
        transcript.select_word(Offset(9, 0))
        for number in range(60):
            transcript.stream_text(f"line {number}\n\n")
        transcript.flush()
        assert transcript.selected_text() == "these"


async def test_another_width_clears_the_selection_since_its_rows_are_gone():
    async with opened() as (transcript, app, pilot):
        transcript.add_user("keep these words")
        transcript.flush()
        transcript.select_word(Offset(9, 0))
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert (transcript.marked, app.screen.get_selected_text()) == (None, None)


async def test_the_last_retry_leaves_no_trace_in_the_spacing():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1")
        transcript.set_countdown("again in 1 s")
        transcript.set_countdown(None)
        transcript.tool_started("2", "bash", '{"command": "make"}')
        finish(transcript, "2")
        assert [bool(line) for line in screen(transcript)[:3]] == [True, True, False]


async def test_going_to_the_end_shows_the_end_also_when_more_came_since_the_last_frame():
    async with opened() as (transcript, _, _pilot):
        fill(transcript)
        transcript.scroll_to(y=3)
        transcript.add_user("the newest")
        transcript.scroll_to_end()
        assert transcript.render_line(transcript.size.height - 1).text.strip() == "› the newest"


async def test_a_click_on_the_rows_left_out_shows_them():
    async with opened() as (transcript, _, pilot):
        transcript.tool_started("1", "bash", '{"command": "make"}')
        finish(transcript, "1", code=1, text="\n".join(f"line {number}" for number in range(14)))
        transcript.flush()
        transcript.scroll_home(animate=False)
        await pilot.pause()
        await pilot.click(SessionTranscript, offset=(10, 1))
        assert "     line 0" in screen(transcript)


async def test_times_are_shown_on_demand_and_move_nothing():
    async with opened() as (transcript, _, _pilot):
        transcript.add_user("first")
        transcript.stream_text("a long answer that fills its first line to the end, " * 3)
        transcript.end_text()
        for call_id in ("r1", "r2"):
            transcript.tool_started(call_id, "read", '{"path": "cart.py"}')
            finish(transcript, call_id)
        before = screen(transcript)
        transcript.show_times(is_shown=True)
        with_times = screen(transcript)
        time = r" +\d\d:\d\d:\d\d$"
        assert [number for number, line in enumerate(with_times) if re.search(time, line)] == [0, 1, 6, 7]
        assert [re.sub(time, "", line).split() for line in with_times] == [line.split() for line in before]
        transcript.show_times(is_shown=False)
        assert screen(transcript) == before


async def test_each_call_has_its_time_and_a_reply_has_one():
    async with opened() as (transcript, _, _pilot):
        transcript.tool_started("b1", "bash", json.dumps({"command": "git log --oneline && " * 9}))
        transcript.stream_text("One.\n\nTwo.\n\n- three\n")
        transcript.end_text()
        transcript.show_times(is_shown=True)
        assert [bool(re.search(r"\d\d:\d\d:\d\d$", line)) for line in screen(transcript) if line.strip()] == [
            True,
            True,
            False,
            False,
        ]
        assert "git log --onel" in screen(transcript)[0]
        assert "…  " in screen(transcript)[0]


async def test_an_older_session_shows_the_times_of_then():
    async with opened() as (transcript, _, _pilot):
        events = [TurnStarted(turn=1, text="one"), TurnStarted(turn=2, text="two"), TurnStarted(turn=3, text="three")]
        transcript.load(events, ["2020-03-04T05:06:07+00:00", "2020-03-05T12:06:07+00:00", "not a time"])
        transcript.show_times(is_shown=True)
        lines = screen(transcript)
        assert re.fullmatch(r" › one +Mar [345]  \d\d:\d6:07", lines[0])
        assert re.fullmatch(r" › two +Mar [56]  \d\d:\d6:07", lines[2])
        assert lines[4] == " › three"


async def test_pieces_that_come_between_two_frames_are_laid_out_once():
    async with opened() as (transcript, _, _pilot):
        transcript.stream_text("so ")
        transcript.flush()
        blocks, drawn = len(transcript.column), list(transcript.column._drawn.values())
        for _ in range(2_000):
            transcript.stream_text("very\n\n")
        assert (len(transcript.column), list(transcript.column._drawn.values())) == (blocks, drawn)
        transcript.flush()
        assert len(transcript.column) > 1_000
        assert transcript.column.drawn_count <= 60


async def test_there_are_as_many_widgets_whatever_the_length():
    async with opened() as (transcript, app, _pilot):
        fill(transcript, 3)
        few = len(list(app.screen.walk_children()))
        fill(transcript, 3_000)
        assert len(list(app.screen.walk_children())) == few


async def test_a_frame_is_left_out_for_a_key_but_never_more_than_two_in_turn():
    async with opened() as (transcript, _, _pilot):

        def is_drawn_after(*, key: bool) -> bool:
            transcript.stream_text("more ")
            if key:
                transcript.make_room()
            transcript._not_before = 0.0
            transcript._tick()
            return transcript._reply is not None and not transcript._reply._pending

        assert [is_drawn_after(key=key) for key in (False, True, False, False)] == [True, False, True, True]
        assert [is_drawn_after(key=True) for _ in range(6)] == [False, False, True, False, False, True]
