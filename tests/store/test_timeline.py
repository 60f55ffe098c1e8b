"""Taking back and bringing back: only what the agent changed, with what the person did since kept."""

import json
import os

import pytest

from codeagent.core.changes import Standing
from codeagent.core.errors import NothingToUndo, StaleFile
from codeagent.core.events import ConversationRestored, ConversationRewound
from codeagent.store.change_store import Pending


def content(ground, name="a.txt"):
    return (ground.root / name).read_text()


async def test_undo_takes_back_the_last_call_and_then_the_one_before(ground, tree_of):
    start = tree_of(ground.root)
    await ground.write("new/deep/c.txt", "c\n")
    middle = tree_of(ground.root)
    await ground.bash("echo six >> a.txt; mv sub/b.txt sub/c.txt")
    assert await ground.undo() == "Took back bash echo six >> a.txt; mv sub/b.txt sub/c.txt: 3 files."
    assert tree_of(ground.root) == middle
    await ground.undo()
    assert tree_of(ground.root) == start
    with pytest.raises(NothingToUndo):
        await ground.undo()


async def test_redo_brings_back_in_order_until_something_new_happens(ground, tree_of):
    await ground.write("c.txt", "c\n")
    await ground.bash("mkdir -p d/e; echo e > d/e/f; chmod 600 c.txt")
    end = tree_of(ground.root)
    await ground.undo()
    await ground.undo()
    await ground.redo()
    await ground.redo()
    assert tree_of(ground.root) == end
    await ground.undo()
    await ground.write("z.txt", "z\n")
    with pytest.raises(NothingToUndo):
        await ground.redo()


async def test_an_undo_after_a_redo_takes_back_the_same_again(ground, tree_of):
    start = tree_of(ground.root)
    await ground.bash("echo x >> a.txt")
    for _ in range(3):
        await ground.undo()
        assert tree_of(ground.root) == start
        await ground.redo()
        assert content(ground).endswith("x\n")


async def test_the_preview_shows_just_what_happens_then(ground):
    await ground.bash("echo six >> a.txt")
    reversal = await ground.timeline.plan_undo()
    (file,) = reversal.files
    assert (file.path, file.standing, file.diff.added, file.diff.removed) == ("a.txt", Standing.CLEAN, 0, 1)


async def test_what_the_person_never_shared_with_the_agent_stays(ground):
    (ground.root / "data").mkdir()
    (ground.root / "data" / "big.bin").write_bytes(b"\0" * 1000)
    (ground.root / "ignored.env").write_text("KEY=1")
    await ground.write("new.txt", "n\n")
    (ground.root / "sub" / "b.txt").write_text("mine since\n")
    (ground.root / "since.txt").write_text("mine since\n")
    await ground.undo()
    assert not (ground.root / "new.txt").exists()
    assert content(ground, "sub/b.txt") == content(ground, "since.txt") == "mine since\n"
    assert (ground.root / "data" / "big.bin").stat().st_size == 1000
    assert content(ground, "ignored.env") == "KEY=1"


async def test_later_changes_of_the_person_elsewhere_in_the_file_are_kept(ground):
    await ground.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n")
    (ground.root / "a.txt").write_text("ONE\ntwo\nthree\nfour\nFIVE\n")
    reversal = await ground.timeline.plan_undo()
    assert [file.standing for file in reversal.files] == [Standing.MERGED]
    await ground.timeline.carry_out(reversal)
    assert content(ground) == "one\ntwo\nthree\nfour\nFIVE\n"
    await ground.redo()
    assert content(ground) == "ONE\ntwo\nthree\nfour\nFIVE\n"


async def test_later_changes_in_the_same_place_are_a_question(ground):
    await ground.write("c.txt", "c\n")
    await ground.bash("echo agent > a.txt; echo agent > c.txt")
    (ground.root / "a.txt").write_text("person\n")
    reversal = await ground.timeline.plan_undo()
    assert [(file.path, file.standing) for file in reversal.files] == [
        ("a.txt", Standing.CONFLICT),
        ("c.txt", Standing.CLEAN),
    ]
    assert "a.txt was left as you changed it" in await ground.timeline.carry_out(reversal)
    assert (content(ground), content(ground, "c.txt")) == ("person\n", "c\n")


async def test_a_conflict_can_be_overwritten_and_that_too_can_be_taken_back(ground):
    await ground.bash("echo agent > a.txt")
    (ground.root / "a.txt").write_text("person\n")
    await ground.undo(overwrites=True)
    assert content(ground) == "one\ntwo\nthree\nfour\nfive\n"
    await ground.redo()
    assert content(ground) == "person\n"


@pytest.mark.parametrize(
    ("agent", "person", "expected"),
    [
        ("echo x > c.txt", "rm", None),  # made by the agent, removed by the person: nothing to do
        ("echo x > c.txt", "mine\n", Standing.CONFLICT),
        ("rm a.txt", "mine\n", Standing.CONFLICT),
        ("chmod 600 a.txt", "changed\n", Standing.MERGED),
    ],
)
async def test_files_that_came_and_went_are_judged_as_well(ground, agent, person, expected):
    await ground.bash(agent)
    path = ground.root / ("c.txt" if "c.txt" in agent else "a.txt")
    if person == "rm":
        path.unlink()
    else:
        path.write_text(person)
    reversal = await ground.timeline.plan_undo()
    assert [file.standing for file in reversal.files] == ([expected] if expected else [])


async def test_a_file_that_changes_under_the_preview_stops_it_all(ground):
    await ground.bash("echo agent > a.txt; echo agent > c.txt")
    reversal = await ground.timeline.plan_undo()
    (ground.root / "a.txt").write_text("person\n")
    with pytest.raises(StaleFile):
        await ground.timeline.carry_out(reversal)
    assert (content(ground), content(ground, "c.txt")) == ("person\n", "agent\n")


async def test_a_preview_is_carried_out_once(ground):
    await ground.bash("echo agent > a.txt")
    reversal = await ground.timeline.plan_undo()
    await ground.timeline.carry_out(reversal)
    with pytest.raises(StaleFile):
        await ground.timeline.carry_out(reversal)


async def test_a_rewind_takes_back_whole_turns_and_keeps_what_the_person_did_between(ground, tree_of):
    ground.turn(1)
    await ground.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n")
    ground.turn(2)
    await ground.bash("echo x > x.txt")
    (ground.root / "a.txt").write_text("ONE\ntwo\nthree\nfour\nfive mine\n")
    ground.turn(3)
    await ground.bash("sed -i s/three/THREE/ a.txt; rm sub/b.txt")
    reversal = await ground.timeline.plan_rewind(2)
    assert {file.path for file in reversal.files} == {"a.txt", "sub/b.txt", "x.txt"}
    await ground.timeline.carry_out(reversal)
    assert content(ground) == "ONE\ntwo\nthree\nfour\nfive mine\n"
    assert (ground.root / "sub" / "b.txt").exists()
    await ground.timeline.carry_out(await ground.timeline.plan_rewind(1))
    assert content(ground) == "one\ntwo\nthree\nfour\nfive mine\n"
    await ground.redo()
    await ground.redo()
    assert content(ground) == "ONE\ntwo\nTHREE\nfour\nfive mine\n"


async def test_the_turns_say_what_is_left_of_their_changes(ground):
    ground.turn(1, "first")
    await ground.write("c.txt", "c\n")
    ground.turn(2, "second")
    await ground.write("c.txt", "d\n")
    await ground.bash("echo x > x.txt")
    ground.turn(3, "third")
    turns = await ground.timeline.turns()
    assert [(turn.turn, turn.text, [diff.path for diff in turn.diffs]) for turn in turns] == [
        (1, "first", ["c.txt"]),
        (2, "second", ["c.txt", "x.txt"]),
        (3, "third", []),
    ]
    await ground.undo()
    assert [diff.path for diff in await ground.timeline.changes(2)] == ["c.txt"]
    (diff,) = await ground.timeline.changes()
    assert (diff.added, diff.removed) == (1, 0)


async def test_rewound_turns_are_no_longer_listed_until_they_come_back(ground):
    for turn in (1, 2):
        ground.turn(turn)
    ground.undoing.listen(ConversationRewound(turn=2))
    assert [turn.turn for turn in await ground.timeline.turns()] == [1]
    ground.undoing.listen(ConversationRestored(turn=2))
    assert [turn.turn for turn in await ground.timeline.turns()] == [1, 2]


async def test_all_of_it_survives_a_restart(ground):
    await ground.bash("echo agent > a.txt")
    ground.reopen()
    await ground.undo()
    assert content(ground).startswith("one\n")
    ground.reopen()
    await ground.redo()
    ground.reopen()
    assert content(ground) == "agent\n"
    await ground.undo()
    assert content(ground).startswith("one\n")


async def test_a_torn_last_line_of_the_log_loses_nothing_else(ground):
    await ground.bash("echo agent > a.txt")
    log = ground.state / "sessions" / "s1" / "changes.jsonl"
    with log.open("ab") as file:
        file.write(b'{"id":"c9","kind":"ca')
    ground.reopen()
    await ground.bash("echo more > c.txt")
    ground.reopen()
    await ground.undo()
    await ground.undo()
    assert content(ground).startswith("one\n")
    assert not (ground.root / "c.txt").exists()


async def test_a_crash_in_the_middle_of_an_undo_leaves_both_ways_open(ground):
    await ground.bash("echo agent > a.txt; echo agent > sub/b.txt")
    await ground.undo()
    (ground.root / "sub" / "b.txt").write_text("agent\n")  # as if the second file had not been reached
    ground.reopen()
    await ground.redo()
    assert (content(ground), content(ground, "sub/b.txt")) == ("agent\n", "agent\n")
    await ground.undo()
    assert (content(ground)[:3], content(ground, "sub/b.txt")) == ("one", "b\n")


async def test_folders_made_for_a_file_that_a_crash_kept_from_being_written_go(ground, tree_of):
    before = tree_of(ground.root)
    ground.store.begin(Pending(id="c1", call_id="call1", turn=1, what="write", name="x/y/z", made=("x", "x/y")))
    (ground.root / "x" / "y").mkdir(parents=True)
    ground.reopen()
    with pytest.raises(NothingToUndo):
        await ground.undo()
    assert tree_of(ground.root) == before


async def test_the_model_is_told_of_an_undo_once(ground):
    await ground.bash("echo agent > a.txt")
    await ground.undo()
    ground.reopen()
    (told,) = await ground.undoing.news()
    assert "took back" in told
    assert "a.txt" in told
    assert await ground.undoing.news() == ()


async def test_the_model_is_told_what_the_person_changed_of_what_it_knows(ground):
    for name in ("a.txt", "sub/b.txt"):
        path = ground.root / name
        ground.seen.shown(path.resolve(), path.read_bytes())
    (ground.root / "a.txt").write_text("mine\n")
    (told,) = await ground.undoing.news()
    assert "a.txt" in told
    assert "b.txt" not in told
    assert await ground.undoing.news() == ()


async def test_a_log_of_names_that_are_no_text_is_plain_json(ground):
    await ground.bash("echo x > $'\\xff'")
    line = (ground.state / "sessions" / "s1" / "changes.jsonl").read_text("ascii")
    assert json.loads(line)["changes"][0]["name"] == "%FF"
    ground.reopen()
    await ground.undo()
    assert not (ground.root / "\udcff").exists()


async def test_a_link_that_someone_puts_in_the_way_is_not_followed(ground, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("agent\n")
    await ground.bash("echo agent > sub/b.txt")
    (ground.root / "sub" / "b.txt").unlink()
    (ground.root / "sub").rmdir()
    (ground.root / "sub").symlink_to(outside)
    said = await ground.undo(overwrites=True)
    assert "link" in said or "left" in said
    assert (outside / "b.txt").read_text() == "agent\n"


async def test_a_private_file_is_never_readable_by_others_while_it_comes_back(ground, monkeypatch):
    (ground.root / "key.txt").write_text("k\n")
    (ground.root / "key.txt").chmod(0o600)
    await ground.bash("rm key.txt")
    made = []
    really = os.open
    monkeypatch.setattr(os, "open", lambda *words, **more: made.append(words) or really(*words, **more))
    await ground.undo()
    assert (ground.root / "key.txt").stat().st_mode & 0o777 == 0o600
    assert not [words for words in made if words[1] & os.O_CREAT and words[2:] and words[2] & 0o077]


async def test_a_turn_that_only_summed_up_is_no_place_to_go_back_to(ground):
    for number, text in enumerate(["one", "/compact", "/compact the totals", "/compact\nis what I typed"], 1):
        ground.turn(number, text)
    assert [turn.turn for turn in await ground.timeline.turns()] == [1, 4]
