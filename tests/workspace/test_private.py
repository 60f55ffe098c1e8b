"""What only the person may read is made so from its first byte, and is never half written."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from codeagent.workspace.private import change_private, make_private_folder, open_private, read_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(autouse=True, params=[0o000, 0o022, 0o777], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_folders_and_files_are_the_owner_s_whatever_the_umask(tmp_path):
    make_private_folder(tmp_path / "a" / "b")
    with open_private(tmp_path / "a" / "b" / "c", os.O_EXCL) as file:
        file.write("x")
    change_private(tmp_path / "d" / "e" / "f.json", lambda content: content.update(key=1))

    assert {mode(tmp_path / folder) for folder in ("a", "a/b", "d", "d/e")} == {0o700}
    assert {mode(tmp_path / file) for file in ("a/b/c", "d/e/f.json")} == {0o600}


def test_an_open_file_is_closed_to_others_again(tmp_path):
    path = tmp_path / "a"
    path.touch()
    path.chmod(0o666)
    open_private(path, os.O_APPEND).close()
    assert mode(path) == 0o600


def test_a_link_is_not_written_through(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        open_private(tmp_path / "link", os.O_TRUNC)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b"\xff"])
def test_what_is_missing_or_damaged_is_an_empty_object(tmp_path, content):
    if content is not None:
        with open_private(tmp_path / "a.json", os.O_EXCL) as file:
            file.buffer.write(content)
    assert read_private(tmp_path / "a.json") == {}


def test_neither_a_link_nor_a_pipe_nor_a_folder_is_read(tmp_path):
    make_private_folder(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe")
    with open_private(tmp_path / "a.json", os.O_EXCL) as file:
        file.write('{"a": 1}')
    (tmp_path / "link").symlink_to("a.json")
    assert [read_private(tmp_path / name) for name in ("folder", "pipe", "link")] == [{}, {}, {}]


def test_changes_of_several_at_once_are_all_kept(tmp_path):
    path = tmp_path / "a.json"
    threads = [
        threading.Thread(target=change_private, args=(path, lambda content, key=str(number): content.update({key: 1})))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert json.loads(path.read_bytes()) == {str(number): 1 for number in range(20)}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.json", "a.lock"]


def test_a_change_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.json"
    change_private(path, lambda content: content.update(a=1))
    with pytest.raises(TypeError):
        change_private(path, lambda content: content.update(b={1}))
    assert read_private(path) == {"a": 1}
