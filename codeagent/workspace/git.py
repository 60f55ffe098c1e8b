"""Asks git about the workspace without running anything that the repository names: no hook, filter or monitor."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from codeagent.core.desk import WorkspaceStatus

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a machine without git is no error

from git.cmd import Git
from git.exc import GitError

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
    names = _setting_names(root, seconds)
    if _MARK not in names:
        return None
    filters = {name: "" for name in names if _FILTER.fullmatch(name)}
    required = {f"{name.rsplit('.', 1)[0]}.required": "false" for name in filters}
    return _git(root, words, {**_HARMLESS, **filters, **required}, seconds)


def _setting_names(root: Path, seconds: float) -> frozenset[str]:
    """The names of all settings in force. Without a repository none; a git before 2.31 ignores ours and so the mark."""
    if not any(os.access(folder / ".git", os.F_OK) for folder in (root, *root.parents)):
        return frozenset()
    out = _git(root, ("config", "--list", "--name-only", "-z"), _HARMLESS, seconds)
    return frozenset(out.split("\0")) if out else frozenset()


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
