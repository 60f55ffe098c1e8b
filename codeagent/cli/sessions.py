"""``codeagent sessions``: the stored sessions of this directory, for people and scripts."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from codeagent.cli import undo
from codeagent.config.places import find_places
from codeagent.core.text import clean
from codeagent.store.sessions import Sessions


def run(words: Sequence[str]) -> int:
    """Reads the subcommand and runs it; returns the exit code."""
    parser = argparse.ArgumentParser(prog="codeagent sessions", description="The stored sessions of this directory.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    lister = commands.add_parser("list", help="id, time, turns and first request of each session, the latest first")
    lister.add_argument("--json", action="store_true", help="one JSON object a line")
    undo.add_words(
        commands.add_parser("undo", help="take back the last change of the latest session; again: the one before")
    )
    found = parser.parse_args(words)
    places, root = find_places(os.environ), Path.cwd().resolve()
    sessions = Sessions(places.sessions, root)
    if found.command == "undo":
        return undo.run(found, sessions, places, root)
    for summary in sessions.summaries():
        if found.json:
            print(json.dumps(asdict(summary)))
        else:
            turns = "1 turn" if summary.turns == 1 else f"{summary.turns} turns"
            print(f"{summary.session_id}  {summary.updated_at}  {turns:>9}  {clean(summary.title)}")
    return 0
