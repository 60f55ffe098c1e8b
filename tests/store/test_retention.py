"""Old changes are cleared away; what can still be undone is not."""

import os
import shutil
import time

from codeagent.store.blobs import Blobs
from codeagent.store.retention import clear_old


def age(folder, days):
    then = time.time() - days * 86_400
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (then, then), follow_symlinks=False)


async def test_sessions_not_used_for_long_go_with_their_contents(ground):
    await ground.bash("echo old > a.txt; head -c 3000 /dev/urandom > b.bin")
    objects = ground.state / "git-sha1" / "objects"
    before = len(list(objects.glob("??/*")))
    age(ground.state, 40)
    (ground.root / "b.bin").unlink()
    ground.reopen("s2")
    await ground.bash("echo new > c.txt")
    age(objects, 2)
    assert clear_old(ground.state) > 0
    assert not (ground.state / "sessions" / "s1").exists()
    assert len(list(objects.glob("??/*"))) < before + 2
    await ground.undo()
    assert not (ground.root / "c.txt").exists()


async def test_it_looks_once_a_day(ground):
    await ground.bash("echo old > a.txt")
    clear_old(ground.state)
    age(ground.state / "sessions", 40)
    assert clear_old(ground.state) == 0
    assert (ground.state / "sessions" / "s1").exists()


async def test_what_the_log_speaks_of_stays_however_old_its_contents(ground):
    await ground.bash("echo agent > a.txt")
    age(ground.state / "git-sha1", 100)
    clear_old(ground.state)
    shutil.rmtree(ground.root / ".git")
    ground.reopen()
    await ground.undo()
    assert (ground.root / "a.txt").read_text().startswith("one\n")


def test_nothing_is_made_where_nothing_was_kept(tmp_path):
    assert clear_old(tmp_path / "none") == 0
    assert list(tmp_path.glob("*")) == [tmp_path / "gitconfig"]


def test_contents_come_back_as_they_were(ground):
    blobs = Blobs(ground.store.git)
    for data in (b"", b"\0\xff" * 1000, b"blob 3\0abc"):
        assert blobs.read(blobs.add(data)) == data
