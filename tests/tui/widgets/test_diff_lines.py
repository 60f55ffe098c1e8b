import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.diff import make_diff
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.diff_lines import render_diff
from codeagent.tui.widgets.lines import Line

DARK = load_themes()["dark"]
OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 5\n", "line five\n").replace("line 25\n", "line 25\nand more\n")


def rows(old: str | None, new: str | None, width: int = 40, path: str = "a.txt") -> list[str]:
    return [line.text.rstrip() for line in render_diff(make_diff(path, old, new), width, DARK)]


def ground(line: Line, text: str) -> str:
    return next(
        piece.style.bgcolor.name for piece in line.pieces if text in piece.text and piece.style.bgcolor is not None
    )


def test_lines_have_numbers_and_signs():
    assert rows("a\nb\nc\n", "a\nx\ny\nc\n") == ["  1   a", "  2 − b", "  2 + x", "  3 + y", "  4   c"]


def test_a_wide_diff_has_the_numbers_of_both_sides():
    assert rows("a\nb\nc\n", "a\nx\nc\n", width=80) == ["  1   1   a", "  2     − b", "      2 + x", "  3   3   c"]


def test_changed_words_stand_on_a_ground_of_their_own():
    lines = render_diff(make_diff("a.txt", "total = sum(old)\n", "total = sum(new)\n"), 40, DARK)
    assert (ground(lines[0], "old"), ground(lines[0], "total")) == (DARK.removed_word, DARK.removed_background)
    assert (ground(lines[1], "new"), ground(lines[1], "total")) == (DARK.added_word, DARK.added_background)


def test_code_keeps_its_colours():
    lines = render_diff(make_diff("a.py", None, "def f(): pass\n"), 40, DARK)
    colours = {piece.text: piece.style.color.name for piece in lines[0].pieces if piece.style.color is not None}
    assert colours["def"] == DARK.code.keyword


BODY = "".join(f"    x{number} = {number}\n" for number in range(20))


@pytest.mark.parametrize(
    "code",
    [
        'def f():\n    """What it does.\n\n    More of it.\n    And on.\n    To the end.\n    """\n    return old\n',
        'x = """\na\nb\n"""\nreturn old\n',
        'def f():\n    """Says it."""\n    return old\n',
        'def f():\n    """\n    Says it.\n    """\n    return old\n',
        "    x = '''one\n    two.\n    three.'''\n\n    return old\n",
    ],
    ids=["ends_alone", "assigned", "one_line", "begins_alone", "ends_behind_words"],
)
def test_code_after_a_long_string_that_began_further_up_is_code(code):
    old = BODY + code
    lines = render_diff(make_diff("a.py", old, old.replace("return old", "return new")), 60, DARK)
    styles = [
        piece.style.color.name
        for line in lines
        for piece in line.pieces
        if piece.text.strip() == "return" and piece.style.color is not None
    ]
    assert styles == [DARK.code.keyword, DARK.code.keyword]


def test_a_long_string_that_begins_in_a_hunk_is_one():
    old = f'{BODY}def f():\n    return old\n\n\ndef g():\n    """Says\n    return twice\n'
    lines = render_diff(make_diff("a.py", old, old.replace("return old", "return new")), 60, DARK)
    kept = [piece.style.color.name for line in lines for piece in line.pieces if piece.text.strip() == "return"]
    assert kept == [DARK.code.keyword, DARK.code.keyword]


def test_each_hunk_has_a_heading_when_there_are_several():
    lines = render_diff(make_diff("a.txt", OLD, NEW), 40, DARK)
    assert [lines[start].text.split("─")[0].strip() for start in lines.hunk_starts] == ["line 5", "line 26"]


def test_hunks_left_out_say_so_in_words_and_signs():
    lines = render_diff(make_diff("a.txt", OLD, NEW), 60, DARK, chosen=frozenset({1}), current=0)
    assert [lines[start].text.split("─")[0].strip() for start in lines.hunk_starts] == [
        "▸ ○ line 5  left out",
        "● line 26",
    ]


def test_pointing_at_another_hunk_moves_no_line():
    lines = render_diff(make_diff("a.txt", OLD, NEW), 60, DARK, chosen=frozenset({0, 1}), current=0)
    other = lines.marked(frozenset({0}), 1)
    assert (len(other), other.hunk_starts) == (len(lines), lines.hunk_starts)


@pytest.mark.parametrize(
    ("new", "shows"),
    [
        ("x = 1  \u202e# ok\n", "<U+202E>"),
        ("x = 1\x1b[2K\n", "<U+001B>[2K"),
        ("x\u200b = 1\n", "<U+200B>"),
    ],
)
def test_what_cannot_be_seen_is_written_out(new, shows):
    assert any(shows in row for row in rows("x = 1\n", new))


def test_a_change_of_line_ends_alone_can_be_seen():
    assert rows("a\r\nb\r\n", "a\nb\r\n") == ["  1 − a␍", "  1 + a", "  2   b␍"]


def test_a_missing_newline_at_the_end_is_said():
    assert rows("a\n", "a") == ["  1 − a", "  1 + a (no newline at the end)"]


def test_nothing_of_a_long_line_is_cut_off():
    long = "x" * 50 + "; rm -rf /"
    lines = render_diff(make_diff("a.txt", None, long + "\n"), 30, DARK)
    assert "".join(line.joint + line.copied() for line in lines).strip("\n") == long


def test_copying_gives_the_lines_without_numbers_and_signs():
    lines = render_diff(make_diff("a.txt", "a\nb\n", "a\nc\n"), 40, DARK)
    assert [line.copied() for line in lines] == ["a", "b", "c"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab \t日")), max_size=12),
    st.lists(st.text(st.sampled_from("ab \t日")), max_size=12),
)
def test_there_are_exactly_as_many_rows_as_were_counted(old, new):
    lines = render_diff(make_diff("a.py", "\n".join(old), "\n".join(new)), 14, DARK)
    assert all(isinstance(lines[row], Line) for row in range(len(lines)))
    with pytest.raises(IndexError):
        lines[len(lines)]


def test_only_the_lines_looked_at_are_coloured():
    lines = render_diff(make_diff("a.py", None, "x = 1\n" * 10_000), 80, DARK)
    assert len(lines[:40]) == 40
    assert lines._painter._stretch.cache_info().misses == 2  # of 417


def test_of_a_hunk_drawn_ahead_no_more_is_coloured_than_will_be_in_view():
    old = "".join(f"total = {number}\n" for number in range(300))
    lines = render_diff(make_diff("a.py", old, old.replace("total", "sum_of")), 120, DARK, side=Side.BESIDE)
    lines.prepare(0, 30)
    assert len(lines[:30]) == 30
    painter = lines._painter
    assert painter._stretch.cache_info().misses == 2  # the old text and the new one
    assert len(painter._stretch(0, 0, 0, 30)) == 30
    assert painter._stretch.cache_info().misses == 2


def beside(old: str, new: str, width: int = 43) -> list[str]:
    diff = make_diff("a.txt", old, new)
    return [line.text.rstrip() for line in render_diff(diff, width, DARK, side=Side.BESIDE)]


def test_side_by_side_each_new_line_stands_beside_the_old_one():
    assert beside("a\nb\nc\n", "a\nx\ny\nc\n") == [
        "  1   a              │   1   a",
        "  2 − b              │   2 + x",
        "                     │   3 + y",
        "  3   c              │   4   c",
    ]


def test_side_by_side_a_line_stands_beside_the_one_it_became_also_below_others():
    assert beside("a\nt = b + c\nz\n", "a\nlog(t)\nt = b - c\nz\n") == [
        "  1   a              │   1   a",
        "                     │   2 + log(t)",
        "  2 − t = b + c      │   3 + t = b - c",
        "  3   z              │   4   z",
    ]


@pytest.mark.parametrize("side", Side)
def test_the_word_that_changed_is_marked_also_where_one_line_became_two(side):
    lines = render_diff(make_diff("a.txt", "t = b + c\n", "t = b - c\nlog(t)\n"), 60, DARK, side=side)
    words = [DARK.removed_word, DARK.added_word]
    marked = [
        piece.text
        for line in lines
        for piece in line.pieces
        if piece.style.bgcolor is not None and piece.style.bgcolor.get_truecolor().hex in words
    ]
    assert marked == ["+", "-"]


def test_side_by_side_a_long_line_takes_as_many_rows_as_its_longer_side():
    shown = beside("short\n", "x" * 30 + "\n")
    assert [row.partition("│")[2].strip(" 1+") for row in shown] == ["x" * 14, "x" * 14, "xx"]
    assert [row.partition("│")[0].strip() for row in shown] == ["1 − short", "", ""]


def test_side_by_side_marks_changed_words_and_colours_code():
    diff = make_diff("a.py", "def f(): return old\n", "def f(): return new\n")
    line = render_diff(diff, 80, DARK, side=Side.BESIDE)[0]
    assert (ground(line, "old"), ground(line, "new")) == (DARK.removed_word, DARK.added_word)
    keywords = [piece for piece in line.pieces if piece.text == "def" and piece.style.color is not None]
    assert [piece.style.color.name for piece in keywords] == [DARK.code.keyword] * 2


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab \t日")), max_size=12),
    st.lists(st.text(st.sampled_from("ab \t日")), max_size=12),
)
def test_side_by_side_nothing_is_lost_and_no_row_is_too_wide(old, new):
    diff = make_diff("a.txt", "\n".join(old), "\n".join(new))
    below, lines = (render_diff(diff, 40, DARK, side=side) for side in (Side.BELOW, Side.BESIDE))
    assert all(line.width <= 40 for line in lines)
    for sign in "−+":
        assert sum(sign in line.text for line in lines) == sum(sign in line.text for line in below)


def test_a_long_note_is_shown_whole():
    diff = make_diff("a.txt", "a\n", "b\n", notes=("it becomes executable for everybody",))
    shown = [line.text.strip() for line in render_diff(diff, 20, DARK)[:3]]
    assert " ".join(shown) == "it becomes executable for everybody"


def test_a_long_line_goes_on_with_a_whole_word_below_and_copies_as_it_is():
    line = "    return self.sum * (1 - self.discount)  # nothing is divided any more"
    lines = render_diff(make_diff("a.py", None, line + "\n"), 46, DARK)
    assert [row.text for row in lines] == [
        "  1 +     return self.sum * (1 - ",
        "      self.discount)  # nothing is divided ",
        "      any more",
    ]
    assert "".join(row.joint + row.copied() for row in lines).strip("\n") == line


def test_a_cut_line_keeps_its_colours_and_its_changed_words():
    old = "value = compute(first_number, second_number, third_number)\n"
    lines = render_diff(make_diff("a.py", old, old.replace("third", "fourth")), 40, DARK)
    assert [row.text for row in lines][-2:] == [
        "  1 + value = compute(first_number, ",
        "      second_number, fourth_number)",
    ]
    assert ground(lines[-1], "fourth_number") == DARK.added_word
    assert ground(lines[-1], "second_number") == DARK.added_background


def test_very_many_blanks_are_counted_and_copied_as_they_are():
    line = f"x = 1{' ' * 400}# and more"
    (row,) = render_diff(make_diff("a.py", None, line + "\n"), 70, DARK)
    assert row.text == "  1 + x = 1 <398 blanks> # and more"
    assert row.copied() == line


def test_columns_that_are_lined_up_stay_so():
    line = f"x = 1{' ' * 40}# and more"
    assert any(line in row for row in rows("x = 1\n", line + "\n", width=80))


def test_a_changed_number_of_blanks_is_marked_and_copied_once():
    old, new = f"a{' ' * 100}b", f"a{' ' * 200}b"
    lines = render_diff(make_diff("a.txt", old + "\n", new + "\n"), 70, DARK)
    assert [row.copied() for row in lines] == [old, new]
    assert all(" blanks> " in row.text for row in lines)


def test_changed_words_are_underlined_with_the_blanks_between_them_where_no_ground_can_tell_them():
    lines = render_diff(make_diff("a.py", "x = 1\n", "x = 2 + y\n"), 40, load_themes()["terminal"])
    marked = ["".join(piece.text for piece in line.pieces if piece.style.underline) for line in lines]
    assert marked == ["1", "2 + y"]
