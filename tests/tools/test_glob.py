"""glob, with and without ripgrep."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from codeagent.core.errors import BadArguments
from codeagent.core.messages import SearchDetails
from codeagent.tools.pattern import compile_glob
from tests.effort import assert_takes_less


def test_the_newest_files_come_first(searching):
    for age, name in enumerate(["new.py", "src/old.py", "older.py"]):
        os.utime(searching.put(name, ""), (1e9 - age, 1e9 - age))
    searching.put("other.txt", "")
    assert searching.text("glob", pattern="*.py") == "new.py\nsrc/old.py\nolder.py"
    assert searching.text("glob", pattern="src/*.py") == "src/old.py"
    assert searching.text("glob", pattern="*.py", path="src") == "src/old.py"


def test_two_hundred_files_are_listed_and_the_rest_counted(searching):
    for number in range(205):
        searching.put(f"{number}.py", "")
    result = searching.run("glob", pattern="*")
    assert len(result.text.split("\n")) == 201
    assert result.text.endswith("[5 more files; narrow the pattern or path]")
    assert result.details == SearchDetails(matches=205, files=205, truncated=True)


def test_secret_files_are_left_out_and_named(searching):
    searching.put(".env", "")
    searching.put("a.py", "")
    assert searching.text("glob", pattern="**") == "a.py\n[left out as secret: .env]"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", {"a.py", "s/b.py", "s/t/c.py"}),
        ("**/*.py", {"a.py", "s/b.py", "s/t/c.py"}),
        ("/*.py", {"a.py"}),
        ("./*.py", {"a.py", "s/b.py", "s/t/c.py"}),
        ("s/**", {"s/b.py", "s/t/c.py", "s/t/d[1].js"}),
        ("s/**/c.py", {"s/t/c.py"}),
        ("s/*/c.py", {"s/t/c.py"}),
        ("s/", {"s/b.py", "s/t/c.py", "s/t/d[1].js"}),
        ("[ab].py", {"a.py", "s/b.py"}),
        ("[!a].py", {"s/b.py", "s/t/c.py"}),
        ("?.{py,js}", {"a.py", "s/b.py", "s/t/c.py"}),
        ("{a,s/{b,t/*}}.{py,x}", {"a.py", "s/b.py", "s/t/c.py"}),
        ("s/{,**/}*.py", {"s/b.py", "s/t/c.py"}),
        (r"d\[1\].js", {"s/t/d[1].js"}),
        ("d[[]1].js", {"s/t/d[1].js"}),
        ("nothing", set()),
    ],
)
def test_file_patterns_mean_what_they_mean_elsewhere(searching, pattern, found):
    for name in ("a.py", "s/b.py", "s/t/c.py", "s/t/d[1].js"):
        searching.put(name, "")
    text = searching.text("glob", pattern=pattern)
    assert {line for line in text.split("\n") if not line.startswith("[no files")} == found


def test_a_pattern_may_start_with_the_folder_s_own_path(searching):
    searching.put("s/a.py", "")
    assert searching.text("glob", pattern=f"{searching.root}/s/*.py") == "s/a.py"
    assert searching.text("glob", pattern=f"{searching.root}/s/*.py", path=str(searching.root)) == "s/a.py"


@pytest.mark.parametrize("pattern", ["", " ", "!*.py"])
def test_patterns_that_choose_nothing_are_refused(searching, pattern):
    with pytest.raises(BadArguments):
        searching.run("glob", pattern=pattern)


def test_a_pattern_with_many_stars_takes_no_longer_than_others(searching):
    searching.put("a" * 200, "")
    searching.put("a" * 199 + "b", "")
    assert searching.text("glob", pattern="*a" * 20 + "*b") == "a" * 199 + "b"
    with pytest.raises(BadArguments, match="at most 4 times"):
        searching.run("glob", pattern="**a" * 9)


HOSTILE = [
    *("{*,a}" * 8, "*" + "{a,}*" * 7, "{*a,*aa}" * 7 + "b", "{?*,*?}" * 7, "a*" * 2_000, "{a,b}" * 7 + "*" * 300),
    *("{" * 300, "{a," * 150 + "}" * 150, "{" + "a," * 9_000 + "}", "{a,b}" * 3_000, "[" * 5_000, "{**,a}" * 4 + "b"),
]


@pytest.mark.parametrize("pattern", HOSTILE, ids=lambda text: text[:12])
def test_no_file_pattern_takes_long(pattern):
    paths = ["a" * 255, "/".join(["a" * 50] * 60), "a/" * 2_000 + "a"]

    def look():
        with suppress(BadArguments):
            wanted = compile_glob(pattern, Path("/shop"))
            for path in paths:
                wanted.fullmatch(path)

    assert_takes_less(0.5, look)


@pytest.mark.parametrize("pattern", ["{a,b}" * 8, "{" + "a," * 300 + "}", "{a,b}" + "x" * 19_000, "{" * 300, "{a"])
def test_what_stands_for_too_much_is_refused_in_one_short_sentence(pattern):
    with pytest.raises(BadArguments, match=r"stands for too many|no file pattern|too deep") as caught:
        compile_glob(pattern, Path("/shop"))
    assert len(str(caught.value)) < 400
