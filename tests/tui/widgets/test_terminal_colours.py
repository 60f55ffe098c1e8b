import pytest
from rich.color import Color

from codeagent.core.messages import CommandDetails, TextBlock, ToolResult
from codeagent.core.output_colours import colours_of
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.terminal_colours import output_pieces
from codeagent.tui.widgets.tool_panel import ToolPanel

THEME = load_themes()["dark"]
INKS = inks_of(THEME)


def drawn(text):
    """Text and colour of each piece; None for text that asks for no colour."""
    pieces = output_pieces(text, INKS.muted, INKS)
    return [(piece.text, None if piece.style.color == INKS.muted.color else piece.style.color) for piece in pieces]


def colour(name):
    return Color.parse(getattr(THEME, name))


def test_plain_output_is_drawn_in_one_piece():
    assert drawn("a\nb\n") == [("a\nb", None)]


@pytest.mark.parametrize(
    ("codes", "name"),
    [("31", "error"), ("1;32", "success"), ("93", "warning"), ("38;5;196", "error"), ("38;2;40;200;40", "success")],
)
def test_a_commands_colours_are_the_themes(codes, name):
    assert drawn(f"a\x1b[{codes}mb\x1b[0mc") == [("a", None), ("b", colour(name)), ("c", None)]


def test_hidden_and_painted_text_stays_readable():
    assert drawn("\x1b[8;30;40mhidden\x1b[48;5;9m!") == [("hidden", None), ("!", None)]


def test_a_colour_goes_on_over_the_end_of_a_line():
    assert drawn("\x1b[31ma\nb") == [("a\nb", colour("error"))]


def test_other_escapes_are_gone_and_hidden_signs_are_written_out():
    assert drawn("\x1b[31m\x1b]8;;http://evil\x07a\u202eb\x1b[2J\x1b[m") == [("a<U+202E>b", colour("error"))]


@pytest.mark.parametrize("codes", [";;;", "38", "38;5", "38;2;1", "999999999999", "1:2:3", "38;5;99999"])
def test_odd_codes_do_no_harm(codes):
    assert "".join(text for text, _ in drawn(f"x\x1b[{codes}my")) == "xy"


def test_tabs_stand_where_they_would_without_colours():
    assert "".join(text for text, _ in drawn("ab\x1b[31mc\td\x1b[0m\te")) == "abc\td\te".expandtabs(4)


def test_a_panel_keeps_the_colours_and_copies_the_text():
    panel = ToolPanel("1", "bash", '{"command": "make"}')
    panel.run(0, frame="⠋")
    panel.write("\x1b[31mred\x1b[0m\n")
    live = [piece for piece in panel.lines(60, INKS)[1].pieces if piece.text == "red"]
    details = CommandDetails(
        command="make", cwd=".", ended="exit code 1", exit_code=1, colours=colours_of("\x1b[31mred\x1b[0m\n")
    )
    panel.end(ToolResult(call_id="1", blocks=(TextBlock(text="red\n[exit code 1]"),), details=details), 1)
    after = [piece for piece in panel.lines(60, INKS)[1].pieces if piece.text == "red"]
    assert [piece.style.color for piece in live + after] == [colour("error")] * 2
    assert "\x1b" not in panel.copied()
