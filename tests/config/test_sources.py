"""Which source of settings wins, and what a mistake in one says."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from codeagent.config.places import find_places
from codeagent.config.settings import Settings, checked
from codeagent.config.sources import load_settings
from codeagent.core.approvals import Mode
from codeagent.core.errors import ConfigError


@pytest.fixture
def places(tmp_path: Path):
    return find_places({"CODEAGENT_HOME": str(tmp_path / "home")})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".codeagent").mkdir(parents=True)
    return tmp_path / "project"


def person_writes(places, text: str) -> None:
    places.config.mkdir(parents=True, exist_ok=True)
    places.config_file.write_text(text)


def load(places, root, *, environ=None, flags=None, is_trusted=False):
    file = root / ".codeagent/config.toml"
    project = file.read_text() if is_trusted else None
    return load_settings(places, root, environ or {}, flags or {}, project=project)


def test_without_any_source_the_defaults_hold(places, root):
    assert load(places, root).settings.permissions.mode is Mode.ASK
    assert load(places, root).settings.budget.max_steps == 50


def test_a_flag_beats_the_environment_beats_the_project_beats_the_person(places, root):
    person_writes(places, '[model]\nname = "scripted/person"\n')
    assert load(places, root).settings.model.name == "scripted/person"
    (root / ".codeagent/config.toml").write_text('[model]\nname = "scripted/project"\n')
    assert load(places, root, is_trusted=True).settings.model.name == "scripted/project"
    environ = {"CODEAGENT_MODEL": "scripted/environment"}
    assert load(places, root, environ=environ, is_trusted=True).settings.model.name == "scripted/environment"
    flags = {"model": {"name": "scripted/flag"}}
    loaded = load(places, root, environ=environ, flags=flags, is_trusted=True)
    assert loaded.settings.model.name == "scripted/flag"
    assert loaded.origins["model", "name"] == "the command line"


def test_an_untrusted_project_sets_nothing(places, root):
    (root / ".codeagent/config.toml").write_text('[model]\nname = "scripted/project"\n')
    assert load(places, root).settings.model.name is None


@pytest.mark.parametrize(
    "line",
    [
        '[model]\nopenai_base_url = "http://127.0.0.1:9"',
        '[model]\nanthropic_base_url = "http://127.0.0.1:9"',
        '[permissions]\nmode = "auto"',
        '[permissions]\nallow = ["bash(*)"]',
        '[permissions]\nadd_dirs = ["/"]',
        '[sandbox]\nlevel = "off"',
        '[ui]\ntheme = "light"',
        '[sandbox]\npass_environment = ["GITHUB_TOKEN"]',
    ],
)
def test_even_a_trusted_project_can_set_nothing_that_weakens_anything(places, root, line):
    (root / ".codeagent/config.toml").write_text(line)
    loaded = load(places, root, is_trusted=True)
    assert loaded.settings == load(places, root).settings
    assert (len(loaded.left_out), loaded.notices) == (1, ())  # told with the question and in the list, not each time


@pytest.mark.parametrize("text", ["[" * 60_000, "[model]\nmax_tokens = " + "9" * 5_000, "[model]\nname = [" * 2_000])
def test_a_settings_file_made_to_break_the_reader_is_no_more_than_a_mistake(places, root, text):
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load_settings(places, root, {}, {}, project=text)


def test_rules_of_all_sources_add_up(places, root):
    person_writes(places, '[permissions]\ndeny = ["bash(rm *)"]\n')
    loaded = load(places, root, flags={"permissions": {"deny": ("bash(dd *)",)}})
    assert loaded.settings.permissions.deny == ("bash(rm *)", "bash(dd *)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[model\n", "not valid TOML"),
        ("name = 1\n", "outside of a table"),
        ("[modle]\nname = 'x'\n", "There are the tables"),
        ("[model]\nnmae = 'x'\n", "[model] knows"),
        ("[budget]\nmax_steps = 0\n", "budget.max_steps"),
        ("[permissions]\nmode = 'yolo'\n", "permissions.mode"),
    ],
)
def test_a_mistake_names_the_file_and_what_is_wrong(places, root, text, said):
    person_writes(places, text)
    with pytest.raises(ConfigError) as caught:
        load(places, root)
    assert str(places.config_file) in str(caught.value)
    assert said in str(caught.value)


def test_without_the_home_variable_the_systems_customs_hold():
    assert find_places({}).config.name == "codeagent"


def test_keys_that_cannot_work_are_told(places, root):
    person_writes(places, '[keys]\nfly = "f3"\n')
    assert load(places, root).notices == ("[keys] names fly, which is no key that can be changed; f1 lists them.",)


@pytest.mark.parametrize("tables", [{}, {"model": {"name": "a/b"}}, {"ui": {"theme": "dark"}, "model": {"name": "c"}}])
def test_plain_texts_are_the_same_settings_with_and_without_checking(tables):
    assert checked(tables) == Settings.model_validate(tables)


@pytest.mark.parametrize("tables", [{"model": {"nam": "a"}}, {"modell": {"name": "a"}}, {"model": {"name": 1}}])
def test_what_is_no_plain_text_is_checked(tables):
    with pytest.raises(ValidationError):
        checked(tables)


@pytest.mark.parametrize(
    ("limit", "own", "theirs", "counts"),
    [
        *(("max_cost", 2, 100, 2), ("max_cost", 2, 1, 1), ("max_cost", None, 100, 100)),
        *(("max_steps", 2, 100, 2), ("max_steps", 2, 1, 1), ("max_steps", 200, 100, 100)),
        *(("max_steps", None, 100, 50), ("max_steps", None, 20, 20)),
    ],
)
def test_a_project_may_lower_the_limits_of_the_person_and_not_raise_them(places, root, limit, own, theirs, counts):
    if own is not None:
        person_writes(places, f"[budget]\n{limit} = {own}\n")
    (root / ".codeagent/config.toml").write_text(f"[budget]\n{limit} = {theirs}\n")
    loaded = load(places, root, is_trusted=True)
    assert getattr(loaded.settings.budget, limit) == counts
    assert bool(loaded.left_out) is (counts != theirs)
