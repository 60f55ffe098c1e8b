"""The commands that open, copy, name and export sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.app import App

from codeagent.core.archive import OlderSessions
from codeagent.core.commands import CommandCall, CommandName, NotReady
from codeagent.core.desk import Desk, Opening
from codeagent.core.errors import JournalError, NothingToUndo, SessionBusy
from codeagent.core.text import counted, show_invisible
from codeagent.tui.door import Door
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.screens.picker import Item, Picker
from codeagent.tui.screens.sessions import SessionsScreen

_HERE, _FORK, _NEW = "here", "fork", "new"


class ArchiveCommands:
    """Carries these commands out; raises CodeagentErrors for what cannot be done."""

    def __init__(self, app: App[str], main: MainScreen, door: Door, desk: Desk) -> None:
        self._app = app
        self._main = main
        self._door = door
        self._desk = desk

    async def run(self, call: CommandCall) -> Desk | None:
        """One command; the session that is open from now on when it is another one."""
        match call.name:
            case CommandName.NEW:
                return await self._door.open(Opening(model=self._desk.workbench.model()))
            case CommandName.TRUST:
                return await self._door.open(Opening(asks_trust=True))
            case CommandName.RESUME:
                return await self._resume(call.argument)
            case CommandName.FORK:
                return await self._fork()
            case CommandName.RENAME:
                self._rename(call.argument)
            case _:
                await self._export(call.argument)
        return None

    async def _resume(self, start: str) -> Desk | None:
        archive, here = self._desk.workbench.archive, self._desk.conversation.session_id
        sessions = tuple(one for one in await asyncio.to_thread(archive.summaries) if one.session_id != here)
        if not sessions:
            raise NotReady("There is no older session of this workspace.")
        if not start:
            opening = await self._app.push_screen_wait(SessionsScreen(archive, sessions, here))
        else:
            found = [one.session_id for one in sessions if one.session_id.startswith(start)]
            if len(found) != 1:
                begin = f"{counted(len(found), 'older session')} begin" if found else "No older session begins"
                raise NotReady(f"{begin} with {start}.", hint="/resume lists them.")
            opening = Opening(resume=found[0])
        if opening is None:
            return None
        return await open_or_fork(self._app, self._door, opening)

    async def _fork(self) -> Desk | None:
        """Opens a copy of this session, whole or up to a message, which is then in the prompt again."""
        turns = await self._desk.workbench.timeline.turns()
        if not turns:
            raise NothingToUndo("Nothing was said yet that could be copied.")
        items = [Item(value=_HERE, detail="with all that was said")]
        items += [Item(value=str(one.turn), detail=_shown(one.text)) for one in reversed(turns)]
        chosen = await self._app.push_screen_wait(Picker("Fork here, or before a message", items))
        if chosen is None:
            return None
        turn = None if chosen == _HERE else int(chosen)
        here, archive = self._desk.conversation.session_id, self._desk.workbench.archive
        try:
            new_id = await asyncio.to_thread(archive.fork, here, turn)
        except JournalError as error:
            await self._require_record(error)
            raise
        desk = await self._door.open(Opening(resume=new_id))
        if turn is not None and self._main.prompt.is_empty:
            self._main.prompt.put_said(next(one.text for one in turns if one.turn == turn))
        return desk

    def _rename(self, title: str) -> None:
        if not title:
            raise NotReady("A title is missing.", hint="/rename TITLE")
        self._desk.workbench.rename(title)
        self._main.status.remark("renamed", 3.0)

    async def _export(self, name: str) -> None:
        bench, session_id = self._desk.workbench, self._desk.conversation.session_id
        root = (await bench.status()).root
        path = await asyncio.to_thread(lambda: root / Path(name or f"codeagent-{session_id}.md").expanduser())
        try:
            await asyncio.to_thread(bench.archive.export_to, session_id, path)
        except JournalError as error:
            if not await asyncio.to_thread(path.exists):
                await self._require_record(error)
                raise
            if not await self._may_replace(path):
                return
            await asyncio.to_thread(lambda: bench.archive.export_to(session_id, path, replaces=True))
        self._main.end_greeting()
        self._main.transcript.add_note(f"Written to {show_invisible(str(path))}, readable by you alone.")

    async def _require_record(self, error: JournalError) -> None:
        """Raises NotReady where the trouble is that this session is not recorded, or not yet."""
        bench, here = self._desk.workbench, self._desk.conversation.session_id
        if here in {one.session_id for one in await asyncio.to_thread(bench.archive.summaries)}:
            return
        if await bench.timeline.turns():
            hint = "It was started with --no-session, or its folder cannot be written."
            raise NotReady("This session is not recorded.", hint=hint) from error
        raise NotReady("Nothing was said yet that could be written.") from error

    async def _may_replace(self, path: Path) -> bool:
        items = [
            Item(value="leave it", detail="nothing is written"),
            Item(value="replace", detail="the file there now"),
        ]
        title = f"{show_invisible(path.name)} is there already"
        return await self._app.push_screen_wait(Picker(title, items)) == "replace"


async def open_or_fork(app: App[str], door: Door, opening: Opening) -> Desk:
    """Opens a session; one that is open elsewhere is offered as a copy. Raises as the door does."""
    try:
        return await door.open(opening)
    except SessionBusy as error:
        items = [
            Item(value=_FORK, detail="go on with a copy; the other codeagent keeps the session"),
            Item(value=_NEW, detail="start a new session"),
        ]
        title = "That session is open in another codeagent"
        match await app.push_screen_wait(Picker(title, items)):
            case "fork":
                return await door.open(
                    Opening(
                        resume=opening.resume,
                        is_first=opening.is_first,
                        forks=True,
                        record=opening.record,
                        words=opening.words,
                    )
                )
            case "new":
                return await door.open(Opening())
            case _:
                raise error from None


async def open_first(app: App[str], door: Door, wanted: Opening | None, older: OlderSessions | None) -> Desk:
    """The session that the app begins with; raises as the door does."""
    return await open_or_fork(app, door, wanted or await first_opening(app, older))


async def first_opening(app: App[str], older: OlderSessions | None) -> Opening:
    """What the command line decides, or the session of ``older`` that the person picks; Esc takes a new one."""
    if older is None:
        return Opening(is_first=True)
    archive = await asyncio.to_thread(older)
    sessions = await asyncio.to_thread(archive.summaries)
    chosen = await app.push_screen_wait(SessionsScreen(archive, sessions)) if sessions else None
    return chosen or Opening()


def _shown(text: str) -> str:
    return " ".join(show_invisible(text).split()) or "(went on)"
