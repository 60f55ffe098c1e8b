"""Cleans up after earlier runs that crashed: half-written files, and commands that still run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.core.text import counted
from codeagent.workspace import process_tree
from codeagent.workspace.leftovers import interrupted_copies, sweep_leftovers


def clean_up(folders: Sequence[Path]) -> Iterator[str]:
    """Does it in ``folders``, where files may be written, and says for people what it found."""
    swept = [sweep_leftovers(folder) for folder in folders]
    if removed := sum(one.removed for one in swept):
        were = "was" if removed == 1 else "were"
        yield f"{counted(removed, 'temporary file')} of an interrupted write {were} removed."
    for save in (save for one in swept for save in one.saves):
        yield f"A file was saved at the moment in which an earlier run broke off; that version of it is in {save}."
    for copy in interrupted_copies():
        yield f"An earlier run broke off while it was writing a file in place; the old content is in {copy}."
    if ended := process_tree.terminate_orphans():
        yield f"Ended what an earlier run had left running: {', '.join(ended)}."
