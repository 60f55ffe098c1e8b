"""``codeagent sessions``: list, search, show, export, name, copy and remove stored sessions, or take a change back."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from codeagent.cli import undo
from codeagent.cli.command_line import WordsParser
from codeagent.config.places import Places, find_places
from codeagent.core.archive import ExportForm, SessionSummary, local_minute
from codeagent.core.errors import ConfigError, SessionBusy
from codeagent.core.text import Redactor, clean, counted, secrets_in
from codeagent.keys import find_keys
from codeagent.store.archive import SessionArchive
from codeagent.store.exporting import exported
from codeagent.store.sessions import Sessions

Replay = Callable[[Path, float], int]
"""Plays a record at a speed and returns the exit code."""

_LATEST = "latest"
_ID = f"the id, its beginning, or {_LATEST}"


def run(words: Sequence[str], replay: Replay) -> int:
    """Reads the subcommand and runs it; returns the exit code. ``replay`` shows a record in the app."""
    found = _parser().parse_args(words or ["list"])
    places, root = find_places(os.environ), Path.cwd().resolve()
    sessions = Sessions(places.sessions, root)
    redactor = Redactor((*secrets_in(os.environ), *find_keys(os.environ, places).secrets()))
    desk = _Desk(sessions, SessionArchive(sessions, redactor.redact, exported, places.checkpoints))
    try:
        return _run(found, desk, places, root, replay)
    except SessionBusy as busy:
        hint = "Use /undo there, or close it first." if found.command == "undo" else "Close it there first."
        raise SessionBusy(busy.message, hint=hint) from busy


class _Desk:
    """The sessions of this directory, and what can be done with them."""

    def __init__(self, sessions: Sessions, archive: SessionArchive) -> None:
        self.sessions = sessions
        self.archive = archive

    def path(self, wanted: str) -> Path:
        """The record that is meant; raises JournalError."""
        if wanted == _LATEST:
            return self.sessions.path(self.sessions.latest())
        return self.sessions.locate(wanted)


def _parser() -> argparse.ArgumentParser:
    parser = WordsParser(
        prog="codeagent sessions",
        description="The stored sessions of this directory; without a command, they are listed.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")

    def add(name: str, about: str, *, takes_id: bool = True, has_json: bool = False) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=about, description=about)
        if takes_id:
            command.add_argument("id", metavar="ID", help=_ID)
        if has_json:
            command.add_argument("--json", action="store_true", help="one JSON object a line")
        return command

    add("list", "id, time, turns, cost and title of each session, the latest first", takes_id=False, has_json=True)
    search = add("search", "where words were said, in all sessions", takes_id=False, has_json=True)
    search.add_argument("words", metavar="WORDS", nargs="+", help="what to look for, in any letter case")
    show = add("show", "print a session as Markdown")
    show.add_argument("--json", action="store_true", help="all its events as one JSON object")
    export = add("export", "write a session to a file, without secrets, for you alone")
    export.add_argument("file", metavar="FILE", nargs="?", type=Path, help="ends in .md, .html or .json")
    export.add_argument("--format", choices=[str(form) for form in ExportForm], help="what to print without FILE")
    export.add_argument("--force", action="store_true", help="replace FILE when it is there")
    rename = add("rename", "give a session a title")
    rename.add_argument("title", metavar="TITLE", nargs="+")
    fork = add("fork", "copy a session; prints the id of the copy", has_json=True)
    fork.add_argument("--before", type=int, metavar="N", help="only up to before message N")
    delete = add("delete", "remove a session and all that is kept with it")
    delete.add_argument("--yes", action="store_true", help="do it without a question")
    play = add("replay", "show a session as it happened, to look at only")
    play.add_argument("--speed", type=float, default=1.0, metavar="N", help="how many times as fast (default 1)")
    undo.add_words(
        commands.add_parser("undo", help="take back the last change of the latest session; again: the one before")
    )
    return parser


def _run(  # noqa: PLR0911 - one return a subcommand
    found: argparse.Namespace,
    desk: _Desk,
    places: Places,
    root: Path,
    replay: Replay,
) -> int:
    archive = desk.archive
    match found.command:
        case "list":
            return _list(archive.summaries(), in_json=found.json)
        case "search":
            return _search(archive, " ".join(found.words), in_json=found.json)
        case "show":
            form = ExportForm.JSON if found.json else ExportForm.MARKDOWN
            print(clean(archive.export(desk.path(found.id).stem, form)), end="")
            return 0
        case "export":
            return _export(found, desk)
        case "rename":
            title = " ".join(found.title)
            archive.rename(desk.path(found.id).stem, title)
            print(f"Its title is {clean(title)} now.")
            return 0
        case "fork":
            new_id = archive.fork(desk.path(found.id).stem, found.before)
            print(json.dumps({"session_id": new_id}) if found.json else new_id)
            return 0
        case "delete":
            return _delete(desk, desk.path(found.id).stem, is_sure=found.yes)
        case "replay":
            return replay(desk.path(found.id), found.speed)
        case _:
            return undo.run(found, places, root)


def _list(summaries: Sequence[SessionSummary], *, in_json: bool) -> int:
    for summary in summaries:
        if in_json:
            print(json.dumps(asdict(summary)))
            continue
        turns = counted(summary.turns, "turn")
        title = clean(summary.title) + (f"  (from {clean(summary.place)}, which is gone)" if summary.place else "")
        when = local_minute(summary.updated_at)
        print(f"{summary.session_id}  {when}  {turns:>9}  {summary.price:>7}  {title}".rstrip())
    return 0


def _search(archive: SessionArchive, words: str, *, in_json: bool) -> int:
    """Prints each place; the exit code is 1 when there is none, as grep's is."""
    is_found = False
    for hit in archive.search(words, lambda: False):
        is_found = True
        if in_json:
            print(json.dumps(asdict(hit)), flush=True)
        else:
            print(f"{hit.session_id}  {hit.speaker:<5}  {clean(hit.text)}", flush=True)
    return 0 if is_found else 1


def _export(found: argparse.Namespace, desk: _Desk) -> int:
    session_id = desk.path(found.id).stem
    if found.file is None:
        print(desk.archive.export(session_id, ExportForm(found.format or ExportForm.MARKDOWN)), end="")
        return 0
    if found.format is not None:
        raise ConfigError("--format is for printing: with FILE its ending decides.", hint="Leave one of them out.")
    desk.archive.export_to(session_id, found.file, replaces=found.force)
    print(f"Written to {clean(str(found.file))}, for you alone.")
    return 0


def _delete(desk: _Desk, session_id: str, *, is_sure: bool) -> int:
    if not is_sure:
        if not sys.stdin.isatty():
            print("codeagent: nothing was removed; --yes does it.", file=sys.stderr)
            return 1
        if not undo.is_confirmed(f"Remove the session {session_id} for good?"):
            return 1
    desk.archive.delete(session_id)
    return 0
