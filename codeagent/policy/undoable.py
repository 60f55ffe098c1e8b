"""What a shell command would destroy, and whether undo would bring it back, in sentences for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

from codeagent.core.protocols import Cover
from codeagent.policy.at_stake import Stake
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.effort import TooMuch
from codeagent.policy.losses import Losses, RunsOn


class Undoable:
    """Answers for one line; ``changes`` says why a command of it may change something."""

    def __init__(
        self,
        analysis: Analysis,
        losses: Losses,
        changes: Callable[[Command], str],
        cover: Cover | None,
        roots: Sequence[Path],
    ) -> None:
        """``cover`` knows what is kept before the line runs; None: nothing."""
        self._analysis = analysis
        self._losses = losses
        self._changes = changes
        self._cover = RunsOn() if cover is not None and analysis.runs_on else cover
        self._roots = roots

    @cached_property
    def lost(self) -> tuple[str, ...]:
        """What would be lost when it runs, a sentence each."""
        return self._losses.of_line(self._analysis, self._changes)

    @cached_property
    def stake(self) -> Stake:
        """The files that would be lost; None when that is not certain, or would take long to tell."""
        try:
            return self._losses.stake(self._analysis, self._changes)
        except TooMuch:
            return None

    @cached_property
    def is_kept(self) -> bool:
        """Whether undo would surely bring back all that would be lost."""
        return self._cover is not None and self.stake is not None and not self._cover.gap(self.stake)

    @cached_property
    def comes_back(self) -> str:
        """Whether undo would bring back what would be lost, in a sentence."""
        if self._cover is None:
            return "Nothing is kept before: undo would not bring it back."
        if self.stake is None:
            return (
                "Undo may not bring back all of it: ignored and very large files are not kept, "
                "nor what only git holds, such as what is staged."
            )
        if gap := self._cover.gap(self.stake):
            return f"Undo would not bring back all of it: {gap}."
        return "It is kept before: /undo would bring it back."

    @cached_property
    def not_kept(self) -> tuple[str, ...]:
        """Why undo would not bring back files that the line surely deletes or replaces, a sentence each."""
        commands = self._analysis.commands
        return tuple(dict.fromkeys(chain.from_iterable(self._not_kept(command, doubts=False) for command in commands)))

    def doubts(self, command: Command, *, is_confined: bool) -> Iterator[str]:
        """Why a command of the line is not let through because undo would bring back what it destroys."""
        if not (is_confined and self.is_kept):
            for sentence in self._losses.sentences(command):
                yield f"{sentence} {self._why_not}".rstrip()
        yield from self._not_kept(command, doubts=True)

    @property
    def _why_not(self) -> str:
        """Nothing where it is not known what will be kept."""
        if self.is_kept:
            return "It would run without the sandbox."
        return self.comes_back if self._cover is not None else ""

    def _not_kept(self, command: Command, *, doubts: bool) -> Iterator[str]:
        if self._cover is None:
            return
        replaced = self._losses.replaced(command)
        if replaced and (gap := self._cover.gap(replaced)):
            yield f"Undo would not bring back what this replaces or deletes: {gap}."
        elif replaced is None and doubts and not self._keeps_everything:
            yield "Which files this deletes or replaces is known only when it runs: undo may not bring all back."

    @cached_property
    def _keeps_everything(self) -> bool:
        """Whether undo would bring back whatever a command can replace in the workspace."""
        root, *others = self._roots
        kept = [path for path in root.iterdir() if path.name != ".git"]
        return not others and self._cover is not None and not self._cover.gap(kept)
