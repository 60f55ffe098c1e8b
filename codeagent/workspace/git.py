"""Asks git about the workspace without running anything that a repository names: no hook, filter or monitor."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from codeagent.core.desk import WorkspaceStatus
from codeagent.core.programs import find_program
from codeagent.core.text import counted, show_invisible
from codeagent.workspace.git_repository import Repository, repository_around
from codeagent.workspace.git_stand_in import stand_in, values_in_force
from codeagent.workspace.leftovers import TEMP_PREFIX

_SECONDS = 5.0
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "0",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_EDITOR": "false",
    "GIT_NAMESPACE": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
}
_WITHOUT_OTHERS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_EXEC_PATH": os.devnull,
    "PATH": os.devnull,
}
"""The settings of the stand-in are all; and git finds no program by its name, not even itself for a submodule."""

_TRACKED_FIELDS = {"1": 7, "u": 9}
"""How many fields stand before the path of an ordinary and of an unmerged entry, after its kind."""

_JOINING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_SHORT_ID = 7
_MOST_NAMED = 3


def status(root: Path) -> WorkspaceStatus:
    """Branch and uncommitted changes (untracked files aside) of the repository around ``root``.

    Both are empty without git, without a repository, or where git takes longer than
    five seconds. Where the repository filters file contents, a file that was only
    touched may count as changed: the filters are not run.
    """
    words = ("status", "--porcelain=v2", "--branch", "-z", "--no-ahead-behind", "--no-renames")
    out = run_git(root, *words, "--untracked-files=no", "--ignore-submodules=all")
    if out is None:
        return WorkspaceStatus(root=root)
    lines = out.split("\0")
    headers = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# ") and " " in line[2:])
    branch = headers.get("branch.head", "")
    if branch == "(detached)":
        branch = headers.get("branch.oid", "")[:_SHORT_ID]
    return WorkspaceStatus(root=root, branch=branch, is_dirty=any(line and not line.startswith("# ") for line in lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncommitted:
    """Work that is in no commit: ``changed`` files that git knows, ``new`` ones that it does not and does not ignore.

    Paths are absolute. ``has_staged``: the index differs from the last commit.
    """

    changed: tuple[Path, ...] = ()
    new: tuple[Path, ...] = ()
    has_staged: bool = False


def uncommitted(folder: Path, below: Sequence[str] = ()) -> Uncommitted | None:
    """What is not committed below the paths ``below``, as seen from ``folder``; everywhere when there are none.

    None without git, without a repository, or where git takes longer than five seconds.
    """
    top = run_git(folder, "rev-parse", "--path-format=absolute", "--show-toplevel")
    words = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all", "--")
    out = run_git(folder, *words, *below) if top else None
    if not top or out is None:
        return None
    changed: list[Path] = []
    new: list[Path] = []
    has_staged = False
    for entry in out.split("\0"):
        kind, _, rest = entry.partition(" ")
        if kind == "?" and not Path(rest).name.startswith(TEMP_PREFIX):
            new.append(Path(top.rstrip("\n"), rest))
        elif kind in _TRACKED_FIELDS:
            fields = rest.split(" ", _TRACKED_FIELDS[kind])
            has_staged = has_staged or not fields[0].startswith(".")
            changed.append(Path(top.rstrip("\n"), fields[-1]))
    return Uncommitted(changed=tuple(changed), new=tuple(new), has_staged=has_staged)


def not_looked_at(folder: Path, below: Sequence[str] = ()) -> tuple[Path, ...] | None:
    """The files at hand that git was told to take as unchanged, so that it lists no change of them; None as above.

    Commands that write files anew may write these as well.
    """
    out = run_git(folder, "ls-files", "-z", "-v", "--", *below)
    if out is None:
        return None
    entries = (entry.partition(" ") for entry in out.split("\0"))
    paths = (folder / name for flag, _, name in entries if flag.islower() or flag == "S")
    return tuple(path for path in paths if path.is_symlink() or path.exists())


def is_joining(folder: Path) -> bool:
    """Whether a merge, a cherry-pick or a revert is under way, which a reset would forget."""
    return any(run_git(folder, "rev-parse", "--verify", "--quiet", name) for name in _JOINING)


def uncommitted_in_words(found: Uncommitted, show: Callable[[Path], str]) -> str:
    """How many files are not committed and some of their names, without a full stop; empty when there are none."""
    kinds = ((found.changed, "changed file"), (found.new, "new file"))
    counts = [counted(len(those), noun) for those, noun in kinds if those]
    paths = (*found.changed, *found.new)
    if not paths:
        return ""
    names = ", ".join(show_invisible(show(path)) for path in paths[:_MOST_NAMED])
    more = " …" if len(paths) > _MOST_NAMED else ""
    return f"{' and '.join(counts)} {'is' if len(paths) == 1 else 'are'} not committed ({names}{more})"


def run_git(root: Path, *words: str, seconds: float = _SECONDS) -> str | None:
    """What a git command that only reads prints in ``root``; None when it fails or there is no repository.

    Nothing that a repository names is started, no filter, monitor, hook, merge driver or transport, whatever the
    words and the settings are: git runs on a stand-in for the repository that has none of them, and does not enter
    the repositories inside. ``seconds`` is the time limit.
    """
    repository = repository_around(root)
    if repository is None:
        return None
    settings = _settings(repository, seconds)
    if settings is None:
        return None
    try:
        with stand_in(repository, settings) as places:
            out = _git(root, words, {**_WITHOUT_OTHERS, **places}, seconds)
    except OSError:  # no room for it
        return None
    return None if out is None else os.fsdecode(out)


def settings_of(repository: Repository) -> dict[str, str]:
    """The settings in force that git is allowed to know, by name; empty where git cannot tell."""
    return dict(values_in_force(_settings(repository, _SECONDS) or b""))


def _settings(repository: Repository, seconds: float) -> bytes | None:
    """All that is set for the repository and by the person: to list it, git starts nothing."""
    places = {"GIT_DIR": str(repository.inside), "GIT_COMMON_DIR": str(repository.common)}
    return _git(repository.top, ("config", "--list", "--includes", "-z"), places, seconds)


def _git(root: Path, words: Sequence[str], places: Mapping[str, str], seconds: float) -> bytes | None:
    program = find_program("git")
    if program is None:
        return None
    try:
        git = _gitpython(program)
    except ImportError:  # what lies there under the name of git is none
        return None
    command = [program, "--no-pager", "--no-optional-locks", "-C", str(root), *words]
    try:
        code, out, _ = git.cmd.Git(root).execute(
            command,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            kill_after_timeout=seconds,
            env={**_ENVIRONMENT, **places},
        )
    except (git.exc.GitError, OSError):
        return None
    return out if code == 0 and isinstance(out, bytes) else None


@cache
def _gitpython(program: str) -> ModuleType:
    """GitPython, loaded when git is first asked: a session's first request does not have to wait for it."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a git that does not run is no error
    os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = program  # which it starts when it is loaded
    return import_module("git")
