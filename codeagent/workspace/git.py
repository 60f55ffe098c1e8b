"""Asks git about the workspace without running anything that the repository names: no hook, filter or monitor."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType

from codeagent.core.desk import WorkspaceStatus
from codeagent.core.programs import find_program
from codeagent.core.text import counted, show_invisible
from codeagent.workspace.leftovers import TEMP_PREFIX

_SECONDS = 5.0
_MARK = f"codeagent.mark{secrets.token_hex(8)}"  # no repository can know it
_HARMLESS = {
    _MARK: "true",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.editor": "false",
    "core.sshCommand": "false",
    "core.askPass": "",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
}
_FILTER = re.compile(r"filter\..*\.(?:clean|smudge|process)", re.DOTALL)
_SPARSE_INDEX = "index.sparse"
_READ_INDEX = frozenset({"status", "diff", "diff-index", "ls-files"})
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
    out = run_git(
        root,
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--no-ahead-behind",
        "--no-renames",
        "--untracked-files=no",
        "--ignore-submodules=all",
    )
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

    No hook, filter, monitor, pager, editor, credential helper or transport is started,
    whatever the repository's configuration says. Diff commands need
    ``--no-ext-diff --no-textconv`` besides. ``seconds`` is the time limit.
    """
    names = _setting_names(root, seconds)
    if _MARK not in names:
        return None
    filters = {name: "" for name in names if _FILTER.fullmatch(name)}
    required = {f"{name.rsplit('.', 1)[0]}.required": "false" for name in filters}
    settings = {**_HARMLESS, **filters, **required}
    if _SPARSE_INDEX not in names or words[0] not in _READ_INDEX:
        return _git(root, words, settings, seconds)
    return _git_without_writing(root, words, settings, seconds)


def _setting_names(root: Path, seconds: float) -> frozenset[str]:
    """The names of all settings in force. Without a repository none; a git before 2.31 ignores ours and so the mark."""
    if not any(os.access(folder / ".git", os.F_OK) for folder in (root, *root.parents)):
        return frozenset()
    out = _git(root, ("config", "--list", "--name-only", "-z"), _HARMLESS, seconds)
    return frozenset(out.split("\0")) if out else frozenset()


def _git_without_writing(root: Path, words: tuple[str, ...], settings: Mapping[str, str], seconds: float) -> str | None:
    """Where the index holds whole folders as one entry each, git writes objects even to read it: elsewhere, here."""
    objects = _git(root, ("rev-parse", "--path-format=absolute", "--git-path", "objects"), settings, seconds)
    if not objects:
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="codeagent-objects-") as folder:
            places = {
                "GIT_OBJECT_DIRECTORY": folder,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_place(Path(objects.rstrip("\n"))),
            }
            return _git(root, words, settings, seconds, places)
    except OSError:  # no room for it
        return None


def quoted_place(path: Path) -> str:
    """A path as git's lists of object folders want it: in quotes, as C would write it, where it is odd."""
    text = str(path)
    if ":" not in text and not text.startswith('"'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _git(
    root: Path,
    words: tuple[str, ...],
    settings: Mapping[str, str],
    seconds: float,
    places: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    environment = {**_ENVIRONMENT, **places, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
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
            env=environment,
        )
    except (git.exc.GitError, OSError):
        return None
    return os.fsdecode(out) if code == 0 else None


@cache
def _gitpython(program: str) -> ModuleType:
    """GitPython, loaded when git is first asked: a session's first request does not have to wait for it."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a git that does not run is no error
    os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = program  # which it starts when it is loaded
    return import_module("git")
