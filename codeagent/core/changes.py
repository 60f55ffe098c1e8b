"""What the agent changed, how taking it back would look, and the port through which screens do it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from codeagent.core.diff import FileDiff
from codeagent.core.errors import UndoStopped
from codeagent.core.values import value


class Standing(StrEnum):
    """How a file stands towards being taken back."""

    CLEAN = "clean"
    MERGED = "merged"
    CONFLICT = "conflict"
    UNSURE = "unsure"


LEFT_ALONE = frozenset({Standing.CONFLICT, Standing.UNSURE})
"""Files that are not touched unless the person says so."""


@value
class FileReversal:
    """What taking a change back does to one file.

    ``diff`` leads from what is there now to what would be. With ``Standing.MERGED``
    changes that the person made since are kept; with ``CONFLICT`` they would be
    lost, so the file is left alone unless they say otherwise; just so with ``UNSURE``,
    which was changed while a job ran, by it or by the person.
    """

    path: str
    standing: Standing
    diff: FileDiff


@value
class Reversal:
    """A change to take back, or to bring back, as it would be carried out now.

    ``entries`` are the ids of what is reversed, in the order in which that is done;
    ``what`` says it in words. ``turn`` is the turn that a rewind goes back before, else 0.
    """

    entries: tuple[str, ...]
    what: str
    files: tuple[FileReversal, ...]
    is_redo: bool = False
    turn: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def conflicts(self) -> tuple[FileReversal, ...]:
        """The files that the person changed since in the same places, or that may be their doing."""
        return tuple(file for file in self.files if file.standing in LEFT_ALONE)


@value
class TurnChanges:
    """What one turn changed in the files, all its calls together; ``text`` is what the person had said."""

    turn: int
    text: str
    diffs: tuple[FileDiff, ...]


@value
class BranchDiff:
    """What a branch changed since it left ``origin``; ``left_out`` counts files that are not among the diffs."""

    origin: str
    diffs: tuple[FileDiff, ...]
    left_out: int = 0


@dataclass(slots=True, kw_only=True)
class Pace:
    """How far a long piece of work has come: whoever does it counts, whoever waits looks on, and may ``stop`` it.

    ``done`` and ``total`` are numbers of steps. Once it ``is_final`` it can no longer be stopped.
    """

    done: int = 0
    total: int = 0
    is_final: bool = False
    is_stopped: bool = False

    def step(self) -> None:
        """One more is done; raises UndoStopped when it is to go no further."""
        self.done += 1
        if self.is_stopped and not self.is_final:
            raise UndoStopped("Stopped; no file was changed.")

    def stop(self) -> None:
        """Asks it to go no further."""
        self.is_stopped = True


class Timeline(Protocol):
    """The changes of a session, to look at and to take back.

    What is long tells its ``pace``; stopped there, it raises UndoStopped and has changed nothing.
    """

    async def plan_undo(self, pace: Pace | None = None) -> Reversal:
        """How taking back the last changing call would look; raises NothingToUndo."""
        ...

    async def plan_redo(self, pace: Pace | None = None) -> Reversal:
        """How bringing back what was last taken back would look; raises NothingToUndo."""
        ...

    async def plan_rewind(self, turn: int, pace: Pace | None = None) -> Reversal:
        """How taking back everything since the start of ``turn`` would look; raises NothingToUndo."""
        ...

    async def carry_out(
        self, reversal: Reversal, *, overwrites: bool = False, pace: Pace | None = None, tells: bool = True
    ) -> str:
        """Does what was shown, and says in a sentence what was done.

        ``overwrites`` includes the files in conflict. ``tells`` says it as a notice too; else ``tell`` does,
        later. Raises StaleFile, having changed nothing, when a file is no longer what the plan was made from.
        """
        ...

    def tell(self, said: str) -> None:
        """Says as a notice, which stays in the session's record, what was done."""
        ...

    async def turns(self) -> tuple[TurnChanges, ...]:
        """All turns, oldest first, with what is left of their changes."""
        ...

    async def changes(self, turn: int | None = None) -> tuple[FileDiff, ...]:
        """What the agent changed and nobody took back: in the whole session, or in one turn."""
        ...
