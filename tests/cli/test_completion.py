"""Completion in the shells themselves: flags, their values, subcommands, and models."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.cli.command_line import flags
from codeagent.cli.completion import SHELLS, script_for
from codeagent.config.places import find_places
from codeagent.model_list import LastList


@pytest.fixture
def environ(tmp_path):
    """A machine on which ``codeagent`` is a command, and a server has listed a model of its own."""
    program = tmp_path / "bin" / "codeagent"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m codeagent "$@"\n')
    program.chmod(0o755)
    places = {"CODEAGENT_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])}
    environ = {**os.environ, **places, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    LastList(find_places(environ).listed_models).keep(["openai-chat/qwen3:8b", "openai-chat/qwen3:32b"])
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
        return [row.partition("\t")[0] for row in done.stdout.splitlines()]

    assert complete("codeagent --model openai-chat/") == ["openai-chat/qwen3:8b", "openai-chat/qwen3:32b"]
    assert "--model" in complete("codeagent --mo")
    assert complete("codeagent --sandbox re") == ["read-only"]


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
