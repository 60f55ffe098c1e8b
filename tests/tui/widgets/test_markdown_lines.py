from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.lines import Line
from codeagent.tui.widgets.markdown_lines import markdown_lines
from tests.effort import assert_takes_less

INKS = inks_of(load_themes()["dark"])


def drawn(source: str, width: int = 40) -> list[str]:
    return [line.text.rstrip() for line in markdown_lines(source, width, INKS)]


def copied(lines: list[Line]) -> str:
    return "".join(line.joint + line.copied() for line in lines if not line.is_drawn_only).removeprefix("\n")


def pieces(source: str) -> dict[str, str]:
    return {piece.text: piece.link for line in markdown_lines(source, 60, INKS) for piece in line.pieces}


def test_paragraphs_stand_apart_and_line_breaks_stay():
    assert drawn("one\ntwo\n\nthree") == ["one", "two", "", "three"]


def test_lists_nest_with_other_bullets_and_go_on_behind_them():
    assert drawn("- a\n  - b\n- long enough to be wrapped here", 20) == [
        "• a",
        "  ◦ b",
        "• long enough to be",
        "  wrapped here",
    ]


def test_tasks_have_boxes_in_place_of_bullets():
    source = "- [x] look\n- [ ] **mend** what is wrong\n  - [X] `a.py`\n  - plain\n"
    source += "- [y] no\n- [x](https://a.b)\n\n1. [ ] first"
    assert drawn(source, 22) == [
        "✓ look",
        "☐ mend what is wrong",
        "  ✓ a.py",
        "  ◦ plain",
        "• [y] no",
        "• x (https://a.b)",
        "",
        "1. ☐ first",
    ]


def test_tasks_copy_as_they_were_written():
    source = "- [x] look\n- [ ] mend **what** is wrong in many places\n3. [x] test"
    assert copied(markdown_lines(source, 16, INKS)).replace("\n\n", "\n") == source.replace("**", "")


def test_a_bracket_that_is_no_box_stays():
    assert drawn("- [x]\n- [x]y\n- \\[x\\] z") == ["• [x]", "• [x]y", "• [x] z"]


def test_numbers_line_up_and_can_be_given():
    assert drawn("9. a\n9. b") == [" 9. a", "10. b"]
    assert [line.text for line in markdown_lines("1. a", 20, INKS, number=4)] == ["4. a"]


def test_emphasis_is_a_style_and_its_signs_are_gone():
    (line,) = markdown_lines("a *b* **c** ~~d~~ `e`", 40, INKS)
    styles = {piece.text: piece.style for piece in line.pieces}
    assert line.text == "a b c d e"
    assert (styles["b"].italic, styles["c"].bold, styles["d"].strike) == (True, True, True)
    assert styles["e"].bgcolor is not None


def test_a_heading_copies_with_its_signs():
    lines = markdown_lines("## Title", 40, INKS)
    assert ([line.text for line in lines], copied(lines)) == (["Title"], "## Title")


def test_a_link_shows_where_it_leads_unless_it_says_so_itself():
    assert drawn("[text](https://a.example/b)") == ["text (https://a.example/b)"]
    assert drawn("<https://a.example>") == ["https://a.example"]


def test_addresses_can_be_clicked_and_scripts_can_not():
    found = pieces("see https://a.example/x. and [y](javascript:alert(1)) and [z](file:///etc/passwd)")
    assert found["https://a.example/x"] == "https://a.example/x"
    assert [link for link in found.values() if link] == ["https://a.example/x"]


@pytest.mark.parametrize(
    "source",
    ["[b]x[/b] [@click=app.quit]q[/] [/]", "<b>x</b> <script>y</script>", "$primary \\[x]"],
)
def test_markup_of_other_kinds_is_shown_as_it_is(source):
    assert drawn(source, 60) == [source.replace("\\[", "[")]


def test_escape_sequences_never_get_through():
    text = "\n".join(drawn("a\x1b]0;pwn\x07b \x1b[2Jc `\x1b[8md`\n\n```\n\x1b[1A\x1b[2Kx\n```"))
    assert "\x1b" not in text
    assert "pwn" not in text


def test_nothing_in_it_reorders_what_follows():
    assert drawn("a \u202eb `c\u2066d` مرحبا\u200f") == ["a <U+202E>b c<U+2066>d مرحبا\u200f"]


def test_code_stands_on_its_own_ground_with_its_language():
    lines = markdown_lines("```python\ndef f():\n    return 1\n```", 30, INKS)
    grounds = {piece.style.bgcolor for line in lines for piece in line.pieces}
    assert [line.text.rstrip() for line in lines] == [" " * 23 + "python", " def f():", "     return 1", ""]
    assert {colour.name for colour in grounds if colour is not None} == {INKS.palette.raised}


def test_the_ground_of_code_on_a_wide_screen_ends_where_panels_do_and_no_line_is_cut_for_that():
    long = "x = " + "1" * 150
    lines = markdown_lines(f"```python\nshort\n{long}\n```", 190, INKS)
    assert [line.width for line in lines] == [116, 116, 1 + len(long) + 1, 116]
    assert lines[0].text.endswith("python ")


def test_a_row_that_code_goes_on_in_looks_like_no_line_of_its_own():
    code = "if x:\n    return first + second + third"
    lines = drawn(f"```\n{code}\n```", 24)
    assert [line.rstrip() for line in lines[1:-1]] == [" if x:", "     return first +", "     ↳ second + third"]
    assert copied(markdown_lines(f"```\n{code}\n```", 24, INKS)) == code


def test_code_copies_as_it_was_written():
    code = "def f(a_long_name, another_long_name):\n\n    return 1"
    assert copied(markdown_lines(f"```python\n{code}\n```", 20, INKS)) == code


def test_a_table_shares_the_width_and_wraps_what_is_long():
    lines = drawn("| name | what it does |\n| :-- | --: |\n| a | long words that need more room |\n| b | x |", 24)
    assert lines == [
        "name        what it does",
        "─" * 24,
        "a        long words that",
        "          need more room",
        "─" * 24,
        "b                      x",
    ]


def test_a_table_of_too_many_columns_becomes_a_list():
    assert drawn("| a | b | c |\n|-|-|-|\n| 1 | 2 | 3 |", 12) == ["a: 1", "b: 2", "c: 3"]


def test_a_table_copies_as_a_table():
    source = "| a | b |\n| --- | --- |\n| 1 | some long words |"
    assert copied(markdown_lines(source, 16, INKS)) == source


def test_quotes_have_a_bar_and_copy_with_their_sign():
    lines = markdown_lines("> one two three", 12, INKS)
    assert [line.text for line in lines] == ["▎ one two", "▎ three"]
    assert copied(lines) == "> one two three"


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab日👩 \n-*`#>|1.[]()<&\t_~:"), max_size=120), st.integers(10, 40))
def test_nothing_is_ever_wider_than_the_screen(source, width):
    assert all(len(line.text.rstrip()) <= width for line in markdown_lines(source, width, INKS))
    assert all(
        line.strip(width).cell_length <= width + line.text.count(" ") for line in markdown_lines(source, width, INKS)
    )


def test_no_control_character_comes_out_of_entities_and_the_names_of_languages():
    source = "a&#13;b &#12; &#x202e; `&#13;` [l&#13;](x&#13;)\n\n~~~ &#13;&#x202e;\nc\n~~~\n\n"
    source += "```\x1b]0;t\x07\x9b2J\nc\n```\n"
    assert "".join(drawn(source, 80)).isprintable()


@pytest.mark.parametrize("sign", ["![", "[", "*a* ", "| ", "> ", "`a", "- a\n", "> - a\n", "<a>", "\u200b"])
def test_a_very_long_paragraph_does_not_hold_up_the_screen(sign):
    for length in (1_000_000, 39_000):
        assert_takes_less(0.15, partial(markdown_lines, sign * (length // len(sign)), 90, INKS))


def test_long_code_stays_code():
    rows = markdown_lines("```python\n" + "x = 1\n" * 10_000 + "```", 90, INKS)
    assert "```" not in "".join(row.text for row in rows)


def test_of_wide_signs_fewer_are_drawn_as_each_takes_longer():
    source = "一二三" * 500_000
    assert drawn(source, 95)[-1] == f"… {len(source) - 100_000 // 3:,} more characters: /copy takes them too"


@pytest.mark.parametrize(
    ("source", "most"),
    [
        ("word " * 1_000_000, 100_000),
        ("x" * 5_000_000, 100_000),
        ("```python\n" + "f(1) # abc\n" * 450_000, 200_000),
    ],
    ids=["words", "one word", "code"],
)
def test_of_megabytes_without_an_end_the_beginning_is_drawn_and_the_rest_counted(source, most):
    assert_takes_less(0.6, partial(markdown_lines, source, 95, INKS))
    assert drawn(source, 95)[-1] == f"… {len(source) - most:,} more characters: /copy takes them too"


def test_a_wide_table_ends_where_code_and_panels_do():
    source = f"| a | b |\n| - | - |\n| {'word ' * 60} | {'more ' * 60} |\n"
    table, code = (max(line.width for line in markdown_lines(text, 190, INKS)) for text in (source, "```\nx\n```\n"))
    assert table == code
