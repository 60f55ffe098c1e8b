"""Where the parts of the repository around a folder lie, told without running git."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codeagent.workspace.git_places import is_there, looks_like_git
from codeagent.workspace.git_settings import CONTROL

_LARGEST_LINK = 4096
_HEAD = re.compile(rb"ref:[ \t]*refs/|[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The repository whose work tree begins at ``top``.

    ``inside`` holds what is this work tree's own (``HEAD``, the index), ``common`` what linked work trees share.
    """

    top: Path
    inside: Path
    common: Path

    @property
    def objects(self) -> Path:
        """Where all contents are kept."""
        return self.common / "objects"


def repository_around(folder: Path) -> Repository | None:
    """The repository that git takes in ``folder``; None outside of one, in a bare one, and where that is not plain.

    Like git, it goes on to the folders above where a ``.git`` is no repository.
    """
    folder = folder.resolve()
    for place in (folder, *folder.parents):
        if looks_like_git(partial(_holds, place)):
            return None
        link = place / ".git"
        if not is_there(link):
            continue
        try:
            inside = git_inside(link)
            common = inside / one_line(inside / "commondir") if is_there(inside / "commondir") else inside
        except (OSError, ValueError):
            return None
        if is_whole(inside, common):
            return Repository(top=place, inside=inside.resolve(), common=common.resolve())
        if inside != link:
            return None
    return None


def git_inside(link: Path) -> Path:
    """The folder with a work tree's own settings and index. Raises OSError and ValueError."""
    if not link.is_file():
        return link
    text = one_line(link)
    if not text.startswith("gitdir: "):
        raise ValueError(f"{link.name} names no repository")
    return link.parent / _plain(text.removeprefix("gitdir: "), link)


def is_whole(inside: Path, common: Path) -> bool:
    """Whether git takes these folders for a repository (``is_git_directory`` in git's setup.c)."""
    return head_of(inside) is not None and (common / "objects").is_dir() and (common / "refs").is_dir()


def head_of(inside: Path) -> bytes | None:
    """What ``HEAD`` says, be it as a link into ``refs``; None when it says nothing that git takes."""
    head = inside / "HEAD"
    try:
        if head.is_symlink():
            target = os.fsencode(head.readlink())
            return b"ref: " + target if target.startswith(b"refs/") else None
        data = _content(head)
    except (OSError, ValueError):
        return None
    return data if _HEAD.match(data) else None


def one_line(path: Path) -> str:
    """The line that a small file holds. Raises OSError, and ValueError for anything else."""
    return _plain(_content(path).decode("utf-8").rstrip("\r\n"), path)


def _content(path: Path) -> bytes:
    """All of a small regular file: what is none, such as a pipe that nobody writes to, is not waited for."""
    with open(path, "rb", opener=lambda name, how: os.open(name, how | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path.name} is no file")
        data = file.read(_LARGEST_LINK + 1)
    if len(data) > _LARGEST_LINK:
        raise ValueError(f"{path.name} is too large")
    return data


def _plain(text: str, path: Path) -> str:
    if not text or text != text.strip() or CONTROL.search(text) or "\n" in text:
        raise ValueError(f"{path.name} is written in an unusual way")
    return text


def _holds(folder: Path, name: str) -> bool:
    return is_there(folder / name)
