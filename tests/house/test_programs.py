"""Programs that are started for our own purposes are found in one way, which passes over what anybody may have put."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "codeagent"
FINDER = PACKAGE / "core/programs.py"
SAMPLE = PACKAGE / "cli/demo/sample"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if SAMPLE not in path.parents and path != FINDER)
OTHER_WAYS = re.compile(r"\bwhich\(|os\.(?:system|popen|exec[lv]|spawn[lv])|shell=True|subprocess_shell")
STARTS = re.compile(r"subprocess|\bPopen\b|\.execute\(")
PROGRAMS = frozenset(
    {"git", "rg", "bash", "sh", "bwrap", "tmux", "true", "ps", "osascript", "pbpaste", "pngpaste", "xclip", "wl-paste"}
)


def bare_names(source: str) -> list[str]:
    """Programs that stand by their names alone at the beginning of words to be run."""
    lists = (node.elts for node in ast.walk(ast.parse(source)) if isinstance(node, ast.List | ast.Tuple) and node.elts)
    firsts = (elements[0].value for elements in lists if isinstance(elements[0], ast.Constant))
    return [first for first in firsts if isinstance(first, str) and first in PROGRAMS]


def test_a_program_is_found_by_find_program_alone():
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in MODULES}
    assert len(sources) > 300
    assert [name for name, source in sources.items() if OTHER_WAYS.search(source)] == []
    assert [name for name, source in sources.items() if STARTS.search(source) and bare_names(source)] == []


def test_a_program_that_is_started_by_its_name_alone_would_be_seen():
    assert bare_names('subprocess.run(["git", "--no-pager", *words])') == ["git"]
    assert bare_names('start(*("tmux", "load-buffer"))') == ["tmux"]
    assert OTHER_WAYS.search('shutil.which("rg")')
