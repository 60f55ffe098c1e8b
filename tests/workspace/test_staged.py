"""Many files written with few waits for the disk: whole or not at all, and never over what somebody else saved."""

import os
import stat

import pytest

from codeagent.core.errors import FileProblem, StaleFile
from codeagent.workspace.staged import in_sync, stage


@pytest.fixture
def root(tmp_path):
    root = tmp_path.resolve() / "work"
    root.mkdir()
    (root / "a.txt").write_bytes(b"old")
    (root / "a.txt").chmod(0o640)
    return root


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_replaced_when_it_takes_its_place_and_not_before(root):
    staged = stage(root / "a.txt", b"new", expected=b"old", mode=0o750)
    assert (root / "a.txt").read_bytes() == b"old"
    in_sync([root])
    assert staged.take_place(b"old")
    assert (root / "a.txt").read_bytes() == b"new"
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o750
    assert names(root) == ["a.txt"]


def test_a_new_file_waits_where_there_is_a_folder_and_takes_those_that_are_missing_along(root):
    (root / "file").write_bytes(b"in the way until then")
    staged = [stage(root / name, b"new", expected=None, mode=0o600) for name in ("x/y/z.txt", "file/in.txt", "b.txt")]
    assert {one.beside for one in staged} == {root}
    (root / "file").unlink()
    assert all(one.take_place(None) for one in staged)
    assert names(root) == ["a.txt", "b.txt", "file", "file/in.txt", "x", "x/y", "x/y/z.txt"]
    assert stat.S_IMODE((root / "x/y/z.txt").stat().st_mode) == 0o600


def test_what_was_dropped_leaves_nothing(root):
    for staged in (
        stage(root / "a.txt", b"new", expected=b"old", mode=0o600),
        stage(root / "x/y.txt", b"new", expected=None, mode=0o600),
    ):
        staged.drop()
    assert names(root) == ["a.txt"]
    assert (root / "a.txt").read_bytes() == b"old"


def test_what_somebody_saved_meanwhile_stays(root):
    changed = stage(root / "a.txt", b"new", expected=b"old", mode=0o600)
    appeared = stage(root / "b.txt", b"new", expected=None, mode=0o600)
    (root / "a.txt").write_bytes(b"mine")
    (root / "b.txt").write_bytes(b"mine too")
    for staged, expected in ((changed, b"old"), (appeared, None)):
        with pytest.raises(StaleFile):
            staged.take_place(expected)
        staged.drop()
    assert [(root / name).read_bytes() for name in ("a.txt", "b.txt")] == [b"mine", b"mine too"]
    assert names(root) == ["a.txt", "b.txt"]


def test_what_is_no_longer_what_it_was_is_not_even_laid_ready(root):
    with pytest.raises(StaleFile):
        stage(root / "a.txt", b"new", expected=b"other", mode=0o600)
    with pytest.raises(StaleFile):
        stage(root / "gone.txt", b"new", expected=b"old", mode=0o600)
    assert names(root) == ["a.txt"]


def test_a_link_in_the_place_of_a_folder_is_not_followed(root, tmp_path):
    (root / "in").mkdir()
    staged = stage(root / "in" / "b.txt", b"new", expected=None, mode=0o600)
    (root / "in").rename(root / "moved")
    (tmp_path / "outside").mkdir()
    (root / "in").symlink_to(tmp_path / "outside")
    for attempt in (lambda: staged.take_place(None), lambda: stage(root / "in/c", b"", expected=b"", mode=0o600)):
        with pytest.raises(FileProblem):
            attempt()
    assert list((tmp_path / "outside").iterdir()) == []


def test_where_its_temporary_file_is_gone_that_is_said_and_nothing_is_done(root):
    staged = [
        stage(root / "a.txt", b"new", expected=b"old", mode=0o600),
        stage(root / "b.txt", b"new", expected=None, mode=0o600),
    ]
    for one in staged:
        (one.beside / one.name).unlink()
    assert [staged[0].take_place(b"old"), staged[1].take_place(None)] == [False, False]
    assert names(root) == ["a.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_no_file_can_be_made_it_goes_another_way(root):
    root.chmod(0o500)
    assert stage(root / "a.txt", b"new", expected=b"old", mode=0o600) is None
    root.chmod(0o700)
