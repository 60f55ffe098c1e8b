import os
from pathlib import Path

import pytest

from codeagent.core.errors import FileProblem


def test_a_folder_is_listed_with_sizes_folders_first(at):
    at.put("b.txt", "x" * 1500)
    at.put("a/x", "")
    (at.root / "link").symlink_to("b.txt")
    assert at.text("ls") == "a/\nb.txt  1.5 kB\nlink → b.txt"


def test_an_empty_folder_a_file_and_a_missing_folder_are_told_apart(at):
    at.put("a.txt", "")
    (at.root / "sub").mkdir()
    assert at.text("ls", path="sub") == "[the folder is empty]"
    with pytest.raises(FileProblem, match="is a file"):
        at.run("ls", path="a.txt")
    with pytest.raises(FileProblem, match="No such file"):
        at.run("ls", path="gone")


def test_a_long_listing_is_cut(at):
    for number in range(510):
        at.put(f"{number}", "")
    assert at.text("ls").endswith("[10 more names; glob narrows them down]")


def test_names_that_are_no_text_can_still_be_listed(at):
    Path(os.fsdecode(os.fsencode(at.root) + b"/\xff.txt")).write_text("")
    at.run("ls").text.encode()
