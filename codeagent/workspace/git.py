"""Asks git about the workspace without running anything that the repository names: no hook, filter or monitor."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.protocols import WorkspaceStatus

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a machine without git is no error

from git.cmd import Git
from git.exc import GitError

_SECONDS = 5.0
_MARK = "codeagent.safe"
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
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
}
_FILTER = re.compile(r"filter\..*\.(?:clean|smudge|process)", re.DOTALL)
_PROGRAM = re.compile(
    r"core\.(?:fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy)|diff\.external|diff\..*\.(?:command|textconv)"
    r"|filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|alias\..*|pager\..*|interactive\.difffilter"
    r"|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|sequence\.editor|(?:diff|merge)tool\..*\.cmd"
    r"|remote\..*\.(?:uploadpack|receivepack|vcs)",
    re.DOTALL,
)
_NO_PROGRAM = frozenset({"", "true", "false", "1", "0", "yes", "no", "on", "off"})
_OWN_SCOPES = frozenset({"local", "worktree"})
_SHORT_ID = 7


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


def run_git(root: Path, *words: str, seconds: float = _SECONDS) -> str | None:
    """What a git command that only reads prints in ``root``; None when it fails or there is no repository.

    No hook, filter, monitor, pager, editor, credential helper or transport is started,
    whatever the repository's configuration says. Diff commands need
    ``--no-ext-diff --no-textconv`` besides. ``seconds`` is the time limit.
    """
    settings = _settings(root, seconds)
    if settings is None:
        return None
    filters = {entry.name: "" for entry in settings if _FILTER.fullmatch(entry.name)}
    required = {f"{name.rsplit('.', 1)[0]}.required": "false" for name in filters}
    return _git(root, words, {**_HARMLESS, **filters, **required}, seconds)


def configured_programs(root: Path) -> tuple[str, ...]:
    """The settings of the repository itself by which git commands would start programs, such as ``diff.external``."""
    return tuple(
        dict.fromkeys(
            entry.name
            for entry in _settings(root, _SECONDS) or ()
            if entry.scope in _OWN_SCOPES and _PROGRAM.fullmatch(entry.name) and entry.value.lower() not in _NO_PROGRAM
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """One setting as git sees it; ``scope`` is where it was made: system, global, local, worktree or command."""

    scope: str
    name: str
    value: str


def _settings(root: Path, seconds: float) -> tuple[_Setting, ...] | None:
    """Every setting in force. None without a repository, and for a git (before 2.31) that ignores ours."""
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return None
    out = _git(root, ("config", "--list", "--show-scope", "-z"), _HARMLESS, seconds)
    fields = out.split("\0")[:-1] if out else []
    settings = tuple(
        _Setting(scope=scope, name=name, value=value)
        for scope, (name, _, value) in zip(fields[::2], (entry.partition("\n") for entry in fields[1::2]), strict=False)
    )
    return settings if any(entry.name == _MARK for entry in settings) else None


def _git(root: Path, words: tuple[str, ...], settings: Mapping[str, str], seconds: float) -> str | None:
    environment = {**_ENVIRONMENT, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    command = ["git", "--no-pager", "--no-optional-locks", "-C", str(root), *words]
    try:
        code, out, _ = Git(root).execute(
            command,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            kill_after_timeout=seconds,
            env=environment,
        )
    except (GitError, OSError):
        return None
    return os.fsdecode(out) if code == 0 else None
