from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.blocks import PersonBlock, TextBlock
from codeagent.tui.widgets.finding import hits, pattern_of, spans
from codeagent.tui.widgets.inks import inks_of
from tests.effort import assert_takes_less

INKS = inks_of(load_themes()["dark"])


def lines_of(text: str, width: int = 24):
    return PersonBlock(text).lines(width, INKS)


def test_words_are_found_across_a_wrap():
    lines = lines_of("these are words that wrap somewhere")
    (((first, _), (last, _)),) = hits(lines, pattern_of("THAT wrap"))
    assert (first, last) == (0, 1)


def test_each_row_knows_its_own_part_of_a_hit():
    lines = lines_of("these are words that wrap somewhere")
    shown = [lines[row].text[start:end] for row in (0, 1) for start, end in spans(lines, row, pattern_of("that wrap"))]
    assert shown == ["that", "wrap"]


def test_each_row_of_a_very_long_paragraph_is_marked_by_what_is_near():
    lines = lines_of("and so on " * 20_000, 100)
    long = pattern_of("and so on " * 60)
    assert all(spans(lines, row, pattern_of("so on")) for row in range(0, len(lines), 97))
    assert_takes_less(0.5, lambda: [spans(lines, row, long) for row in range(800, 900)])


def test_margins_are_not_searched():
    (((_, start), _),) = hits(lines_of("a › b"), pattern_of("›"))
    assert start == 5


def test_signs_of_a_pattern_mean_themselves():
    assert (len(hits(lines_of("f(x)"), pattern_of("f(x)"))), hits(lines_of("fx"), pattern_of("f(x)"))) == (1, [])


def test_code_in_a_reply_is_found():
    lines = TextBlock("```python\nx = total(1)\n```").lines(40, INKS)
    (((row, start), (_, end)),) = hits(lines, pattern_of("x = total"))
    assert lines[row].text[start:end] == "x = total"
