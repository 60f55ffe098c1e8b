"""The list of what the agent changed, call by call, and of what was taken back: one line each, only ever appended."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from codeagent.store.blobs import not_kept
from codeagent.store.file_states import FileChange, from_json, to_json
from codeagent.workspace.private import make_private_folder, write_private


class Kind(StrEnum):
    """What an entry is about; ``told`` says that the model knows of earlier entries."""

    CALL = "call"
    UNDO = "undo"
    REDO = "redo"
    TOLD = "told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One call's changes, or their reversal.

    ``what`` names the call in a few words; ``reverses`` are the ids of what an undo
    took back, or of the undo that a redo took back. ``made`` are the folders that a
    call made for its file, outermost first. Not ``is_sure``: it happened while a job
    ran, and may as well be the person's doing. ``place`` grows from call to call as
    they stand on the screen; 0 where that is not known.
    """

    id: str
    kind: Kind
    what: str
    turn: int = 0
    call_id: str = ""
    changes: tuple[FileChange, ...] = ()
    reverses: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    is_sure: bool = True
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What is in force: calls that were not taken back, undos that can be taken back, reversals the model must hear of.

    Each is in the order of the log, the oldest first.
    """

    done: tuple[Entry, ...]
    undone: tuple[Entry, ...]
    untold: tuple[Entry, ...]


class ChangeLog:
    """The log of one session, in a private file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[Entry] = []
        data = b""
        with suppress(OSError):
            data = path.read_bytes()
        self._is_torn = bool(data) and not data.endswith(b"\n")
        self._count = data.count(b"\n") + 1
        for line in data.split(b"\n"):
            entry = decode_entry(line)
            if entry is not None:
                self._entries.append(entry)
                self._count = max(self._count, int(entry.id[1:]) if entry.id[1:].isdecimal() else 0)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything, oldest first."""
        return tuple(self._entries)

    @property
    def last_place(self) -> int:
        """The place of the lowest call."""
        return max((entry.place for entry in self._entries), default=0)

    def next_id(self) -> str:
        """An id that no entry has yet."""
        self._count += 1
        return f"c{self._count}"

    def add(self, entry: Entry) -> None:
        """Returns when the entry is on the disk; raises CheckpointError."""
        fields: dict[str, object] = {
            "id": entry.id,
            "kind": str(entry.kind),
            "what": entry.what,
            "turn": entry.turn,
            "call": entry.call_id,
            "changes": to_json(entry.changes),
            "reverses": list(entry.reverses),
            "made": list(entry.made),
            "sure": entry.is_sure,
            "place": entry.place,
        }
        line = json.dumps(fields, separators=(",", ":")) + "\n"
        try:
            descriptor = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write("\n" + line if self._is_torn else line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise not_kept("What was changed cannot be kept", error) from error
        self._is_torn = False
        self._entries.append(entry)

    def balance(self) -> Balance:
        """What all entries add up to."""
        done: dict[str, Entry] = {}
        undone: dict[str, Entry] = {}
        untold: dict[str, Entry] = {}
        by_id = {entry.id: entry for entry in self._entries}
        for entry in self._entries:
            match entry.kind:
                case Kind.CALL:
                    done[entry.id] = entry
                    undone.clear()
                case Kind.UNDO:
                    for reversed_id in entry.reverses:
                        done.pop(reversed_id, None)
                    undone[entry.id] = untold[entry.id] = entry
                case Kind.REDO:
                    untold[entry.id] = entry
                    for undo_id in entry.reverses:
                        undone.pop(undo_id, None)
                        brought = by_id[undo_id].reverses if undo_id in by_id else ()
                        done |= {one: by_id[one] for one in brought if one in by_id}
                case Kind.TOLD:
                    for known in entry.reverses:
                        untold.pop(known, None)
        order = {entry.id: place for place, entry in enumerate(self._entries)}
        in_order = sorted(done.values(), key=lambda entry: order[entry.id])
        return Balance(done=tuple(in_order), undone=tuple(undone.values()), untold=tuple(untold.values()))

    def blobs(self) -> Iterable[str]:
        """The ids of all contents that it speaks of."""
        for entry in self._entries:
            for change in entry.changes:
                for state in (change.before, change.after):
                    if state is not None and state.blob:
                        yield state.blob


def decode_entry(line: bytes) -> Entry | None:
    """The entry on a line; None for an empty or damaged one."""
    try:
        fields = json.loads(line)
        return Entry(
            id=str(fields["id"]),
            kind=Kind(fields["kind"]),
            what=str(fields["what"]),
            turn=int(fields["turn"]),
            call_id=str(fields["call"]),
            changes=from_json(fields["changes"]),
            reverses=tuple(str(one) for one in fields["reverses"]),
            made=tuple(str(one) for one in fields["made"]),
            is_sure=fields.get("sure") is not False,
            place=int(fields.get("place", 0)),
        )
    except (ValueError, KeyError, TypeError):
        return None


def share_changes(folder: Path, origin: str, copy: str, *, before: int | None) -> None:
    """Gives a copy of a session the changes of ``origin``, of the turns ``before`` one if given, to take them back.

    ``folder`` is the workspace's, ``origin`` and ``copy`` are ids. Contents are shared already. Raises OSError.
    """
    log = folder / "sessions" / origin / "changes.jsonl"
    if not log.is_file():
        return
    kept: list[bytes] = []
    ids: set[str] = set()
    for line in log.read_bytes().split(b"\n"):
        entry = decode_entry(line)
        if entry is not None and _belongs(entry, before, ids):
            ids.add(entry.id)
            kept.append(line + b"\n")
    place = folder / "sessions" / copy
    make_private_folder(place)
    write_private(place / "changes.jsonl", b"".join(kept))


def _belongs(entry: Entry, before: int | None, ids: set[str]) -> bool:
    """Calls belong by their turn, what took them back or brought them again by what it is about."""
    if before is None:
        return True
    return entry.turn < before if entry.kind is Kind.CALL else not ids.isdisjoint(entry.reverses)
