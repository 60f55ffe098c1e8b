"""What fills the model's window, as ``/context`` shows it."""

from __future__ import annotations

from codeagent.core.values import value


@value
class ContextPart:
    """One thing that takes room, and how many tokens of the window it takes."""

    name: str
    tokens: int


@value
class ContextReport:
    """The window and what fills it, in tokens.

    ``used`` is the provider's own count brought up to date by an estimate, or only
    an estimate when ``is_estimate``; the parts add up to it. ``by_tool`` and
    ``by_file`` say what tool results are about, the largest first. ``compact_at``
    is the part of the window at which room is made, None when it is off.
    """

    used: int
    window: int | None
    is_estimate: bool
    parts: tuple[ContextPart, ...]
    by_tool: tuple[ContextPart, ...] = ()
    by_file: tuple[ContextPart, ...] = ()
    compact_at: float | None = None
