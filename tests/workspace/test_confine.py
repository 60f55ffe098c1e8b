"""Confined commands write where they may and nowhere else."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.approvals import Hold
from codeagent.workspace import landlock
from codeagent.workspace.bounds import closed_places
from codeagent.workspace.confine import (
    Bounds,
    Bubblewrap,
    Landlock,
    Level,
    find_confinement,
    hold_of,
    in_words,
    seatbelt_profile,
)
from tests.workspace.confined import run_in

needs_landlock = pytest.mark.skipif(landlock.abi() < landlock.LEAST_ABI, reason="this kernel has no Landlock")


def run_confined(bounds: Bounds, script: str) -> int:
    return run_in(Landlock(bounds=bounds), script)[0]


@pytest.fixture
def bounds(tmp_path: Path) -> Bounds:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept.txt").write_text("kept")
    return Bounds(root=root, writable=(root,))


@needs_landlock
def test_a_command_can_write_in_the_workspace(bounds):
    assert run_confined(bounds, "mkdir a && echo x > a/b && mv a/b c && rm -r a && ln -s c d && echo y >> c") == 0
    assert (bounds.root / "c").read_text() == "x\ny\n"


@needs_landlock
@pytest.mark.parametrize(
    "script",
    [
        "echo x > ../outside/new.txt",
        "echo x > ../outside/kept.txt",
        "echo x >> ../outside/kept.txt",
        "rm ../outside/kept.txt",
        "mv ../outside/kept.txt .",
        "truncate -s 0 ../outside/kept.txt",
        "mkdir ../outside/new",
        "ln -s x ../outside/link",
        "ln -s ../outside out && echo x > out/new.txt",
    ],
)
def test_a_command_cannot_write_outside(bounds, script):
    assert run_confined(bounds, script) != 0
    outside = bounds.root.parent / "outside"
    assert [path.name for path in outside.iterdir()] == ["kept.txt"]
    assert (outside / "kept.txt").read_text() == "kept"


@needs_landlock
def test_a_command_can_read_outside_and_write_to_devices(bounds):
    assert run_confined(bounds, "cat ../outside/kept.txt > /dev/null") == 0


@needs_landlock
def test_the_program_itself_stays_free(bounds):
    assert run_confined(bounds, "true") == 0
    (bounds.root.parent / "outside/new.txt").write_text("still allowed")


@pytest.mark.skipif(landlock.abi() < landlock.NETWORK_ABI, reason="this kernel cannot refuse connections")
@pytest.mark.parametrize(("has_network", "code"), [(True, 0), (False, 1)])
def test_the_network_can_be_switched_off(bounds, has_network, code):
    connect = (
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); "
        "socket.create_connection(s.getsockname())"
    )
    bounded = Bounds(root=bounds.root, writable=bounds.writable, has_network=has_network)
    assert run_confined(bounded, f'{sys.executable} -c "{connect}"') == code


def test_off_is_no_confinement(tmp_path):
    assert find_confinement(Level.OFF, tmp_path, (), has_network=True) is None


def test_read_only_leaves_only_the_temporary_folder_writable(tmp_path):
    found = find_confinement(Level.READ_ONLY, tmp_path, (Path("/x"),), has_network=True)
    assert found is None or (tmp_path not in found.bounds.writable and Path("/x") not in found.bounds.writable)


def test_bubblewrap_protects_the_parts_of_git_that_run_programs(tmp_path):
    (tmp_path / ".git/hooks").mkdir(parents=True)
    bounds = Bounds(root=tmp_path, writable=(tmp_path,), protects_git=True)
    words = Bubblewrap(program="bwrap", bounds=bounds).wrapped(["true"], tmp_path)
    hooks = str(tmp_path / ".git/hooks")
    assert ["--ro-bind", hooks, hooks] == list(words)[(at := list(words).index(hooks)) - 1 : at + 2]
    assert words[-2:] == ["--", "true"]


def test_the_seatbelt_profile_quotes_paths_and_ends_with_what_is_denied():
    folder = Path('/a "b')
    profile = seatbelt_profile(Bounds(root=folder, writable=(folder,), has_network=False, protects_git=True))
    assert '(subpath "/a \\"b")' in profile
    assert profile.splitlines()[-1] == "(deny network*)"
    assert '(deny file-write* (subpath "/a \\"b/.git/hooks")' in profile
    assert profile.index("(deny file-write* (subpath") < profile.index("(allow file-write*")


@pytest.mark.parametrize("place", [".", "deep/er"])
def test_read_only_keeps_a_workspace_among_temporary_files_as_it_is(tmp_path, monkeypatch, place):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root = tmp_path / place
    root.mkdir(parents=True, exist_ok=True)
    found = find_confinement(Level.READ_ONLY, root, (), has_network=True)
    if found is None:
        pytest.skip("nothing confines here")
    assert found.bounds.writable == ()
    assert "writes nowhere" in in_words(found, Level.READ_ONLY)
    assert run_confined(found.bounds, f"echo x > {root}/new") != 0
    assert not (root / "new").exists()


def test_read_only_keeps_an_added_folder_among_temporary_files_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp/more").mkdir(parents=True)
    found = find_confinement(Level.READ_ONLY, tmp_path, (tmp_path / "tmp/more",), has_network=True)
    assert found is None or found.bounds.writable == ()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder that is the workspace, with settings of codeagent and a start-up file in it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(home := tmp_path / "home"))
    (home / ".config/codeagent").mkdir(parents=True)
    (home / ".config/codeagent/config.toml").write_text("")
    (home / ".bashrc").write_text("")
    return home


WAYS_IN = {
    "settings": "echo x > .config/codeagent/config.toml",
    "settings not there yet": "mkdir -p .local/state/codeagent; echo x > .local/state/codeagent/grants.json",
    "folder moved away": "mv .config c2; mkdir -p .config/codeagent; echo x > .config/codeagent/config.toml",
    "folder deleted": "rm -rf .config; mkdir -p .config/codeagent; echo x > .config/codeagent/config.toml",
    "exchanged": "echo x > new; mv -f new .config/codeagent/config.toml",
    "start-up file": "echo x > .bashrc",
    "start-up file exchanged": "rm -f .bashrc; echo x > .bashrc",
}


@pytest.mark.parametrize("script", WAYS_IN.values(), ids=WAYS_IN)
def test_codeagents_own_folders_and_start_up_files_stay_as_they_are_in_a_writable_home(home, script):
    own = (home / ".config/codeagent", home / ".local/state/codeagent")
    found = find_confinement(Level.WORKSPACE_WRITE, home, (), has_network=True, own=own)
    if not isinstance(found, Bubblewrap):
        pytest.skip("bubblewrap does not work here")
    run_in(found, script)
    kept = {home / ".config/codeagent/config.toml": "", home / ".bashrc": ""}
    assert {path: path.read_text() for path in kept} == kept
    assert list((home / ".local/state/codeagent").iterdir()) == []
    assert run_in(found, "echo x > new && mkdir -p .config/other && echo x > .config/other/file")[0] == 0
    assert found.keeps_from(home / ".config/codeagent/config.toml")
    assert not found.keeps_from(home / ".config/other/file")


def test_it_says_that_start_up_files_can_be_made_in_a_home_among_temporary_files(home):
    project = home / "project"
    project.mkdir()
    closed = closed_places([home], [project], ())
    beside = Bubblewrap(program="/usr/bin/env", bounds=Bounds(root=project, writable=(project, home), closed=closed))
    assert "start-up files" in beside.cannot_stop
    at_work = Bubblewrap(program="/usr/bin/env", bounds=Bounds(root=home, writable=(home,), closed=closed))
    assert "start-up files" not in at_work.cannot_stop
    apart = Bubblewrap(program="/usr/bin/env", bounds=Bounds(root=project, writable=(project,)))
    assert "start-up files" not in apart.cannot_stop


def test_a_file_in_the_way_of_codeagents_own_folder_stays_in_its_way(home):
    (home / "file").write_text("")
    found = find_confinement(Level.WORKSPACE_WRITE, home, (), has_network=True, own=(home / "file/codeagent",))
    if not isinstance(found, Bubblewrap):
        pytest.skip("bubblewrap does not work here")
    assert run_in(found, "rm -f file; mkdir file; mkdir file/codeagent")[0] != 0
    assert (home / "file").is_file()
    assert run_in(found, "echo x > new")[0] == 0


def test_landlock_does_not_claim_to_keep_what_lies_in_a_writable_folder(home):
    own = (home / ".config/codeagent",)
    closed = closed_places([home], [home], own)
    assert {*own, home / ".bashrc", home / ".ssh"} <= set(closed)
    found = Landlock(bounds=Bounds(root=home, writable=(home,), closed=closed, own=own))
    assert not found.keeps_closed
    assert "codeagent's own settings" in found.cannot_stop
    assert Landlock(bounds=Bounds(root=home, writable=(home / "project",))).keeps_closed


def test_a_workspace_inside_a_place_that_starts_programs_stays_writable(home):
    project = home / ".config/fish"
    assert not any(project.is_relative_to(place) for place in closed_places([project, home], [project], ()))


def test_the_seatbelt_profile_closes_places_and_the_folders_around_them():
    folder = Path("/home/me")
    own = folder / ".config/codeagent"
    profile = seatbelt_profile(Bounds(root=folder, writable=(folder,), closed=(own,), own=(own,)))
    assert '(deny file-write* (subpath "/home/me/.config/codeagent"))' in profile
    assert '(deny file-write-unlink (literal "/home/me/.config"))' in profile


def test_a_gap_is_called_so_wherever_it_is_told(tmp_path):
    closed = tmp_path / "home"
    found = Landlock(bounds=Bounds(root=tmp_path, writable=(tmp_path,), closed=(closed,)))
    assert hold_of(found) is Hold.GAP
    assert in_words(found, Level.WORKSPACE_WRITE).startswith(f"{Hold.GAP} by Landlock")
    assert hold_of(replace(found, bounds=replace(found.bounds, closed=()))) is Hold.WHOLE
    assert hold_of(None) is Hold.NONE
