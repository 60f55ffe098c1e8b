"""What is said of an earlier run's remains, and that nothing is said where there are none."""

import tempfile

import pytest

from codeagent.workspace.earlier_runs import clean_up
from codeagent.workspace.leftovers import COPY_PREFIX, TEMP_PREFIX

DEAD = f"{TEMP_PREFIX}4194304-0badcafe-0000000"


@pytest.fixture
def temp_folder(tmp_path, monkeypatch):
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_nothing_is_said_where_nothing_was_left(tmp_path, temp_folder):
    (tmp_path / "work").mkdir()
    assert list(clean_up([tmp_path / "work", tmp_path / "none"])) == []


def test_what_was_removed_is_counted_and_what_is_kept_is_named(tmp_path, temp_folder):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / f"{DEAD}1").touch()
    save = folders[1] / f"{DEAD}2-{'0' * 16}-{'1' * 16}"
    save.touch()
    copy = temp_folder / f"{COPY_PREFIX}x-a.txt"
    copy.touch()

    removed, saved, copied = clean_up(folders)

    assert removed.startswith("2 temporary files")
    assert (str(save) in saved, str(copy) in copied) == (True, True)
    assert [path for folder in folders for path in folder.iterdir()] == [save]
