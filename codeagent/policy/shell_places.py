"""Where the shell stands while a script runs: follows ``cd`` through lists, branches and groups, and ``make -C``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from codeagent.policy.options import names
from codeagent.policy.shell_script import Places
from codeagent.policy.shell_words import Word

_MOST_PLACES = 8
_MOST_MOVES = 16
_GOING = names("-C --directory --chdir --cwd --prefix --working-directory --project-directory")


@dataclass(frozen=True, slots=True)
class Flow:
    """Where the shell may stand after a statement that succeeded, that failed, or that was not looked at."""

    success: Places | None
    failure: Places | None
    after: Places | None

    @property
    def may_fail(self) -> bool:
        """Whether failing is worth a thought: that a folder to go to is missing is seen when paths are judged."""
        return self.failure is None or self.after is None or self.failure <= self.after

    def and_then(self, then: Flow) -> Flow:
        """After ``a && b``; ``then`` is b, started where a succeeded."""
        after = either(then.after, self.failure if self.may_fail else then.after)
        return Flow(then.success, either(self.failure, then.failure), after)

    def or_else(self, then: Flow) -> Flow:
        """After ``a || b``; ``then`` is b, started where a failed."""
        return Flow(either(self.success, then.success), then.failure, either(self.after, then.after))


def stay(places: Places | None) -> Flow:
    """After a statement that moves nobody."""
    return Flow(places, places, places)


def either(first: Places | None, second: Places | None) -> Places | None:
    """All places of both; None, any place, when they are too many to follow."""
    if first is second:
        return first
    if first is None or second is None:
        return None
    union = first | second
    return union if len(union) <= _MOST_PLACES else None


def moved(words: Sequence[Word], places: Places | None) -> Flow | None:
    """After a command that may go elsewhere; None for every other command."""
    if not words or words[0].text not in {"cd", "pushd", "popd", "builtin", "command"}:
        return None
    while words[0].text in {"builtin", "command"} and len(words) > 1:
        words = words[1:]
    name = words[0].text
    if name not in {"cd", "pushd", "popd"}:
        return None
    target = _cd_target(words)
    if target is None or places is None or name != "cd":
        return Flow(None, places, None)
    if any(len(chain) >= _MOST_MOVES for chain in places):
        return Flow(None, places, None)
    there = frozenset((*chain, target) for chain in places)
    return Flow(there, places, there)


def _cd_target(words: Sequence[Word]) -> Word | None:
    """The folder that ``cd`` goes to, None when it cannot be told."""
    operands = [word for word in words[1:] if word.text not in {"--", "-L", "-P"}]
    if not operands:
        return Word("~", has_tilde=True)
    if len(operands) > 1 or not operands[0].is_known or operands[0].glob or operands[0].text.startswith("-"):
        return None
    return operands[0]


def elsewhere(words: Sequence[Word], places: Places | None) -> Places | None:
    """The places where an option goes, such as ``make -C DIR`` or ``tar --directory=DIR``; the same where none does."""
    for word, following in pairwise([*words, Word("")]):
        name, equals, value = word.text.partition("=")
        is_stuck = word.text.startswith("-C") and len(word.text) > len("-C")
        if name in _GOING or is_stuck:
            folder = Word(word.text[2:]) if is_stuck else Word(value) if equals else following
            flow = moved((Word("cd"), folder), places)
            places = flow.success if flow and folder.text else places
    return places
