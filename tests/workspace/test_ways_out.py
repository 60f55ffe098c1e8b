"""Ways out of the sandbox that are older than it: mounts, other processes, the kernel's own files, disks, links."""

import os
import subprocess
import sys

import pytest

from tests.workspace.confined import KINDS, bounds_in, confinement, run_in

LOCK = "import multiprocessing; multiprocessing.Lock().acquire()"


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def other():
    """Another program of the same person, which is not confined."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


WAYS = {
    "mount anew": "mount -o remount,rw / ; mount -o remount,bind,rw / ; echo x > {out}",
    "a user namespace": "unshare -Urm sh -c 'mount -o remount,bind,rw / ; echo x > {out}'",
    "the mounts of another process": "nsenter -t {pid} -m sh -c 'echo x > {out}'",
    "the root of another process": "echo x > /proc/{pid}/root{out}",
    "the folder of another process": "echo x > /proc/{pid}/cwd/{up}{out}",
    "a link": "ln -s {folder} way; echo x > way/new",
    "a hard link": "ln {folder}/kept here && echo x > here",
    "a device": "mknod disk b 7 0 && echo x > disk",
    "moving the workspace": "cd / && mv {root} {folder}/new",
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_out(tmp_path, kind, other, way):
    bounds = bounds_in(tmp_path)
    folder = tmp_path / "outside"
    (folder / "kept").write_text("kept")
    script = WAYS[way].format(
        out=folder / "new", folder=folder, pid=other, root=bounds.root, up="../" * len(os.fspath(tmp_path).split("/"))
    )
    run_in(confinement(kind, bounds), script)
    assert [path.name for path in folder.iterdir()] == ["kept"]
    assert (folder / "kept").read_text() == "kept"
    assert bounds.root.is_dir()


@pytest.mark.parametrize(
    "script",
    [
        "python3 -c \"open('/proc/{pid}/mem', 'r+b')\"",
        'python3 -c "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) != 0)"',
        "echo 0 > /proc/sys/vm/page-cluster",
        "mount -t tmpfs none /mnt",
        "mknod disk b 7 0 && head -c 1 disk",
    ],
)
def test_no_other_process_and_nothing_of_the_kernel_can_be_changed(tmp_path, kind, other, script):
    bounds = bounds_in(tmp_path)
    assert run_in(confinement(kind, bounds), script.format(pid=other))[0] != 0


@pytest.mark.parametrize(
    "script",
    [
        f"{sys.executable} -c '{LOCK}'",
        "echo x > /dev/null; head -c 4 /dev/urandom > /dev/zero; echo x | tee /dev/stderr",
        "touch new; chmod 600 new; mkdir -p a/b; rm -r a",
    ],
)
def test_ordinary_work_goes_on(tmp_path, kind, script):
    bounds = bounds_in(tmp_path)
    code, output = run_in(confinement(kind, bounds), script)
    assert code == 0, output
