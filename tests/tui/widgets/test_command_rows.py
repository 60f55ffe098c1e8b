from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.code_lines import code_style
from codeagent.tui.widgets.command_rows import command_code, command_rows
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.lines import Line, Piece
from codeagent.tui.widgets.question_lines import command_lines
from tests.effort import assert_takes_less

PLAIN, FAINT = Style.null(), Style(dim=True)


def rows(text: str, width: int) -> list[Line]:
    return command_rows([Piece(text, PLAIN)], width, first=Piece("$ ", FAINT, ""), mark=FAINT)


def test_a_command_breaks_between_words_and_the_break_is_marked():
    assert [row.text for row in rows("grep -rn discount shop", 14)] == ["$ grep -rn ", "↳ discount ", "↳ shop"]


def test_a_word_that_is_longer_than_a_row_is_cut_and_that_is_told():
    assert [row.text for row in rows("rm /a/very/long/path", 12)] == ["$ rm ", "↳ /a/very/lo", "↳…ng/path"]


def test_blanks_at_a_break_can_be_counted():
    assert [row.text for row in rows("echo 'one   two'", 12)] == ["$ echo 'one·", "↳ ··two'"]


@given(st.text(st.sampled_from("ab  -'é日👩"), max_size=60), st.integers(5, 24))
def test_rows_fit_and_together_are_the_command(text, width):
    made = rows(text, width)
    assert "".join(row.joint + row.copied() for row in made).removeprefix("\n") == text
    assert all(cell_len(row.text) <= width for row in made)
    assert all(not row.text.endswith("  ") for row in made[:-1])
    assert all(not row.text.startswith("↳  ") for row in made[1:])


@given(st.lists(st.text(st.sampled_from("ab-"), min_size=1, max_size=8), min_size=1, max_size=12))
def test_no_word_that_fits_is_cut(words):
    drawn = [row.copied().split() for row in rows(" ".join(words), 11)]
    assert [word for row in drawn for word in row] == words


def test_a_command_of_very_many_pieces_takes_no_longer_than_its_length_allows():
    pieces = [Piece("<U+200B>", PLAIN), Piece("a", PLAIN)] * 20_000
    assert_takes_less(0.5, partial(command_rows, pieces, 90, first=Piece("$ ", PLAIN), mark=PLAIN))


def test_names_of_commands_look_alike_and_one_that_is_warned_of_stands_out():
    palette = load_themes()["dark"]
    command = "echo 'rm; x' | sudo -n rm -rf build && FOO=1 pytest 2>&1 echo; for f in *; do rm $f; done"
    [row] = command_code(command, palette, ("rm -rf",))
    drawn = [(piece.text, piece.style) for piece in row]
    name, warned = code_style(palette, "function"), inks_of(palette).warning + Style(bold=True)
    assert [text for text, style in drawn if style == name] == ["echo", "sudo", "pytest", "rm"]
    assert [text for text, style in drawn if style == warned] == ["rm"]
    assert "".join(text for text, _ in drawn) == command


@pytest.mark.parametrize("text", ["\u200b" * 100_000, "a\u202e" * 50_000, "\u00a0" * 100_000, "\x01" * 100_000])
def test_what_is_written_out_makes_no_command_slow_to_lay_out(text):
    def look():
        command_lines.cache_clear()
        command_lines(f"echo {text}", 90, load_themes()["dark"])

    assert_takes_less(0.45, look)
