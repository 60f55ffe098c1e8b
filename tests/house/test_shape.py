"""The shape of the code: short files, short functions, first sentences, tests beside what they test."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "codeagent"
SAMPLE = PACKAGE / "cli" / "demo" / "sample"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if SAMPLE not in path.parents)

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
LAZY_IMPORTS = {
    "codeagent/__main__.py",
    "codeagent/wiring.py",
    "codeagent/cli/main.py",
    "codeagent/policy/later.py",
    "codeagent/tools/later.py",
    "codeagent/tui/command_rooms.py",
    "codeagent/tui/later.py",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(params=MODULES, ids=name)
def module(request) -> Path:
    return request.param


def test_a_file_fits_on_a_few_screens(module):
    assert len(module.read_text().splitlines()) <= LONGEST_FILE


def test_a_function_does_one_thing(module):
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, node.name


def test_modules_and_public_classes_say_what_they_are(module):
    tree = ast.parse(module.read_text())
    assert ast.get_docstring(tree), "the module"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


def test_imports_stand_at_the_top(module):
    if name(module) in LAZY_IMPORTS:
        return
    for function in ast.walk(ast.parse(module.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
            assert not inside, function.name


def test_nothing_is_left_for_later(module):
    assert not re.search(r"TODO|FIXME|XXX|NotImplementedError|type: ignore", module.read_text())


@pytest.mark.parametrize("room", sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir()))
def test_tests_mirror_the_package(room):
    others = {"server", "journeys", "benchmarks", "house", "__pycache__"}
    assert room in others or (PACKAGE / room).is_dir()


def test_the_top_level_holds_only_what_belongs_there():
    known = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "codeagent", "tests", "themes"}
    unknown = [path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.name not in known]
    assert [path for path in unknown if path not in {"dist", "build"}] == []
