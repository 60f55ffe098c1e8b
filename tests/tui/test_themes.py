import re
import tomllib
from dataclasses import asdict, fields, replace
from itertools import combinations
from math import dist, hypot
from operator import mul
from pathlib import Path

import pytest
from textual.color import Color

from codeagent.core.errors import ConfigError
from codeagent.tui.fewer_colours import in_256
from codeagent.tui.themes import CodeColours, Palette, load_themes, read_theme, to_textual
from codeagent.tui.widgets.inks import inks_of

THEMES = load_themes()
NAMES = {field.name for field in fields(Palette)}
WORDS = ("text", "muted", "faint", "accent", "success", "warning", "error")
GROUNDS = ("background", "surface", "raised")
CHANGED = ("added_background", "removed_background", "added_word", "removed_word")


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in Color.parse(colour).normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def written(palette: Palette) -> list[tuple[str, str]]:
    pairs = [(word, ground) for word in WORDS for ground in GROUNDS]
    pairs += [("added", "added_background"), ("removed", "removed_background")]
    pairs += [(word, "selection") for word in WORDS if word != "faint"]
    pairs += [("faint", "added_background"), ("faint", "removed_background")]
    pairs += [("added", "background"), ("removed", "background"), ("added", "surface"), ("removed", "surface")]
    pairs += [("text", ground) for ground in CHANGED]
    return pairs


OWN_COLOURS = [name for name, palette in THEMES.items() if not palette.is_terminals_own]


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_every_word_can_be_read_on_every_ground_it_is_written_on(name):
    colours = asdict(THEMES[name])
    weak = {(word, ground): contrast(colours[word], colours[ground]) for word, ground in written(THEMES[name])}
    weak |= {
        (kind, ground): contrast(colour, colours[ground])
        for kind, colour in colours["code"].items()
        for ground in (*GROUNDS, *CHANGED)
    }
    assert {pair: round(ratio, 2) for pair, ratio in weak.items() if ratio < 4.5} == {}


# How colours are seen with each kind of eye: Machado, Oliveira and Fernandes, 2009, at full severity, on linear RGB.
EYES = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def seen(colour: str, eye: str) -> tuple[float, float, float]:
    """A colour in CIE L*a*b*, as that eye sees it."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in Color.parse(colour).normalized
    ]
    red, green, blue = (min(max(sum(map(mul, row, linear)), 0.0), 1.0) for row in EYES[eye])
    parts = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
    )
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_the_accent_is_a_colour_and_no_grey(name):
    _, red, yellow = seen(THEMES[name].accent, "usual")
    assert hypot(red, yellow) > 30


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("name", [name for name in OWN_COLOURS if "colour-blind" in name])
def test_where_one_is_and_how_it_went_are_told_apart_by_every_eye(name, eye):
    colours = asdict(THEMES[name])
    words = {word: seen(colours[word], eye) for word in ("text", "accent", "success", "warning", "error")}
    near = {(one, other) for one, other in combinations(words, 2) if dist(words[one], words[other]) < 14}
    assert near == set()


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_a_theme_knows_whether_it_is_dark(name):
    assert THEMES[name].is_dark == (Color.parse(THEMES[name].background).brightness < 0.5)


def test_themes_stand_in_the_order_of_their_names():
    assert list(THEMES) == sorted(THEMES)


def test_there_is_a_theme_for_every_kind_of_eye_and_terminal():
    assert THEMES.keys() == {
        "dark",
        "dark-colour-blind",
        "dark-contrast",
        "light",
        "light-colour-blind",
        "light-contrast",
        "terminal",
        "terminal-light",
    }


@pytest.mark.parametrize("name", ["terminal", "terminal-light"])
def test_the_terminals_own_theme_names_only_its_sixteen_colours(name):
    own = asdict(THEMES[name])
    colours = {*own.pop("code").values()} | {
        colour for name, colour in own.items() if name not in {"name", "is_dark", "is_rounded"}
    }
    assert all(colour.startswith("ansi_") for colour in colours)


def test_on_a_light_background_no_word_is_in_a_colour_that_only_a_dark_one_shows():
    own = asdict(THEMES["terminal-light"])
    for words in ({**own["code"]}, {name: own[name] for name in ("accent", "warning", "error", "removed")}):
        assert {"ansi_yellow", "ansi_cyan", "ansi_white"}.isdisjoint(words.values())


@pytest.mark.parametrize("name", THEMES)
def test_every_theme_makes_styles_for_the_screens_and_the_transcript(name):
    assert to_textual(THEMES[name]).to_color_system().generate()["accent"]
    assert inks_of(THEMES[name]).accent.color is not None


def test_a_theme_of_the_persons_own_replaces_the_bundled_one(tmp_path: Path):
    own = Path("themes/dark.toml").read_text().replace("#8ab4f8", "#ffcc00")
    (tmp_path / "dark.toml").write_text(own)
    assert load_themes([tmp_path])["dark"].accent == "#ffcc00"


@pytest.mark.parametrize(("is_dark", "base"), [("", "dark"), ("is_dark = true", "dark"), ("is_dark = false", "light")])
def test_a_theme_of_the_persons_own_gives_only_what_differs(tmp_path: Path, is_dark, base):
    path = tmp_path / "mine.toml"
    path.write_text(f'{is_dark}\naccent = "#ffcc00"\n[code]\nkeyword = "#cc00ff"\n')
    usual = THEMES[base]
    code = replace(usual.code, keyword="#cc00ff")
    assert read_theme(path) == replace(usual, name="mine", accent="#ffcc00", code=code)


@pytest.mark.parametrize("name", THEMES)
def test_a_theme_that_comes_with_the_program_gives_all_its_colours(name):
    table = tomllib.loads(Path(f"themes/{name}.toml").read_text())
    assert set(table) == {"is_dark", "code"} | NAMES - {"name", "is_rounded"}
    assert set(table["code"]) == {field.name for field in fields(CodeColours)}


def test_the_readme_names_the_colours_of_a_theme():
    readme = " ".join(Path("README.md").read_text().split())
    named = re.search(r"The colours of a theme are (.*?); under `\[code\]` they are (.*?)\. ", readme)
    assert named
    assert set(re.findall(r"`(\w+)`", named[1])) == NAMES - {"name", "is_dark", "is_rounded", "code"}
    assert set(re.findall(r"`(\w+)`", named[2])) == {field.name for field in fields(CodeColours)}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('text = "#d8dbe1"', 'text = "red"', "text must be a colour"),
        ('text = "#d8dbe1"', 'text = "#d8dbe1"\nshine = "#ffffff"', "no place for shine"),
        ("is_dark = true", 'is_dark = "yes"', "true or false"),
        ("is_dark = true", "is_dark =", "cannot be read"),
    ],
)
def test_a_file_that_is_no_theme_is_refused_with_the_reason(tmp_path: Path, old, new, says):
    path = tmp_path / "mine.toml"
    path.write_text(Path("themes/dark.toml").read_text().replace(old, new))
    with pytest.raises(ConfigError, match=says):
        read_theme(path)


def test_style_sheets_get_the_palettes_own_colours():
    theme = to_textual(THEMES["dark"])
    generated = theme.to_color_system().generate()
    assert (generated["text-muted"], generated["background"].lower()) == (
        THEMES["dark"].muted,
        THEMES["dark"].background,
    )


@pytest.mark.parametrize("name", ["dark", "light"])
def test_what_is_behind_a_window_is_hidden_where_it_cannot_be_dimmed(name):
    palette = THEMES[name]
    background = palette.background
    assert to_textual(palette).variables["veil"] == f"{background} 60%"
    assert to_textual(palette, can_dim=False).variables["veil"] == background
    assert to_textual(in_256(palette)).variables["veil"] == background
