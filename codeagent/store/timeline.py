"""The changes of a session as people take them back: the last call, a turn and all after it, or an undo itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from codeagent.core.changes import LEFT_ALONE, FileReversal, Pace, Reversal, Standing, TurnChanges
from codeagent.core.commands import is_compaction
from codeagent.core.diff import FileDiff
from codeagent.core.errors import NothingToUndo, StaleFile
from codeagent.core.events import (
    AgentEvent,
    ConversationRestored,
    ConversationRewound,
    Emit,
    NoticeGiven,
    TurnStarted,
)
from codeagent.core.text import counted, show_invisible
from codeagent.store.change_log import Entry, Kind
from codeagent.store.change_order import as_on_screen, folders_made
from codeagent.store.change_store import ChangeStore
from codeagent.store.difference import diffs_of, joined, worth_showing
from codeagent.store.file_states import FileChange
from codeagent.store.reversing import Item, apply, as_shown, laid_ready, work_out

_MOST_NAMED = 10
_LEFT_AS = {Standing.CONFLICT: "you changed it", Standing.UNSURE: "it is: it may be you who changed it"}
Result = TypeVar("Result")


class ChangeTimeline:
    """Plans and carries out; what is slow happens on a thread, one thing after the other."""

    def __init__(
        self, store: ChangeStore, busy: asyncio.Lock, is_running: Callable[[], bool], tell: Emit | None = None
    ) -> None:
        """``busy`` is held by whoever works with the store; while a turn ``is_running`` nothing is taken back.

        What was done is told as a notice.
        """
        self._tell = tell
        self._store = store
        self._busy = busy
        self._is_running = is_running
        self._turns: dict[int, str] = {}
        self._rewound: dict[int, str] = {}
        self._shown: tuple[tuple[FileReversal, ...], tuple[Item, ...]] = ((), ())

    def listen(self, event: AgentEvent) -> None:
        """Learns what the turns were about."""
        match event:
            case TurnStarted(turn=turn, text=text):
                self._turns[turn] = text
                self._rewound = {}
            case ConversationRewound(turn=turn):
                self._rewound = {number: text for number, text in self._turns.items() if number >= turn}
                self._turns = {number: text for number, text in self._turns.items() if number < turn}
            case ConversationRestored():
                self._turns |= self._rewound
            case _:
                pass

    async def plan_undo(self, pace: Pace | None = None) -> Reversal:
        """How taking back the last changing call would look; raises NothingToUndo."""
        return await self._on_thread(self._undo, pace)

    async def plan_redo(self, pace: Pace | None = None) -> Reversal:
        """How bringing back what was last taken back would look; raises NothingToUndo."""
        return await self._on_thread(self._redo, pace)

    async def plan_rewind(self, turn: int, pace: Pace | None = None) -> Reversal:
        """How taking back everything since the start of ``turn`` would look; raises NothingToUndo."""
        return await self._on_thread(lambda pace: self._rewind(turn, pace), pace)

    async def carry_out(
        self, reversal: Reversal, *, overwrites: bool = False, pace: Pace | None = None, tells: bool = True
    ) -> str:
        """Does what was shown, and says in a sentence what was done; raises StaleFile when that is no longer right."""
        said = await self._on_thread(lambda pace: self._carry_out(reversal, pace, overwrites=overwrites), pace)
        if tells:
            self.tell(said)
        return said

    def tell(self, said: str) -> None:
        """Says as a notice what was done."""
        if self._tell is not None:
            self._tell(NoticeGiven(text=said))

    async def turns(self) -> tuple[TurnChanges, ...]:
        """All turns, oldest first, with what is left of their changes."""
        async with self._busy:
            return await asyncio.to_thread(self._all_turns)

    async def changes(self, turn: int | None = None) -> tuple[FileDiff, ...]:
        """What the agent changed and nobody took back: in the whole session, or in one turn."""
        async with self._busy:
            return await asyncio.to_thread(self._changes, turn)

    async def take_news(self) -> tuple[tuple[str, ...], tuple[Path, ...]]:
        """What the model must hear of reversals, once, and the files that they were about.

        The person is told of files that jobs may have changed which were cut off with the program.
        """
        async with self._busy:
            left = self._store.jobs.left
            cut_off = await asyncio.to_thread(self._store.finish_reversal)
            if cut_off and self._tell is not None:
                self._tell(NoticeGiven(text=f"Undo or redo of {cut_off} had been cut off; it is whole now."))
            look = await asyncio.to_thread(self._store.settle_all)
            if left is not None and look.changes and self._tell is not None:
                changed = _counted(worth_showing(look.changes))
                text = f"{left.what}: {changed} changed since, by it or by you. /undo shows what."
                self._tell(NoticeGiven(text=f"{text[0].upper()}{text[1:]}"))
            return await asyncio.to_thread(self._news)

    async def _on_thread(self, work: Callable[[Pace], Result], pace: Pace | None) -> Result:
        """A cancellation stops the work where that can be, and goes on when it is over."""
        if self._is_running():
            raise NothingToUndo("The agent is at work.", hint="Stop it first.")
        pace = pace or Pace()
        async with self._busy:
            doing = asyncio.get_running_loop().run_in_executor(None, work, pace)
            try:
                return await asyncio.shield(doing)
            except asyncio.CancelledError:
                pace.stop()
                while not doing.done():
                    with suppress(asyncio.CancelledError):
                        await asyncio.wait([doing])
                if not doing.cancelled():
                    doing.exception()  # that it was stopped is known: nobody else is to be told
                raise

    # --- planning

    def _undo(self, pace: Pace) -> Reversal:
        self._store.settle_all()
        done = self._done()
        if not done:
            raise NothingToUndo("The agent changed nothing here that could be taken back.")
        since = len(done) - 1
        while since > 0 and not done[since].is_sure:  # what may be the person's comes with the call before it
            since -= 1
        return self._planned(done[since:][::-1], done[since].what, pace)

    def _redo(self, pace: Pace) -> Reversal:
        self._store.settle_all()
        undone = self._store.log.balance().undone
        if not undone:
            raise NothingToUndo("There is nothing to bring back: nothing was taken back last.")
        return self._planned([undone[-1]], undone[-1].what, pace, is_redo=True, turn=undone[-1].turn)

    def _rewind(self, turn: int, pace: Pace) -> Reversal:
        self._store.settle_all()
        since = [entry for entry in self._done() if entry.turn >= turn]
        if not since:
            raise NothingToUndo("No files were changed since then.")
        count = len(since)
        what = (
            since[0].what if count == 1 else f"{counted(count, 'call')} since “{_shortened(self._turns.get(turn, ''))}”"
        )
        return self._planned(since[::-1], what, pace, turn=turn)

    def _planned(
        self, entries: Sequence[Entry], what: str, pace: Pace, *, is_redo: bool = False, turn: int = 0
    ) -> Reversal:
        pace.total = 2 * _count(entries)
        items, problems = work_out(entries, self._store, pace)
        files = as_shown(items, self._store, pace)
        self._shown = (files, items)
        return Reversal(
            entries=tuple(entry.id for entry in entries),
            what=what,
            files=files,
            remarks=problems,
            is_redo=is_redo,
            turn=turn,
        )

    # --- doing

    def _is_as_shown(self, items: tuple[Item, ...], files: tuple[FileReversal, ...], pace: Pace) -> bool:
        shown, then = self._shown
        return then == items if files and shown is files else as_shown(items, self._store, pace) == files

    def _carry_out(self, reversal: Reversal, pace: Pace, *, overwrites: bool) -> str:
        store = self._store
        by_id = {entry.id: entry for entry in store.log.entries}
        balance = store.log.balance()
        valid = {entry.id for entry in (balance.undone if reversal.is_redo else balance.done)}
        entries = [by_id[name] for name in reversal.entries if name in valid]
        pace.total = 3 * _count(entries)
        items, _ = work_out(entries, store, pace)
        if len(entries) != len(reversal.entries) or not self._is_as_shown(items, reversal.files, pace):
            raise StaleFile("The files changed since this was shown; nothing was done.", hint="Look at it again.")
        left = () if overwrites else tuple(item for item in items if item.standing in LEFT_ALONE)
        chosen = tuple(item for item in items if item not in left)
        made = folders_made(entries, store.log.entries)
        made = () if reversal.is_redo else made
        with laid_ready(chosen, store, pace) as staged:
            entry_id = store.log.next_id()
            store.under_way.begin(entry_id)
            store.log.add(
                Entry(
                    id=entry_id,
                    kind=Kind.REDO if reversal.is_redo else Kind.UNDO,
                    what=reversal.what,
                    turn=reversal.turn,
                    changes=tuple(item.change for item in chosen),
                    reverses=reversal.entries,
                    made=made,
                )
            )
            problems = apply(chosen, made, store, staged, pace)
        store.under_way.end()
        said = [f"{_did(reversal)} {reversal.what}: {_counted(worth_showing(item.change for item in chosen))}."]
        said += [f"{show_invisible(item.name)} was left as {_LEFT_AS[item.standing]}." for item in left]
        return " ".join([*said, *reversal.remarks, *problems])

    # --- looking

    def _all_turns(self) -> tuple[TurnChanges, ...]:
        done = self._done()
        numbers = sorted({*self._turns, *(entry.turn for entry in done if entry.turn in self._turns)})
        turns = (
            TurnChanges(
                turn=number,
                text=self._turns[number],
                diffs=self._diffs(entry for entry in done if entry.turn == number and entry.is_sure),
            )
            for number in numbers
        )
        return tuple(turn for turn in turns if turn.diffs or not is_compaction(turn.text))

    def _changes(self, turn: int | None) -> tuple[FileDiff, ...]:
        return self._diffs(entry for entry in self._done() if entry.is_sure and turn in {None, entry.turn})

    def _done(self) -> tuple[Entry, ...]:
        """What is in force, as it stands on the screen."""
        return as_on_screen(self._store.log.balance().done)

    def _diffs(self, entries: Iterable[Entry]) -> tuple[FileDiff, ...]:
        changes = joined(change for entry in entries for change in entry.changes)
        return diffs_of(worth_showing(changes), self._store.blobs) if changes else ()

    def _news(self) -> tuple[tuple[str, ...], tuple[Path, ...]]:
        store = self._store
        untold = store.log.balance().untold
        if not untold:
            return (), ()
        names = [change.name for entry in untold for change in entry.changes]
        told = Entry(id=store.log.next_id(), kind=Kind.TOLD, what="", reverses=tuple(entry.id for entry in untold))
        store.log.add(told)
        texts = tuple(_told(entry) for entry in untold)
        return texts, tuple(store.path_of(name) for name in dict.fromkeys(names))


def _count(entries: Iterable[Entry]) -> int:
    return sum(len(entry.changes) for entry in entries)


def _told(entry: Entry) -> str:
    """An undo or redo in words for the model."""
    names = [show_invisible(change.name) for change in worth_showing(entry.changes)]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    files = ", ".join(names[:_MOST_NAMED]) + more
    if entry.kind is Kind.REDO:
        return f"The person brought back a change of yours that they had taken back ({entry.what}): {files}."
    return (
        f"The person took back a change of yours ({entry.what}); do not make it again unless asked. "
        f"These files are as they were before it: {files}."
    )


def _did(reversal: Reversal) -> str:
    return "Brought back" if reversal.is_redo else "Took back"


def _counted(changes: Sequence[FileChange]) -> str:
    folders = sum(change.is_folder for change in changes)
    files = len(changes) - folders
    counts = [(files, "file")] if files or not folders else []
    counts += [(folders, "folder")] if folders else []
    return " and ".join(counted(count, noun) for count, noun in counts)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"  # noqa: PLR2004 - it stands inside a sentence
