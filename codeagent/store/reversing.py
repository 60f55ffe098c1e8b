"""Works out what taking changes back does to the files as they are now, later changes of the person included."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.changes import LEFT_ALONE, FileReversal, Pace, Standing
from codeagent.core.errors import CheckpointError, FileProblem, StaleFile, ToolError
from codeagent.core.programs import find_program
from codeagent.store.change_log import Entry
from codeagent.store.change_store import ChangeStore
from codeagent.store.difference import diff_of, worth_showing
from codeagent.store.file_states import FileChange, FileState
from codeagent.store.restoring import lay_ready, make_folder, remove_empty, restore, set_mode
from codeagent.workspace.files import is_binary
from codeagent.workspace.staged import Staged, in_sync

_MERGE_SECONDS = 20.0
_FEW = 50


@dataclass(slots=True, kw_only=True)
class Item:
    """A file or folder: how it stands ``now``, how it should, and whether a person's later change is in the way."""

    name: str
    now: FileState | None
    wanted: FileState | None
    standing: Standing = Standing.CLEAN

    @property
    def change(self) -> FileChange:
        """What is done to it."""
        return FileChange(name=self.name, before=self.now, after=self.wanted)


def work_out(entries: Iterable[Entry], store: ChangeStore, pace: Pace) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """What reversing the entries one after the other does to each file, and what cannot be reversed, in words.

    Raises CheckpointError when an old content is gone, UndoStopped when the ``pace`` says so.
    """
    items: dict[str, Item] = {}
    problems: dict[str, str] = {}
    entries = [*entries]
    states = (state for entry in entries for change in entry.changes for state in (change.before, change.after))
    store.blobs.adopt(state.blob for state in states if state is not None and state.blob)
    for entry in entries:
        for change in entry.changes:
            pace.step()
            try:
                item = items.get(change.name) or _item(change.name, store)
            except FileProblem as problem:
                problems[change.name] = str(problem)
                continue
            items[change.name] = item
            _reverse(item, change, store)
            if not entry.is_sure and item.standing is not Standing.CONFLICT and item.now != item.wanted:
                item.standing = Standing.UNSURE
    _keep_full_folders(items, store)
    changing = (item for _, item in sorted(items.items()) if item.now != item.wanted)
    return tuple(changing), tuple(problems.values())


def _keep_full_folders(items: dict[str, Item], store: ChangeStore) -> None:
    """A folder in which something stays is not removed."""
    going = [name for name, item in items.items() if name.endswith("/") and item.wanted is None and item.now]
    leaving = {name for name, item in items.items() if item.wanted is None and item.standing not in LEFT_ALONE}
    for name in sorted(going, key=len, reverse=True):
        with suppress(OSError), os.scandir(store.path_of(name)) as entries:
            if any(f"{name}{entry.name}" not in leaving and f"{name}{entry.name}/" not in leaving for entry in entries):
                items[name].wanted = items[name].now
                leaving.remove(name)


def _item(name: str, store: ChangeStore) -> Item:
    now = store.state_of(name)
    return Item(name=name, now=now, wanted=now)


def as_shown(items: Iterable[Item], store: ChangeStore, pace: Pace) -> tuple[FileReversal, ...]:
    """The same for people. Raises UndoStopped when the ``pace`` says so."""
    by_name = {item.name: item for item in items}
    changes = worth_showing(item.change for item in by_name.values())
    shown: list[FileReversal] = []
    for change in changes:
        pace.step()
        diff = diff_of(change, store.blobs)
        shown.append(FileReversal(path=diff.path, standing=by_name[change.name].standing, diff=diff))
    return tuple(shown)


@contextmanager
def laid_ready(items: Sequence[Item], store: ChangeStore, pace: Pace) -> Generator[dict[str, Staged]]:
    """The contents that ``apply`` will need, on the disk beside their places, by name; a few are not worth it.

    So a full disk, or the person, stops it before any file is changed, and the disk is waited
    for twice and not with each file. Raises FileProblem, CheckpointError and UndoStopped.
    """
    staged: dict[str, Staged] = {}
    coming = [item for item in items if not item.change.is_folder and item.wanted is not None]
    try:
        for item in coming if len(coming) > _FEW else ():
            pace.step()
            with suppress(StaleFile):  # that is told when its turn comes
                ready = item.wanted and lay_ready(store.path_of(item.name), item.now, item.wanted, store.blobs)
                if ready is not None:
                    staged[item.name] = ready
        places = {ready.beside for ready in staged.values()}
        in_sync((*places, store.git.folder) if places else ())
        pace.step()
        pace.is_final = True
        yield staged
        in_sync(places)
    finally:
        for ready in staged.values():
            ready.drop()


def apply(
    items: Sequence[Item], made: Iterable[str], store: ChangeStore, staged: dict[str, Staged], pace: Pace
) -> tuple[str, ...]:
    """Does it, deletions first; returns what could not be done, in words. ``made`` are folders to remove if empty.

    What is ``staged`` lies ready, and is taken out when it has its place.
    """
    problems: list[str] = []
    folders = sorted((item for item in items if item.change.is_folder), key=lambda item: len(item.name))
    going = [item for item in folders if item.wanted is None]

    def each(chosen: Iterable[Item], do: Callable[[Item, Path], None]) -> None:
        for item in chosen:
            pace.step()
            try:
                do(item, store.path_of(item.name))
            except (ToolError, CheckpointError) as error:
                problems.append(str(error))

    def give_back(item: Item, path: Path) -> None:
        restore(path, item.now, item.wanted, store.blobs, staged.get(item.name))
        staged.pop(item.name, None)

    files = [item for item in items if not item.change.is_folder]
    each((item for item in folders if item.now is not None), _open_up)
    each((item for item in files if item.wanted is None), give_back)
    remove_empty(store.path_of(item.name) for item in going)
    each((item for item in going if store.path_of(item.name).is_dir()), _close_again)
    each((item for item in folders if item.now is None), lambda _, path: make_folder(path))
    each((item for item in files if item.wanted is not None), give_back)
    each((item for item in reversed(folders) if item.wanted is not None), _close)
    remove_empty(store.path_of(name) for name in dict.fromkeys(made))
    return tuple(problems)


def _open_up(item: Item, path: Path) -> None:
    """Its owner must be able to change what is in a folder that is restored."""
    if item.now is not None and item.now.mode & 0o300 != 0o300:  # noqa: PLR2004 - write and search
        set_mode(path, item.now.mode | 0o300)


def _close(item: Item, path: Path) -> None:
    if item.wanted is not None:
        set_mode(path, item.wanted.mode)


def _close_again(item: Item, path: Path) -> None:
    if item.now is not None:
        set_mode(path, item.now.mode)


def _reverse(item: Item, change: FileChange, store: ChangeStore) -> None:
    """One step back: from ``change.after`` to ``change.before``, on what the file holds at this point."""
    base, wanted, here = change.after, change.before, item.wanted
    if item.standing is Standing.CONFLICT or here == base:
        item.wanted = wanted
    elif change.is_folder:
        item.wanted = None if wanted is None else here if base is not None or here is not None else wanted
    elif here != wanted:
        merged = _merged(base, here, wanted, store)
        merged_standing = item.standing if item.standing is Standing.UNSURE else Standing.MERGED
        item.standing = Standing.CONFLICT if merged is None else merged_standing
        item.wanted = wanted if merged is None else merged


def _merged(
    base: FileState | None, here: FileState | None, wanted: FileState | None, store: ChangeStore
) -> FileState | None:
    """The step back with what the person did since kept; None when both touched the same place."""
    if base is None or here is None or wanted is None or base.is_link or here.is_link or wanted.is_link:
        return None
    mode = wanted.mode if here.mode == base.mode else here.mode
    if here.blob == base.blob:
        return FileState(blob=wanted.blob, mode=mode)
    if wanted.blob == base.blob:
        return FileState(blob=here.blob, mode=mode)
    contents = [store.blobs.read(state.blob) for state in (here, base, wanted)]
    if any(is_binary(content) for content in contents):
        return None
    merged = merge_texts(*contents)
    return None if merged is None else FileState(blob=store.blobs.add(merged), mode=mode)


def merge_texts(ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """Both changes of ``base`` in one text; None when they overlap. Raises CheckpointError without git or room."""
    git = find_program("git")
    if git is None:
        raise CheckpointError("The texts cannot be merged: there is no git.")
    names = ("ours", "base", "theirs")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": "/"}
    try:
        with tempfile.TemporaryDirectory(prefix="codeagent-merge-") as folder:
            for name, content in zip(names, (ours, base, theirs), strict=True):
                (Path(folder) / name).write_bytes(content)
            done = subprocess.run(
                [git, "merge-file", "-p", "-q", *names],
                cwd=folder,
                env=environment | {"GIT_DIR": folder, "LC_ALL": "C"},
                capture_output=True,
                timeout=_MERGE_SECONDS,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CheckpointError(f"The texts cannot be merged: {error}.") from error
    return done.stdout if done.returncode == 0 else None
