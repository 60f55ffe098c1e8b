"""The commands that look at the agent's changes, take them back and bring them back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from textual.app import App

from codeagent.core.changes import Pace, Reversal, TurnChanges
from codeagent.core.commands import CommandCall, CommandName, NoSuchCommand, NotReady
from codeagent.core.desk import Desk
from codeagent.core.errors import NothingToUndo
from codeagent.core.text import counted, show_invisible
from codeagent.tui.screens.changes import ChangesScreen, Decision, ProgressScreen
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.screens.picker import Item, Picker
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.typed_before import MovedHere

_BOTH, _FILES, _CONVERSATION = "both", "files", "conversation"
_LAST, _BRANCH = "last", "branch"
_LOOKING = "Looking at the files"
_SHOWN_AFTER = 0.4
Result = TypeVar("Result")


class UndoCommands:
    """Carries these commands out over the main screen; raises CodeagentErrors for what cannot be done."""

    def __init__(self, app: App[str], main: MainScreen, desk: Desk, palette: Palette) -> None:
        self._app = app
        self._main = main
        self._conversation = desk.conversation
        self._bench = desk.workbench
        self._timeline = desk.workbench.timeline
        self._palette = palette

    async def run(self, call: CommandCall) -> None:
        """One command."""
        match call.name:
            case CommandName.UNDO:
                await self._carry_out(await self._watched(_LOOKING, self._timeline.plan_undo))
            case CommandName.REDO:
                await self._redo()
            case CommandName.REWIND:
                await self._rewind()
            case _:
                await self._show_changes(call.argument)

    async def _carry_out(self, reversal: Reversal, *, tells: bool = True) -> str:
        """Shows what would be done and does it; what was done, in words, empty when the person left it as it is."""
        decision = await self._app.push_screen_wait(ChangesScreen.of(reversal, self._palette))
        if decision is None:
            return ""
        overwrites = decision is Decision.OVERWRITE
        doing = f"{'Bringing' if reversal.is_redo else 'Taking'} back {reversal.what}"
        return await self._watched(
            doing, lambda pace: self._timeline.carry_out(reversal, overwrites=overwrites, pace=pace, tells=tells)
        )

    async def _watched(self, doing: str, work: Callable[[Pace], Awaitable[Result]]) -> Result:
        """The outcome of some work; where it takes long, how far it is stands on the screen and Esc stops it."""
        pace = Pace()
        screen = ProgressScreen(doing, pace)
        soon = self._app.set_timer(_SHOWN_AFTER, lambda: self._app.push_screen(screen))
        try:
            return await work(pace)
        finally:
            soon.stop()
            if screen in self._app.screen_stack:
                await screen.dismiss()

    async def _redo(self) -> None:
        """Brings back files, the conversation, or what one rewind took of both."""
        rewound = self._conversation.rewound_turn
        try:
            reversal = await self._watched(_LOOKING, self._timeline.plan_redo)
        except NothingToUndo:
            if rewound is None:
                raise
            reversal = None
        belongs = reversal is not None and reversal.turn == rewound
        if reversal is not None and (rewound is None or belongs) and not await self._carry_out(reversal):
            return
        if rewound is not None:
            await self._conversation.take_rewind_back()

    async def _rewind(self) -> None:
        turns = await self._timeline.turns()
        if not turns:
            raise NothingToUndo("Nothing was said yet.")
        columns = max(len(_files(turn)) for turn in turns), max(len(_lines(turn)) for turn in turns)
        items = [Item(value=str(turn.turn), detail=_described(turn, columns)) for turn in reversed(turns)]
        chosen = await self._chosen("Go back to before", items)
        if chosen is None:
            return
        turn = next(one for one in turns if str(one.turn) == chosen)
        what, said = _CONVERSATION, ""
        if any(one.diffs for one in turns if one.turn >= turn.turn):
            what = await self._chosen("Take back", _choices()) or ""
        if what in {_BOTH, _FILES}:
            reversal = await self._watched(_LOOKING, lambda pace: self._timeline.plan_rewind(turn.turn, pace))
            reversal = reversal if what == _BOTH else replace(reversal, turn=0)
            said = await self._carry_out(reversal, tells=what != _BOTH)
            if not said:
                return
        if what in {_BOTH, _CONVERSATION}:
            try:
                await self._conversation.rewind(turn.turn)
            finally:
                if said:  # told only now, since what was told before goes with the conversation
                    self._timeline.tell(said)
            if self._main.prompt.is_empty:
                self._main.prompt.put_said(turn.text)

    async def _chosen(self, title: str, items: Sequence[Item]) -> str | None:
        """What the person chose; a sentence typed at the list, which Esc pressed twice opens, goes to the prompt."""
        picker = Picker(title, items)
        chosen = await self._app.push_screen_wait(picker)
        if chosen is None and picker.unused:
            self._main.prompt.post_message(MovedHere((picker.unused,)))
        return chosen

    async def _show_changes(self, argument: str) -> None:
        if argument == _BRANCH:
            await self._show_branch()
            return
        turns = await self._timeline.turns()
        known = [turn.turn for turn in turns]
        if not argument:
            number, which = None, "this session"
        elif argument == _LAST:
            number, which = known[-1] if known else None, "the last turn"
        elif argument.isdecimal() and int(argument) in known:
            number, which = int(argument), f"turn {argument}"
        else:
            turns_there = f" or a turn from {known[0]} to {known[-1]}" if known else ""
            raise NoSuchCommand(f"/diff takes {_LAST}, {_BRANCH}{turns_there}, not {argument}.")
        diffs = await self._timeline.changes(number)
        if not diffs:
            raise NothingToUndo(f"The agent changed no files in {which}.")
        await self._app.push_screen(ChangesScreen(f"Changes of {which}", self._palette, diffs))

    async def _show_branch(self) -> None:
        found = await self._bench.branch_diff()
        if found is None:
            raise NotReady("There is no commit here to compare with.", hint="/diff shows what the agent changed.")
        if not found.diffs:
            raise NothingToUndo(f"Nothing was changed since {show_invisible(found.origin)}.")
        more = f", and {counted(found.left_out, 'more file')}" if found.left_out else ""
        title = f"Changes since {show_invisible(found.origin)}{more}"
        await self._app.push_screen(ChangesScreen(title, self._palette, found.diffs))


def _described(turn: TurnChanges, columns: tuple[int, int]) -> str:
    """The files and the lines that a turn changed, each in a column of so many cells, and what it was about."""
    changed = (_files(turn).ljust(columns[0]), _lines(turn).ljust(columns[1]))
    text = " ".join(show_invisible(turn.text).split()) or "(went on)"
    before = " ".join(one for one in changed if one)
    return f"{before}   {text}" if before else text


def _files(turn: TurnChanges) -> str:
    return counted(len(turn.diffs), "file") if turn.diffs else ""


def _lines(turn: TurnChanges) -> str:
    added, removed = sum(diff.added for diff in turn.diffs), sum(diff.removed for diff in turn.diffs)
    return f"+{added:,} −{removed:,}" if added or removed else ""


def _choices() -> list[Item]:
    return [
        Item(value=_BOTH, detail="the conversation and the agent's changes of files since"),
        Item(value=_FILES, detail="only the changes of files; the conversation stays"),
        Item(value=_CONVERSATION, detail="only the conversation; the files stay"),
    ]
