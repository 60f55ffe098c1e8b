"""A socket file counts as dead only when nobody listens at it, and that is never remembered."""

import os
import socket
from contextlib import ExitStack

import pytest

from codeagent.workspace.dead_sockets import DeadSockets
from tests.effort import assert_takes_less


@pytest.fixture
def bind(tmp_path):
    """Makes a socket file; it listens if so wished, and else is dead."""
    with ExitStack() as sockets:

        def make(name, *, listens=True, kind=socket.SOCK_STREAM):
            one = sockets.enter_context(socket.socket(socket.AF_UNIX, kind))
            one.bind(os.fspath(tmp_path / name))
            if listens and kind is not socket.SOCK_DGRAM:
                one.listen()
            elif not listens:
                one.close()
            return tmp_path / name

        yield make


@pytest.fixture
def nothing_listed(tmp_path):
    """A list of the kernel's that holds no socket: as those of another network namespace."""
    (tmp_path / "listed").write_text("Num       RefCount Protocol Flags    Type St Inode Path\n")
    return tmp_path / "listed"


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM])
def test_only_what_nobody_listens_at_is_dead(bind, nothing_listed, kind):
    alive, dead = bind("alive", kind=kind), bind("dead", listens=False, kind=kind)
    for sockets in (DeadSockets(), DeadSockets(nothing_listed)):
        for _ in range(2):
            assert sockets.without_dead([alive, dead]) == (alive,)


def test_a_new_socket_in_the_place_of_a_dead_one_is_alive(bind, nothing_listed):
    sockets, path = DeadSockets(nothing_listed), bind("bus", listens=False)
    assert sockets.without_dead([path]) == ()
    path.unlink()
    bind("bus")
    assert sockets.without_dead([path]) == (path,)


def test_a_file_that_was_bound_and_listens_later_is_alive_then(tmp_path, nothing_listed):
    sockets, path = DeadSockets(nothing_listed), tmp_path / "late"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(path))
        assert sockets.without_dead([path]) == ()
        server.listen()
        assert sockets.without_dead([path]) == (path,)


def test_nobody_is_connected_to_who_is_in_the_kernels_list_and_others_once(tmp_path, nothing_listed):
    for sockets, tried in ((DeadSockets(), 0), (DeadSockets(nothing_listed), 1)):
        path = tmp_path / f"quiet{tried}"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.fspath(path))
            server.listen()
            server.setblocking(False)
            for _ in range(3):
                assert sockets.without_dead([path]) == (path,)
            for _ in range(tried):
                server.accept()[0].close()
            with pytest.raises(BlockingIOError):
                server.accept()


def test_a_name_from_another_folder_and_an_unreadable_list_count_as_alive(bind, tmp_path, nothing_listed):
    dead = bind("default", listens=False)
    with nothing_listed.open("a") as listed:
        listed.write("ffff: 00000002 00000000 00010000 0001 01 12345 ./default\n")
    assert DeadSockets(nothing_listed).without_dead([dead]) == (dead,)
    assert DeadSockets(tmp_path / "none").without_dead([dead]) == (dead,)


def test_what_is_gone_is_left_out_and_what_cannot_be_tried_is_alive(bind, tmp_path, nothing_listed, monkeypatch):
    (tmp_path / ("f" * 120)).mkdir()
    monkeypatch.chdir(tmp_path / ("f" * 120))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("far")
    far = tmp_path / ("f" * 120) / "far"
    assert DeadSockets(nothing_listed).without_dead([far, tmp_path / "gone"]) == (far,)


def test_very_many_dead_ones_take_little_time(bind, nothing_listed):
    paths = [bind(f"s{number}", listens=False) for number in range(300)]
    sockets = DeadSockets(nothing_listed)
    assert_takes_less(0.02, lambda: sockets.without_dead(paths))
