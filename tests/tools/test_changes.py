"""What write and edit have in common: the diff that was shown is what is written."""

import asyncio

import pytest

from codeagent.core.diff import apply_hunks
from codeagent.core.errors import (
    BadArguments,
    EditRefused,
    FileProblem,
    ManyMatches,
    NoMatch,
    PathRefused,
    PlanFixed,
    StaleFile,
    Unread,
)
from codeagent.core.messages import ChangeDetails

TEN = "".join(f"line {n}\n" for n in range(1, 31))
TWO_PLACES = [{"old": "line 2\n", "new": "LINE 2\n"}, {"old": "line 29\n", "new": "LINE 29\n"}]


def read(at, name, content):
    path = at.put(name, content)
    at.run("read", path=name)
    return path


def shown(plan):
    """The file as the diff says it will be."""
    before = plan.change.before_text
    return apply_hunks(before or "", plan.preview.diff)


# --- write -----------------------------------------------------------------------------------------


def test_a_new_file_is_written_with_its_folders_as_given(at):
    result = at.run("write", path="a/b/c.txt", content="x\r\ny\n")
    assert (at.root / "a/b/c.txt").read_bytes() == b"x\r\ny\n"
    assert result.text == "Created a/b/c.txt (2 lines)."
    assert isinstance(result.details, ChangeDetails)


def test_planning_writes_nothing(at):
    at.plan("write", path="a/b.txt", content="x")
    assert list(at.root.iterdir()) == []


def test_a_file_is_replaced_only_when_all_of_it_was_seen(at):
    path = at.put("a.txt", TEN)
    with pytest.raises(Unread):
        at.plan("write", path="a.txt", content="new")
    at.run("read", path="a.txt", limit=29)
    with pytest.raises(Unread, match="30"):
        at.plan("write", path="a.txt", content="new")
    at.run("read", path="a.txt", offset=30)
    at.run("write", path="a.txt", content="new")
    assert path.read_text() == "new"


def test_an_empty_file_may_be_filled_unread(at):
    path = at.put("a.txt", "")
    at.run("write", path="a.txt", content="x\n")
    assert path.read_text() == "x\n"


def test_what_was_written_is_known_and_may_be_edited_at_once(at):
    at.run("write", path="a.txt", content="one\ntwo\n")
    at.run("edit", path="a.txt", old="two", new="2")
    at.run("write", path="a.txt", content="three\n")
    assert (at.root / "a.txt").read_text() == "three\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfx\r\ny\r\n"),
        (b"a\rb\r", b"x\ry\r"),
        (b"a\r\nb\r\nc\n", b"x\r\ny\r\n"),
        (b"a\nb\nc\r\n", b"x\ny\n"),
        ("a\r\nb\r\n".encode("utf-16"), "x\r\ny\r\n".encode("utf-16")),
        (b"a", b"x\ny\n"),
    ],
)
def test_an_existing_file_keeps_its_form(at, before, after):
    path = read(at, "a.txt", before)
    plan = at.plan("write", path="a.txt", content="x\ny\n")
    at.go(plan)
    assert path.read_bytes() == after


def test_the_diff_says_what_no_line_can_show(at):
    read(at, "a.txt", b"\xef\xbb\xbfa\r\nb\r\n")
    kept = at.plan("write", path="a.txt", content="x\n").preview.diff.notes
    assert kept == ("The byte order mark is kept.", "Line endings stay CRLF.")
    read(at, "b.txt", "a\nb\n")
    changed = at.plan("write", path="b.txt", content="a\r\nb\r\n").preview.diff.notes
    assert changed == ("Line endings change from LF.",)


def test_the_model_is_told_what_was_kept(at):
    read(at, "a.txt", b"a\r\n")
    assert at.text("write", path="a.txt", content="x\n") == "Replaced a.txt.\nLine endings stay CRLF."


def test_a_byte_order_mark_is_not_doubled(at):
    path = read(at, "a.txt", b"\xef\xbb\xbfa\n")
    at.run("write", path="a.txt", content="\ufeffb\n")
    assert path.read_bytes() == b"\xef\xbb\xbfb\n"


def test_the_same_text_again_is_refused(at):
    read(at, "a.txt", "a\r\n")
    with pytest.raises(EditRefused, match="already holds exactly this text"):
        at.plan("write", path="a.txt", content="a\n")


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/", ".", "..", "sub"])
def test_places_that_cannot_be_written_are_refused(at, path):
    (at.root / "sub").mkdir()
    with pytest.raises((PathRefused, FileProblem)):
        at.plan("write", path=path, content="x")


def test_half_a_character_is_refused_before_anything_happens(at):
    with pytest.raises(FileProblem, match="half a character"):
        at.plan("write", path="a.txt", content="x\ud83d")
    assert not (at.root / "a.txt").exists()


def test_a_file_that_appeared_meanwhile_is_not_overwritten(at):
    plan = at.plan("write", path="a.txt", content="model")
    at.put("a.txt", "person")
    with pytest.raises(StaleFile):
        at.go(plan)
    assert (at.root / "a.txt").read_text() == "person"


def test_a_link_stays_a_link_and_the_diff_names_the_real_file(at):
    read(at, "real.txt", "a\n")
    (at.root / "link.txt").symlink_to("real.txt")
    plan = at.plan("write", path="link.txt", content="b\n")
    at.go(plan)
    assert (at.root / "link.txt").is_symlink()
    assert (at.root / "real.txt").read_text() == "b\n"
    assert plan.preview.diff.path == "real.txt"


# --- edit ------------------------------------------------------------------------------------------


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
    read(at, "a.txt", TEN)
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
    read(at, "a.py", "def f():\n    if x:\n        return 1\n")
    result = at.run("edit", path="a.py", old="if x:\n    return 1", new="if x:\n    return 2")
    assert "overlooked: indentation" in result.text
    assert result.details.level == "indentation"


def test_crlf_survives_an_edit_sent_with_lf(at):
    path = read(at, "a.py", b"def f():\r\n    return 1\r\n")
    plan = at.plan("edit", path="a.py", old="def f():\n    return 1", new="def f():\n    return 2")
    assert (plan.preview.diff.added, plan.preview.diff.removed) == (1, 1)
    at.go(plan)
    assert path.read_bytes() == b"def f():\r\n    return 2\r\n"


def test_unknown_bytes_and_marks_survive_an_edit(at):
    latin = read(at, "a.py", b"# Jos\xe9 Mu\xf1oz\nrate = 3\n")
    at.run("edit", path="a.py", old="rate = 3", new="rate = 4")
    assert latin.read_bytes() == b"# Jos\xe9 Mu\xf1oz\nrate = 4\n"
    marked = read(at, "b.py", b"\xef\xbb\xbfa=1\nb=2\n")
    at.run("edit", path="b.py", old="a=1", new="a=3")
    assert marked.read_bytes() == b"\xef\xbb\xbfa=3\nb=2\n"


def test_edits_one_after_the_other_need_no_new_reading(at):
    path = read(at, "a.txt", TEN)
    at.run("edit", path="a.txt", old="line 3\n", new="a\nb\nc\n")
    at.run("edit", path="a.txt", old="line 20\n", new="twenty\n")
    at.run("edit", path="a.txt", old="b\n", new="B\n")
    assert path.read_text() == TEN.replace("line 3\n", "a\nB\nc\n").replace("line 20\n", "twenty\n")


def test_several_edits_happen_together_or_not_at_all(at):
    path = read(at, "a.txt", TEN)
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
    read(at, "a.txt", TEN)
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
    path = read(at, "a.txt", TEN)
    at.run("edit", path="a.txt", **arguments)
    assert path.read_text() == TEN.replace("line 2\n", "x\n")


def test_several_places_are_refused_and_all_of_them_can_be_changed(at):
    path = read(at, "a.txt", "x\nx\n")
    with pytest.raises(ManyMatches):
        at.plan("edit", path="a.txt", old="x", new="y")
    at.run("edit", path="a.txt", old="x", new="y", replace_all=True)
    assert path.read_text() == "y\ny\n"


def test_an_edit_with_empty_old_creates_a_file(at):
    assert at.text("edit", path="new.txt", old="", new="x\n").startswith("Created new.txt.")
    assert (at.root / "new.txt").read_text() == "x\n"


def test_mode_bits_survive(at):
    path = read(at, "run.sh", "echo 1\n")
    path.chmod(0o755)
    at.run("edit", path="run.sh", old="1", new="2")
    assert path.stat().st_mode & 0o777 == 0o755


# --- the person decides ----------------------------------------------------------------------------


@pytest.mark.parametrize("spoil", ["append", "same size", "delete"])
def test_a_file_that_changed_while_it_was_asked_is_not_written(at, spoil):
    path = read(at, "a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    assert not asyncio.run(plan.is_stale())
    if spoil == "delete":
        path.unlink()
    else:
        path.write_text("one\ntwo\nthree\n" if spoil == "append" else "one\ntwO\n")
    left = path.read_bytes() if path.exists() else None
    assert asyncio.run(plan.is_stale())
    with pytest.raises(StaleFile):
        at.go(plan)
    assert (path.read_bytes() if path.exists() else None) == left


def test_a_touched_file_is_no_other_file(at):
    path = read(at, "a.txt", "one\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.touch()
    at.go(plan)
    assert path.read_text() == "1\n"


def test_a_stale_edit_is_planned_anew_on_the_new_text(at):
    path = read(at, "a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.write_text("zero\none\ntwo\n")
    again = asyncio.run(plan.rebuilt())
    assert shown(again) == "zero\n1\ntwo\n"
    text = at.go(again).text
    assert path.read_text() == "zero\n1\ntwo\n"
    assert "Read it again before the next edit" in text


def test_after_an_edit_on_new_text_only_the_written_lines_are_known(at):
    path = read(at, "a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.write_text("person\none\n")
    at.go(asyncio.run(plan.rebuilt()))
    at.plan("edit", path="a.txt", old="1", new="2")
    with pytest.raises(Unread):
        at.plan("edit", path="a.txt", old="person", new="x")


def test_an_edit_whose_place_is_gone_is_not_planned_anew(at):
    path = read(at, "a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.write_text("eins\ntwo\n")
    with pytest.raises(NoMatch):
        asyncio.run(plan.rebuilt())


def test_a_stale_write_is_not_planned_anew(at):
    path = read(at, "a.txt", "one\n")
    plan = at.plan("write", path="a.txt", content="model\n")
    path.write_text("person\n")
    with pytest.raises(StaleFile):
        asyncio.run(plan.rebuilt())


def test_only_the_approved_hunks_are_written_and_the_model_is_told(at):
    path = read(at, "a.txt", TEN)
    plan = at.plan("edit", path="a.txt", edits=TWO_PLACES).narrowed(frozenset({1}))
    assert shown(plan) == TEN.replace("line 29\n", "LINE 29\n")
    text = at.go(plan).text
    assert path.read_text() == shown(plan)
    assert "approved 1 of 2 parts" in text
    assert "Not applied, at line 2 of the old file" in text


def test_a_narrowed_rewrite_leaves_only_known_lines_known(at):
    path = read(at, "a.txt", TEN)
    content = TEN.replace("line 2\n", "LINE 2\n").replace("line 29\n", "LINE 29\n")
    at.go(at.plan("write", path="a.txt", content=content).narrowed(frozenset({0})))
    assert path.read_text() == TEN.replace("line 2\n", "LINE 2\n")
    at.run("edit", path="a.txt", old="line 29\n", new="x\n")


@pytest.mark.parametrize("hunks", [frozenset(), frozenset({2}), frozenset({-1})])
def test_hunks_that_are_not_there_cannot_be_chosen(at, hunks):
    read(at, "a.txt", TEN)
    with pytest.raises(PlanFixed):
        at.plan("edit", path="a.txt", edits=TWO_PLACES).narrowed(hunks)


def test_all_hunks_are_the_whole_plan(at):
    read(at, "a.txt", TEN)
    plan = at.plan("edit", path="a.txt", edits=TWO_PLACES)
    assert plan.narrowed(frozenset({0, 1})) is plan


def test_the_person_s_own_text_is_written_and_the_model_sees_the_difference(at):
    path = read(at, "a.txt", b"one\r\ntwo\r\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    mine = asyncio.run(plan.edited("uno\ntwo\n"))
    assert shown(mine) == "uno\r\ntwo\r\n"
    text = at.go(mine).text
    assert path.read_bytes() == b"uno\r\ntwo\r\n"
    assert "The person edited your text" in text
    assert "-1\n+uno" in text


def test_text_left_as_it_was_is_no_edit(at):
    read(at, "a.txt", "one\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    assert asyncio.run(plan.edited("1\n")) is plan


def test_a_plan_of_a_look_cannot_be_narrowed_or_edited(at):
    plan = at.plan("ls")
    with pytest.raises(PlanFixed):
        plan.narrowed(frozenset({0}))
    with pytest.raises(PlanFixed):
        asyncio.run(plan.edited("x"))
