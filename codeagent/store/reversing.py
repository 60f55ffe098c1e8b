"""Works out what taking changes back does to the files as they are now, later changes of the person included."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.changes import FileReversal, Standing
from codeagent.core.errors import CheckpointError, FileProblem, ToolError
from codeagent.store.change_log import Entry
from codeagent.store.change_store import ChangeStore
from codeagent.store.difference import diff_of
from codeagent.store.file_states import FileChange, FileState, state_of
from codeagent.store.restoring import remove_empty, restore
from codeagent.workspace.files import is_binary

_MERGE_SECONDS = 20.0


@dataclass(slots=True, kw_only=True)
class Item:
    """One file: how it stands ``now``, how it should stand, and whether a person's later change is in the way."""

    name: str
    now: FileState | None
    wanted: FileState | None
    standing: Standing = Standing.CLEAN

    @property
    def change(self) -> FileChange:
        """What is done to it."""
        return FileChange(name=self.name, before=self.now, after=self.wanted)


def work_out(entries: Iterable[Entry], store: ChangeStore) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """What reversing the entries one after the other does to each file, and what cannot be reversed, in words.

    Raises CheckpointError when an old content is gone.
    """
    items: dict[str, Item] = {}
    problems: dict[str, str] = {}
    for entry in entries:
        for change in entry.changes:
            try:
                item = items.get(change.name) or _item(change.name, store)
            except FileProblem as problem:
                problems[change.name] = str(problem)
                continue
            items[change.name] = item
            _reverse(item, change, store)
    changing = (item for _, item in sorted(items.items()) if item.now != item.wanted)
    return tuple(changing), tuple(problems.values())


def _item(name: str, store: ChangeStore) -> Item:
    now = state_of(store.path_of(name), store.blobs)
    return Item(name=name, now=now, wanted=now)


def as_shown(items: Iterable[Item], store: ChangeStore) -> tuple[FileReversal, ...]:
    """The same for people."""
    return tuple(
        FileReversal(path=diff.path, standing=item.standing, diff=diff)
        for item in items
        for diff in (diff_of(item.change, store.blobs),)
    )


def apply(items: Sequence[Item], made: Iterable[str], store: ChangeStore) -> tuple[str, ...]:
    """Does it, deletions first; returns what could not be done, in words. ``made`` are folders to remove if empty."""
    problems: list[str] = []
    for item in sorted(items, key=lambda item: item.wanted is not None):
        try:
            restore(store.path_of(item.name), item.now, item.wanted, store.blobs)
        except (ToolError, CheckpointError) as error:
            problems.append(str(error))
    remove_empty(store.path_of(name) for name in dict.fromkeys(made))
    return tuple(problems)


def _reverse(item: Item, change: FileChange, store: ChangeStore) -> None:
    """One step back: from ``change.after`` to ``change.before``, on what the file holds at this point."""
    base, wanted, here = change.after, change.before, item.wanted
    if item.standing is Standing.CONFLICT or here == base:
        item.wanted = wanted
    elif here != wanted:
        merged = _merged(base, here, wanted, store)
        item.standing = Standing.CONFLICT if merged is None else Standing.MERGED
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
    """Both changes of ``base`` in one text; None when they overlap. Raises CheckpointError without git."""
    with tempfile.TemporaryDirectory(prefix="codeagent-merge-") as folder:
        names = ("ours", "base", "theirs")
        for name, content in zip(names, (ours, base, theirs), strict=True):
            (Path(folder) / name).write_bytes(content)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": "/"}
        environment |= {"GIT_DIR": folder, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                ["git", "merge-file", "-p", "-q", *names],
                cwd=folder,
                env=environment,
                capture_output=True,
                timeout=_MERGE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckpointError(f"The texts cannot be merged: {error}.") from error
    return done.stdout if done.returncode == 0 else None
