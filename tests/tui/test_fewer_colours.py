"""On a terminal of 256 colours a theme is still itself: tints are seen, and what is written on them can be read."""

import colorsys
import inspect
from dataclasses import asdict

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from codeagent.core.diff import make_diff
from codeagent.tui.fewer_colours import contrast, in_256, readable_on
from codeagent.tui.widgets.diff_lines import render_diff
from tests.tui.test_themes import CHANGED, GROUNDS, OWN_COLOURS, THEMES, WORDS
from tests.tui.test_themes import contrast as exact_contrast

LEAST = 4.5
FITTED = {name: in_256(THEMES[name]) for name in OWN_COLOURS}


def seen(colour: Color) -> str:
    """What Rich draws, as the terminal shows it: the numbers from 16 on have the same colours everywhere."""
    number = colour.downgrade(ColorSystem.EIGHT_BIT).number
    assert number is not None
    assert number >= 16
    return Color.from_ansi(number).get_truecolor().hex


def hue(colour: str) -> float:
    return colorsys.rgb_to_hls(*Color.parse(colour).get_truecolor().normalized)[0]


def is_grey(colour: str) -> bool:
    return len(set(Color.parse(colour).get_truecolor())) == 1


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_all_grounds_are_told_apart(name):
    colours = asdict(FITTED[name])
    grounds = {ground: seen(Color.parse(colours[ground])) for ground in (*GROUNDS, *CHANGED, "selection")}
    assert len(set(grounds.values())) == len(grounds), grounds


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_tints_keep_about_their_hue(name):
    colours, wanted = asdict(FITTED[name]), asdict(THEMES[name])
    for ground in (*CHANGED, "selection"):
        shown = seen(Color.parse(colours[ground]))
        apart = abs(hue(shown) - hue(wanted[ground]))
        assert not is_grey(shown)
        assert min(apart, 1 - apart) <= 33 / 360, (ground, shown)


@pytest.mark.parametrize("name", [name for name in OWN_COLOURS if not THEMES[name].is_dark])
@pytest.mark.parametrize("kind", ["added", "removed"])
def test_a_changed_word_is_more_colourful_than_its_row_beside_which_it_would_look_grey(name, kind):
    colours = asdict(FITTED[name])
    row, word = (Color.parse(colours[f"{kind}_{of}"]).get_truecolor() for of in ("background", "word"))
    assert max(word) - min(word) >= 1.2 * (max(row) - min(row))


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_every_word_can_be_read_on_every_ground(name):
    colours = asdict(FITTED[name])
    pairs = [(word, ground) for word in (*WORDS, "added", "removed") for ground in GROUNDS]
    pairs += [(word, "selection") for word in WORDS if word != "faint"]
    weak = {pair: exact_contrast(*(seen(Color.parse(colours[one])) for one in pair)) for pair in pairs}
    weak |= {
        (kind, ground): exact_contrast(seen(Color.parse(colour)), seen(Color.parse(colours[ground])))
        for kind, colour in colours["code"].items()
        for ground in GROUNDS
    }
    assert {pair: round(ratio, 2) for pair, ratio in weak.items() if ratio < LEAST} == {}


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_what_is_written_on_a_changed_line_can_be_read(name):
    code = inspect.getsource(Color)
    changed = code.replace("self", "this").replace("#", "# so:").replace("return", "yield")
    lines = render_diff(make_diff("a.py", code, changed), 100, FITTED[name])
    pairs = {
        (piece.style.color, piece.style.bgcolor)
        for line in lines
        for piece in line.pieces
        if piece.text.strip() and piece.style.bgcolor is not None
    }
    assert len(pairs) > (5 if FITTED[name].has_strong_tints else 15)
    weak = {pair: exact_contrast(*map(seen, pair)) for pair in pairs if None not in pair}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < LEAST} == {}


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_strong_tints_are_for_signs_and_changed_words_alone(name):
    lines = render_diff(make_diff("a.py", "total = 1\nlast\n", "total = 2\nlast\n"), 40, FITTED[name])
    tinted = [piece.text for line in lines for piece in line.pieces if piece.style.bgcolor is not None]
    rows = [line.fill is not None and line.fill.bgcolor is not None for line in lines]
    is_calm = FITTED[name].is_dark
    assert [text.strip() for text in tinted] == ["−", "1", "+", "2"] or not is_calm
    assert rows == [not is_calm, not is_calm, False]


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_the_first_picture_of_the_start_has_the_same_colours(name):
    assert [asdict(FITTED[name])[one] for one in ("background", "text", "muted", "rule", "accent")] == [
        asdict(THEMES[name])[one] for one in ("background", "text", "muted", "rule", "accent")
    ]


def test_an_ink_that_can_be_read_stays_as_it_is():
    style = Style(color="#dadada", bold=True)
    assert readable_on(style, Style(bgcolor="#5f0000")) == style + Style(bgcolor="#5f0000")


def test_the_terminals_own_colours_stay_as_they_are():
    assert in_256(THEMES["terminal"]) is THEMES["terminal"]


def test_contrast_is_that_of_what_is_drawn():
    assert contrast("#17271e", "#000000") == 1.0
