"""Folders that become links to elsewhere while a tool works lead it nowhere outside."""

from __future__ import annotations

import shutil
import threading
from contextlib import contextmanager, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.errors import ToolError

SECRET = "SECRET OF ANOTHER FOLDER"
OF_THE_SECRET = "name-of-another-folder.txt"
PLACES = ("a", "a/b", "a/b/c", "a/b/c/file.txt")
CALLS = {
    "read": {"path": "a/b/c/file.txt"},
    "write": {"path": "a/b/c/file.txt", "content": "written\n"},
    "new": {"path": "a/b/c/new/file.txt", "content": "written\n"},
    "edit": {"path": "a/b/c/file.txt", "old": "inside", "new": "written"},
    "grep": {"pattern": "inside"},
    "grep in a folder": {"pattern": "inside", "path": "a/b/c", "context": 1},
    "grep in a file": {"pattern": "inside", "path": "a/b/c/file.txt"},
    "ls": {"path": "a/b/c"},
}
TOOLS = {"new": "write", "grep in a folder": "grep", "grep in a file": "grep"}
ROUNDS = 6


@contextmanager
def swapping(place, outside):
    """Another thread that puts a link to ``outside`` in the place of what is there, and takes it away again."""
    over = threading.Event()
    spare = place.with_name(f"{place.name}.spare")

    def swap():
        while not over.is_set():
            with suppress(OSError):
                place.rename(spare)
                place.symlink_to(outside)
            with suppress(OSError):
                place.unlink()
            with suppress(OSError):
                spare.rename(place)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def outside(tmp_path_factory):
    """The same tree as in the workspace, with a secret in each file."""
    top = tmp_path_factory.mktemp("outside")
    (top / "a/b/c").mkdir(parents=True)
    (top / "a/b/c/file.txt").write_text(f"inside {SECRET}\n")
    (top / "a/b/c" / OF_THE_SECRET).write_text("")
    return top


def everything_in(top):
    return {path.relative_to(top): path.lstat().st_mtime_ns for path in top.rglob("*")}


@pytest.mark.parametrize("call", CALLS)
@given(place=st.sampled_from(PLACES))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_outside_is_read_or_written_while_paths_are_swapped(at, outside, call, place):
    before = everything_in(outside)
    for _ in range(ROUNDS):
        for left in at.root.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        at.known("a/b/c/file.txt", "inside\n")
        with swapping(at.root / place, outside / place), suppress(ToolError):
            plan = at.plan(TOOLS.get(call, call), **CALLS[call])
            if all(touch.concern is None for touch in plan.touches):  # else a person is asked about it
                text = at.go(plan).text
                assert SECRET not in text
                assert OF_THE_SECRET not in text
        assert everything_in(outside) == before
    assert SECRET in (outside / "a/b/c/file.txt").read_text()
