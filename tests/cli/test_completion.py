"""Completion in the shells themselves: flags, their values, subcommands, and models."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.cli.command_line import flags
from codeagent.cli.completion import SHELLS, script_for
from codeagent.config.places import find_places
from codeagent.model_list import LastList
from tests.server.replies import say
from tests.server.scripted_server import ScriptedServer


@pytest.fixture
def environ(tmp_path):
    """A machine on which ``codeagent`` is a command, and a server has listed a model of its own."""
    program = tmp_path / "bin" / "codeagent"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m codeagent "$@"\n')
    program.chmod(0o755)
    places = {"CODEAGENT_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])}
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "OPENAI_"))}
    environ = {**plain, **places, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    LastList(find_places(environ).listed_models).keep(
        ["openai-chat/qwen3:8b", "openai-chat/qwen3:32b", "openai-chat/@cf/meta/llama@fp8:2"]
    )
    return environ


def in_bash(environ, line):
    code = f"""
eval "$(codeagent config completion bash)"
COMP_LINE={line!r} COMP_POINT={len(line)} COMP_CWORD=0 COMP_WORDS=()
_codeagent; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return ran(["bash", "--noprofile", "--norc", "-c", code], environ)


def ran(words, environ):
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True, timeout=50)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_flags_values_and_subcommands(environ):
    assert in_bash(environ, "codeagent --mo") == ["--model", "--mode"]
    assert in_bash(environ, "codeagent --mode a") == ["ask", "auto"]
    assert in_bash(environ, "codeagent --sandbox=re") == ["read-only"]
    assert in_bash(environ, "codeagent do") == ["doctor"]
    assert "set-key" in in_bash(environ, "codeagent config ")


def test_bash_completes_models_of_the_catalog_and_of_the_last_list(environ):
    assert "anthropic/claude-opus-5-5" in in_bash(environ, "codeagent --model anthropic/claude-o")
    assert in_bash(environ, "codeagent --model openai-chat/qwen3:") == ["8b", "32b"]
    assert in_bash(environ, "codeagent --model openai-chat/@cf/m") == ["cf/meta/llama@fp8:2"]
    assert in_bash(environ, "codeagent --model openai-chat/@cf/meta/llama@f") == ["fp8:2"]


def test_bash_completes_what_follows_config(environ):
    assert in_bash(environ, "codeagent config set model.na") == ["model.name"]
    assert in_bash(environ, "codeagent config set model.name openai-chat/qwen3:") == ["8b", "32b"]
    assert "anthropic/claude-opus-5-5" in in_bash(environ, "codeagent config set model.name anth")
    assert in_bash(environ, "codeagent config set model.effort ") == ["low", "medium", "high"]
    assert in_bash(environ, "codeagent config set permissions.mode a") == ["ask", "auto"]
    assert in_bash(environ, "codeagent config set ui.vi ") == ["true", "false"]
    assert in_bash(environ, "codeagent config set context.compact_at ") == ["off"]
    assert "auto" in in_bash(environ, "codeagent config set ui.theme ")
    assert in_bash(environ, "codeagent config set-key openai-") == ["openai-chat"]
    assert in_bash(environ, "codeagent config completion f") == ["fish"]


def models(environ):
    return ran([sys.executable, "-m", "codeagent", "config", "models"], environ)


def test_the_models_of_a_server_are_asked_for_once_a_minute_and_kept(environ):
    with ScriptedServer(models=("qwen", "weird/name:7b")) as server:
        environ["OPENAI_BASE_URL"] = f"{server.url}/v1"
        assert {"openai-chat/qwen", "openai-chat/weird/name:7b"} <= {*models(environ)}
        server.models = ("another",)
        assert in_bash(environ, "codeagent --model=openai-chat/q") == ["openai-chat/qwen"]
    with ScriptedServer(models=("another",)) as server:
        environ["OPENAI_BASE_URL"] = f"{server.url}/v1"
        found = models(environ)
        assert "openai-chat/another" in found
        assert "openai-chat/qwen" not in found
    assert "openai-chat/another" in models(environ)


def test_no_password_in_an_address_is_kept_beside_the_models(environ):
    with ScriptedServer(models=("qwen",)) as server:
        environ["OPENAI_BASE_URL"] = f"{server.url}/v1".replace("//", "//me:pass-word@")
        assert "openai-chat/qwen" in models(environ)
        server.models = ("another",)
        assert "openai-chat/another" not in models(environ)
    files = [path for path in Path(environ["CODEAGENT_HOME"]).rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"pass-word" in path.read_bytes()]


def test_a_server_that_never_answers_holds_no_shell_up(environ):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        assert {"openai-chat/qwen3:8b", "anthropic/claude-opus-5-5"} <= {*models(environ)}
        silent.accept()[0].close()
        models(environ)
        silent.settimeout(0)
        with pytest.raises(BlockingIOError):  # it is not asked with each key that is pressed
            silent.accept()


def test_the_model_that_is_set_and_those_used_lately_come_first(environ):
    places = find_places(environ)
    places.config.mkdir(parents=True, exist_ok=True)
    places.config_file.write_text('[model]\nname = "openai-chat/mine"\n')
    with ScriptedServer(say("Hello.")) as server:
        words = [sys.executable, "-m", "codeagent", "-p", "go", "--model", "openai-chat/lately"]
        there = {**environ, "OPENAI_BASE_URL": server.openai_url}
        subprocess.run(words, env=there, check=True, capture_output=True, timeout=50)
    assert models(environ)[:3] == ["openai-chat/mine", "openai-chat/lately", "openai-chat/qwen3:8b"]
    places.config_file.write_text("no toml")
    assert models(environ)[0] == "openai-chat/lately"


HOSTILE = (
    "$(touch hit)",
    "`touch hit`",
    "a'b",
    'a"b',
    "a b",
    "a;touch hit",
    "a$HOME",
    "*",
    "~",
    "a\\b",
    "é",
    "a\nb",
    "",
)


def test_bash_takes_names_of_models_for_nothing_but_names(environ, tmp_path, monkeypatch):
    """What it offers is put on the person's command line as it is."""
    monkeypatch.chdir(tmp_path)
    names = [f"openai-chat/{name}" for name in (*HOSTILE, "plain-1.0@x+y")]
    LastList(find_places(environ).listed_models).keep(names)
    found = in_bash(environ, "codeagent --model openai-chat/")
    assert "openai-chat/plain-1.0@x+y" in found
    assert all(re.fullmatch(r"[\w./:@+-]+", name, re.ASCII) for name in found)
    assert not (tmp_path / "hit").exists()


def test_names_that_a_server_lists_are_no_more_than_names_either(environ, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ScriptedServer(models=(*(name for name in HOSTILE if name), "plain-1.0@x+y")) as server:
        environ["OPENAI_BASE_URL"] = f"{server.url}/v1"
        for line in ("codeagent --model openai-chat/", "codeagent config set model.name openai-chat/"):
            found = in_bash(environ, line)
            assert "openai-chat/plain-1.0@x+y" in found
            assert all(re.fullmatch(r"[\w./:@+-]+", name, re.ASCII) for name in found)
    assert not (tmp_path / "hit").exists()


def test_bash_completes_folders_itself(environ, tmp_path, monkeypatch):
    """Its own completion of files quotes what a shell would read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "$(touch hit)").mkdir()
    for flag in ("--cd", "--add-dir"):
        assert in_bash(environ, f"codeagent {flag} ") == []
    assert not (tmp_path / "hit").exists()


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes_the_same(environ):
    def complete(line):
        code = f"codeagent config completion fish | source; complete -C {line!r}"
        words = ["fish", "--no-config", "-c", code]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True, timeout=50)
        rows = [row.split("\t") for row in done.stdout.splitlines()]
        described.update(row[1] for row in rows if len(row) > 1)
        return [row[0] for row in rows]

    described: set[str] = set()
    assert complete("codeagent --model openai-chat/q") == ["openai-chat/qwen3:8b", "openai-chat/qwen3:32b"]
    assert complete("codeagent --model openai-chat/@") == ["openai-chat/@cf/meta/llama@fp8:2"]
    assert {"plan", "ask", "auto"} <= {*complete("codeagent --mode ")}
    assert described <= {"model", ""}  # what the flag is for is not said of each of its values
    assert "--model" in complete("codeagent --mo")
    assert complete("codeagent --sandbox re") == ["read-only"]
    assert complete("codeagent config set model.name openai-chat/q") == [
        "openai-chat/qwen3:8b",
        "openai-chat/qwen3:32b",
    ]
    assert complete("codeagent config set-key ") == ["anthropic", "openai", "openai-chat"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_takes_its_script(environ):
    code = "source <(codeagent config completion zsh); print $+functions[_codeagent]"
    assert ran(["zsh", "-f", "-c", code], environ) == ["1"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_long_flag_is_in_every_script(shell):
    script = script_for(shell)
    for flag in flags():
        long = flag.names[-1]
        assert long in script or f"-l {long.removeprefix('--')}" in script
