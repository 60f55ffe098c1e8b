"""When there is an instant prompt, and that it looks like what follows."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem

from codeagent.cli.first_frame import opens_app
from codeagent.cli.instant_look import find_look, nearest_of_256
from codeagent.config.places import find_places
from codeagent.core.first_words import IDLE_HINTS


@pytest.mark.parametrize(
    "words", [[], ["fix the tests"], ["-c"], ["--model", "anthropic/x"], ["--model=anthropic/x", "--trust", "do it"]]
)
def test_the_app_is_opened_by(words):
    assert opens_app(words)


@pytest.mark.parametrize(
    "words",
    [["-p", "x"], ["--help"], ["--version"], ["doctor"], ["demo"], ["-C", "x"], ["-r"], ["--model"], ["--model", "-c"]],
)
def test_something_else_may_come_of(words):
    assert not opens_app(words)


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_a_colour_becomes_the_one_of_256_that_the_app_draws(red, green, blue):
    drawn = Color.from_rgb(red, green, blue).downgrade(ColorSystem.EIGHT_BIT)
    assert nearest_of_256(red, green, blue) == drawn.number


def look(environ):
    found = find_look({"TERM": "xterm-256color", "COLORTERM": "truecolor", **environ})
    return found and found.style("text")


def test_the_look_is_that_of_the_settings_in_the_folder_that_the_app_uses(tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CODEAGENT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    places = find_places({})
    places.config.mkdir(parents=True)
    places.config_file.write_text('[model]\ntheme = "no"\n\n[ui]  \ntheme = "light"  # bright\n')
    assert look({"HOME": str(tmp_path)}) == "\x1b[0;38;2;35;38;44;48;2;252;251;249m"


def test_the_background_of_the_last_time_is_the_first_guess(tmp_path):
    home = {"CODEAGENT_HOME": str(tmp_path)}
    dark = look(home)
    places = find_places(home)
    places.state.mkdir(parents=True)
    places.background_file.write_text("light")
    assert look(home) != dark
    assert look({**home, "COLORFGBG": "15;0"}) == dark


def test_a_theme_of_the_persons_own_is_found(tmp_path):
    themes = tmp_path / "config" / "themes"
    themes.mkdir(parents=True)
    own = (Path(__file__).parents[2] / "themes/dark.toml").read_text().replace("#d8dbe1", "#010203")
    (themes / "dark.toml").write_text(own)
    assert "38;2;1;2;3" in look({"CODEAGENT_HOME": str(tmp_path)})


@pytest.mark.parametrize("text", ['text = "#12"', "text = 3", 'text = "red; rm"', ""])
def test_where_the_theme_is_odd_there_is_no_instant_prompt(tmp_path, text):
    themes = tmp_path / "config" / "themes"
    themes.mkdir(parents=True)
    (themes / "dark.toml").write_text(text + "\n")
    assert look({"CODEAGENT_HOME": str(tmp_path)}) is None


def test_few_colours_are_the_terminals_own(tmp_path):
    assert look({"CODEAGENT_HOME": str(tmp_path), "COLORTERM": "", "TERM": "xterm"}) == "\x1b[0;39;49m"


def test_no_colour_is_no_colour(tmp_path):
    style = look({"CODEAGENT_HOME": str(tmp_path), "NO_COLOR": "1"})
    assert "3" not in style
    assert "4" not in style


@pytest.mark.parametrize(
    ("keys", "hints"),
    [("", IDLE_HINTS), ('editor = "f5"', IDLE_HINTS), ('help = "f5"', ""), ('"send" = "ctrl+enter"', "")],
)
def test_keys_that_the_person_changed_are_named_by_the_app_alone(tmp_path, keys, hints):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.toml").write_text(f"[keys]\n{keys}\n")
    found = find_look({"TERM": "xterm-256color", "COLORTERM": "truecolor", "CODEAGENT_HOME": str(tmp_path)})
    assert found is not None
    assert found.hints == hints
