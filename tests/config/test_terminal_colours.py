"""Which theme suits which terminal."""

import pytest

from codeagent.config.terminal_colours import (
    FEW,
    FULL,
    MANY,
    colours_of,
    follows_terminal,
    has_no_colour,
    remembered,
    theme_for,
)

FULL_COLOUR = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        (FULL_COLOUR, FULL),
        ({"TERM": "tmux-256color"}, MANY),
        ({"TERM": "xterm-kitty"}, FULL),
        ({"TERM": "foot"}, FULL),
        ({"TERM": "xterm-direct"}, FULL),
        ({"TERM": "linux"}, FEW),
        ({"TERM": "screen", "STY": "1.pts", "COLORTERM": "truecolor"}, FEW),
        ({"TERM": "screen-256color", "STY": "1.pts", "COLORTERM": "truecolor"}, MANY),
        ({"TERM": "tmux-256color", "STY": "1.pts", "TMUX": "/tmp/t", "COLORTERM": "truecolor"}, FULL),
    ],
)
def test_the_terminal_says_how_many_colours_it_has(environ, colours):
    assert colours_of(environ) == colours


@pytest.mark.parametrize(
    ("wanted", "environ", "theme"),
    [
        ("auto", {}, "dark"),
        ("auto", {"COLORFGBG": "0;15"}, "light"),
        ("auto", {"COLORFGBG": "0;default;15"}, "light"),
        ("auto", {"COLORFGBG": "15;8"}, "dark"),
        ("auto", {"COLORFGBG": "nonsense"}, "dark"),
        ("auto", {"COLORTERM": "", "TERM": "linux"}, "terminal"),
        ("auto", {"COLORTERM": "", "TERM": "xterm", "COLORFGBG": "0;15"}, "terminal-light"),
        ("light", {"COLORFGBG": "15;0"}, "light"),
        ("light", {"NO_COLOR": "1"}, "terminal"),
        ("light", {"NO_COLOR": ""}, "light"),
    ],
)
def test_the_theme_is(wanted, environ, theme, tmp_path):
    assert theme_for(wanted, {**FULL_COLOUR, **environ}, str(tmp_path / "none")) == theme


@pytest.mark.parametrize(
    ("terminal", "has_none"),
    [
        *((one, True) for one in ("vt100", "vt102", "vt220", "vt100-am", "VT420", "xterm-mono", "ansi-m", "linux-m")),
        *((one, False) for one in ("vt340", "vt525", "vt100-color", "vte-256color", "xterm", "linux", "screen", "")),
    ],
)
def test_a_terminal_whose_name_says_that_it_has_no_colours_gets_none(terminal, has_none):
    assert has_no_colour({"TERM": terminal}) is has_none
    assert has_no_colour({"TERM": terminal, "NO_COLOR": "1"})
    assert not has_no_colour({"TERM": terminal, "COLORTERM": "truecolor"})


def test_the_terminals_answer_decides_only_where_nothing_else_does():
    assert follows_terminal("auto", FULL_COLOUR)
    assert not follows_terminal("dark", FULL_COLOUR)
    assert not follows_terminal("auto", {**FULL_COLOUR, "NO_COLOR": "1"})


def test_a_damaged_memory_is_no_memory(tmp_path):
    (tmp_path / "background").write_bytes(b"\xff\xfelight")
    assert remembered(str(tmp_path / "background")) == ""
