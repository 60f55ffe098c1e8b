"""Tab in the shells themselves, as a person presses it, with the scripts that are printed for bash, zsh and fish."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from codeagent.config.places import find_places
from codeagent.model_list import LastList
from tests.journeys.terminal import Terminal

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]

SHELLS = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], 'eval "$(codeagent config completion bash)"; PS1="ready> "'),
    "zsh": (
        ["zsh", "-f", "-i"],
        'autoload -Uz compinit && compinit -u -D; source <(codeagent config completion zsh); PS1="ready> "',
    ),
    "fish": (
        ["fish", "--no-config", "-i"],
        "function fish_prompt; printf 'ready> '; end; codeagent config completion fish | source; clear",
    ),
}


@pytest.fixture
def environ(tmp_path):
    """A machine on which ``codeagent`` is a command, and a server has listed a model of its own."""
    program = tmp_path / "bin" / "codeagent"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m codeagent "$@"\n')
    program.chmod(0o755)
    environ = {
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    LastList(find_places(environ).listed_models).keep(["openai-chat/qwen3:8b", "openai-chat/qwen3:32b"])
    return environ


@pytest.fixture(params=SHELLS)
def shell(request, environ, tmp_path):
    words, setup = SHELLS[request.param]
    if not shutil.which(words[0]):
        pytest.skip(f"{words[0]} is not installed")
    with Terminal(words, cwd=tmp_path, environ=environ, columns=120, lines=40) as terminal:
        terminal.type(setup + "\n", pause=0)
        terminal.wait(r"^ready>", seconds=60)
        yield terminal


WHOLE = {
    "codeagent --model anthropic/claude-haiku-4": "codeagent --model anthropic/claude-haiku-4-5",
    "codeagent --model openai-chat/qwen3:8": r"codeagent --model openai-chat/qwen3\\?:8b",
    "codeagent --sandbox read": "codeagent --sandbox read-only",
    "codeagent doct": "codeagent doctor",
    "codeagent config set-k": "codeagent config set-key",
    "codeagent config set model.name anthropic/claude-haiku-4": (
        "codeagent config set model.name anthropic/claude-haiku-4-5"
    ),
}


def test_tab_completes_what_has_one_end_and_lists_what_has_several(shell):
    for typed, completed in WHOLE.items():
        shell.type(typed, pause=0)
        shell.send("\t")
        shell.wait(rf"^ready> {completed}( |$)", seconds=60)
        shell.press("ctrl+u")
        shell.wait(r"^ready>$")
    shell.type("codeagent --model openai-chat/q", pause=0)
    shell.send("\t")
    shell.wait(r"^ready> codeagent --model openai-chat/qwen3\\?:", seconds=60)
    shell.send("\t\t")
    shell.wait("32b", seconds=60)
    shell.wait(r"(?<!3)8b", seconds=60)
