"""What the sandbox refused is told from what was refused otherwise, by real commands under each confinement."""

import os
from dataclasses import replace

import pytest

from tests.workspace.confined import KINDS, bounds_in, confinement, run_in


def output_of(confined, script):
    return run_in(confined, script)[1]


def refused(confined, script):
    return tuple(map(str, confined.refused(output_of(confined, script), confined.bounds.root)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo x > ../outside/new", "../outside/new"),
        ("touch ../outside/new", "../outside/new"),
        ("sh -c 'echo x > ../outside/new'", "../outside/new"),
        ("mkdir ../outside/new", "../outside/new"),
        ("mkdir -p ../outside/a/b", "../outside/a"),
        ("cp /etc/hostname ../outside/h", "../outside/h"),
        ("python3 -c \"open('../outside/new', 'w')\"", "../outside/new"),
        ("cd .. && echo x > $PWD/outside/new", None),
        ("echo fine; git config --global user.name x --file ../outside/c || touch ../outside/c", "../outside/c"),
    ],
)
def test_a_refused_write_is_recognised_and_named(tmp_path, kind, script, what):
    confined = confinement(kind, bounds_in(tmp_path))
    expected = what or f"{tmp_path}/outside/new"
    assert f"writing to {expected}" in refused(confined, script)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "script",
    [
        "echo x > new; cat new",
        "cat nothing",
        "echo 'bash: ./new: Permission denied'",
        "echo Permission denied",
        "ls ../outside; false",
        "echo x > /dev/null",
        "cat ../outside/nothing; false",
    ],
)
def test_what_was_not_refused_by_the_sandbox_is_not_taken_for_it(tmp_path, kind, script):
    assert refused(confinement(kind, bounds_in(tmp_path)), script) == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_the_rights_of_a_file_forbid_is_not_the_sandboxs_doing(tmp_path):
    bounds = bounds_in(tmp_path)
    assert bounds.refused("bash: line 1: /etc/passwd: Permission denied", bounds.root) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_may_be_written_the_workspace_is_refused_too(tmp_path, kind):
    confined = confinement(kind, bounds_in(tmp_path, writes=False))
    assert refused(confined, "echo x > new") == ("writing to new",)
    assert list(confined.bounds.root.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_is_switched_off_is_recognised(tmp_path, kind):
    confined = confinement(kind, bounds_in(tmp_path, has_network=False))
    connect = "python3 -c \"import socket; socket.create_connection(('203.0.113.7', 80), 5)\""
    assert refused(confined, connect) == ("using the network",)


def test_a_network_that_is_open_is_never_named(tmp_path):
    bounds = bounds_in(tmp_path)
    assert bounds.refused("curl: (6) Could not resolve host: example.invalid", bounds.root) == ()


def test_parts_of_git_that_are_protected_count_as_refused(tmp_path):
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    (confined.bounds.root / ".git/hooks").mkdir(parents=True)
    assert refused(confined, "echo x > .git/hooks/pre-commit") == ("writing to .git/hooks/pre-commit",)


def test_the_repository_of_an_added_folder_is_protected_as_well(tmp_path):
    bounds = bounds_in(tmp_path)
    added = tmp_path / "added"
    for folder in (bounds.root, added):
        (folder / ".git/hooks").mkdir(parents=True)
        (folder / ".git/info").mkdir()
        (folder / ".git/config").touch()
    confined = confinement("bubblewrap", replace(bounds, writable=(bounds.root, added)))
    for folder in ("../added", "."):
        for part in ("hooks/pre-commit", "info/attributes", "config"):
            assert refused(confined, f"echo x > {folder}/.git/{part}") == (f"writing to {folder}/.git/{part}",)
        assert refused(confined, f"mv {folder}/.git {folder}/.other")
        assert refused(confined, f"echo x > {folder}/.git/HEAD && echo x > {folder}/new") == ()
    assert (added / "new").exists()
    assert not (added / ".git/hooks/pre-commit").exists()


def test_where_nothing_may_be_written_the_repository_is_refused_too(tmp_path):
    confined = confinement("bubblewrap", bounds_in(tmp_path, writes=False))
    (confined.bounds.root / ".git").mkdir()
    assert refused(confined, "echo x > .git/HEAD") == ("writing to .git/HEAD",)
    assert not (confined.bounds.root / ".git/HEAD").exists()


@pytest.mark.parametrize("what", ["environ", "maps", "mem", "cwd"])
def test_what_may_not_be_read_of_another_process_is_not_called_writing(tmp_path, what):
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    path = f"/proc/{os.getpid()}/{what}"
    look = f"readlink -v {path}" if what == "cwd" else f"cat {path}"
    assert refused(confined, look) == (f"reading {path}",)


def test_a_mount_is_told_from_the_rights_of_a_file(tmp_path):
    confined = confinement("bubblewrap", bounds_in(tmp_path))
    (tmp_path / "outside/run").write_text("echo ran\n")
    assert refused(confined, "../outside/run") == ()
    assert refused(confined, "echo x > ../outside/run") == ("writing to ../outside/run",)


@pytest.mark.parametrize(
    ("line", "is_plain"),
    [
        ("touch: cannot touch '{}': Read-only file system", True),
        ("bash: line 1: {}: Permission denied", True),
        ("OSError: [Errno 30] Read-only file system: '{}'", True),
        ("Error: EACCES: permission denied, open '{}'", True),
        ("tar: {}: Cannot open: Permission denied", True),
        ("fatal: cannot mkdir {}: Read-only file system", True),
        ("build.log:12:touch: cannot touch '{}': Permission denied", False),
        ("2026-01-01 12:00 touch: cannot touch '{}': Permission denied", False),
        ("He said '{}': Permission denied and left", False),
    ],
)
def test_the_shape_of_a_programs_own_error_is_known(tmp_path, line, is_plain):
    bounds = bounds_in(tmp_path)
    (refusal,) = bounds.refused(line.format("../outside/x"), bounds.root)
    assert (refusal.is_plain, refusal.written) == (is_plain, bounds.root / "../outside/x")


def test_very_odd_output_is_looked_through_without_harm(tmp_path):
    bounds = bounds_in(tmp_path)
    odd = "'\0': Permission denied\n" + "/" * 5_000 + ": Permission denied\n" + "a'" * 10_000 + "Permission denied"
    assert bounds.refused(odd, bounds.root) == ()
