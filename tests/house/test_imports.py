"""What is loaded when: the first frame waits for nothing heavy, and a run without a screen loads no screen."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"openai", "anthropic", "git", "mcp", "httpx2", "pydantic", "markdown_it", "pygments.lexers", "argparse"}

MOST_BEFORE_THE_FIRST_FRAME = 134
MOST_BEFORE_A_REQUEST = 133
MOST_OF_OPENAIS_SDK = 140  # of more than 500
MOST_OF_ANTHROPICS_SDK = 60  # of more than 1,000


def loaded_by(code: str) -> set[str]:
    """The modules that a program of its own has loaded after the code."""
    asked = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_nothing_heavy_is_loaded_before_the_first_frame():
    loaded = loaded_by("import codeagent.cli.main, codeagent.cli.screen")
    assert loaded & HEAVY == set()
    assert len([name for name in loaded if name.startswith("codeagent")]) <= MOST_BEFORE_THE_FIRST_FRAME


def test_the_instant_prompt_loads_next_to_nothing():
    bare = loaded_by("")
    ours = {name for name in loaded_by("import codeagent.__main__") - bare if name.startswith("codeagent")}
    others = loaded_by("import codeagent.__main__") - bare - ours
    assert others <= {"gc", "termios", "select", "_thread", "_signal", "_collections_abc"}
    assert len(ours) <= 13


@pytest.mark.parametrize("module", ["codeagent.cli.command_line", "codeagent.cli.headless", "codeagent.wiring"])
def test_a_run_without_a_screen_loads_no_screen(module):
    loaded = loaded_by(f"import codeagent.cli.main, {module}")
    assert {name for name in loaded if name.split(".")[0] == "textual" or name.startswith("codeagent.tui")} == set()


def test_the_wiring_loads_no_model_sdk():
    assert loaded_by("import codeagent.wiring") & {"openai", "anthropic"} == set()


def test_a_session_keeps_nothing_in_memory_that_it_may_never_need():
    seldom = {"regex", "html", "git", "tomlkit", "webbrowser", "pathspec"}
    seldom |= {"codeagent.tools.matching", "codeagent.store.exporting"}
    session = "codeagent.wiring, codeagent.equipment, codeagent.cli.screen, codeagent.tui.later"
    assert loaded_by(f"import {session}") & seldom == set()


def test_a_run_without_a_screen_asks_its_model_before_it_loads_what_the_answer_may_call_for():
    code = "import codeagent.cli.main, codeagent.cli.headless, codeagent.cli.faults, codeagent.wiring"
    loaded = loaded_by(f"{code}, codeagent.providers.openai_chat, codeagent.cli.command_line")
    for_answers = {"codeagent.equipment", "codeagent.workbench", "codeagent.policy.gate", "codeagent.tools.registry"}
    slow = {"tree_sitter", "pathspec", "logging.handlers", "pickle", "git"}
    assert loaded & (for_answers | slow) == set()
    assert len([name for name in loaded if name.startswith("codeagent")]) <= MOST_BEFORE_A_REQUEST
    assert len([name for name in loaded if name.startswith("openai.")]) <= MOST_OF_OPENAIS_SDK


def test_of_anthropics_sdk_a_request_loads_little():
    loaded = loaded_by("import codeagent.providers.anthropic")
    assert len([name for name in loaded if name.split(".")[0] == "anthropic"]) <= MOST_OF_ANTHROPICS_SDK


def test_settings_that_are_plain_texts_need_no_checking_prepared():
    code = "from codeagent.config.settings import checked; checked({'model': {'name': 'a/b'}})"
    assert "pydantic.plugin._loader" not in loaded_by(code)  # with which pydantic begins to build what checks
