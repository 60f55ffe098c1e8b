import re
import subprocess
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.tools.ignore import read_ignore_file
from codeagent.tools.pattern import path_regex
from tests.effort import assert_takes_less

_EVERYTHING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


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


@pytest.mark.parametrize("line", ["**/a/" * 20 + "b", "a**" * 20 + "b", "*{" * 20 + "b", "**/*a/" * 10 + "b"])
def test_no_rule_of_many_stars_takes_long(line):
    file = read_ignore_file(line)
    for path in ("a/" * 500, "a" * 1_000, "{" * 1_000, "aa/" * 300):
        assert_takes_less(0.2, partial(file.is_ignored, path))


@given(
    st.lists(st.sampled_from(["**/", "**", "*", "?", "a", "b", "/", "a/"]), max_size=8).map("".join),
    st.text("ab/", min_size=1, max_size=10),
)
def test_stars_fit_what_they_would_by_trying_everything(pattern, path):
    plain = re.sub(r"(?:(?<=/)|^)\*\*/|\*\*|\*|\?", lambda found: _EVERYTHING[found[0]], pattern)
    plain = re.sub(r"(?<=/)\.\*$", ".+", plain) if pattern.endswith("/**") else plain
    fits = re.compile(path_regex(pattern)).fullmatch(path)
    assert bool(fits) == bool(re.compile(plain).fullmatch(path))
