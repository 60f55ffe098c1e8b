"""grep, with and without ripgrep."""

import asyncio
import math
import os
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.errors import BadArguments, FileProblem, Unread
from codeagent.core.messages import SearchDetails
from codeagent.tools.grep_engines import Search, by_ripgrep, by_walk
from codeagent.tools.pattern import compile_pattern
from codeagent.tools.walk import find_ripgrep

needs_ripgrep = pytest.mark.skipif(find_ripgrep() is None, reason="compares with ripgrep")


def test_matches_stand_under_their_file_in_the_order_of_names(searching):
    searching.put("b/z.py", "import os\nx = 1\nimport re\n")
    searching.put("b.py", "import os")
    searching.put("a.py", "no")
    result = searching.run("grep", pattern="^import")
    assert result.text == "b/z.py\n1→import os\n3→import re\n\nb.py\n1→import os"
    assert result.details == SearchDetails(matches=3, files=2)


def test_context_lines_come_in_groups(searching):
    searching.put("a.txt", "".join(f"{n}\n" for n in range(1, 21)))
    text = searching.text("grep", pattern="^(3|5|15)$", context=1)
    assert text == "a.txt\n2→2\n3→3\n4→4\n5→5\n6→6\n--\n14→14\n15→15\n16→16"


def test_a_hundred_matches_are_shown_and_that_there_are_more(searching):
    searching.put("a.txt", "x\n" * 60)
    searching.put("b.txt", "x\n" * 60)
    result = searching.run("grep", pattern="x")
    assert result.text.endswith("40→x\n\n[more than these 100 matches; narrow the pattern, path or glob]")
    assert result.details == SearchDetails(matches=100, files=2, truncated=True)


def test_exactly_a_hundred_matches_are_all(searching):
    searching.put("a.txt", "x\n" * 100 + "y\n")
    assert not searching.run("grep", pattern="x", context=1).details.truncated


def test_another_name_of_a_secret_file_is_skipped_as_well(searching):
    secret = searching.put(".env", "word\n")
    searching.put("sub/plain.txt", "word\n")
    for name in ("plain.txt", "sub/a.txt"):
        os.link(secret, secret.parent / name)
    assert searching.text("grep", pattern="word") == "sub/plain.txt\n1→word"
    assert searching.text("grep", pattern="word", path="sub") == "sub/plain.txt\n1→word"


def test_ignored_binary_and_secret_files_are_skipped_and_hidden_ones_are_not(searching):
    searching.put(".gitignore", "build/\n*.log\n!keep.log\n")
    for name in ("build/a", "x.log", ".env", "id_rsa", "sub/server.key", ".git/config", ".codeagent-tmp-1-2-3"):
        searching.put(name, "word\n")
    searching.put("binary", b"word\n" + b"x" * 100_000 + b"\0")
    for name in ("keep.log", ".github/w.yml", ".env.example"):
        searching.put(name, "word\n")
    names = searching.text("grep", pattern="word").split("\n\n")
    assert [name.split("\n")[0] for name in names] == [".env.example", ".github/w.yml", "keep.log"]


def test_nothing_found_tells_nothing_of_secret_files(searching):
    searching.put(".env", "PASSWORD=hunter2\n")
    found, absent = searching.text("grep", pattern="hunter2"), searching.text("grep", pattern="hunter3")
    assert found == absent
    assert "secret files were not searched" in found


def test_nested_ignore_files_and_those_above_hold(searching):
    searching.put(".git/HEAD", "")
    searching.put(".gitignore", "*.tmp\n/only-here\n")
    searching.put("a/.gitignore", "!yes.tmp\nlocal\n")
    searching.put("a/.ignore", "dot\n")
    for name in ("a/no.tmp", "a/yes.tmp", "a/local", "a/dot", "a/only-here", "only-here"):
        searching.put(name, "word\n")
    assert searching.text("grep", pattern="word", path="a").split("\n\n") == [
        "a/only-here\n1→word",
        "a/yes.tmp\n1→word",
    ]


def test_a_file_named_outright_is_searched_though_ignored(searching):
    searching.put(".gitignore", "*.log\nbuild\n")
    searching.put("x.log", "word\n")
    searching.put("build/y", "word\n")
    assert searching.text("grep", pattern="word", path="x.log") == "x.log\n1→word"
    assert searching.text("grep", pattern="word", path="build") == "build/y\n1→word"


def test_a_glob_chooses_files_and_does_not_bring_ignored_ones_back(searching):
    searching.put(".gitignore", "gen.py\n")
    for name in ("a.py", "src/b.py", "src/c.ts", "src/deep/d.tsx", "gen.py"):
        searching.put(name, "word\n")

    def found(glob):
        return [part.split("\n")[0] for part in searching.text("grep", pattern="word", glob=glob).split("\n\n")]

    assert found("*.py") == ["a.py", "src/b.py"]
    assert found("src/**/*.{ts,tsx}") == ["src/c.ts", "src/deep/d.tsx"]


def test_links_are_not_followed(searching):
    outside = searching.root.parent / "home" / "s.txt"
    outside.write_text("word\n")
    (searching.root / "file").symlink_to(outside)
    (searching.root / "folder").symlink_to(outside.parent)
    assert "no matches" in searching.text("grep", pattern="word")


def test_line_endings_and_encodings_do_not_matter(searching):
    searching.put("a.txt", b"word\r\nnext\r\n")
    searching.put("b.txt", "\ufeffword\nnext\n".encode("utf-16-le"))
    searching.put("c.txt", b"\xef\xbb\xbfword\n")
    searching.put("d.txt", b"caf\xe9 word\n")
    text = searching.text("grep", pattern="word$")
    assert text == "a.txt\n1→word\n\nb.txt\n1→word\n\nc.txt\n1→word\n\nd.txt\n1→caf\ufffd word"


def test_names_with_odd_characters_stay_on_one_line(searching):
    searching.put("a\nb.txt", "word\n")
    searching.put("ä ö.txt", "word\n")
    assert searching.text("grep", pattern="word") == '"a\\nb.txt"\n1→word\n\nä ö.txt\n1→word'


def test_long_lines_are_cut_around_the_match(searching):
    searching.put("a.txt", "x" * 5000 + "word" + "y" * 5000 + "\n")
    line = searching.text("grep", pattern="word").split("\n")[1]
    assert "xwordy" in line
    assert len(line) < 600


def test_plain_text_is_taken_literally(searching):
    searching.put("a.txt", "a.b(c)[d]{e}\\n$ & -- ~~\naxb\n")
    text = searching.text("grep", pattern="a.b(c)[d]{e}\\n$ & -- ~~", literal=True)
    assert text.count("→") == 1


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("(?i)CLASS", [1]),
        (r"class \w+\(", [1]),
        ("interface{}", [2]),
        (r"\"quoted\"", [3]),
        (r"a\/b", [4]),
        ("[[:digit:]]{3}", [5]),
        ("x{2,}", [6]),
        ("wx{,1}y", [7]),
        ("[]^-]z", [8]),
        (r"\bclass\b", [1]),
        ("^$", [9]),
        (r"\p{Lu}mlaut", [10]),
        ("[a&&b]w", [11]),
        (r"tab\tbed", [12]),
        ("func(?:tion)? f", [13]),
        ("end$", [14]),
        (r"\x41\u0042", [15]),
        ("{", [2]),
    ],
)
def test_both_engines_read_a_pattern_alike(searching, pattern, lines):
    searching.put(
        "a.txt",
        'class A(B):\nvar x interface{}\nsay "quoted"\na/b\n 123\nxx\nwy\n]z\n\nÜmlaut\n&w\ntab\tbed\n'
        "function f\nthe end\nAB\n",
    )
    text = searching.text("grep", pattern=pattern)
    assert [int(line.split("→")[0]) for line in text.split("\n")[1:]] == lines


@pytest.mark.parametrize(
    "pattern",
    [
        "", "a\nb", "(?=x)", "(?!x)", "(?<=x)y", "(?<!x)y", r"(a)\1", "a++", "(?>a)", "(?P<n>a)(?P=n)", "(", "[a",
        r"\K", r"\Z", r"\A", r"a\n", "*a", "a\\", r"\<a", "(?x)a b", "(?#c)", "(?R)", "a(?i)b",
    ],
)  # fmt: skip
def test_what_only_one_engine_knows_is_refused_clearly(searching, pattern):
    searching.put("a.txt", "a\n")
    with pytest.raises(BadArguments, match=r"pattern"):
        searching.run("grep", pattern=pattern)


def test_whole_lines_shown_may_be_edited_and_cut_ones_not(searching):
    searching.put("a.txt", "one\r\ntwo word\r\n" + "word " * 500 + "\r\n")
    searching.run("grep", pattern="word")
    searching.run("edit", path="a.txt", old="two word", new="2")
    with pytest.raises(Unread):
        searching.run("edit", path="a.txt", old="one", new="1")


def test_a_missing_place_is_an_error(searching):
    with pytest.raises(FileProblem, match="does not exist"):
        searching.run("grep", pattern="x", path="gone")


@pytest.mark.parametrize(
    "pattern",
    [
        "a{1000000000}",
        "[a-z]{99999999999999999999}",
        ".{2,1000000}",
        "(?:a{1000}){1000}",
        "((a{100}b){100}c){100}",
        "(a{90000})(b{90000})",
        "x" + "(" * 100_000,
        "(" * 5_000 + "a" + ")" * 5_000,
    ],
)
def test_a_pattern_that_would_take_all_memory_to_compile_is_refused(pattern):
    with pytest.raises(BadArguments, match=r"repeats too much|nested too deep"):
        compile_pattern(pattern, literal=False)


def test_a_pattern_that_explodes_is_broken_off(tmp_path):
    (tmp_path / "a.txt").write_text("a" * 60 + "b\n")
    (tmp_path / "b.txt").write_text("aa\n")
    _, pattern = compile_pattern("(a|aa)+$", literal=False)
    search = Search(folder=tmp_path, name="", common="", pattern=pattern, context=0, most_in_file=9, deadline=math.inf)
    began = time.monotonic()
    found = list(by_walk(search, threading.Event()))
    assert time.monotonic() - began < 60  # unbroken it takes for ever
    assert [(hits.name, bool(hits.problem)) for hits in found] == [("a.txt", True), ("b.txt", False)]


async def test_cancelling_stops_the_search(tmp_path):
    for number in range(300):
        (tmp_path / f"{number}.txt").write_text("a" * 60 + "b\n")
    stop = threading.Event()
    _, pattern = compile_pattern("(a|aa)+$", literal=False)
    search = Search(folder=tmp_path, name="", common="", pattern=pattern, context=0, most_in_file=9, deadline=math.inf)

    def look():
        return sum(1 for _ in by_walk(search, stop))

    async with asyncio.TaskGroup() as group:
        looking = group.create_task(asyncio.to_thread(look))
        await asyncio.sleep(0.2)
        stop.set()
        began = time.monotonic()
        await looking
    assert time.monotonic() - began < 60  # all files take many minutes


@pytest.mark.parametrize("ripgrep", [pytest.param("rg", marks=needs_ripgrep), ""])
def test_a_search_that_runs_out_of_time_says_so(tmp_path, ripgrep):
    (tmp_path / "a.txt").write_text("word\n")
    _, pattern = compile_pattern("word", literal=False)
    search = Search(folder=tmp_path, name="", common="word", pattern=pattern, context=0, most_in_file=9, deadline=0)
    stop = threading.Event()
    found = list(by_ripgrep(search, ripgrep, stop) if ripgrep else by_walk(search, stop))
    assert [hits.problem for hits in found] == ["out of time; the files after these were not searched"]


@needs_ripgrep
async def test_cancelling_ends_ripgrep(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    _, pattern = compile_pattern("x", literal=False)
    search = Search(
        folder=tmp_path, name="pipe", common="x", pattern=pattern, context=0, most_in_file=9, deadline=math.inf
    )
    stop = threading.Event()
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(asyncio.to_thread(lambda: list(by_ripgrep(search, find_ripgrep() or "", stop))))
        await asyncio.sleep(0.3)
        stop.set()
        async with asyncio.timeout(20):  # nobody writes into the pipe, so only the stop ends it
            assert await looking == []


async def test_the_screen_stays_alive_while_many_files_are_searched(searching):
    for number in range(3000):
        searching.put(f"d{number % 30}/{number}.py", "x = 1\n" * 20)
    longest = 0.0

    async def beat():
        nonlocal longest
        clock = asyncio.get_running_loop().time
        while True:
            last = clock()
            await asyncio.sleep(0.005)
            longest = max(longest, clock() - last)

    async with asyncio.TaskGroup() as group:
        beating = group.create_task(beat())
        await searching.run_async("grep", lambda _: None, pattern="nowhere")
        await searching.run_async("glob", lambda _: None, pattern="**")
        beating.cancel()
    assert longest < 0.3


ATOMS = st.sampled_from(
    ["a", "b", ".", r"\w", r"\d", r"\s", r"\b", "[ab]", "[^a]", "é", "(?:ab|a)", "(a)", r"\.", "^", "$", "{", "}",
     "a{2}", "(?i)A", "(?i:B)", r"\p{L}", "-", "#", "&&", "[a-b&&b]", "[[]", "[]]", "/", " ", "|", r"[\w-]", r"[^\s]"]
)  # fmt: skip
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{1,2}", "*?"])
LINES = st.lists(st.text(alphabet="abAB é.1-{}#&[]/\t", max_size=8), max_size=4)


@needs_ripgrep
@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.tuples(ATOMS, REPEATS), min_size=1, max_size=4),
    lines=LINES,
    ending=st.sampled_from(["\n", "\r\n"]),
    is_ended=st.booleans(),
)
def test_both_engines_find_the_same_lines(tmp_path_factory, parts, lines, ending, is_ended):
    folder = tmp_path_factory.mktemp("tree")
    (folder / "a.txt").write_bytes((ending.join(lines) + (ending if is_ended else "")).encode())
    try:
        common, pattern = compile_pattern("".join(map("".join, parts)), literal=False)
    except BadArguments:
        return
    search = Search(
        folder=folder, name="", common=common, pattern=pattern, context=0, most_in_file=9, deadline=math.inf
    )
    stop = threading.Event()
    found = list(by_ripgrep(search, find_ripgrep() or "", stop))
    assert [[(hit.number, hit.text) for hit in hits.hits] for hits in found] == [
        [(hit.number, hit.text) for hit in hits.hits] for hits in by_walk(search, stop)
    ]
