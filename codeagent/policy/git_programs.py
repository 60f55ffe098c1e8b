"""Finds out whether git, run in a folder, could start a program that the repository names, or read files elsewhere.

A repository's own settings may name programs for filters, diffs, signatures and for
fetching what is missing; the same goes for the repositories inside it that git enters.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.workspace.git_index import submodules
from codeagent.workspace.git_places import is_there, repository_of
from codeagent.workspace.git_repository import git_inside, is_whole, one_line
from codeagent.workspace.git_settings import program_in, work_tree_in
from codeagent.workspace.sensitive import has_git_key

_MOST_MODULES = 200
_DEEPEST = 6
_PARTS = ("HEAD", "objects", "refs", "packed-refs", "logs", "index")
_HOOKS_OF_READERS = ("post-index-change", "reference-transaction")


def configured_programs(folder: Path, roots: Sequence[Path] = ()) -> str:
    """Why git, run in ``folder``, could start a program of the repository's or show another one; else an empty string.

    A folder that is laid out like a repository is taken for one. Hooks of the repository
    itself are not looked at: commands that only read are run without them. A repository
    that lies elsewhere counts when it is in ``roots``, or names this work tree as its own.
    """
    for place in (folder, *folder.parents):
        if _is_bare(place):
            return f"{place} is a bare repository with settings of its own"
        link = place / ".git"
        if not is_there(link):
            continue
        reason = _programs_of(place, 0, roots)
        if reason or _is_surely_taken(link):
            return reason
    return ""


def _programs_of(work_tree: Path, depth: int, roots: Sequence[Path]) -> str:
    """Why the repository of a work tree, or one inside it, could start a program or is another one."""
    if depth > _DEEPEST:
        return f"the repositories in {work_tree} lie too deep to look through"
    link = work_tree / ".git"
    try:
        inside = git_inside(link)
        if elsewhere := foreign_part(work_tree, roots):
            return f"{link} names a repository elsewhere, which does not name this one: {elsewhere}"
        for config in _configs(inside):
            if reason := program_in(config, is_nested=depth > 0, work_tree=work_tree):
                return reason
        if depth and any(os.access(inside / "hooks" / name, os.X_OK) for name in _HOOKS_OF_READERS):
            return f"the repository in {work_tree} has hooks that run when it is read"
        nested = [work_tree / name for name in submodules(inside) if is_there(work_tree / name / ".git")]
        return next((reason for place in nested if (reason := _programs_of(place, depth + 1, roots))), "")
    except (OSError, ValueError) as error:
        return f"the repository's settings ({link}) cannot be read as git does: {error}"


def settings_with_key(folder: Path) -> Path | None:
    """The settings that hold for git in ``folder`` and have a key in them, or an address with a password."""
    place = repository_of(folder)
    link = place and place / ".git"
    try:
        own = _configs(git_inside(link)) if link else ()
        home = Path.home()
        files = (*own, home / ".gitconfig", home / ".config" / "git" / "config")
    except (OSError, ValueError):
        return link
    return next(filter(has_git_key, files), None)


def _is_bare(place: Path) -> bool:
    """What git looks for in a folder that may be a repository's inside; links that lead nowhere count."""
    return is_there(place / "HEAD") and (
        ((place / "objects").is_dir() and (place / "refs").is_dir()) or is_there(place / "commondir")
    )


def _is_surely_taken(link: Path) -> bool:
    """Whether git stops its search here: it goes on to the folders above when this is no whole repository."""
    return link.is_file() or is_whole(link, link)  # where a file names no repository git gives up


def foreign_part(work_tree: Path, roots: Sequence[Path] = ()) -> Path | None:
    """A part of a work tree's repository that lies outside of it and of ``roots``, and does not name it in turn.

    A linked work tree is named by the folder that its ``.git`` names, a submodule by its
    settings; ``.git`` as a link, or naming any other repository, would show what is in that.
    Raises OSError and ValueError.
    """
    top, link = work_tree.resolve(), work_tree / ".git"
    inside = git_inside(link).resolve()
    homes = [top, *(root.resolve() for root in roots)]
    if is_there(inside / "commondir"):
        common = (inside / one_line(inside / "commondir")).resolve()
        if not _is_in(common, homes) and not (inside.parent.parent == common and _names(inside, top / ".git")):
            return common
        homes.append(common)
    elif not _is_in(inside, homes):
        if not link.is_file() or work_tree_in(inside / "config") != top:
            return inside
        homes.append(inside)
    parts = (inside, *((inside / name).resolve() for name in _PARTS))
    return next((part for part in parts if not _is_in(part, homes)), None)


def _names(inside: Path, link: Path) -> bool:
    """Whether the folder of a linked work tree names the ``.git`` file that names it."""
    return is_there(inside / "gitdir") and (inside / one_line(inside / "gitdir")).resolve() == link.resolve()


def _is_in(path: Path, homes: Sequence[Path]) -> bool:
    return any(path.is_relative_to(home) for home in homes)


def _configs(inside: Path) -> Iterator[Path]:
    """The settings of a repository, of its linked work tree and of its submodules."""
    yield inside / "config"
    yield inside / "config.worktree"
    if is_there(inside / "commondir"):
        common = inside / one_line(inside / "commondir")
        yield common / "config"
        yield common / "config.worktree"
    for number, config in enumerate((inside / "modules").glob("**/config")):
        if number >= _MOST_MODULES:
            raise ValueError("it has too many submodules")
        yield config
