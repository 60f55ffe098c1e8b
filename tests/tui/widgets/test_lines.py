from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from codeagent.tui.widgets.lines import Cut, Cuts, Line, Piece, between, breaks, count_code_rows, one_line, wrap
from tests.effort import assert_takes_less

PLAIN = Style.null()
BOLD = Style(bold=True)
texts = st.text(st.sampled_from("ab .é日本👩\u200d👧\ufe0f❤-"), max_size=60).map(
    lambda text: text.lstrip("\u200d\ufe0f")
)


def copied(lines: list[Line]) -> str:
    return "".join(line.joint + line.copied() for line in lines).removeprefix("\n")


def test_words_wrap_at_spaces_and_long_words_are_cut():
    lines = wrap([Piece("one two verylongword x", PLAIN)], 8)
    assert [line.text for line in lines] == ["one two", "verylong", "word x"]


def test_wide_characters_take_two_cells():
    lines = wrap([Piece("日本語のテキスト", PLAIN)], 7)
    assert [line.text for line in lines] == ["日本語", "のテキ", "スト"]


def test_joined_emoji_are_never_cut_apart():
    family = "👩\u200d👩\u200d👧"
    lines = wrap([Piece(family * 3, PLAIN)], 5, cut=Cut.ANYWHERE)
    assert [line.text for line in lines] == [family * 2, family]


@given(texts, st.integers(2, 20), st.sampled_from(Cut))
@example("aa \u200da", 2, Cut.WORDS)
def test_wrapped_lines_fit_and_copy_as_they_were(text, width, cut):
    lines = wrap([Piece(text, PLAIN)], width, cut=cut)
    assert copied(lines).rstrip(" ") == text.rstrip(" ")
    assert all(cell_len(line.text.rstrip(" \u200d\ufe0f")) <= width for line in lines)


@given(texts, st.integers(2, 20))
def test_rows_are_counted_as_they_are_cut(text, width):
    assert count_code_rows(text, width) == len(wrap([Piece(text, PLAIN)], width, cut=Cut.CODE))


code = st.text(st.sampled_from("ab .,(=日❤ "), max_size=80)


@given(code, st.integers(2, 24))
def test_code_that_is_cut_loses_nothing_and_no_row_but_the_last_ends_far_from_the_edge(text, width):
    spans = breaks(text, width, Cut.CODE)
    assert "".join(text[start:end] for start, end in spans) == text
    for start, end in spans[:-1]:
        assert width - width // 3 - 1 <= cell_len(text[start:end]) <= width


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("return first + second", 16, ["return first + ", "second"]),
        ("total(first,second)", 14, ["total(first,", "second)"]),
        ("a_very_long_identifier", 10, ["a_very_lon", "g_identifi", "er"]),
        ("x = a_very_long_identifier", 20, ["x = a_very_long_iden", "tifier"]),
        ("                deep", 18, ["                de", "ep"]),
        ("値段 = 合計 の 割引", 10, ["値段 = 合", "計 の 割引"]),
        ("the word ends here now", 18, ["the word ends ", "here now"]),
        ("one  two", 5, ["one  ", "two"]),
    ],
    ids=["word", "sign", "long word", "word far off", "indentation", "wide", "row full", "two blanks"],
)
def test_code_is_cut_before_a_word_or_behind_a_sign_near_the_end(text, width, rows):
    assert [line.text for line in wrap([Piece(text, PLAIN)], width, cut=Cut.CODE)] == rows


def test_a_newline_ends_a_line_and_an_empty_one_stays():
    assert [line.text for line in wrap([Piece("a\n\nb", PLAIN)], 8)] == ["a", "", "b"]


def test_styles_stay_with_their_characters_across_a_wrap():
    lines = wrap([Piece("plain ", PLAIN), Piece("bold words", BOLD)], 11)
    assert [[(piece.text, piece.style) for piece in line.pieces] for line in lines] == [
        [("plain ", PLAIN), ("bold", BOLD)],
        [("words", BOLD)],
    ]


def test_margins_are_drawn_and_not_copied():
    lines = wrap([Piece("one two", PLAIN)], 7, first=(Piece("› ", BOLD, ""),), rest=(Piece("  ", PLAIN, ""),))
    assert ([line.text for line in lines], copied(lines)) == (["› one", "  two"], "one two")


def test_part_of_a_line_copies_just_that_part():
    line = Line(pieces=(Piece("12 ", PLAIN, ""), Piece("return x", PLAIN)))
    assert (line.copied(5, 9), line.copied(0, 3)) == ("turn", "")


def test_a_line_taken_whole_copies_its_source():
    line = Line(pieces=(Piece("Title", BOLD),), whole="# Title")
    assert (line.copied(), line.copied(1, 3)) == ("# Title", "it")


@pytest.mark.parametrize(("cell", "index"), [(0, 0), (1, 0), (2, 1), (4, 2), (99, 3)])
def test_a_cell_finds_its_character(cell, index):
    assert Line(pieces=(Piece("日本x", PLAIN),)).index_at(cell) == index


def test_one_line_ends_with_an_ellipsis_when_it_does_not_fit():
    assert "".join(piece.text for piece in one_line([Piece("日本語", PLAIN)], 5)) == "日本…"


def test_a_ground_lies_under_the_whole_row():
    ground = Style(bgcolor="#101010")
    strip = Line(pieces=(Piece("ab", Style(color="#ffffff")),)).strip(6, ground=ground)
    assert strip.text == "ab    "
    assert all(segment.style is not None and segment.style.bgcolor == ground.bgcolor for segment in strip)


def test_marked_characters_carry_the_mark():
    mark = Style(bgcolor="#0000ff")
    strip = Line(pieces=(Piece("abcd", PLAIN),)).marked((1, 3), mark).strip(4)
    assert [(segment.text, segment.style == mark) for segment in strip] == [("a", False), ("bc", True), ("d", False)]


@given(st.lists(st.text("ab ", max_size=4), max_size=8), st.integers(0, 30), st.integers(0, 30))
def test_pieces_cut_at_many_places_are_those_that_one_cut_gives(texts, start, end):
    pieces = [Piece(text, PLAIN, copied="x" if number % 2 else None) for number, text in enumerate(texts)]
    assert Cuts(pieces).between(start, end) == between(pieces, start, end)


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("pieces", [[Piece("a b ", PLAIN)] * 30_000, [Piece("a b " * 300_000, Style())]], ids=len)
def test_a_very_long_line_takes_no_longer_than_its_length_allows(pieces, cut):
    assert_takes_less(1.0, partial(wrap, pieces, 90, cut=cut))


@pytest.mark.parametrize(
    "address", ["https://example.com/a?b=1;c#d", "http://x", "mailto:me@example.com", "file:///home/me/a.txt"]
)
@pytest.mark.parametrize("ground", [None, Style(bgcolor="#000000")])
def test_an_address_is_told_to_the_terminal_which_may_open_it(address, ground):
    rows = wrap([Piece("see ", PLAIN), Piece("the docs", BOLD, link=address)], 8, cut=Cut.ANYWHERE)
    styles = [segment.style for row in rows for segment in row.strip(20, ground=ground) if segment.style.link]
    assert {style.link for style in styles} == {address}
    assert len(styles) == 2
    assert len({style.link_id for style in styles}) == 1


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "https://x\x1b]52;c;aGk=\x07",
        "https://x\n",
        "https://exämple.com",
        "https://x y",
        "data:text/html,x",
        "unfold",
        "https://x/" + "y" * 3_000,
    ],
)
def test_what_is_no_plain_address_is_told_to_no_terminal(address):
    (row,) = wrap([Piece("docs", BOLD, link=address)], 20)
    assert [segment.style for segment in row.strip(20)] == [BOLD]
