"""A look into a file shows its first lines, or says in a few words why not; it never waits and never reads much."""

import os

import pytest

from codeagent.workspace.glimpse import glimpse
from codeagent.workspace.paths import PathSandbox


@pytest.fixture
def look(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()

    def look(name, data=None):
        if data is not None:
            (root / name).write_bytes(data)
        return glimpse(PathSandbox(root), name, 3)

    return look


def test_the_first_lines_are_shown_with_the_size(look):
    shown = look("cart.py", b"one\r\ntwo\nthree\nfour\n")
    assert shown.lines == ("one", "two", "three")
    assert shown.said == "20 bytes"


def test_of_a_huge_file_only_the_beginning_is_read(look):
    shown = look("huge.txt", b"x" * 3_000_000)
    assert len(shown.lines) == 1
    assert len(shown.lines[0]) <= 500
    assert shown.said == "3.0 MB"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("logo.png", b"\x89PNG\0\0", "binary, 6 bytes"),
        ("none", b"", "empty"),
        (".env", b"KEY=1", "may hold secrets, not shown"),
        ("missing", None, "cannot be read"),
        ("../outside", None, "outside the project, not shown"),
    ],
)
def test_what_cannot_be_shown_is_said(look, name, data, said):
    assert (look(name, data).lines, look(name).said) == ((), said)


def test_a_pipe_is_not_waited_for_and_a_link_does_not_lead_out(look, tmp_path):
    os.mkfifo(tmp_path / "shop/pipe")
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "shop/link").symlink_to(tmp_path / "secret")
    assert look("pipe").said == "cannot be read"
    assert look("link").said == "outside the project, not shown"


def test_a_character_cut_off_at_the_end_of_what_was_read_does_not_hide_the_text(look):
    assert look("long.txt", b"first\n" + "é".encode() * 9_000).lines[0] == "first"
