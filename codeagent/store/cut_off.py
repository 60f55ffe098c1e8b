"""An undo or redo that was cut off in the middle, by a kill perhaps, is carried to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import CheckpointError, ToolError
from codeagent.store.blobs import Blobs, not_kept
from codeagent.store.change_log import Entry
from codeagent.store.file_states import FileChange, FileState
from codeagent.store.restoring import make_folder, remove_empty, restore, set_mode
from codeagent.workspace.private import make_private_folder, read_private, write_private

_OWNERS = 0o300


class UnderWay:
    """Which entry of the log is being carried out on the files, kept on the disk until it is done."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the session's."""
        self._path = folder / "reversing.json"

    def begin(self, entry_id: str) -> None:
        """Notes it, before the entry is in the log; raises CheckpointError."""
        try:
            make_private_folder(self._path.parent)
            write_private(self._path, b'{"id": "%s"}' % entry_id.encode())
        except OSError as error:
            raise not_kept(f"Nothing can be kept in {self._path.parent}", error) from error

    def end(self) -> None:
        """It is done."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def left(self, entries: Sequence[Entry]) -> Entry | None:
        """The entry that was not carried to its end."""
        found = read_private(self._path).get("id")
        return next((entry for entry in reversed(entries) if entry.id == found), None)


def finish(
    entry: Entry,
    path_of: Callable[[str], Path],
    state_of: Callable[[str], FileState | None],
    blobs: Blobs,
) -> None:
    """Does what is left of it: on the files that stand as they did before it; others are somebody else's by now."""
    files = [change for change in entry.changes if not change.is_folder]
    folders = sorted((change for change in entry.changes if change.is_folder), key=lambda change: len(change.name))

    def each(changes: Sequence[FileChange], do: Callable[[FileChange, Path], None]) -> None:
        for change in changes:
            with suppress(ToolError, CheckpointError):
                do(change, path_of(change.name))

    def give_back(change: FileChange, path: Path) -> None:
        now = state_of(change.name)
        if _is_before(now, change):
            restore(path, now, change.after, blobs)

    def open_up(change: FileChange, path: Path) -> None:
        now = state_of(change.name)
        if now is not None and change.before is not None and now.mode == change.before.mode:
            set_mode(path, now.mode | _OWNERS)

    def close(change: FileChange, path: Path) -> None:
        now, before, after = state_of(change.name), change.before, change.after
        was = {before.mode, before.mode | _OWNERS} if before is not None else set[int]()
        if now is not None and (after or before) and (before is None or now.mode in was):
            set_mode(path, (after or before or now).mode)

    each(folders, open_up)
    each([change for change in files if change.after is None], give_back)
    remove_empty(path_of(change.name) for change in folders if change.after is None)
    each([change for change in folders if change.before is None], lambda _, path: make_folder(path))
    each([change for change in files if change.after is not None], give_back)
    each(folders[::-1], close)
    remove_empty(path_of(name) for name in dict.fromkeys(entry.made))


def _is_before(now: FileState | None, change: FileChange) -> bool:
    """Whether a file stands as before the change, or as one that was only half made does."""
    before, after = change.before, change.after
    if now == before:
        return True
    if now is None:
        return before is not None and before.is_link  # a link is taken away before a file takes its place
    return after is not None and (now.blob, now.is_link) == (after.blob, after.is_link)  # only the mode is missing
