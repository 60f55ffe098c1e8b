"""What fills the model's window, and what happens when room is made in it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from codeagent.core.values import value


@value
class ContextPart:
    """One thing that takes room, and how many tokens of the window it takes; ``note`` says what else to know."""

    name: str
    tokens: int
    note: str = ""


@value
class ContextReport:
    """The window and what fills it, in tokens.

    ``used`` is the provider's own count brought up to date by an estimate, or only
    an estimate when ``is_estimate``; the parts add up to it. ``by_tool`` and
    ``by_file`` say what tool results are about, the largest first. ``compact_at``
    is the part of the window at which room is made, None when it is off; ``pins`` stay
    when it is.
    """

    used: int
    window: int | None
    is_estimate: bool
    parts: tuple[ContextPart, ...]
    by_tool: tuple[ContextPart, ...] = ()
    by_file: tuple[ContextPart, ...] = ()
    compact_at: float | None = None
    pins: tuple[ContextPart, ...] = ()


@value
class Pin:
    """Something that stays word for word when room is made: a ``text``, or the lines of a file as they are then.

    ``label`` is its line in lists, and its name. ``first`` and ``last`` count from 1
    and are None for a whole file; ``tokens`` is about what it takes.
    """

    label: str
    text: str = ""
    path: str = ""
    first: int | None = None
    last: int | None = None
    tokens: int = 0


@value
class PinsChanged:
    """The person pinned something or took a pin away; these are all that there are now."""

    kind: Literal["pins_changed"] = "pins_changed"
    pins: tuple[Pin, ...] = ()


class CompactionReason(StrEnum):
    """Why the history was made shorter."""

    FULL = "full"
    OVERFLOW = "overflow"
    WANTED = "wanted"


@value
class CompactionStarted:
    """The history is being made shorter; HistoryCompacted follows, or a notice why it was not done."""

    kind: Literal["compaction_started"] = "compaction_started"
    reason: CompactionReason


@value
class HistoryCompacted:
    """The history became shorter; what was said before stays in the record, but the model no longer sees it.

    ``summary`` stands for all but the last ``kept`` messages, ``pinned`` behind it for
    what the person pinned, and ``words`` for what they said in the turn under way,
    oldest first, each with as many of its images as ``images`` says; all are empty when
    nothing was summed up. ``cleared``
    are calls whose output was taken out, ``shortened`` calls whose output was cut to
    ``shortened_to`` characters. Unless ``words_to`` is 0, longer texts that the model was
    told were cut to so many characters. ``before`` and ``after`` are tokens of the window;
    ``window`` is None when its size is unknown; ``told_by`` is the model whose service
    refused what is larger, empty when it is what the model is known to have.
    """

    kind: Literal["compacted"] = "compacted"
    reason: CompactionReason
    kept: int
    summary: str = ""
    pinned: str = ""
    words: tuple[str, ...] = ()
    images: tuple[int, ...] = ()
    cleared: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()
    shortened_to: int = 0
    words_to: int = 0
    before: int = 0
    after: int = 0
    window: int | None = None
    told_by: str = ""
