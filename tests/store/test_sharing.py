"""A copy of a session takes back what the shared conversation changed; a deleted one leaves nothing of its own."""

import pytest

from codeagent.core.errors import NothingToUndo
from codeagent.core.events import TurnEnd, TurnEnded, TurnStarted
from codeagent.store.archive import SessionArchive
from codeagent.store.exporting import exported
from codeagent.store.journal import JournalFile
from codeagent.store.sessions import Sessions


@pytest.fixture
def sessions(repository, tmp_path):
    return Sessions(tmp_path / "data", repository)


@pytest.fixture
def archive(sessions, tmp_path):
    return SessionArchive(sessions, str, exported, tmp_path / "checkpoints")


@pytest.fixture
def ground(repository, sessions, grounds, tmp_path):
    return grounds(repository, tmp_path / "checkpoints" / sessions.folder.name)


async def keep(sessions, session_id, turns):
    journal = JournalFile(sessions.path(session_id), redact=str)
    for number in range(1, turns + 1):
        await journal.append(TurnStarted(turn=number, text=f"message {number}"))
        await journal.append(TurnEnded(turn=number, reason=TurnEnd.DONE, text="done"))
    journal.close()
    sessions.settle()


@pytest.fixture
async def three_turns(ground, sessions, tree_of):
    """A session of three turns, each with a change; the trees before each and at the end."""
    trees = [tree_of(ground.root)]
    for number, command in enumerate(("echo 1 >> a.txt", "echo 2 > new.txt", "rm sub/b.txt"), start=1):
        ground.turn(number)
        await ground.bash(command)
        trees.append(tree_of(ground.root))
    await keep(sessions, "s1", 3)
    return trees


async def test_a_whole_copy_takes_back_what_the_origin_did(ground, archive, three_turns, tree_of):
    ground.reopen(archive.fork("s1"))
    for tree in three_turns[-2::-1]:
        await ground.undo()
        assert tree_of(ground.root) == tree
    await ground.redo()
    ground.reopen("s1")
    plan = await ground.timeline.plan_undo()
    assert plan.files == ()  # the copy did it already


async def test_a_copy_from_a_message_takes_back_what_was_before_it_and_its_own(ground, archive, three_turns, tree_of):
    ground.reopen(archive.fork("s1", 3))
    ground.turn(3)
    await ground.bash("echo own > own.txt")
    await ground.undo()
    assert await ground.undo() == "Took back bash echo 2 > new.txt: 1 file."
    assert await ground.undo() == "Took back bash echo 1 >> a.txt: 1 file."
    with pytest.raises(NothingToUndo):
        await ground.undo()
    assert not (ground.root / "sub" / "b.txt").exists()  # that was the origin's, after the message


async def test_what_the_origin_had_taken_back_stays_so_in_the_copy(ground, archive, three_turns, sessions):
    await ground.undo()
    await ground.undo()
    ground.reopen(archive.fork("s1"))
    assert (await ground.timeline.plan_redo()).what == "bash echo 2 > new.txt"
    assert (await ground.timeline.plan_undo()).what == "bash echo 1 >> a.txt"


async def test_changes_after_a_copy_get_names_of_their_own(ground, archive, three_turns):
    ground.reopen(archive.fork("s1", 2))
    ground.turn(2)
    await ground.bash("echo own > own.txt")
    ids = [entry.id for entry in ground.store.log.entries]
    assert len(ids) == len(set(ids)) == 2


def contents(ground):
    return {path.parent.name + path.name for path in ground.state.glob("git-*/objects/??/*")}


async def test_deleting_a_session_removes_the_contents_that_only_it_held(ground, archive, three_turns, sessions):
    ground.reopen("s2")
    await keep(sessions, "s2", 1)
    before = contents(ground)
    await ground.bash("echo the secret > secret.txt; rm new.txt")
    await ground.bash("rm secret.txt")
    assert contents(ground) > before
    archive.delete("s2")
    assert contents(ground) <= before
    assert not (ground.state / "sessions" / "s2").exists()
    ground.reopen("s1")
    (ground.root / "new.txt").write_text("2\n")
    for _ in range(3):
        await ground.undo()
    assert (ground.root / "sub" / "b.txt").read_text() == "b\n"


async def test_deleting_the_origin_leaves_its_copy_what_it_needs(ground, archive, three_turns, tree_of):
    copy = archive.fork("s1")
    archive.delete("s1")
    ground.reopen(copy)
    for tree in three_turns[-2::-1]:
        await ground.undo()
        assert tree_of(ground.root) == tree


async def test_deleting_the_last_session_leaves_no_contents(ground, archive, three_turns):
    archive.delete("s1")
    assert contents(ground) == set()
