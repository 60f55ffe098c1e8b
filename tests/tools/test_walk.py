import os
import subprocess
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.tools.walk import Walk, find_ripgrep, list_files

needs_ripgrep = pytest.mark.skipif(find_ripgrep() is None, reason="compares with ripgrep")


def test_very_deep_folders_are_walked_to_the_end(tmp_path):
    deep = "d/" * 1200
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("x", os.O_CREAT, dir_fd=here))
    os.close(here)
    found = list(Walk(tmp_path, threading.Event()))
    subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)  # pytest's own cleaning is not up to it
    assert found == [f"{deep}x"]


NAMES = st.sampled_from(["a", "b", "x.py", "build", "tmp1", "é", "a b", ".h", "[x]"])
PATTERNS = st.sampled_from(
    ["a", "/a", "a/", "*.py", "!x.py", "build/", "b/*", "/b/**", "**/a", "a/b", "tmp?", "!a", "[a-b]", "*", "!*/", "#a",
     "\\[x\\]", "é", "a b", ".*", "a/**/b", "!b/a"]
)  # fmt: skip
IGNORES = st.sampled_from([".gitignore", ".ignore", ".rgignore"])


@needs_ripgrep
@settings(max_examples=60, deadline=None)
@given(
    files=st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8),
    ignores=st.dictionaries(
        st.tuples(st.lists(NAMES, max_size=2).map("/".join), IGNORES),
        st.lists(PATTERNS, min_size=1, max_size=3),
        max_size=3,
    ),
    start=st.sampled_from(["", "a", "b"]),
)
def test_both_ways_list_the_same_files(tmp_path_factory, files, ignores, start):
    root = tmp_path_factory.mktemp("tree")
    (root / ".git").mkdir()
    for name in files:
        if not any(parent.is_file() for parent in (root / name).parents) and not (root / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("x")
    for (folder, name), patterns in ignores.items():
        if (root / folder).is_dir():
            (root / folder / name).write_text("\n".join(patterns))
    folder = root / start
    if folder.is_dir():
        listed = [list(list_files(folder, threading.Event(), ripgrep)) for ripgrep in (find_ripgrep(), None)]
        assert listed[0] == listed[1]
