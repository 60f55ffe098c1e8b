"""``codeagent config``: what it shows, and what it changes in the person's files."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.cli import config_command
from codeagent.config.places import find_places
from codeagent.core.desk import KeyProblem
from codeagent.core.errors import ConfigError
from codeagent.keys import find_keys
from codeagent.providers.catalog import ProviderKind

SECRET = "test-key-0123456789"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEAGENT_HOME", str(tmp_path / "home"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return find_places({"CODEAGENT_HOME": str(tmp_path / "home")})


def typed(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_setting_is_written_and_shown_with_its_source(home, capsys):
    config_command.run(["set", "model.effort", "high"])
    config_command.run([])
    shown = capsys.readouterr().out
    assert "model.effort is now high." in shown
    assert f'effort = "high"  # {home.config_file}' in shown
    config_command.run(["path"])
    assert capsys.readouterr().out == f"{home.config_file}\n"


def test_a_password_in_an_address_is_not_shown(home, capsys):
    config_command.run(["set", "model.openai_base_url", "http://me:pass-word@127.0.0.1:9/v1"])
    config_command.run([])
    shown = capsys.readouterr().out
    assert 'openai_base_url = "http://127.0.0.1:9/v1"' in shown
    assert "pass-word" not in shown
    assert "me:pass-word@" in home.config_file.read_text()


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("budget.max_steps", "7", "max_steps = 7"),
        ("budget.max_cost", "1.5", "max_cost = 1.5"),
        ("context.compact_at", "off", 'compact_at = "off"'),
        ("model.name", "openai/gpt-5", 'name = "openai/gpt-5"'),
        ("ui.reduced_motion", "true", "reduced_motion = true"),
        ("permissions.allow", '["bash(pytest *)"]', 'allow = ["bash(pytest *)"]'),
        ("keys.stop", "ctrl+x", 'stop = "ctrl+x"'),
        ("keys.approve", "7", 'approve = "7"'),
    ],
)
def test_each_type_of_value_can_be_set(home, name, value, line):
    config_command.run(["set", name, value])
    assert line in home.config_file.read_text()


def test_two_keys_can_be_swapped_one_after_the_other(home):
    config_command.run(["set", "keys.stop", "f1"])
    config_command.run(["set", "keys.help", "f2"])
    assert 'stop = "f1"\nhelp = "f2"' in home.config_file.read_text()


def test_a_new_settings_file_is_the_persons_alone_whatever_the_umask(home):
    before = os.umask(0)
    try:
        config_command.run(["set", "model.effort", "high"])
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.config_file.stat().st_mode) == 0o600


def test_comments_and_other_settings_stay_as_they_are(home):
    home.config.mkdir(parents=True)
    home.config_file.write_text('# mine\n[model]\nname = "openai/gpt-5" # the good one\n\n[ui]\ntheme = "light"\n')
    config_command.run(["set", "model.effort", "low"])
    config_command.run(["unset", "ui.theme"])
    assert home.config_file.read_text() == (
        '# mine\n[model]\nname = "openai/gpt-5" # the good one\neffort = "low"\n\n[ui]\n'
    )


def test_a_link_to_the_settings_file_stays_one(home, tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("[ui]\n")
    home.config.mkdir(parents=True)
    home.config_file.symlink_to(real)
    config_command.run(["set", "ui.theme", "light"])
    assert home.config_file.is_symlink()
    assert real.read_text() == '[ui]\ntheme = "light"\n'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["set", "model.colour", "red"], "model.effort"),
        (["set", "colour", "red"], "There are the tables"),
        (["set", "model", "red"], "model.name"),
        (["set", "budget.max_steps", "many"], "a whole number above 0"),
        (["set", "model.effort", "extreme"], "takes low, medium or high"),
        (["set", "model.name", ""], "Models are named anthropic/"),
        (["set", "model.name", "nosuch/model"], "Models are named anthropic/"),
        (
            ["set", "model.openai_base_url", "foo bar"],
            "such as http://127.0.0.1:8080/v1, not 'foo bar'",
        ),
        (["set", "model.openai_base_url", "127.0.0.1:8080"], "takes an address such as"),
        (["set", "model.openai_base_url", "http://"], "takes an address such as"),
        (["set", "model.openai_base_url", "http://host:99999/v1"], "takes an address such as"),
        (["set", "model.anthropic_base_url", "ftp://host"], "model.anthropic_base_url takes an address such as"),
        (["set", "keys.foo", "ctrl+x"], "keys.foo is no key that can be changed. There are "),
        (["set", "keys.stop", "blah+blah"], "there is no key blah+blah; write it like ctrl+x"),
        (["set", "keys.stop", '["a"]'], "there is no key"),
        (["set", "ui.vi", "maybe"], "true or false"),
        (["set", "context.compact_at", "2"], "from 0.2 to 0.95"),
        (["unset", "model.effort"], "is not set"),
        (["set-key", "acme"], "anthropic, openai, openai-chat"),
        (["remove-key", "openai"], "No key for openai"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(home, words, told):
    with pytest.raises(ConfigError) as caught:
        config_command.run(words)
    assert told in str(caught.value)
    assert not home.config_file.exists()


def test_a_damaged_file_is_named_and_left_alone(home):
    home.config.mkdir(parents=True)
    home.config_file.write_text("[model\n")
    with pytest.raises(ConfigError, match=r"config\.toml is not valid TOML"):
        config_command.run(["set", "model.effort", "low"])
    assert home.config_file.read_text() == "[model\n"


def test_a_key_from_a_pipe_is_kept_for_its_owner_alone_and_never_shown(home, monkeypatch, capsys):
    typed(monkeypatch, f"{SECRET}\n")
    config_command.run(["set-key", "anthropic"])
    config_command.run([])
    assert SECRET not in (shown := capsys.readouterr().out)
    assert f"# key:     anthropic: {home.keys_file}" in shown
    assert stat.S_IMODE(home.keys_file.stat().st_mode) == 0o600
    found = find_keys({"CODEAGENT_HOME": str(home.config.parent)}, home).find(ProviderKind.ANTHROPIC)
    assert found is not None
    assert found.secret == SECRET
    config_command.run(["remove-key", "anthropic"])
    assert SECRET not in home.keys_file.read_text()


@pytest.mark.parametrize("text", ["", "\n", "two words\n", "two\nlines\n", "ключ\n", 'sk-"a"', "x" * 9_000])
def test_what_can_be_no_key_is_not_kept(home, monkeypatch, text):
    typed(monkeypatch, text)
    with pytest.raises(ConfigError):
        config_command.run(["set-key", "openai"])
    assert not home.keys_file.exists()


def test_a_key_in_quotation_marks_is_checked_and_kept_without_them(home, monkeypatch):
    asked = []
    typed(monkeypatch, f'"{SECRET}"\n')
    config_command.run(["set-key", "openai"], lambda *given: asked.append(given))
    assert asked == [("openai", SECRET)]
    assert f'"{SECRET}"' in home.keys_file.read_text()


def test_a_key_in_the_environment_goes_first_and_that_is_said(home, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    typed(monkeypatch, SECRET)
    config_command.run(["set-key", "openai"])
    assert "OPENAI_API_KEY is set as well, and goes before it." in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../../x", "drak", ""])
def test_a_theme_that_is_not_there_is_refused_with_those_that_are(home, name):
    with pytest.raises(ConfigError, match=r"There are auto, .*dark"):
        config_command.run(["set", "ui.theme", name])
    assert not home.config_file.exists()


def test_a_theme_that_is_there_or_ones_own_is_taken(home):
    home.themes.mkdir(parents=True)
    (home.themes / "mine.toml").touch()
    for name in ("auto", "dark", '"light"', "mine"):
        config_command.run(["set", "ui.theme", name])
    assert 'theme = "mine"' in home.config_file.read_text()


def test_a_value_of_the_wrong_type_names_its_setting_once(home):
    with pytest.raises(ConfigError) as refused:
        config_command.run(["set", "ui.vi", "maybe"])
    assert str(refused.value).count("ui.vi") == 1


def test_a_key_that_the_service_does_not_accept_is_not_kept_unless_it_is_asked_for(home, monkeypatch, capsys):
    def refuse(service, key):
        return KeyProblem(text=f"{service} does not accept the key.", is_refused=True)

    typed(monkeypatch, SECRET)
    with pytest.raises(ConfigError, match=r"does not accept the key. It was not kept. .*--unchecked anthropic"):
        config_command.run(["set-key", "anthropic"], refuse)
    assert not home.keys_file.exists()
    typed(monkeypatch, SECRET)
    config_command.run(["set-key", "--unchecked", "anthropic"], refuse)
    assert SECRET in home.keys_file.read_text()


def test_a_key_that_could_not_be_checked_is_kept_and_that_is_said(home, monkeypatch, capsys):
    typed(monkeypatch, SECRET)
    problem = KeyProblem(text="Nothing answers. The key was not checked.", is_refused=False)
    config_command.run(["set-key", "anthropic"], lambda service, key: problem)
    assert capsys.readouterr().out.splitlines()[1] == "Nothing answers. The key was not checked."
    assert SECRET in home.keys_file.read_text()


def test_what_a_keyring_says_of_itself_never_comes_to_the_terminal(tmp_path):
    """A keyring is somebody else's program; one that is locked fails at each look."""
    (tmp_path / "locked.py").write_text(
        "from keyring.backend import KeyringBackend\nfrom keyring.errors import KeyringLocked\n"
        "class Locked(KeyringBackend):\n    priority = 9\n"
        "    def get_password(self, *asked): raise KeyringLocked('locked')\n"
        "    set_password = delete_password = get_password\n"
    )
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHON_KEYRING_BACKEND": "locked.Locked"}
    environ["PYTHONPATH"] = f"{tmp_path}:{Path(__file__).parents[2]}"
    for name in ("CODEAGENT_HOME", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", *filter(lambda n: n[:4] == "XDG_", environ)):
        environ.pop(name, None)
    for words in (["config"], ["config", "set-key", "--unchecked", "openai"], ["doctor"]):
        run = [sys.executable, "-m", "codeagent", *words]
        done = subprocess.run(run, env=environ, input="sk-12345678", capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr + done.stdout
        assert done.stderr == ""
        assert ("keys.json. Your keyring is locked; unlock it" in done.stdout) is ("set-key" in words)
    (kept,) = tmp_path.rglob("keys.json")
    assert "sk-12345678" in kept.read_text()
