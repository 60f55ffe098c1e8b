"""What a shell command would destroy, as files and in sentences for people, and whether undo would bring it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from codeagent.core.protocols import Cover
from codeagent.policy.absent import commands_ahead, without_absent
from codeagent.policy.at_stake import Stake, at_stake
from codeagent.policy.commands import Analysis, Command
from codeagent.policy.destructive import loss
from codeagent.policy.destructive_git import git_loss_here
from codeagent.policy.effort import TooMuch
from codeagent.policy.named_paths import NamedPaths
from codeagent.policy.replaced import Replaced, replaced_files
from codeagent.policy.shell_script import Direction
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name
from codeagent.workspace.git_places import is_there

_MOST_AHEAD = 20
"""Commands of which it is looked up what is there; a line of thousands is judged as it stands."""


class RunsOn:
    """The cover of a command of which a part goes on when its checkpoint was compared: it is none."""

    def gap(self, paths: Sequence[Path]) -> str:
        """Why undo would not bring back ``paths``; nothing when there are none."""
        return "what runs in the background goes on after the files were compared" if paths else ""

    def promise(self, call_id: str) -> None:
        """Nothing is promised."""


class Losses:
    """Answers for one line; ``paths`` knows where its commands run, ``changes`` says why one may change something."""

    def __init__(
        self, analysis: Analysis, paths: NamedPaths, changes: Callable[[Command], str], cover: Cover | None
    ) -> None:
        """``cover`` knows what is kept before the line runs; None: nothing."""
        self._analysis = analysis
        self._paths = paths
        self._changes = changes
        self._cover = RunsOn() if cover is not None and analysis.runs_on else cover

    def sentences(self, command: Command) -> Iterator[str]:
        """What would be lost when the command runs, one sentence a loss."""
        for found in command.everything():
            if sentence := self._loss(found):
                yield sentence
            yield from self._contents(found)

    def _contents(self, command: Command) -> Iterator[str]:
        for target in self._overwritten(command):
            yield f"The contents of {target.text} would be replaced."

    @cached_property
    def lost(self) -> tuple[str, ...]:
        """The sentences on all of it, first on what is destroyed, then on what is replaced.

        Nothing is said of what surely is not there.
        """
        found = tuple(dict.fromkeys(self._lost()))
        stake = self._stake() if found else None
        return () if stake is not None and not any(map(is_there, stake)) else found

    def _lost(self) -> Iterator[str]:
        ahead = set(map(id, islice(commands_ahead(self._analysis, self._changes), _MOST_AHEAD)))
        contents: list[str] = []
        for command in self._analysis.commands:
            folders = self._paths.folders(command.simple.places) if id(command) in ahead else ()
            there = without_absent(command, folders[0]) if len(folders) == 1 else command
            for found in there.everything():
                if sentence := self._loss(found):
                    yield sentence
                contents += self._contents(found)
        yield from contents

    @cached_property
    def stake(self) -> Stake:
        """The files that would be lost; None when that is not certain, or would take long to tell."""
        try:
            return self._stake()
        except TooMuch:
            return None

    def _stake(self) -> Stake:
        """The files that all of it would delete or overwrite; None when that is not certain.

        Whatever else the line changes could have a hand in what is deleted, so then nothing is certain.
        """
        losing, others = list[Command](), list[Command]()
        for command in self._analysis.commands:
            (losing if any(self.sentences(command)) else others).append(command)
        if self._analysis.is_opaque or any(map(self._changes, others)):
            return None
        if len(losing) > 1 and any(base_name(command.simple.name) != "rm" for command in losing):
            return None
        found: list[Path] = []
        for command in losing:
            folders = self._paths.folders(command.simple.places)
            targets = list(self._overwritten(command))
            if len(folders) != 1 or command.inner or not all(target.is_fixed for target in targets):
                return None
            lost = at_stake(command.words, folders[0]) if self._loss(command) else ()
            if lost is None:
                return None
            found += lost
            found += [(folders[0] / target.text).resolve() for target in targets]
        return tuple(found)

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
            for sentence in self.sentences(command):
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
        replaced = self._replaced(command)
        if replaced and (gap := self._cover.gap(replaced)):
            yield f"Undo would not bring back what this replaces or deletes: {gap}."
        elif replaced is None and doubts and not self._keeps_everything:
            yield "Which files this deletes or replaces is known only when it runs: undo may not bring all back."

    @cached_property
    def _keeps_everything(self) -> bool:
        """Whether undo would bring back whatever a command can replace in the workspace."""
        root, *others = self._paths.roots
        kept = [path for path in root.iterdir() if path.name != ".git"]
        return not others and self._cover is not None and not self._cover.gap(kept)

    def _replaced(self, command: Command) -> Replaced:
        """The files that it deletes or replaces without being a command that destroys by its nature."""
        files: list[Path] = []
        for found in command.everything():
            if self._loss(found):
                continue
            for folder in self._paths.folders(found.simple.places) or (None,):
                lost = replaced_files(found.words, folder)
                if lost is None:
                    return None
                files += lost
        return tuple(files)

    def _loss(self, command: Command) -> str:
        """What would be lost by the words, or by them where they run."""
        folders = self._paths.folders(command.simple.places)
        here = (git_loss_here(command.words, folder) for folder in folders)
        where = folders[0] if len(folders) == 1 else None
        return loss(command.words, where) or next(filter(None, here), "")

    def _overwritten(self, command: Command) -> Iterator[Word]:
        """The files whose contents it would replace: by a redirection, or as ``tee`` does."""
        simple = command.simple
        targets = [found.target for found in simple.redirections if found.direction is Direction.WRITES]
        if base_name(simple.name) == "tee":
            targets += _tee_targets(command.words[1:])
        yield from (target for target in targets if self._paths.overwrites(target, simple.places))


def _tee_targets(words: Sequence[Word]) -> list[Word]:
    """The files that ``tee`` writes anew: none where it only adds to them."""
    texts = [word.text for word in words]
    end = texts.index("--") if "--" in texts else len(texts)
    options = [text for text in texts[:end] if text.startswith("-") and text != "-"]
    if any(text.startswith("--a") or (text[1:2] != "-" and "a" in text) for text in options):
        return []
    return [word for word in words[:end] if not word.text.startswith("-")] + list(words[end + 1 :])
