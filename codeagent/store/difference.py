"""Changes of files as diffs to look at; what is no text, or too much of it, is said in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codeagent.core.diff import ChangeKind, FileDiff, make_diff
from codeagent.core.errors import CheckpointError, FileProblem
from codeagent.core.text import counted, show_bytes, storable
from codeagent.store.blobs import Blobs
from codeagent.store.file_states import FileChange, FileState
from codeagent.store.git_names import parents
from codeagent.workspace.files import decode

_LARGEST_TEXT = 2_000_000
MOST_SHOWN_FILES = 50
_MOST_SHOWN_LINES = 4_000


def diff_of(change: FileChange, blobs: Blobs) -> FileDiff:
    """One change as a diff; raises CheckpointError when a content is gone."""
    path = show_bytes(change.name)
    kind = _kind(change)
    notes = [*_mode_notes(change)]
    if change.is_folder:
        return FileDiff(path=path, change=kind, hunks=(), notes=tuple(notes) or ("folder",))
    if is_link(change):
        notes.append(" → ".join(_leads(state, blobs) for state in (change.before, change.after)))
        return FileDiff(path=path, change=kind, hunks=(), notes=tuple(notes))
    if _is_same_content(change):
        return FileDiff(path=path, change=kind, hunks=(), notes=tuple(notes))
    before, after = (None if state is None else blobs.read(state.blob) for state in (change.before, change.after))
    return diff_of_contents(path, before, after, notes=notes)


def diff_of_contents(path: str, before: bytes | None, after: bytes | None, *, notes: Sequence[str] = ()) -> FileDiff:
    """Two contents as a diff, None where there is no file; what is no text is said in words."""
    kind = ChangeKind.CREATED if before is None else ChangeKind.DELETED if after is None else ChangeKind.CHANGED
    texts = _texts(before, after)
    if isinstance(texts, str):
        sizes = " → ".join("none" if data is None else counted(len(data), "byte") for data in (before, after))
        return FileDiff(path=path, change=kind, hunks=(), notes=(f"{texts}: {sizes}", *notes))
    return make_diff(path, texts[0], texts[1], notes=tuple(notes))


def diffs_of(changes: Iterable[FileChange], blobs: Blobs) -> tuple[FileDiff, ...]:
    """The first changes as diffs, as many as a person would look at; contents that are gone are said to be."""
    diffs: list[FileDiff] = []
    lines = 0
    for change in changes:
        if len(diffs) >= MOST_SHOWN_FILES or lines > _MOST_SHOWN_LINES:
            break
        try:
            diff = diff_of(change, blobs)
        except CheckpointError:
            notes = ("its old content is no longer there",)
            diff = FileDiff(path=show_bytes(change.name), change=_kind(change), hunks=(), notes=notes)
        count = diff.added + diff.removed
        if count > _MOST_SHOWN_LINES:
            note = f"+{diff.added:,} −{diff.removed:,} lines, too many to show"
            diff = FileDiff(path=diff.path, change=diff.change, hunks=(), notes=(note, *diff.notes))
            count = 0
        lines += count
        diffs.append(diff)
    return tuple(diffs)


def joined(changes: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Changes one after the other as one change a file, from the first state to the last."""
    first: dict[str, FileState | None] = {}
    last: dict[str, FileState | None] = {}
    for change in changes:
        first.setdefault(change.name, change.before)
        last[change.name] = change.after
    return tuple(
        FileChange(name=name, before=before, after=last[name]) for name, before in first.items() if before != last[name]
    )


def worth_showing(changes: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """The changes without folders that came or went with what is in them."""
    changes = tuple(changes)
    inside = {f"{folder}/" for change in changes for folder in parents(change.name.removesuffix("/"))}
    return tuple(
        change
        for change in changes
        if not change.is_folder or change.name not in inside or (change.before is not None and change.after is not None)
    )


def summary(diff: FileDiff) -> str:
    """A change in a few words, such as ``created a.py +12``."""
    counts = [f"+{diff.added:,}" if diff.added else "", f"−{diff.removed:,}" if diff.removed else ""]
    if diff.change is ChangeKind.DELETED:
        counts = []
    verb = "" if diff.change is ChangeKind.CHANGED else f"{diff.change} "
    words = " ".join(count for count in counts if count) or (diff.notes[0] if diff.notes else "")
    return f"{verb}{diff.path} {words}".rstrip()


def is_link(change: FileChange) -> bool:
    """Whether there is a link before or after."""
    return any(state is not None and state.is_link for state in (change.before, change.after))


def _texts(before: bytes | None, after: bytes | None) -> tuple[str | None, str | None] | str:
    """Both contents as texts, or why that cannot be."""
    if max(len(before or b""), len(after or b"")) > _LARGEST_TEXT:
        return "too large to show"
    try:
        old, new = (None if data is None else storable(decode(data).text) for data in (before, after))
    except FileProblem:
        return "no text"
    return old, new


def _kind(change: FileChange) -> ChangeKind:
    if change.before is None:
        return ChangeKind.CREATED
    return ChangeKind.DELETED if change.after is None else ChangeKind.CHANGED


def _is_same_content(change: FileChange) -> bool:
    before, after = change.before, change.after
    return before is not None and after is not None and before.blob == after.blob


def _mode_notes(change: FileChange) -> Iterable[str]:
    before, after = change.before, change.after
    if before is not None and after is not None and before.mode != after.mode and not is_link(change):
        yield f"mode {before.mode:04o} → {after.mode:04o}"


def _leads(state: FileState | None, blobs: Blobs) -> str:
    if state is None:
        return "none"
    if not state.is_link:
        return "a file"
    return f"a link to {show_bytes(blobs.read(state.blob).decode(errors='surrogateescape'))}"
