"""Gives files and folders an earlier state: in one step, through no link, and only what still is what was looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import StaleFile
from codeagent.store.blobs import Blobs
from codeagent.store.file_states import FileState, state_of
from codeagent.workspace.atomic import write_atomic
from codeagent.workspace.handles import opened_file, opened_folder, problems_of
from codeagent.workspace.leftovers import new_temp_name
from codeagent.workspace.staged import Staged, stage


def lay_ready(path: Path, now: FileState | None, wanted: FileState, blobs: Blobs) -> Staged | None:
    """The content that ``restore`` will need beside its place; None where it needs none, or cannot have it there.

    Raises StaleFile, FileProblem and CheckpointError.
    """
    if wanted.is_link or (now is not None and not now.is_link and now.blob == wanted.blob):
        return None
    before = None if now is None or now.is_link else blobs.read(now.blob)
    return stage(path, blobs.read(wanted.blob), expected=before, mode=wanted.mode)


def restore(
    path: Path, now: FileState | None, wanted: FileState | None, blobs: Blobs, staged: Staged | None = None
) -> None:
    """Makes a file that stands as ``now`` stand as ``wanted``; None is no file.

    ``staged`` is its content where that lies ready. Raises StaleFile when it is something
    else by now, FileProblem when it cannot be written, CheckpointError when its content is
    gone; it is then as it was.
    """
    if now == wanted:
        return
    if state_of(path, blobs) != now:
        raise StaleFile(f"{path} was changed meanwhile.", hint="Look at what is there now.")
    with problems_of(path):
        if wanted is None:
            _remove(path)
        elif wanted.is_link:
            _link(path, blobs.read(wanted.blob))
        else:
            _write(path, now, wanted, blobs, staged)


def remove_empty(folders: Iterable[Path]) -> None:
    """Removes those of the folders, innermost last, that are empty."""
    for folder in reversed([*folders]):
        with suppress(OSError), opened_folder(folder.parent) as parent:
            os.rmdir(folder.name, dir_fd=parent)


def make_folder(path: Path) -> None:
    """Makes a folder with those above it where it is missing; raises FileProblem."""
    with problems_of(path):
        path.mkdir(parents=True, exist_ok=True)


def set_mode(path: Path, mode: int) -> None:
    """Gives a folder its mode bits; raises FileProblem."""
    with problems_of(path), opened_folder(path.parent) as parent:
        try:
            folder = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        except PermissionError:  # it may not even be read: that is no link
            os.chmod(path.name, mode, dir_fd=parent)
            return
        try:
            if stat.S_IMODE(os.fstat(folder).st_mode) != mode:
                os.fchmod(folder, mode)
        finally:
            os.close(folder)


def _remove(path: Path) -> None:
    with opened_folder(path.parent) as folder:
        os.unlink(path.name, dir_fd=folder)


def _link(path: Path, leads_to: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened_folder(path.parent) as folder:
        name = new_temp_name()
        os.symlink(os.fsdecode(leads_to), name, dir_fd=folder)
        os.replace(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def _write(path: Path, now: FileState | None, wanted: FileState, blobs: Blobs, staged: Staged | None) -> None:
    if now is not None and now.is_link:
        _remove(path)
        now = None
    if now is None:
        remove_empty([path])  # a folder that was made in its place
    if now is None or now.blob != wanted.blob:
        before = None if now is None else blobs.read(now.blob)
        if staged is None or not staged.take_place(before):
            write_atomic(path, blobs.read(wanted.blob), expected=before, mode=wanted.mode & 0o666 or 0o600)
    with opened_folder(path.parent) as folder, opened_file(folder, path.name, path) as file:
        if stat.S_IMODE(os.fstat(file).st_mode) != wanted.mode:
            os.fchmod(file, wanted.mode)
