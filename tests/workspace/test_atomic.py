"""Writing: all of the new bytes or all of the old ones, and never over somebody else's save."""

import errno
import os
import resource
import socket
import stat
import tempfile
import threading
import time
from pathlib import Path

import pytest

from codeagent.core.errors import FileProblem, StaleFile
from codeagent.workspace import renames
from codeagent.workspace.atomic import Target, swap, temporary, write_atomic
from codeagent.workspace.handles import opened_folder, write_all


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path.resolve() / "a.txt"
    path.write_bytes(b"old")
    return path


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_new_file_is_made_with_its_folders(tmp_path):
    path = tmp_path.resolve() / "new" / "deep" / "a.txt"
    assert write_atomic(path, b"hello", expected=None) == ()
    assert path.read_bytes() == b"hello"
    assert names(path.parent) == ["a.txt"]


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path, in_child):
    path = tmp_path.resolve() / "a.txt"

    def work() -> None:
        os.umask(0o027)
        write_atomic(path, b"", expected=None)

    in_child(work)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_should_not_exist_is_not_overwritten(file):
    with pytest.raises(StaleFile):
        write_atomic(file, b"new", expected=None)
    assert file.read_bytes() == b"old"
    assert names(file.parent) == ["a.txt"]


def test_a_dangling_link_in_the_place_of_a_new_file_is_not_followed(tmp_path):
    folder = tmp_path.resolve()
    (folder / "link").symlink_to(folder / "target")
    with pytest.raises(StaleFile):
        write_atomic(folder / "link", b"new", expected=None)
    assert names(folder) == ["link"]


def test_folders_made_for_a_file_that_cannot_be_written_go_again(tmp_path):
    folder = tmp_path.resolve()
    with pytest.raises(FileProblem):
        write_atomic(folder / "x" / "y" / ("n" * 300), b"new", expected=None)
    assert names(folder) == []


def test_a_file_is_replaced_and_nothing_else_stays(file):
    assert write_atomic(file, b"new", expected=b"old") == ()
    assert file.read_bytes() == b"new"
    assert names(file.parent) == ["a.txt"]


@pytest.mark.parametrize("found", [b"else", b"OLD", b"old\n", b""])
def test_a_file_that_changed_is_left_alone(file, found):
    file.write_bytes(found)
    with pytest.raises(StaleFile):
        write_atomic(file, b"new", expected=b"old")
    assert file.read_bytes() == found
    assert names(file.parent) == ["a.txt"]


def test_a_change_that_size_and_clock_do_not_show_is_noticed(file):
    before = file.stat()
    file.write_bytes(b"OLD")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StaleFile):
        write_atomic(file, b"new", expected=b"old")


def test_a_file_that_was_only_touched_is_written(file):
    os.utime(file, (1, 1))
    write_atomic(file, b"new", expected=b"old")
    assert file.read_bytes() == b"new"


def test_a_file_that_is_gone_is_not_made_again(file):
    file.unlink()
    with pytest.raises(StaleFile):
        write_atomic(file, b"new", expected=b"old")
    assert names(file.parent) == []


def test_a_folder_that_is_gone_is_not_made_again(file):
    with pytest.raises(StaleFile):
        write_atomic(file.parent / "sub" / "a.txt", b"new", expected=b"old")
    assert names(file.parent) == ["a.txt"]


def test_writing_what_is_there_changes_nothing(file):
    before = file.stat()
    assert write_atomic(file, b"old", expected=b"old") == ()
    assert file.stat().st_ino == before.st_ino


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o640, 0o4755, 0o2755])
def test_mode_bits_are_kept(file, mode):
    file.chmod(mode)
    write_atomic(file, b"new", expected=b"old")
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_and_group_are_kept(file):
    os.chown(file, 1234, 4321)
    file.chmod(0o4750)
    write_atomic(file, b"new", expected=b"old")
    state = file.stat()
    assert (state.st_uid, state.st_gid, stat.S_IMODE(state.st_mode)) == (1234, 4321, 0o4750)


def test_extended_attributes_are_kept(file):
    try:
        os.setxattr(file, "user.origin", b"elsewhere")
    except OSError:
        pytest.skip("no extended attributes on this file system")
    write_atomic(file, b"new", expected=b"old")
    assert os.getxattr(file, "user.origin") == b"elsewhere"


def test_a_hard_link_is_noted(file):
    os.link(file, file.parent / "b.txt")
    (note,) = write_atomic(file, b"new", expected=b"old")
    assert note.startswith("hard link: 1 other name ")
    assert (file.parent / "b.txt").read_bytes() == b"old"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "socket"])
def test_what_took_the_place_of_the_file_is_refused_without_waiting(file, kind):
    file.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        match kind:
            case "link":
                (file.parent / "target").write_bytes(b"old")
                file.symlink_to("target")
            case "folder":
                file.mkdir()
            case "pipe":
                os.mkfifo(file)
            case _:
                server.bind(str(file))
        with pytest.raises(FileProblem):
            write_atomic(file, b"new", expected=b"old")
    if kind == "link":
        assert file.is_symlink()
        assert (file.parent / "target").read_bytes() == b"old"


def test_a_link_put_in_the_place_of_a_folder_loses(tmp_path):
    folder = tmp_path.resolve()
    for name in ("inside", "outside"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_bytes(b"old")
    (folder / "inside").rename(folder / "moved")
    (folder / "inside").symlink_to("outside")
    with pytest.raises(FileProblem):
        write_atomic(folder / "inside" / "a.txt", b"new", expected=b"old")
    with pytest.raises(FileProblem):
        write_atomic(folder / "inside" / "new.txt", b"new", expected=None)
    assert (folder / "outside" / "a.txt").read_bytes() == b"old"
    assert names(folder / "outside") == ["a.txt"]


def exchange_with(file: Path, expected: bytes, data: bytes) -> None:
    """What write_atomic does after its first look at the file: somebody may have saved since then."""
    with opened_folder(file.parent) as folder, temporary(folder, 0o600) as temp:
        write_all(temp.file, data)
        swap(Target(path=file, folder=folder, expected=expected), temp)


def test_a_save_in_the_very_moment_of_writing_is_swapped_back(file):
    file.write_bytes(b"saved by a person")
    inode = file.stat().st_ino
    with pytest.raises(StaleFile):
        exchange_with(file, b"old", b"new")
    assert file.read_bytes() == b"saved by a person"
    assert file.stat().st_ino == inode
    assert names(file.parent) == ["a.txt"]


def test_a_link_or_pipe_that_comes_in_the_very_moment_is_swapped_back(file):
    file.unlink()
    file.symlink_to("elsewhere")
    with pytest.raises(StaleFile):
        exchange_with(file, b"old", b"new")
    assert file.readlink() == Path("elsewhere")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(StaleFile):
        exchange_with(file, b"old", b"new")
    assert file.is_fifo()
    assert names(file.parent) == ["a.txt"]


@pytest.fixture
def no_exchange(monkeypatch):
    """A system whose C library has no such call."""
    monkeypatch.setattr(renames, "_CALL", None)


def test_without_exchange_a_plain_rename_does_it(no_exchange, file):
    file.chmod(0o751)
    write_atomic(file, b"new", expected=b"old")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    write_atomic(file.parent / "b.txt", b"b", expected=None)
    with pytest.raises(StaleFile):
        write_atomic(file.parent / "b.txt", b"c", expected=None)
    with pytest.raises(StaleFile):
        exchange_with(file, b"old", b"newer")
    assert names(file.parent) == ["a.txt", "b.txt"]
    assert file.read_bytes() == b"new"


def test_no_save_of_a_person_is_ever_lost_while_we_write(file):
    stop = threading.Event()
    lost: list[int] = []
    saves = 0

    def mentions(number: int) -> bool:
        for _ in range(200):
            if f"<{number}>".encode() in file.read_bytes():
                return True
            time.sleep(0.0005)
        return False

    def person() -> None:
        nonlocal saves
        while not stop.is_set():
            saves += 1
            draft = file.with_name("draft")
            draft.write_bytes(f"<{saves}>".encode())
            draft.replace(file)
            if not mentions(saves):
                lost.append(saves)
            time.sleep(0.0003)

    thread = threading.Thread(target=person)
    thread.start()
    written = stale = 0
    end = time.monotonic() + 1.5
    try:
        while time.monotonic() < end:
            seen = file.read_bytes()
            try:
                write_atomic(file, b"agent was here, after " + seen[-12:], expected=seen)
                written += 1
            except StaleFile:
                stale += 1
    finally:
        stop.set()
        thread.join()
    assert not lost
    assert saves > 10
    assert written + stale > 10


def test_a_write_protected_file_is_refused(shared_folder, as_ordinary_user):
    file = shared_folder / "a.txt"

    def work() -> None:
        file.write_bytes(b"old")
        file.chmod(0o444)
        with pytest.raises(FileProblem, match="permissions"):
            write_atomic(file, b"new", expected=b"old")

    as_ordinary_user(work)
    assert file.read_bytes() == b"old"
    assert names(shared_folder) == ["a.txt"]


def test_a_new_file_in_a_folder_that_may_not_be_written_is_refused(shared_folder, as_ordinary_user):
    shared_folder.chmod(0o555)

    def work() -> None:
        with pytest.raises(FileProblem, match="permissions"):
            write_atomic(shared_folder / "a.txt", b"new", expected=None)

    as_ordinary_user(work)


def copies() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("codeagent-copy-*"))


def test_a_file_in_a_folder_that_may_not_be_written_is_written_in_place(shared_folder, as_ordinary_user):
    file = shared_folder / "a.txt"
    file.write_bytes(b"old and longer")
    file.chmod(0o666)
    shared_folder.chmod(0o555)
    inode, before = file.stat().st_ino, copies()

    def work() -> None:
        (note,) = write_atomic(file, b"new", expected=b"old and longer")
        assert note.startswith("written in place")

    as_ordinary_user(work)
    assert file.read_bytes() == b"new"
    assert file.stat().st_ino == inode
    assert copies() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of others to try it on")
def test_somebody_else_s_file_stays_theirs(shared_folder, as_ordinary_user):
    file = shared_folder / "a.txt"
    file.write_bytes(b"old")
    file.chmod(0o666)

    def work() -> None:
        (note,) = write_atomic(file, b"new", expected=b"old")
        assert "owner" in note

    as_ordinary_user(work)
    assert file.read_bytes() == b"new"
    assert file.stat().st_uid == 0
    assert names(shared_folder) == ["a.txt"]


def test_a_mounted_file_is_written_in_place(file, mount):
    source = file.with_name("source")
    source.write_bytes(b"old")
    mount(file, "--bind", str(source))
    (note,) = write_atomic(file, b"new", expected=b"old")
    assert note.startswith("written in place")
    assert source.read_bytes() == b"new"
    assert names(file.parent) == ["a.txt", "source"]


def test_a_full_disk_leaves_the_old_bytes(tmp_path, mount):
    folder = tmp_path.resolve() / "small"
    folder.mkdir()
    mount(folder, "-t", "tmpfs", "-o", "size=64k", "tmpfs")
    file = folder / "a.txt"
    file.write_bytes(b"old")
    with pytest.raises(FileProblem, match="disk is full"):
        write_atomic(file, b"x" * 100_000, expected=b"old")
    with pytest.raises(FileProblem, match="disk is full"):
        write_atomic(folder / "b.txt", b"x" * 100_000, expected=None)
    assert file.read_bytes() == b"old"
    assert names(folder) == ["a.txt"]


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))


def test_a_write_that_breaks_off_leaves_the_old_bytes(file, in_child):
    def work() -> None:
        limit_file_size()
        with pytest.raises(FileProblem, match="larger than"):
            write_atomic(file, b"x" * 10_000, expected=b"old")

    in_child(work)
    assert file.read_bytes() == b"old"
    assert names(file.parent) == ["a.txt"]


def test_a_write_in_place_that_breaks_off_puts_the_old_bytes_back(shared_folder, as_ordinary_user):
    file = shared_folder / "a.txt"
    file.write_bytes(b"old" * 1_000)
    file.chmod(0o666)
    shared_folder.chmod(0o555)
    before = copies()

    def work() -> None:
        limit_file_size()
        with pytest.raises(FileProblem, match="larger than"):
            write_atomic(file, b"x" * 10_000, expected=b"old" * 1_000)

    as_ordinary_user(work)
    assert file.read_bytes() == b"old" * 1_000
    assert copies() == before


def test_the_system_s_reason_is_told(file):
    with pytest.raises(FileProblem) as caught:
        write_atomic(file / "below" / "a.txt", b"new", expected=None)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOTDIR
    assert str(caught.value).startswith(f"{file}/below/a.txt lies below something that is no folder")
