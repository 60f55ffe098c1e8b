import asyncio

import pytest

from codeagent.core.diff import apply_hunks
from codeagent.core.errors import NoMatch, PlanFixed, StaleFile, Unread
from codeagent.core.messages import ChangeDetails

TEN = "".join(f"line {n}\n" for n in range(1, 31))
TWO_PLACES = [{"old": "line 2\n", "new": "LINE 2\n"}, {"old": "line 29\n", "new": "LINE 29\n"}]


def shown(plan):
    """The file as the diff says it will be."""
    before = plan.change.before_text
    return apply_hunks(before or "", plan.preview.diff)


@pytest.mark.parametrize("spoil", ["append", "same size", "delete"])
def test_a_file_that_changed_while_it_was_asked_is_not_written(at, spoil):
    path = at.known("a.txt", "one\ntwo\n")
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
    path = at.known("a.txt", "one\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.touch()
    at.go(plan)
    assert path.read_text() == "1\n"


def test_a_stale_edit_is_planned_anew_on_the_new_text(at):
    path = at.known("a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.write_text("zero\none\ntwo\n")
    again = asyncio.run(plan.rebuilt())
    assert shown(again) == "zero\n1\ntwo\n"
    assert any("changed meanwhile" in note for note in again.preview.notes)
    text = at.go(again).text
    assert path.read_text() == "zero\n1\ntwo\n"
    assert "Read it again before the next edit" in text


def test_after_an_edit_on_new_text_only_the_written_lines_are_known(at):
    path = at.known("a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.write_text("person\none\n")
    at.go(asyncio.run(plan.rebuilt()))
    at.plan("edit", path="a.txt", old="1", new="2")
    with pytest.raises(Unread):
        at.plan("edit", path="a.txt", old="person", new="x")


def test_an_edit_whose_place_is_gone_is_not_planned_anew(at):
    path = at.known("a.txt", "one\ntwo\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    path.write_text("eins\ntwo\n")
    with pytest.raises(NoMatch):
        asyncio.run(plan.rebuilt())


def test_a_stale_write_is_not_planned_anew(at):
    path = at.known("a.txt", "one\n")
    plan = at.plan("write", path="a.txt", content="model\n")
    path.write_text("person\n")
    with pytest.raises(StaleFile):
        asyncio.run(plan.rebuilt())


def test_only_the_approved_hunks_are_written_and_the_model_is_told(at):
    path = at.known("a.txt", TEN)
    plan = at.plan("edit", path="a.txt", edits=TWO_PLACES).narrowed(frozenset({1}))
    assert shown(plan) == TEN.replace("line 29\n", "LINE 29\n")
    text = at.go(plan).text
    assert path.read_text() == shown(plan)
    assert "approved 1 of 2 parts" in text
    assert "Not applied, at line 2 of the old file" in text


def test_a_narrowed_rewrite_leaves_only_known_lines_known(at):
    path = at.known("a.txt", TEN)
    content = TEN.replace("line 2\n", "LINE 2\n").replace("line 29\n", "LINE 29\n")
    at.go(at.plan("write", path="a.txt", content=content).narrowed(frozenset({0})))
    assert path.read_text() == TEN.replace("line 2\n", "LINE 2\n")
    at.run("edit", path="a.txt", old="line 29\n", new="x\n")


@pytest.mark.parametrize("hunks", [frozenset(), frozenset({2}), frozenset({-1})])
def test_hunks_that_are_not_there_cannot_be_chosen(at, hunks):
    at.known("a.txt", TEN)
    with pytest.raises(PlanFixed):
        at.plan("edit", path="a.txt", edits=TWO_PLACES).narrowed(hunks)


def test_all_hunks_are_the_whole_plan(at):
    at.known("a.txt", TEN)
    plan = at.plan("edit", path="a.txt", edits=TWO_PLACES)
    assert plan.narrowed(frozenset({0, 1})) is plan


def test_the_person_s_own_text_is_written_and_the_model_sees_the_difference(at):
    path = at.known("a.txt", b"one\r\ntwo\r\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    mine = asyncio.run(plan.edited("uno\ntwo\n"))
    assert shown(mine) == "uno\r\ntwo\r\n"
    result = at.go(mine)
    text = result.text
    assert path.read_bytes() == b"uno\r\ntwo\r\n"
    assert isinstance(result.details, ChangeDetails)
    assert result.details.is_edited
    assert "The person edited your text" in text
    assert "-1\n+uno" in text


def test_text_left_as_it_was_is_no_edit(at):
    at.known("a.txt", "one\n")
    plan = at.plan("edit", path="a.txt", old="one", new="1")
    assert asyncio.run(plan.edited("1\n")) is plan


def test_a_plan_of_a_look_cannot_be_narrowed_or_edited(at):
    plan = at.plan("ls")
    with pytest.raises(PlanFixed):
        plan.narrowed(frozenset({0}))
    with pytest.raises(PlanFixed):
        asyncio.run(plan.edited("x"))
