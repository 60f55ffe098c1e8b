import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.tools.ignore import read_ignore_file


@pytest.mark.parametrize(
    ("line", "ignored", "kept"),
    [
        ("*.o", ["a.o", "s/a.o"], ["a.oo"]),
        ("/a", ["a", "a/"], ["s/a"]),
        ("a/", ["a/", "s/a/"], ["a"]),
        ("s/*.c", ["s/a.c"], ["s/t/a.c", "r/s/a.c"]),
        ("**/t", ["t", "s/t", "r/s/t"], ["ta"]),
        ("s/**", ["s/a", "s/t/a"], ["s/"]),
        ("s/**/a", ["s/a", "s/t/u/a"], ["a"]),
        ("a  ", ["a"], ["a  "]),
        ("a\\ ", ["a "], ["a"]),
        ("\\#a", ["#a"], ["a"]),
        ("\\!a", ["!a"], ["a"]),
        ("{a,b}", ["{a,b}"], ["a"]),
        ("[ab]?", ["ax", "by"], ["a", "cx"]),
        ("[!a]", ["b"], ["a"]),
        ("a\r", ["a"], ["a\r"]),
    ],
)
def test_a_line_takes_out_what_git_says_it_does(line, ignored, kept):
    file = read_ignore_file(line)
    assert [file.is_ignored(path) for path in ignored] == [True] * len(ignored)
    assert [file.is_ignored(path) for path in kept] == [None] * len(kept)


@pytest.mark.parametrize("text", ["", "# a\n\n", "[", "!", "/", "\ufeff"])
def test_lines_without_a_pattern_say_nothing(text):
    assert read_ignore_file(text).is_ignored("a") is None


def test_the_last_line_that_fits_decides():
    file = read_ignore_file("*.log\n!keep.log\n")
    assert (file.is_ignored("a.log"), file.is_ignored("keep.log"), file.is_ignored("a.txt")) == (True, False, None)


LINES = st.lists(
    st.sampled_from(
        ["a", "/a", "a/", "*", "!a", "*.c", "!b.c", "s/*", "**/b.c", "/s/**", "?", "[ab]", "s/**/a", "# a"]
    ),
    max_size=4,
)


@settings(max_examples=25, deadline=None)
@given(lines=LINES)
def test_git_agrees(tmp_path_factory, lines):
    root = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("\n".join(lines))
    names = ["a", "b.c", "c"]
    for name in names:
        (root / name).write_text("")
    words = ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")
    file = read_ignore_file("\n".join(lines))
    assert {name for name in names if not file.is_ignored(name)} == set(listed) & set(names)


def test_a_line_with_many_stars_takes_no_longer_than_others():
    assert read_ignore_file("*a" * 20 + "*b").is_ignored("a" * 250) is None
