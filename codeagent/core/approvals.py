"""What a call would touch, how it is shown, and what a person can answer."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

from codeagent.core.diff import FileDiff
from codeagent.core.values import value


class Mode(StrEnum):
    """How much the agent may do without asking; the order is that of Shift+Tab."""

    ASK = "ask"
    EDITS = "edits"
    AUTO = "auto"
    PLAN = "plan"


class Hold(StrEnum):
    """How far the operating system holds commands, in the words that every screen says it with."""

    WHOLE = "sandboxed"
    GAP = "sandboxed with a gap"
    NONE = "not sandboxed"


class Access(StrEnum):
    """What is done to a path."""

    READ = "read"
    WRITE = "write"


class ConcernKind(StrEnum):
    """Why a path needs a person's word."""

    OUTSIDE = "outside"
    SENSITIVE = "sensitive"


@value
class Concern:
    """A path that is asked about; a sensitive one each time, whatever rules or grants say."""

    kind: ConcernKind
    reason: str


@value
class Touch:
    """One thing a call reads or changes.

    ``path`` is canonical (absolute, symlinks followed); None is the whole workspace.
    ``written`` is the path as the model wrote it.
    """

    path: Path | None
    access: Access
    written: str = ""
    concern: Concern | None = None


@value
class NoPreview:
    """A call that changes nothing and so needs no picture of it."""

    kind: Literal["none"] = "none"


@value
class DiffPreview:
    """A change of a file; ``level`` says how the old text matched, ``proposal`` is the text a person may edit."""

    kind: Literal["diff"] = "diff"
    diff: FileDiff
    proposal: str
    level: str = "exact"
    notes: tuple[str, ...] = ()


@value
class CommandPreview:
    """A shell command, whole; ``timeout`` in seconds, 0 for a background command without one.

    ``held_back`` says what the sandbox keeps it from; then this is about running it without the sandbox,
    once more when it ``has_run``.
    ``let_through``: what of git's own files the sandbox lets it write to this once, in words.
    ``opens_services``: the sandbox lets it use services and reach other processes this once.
    ``reaches``: the services that it was kept from and that are let through to it alone, by name, as it runs once more.
    """

    kind: Literal["command"] = "command"
    command: str
    cwd: Path
    timeout: float
    background: bool = False
    held_back: str = ""
    has_run: bool = False
    let_through: str = ""
    opens_services: bool = False
    reaches: tuple[str, ...] = ()

    @property
    def is_once_more(self) -> str:
        """Why it is asked about whether to run a command with less of the sandbox, whatever the rules; or empty."""
        if self.reaches:
            return f"The sandbox kept it from using {' and '.join(self.reaches)}."
        return self.held_back


Preview = NoPreview | DiffPreview | CommandPreview


def to_keep(preview: Preview) -> Preview:
    """The preview without the text to edit, a whole file, which nobody needs once the question is answered."""
    return replace(preview, proposal="") if isinstance(preview, DiffPreview) else preview


@value
class TextPreview:
    """A question that is about no tool call: ``title`` says what would happen, ``text`` is shown whole.

    ``is_proposal`` says that the person may edit the text before it is used.
    """

    kind: Literal["text"] = "text"
    title: str
    text: str
    is_proposal: bool = False


@value
class ProjectEntry:
    """A file that the project brings along: ``effect`` says what it would do, ``text`` is what it says.

    ``notes`` say what of it would have no effect, ``change`` what happened to it since it was trusted.
    """

    name: str
    effect: str
    text: str = ""
    notes: tuple[str, ...] = ()
    change: str = ""


@value
class ProjectPreview:
    """The files of the project ``root`` that would steer the program; ``gone`` are trusted ones that are not there."""

    kind: Literal["project"] = "project"
    root: Path
    entries: tuple[ProjectEntry, ...]
    gone: tuple[str, ...] = ()


class Decision(StrEnum):
    """What the policy says of a call, mildest first."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@value
class VerdictPart:
    """The verdict on one simple command of a shell command, or on one path; ``loses``: it would destroy something."""

    words: tuple[str, ...]
    decision: Decision
    because: str
    loses: bool = False

    @property
    def shown(self) -> str:
        """The words as a person reads them: of several, one that is empty or holds blanks stands between quotes."""
        return " ".join(map(_bounded, self.words)) if len(self.words) > 1 else "".join(self.words)


def _bounded(word: str) -> str:
    if word and not any(map(str.isspace, word)):
        return word
    return f"'{word}'" if '"' in word else f'"{word}"'


@value
class Verdict:
    """What the policy says, and why; ``remedy`` names the rule or flag that would allow it.

    ``losses``: what would be lost if it ran, a sentence each. ``is_covered``: it is allowed because undo brings back
    what it would delete. ``writes``: places that a command which is asked about surely writes to.
    ``opens_services``: if it runs, then with the services and other processes in reach that its words are about.
    """

    decision: Decision
    because: str
    parts: tuple[VerdictPart, ...] = ()
    is_opaque: bool = False
    remedy: str = ""
    losses: tuple[str, ...] = ()
    is_covered: bool = False
    writes: tuple[Path, ...] = ()
    opens_services: bool = False


class Scope(StrEnum):
    """How long an approval holds."""

    ONCE = "once"
    SESSION = "session"
    PROJECT = "project"
    ALWAYS = "always"


@value
class RuleOffer:
    """A rule a person could store with the answer; ``covers`` says what else it would let through."""

    rule: str
    covers: str


@value
class ApprovalRequest:
    """One question to a person.

    ``offers`` are stored together or not at all; empty when this must be asked each time.
    ``warnings`` are plain sentences on what could be lost, ``hold`` is how a command would run.
    A question about a project is answered for it as it is (scope project), for this run (scope
    session), or with no.
    """

    call_id: str
    tool: str
    preview: Preview | TextPreview | ProjectPreview
    touches: tuple[Touch, ...]
    verdict: Verdict
    offers: tuple[RuleOffer, ...] = ()
    warnings: tuple[str, ...] = ()
    hold: Hold = Hold.NONE


@value
class Approve:
    """Yes.

    ``hunks`` (indexes into the diff's hunks) approves only those; None is all.
    ``edited`` replaces the proposed text or command. ``feedback`` is told to the model.
    ``scope`` other than once stores the request's offered rules.
    """

    kind: Literal["approve"] = "approve"
    scope: Scope = Scope.ONCE
    hunks: frozenset[int] | None = None
    edited: str | None = None
    feedback: str = ""


@value
class Deny:
    """No; ``feedback`` is what the person typed for the model."""

    kind: Literal["deny"] = "deny"
    feedback: str = ""


@value
class Withdraw:
    """The question closed without an answer; ``reason`` says why. Nothing may run on it."""

    kind: Literal["withdraw"] = "withdraw"
    reason: str = ""


Answer = Approve | Deny | Withdraw
