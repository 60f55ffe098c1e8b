"""Killed between any two system calls, a write leaves the old bytes or the new ones, and the next start cleans up."""

import ctypes
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.workspace import renames
from codeagent.workspace.atomic import Target, make_ready, swap, temporary, write_atomic
from codeagent.workspace.handles import opened_folder, write_all
from codeagent.workspace.leftovers import TEMP_PREFIX, interrupted_copies

OLD, NEW, SAVED = b"old bytes, more of them\n" * 200, b"new bytes\n" * 300, b"what a person saved\n"
NO_PROCESS = 1 << 22  # Linux counts processes up to here
TRACE_ME, NEXT_SYSTEM_CALL = 0, 24
_ptrace = ctypes.CDLL(None).ptrace if sys.platform == "linux" else None

pytestmark = pytest.mark.skipif(_ptrace is None, reason="stops a process at each system call with ptrace")


def killed_at(stop: int, work: Callable[[], object]) -> bool:
    """Runs work in a child that is killed where it enters its ``stop``th system call; whether it came so far.

    Until the next one it changes nothing that lasts, so that this is every moment there is.
    """
    assert _ptrace is not None
    child = os.fork()
    if child == 0:
        try:
            _ptrace(TRACE_ME, 0, None, None)
            signal.raise_signal(signal.SIGSTOP)
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for _ in range(2 * stop - 1):  # each stops it where it is entered, and where it is left
        if _ptrace(NEXT_SYSTEM_CALL, child, None, None) != 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.skip("ptrace is not allowed here")
        if os.WIFEXITED(os.waitpid(child, 0)[1]):
            return False
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    return True


def kill_everywhere(
    root: Path, prepare: Callable[[Path], Path], expected: bytes | None, write: Callable[[Path], object] | None = None
) -> list[Path]:
    """Kills one write after another, each a system call later and in a folder of its own; the files written to."""
    write = write or (lambda file: write_atomic(file, NEW, expected=expected))
    files: list[Path] = []
    is_killed = True
    while is_killed:
        folder = root / f"{len(files):03d}"
        folder.mkdir(parents=True)
        file = prepare(folder)
        files.append(file)
        is_killed = killed_at(len(files), lambda file=file: write(file))
    assert len(files) > 30
    return files


def forget_writers(root: Path) -> None:
    """Where some other process has got the number of a killed writer by now, the file bears one that none can have."""
    for path in root.rglob(f"{TEMP_PREFIX}*"):
        writer, rest = path.name.removeprefix(TEMP_PREFIX).split("-", 1)
        if Path("/proc", writer).exists():
            path.rename(path.with_name(f"{TEMP_PREFIX}{NO_PROCESS}-{rest}"))


def start_again(root: Path) -> None:
    """What the next run of the program does first."""
    forget_writers(root)
    code = "import pathlib, sys; "
    code += "from codeagent.workspace.leftovers import sweep_leftovers; sweep_leftovers(pathlib.Path(sys.argv[1]))"
    home = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code, str(root)], check=True, env={**os.environ, "PYTHONPATH": str(home)})


def everything_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not path.is_dir()}


def an_old_file(folder: Path) -> Path:
    file = folder / "a.txt"
    file.write_bytes(OLD)
    file.chmod(0o751)
    return file


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_killed_replacement_leaves_one_whole_file_and_nothing_else(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(renames, "_CALL", None)  # a system whose C library has no such call
    root = tmp_path.resolve()
    files = kill_everywhere(root, an_old_file, OLD)

    found = [file.read_bytes() for file in files]
    assert set(found) == {OLD, NEW}
    assert found == sorted(found, key=[OLD, NEW].index)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o751}
    assert everything_below(root) > set(files)
    start_again(root)
    assert everything_below(root) == set(files)


def test_what_a_person_saved_in_the_moment_of_a_killed_write_is_never_swept_away(tmp_path):
    def a_draft_beside_it(folder: Path) -> Path:
        (folder / "draft").write_bytes(SAVED)
        return an_old_file(folder)

    def write_while_it_is_saved(file: Path) -> None:
        with opened_folder(file.parent) as folder, temporary(folder, 0o600) as temp:
            target = Target(path=file, folder=folder, expected=OLD)
            write_all(temp.file, NEW)
            make_ready(target, temp, NEW)
            (file.parent / "draft").replace(file)
            swap(target, temp)

    root = tmp_path.resolve()
    files = kill_everywhere(root, a_draft_beside_it, OLD, write_while_it_is_saved)
    start_again(root)

    held = [{path.read_bytes() for path in everything_below(file.parent)} for file in files]
    assert [number for number, contents in enumerate(held) if SAVED not in contents] == []
    assert [len(everything_below(file.parent)) for file in files].count(1) > 3
    kept = list(root.rglob(f"{TEMP_PREFIX}*"))
    assert kept
    assert {save.read_bytes() for save in kept} == {SAVED}


def test_a_killed_creation_leaves_a_whole_file_or_none(tmp_path):
    root = tmp_path.resolve()
    files = kill_everywhere(root, lambda folder: folder / "new" / "a.txt", None)

    made = [file for file in files if file.exists()]
    assert made
    assert {file.read_bytes() for file in made} == {NEW}
    assert everything_below(root) > set(made)
    start_again(root)
    assert everything_below(root) == set(made)


def test_a_killed_write_in_place_leaves_the_old_bytes_in_the_file_or_in_the_copy(tmp_path, mount, monkeypatch):
    root, copies = tmp_path.resolve() / "work", tmp_path.resolve() / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))

    def a_mounted_file(folder: Path) -> Path:
        file = an_old_file(folder)
        mount(file, "--bind", str(file))
        return file

    files = kill_everywhere(root, a_mounted_file, OLD)
    torn = [file for file in files if file.read_bytes() not in {OLD, NEW}]
    whole = [copy for copy in interrupted_copies() if copy.read_bytes() == OLD]
    assert torn
    assert len(whole) >= len(torn)
    assert all(copy.name.endswith("-a.txt") for copy in whole)
