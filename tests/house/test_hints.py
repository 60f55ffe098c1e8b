"""What is said of a key that can be changed comes from the table of keys, so that it names the person's own."""

import ast
import re
from pathlib import Path

import pytest

from codeagent.core.keys import KEYS, key_rows

PACKAGE = Path(__file__).parents[2] / "codeagent"
SAID = re.compile(
    r"(?<![\w+])(ctrl\+\w+|alt\+[\w↑↓]+|shift\+\w+|f\d+|esc|enter|tab|↑|↓)(?![\w+]) [a-z]+", re.IGNORECASE
)
WINDOWS = frozenset(
    PACKAGE / "tui/screens" / f"{name}.py" for name in ["changes", "jobs", "pages", "picker", "rules", "sessions"]
)
"""Their keys are their own and cannot be changed."""

FIXED = {
    "config/key_problems.py": {"f5 or"},  # how keys are written
    "core/first_words.py": {"enter send", "ctrl+p commands", "f1 keys"},  # drawn before any setting is read
    "tui/screens/main.py": {"↑ brings"},
    "tui/screens/typing.py": {"esc goes", "esc takes"},
    "tui/screens/welcome.py": {
        "↓ choose",
        "enter takes",
        "enter keeps",
        "Enter keeps",
        "enter it",
        "esc back",
        "esc goes",
    },
    "tui/widgets/approval.py": {"esc goes"},
    "tui/widgets/status.py": {"esc back", "esc close"},
}
"""Keys without a name in the config."""


def said_of_keys(module: Path) -> set[str]:
    """Each key that a text of a module names, with the word behind it; docstrings are not read."""
    tree = ast.parse(module.read_text())
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in silent)
    return {found.group() for text in texts if isinstance(text, str) for found in SAID.finditer(text)}


@pytest.mark.parametrize("room", ["core", "config", "store", "tui"])
def test_no_text_names_a_key_that_may_be_another_one(room):
    modules = [module for module in (PACKAGE / room).rglob("*.py") if module not in WINDOWS]
    said = {module.relative_to(PACKAGE).as_posix(): found for module in modules if (found := said_of_keys(module))}
    assert {
        name: found - FIXED.get(name, set()) for name, found in said.items() if found - FIXED.get(name, set())
    } == {}


def test_a_key_that_a_text_names_would_be_seen(tmp_path):
    module = tmp_path / "hint.py"
    module.write_text('"""Here ctrl+c quits."""\nHINT = "ctrl+x again quits · enter opens it"\n')
    assert said_of_keys(module) == {"ctrl+x again", "enter opens"}


def test_the_list_of_keys_names_no_other_key_but_by_the_persons_own():
    own = {key.name: f"f{number}" for number, key in enumerate(KEYS, 20) if key.action}
    said = [what for _, _, what in key_rows(own)]
    assert f"after {own['always']}: for this session; {own['give-choice']} too" in said
    assert not [what for what in said if re.search(r"\b(enter|tab|esc|ctrl\+\w)\b", what, re.IGNORECASE)]
