"""What a file is besides its text stays as it was, whichever tool changes it."""

import stat
from pathlib import Path

import pytest

CHANGES = {"edit": {"old": "one", "new": "two"}, "write": {"content": "two\n"}}
each_tool = pytest.mark.parametrize("tool", [*CHANGES])


@each_tool
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o444 | stat.S_IWUSR, 0o4711, 0o2750])
def test_mode_bits_stay(at, tool, mode):
    path = at.known("a.txt", "one\n")
    path.chmod(mode)
    before = path.stat()

    at.run(tool, path="a.txt", **CHANGES[tool])

    after = path.stat()
    assert path.read_text() == "two\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@each_tool
def test_a_file_in_a_folder_that_hands_its_group_down_keeps_its_own(at, tool):
    path = at.known("shared/a.txt", "one\n")
    path.parent.chmod(0o2775)
    path.chmod(0o664)

    at.run(tool, path="shared/a.txt", **CHANGES[tool])

    assert stat.S_IMODE(path.stat().st_mode) == 0o664
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o2775


@each_tool
@pytest.mark.parametrize("target", ["real.txt", "sub/real.txt", "sub/../sub/real.txt"])
def test_links_stay_links_and_the_diff_names_the_real_file(at, tool, target):
    real = at.put("sub/real.txt" if "/" in target else "real.txt", "one\n")
    (at.root / "middle.txt").symlink_to(target)
    (at.root / "link.txt").symlink_to(at.root / "middle.txt")
    at.run("read", path="link.txt")

    plan = at.plan(tool, path="link.txt", **CHANGES[tool])
    at.go(plan)

    assert plan.preview.diff.path == str(real.relative_to(at.root))
    assert real.read_text() == "two\n"
    assert (at.root / "middle.txt").readlink() == Path(target)
    assert (at.root / "link.txt").readlink() == at.root / "middle.txt"


@each_tool
def test_other_names_of_a_file_are_told_to_keep_the_old_text(at, tool):
    path = at.known("a.txt", "one\n")
    (at.root / "b.txt").hardlink_to(path)

    text = at.text(tool, path="a.txt", **CHANGES[tool])

    assert "hard link" in text
    assert (path.read_text(), (at.root / "b.txt").read_text()) == ("two\n", "one\n")


@each_tool
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfone\r\n", b"\xef\xbb\xbftwo\r\n"),
        ("\ufeffone\n".encode("utf-16-be"), "\ufefftwo\n".encode("utf-16-be")),
    ],
)
def test_marks_encodings_and_line_endings_stay(at, tool, before, after):
    path = at.known("a.txt", before)

    at.run(tool, path="a.txt", **CHANGES[tool])

    assert path.read_bytes() == after
