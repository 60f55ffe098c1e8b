"""In which order changes are taken back: from the bottom of the screen up, where that brings the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codeagent.store.change_log import Entry


def as_on_screen(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Changes in the order of their calls; ``entries`` are in the order in which they were made.

    Calls of one reply run side by side and end in any order. Those that have to do with the
    same file stay as they were made, for each began with what the one before had left there.
    """
    placed: list[Entry] = []
    for entry in entries:
        at = len(placed)
        while at > 0 and _is_above(entry, placed[at - 1]) and not _share_files(entry, placed[at - 1]):
            at -= 1
        placed.insert(at, entry)
    return tuple(placed)


def folders_made(entries: Iterable[Entry], log: Sequence[Entry]) -> tuple[str, ...]:
    """The folders to remove, if empty, when the entries are taken back; those around others come first.

    A folder that a call further down made may have been made for the files of one above as well.
    """
    made: set[str] = set()
    position = {entry.id: at for at, entry in enumerate(log)}
    for entry in entries:
        made.update(entry.made)
        for at in range(position[entry.id] - 1, -1, -1):
            if log[at].turn < entry.turn:
                break
            if _is_above(entry, log[at]):
                made.update(log[at].made)
    return tuple(sorted(made, key=lambda name: (len(name), name)))


def _is_above(entry: Entry, other: Entry) -> bool:
    """Whether its call stands above the other's on the screen; of what is no call's that is not known."""
    return 0 < entry.place < other.place


def _share_files(one: Entry, two: Entry) -> bool:
    """Whether both are about one file, or one about a folder in which the other's is."""
    names = [{change.name.rstrip("/") for change in entry.changes} for entry in (one, two)]
    return any(
        mine == others or mine.startswith(f"{others}/") or others.startswith(f"{mine}/")
        for mine in names[0]
        for others in names[1]
    )
