"""Doctor says what works here and how to mend what does not."""

from pathlib import Path

import pytest

from codeagent.checks import look_around
from codeagent.config.places import find_places
from codeagent.config.settings import ModelSettings, Settings
from codeagent.core.desk import CheckState
from codeagent.keys import find_keys


def found(tmp_path, environ, *, own_keys=None, **model):
    settings = Settings(model=ModelSettings(**model), keys=own_keys or {})
    environ = {"CODEAGENT_HOME": str(tmp_path / "home"), **environ}
    keys = find_keys(environ, find_places(environ))
    return {check.name: check for check in look_around(settings, tmp_path, environ, keys)}


def test_without_key_and_model_it_says_what_to_set(tmp_path):
    model = found(tmp_path, {})["model"]
    assert model.state is CheckState.MISSING
    assert "ANTHROPIC_API_KEY" in model.remedy


def test_a_program_of_the_workspace_does_not_count_and_is_not_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "git").write_text("#!/bin/sh\n: > ran\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    git = found(tmp_path, {})["git"]
    assert git.state is CheckState.LIMITED
    assert git.finding == f"{tmp_path}/git does not count: a command or a repository may have put it there"
    assert not (tmp_path / "ran").exists()


def test_keys_that_mean_two_things_are_named_with_what_to_do(tmp_path):
    keys = found(tmp_path, {}, own_keys={"mode": "ctrl+p"})["keys"]
    assert keys.state is CheckState.LIMITED
    assert keys.finding == "[keys] mode: ctrl+p is the key of palette as well"
    assert keys.remedy == "Give one of them another."


def test_a_key_decides_the_model(tmp_path):
    checks = found(tmp_path, {"ANTHROPIC_API_KEY": "x"})
    assert checks["model"].finding.startswith("anthropic/")
    assert checks["key"].state is CheckState.GOOD
    assert checks["key"].finding == "found: ANTHROPIC_API_KEY in the environment"


@pytest.mark.parametrize(
    "model",
    [{"name": "scripted/demo.jsonl"}, {"name": "openai-chat/qwen", "openai_base_url": "http://127.0.0.1:11434/v1"}],
)
def test_a_model_that_needs_no_key_is_not_missing_one(tmp_path, model):
    assert found(tmp_path, {}, **model)["key"].state is CheckState.GOOD


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "home").write_text("")
    checks = found(tmp_path, {})
    assert checks["sessions"].state is CheckState.LIMITED
    assert checks["sessions"].finding.endswith(f"cannot be written: {tmp_path / 'home'} is no folder")
    assert "CODEAGENT_HOME" in checks["undo"].remedy
    assert not {"sessions", "undo"} & found(tmp_path, {"CODEAGENT_HOME": str(tmp_path / "fine")}).keys()


def test_a_model_without_its_key_names_the_variable(tmp_path):
    key = found(tmp_path, {"ANTHROPIC_API_KEY": "x"}, name="openai/gpt")["key"]
    assert key.state is CheckState.MISSING
    assert "OPENAI_API_KEY" in key.remedy


def test_a_key_file_that_others_could_read_is_mended_and_named(tmp_path):
    environ = {"CODEAGENT_HOME": str(tmp_path / "home")}
    file = Path(find_keys(environ, find_places(environ)).keep("anthropic", "wholly-unlikely-0123456789"))
    file.chmod(0o640)
    check = found(tmp_path, {})["key file"]
    assert check.finding == f"{file} could be read by others; now it can be read by you alone."
    assert "key file" not in found(tmp_path, {})
