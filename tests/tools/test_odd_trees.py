"""Folders that loop, that may not be entered, or that hold very many files are searched without harm."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeagent.core.errors import FileProblem, PathRefused
from codeagent.tools.walk import find_ripgrep, list_files
from tests.tools.conftest import Bench, bench

MANY = 100_000


def test_links_that_lead_in_a_circle_are_not_followed(searching):
    searching.put("a/b/x.py", "needle\n")
    (searching.root / "a" / "b" / "up").symlink_to("..")
    (searching.root / "a" / "self").symlink_to("self")
    (searching.root / "one").symlink_to("two")
    (searching.root / "two").symlink_to("one")

    assert searching.text("glob", pattern="**") == "a/b/x.py"
    assert searching.text("grep", pattern="needle").splitlines()[0] == "a/b/x.py"
    assert searching.text("ls", path="a") == "b/\nself → self"


@pytest.mark.parametrize("name", ["read", "edit", "write", "ls", "grep"])
def test_a_link_to_itself_is_an_error_and_no_hang(searching, name):
    (searching.root / "self").symlink_to("self")
    rest = {"edit": {"old": "a", "new": "b"}, "write": {"content": "x"}, "grep": {"pattern": "x"}}

    with pytest.raises(PathRefused, match="circle"):
        searching.run(name, path="self", **rest.get(name, {}))


@pytest.mark.parametrize("has_ripgrep", [True, False])
def test_a_folder_that_may_not_be_entered_is_passed_over(shared_folder, as_ordinary_user, has_ripgrep):
    made = bench(shared_folder, ripgrep=None if has_ripgrep else "")
    made.put("a.py", "needle\n")
    made.put("shut/b.py", "needle\n")
    made.put("other.py", "needle\n").chmod(0)
    (made.root / "shut").chmod(0)
    for folder in (made.root, made.logs):
        folder.chmod(0o777)

    def work() -> None:
        assert sorted(made.text("glob", pattern="**").splitlines()) == ["a.py", "other.py"]
        assert [line for line in made.text("grep", pattern="needle").splitlines() if ".py" in line] == ["a.py"]
        with pytest.raises(FileProblem, match="ermission"):
            made.run("ls", path="shut")
        with pytest.raises(FileProblem, match="ermission"):
            made.run("read", path="shut/b.py")
        for name in ("read", "grep"):
            with pytest.raises(FileProblem, match="ermission"):
                made.run(name, path="other.py", **({"pattern": "needle"} if name == "grep" else {}))

    as_ordinary_user(work)


@pytest.fixture(scope="module")
def many_files() -> Iterator[Path]:
    """In memory where that is possible: making them is not what is tried here."""
    memory = Path("/dev/shm")
    home = Path(tempfile.mkdtemp(prefix="codeagent-test-", dir=memory if memory.is_dir() else None)).resolve()
    for number in range(100):
        folder = home / "work" / f"d{number}"
        folder.mkdir(parents=True)
        here = os.open(folder, os.O_RDONLY)
        for file in range(MANY // 100):
            os.close(os.open(f"{file}.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.close(here)
    (home / "work" / "d50" / "500.py").write_text("needle\n")
    yield home / "work"
    shutil.rmtree(home)


@pytest.fixture(params=["ripgrep", "python"])
def crowded(request, many_files) -> Bench:
    """A workspace of all these files."""
    if request.param == "ripgrep" and find_ripgrep() is None:
        pytest.skip("no ripgrep here")
    return bench(many_files.parent, ripgrep=None if request.param == "ripgrep" else "")


async def test_a_hundred_thousand_files_are_searched_beside_a_living_screen(crowded):
    async def search() -> list[str]:
        found = await crowded.run_async("glob", lambda _: None, pattern="**/500.py")
        there = await crowded.run_async("grep", lambda _: None, pattern="needle")
        with pytest.raises(FileProblem, match="does not exist"):
            await crowded.run_async("read", lambda _: None, path="d50/500.pyx")
        return [found.text.splitlines()[0], there.text.splitlines()[0]]

    async def longest_gap() -> float:
        longest = 0.0

        async def beat() -> None:
            nonlocal longest
            while True:
                began = time.monotonic()
                await asyncio.sleep(0.005)
                longest = max(longest, time.monotonic() - began)

        async with asyncio.TaskGroup() as group:
            beating = group.create_task(beat())
            assert await search() == ["d50/500.py"] * 2
            beating.cancel()
        return longest

    for _ in range(5):  # others may have had the processor in between, not each time
        if (longest := await longest_gap()) < 0.3:
            break
    assert longest < 0.3


async def test_a_search_of_a_hundred_thousand_files_ends_soon_after_it_is_cancelled(crowded):
    stop = threading.Event()
    ripgrep = crowded.tools.find("glob")._ripgrep or None
    seen: list[str] = []

    async with asyncio.TaskGroup() as group:
        walking = group.create_task(asyncio.to_thread(lambda: seen.extend(list_files(crowded.root, stop, ripgrep))))
        await asyncio.sleep(0.05)
        stop.set()
        async with asyncio.timeout(20):
            await walking
    assert len(seen) < MANY


@pytest.mark.parametrize("name", ["read", "edit", "write", "grep"])
@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a device"])
def test_what_is_no_regular_file_is_refused_at_once(searching, name, kind):
    path = searching.root / "odd"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.fspath(path))
    else:
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root makes devices")
    rest = {"edit": {"old": "a", "new": "b"}, "write": {"content": "x"}, "grep": {"pattern": "x"}}

    with pytest.raises(FileProblem, match=kind):
        searching.run(name, path="odd", **rest.get(name, {}))
