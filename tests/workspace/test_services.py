"""Confined commands reach no service outside by its socket, and end no process that codeagent did not start."""

import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.workspace import landlock
from codeagent.workspace.confine import Level, in_words
from codeagent.workspace.services import hidden_sockets, missed_service, missed_signal, without_opened
from tests.workspace.confined import KINDS, bounds_in, confinement, run_in

CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
needs_scopes = pytest.mark.skipif(landlock.abi() < landlock.SCOPES_ABI, reason="this kernel cannot keep them apart")


@pytest.fixture
def listen(tmp_path):
    """Makes a listening socket with a path, or an abstract one for a name that begins with NUL."""
    with ExitStack() as sockets:

        def make(name):
            server = sockets.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(os.fspath(name))
            server.listen()
            return name

        yield make


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """A person's runtime folder, and no variables that name sockets elsewhere."""
    folder = tmp_path / "r"
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", os.fspath(folder))
    for name in ("SSH_AUTH_SOCK", "DOCKER_HOST", "TMUX", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    return folder


def connects(confined, path):
    return run_in(confined, f"{sys.executable} -c '{CONNECT}' {path}")[0] == 0


def test_a_service_of_the_runtime_folder_cannot_be_reached(tmp_path, runtime, listen):
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    (runtime / "systemd").mkdir()
    for path in (listen(runtime / "bus"), listen(runtime / "systemd/private")):
        assert not connects(confined, path)
        assert connects(confined.with_services_open(), path)


def test_a_service_that_a_variable_names_cannot_be_reached(tmp_path, runtime, listen, monkeypatch):
    path = listen(tmp_path / "d.sock")
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    assert connects(confined, path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    assert not connects(confined, path)


def test_it_cannot_be_reached_by_a_link_a_copy_or_an_unmounted_cover(tmp_path, runtime, listen):
    bus, root = listen(runtime / "bus"), tmp_path / "project"
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    (root / "link").symlink_to(bus)
    assert not connects(confined, root / "link")
    assert run_in(confined, f"ln {bus} hard && {sys.executable} -c '{CONNECT}' hard")[0] != 0
    assert run_in(confined, f"umount {bus}; {sys.executable} -c '{CONNECT}' {bus}")[0] != 0
    assert run_in(confined, f"unshare -Urm sh -c 'umount {bus}; {sys.executable} -c \"{CONNECT}\" {bus}'")[0] != 0
    way = f"/proc/{os.getpid()}/root{bus}"
    assert run_in(confined, f"{sys.executable} -c '{CONNECT}' {way}")[0] != 0


def test_the_folder_of_a_hidden_socket_cannot_be_moved_to_where_nobody_looks(tmp_path, runtime, listen):
    (runtime / "systemd").mkdir()
    private = listen(runtime / "systemd/private")
    bounds = bounds_in(tmp_path)
    confined = confinement("bubblewrap", replace(bounds, writable=(bounds.root, tmp_path)))
    assert run_in(confined, f"mv {runtime} {tmp_path}/away")[0] != 0
    assert run_in(confined, f"mv {runtime}/systemd {tmp_path}/away")[0] != 0
    assert run_in(confined, f"mv {private} {tmp_path}/away")[0] != 0
    assert run_in(confined, f"rm -f {private}")[0] != 0
    assert private.is_socket()
    assert run_in(confined, f"echo x > {runtime}/file") == (0, "")


def test_agents_that_only_sign_stay_in_reach(tmp_path, runtime, listen, monkeypatch):
    (runtime / "gnupg").mkdir()
    (runtime / "more").mkdir()
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    gpg, ssh = listen(runtime / "gnupg/S.gpg-agent"), listen(runtime / "more/agent.1")
    monkeypatch.setenv("SSH_AUTH_SOCK", os.fspath(ssh))
    assert connects(confined, gpg)
    assert connects(confined, ssh)


def test_only_sockets_are_hidden(runtime, listen):
    (runtime / "file").write_text("x")
    (runtime / "a/b/c/d").mkdir(parents=True)
    bus = listen(runtime / "bus")
    (runtime / "again").symlink_to(bus)
    listen(runtime / "a/b/deep")
    inside = {path for path in hidden_sockets(os.environ) if path.is_relative_to(runtime)}
    assert inside == {bus, runtime / "a/b/deep"}


@needs_scopes
@pytest.mark.parametrize("kind", KINDS)
def test_abstract_sockets_of_others_cannot_be_reached_and_those_of_commands_can(tmp_path, kind, listen):
    confined = confinement(kind, bounds_in(tmp_path))
    name = f"codeagent-test-{os.getpid()}-{kind}"
    listen(f"\0{name}")
    reach = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + '{name}')"
    own = (
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + '{0}'); s.listen();"
        "socket.socket(socket.AF_UNIX).connect(chr(0) + '{0}')"
    ).format(f"{name}-own")
    assert run_in(confined, f'{sys.executable} -c "{reach}"')[0] != 0
    assert run_in(confined, f'{sys.executable} -c "{own}"')[0] == 0
    assert run_in(confined.with_services_open(), f'{sys.executable} -c "{reach}"')[0] == 0


@pytest.fixture
def other():
    """Another program of the same person."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@needs_scopes
@pytest.mark.parametrize("kind", KINDS)
def test_no_other_process_can_be_ended_without_leave(tmp_path, kind, other):
    confined = confinement(kind, bounds_in(tmp_path))
    code, output = run_in(confined, f"kill -9 {other.pid}")
    assert code != 0
    assert [str(refusal) for refusal in confined.refused(output, confined.bounds.root)] == [
        "ending a process that codeagent did not start"
    ]
    assert other.poll() is None
    assert run_in(confined.with_services_open(), f"kill -9 {other.pid}")[0] == 0
    assert other.wait() == -9


@needs_scopes
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_can_end_what_an_earlier_one_left(tmp_path, kind):
    confined = confinement(kind, bounds_in(tmp_path))
    root, earlier = confined.bounds.root, []
    os.mkfifo(root / "ready")
    thread = threading.Thread(target=lambda: earlier.append(run_in(confined, "echo $$ > ready; exec sleep 60")))
    thread.start()
    pid = (root / "ready").read_text().strip()
    assert run_in(confined, f"kill -9 {pid}") == (0, "")
    thread.join()
    assert earlier in ([(-9, "")], [(137, "")])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "Docker"),
        ("Failed to connect to bus: Connection refused", "D-Bus"),
        ("Failed to connect to user scope bus via local transport: Connection refused", "D-Bus"),
        ("no server running on /tmp/tmux-1000/default", "tmux"),
        ("error connecting to /tmp/tmux-1000/default (Connection refused)", "tmux"),
        ("Error: Can't open display: :0", "the desktop"),
        ("xdotool: cannot open display", "the desktop"),
        ("dial unix /var/run/x.sock: connect: connection refused", "/run/x.sock"),
        ("curl: (7) Failed to connect to localhost port 3000: Connection refused", ""),
        ("AssertionError: 1 != 2", ""),
    ],
)
def test_a_missed_service_is_told_from_what_programs_say(tmp_path, line, name):
    assert missed_service(line, lambda: (Path("/run/x.sock"),)) == name
    assert missed_service(line, lambda: ()) == ""


def test_a_line_without_end_is_not_searched_long():
    line = "kill 1 Could not connect to bus Operation not permitte" * 20_000
    assert missed_service(line, lambda: (Path("/run/x.sock"),)) == ""
    assert not missed_signal(line)


@pytest.mark.parametrize(
    ("line", "is_missed"),
    [
        ("bash: line 1: kill: ({pid}) - Operation not permitted", True),
        ("kill: ({pid}): Operation not permitted", True),
        ("Error: kill EPERM", True),
        ("chown: changing ownership of 'x': Operation not permitted", False),
        ("kill: (1) - No such process", False),
    ],
)
def test_a_process_that_may_not_be_ended_is_told(line, is_missed):
    assert missed_signal(line.replace("{pid}", str(os.getpid()))) is is_missed


def test_the_words_say_what_is_left(tmp_path):
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    said = in_words(confined, Level.WORKSPACE_WRITE)
    assert ("docker" in said, "network" in said) == (False, True)
    assert "docker" in in_words(confined.with_services_open(), Level.WORKSPACE_WRITE)


@needs_scopes
def test_other_processes_alone_can_be_let_through(tmp_path, runtime, listen):
    bus, confined = listen(runtime / "bus"), confinement("bubblewrap", bounds_in(tmp_path))
    opened = confined.with_opened(("other processes",))
    assert (confined.keeps_apart, opened.keeps_apart) == (True, False)
    assert not connects(opened, bus)


@pytest.mark.parametrize(
    ("name", "opened"),
    [
        ("Docker", {"/run/docker.sock", "/home/me/.docker/run/docker.sock", "/x/d.sock"}),
        ("Podman", {"/run/podman/podman.sock", "/x/d.sock"}),
        ("D-Bus", {"/run/user/1/bus", "/run/dbus/system_bus_socket", "/run/user/1/systemd/private"}),
        ("tmux", {"/tmp/tmux-1/default"}),
        ("the desktop", {"/tmp/.X11-unix/X0", "/run/user/1/wayland-0"}),
        ("/run/snapd.socket", {"/run/snapd.socket"}),
    ],
)
def test_of_the_hidden_sockets_those_of_one_service_are_let_through(tmp_path, listen, name, opened):
    address = listen(tmp_path / "d.sock")
    every = ["/run/docker.sock", "/home/me/.docker/run/docker.sock", "/run/podman/podman.sock", "/run/user/1/bus"]
    every += ["/run/dbus/system_bus_socket", "/run/user/1/systemd/private", "/tmp/tmux-1/default", "/tmp/.X11-unix/X0"]
    every += ["/run/user/1/wayland-0", "/run/snapd.socket", "/run/containerd/containerd.sock"]
    hidden = [*map(Path, every), address]
    left = without_opened(hidden, (name,), {"DOCKER_HOST": f"unix://{address}"})
    assert {str(path).replace(str(tmp_path), "/x") for path in hidden if path not in left} == opened
