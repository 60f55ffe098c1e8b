"""The rules a person could store with an answer, always as narrow as can be, and what should be known before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from codeagent.core.approvals import (
    Access,
    CommandPreview,
    Decision,
    DiffPreview,
    Preview,
    RuleOffer,
    Touch,
)
from codeagent.core.diff import LineKind
from codeagent.core.text import has_disguised, has_invisible
from codeagent.policy.command_case import TOO_MUCH, CommandCase
from codeagent.policy.commands import Command
from codeagent.policy.destructive import loss
from codeagent.policy.effort import TooMuch
from codeagent.policy.rules import is_unclear, path_pattern
from codeagent.policy.wrappers import INTERPRETERS, base_name, inside, is_wrapper
from codeagent.workspace.git import uncommitted, uncommitted_in_words
from codeagent.workspace.paths import PathSandbox

Show = Callable[[Path], str]
"""A path as people read it."""

_MOST_DOUBTS = 4
_NEVER = frozenset({"rm", "kill", "pkill", "killall", "reboot", "shutdown", "crontab", "curl", "wget"})


def command_offers(case: CommandCase) -> tuple[RuleOffer, ...]:
    """One rule for each simple command that was asked about; none when one of them must be asked each time,
    or when nobody could see what the rule is about.
    """
    if case.analysis.is_opaque:
        return ()
    offers: list[RuleOffer] = []
    for ruling in case.rulings:
        if ruling.decision is Decision.ALLOW:
            continue
        if ruling.decision is Decision.DENY or not ruling.rules or not _may_be_stored(ruling.command):
            return ()
        offers += [RuleOffer(rule=rule, covers=_covers(rule)) for rule in ruling.rules]
    return _readable(offers)


def path_offers(tool: str, touches: Sequence[Touch], sandbox: PathSandbox) -> tuple[RuleOffer, ...]:
    """One rule for each path that a tool call touches; none as with ``command_offers``."""
    offers: list[RuleOffer] = []
    for touch in touches:
        if touch.path is None or (touch.concern and touch.access is Access.WRITE):
            return ()
        rule = f"{tool}({path_pattern(sandbox.show(touch.path))})"
        offers.append(RuleOffer(rule=rule, covers=_covers(rule)))
    return _readable(offers)


def _readable(offers: Sequence[RuleOffer]) -> tuple[RuleOffer, ...]:
    return () if any(is_unclear(offer.rule) for offer in offers) else tuple(dict.fromkeys(offers))


def warnings(preview: Preview, case: CommandCase | None, show: Show) -> tuple[str, ...]:
    """Plain sentences on what could be lost or overlooked, and whether undo would bring it back.

    The first weigh most, as there may be room for no more: what is destroyed, what gets out, what the sandbox is about.
    """
    found: list[str] = []
    if isinstance(preview, CommandPreview):
        found += () if case is None else (*_losses(preview, case, show), *case.overlooked)
        found += _sandbox(preview)
        if case is not None and (doubts := dict.fromkeys(doubt.reason for doubt in case.analysis.doubts)):
            found.append(f"It is not certain what this does: {'; '.join(islice(doubts, _MOST_DOUBTS))}.")
    if isinstance(preview, CommandPreview) and has_invisible(preview.command):
        found.append("It holds characters that cannot be seen; they are shown as <U+…>.")
    if isinstance(preview, DiffPreview) and any(has_invisible(text) for text in _added(preview)):
        found.append("The new text holds characters that cannot be seen; they are shown as <U+…>.")
    if isinstance(preview, DiffPreview) and any(has_disguised(text) for text in (preview.diff.path, *_added(preview))):
        found.append("It holds characters that pass for others; they are shown as <U+…>.")
    return tuple(dict.fromkeys(found))


def _sandbox(preview: CommandPreview) -> Iterator[str]:
    """What the sandbox would refuse, or let through for once."""
    if preview.held_back:
        how = "run once more, without" if preview.has_run else "run without"
        yield f"{preview.held_back} It would {how} the sandbox: it can then do all that you can."
    elif preview.reaches:
        yield f"{preview.is_once_more} It would run once more with that in reach; all else stays sandboxed."
    if preview.let_through:
        yield f"The sandbox would let it write to git's hooks and settings this once: to {preview.let_through}."


def _losses(preview: CommandPreview, case: CommandCase, show: Show) -> Iterator[str]:
    with case.effort.drawn_on():
        try:
            yield from case.losses.lost
            if case.losses.lost:
                yield from _stake(preview, case, show)
            yield from case.losses.not_kept
        except TooMuch:
            yield TOO_MUCH


def _stake(preview: CommandPreview, case: CommandCase, show: Show) -> Iterator[str]:
    """What is in no commit yet among the files that would be lost, and whether it would come back."""
    names = None if case.losses.stake is None else [str(path) for path in case.losses.stake]
    found = uncommitted(preview.cwd, names or ()) if names != [] else None
    if found and (text := uncommitted_in_words(found, show)):
        yield f"{text}."
    yield case.losses.comes_back


def _added(preview: DiffPreview) -> Iterator[str]:
    yield preview.diff.path
    for hunk in preview.diff.hunks:
        for line in hunk.lines:
            if line.kind is LineKind.ADDED:
                yield line.text.rstrip("\r\n")


def _may_be_stored(command: Command) -> bool:
    """Never for what runs other programs or texts, deletes, or fetches from elsewhere."""
    if not command.words:
        return True
    name = base_name(command.simple.name)
    return not (
        name in _NEVER
        or name.rstrip("0123456789.") in INTERPRETERS
        or is_wrapper(name)
        or inside(command.words)
        or loss(command.words)
    )


def _covers(rule: str) -> str:
    if rule.startswith("bash("):
        return "this command word for word, and nothing else"
    return "reading this path" if rule.startswith(("read(", "grep(", "glob(", "ls(")) else "any change of this file"
