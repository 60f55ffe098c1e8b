"""The shape of the code: short files, short functions, first sentences, tests beside what they test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "codeagent"
SAMPLE = PACKAGE / "cli" / "demo" / "sample"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if SAMPLE not in path.parents)

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
IMPORTS = ast.Import | ast.ImportFrom
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


def faults(module: str, source: str) -> Iterator[str]:
    """What is wrong with the shape of a module."""
    if len(source.splitlines()) > LONGEST_FILE:
        yield f"{module} is too long"
    if re.search(r"TODO|FIXME|XXX|NotImplementedError|type: ignore", source):
        yield f"{module} leaves something for later"
    tree = ast.parse(source)
    if not ast.get_docstring(tree):
        yield f"{module} does not say what it is"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node):
            yield f"{module}: {node.name} does not say what it is"
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            if function.end_lineno - function.lineno >= LONGEST_FUNCTION:
                yield f"{module}: {function.name} does too much"
            if module not in LAZY_IMPORTS and any(isinstance(node, IMPORTS) for node in ast.walk(function)):
                yield f"{module}: {function.name} imports; imports stand at the top"


def test_each_module_has_the_shape():
    assert len(MODULES) > 300
    assert [fault for path in MODULES for fault in faults(name(path), path.read_text())] == []


LONG_FUNCTION = "def f():\n" + "    a()\n" * LONGEST_FUNCTION


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('"""It."""\n' + "a()\n" * LONGEST_FILE, "m is too long"),
        ('"""It."""\n# TODO: more', "m leaves something for later"),
        ("a()", "m does not say what it is"),
        ('"""It."""\nclass A:\n    pass', "m: A does not say what it is"),
        (f'"""It."""\n{LONG_FUNCTION}', "m: f does too much"),
        ('"""It."""\nclass _A:\n    async def f(self):\n        import os', "m: f imports; imports stand at the top"),
    ],
)
def test_a_fault_of_the_shape_would_be_seen(source, fault):
    assert list(faults("m", source)) == [fault]


@pytest.mark.parametrize("room", sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir()))
def test_tests_mirror_the_package(room):
    others = {"server", "journeys", "benchmarks", "house", "__pycache__"}
    assert room in others or (PACKAGE / room).is_dir()


def test_the_top_level_holds_only_what_belongs_there():
    known = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "codeagent", "tests", "themes"}
    unknown = [path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.name not in known]
    assert [path for path in unknown if path not in {"dist", "build"}] == []
