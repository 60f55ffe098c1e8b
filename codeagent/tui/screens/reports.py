"""What fills the window and what the session has cost, as pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from textual.content import Content

from codeagent.core.context import ContextPart, ContextReport
from codeagent.core.desk import KnownTool
from codeagent.core.messages import Usage
from codeagent.core.money import dollars
from codeagent.core.text import counted, show_invisible
from codeagent.tui.costs import CostBook, TurnCost

_BAR = 24
_MOST_TURNS = 20
_LONGEST_NAME = 30
_LONGEST = 60
_TOOL_COLUMN = 8


def context_text(report: ContextReport, model: str, instructions: Sequence[ContextPart] = ()) -> Content:
    """The window, what fills it, and how to free it; ``instructions`` are the texts in the system prompt."""
    used = f"{report.used:,} tokens"
    if report.window:
        used += f" of {report.window:,} ({_percent(report.used, report.window)})"
    how = "estimated; the next reply counts it" if report.is_estimate else "counted by the model service"
    lines = [
        Content.assemble((show_invisible(model), "bold"), (f"  {used}", "$text")),
        Content.styled(how, "$text-muted"),
        Content(),
        *_parts(report.parts, report.window or report.used),
    ]
    lists = (
        ("Instructions in the system prompt", instructions),
        ("Tool results by tool", report.by_tool),
        ("Tool results by file", report.by_file),
        ("Pinned", report.pins),
    )
    for title, parts in lists:
        if parts:
            lines += [Content(), Content.styled(title, "bold $accent"), *_parts(parts, report.window or report.used)]
    lines += [Content(), Content.styled("To free it", "bold $accent"), *_ways(report)]
    return Content("\n").join(lines)


def cost_text(book: CostBook) -> Content:
    """The session's tokens and money, then each of the latest turns."""
    lines = [Content.assemble(("This session  ", "bold"), (_money(book.cost), "bold $accent"))]
    lines += _without_price(book)
    lines += [Content.styled(line, "$text-muted") for line in _tokens(book.usage)]
    if book.turns:
        title = "Turns, the latest first" if len(book.turns) <= _MOST_TURNS else f"The latest {_MOST_TURNS} turns"
        lines += [Content(), Content.styled(title, "bold $accent")]
        for turn in reversed(book.turns[-_MOST_TURNS:]):
            lines += _turn(turn)
    return Content("\n").join(lines)


def tools_text(tools: Sequence[KnownTool], width: int) -> Content:
    """What the model can do: each tool, what it is given, and the first sentence of what the model is told of it."""
    room = max(width - _TOOL_COLUMN, 20)
    lines = [Content.styled("/mode and /permissions decide which of them ask first.", "$text-muted")]
    for tool in tools:
        name = f"{show_invisible(tool.name):<{_TOOL_COLUMN}}"
        said = wrap(show_invisible(" ".join(tool.description.split()).partition(". ")[0].rstrip(".") + "."), room)
        given = wrap(show_invisible("  ".join(tool.arguments)), room)
        lines.append(Content())
        for number, line in enumerate(said):
            lines.append(
                Content.assemble((name if not number else " " * _TOOL_COLUMN, "bold $accent"), (line, "$text"))
            )
        lines += [Content.styled(" " * _TOOL_COLUMN + line, "$text-muted") for line in given]
    return Content("\n").join(lines)


def _parts(parts: Sequence[ContextPart], whole: int) -> Iterator[Content]:
    for part in parts:
        name = show_invisible(part.name)
        shown = name if len(name) <= _LONGEST_NAME else f"…{name[-(_LONGEST_NAME - 1) :]}"
        filled = min(round(_BAR * part.tokens / whole), _BAR) if whole else 0
        yield Content.assemble(
            (f"  {shown:<{22 if len(shown) <= 22 else _LONGEST_NAME}}", "$text"),  # noqa: PLR2004 - the column
            (f"{part.tokens:>10,}  ", "$text-muted"),
            ("━" * filled, "$accent"),
            ("─" * (_BAR - filled), "$rule"),
        )
        if part.note:
            yield Content.styled(f"    {show_invisible(part.note)}", "$warning")


def _ways(report: ContextReport) -> Iterator[Content]:
    yield Content("  /compact FOCUS  sums up the older part, keeping what you name")
    yield Content("  /pin WHAT       keeps a message or @FILE:10-40 word for word")
    yield Content("  /new            starts a new session with an empty window")
    yield Content("  /model NAME     goes on with a model that has a larger window")
    if report.compact_at is None:
        yield Content.styled("  Nothing is summed up by itself: [context] compact_at is off.", "$text-muted")
    elif report.window:
        at = f"{report.compact_at:.0%}".replace("%", " %")
        yield Content.styled(f"  At {at} this happens by itself; the record keeps everything.", "$text-muted")
    else:
        yield Content.styled("  The size of this model's window is unknown; models.toml can name it.", "$text-muted")


def _without_price(book: CostBook) -> Iterator[Content]:
    """What the money does not hold, a line for each model, and how to have it counted."""
    for one in book.unpriced:
        sign = "" if book.cost is None else "+ "
        text = f"  {sign}{counted(one.tokens, 'token')} of {show_invisible(one.model)} without a price"
        yield Content.styled(text, "$warning")
    if book.unpriced or book.cost is None:
        yield Content.styled("  models.toml beside your settings can name a price, for what comes.", "$text-muted")


def _tokens(usage: Usage) -> Iterator[str]:
    sent = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    yield f"sent      {sent:>12,} tokens"
    if usage.cache_read_tokens:
        share = _percent(usage.cache_read_tokens, sent)
        yield f"  cached  {usage.cache_read_tokens:>12,} tokens, {share} of what was sent"
    if usage.cache_write_tokens:
        yield f"  stored  {usage.cache_write_tokens:>12,} tokens went into the cache"
    yield f"received  {usage.output_tokens:>12,} tokens"
    if usage.is_estimate:
        yield "A service did not count all of this; what it left out is estimated."


def _turn(turn: TurnCost) -> Iterator[Content]:
    """What was asked, and below it what that used."""
    sent = turn.usage.context_tokens - turn.usage.output_tokens
    cached = f", {_percent(turn.usage.cache_read_tokens, sent)} cached" if turn.usage.cache_read_tokens else ""
    text = " ".join(show_invisible(turn.text).split()) or "went on"
    yield Content.assemble(
        (f"{turn.turn:>4}  ", "$text-muted"), text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    )
    used = f"{'about ' if turn.usage.is_estimate else ''}{sent:,} sent{cached} · {turn.usage.output_tokens:,} received"
    open_tokens = sum(one.tokens for one in turn.unpriced)
    more = f" + {counted(open_tokens, 'token')} without a price" if open_tokens and turn.cost is not None else ""
    yield Content.styled(f"      {_money(turn.cost)}{more} · {used}", "$text-muted")


def _money(cost: float | None) -> str:
    if cost is None:
        return "price unknown"
    return dollars(cost, rough_from=1)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "0 %"
