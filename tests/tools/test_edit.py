import pytest

from codeagent.core.errors import BadArguments, ManyMatches, NoMatch, Unread

TEN = "".join(f"line {n}\n" for n in range(1, 31))
TWO_PLACES = [{"old": "line 2\n", "new": "LINE 2\n"}, {"old": "line 29\n", "new": "LINE 29\n"}]


def test_an_edit_needs_its_place_read_and_only_that(at):
    path = at.put("a.txt", TEN)
    with pytest.raises(Unread):
        at.plan("edit", path="a.txt", old="line 7\n", new="seven\n")
    at.run("read", path="a.txt", offset=8, limit=2)
    with pytest.raises(Unread, match="offset 7, limit 1"):
        at.plan("edit", path="a.txt", old="line 7\n", new="seven\n")
    at.run("edit", path="a.txt", old="line 9\n", new="nine\n")
    assert path.read_text() == TEN.replace("line 9\n", "nine\n")


def test_an_edit_says_where_and_how_and_shows_a_short_diff(at):
    at.known("a.txt", TEN)
    result = at.run("edit", path="a.txt", old="line 7\n", new="seven\n")
    assert result.text.splitlines() == [
        "Edited a.txt at line 7.",
        "@@ line 4 @@",
        " line 4",
        " line 5",
        " line 6",
        "-line 7",
        "+seven",
        " line 8",
        " line 9",
        " line 10",
    ]


def test_an_edit_that_overlooked_something_says_what(at):
    at.known("a.py", "def f():\n    if x:\n        return 1\n")
    result = at.run("edit", path="a.py", old="if x:\n    return 1", new="if x:\n    return 2")
    assert "overlooked: indentation" in result.text
    assert result.details.level == "indentation"


def test_the_person_is_told_what_was_overlooked_before_anything_is_written(at):
    at.known("a.py", "def f():\n    if x:\n        return 1\n")
    loose = at.plan("edit", path="a.py", old="if x:\n    return 1", new="if x:\n    return 2")
    exact = at.plan("edit", path="a.py", old="return 1", new="return 2")
    assert ["overlooked: indentation" in note for note in loose.preview.notes] == [True]
    assert exact.preview.notes == ()


def test_crlf_survives_an_edit_sent_with_lf(at):
    path = at.known("a.py", b"def f():\r\n    return 1\r\n")
    plan = at.plan("edit", path="a.py", old="def f():\n    return 1", new="def f():\n    return 2")
    assert (plan.preview.diff.added, plan.preview.diff.removed) == (1, 1)
    at.go(plan)
    assert path.read_bytes() == b"def f():\r\n    return 2\r\n"


def test_unknown_bytes_and_marks_survive_an_edit(at):
    latin = at.known("a.py", b"# Jos\xe9 Mu\xf1oz\nrate = 3\n")
    at.run("edit", path="a.py", old="rate = 3", new="rate = 4")
    assert latin.read_bytes() == b"# Jos\xe9 Mu\xf1oz\nrate = 4\n"
    marked = at.known("b.py", b"\xef\xbb\xbfa=1\nb=2\n")
    at.run("edit", path="b.py", old="a=1", new="a=3")
    assert marked.read_bytes() == b"\xef\xbb\xbfa=3\nb=2\n"


def test_edits_one_after_the_other_need_no_new_reading(at):
    path = at.known("a.txt", TEN)
    at.run("edit", path="a.txt", old="line 3\n", new="a\nb\nc\n")
    at.run("edit", path="a.txt", old="line 20\n", new="twenty\n")
    at.run("edit", path="a.txt", old="b\n", new="B\n")
    assert path.read_text() == TEN.replace("line 3\n", "a\nB\nc\n").replace("line 20\n", "twenty\n")


def test_several_edits_happen_together_or_not_at_all(at):
    path = at.known("a.txt", TEN)
    with pytest.raises(NoMatch):
        at.plan("edit", path="a.txt", edits=[TWO_PLACES[0], {"old": "nowhere", "new": "x"}])
    at.run("edit", path="a.txt", edits=TWO_PLACES)
    assert path.read_text() == TEN.replace("line 2\n", "LINE 2\n").replace("line 29\n", "LINE 29\n")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"old": "x"},
        {"new": "x"},
        {"old": "x", "new": "y", "edits": TWO_PLACES},
        {"edits": TWO_PLACES, "replace_all": True},
        {"edits": []},
    ],
)
def test_arguments_that_do_not_go_together_are_refused(at, arguments):
    at.known("a.txt", TEN)
    with pytest.raises(BadArguments):
        at.plan("edit", path="a.txt", **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"old": "line 2\n", "new": "x\n", "edits": []},
        {"old": "", "new": "", "edits": [{"old": "line 2\n", "new": "x\n"}]},
        {"edits": [{"old": "line 2\n", "new": "x\n"}], "replace_all": True},
    ],
)
def test_arguments_sent_empty_are_as_good_as_missing(at, arguments):
    path = at.known("a.txt", TEN)
    at.run("edit", path="a.txt", **arguments)
    assert path.read_text() == TEN.replace("line 2\n", "x\n")


def test_several_places_are_refused_and_all_of_them_can_be_changed(at):
    path = at.known("a.txt", "x\nx\n")
    with pytest.raises(ManyMatches):
        at.plan("edit", path="a.txt", old="x", new="y")
    at.run("edit", path="a.txt", old="x", new="y", replace_all=True)
    assert path.read_text() == "y\ny\n"


def test_an_edit_with_empty_old_creates_a_file(at):
    assert at.text("edit", path="new.txt", old="", new="x\n").startswith("Created new.txt.")
    assert (at.root / "new.txt").read_text() == "x\n"


def test_mode_bits_survive(at):
    path = at.known("run.sh", "echo 1\n")
    path.chmod(0o755)
    at.run("edit", path="run.sh", old="1", new="2")
    assert path.stat().st_mode & 0o777 == 0o755
