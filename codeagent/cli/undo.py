"""``codeagent sessions undo``: takes back the last thing that the agent changed here, after showing it."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from codeagent.config.places import Places
from codeagent.config.sources import load_settings
from codeagent.core.changes import Pace, Reversal, Standing
from codeagent.core.errors import ConfigError, NothingToUndo
from codeagent.core.patch import as_patch
from codeagent.core.programs import pass_over
from codeagent.core.text import show_invisible
from codeagent.folders import write_folders
from codeagent.store.change_store import ChangeStore
from codeagent.store.journal import JournalFile
from codeagent.store.sessions import Sessions
from codeagent.store.timeline import ChangeTimeline
from codeagent.workspace.earlier_runs import clean_up

_TOLD_EVERY = 0.1
_STANDINGS = {
    Standing.CLEAN: "",
    Standing.MERGED: "what you changed since is kept",
    Standing.CONFLICT: "you changed the same lines since; left alone without --overwrite",
    Standing.UNSURE: "changed while a job ran, by it or by you; left alone without --overwrite",
}


def add_words(parser: argparse.ArgumentParser) -> None:
    """The flags."""
    parser.add_argument("--session", metavar="ID", help="of that session instead of the latest")
    parser.add_argument("--redo", action="store_true", help="bring back what was last taken back")
    parser.add_argument("--yes", action="store_true", help="do it without a question")
    parser.add_argument("--overwrite", action="store_true", help="also where that loses what you changed since")


def run(found: argparse.Namespace, places: Places, folder: Path) -> int:
    """Shows what would be taken back, asks, and does it; raises NothingToUndo, SessionBusy and other errors.

    In a ``folder`` without sessions those of the nearest folder above count.
    """
    above = (folder, *folder.parents)
    root = next((one for one in above if Sessions(places.sessions, one).paths()), None)
    if root is None:
        raise NothingToUndo(f"No session was held in {folder}.", hint="Go to the directory where it was.")
    pass_over([root])
    with suppress(ConfigError):  # what the settings have wrong is no reason not to take something back
        pass_over(write_folders(load_settings(places, root, os.environ, {}, project=None).settings))
    sessions = Sessions(places.sessions, root)
    session_id = sessions.find(found.session) if found.session is not None else sessions.latest()
    journal, _ = JournalFile.reopen(sessions.path(session_id), redact=lambda text: text)
    try:
        for found_left in clean_up([root]):
            print(show_invisible(f"codeagent: {found_left}"), file=sys.stderr)
        store = ChangeStore(root, places.checkpoints / sessions.folder.name, session_id)
        if cut_off := store.finish_reversal():
            print(show_invisible(f"Undo or redo of {cut_off} had been cut off; it is whole now."))
            return 0
        return _take_back(ChangeTimeline(store, asyncio.Lock(), lambda: False), found)
    except NothingToUndo as nothing:
        others = () if found.session is not None or found.redo else sessions.paths()
        other = next((one.stem for one in others if _has_changes(root, places, one)), "")
        if not other:
            raise
        raise NothingToUndo(
            f"The latest session, {session_id}, has nothing to take back.",
            hint=f"An older one has: codeagent sessions undo --session {other}",
        ) from nothing
    finally:
        journal.close()


def _has_changes(root: Path, places: Places, record: Path) -> bool:
    """Whether something of that session could be taken back."""
    return bool(ChangeStore(root, places.checkpoints / record.parent.name, record.stem).log.balance().done)


def _take_back(timeline: ChangeTimeline, found: argparse.Namespace) -> int:
    """The question is asked outside of any event loop, where Ctrl+C ends it at once."""
    reversal = asyncio.run(timeline.plan_redo() if found.redo else timeline.plan_undo())
    print(as_text(reversal), end="")
    if not found.yes:
        if not sys.stdin.isatty():
            print("codeagent: nothing was done; --yes does it.", file=sys.stderr)
            return 0
        if not is_confirmed("Do this?"):
            return 0
    return asyncio.run(_carry_out(timeline, reversal, overwrites=found.overwrite))


def is_confirmed(question: str) -> bool:
    """Asks in the terminal; whatever is no yes is a no, the end of what is typed too."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        print()
        return False


async def _carry_out(timeline: ChangeTimeline, reversal: Reversal, *, overwrites: bool) -> int:
    pace = Pace()
    _tell_pace(pace)
    try:
        said = await timeline.carry_out(reversal, overwrites=overwrites, pace=pace)
    except asyncio.CancelledError:
        ended = "it was too late to stop; all of it was done" if pace.is_final else "stopped; no file was changed"
        print(f"codeagent: {ended}.", file=sys.stderr)
        raise
    finally:
        pace.total = 0
    print(show_invisible(said))
    return 0


def _tell_pace(pace: Pace) -> None:
    """Says again and again how far it is, to a person who looks on, until nothing is left to do."""
    if sys.stderr.isatty():
        if pace.total and pace.done:
            print(f"\r{min(pace.done / pace.total, 1.0):4.0%}\r", end="", file=sys.stderr, flush=True)
        asyncio.get_running_loop().call_later(_TOLD_EVERY, _tell_pace, pace)


def as_text(reversal: Reversal) -> str:
    """What would be done, as patches."""
    verb = "Bring back" if reversal.is_redo else "Take back"
    parts = [f"{verb} {reversal.what}\n"]
    for file in reversal.files:
        if said := _STANDINGS[file.standing]:
            parts.append(f"# {file.path}: {said}\n")
        parts.append(as_patch(file.diff))
    parts += [f"# {remark}\n" for remark in reversal.remarks]
    if not reversal.files and not reversal.remarks:
        parts.append("# the files are as they were before already\n")
    return show_invisible("".join(parts))
