"""Temporary files of crashed runs go, those of living ones stay."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeagent.workspace.atomic import temporary
from codeagent.workspace.handles import opened_folder
from codeagent.workspace.leftovers import TEMP_PREFIX, new_temp_name, sweep_leftovers

WRITER = """
import pathlib, sys, time
from codeagent.workspace.atomic import temporary
from codeagent.workspace.handles import opened_folder
with opened_folder(pathlib.Path(sys.argv[1])) as folder, temporary(folder, 0o600):
    print("ready", flush=True)
    time.sleep(60)
"""


def temps(folder: Path) -> list[Path]:
    return list(folder.rglob(TEMP_PREFIX + "*"))


@pytest.fixture
def writer(tmp_path):
    """Another process that is in the middle of writing below sub."""
    folder = tmp_path.resolve() / "sub"
    folder.mkdir()
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_file_that_a_living_process_writes_stays_and_a_dead_one_s_goes(tmp_path, writer):
    (left,) = temps(tmp_path)
    old = time.time() - 10_000
    os.utime(left, (old, old))
    assert sweep_leftovers(tmp_path).removed == 0
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert temps(tmp_path) == [left]
    assert sweep_leftovers(tmp_path).removed == 1
    assert temps(tmp_path) == []


def test_our_own_file_in_the_making_stays(tmp_path):
    with opened_folder(tmp_path.resolve()) as folder, temporary(folder, 0o600):
        assert sweep_leftovers(tmp_path).removed == 0
    assert temps(tmp_path) == []


def test_an_earlier_run_with_our_process_number_is_a_dead_one(tmp_path):
    (tmp_path / f"{TEMP_PREFIX}{os.getpid()}-00000000-00000000").write_text("x")
    assert sweep_leftovers(tmp_path).removed == 1


def test_a_young_file_without_a_lock_stays_while_its_process_lives(tmp_path):
    (tmp_path / f"{TEMP_PREFIX}{os.getppid()}-00000000-00000000").write_text("x")
    assert sweep_leftovers(tmp_path).removed == 0


def test_a_locked_file_stays_though_its_process_is_unknown_here_as_in_another_container(tmp_path):
    path = tmp_path / f"{TEMP_PREFIX}999999999-00000000-00000000"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert sweep_leftovers(tmp_path).removed == 0
    assert sweep_leftovers(tmp_path).removed == 1


def test_only_what_bears_our_exact_name_is_swept(tmp_path):
    (tmp_path / f"{TEMP_PREFIX}notes").write_text("x")
    (tmp_path / f"{TEMP_PREFIX}999999-00000000-00000000").mkdir()
    (tmp_path / "target").write_text("x")
    (tmp_path / f"{TEMP_PREFIX}999999-00000000-11111111").symlink_to("target")
    assert sweep_leftovers(tmp_path).removed == 0
    assert len(temps(tmp_path)) == 3


def test_links_and_git_s_own_folder_are_not_entered(tmp_path):
    name = f"{TEMP_PREFIX}999999-00000000-00000000"
    for folder in ("root/.git", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text("x")
    (tmp_path / "root/link").symlink_to("../elsewhere")
    assert sweep_leftovers(tmp_path / "root").removed == 0


def test_a_huge_tree_does_not_hold_up_the_start_and_is_swept_from_the_top(tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for folder in (deep, tmp_path):
        (folder / f"{TEMP_PREFIX}4194304-0badcafe-00000001").touch()
    assert sweep_leftovers(tmp_path, seconds=0).removed == 1
    assert temps(tmp_path) == temps(deep)
    assert sweep_leftovers(tmp_path).removed == 1


def test_a_folder_that_is_not_there_holds_no_leftovers(tmp_path):
    assert sweep_leftovers(tmp_path / "none").removed == 0


def test_no_two_temporary_names_are_the_same():
    assert len({new_temp_name() for _ in range(1_000)}) == 1_000
