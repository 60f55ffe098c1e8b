"""An undo or redo that is cut off anywhere is carried to its end by whoever looks next."""

import pytest

from codeagent.core.events import NoticeGiven
from codeagent.store import reversing

COMMAND = (
    "sed -i s/one/two/ a.txt sub/b.txt; rm -r gone; mkdir -p made/deep; echo x > made/deep/f; echo y > made/g; "
    "chmod 600 mode.txt; rm link; echo file > link; rm -f plain; ln -s a.txt plain; chmod 700 sub"
)


class Cut(BaseException):
    """The program is killed here."""


@pytest.fixture
def messy(bare_ground):
    root = bare_ground.root
    for name in ("a.txt", "sub/b.txt", "gone/c.txt", "gone/deep/d.txt", "mode.txt", "plain", "other.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("one\n")
    (root / "link").symlink_to("a.txt")
    bare_ground.turn(1)
    return bare_ground


def cut_after(monkeypatch, count):
    """Lets so many files be given back, and no more."""
    done = []
    restore = reversing.restore

    def cut(*given):
        if len(done) == count:
            raise Cut
        done.append(given)
        restore(*given)

    monkeypatch.setattr(reversing, "restore", cut)


@pytest.mark.parametrize("count", range(9))
async def test_an_undo_that_was_cut_off_is_whole_at_the_next_look(messy, tree_of, monkeypatch, count):
    start = tree_of(messy.root)
    await messy.bash(COMMAND)
    changed = tree_of(messy.root)
    with monkeypatch.context() as patch:
        cut_after(patch, count)
        with pytest.raises(Cut):
            await messy.undo()
    assert tree_of(messy.root) != start
    messy.reopen()
    await messy.timeline.take_news()
    assert tree_of(messy.root) == start
    notices = [event.text for event in messy.events if isinstance(event, NoticeGiven)]
    assert notices == [f"Undo or redo of {(await messy.timeline.plan_redo()).what} had been cut off; it is whole now."]
    await messy.redo()
    assert tree_of(messy.root) == changed


@pytest.mark.parametrize("count", range(0, 9, 2))
async def test_so_is_a_redo(messy, tree_of, monkeypatch, count):
    start = tree_of(messy.root)
    await messy.bash(COMMAND)
    changed = tree_of(messy.root)
    await messy.undo()
    with monkeypatch.context() as patch:
        cut_after(patch, count)
        with pytest.raises(Cut):
            await messy.redo()
    messy.reopen()
    reversal = await messy.timeline.plan_undo()
    assert tree_of(messy.root) == changed
    await messy.timeline.carry_out(reversal)
    assert tree_of(messy.root) == start


async def test_what_the_person_did_meanwhile_stays(messy, monkeypatch):
    await messy.bash(COMMAND)
    with monkeypatch.context() as patch:
        cut_after(patch, 0)
        with pytest.raises(Cut):
            await messy.undo()
    (messy.root / "a.txt").write_text("mine\n")
    (messy.root / "made" / "mine.txt").write_text("mine\n")
    messy.reopen()
    assert messy.store.finish_reversal()
    assert (messy.root / "a.txt").read_text() == "mine\n"
    assert (messy.root / "made" / "mine.txt").read_text() == "mine\n"
    assert (messy.root / "sub" / "b.txt").read_text() == "one\n"
    assert messy.store.finish_reversal() == ""


async def test_an_undo_that_ended_is_not_done_again(messy):
    await messy.bash("sed -i s/one/two/ a.txt")
    await messy.undo()
    (messy.root / "a.txt").write_text("two\n")
    messy.reopen()
    assert messy.store.finish_reversal() == ""
    assert (messy.root / "a.txt").read_text() == "two\n"
