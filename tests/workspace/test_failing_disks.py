"""A disk that fails in any step of a write leaves the old bytes, and the error says why."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WRITE = """
import pathlib, sys
from codeagent.core.errors import ToolError
from codeagent.workspace.atomic import write_atomic
expected = None if sys.argv[2] == "new" else b"old"
try:
    write_atomic(pathlib.Path(sys.argv[1]), b"new bytes", expected=expected)
except ToolError as error:
    sys.exit(str(error))
"""
HOME = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="lets system calls fail with strace")


def failing(call: str, error: str, *arguments: str, only: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a write in which the first system call of that name, on the file ``only`` if given, fails."""
    words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
    words += ["-P", str(only)] if only else []
    words += ["-e", f"inject={call}:error={error}:when=1", sys.executable, "-c", WRITE, *arguments]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(HOME)}
    )
    if "ptrace" in done.stderr:
        pytest.skip("ptrace is not allowed here")
    return done


@pytest.mark.parametrize(
    ("call", "error", "reason"),
    [
        ("pwrite64", "ENOSPC", "the disk is full"),
        ("pwrite64", "EDQUOT", "quota"),
        ("pwrite64", "EIO", "input/output error"),
        ("ftruncate", "EIO", "input/output error"),
        ("fsync", "EIO", "input/output error"),
        ("fsync", "ENOSPC", "the disk is full"),
        ("fchmod", "EIO", "input/output error"),
        ("renameat2", "EIO", "input/output error"),
        ("renameat2", "ENOSPC", "the disk is full"),
    ],
)
def test_a_failing_step_leaves_the_old_file_and_the_reason(tmp_path, call, error, reason):
    file = tmp_path.resolve() / "a.txt"
    file.write_bytes(b"old")

    done = failing(call, error, str(file), "old")

    assert (done.returncode, reason in done.stderr, str(file) in done.stderr) == (1, True, True), done.stderr
    assert file.read_bytes() == b"old"
    assert [path.name for path in file.parent.iterdir()] == ["a.txt"]


def test_an_old_file_that_cannot_be_read_back_is_not_replaced(tmp_path):
    file = tmp_path.resolve() / "a.txt"
    file.write_bytes(b"old")

    done = failing("pread64", "EIO", str(file), "old", only=file)

    assert (done.returncode, str(file) in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
    assert file.read_bytes() == b"old"
    assert [path.name for path in file.parent.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(("call", "error"), [("pwrite64", "ENOSPC"), ("fsync", "EIO"), ("renameat2", "EIO")])
def test_a_failing_step_leaves_no_new_file_and_no_new_folder(tmp_path, call, error):
    done = failing(call, error, str(tmp_path.resolve() / "new" / "a.txt"), "new")

    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", ["EACCES", "EPERM", "EROFS", "EBUSY"])
def test_where_no_file_may_be_replaced_it_is_written_in_place(tmp_path, error):
    file = tmp_path.resolve() / "a.txt"
    file.write_bytes(b"old")
    inode = file.stat().st_ino

    assert failing("renameat2", error, str(file), "old").returncode == 0
    assert (file.read_bytes(), file.stat().st_ino) == (b"new bytes", inode)
    assert [path.name for path in file.parent.iterdir()] == ["a.txt"]
