"""Gives a copy of a session the changes of the conversation that it shares, so that it can take them back."""

from __future__ import annotations

from pathlib import Path

from codeagent.store.change_log import Entry, Kind, decode_entry
from codeagent.workspace.private import make_private_folder, write_private


def share_changes(folder: Path, origin: str, copy: str, *, before: int | None) -> None:
    """Copies the log of the session ``origin``, of the turns ``before`` one if given; raises OSError.

    ``folder`` is the workspace's, ``origin`` and ``copy`` are ids. Contents are shared already.
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
