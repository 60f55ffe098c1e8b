"""Confined commands open no terminal and no disk, and root among them has no more rights than a build needs."""

import os
import pty
import re
import subprocess
import sys
import tty
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codeagent.core.approvals import Hold
from codeagent.workspace import landlock
from codeagent.workspace.bounds import Bounds
from codeagent.workspace.confine import Landlock, hold_of, seatbelt_profile
from tests.workspace.confined import KINDS, bounds_in, confinement, run_in

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to lose")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
TYPE_IN = "import fcntl, os, sys, termios; fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR), termios.TIOCSTI, b'y')"


@dataclass
class Terminal:
    """Its name, and what both ends read."""

    name: str
    person: int
    program: int


@pytest.fixture
def terminal():
    """One of a person and a program, such as codeagent."""
    with ExitStack() as ends:
        person, program = pty.openpty()
        tty.setraw(program)
        for end in (person, program):
            ends.callback(os.close, end)
        for end in (person, program):
            os.set_blocking(end, False)
        yield Terminal(name=os.ttyname(program), person=person, program=program)


@pytest.fixture
def holder(terminal):
    """The pid of a process whose input that terminal is, with a key in its environment."""
    with subprocess.Popen(["sleep", "1000"], stdin=terminal.program, env={"SERVICE_KEY": "planted"}) as process:
        yield process.pid
        process.kill()


def came(end):
    try:
        return os.read(end, 100)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("script", ["echo FAKE > {}", "echo FAKE >> {}", "read -t 1 x < {}", "exec 3<> {}"])
def test_a_command_cannot_open_a_persons_terminal(tmp_path, kind, script, terminal):
    os.write(terminal.person, b"typed\n")
    confined = confinement(kind, bounds_in(tmp_path))
    assert run_in(confined, script.format(terminal.name))[0] != 0
    assert run_in(confined, f'{sys.executable} -c "{TYPE_IN}" {terminal.name}')[0] != 0
    assert came(terminal.person) == b""
    assert came(terminal.program) == b"typed\n"


@pytest.mark.parametrize("version", range(landlock.LEAST_ABI, landlock.SCOPES_ABI))
def test_it_cannot_on_older_kernels_either(tmp_path, version, terminal, monkeypatch):
    confined = confinement("landlock", bounds_in(tmp_path))
    monkeypatch.setattr(landlock, "abi", lambda: version)
    assert run_in(confined, f"echo FAKE > {terminal.name}")[0] != 0
    assert run_in(confined, f"exec 3< {terminal.name}")[0] != 0
    assert run_in(confined, f'{sys.executable} -c "{TYPE_IN}" {terminal.name}')[0] != 0
    assert (came(terminal.person), came(terminal.program)) == (b"", b"")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["fd/0", "root{}", "cwd/../../../../../..{}"])
def test_no_way_to_the_terminal_leads_by_the_process_that_has_it(tmp_path, kind, way, terminal, holder):
    confined = confinement(kind, bounds_in(tmp_path))
    assert run_in(confined, f"echo FAKE > /proc/{holder}/{way.format(terminal.name)}")[0] != 0
    assert run_in(confined, f"read -t 1 x < /proc/{holder}/{way.format(terminal.name)}")[0] != 0
    assert came(terminal.person) == b""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["environ", "maps", "mem"])
def test_the_keys_of_another_process_cannot_be_read(tmp_path, kind, what, holder):
    confined = confinement(kind, bounds_in(tmp_path))
    code, said = run_in(confined, f"cat /proc/{holder}/{what}")
    assert code != 0
    assert "planted" not in said


def test_the_memory_of_its_keeper_and_of_what_starts_keepers_is_shut(tmp_path):
    confined = confinement("landlock", bounds_in(tmp_path))
    above = (
        "p=$$; for i in 1 2 3; do read -r _ _ _ p _ < <(sed 's/([^)]*)/x/' /proc/$p/stat)"
        " && [ $p -gt 1 ] && cat /proc/$p/environ /proc/$p/maps; done 2> /dev/null"
    )
    assert run_in(confined, above)[1].replace("\0", "\n").count("PATH=") == 0


@pytest.mark.parametrize(
    "name", ["/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs", "/dev/kmsg", "/dev/vda", "/dev/sda"]
)
def test_consoles_and_disks_are_shut(tmp_path, name):
    if not os.access(name, os.R_OK):
        pytest.skip("not there, or not open to this user")
    confined = confinement("landlock", bounds_in(tmp_path))
    assert run_in(confined, f"exec 3< {name}")[0] != 0
    assert run_in(confined, f"exec 3> {name}")[0] != 0


def test_what_everybody_may_open_is_open(tmp_path):
    confined = confinement("landlock", bounds_in(tmp_path))
    script = """set -e
        echo x > /dev/null; head -c 4 /dev/urandom > /dev/null; head -c 4 /dev/zero | cat > out
        echo to-stderr > /dev/stderr; echo to-stdout > /dev/stdout; echo to-3 3>&1 >&3 > /dev/fd/3
        echo hello | cat /dev/stdin; cat <(echo substituted); cat <<< here
        f=/dev/shm/$$; echo shared > $f; cat $f; rm $f
        cat /proc/self/status /etc/passwd > /dev/null; ls /dev/pts > /dev/null
    """
    code, said = run_in(confined, script)
    assert (code, said.split()) == (0, ["to-stderr", "to-stdout", "to-3", "hello", "substituted", "here", "shared"])


def test_what_is_mounted_elsewhere_of_devices_is_left_out_and_nothing_beside_it(tmp_path):
    for name in ("a/dev/null", "a/etc/x", "b/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("a/dev")
    found = set(landlock._beside(frozenset({f"{tmp_path}/a/dev"}), f"{tmp_path}"))
    assert found == {f"{tmp_path}/a/etc", f"{tmp_path}/b"}


@as_root
@pytest.mark.parametrize("kind", KINDS)
def test_root_has_no_more_rights_than_a_build_needs(tmp_path, kind):
    confined = confinement(kind, bounds_in(tmp_path))
    said = run_in(confined, "grep Cap /proc/self/status; setpriv --reuid 0 grep CapEff /proc/self/status")[1]
    rights = {int(found, 16) for found in re.findall(r"Cap(?:Eff|Prm):\s*(\w+)", said)}
    everything = int(re.findall(r"CapEff:\s*(\w+)", Path("/proc/self/status").read_text())[0], 16)
    assert rights == {everything & 0x800025FB}
    assert run_in(confined, "touch a && chown 1:1 a && chmod 600 a && rm a")[0] == 0


@pytest.mark.parametrize("module", ["pty.spawn(['true'])", "pty.openpty()"])
def test_a_program_with_a_terminal_of_its_own_works_or_is_told_apart(tmp_path, module):
    bubblewrap = confinement("bubblewrap", bounds_in(tmp_path))
    script = f'{sys.executable} -c "import pty; {module}"'
    assert run_in(bubblewrap, script)[0] == 0
    held = Landlock(bounds=replace(bubblewrap.bounds, protects_git=False))
    code, said = run_in(held, script)
    assert code != 0
    assert [str(refusal) for refusal in held.refused(said, held.bounds.root)] == ["opening a terminal"]


@pytest.mark.parametrize(
    "line",
    [
        "OSError: out of pty devices",
        "script: failed to create pseudo-terminal: Permission denied",
        "The system has no more ptys.  Ask your system administrator to create more.",
        "Error: forkpty(3) failed.",
        "sudo: unable to allocate pty: Permission denied",
        "open /dev/pts/4: permission denied",
    ],
)
def test_programs_say_in_many_ways_that_they_have_no_terminal(tmp_path, line):
    bounds = bounds_in(tmp_path)
    assert [str(refusal) for refusal in bounds.refused(line, bounds.root)] == ["opening a terminal"]
    assert bounds.refused(line, bounds.root, by_mounts=True) == ()


@on_linux
def test_output_that_is_open_already_is_written_to_whatever_it_is(tmp_path):
    bounds = bounds_in(tmp_path)
    for name in ("/dev/stdout", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/1", "/dev/null", "/dev/tty"):
        assert bounds.may_write(Path(name))
    for name in ("/dev/pts/0", "/dev/tty1", "/dev/console", "/dev/fd/../pts/0"):
        assert not bounds.may_write(Path(name))


def test_the_seatbelt_profile_shuts_all_terminals_but_those_that_a_command_made():
    profile = seatbelt_profile(Bounds(root=Path("/w"), writable=(Path("/w"),)))
    assert '(subpath "/dev")' not in profile
    shut, own = (profile.index(text) for text in ("(deny file-read-data file-write* file-ioctl", "sandbox.pty"))
    assert profile.index('(literal "/dev/null")') < shut < own


@pytest.mark.parametrize("place", ["/", "/dev", "/srv"])
def test_a_workspace_that_holds_devices_is_a_gap_and_told(tmp_path, place, monkeypatch):
    monkeypatch.setattr(landlock, "device_folders", lambda: ("/dev", "/srv/root/dev/pts"))
    found = Landlock(bounds=Bounds(root=Path(place), writable=(Path(place),)))
    assert (hold_of(found), "the use of terminals" in found.cannot_stop) == (Hold.GAP, True)
    beside = Landlock(bounds=bounds_in(tmp_path))
    assert (hold_of(beside), "terminals" in beside.cannot_stop) == (Hold.WHOLE, False)


@on_linux
def test_the_folders_of_devices_are_known(tmp_path, monkeypatch):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n"
        "25 30 0:5 / /dev rw,nosuid shared:2 - devtmpfs udev rw\n"
        "26 25 0:23 / /dev/pts rw,nosuid shared:3 - devpts devpts rw\n"
        "90 30 0:23 / /srv/my\\040root/dev/pts rw - devpts devpts rw\n"
    )
    monkeypatch.setattr(landlock, "_MOUNTS", mounts)
    landlock.device_folders.cache_clear()
    try:
        assert landlock.device_folders() == ("/dev", "/srv/my root/dev/pts")
    finally:
        landlock.device_folders.cache_clear()
