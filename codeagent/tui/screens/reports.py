"""What fills the window and what the session has cost, as pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from textual.content import Content

from codeagent.core.context import ContextPart, ContextReport
from codeagent.core.desk import KnownTool
from codeagent.core.first_words import end_of_path
from codeagent.core.messages import Usage
from codeagent.core.money import dollars
from codeagent.core.text import counted, show_invisible
from codeagent.tui.costs import CostBook, TurnCost
from codeagent.tui.screens.pages import first_fitting, hung

_BAR, _WIDEST_BAR, _SHORTEST_BAR = 24, 72, 6
_MOST_TURNS = 20
_NAME, _LONGEST_NAME, _SHORTEST_NAME = 22, 48, 4
_NUMBER, _GAP = 10, 2
_LONGEST = 100
_TOOL_COLUMN = 8
_TURN_COLUMN = 6
_INDENT = 2


def context_text(report: ContextReport, model: str, width: int, instructions: Sequence[ContextPart] = ()) -> Content:
    """The window, what fills it, and how to free it; ``instructions`` are the texts in the system prompt."""
    used = f"{report.used:,} tokens"
    if report.window:
        used += f" of {report.window:,} ({_percent(report.used, report.window)})"
    how = "estimated; the next reply counts it" if report.is_estimate else "counted by the model service"
    lines = [
        Content.assemble((show_invisible(model), "bold"), (f"  {used}", "$text")),
        Content.styled(how, "$text-muted"),
    ]
    lists = (
        ("", report.parts),
        ("Instructions in the system prompt", instructions),
        ("Tool results by tool", report.by_tool),
        ("Tool results by file", report.by_file),
        ("Pinned", report.pins),
    )
    longest = max((len(show_invisible(part.name)) for _, parts in lists for part in parts), default=0)
    for title, parts in lists:
        if parts:
            lines += [Content(), *([Content.styled(title, "bold $accent")] if title else [])]
            lines += _parts(parts, report.window or report.used, width, max(longest, _NAME))
    lines += [Content(), Content.styled("To free it", "bold $accent"), *_ways(report, width)]
    return Content("\n").join(lines)


def cost_text(book: CostBook, width: int) -> Content:
    """The session's tokens and money, then each of the latest turns."""
    lines = [Content.assemble(("This session  ", "bold"), (_money(book.cost), "bold $accent"))]
    lines += _without_price(book, width)
    lines += [Content.styled(line, "$text-muted") for line in _tokens(book.usage, width)]
    if book.turns:
        title = "Turns, the latest first" if len(book.turns) <= _MOST_TURNS else f"The latest {_MOST_TURNS} turns"
        lines += [Content(), Content.styled(title, "bold $accent")]
        for turn in reversed(book.turns[-_MOST_TURNS:]):
            lines += _turn(turn, width)
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


def _parts(parts: Sequence[ContextPart], whole: int, width: int, wanted: int) -> Iterator[Content]:
    """A row each: where there is little room the bar is shorter, then left out, then the name is cut.

    All have a column of the ``wanted`` cells, where there are so many: numbers and bars stand one below the other.
    The bar takes what is left.
    """
    bar = min(_BAR, width - _INDENT - _NAME - _NUMBER - _GAP)
    bar = bar if bar >= _SHORTEST_BAR else 0
    behind = _NUMBER + (_GAP + bar if bar else 0)
    longest = max(min(_LONGEST_NAME, width - _INDENT - behind), _SHORTEST_NAME)
    column = min(wanted, longest)
    bar = min(_WIDEST_BAR, width - _INDENT - column - _NUMBER - _GAP) if bar else 0
    for part in parts:
        shown = end_of_path(show_invisible(part.name), longest)
        filled = min(round(bar * part.tokens / whole), bar) if whole else 0
        row = Content.assemble(
            (f"  {shown:<{column}}", "$text"),
            (f"{part.tokens:>{_NUMBER},}  ", "$text-muted"),
            ("━" * filled, "$accent"),
            ("─" * (bar - filled), "$rule"),
        )
        yield row if bar else row.rstrip()
        if part.note:
            yield from _indented(show_invisible(part.note), "$warning", width, by=2 * _INDENT)


def _ways(report: ContextReport, width: int) -> Iterator[Content]:
    ways = (
        ("/compact FOCUS", "sums up the older part, keeping what you name"),
        ("/pin WHAT", "keeps a message or @FILE:10-40 word for word"),
        ("/new", "starts a new session with an empty window"),
        ("/model NAME", "goes on with a model that has a larger window"),
    )
    for way, what in ways:
        yield from hung(Content(f"  {way:<14}  "), Content(what), width)
    if report.compact_at is None:
        said = "Nothing is summed up by itself: [context] compact_at is off."
    elif report.window:
        at = f"{report.compact_at:.0%}".replace("%", " %")
        said = f"At {at} this happens by itself; the record keeps everything."
    else:
        said = "The size of this model's window is unknown; models.toml can name it."
    yield from _indented(said, "$text-muted", width)


def _indented(text: str, style: str, width: int, *, by: int = _INDENT) -> list[Content]:
    return [line.stylize(style) for line in hung(Content(" " * by), Content(text), width)]


def _without_price(book: CostBook, width: int) -> Iterator[Content]:
    """What the money does not hold, a line for each model, and how to have it counted."""
    for one in book.unpriced:
        sign = "" if book.cost is None else "+ "
        text = f"{sign}{counted(one.tokens, 'token')} of {show_invisible(one.model)} without a price"
        yield from _indented(text, "$warning", width)
    if book.unpriced or book.cost is None:
        yield from _indented("models.toml beside your settings can name a price, for what comes.", "$text-muted", width)


def _tokens(usage: Usage, width: int) -> Iterator[str]:
    sent = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens

    def row(name: str, number: int, more: str = "", shortly: str = "") -> str:
        whole, narrow = f"{name:<10}{number:>12,}", f"{name:<9}{number:>{max(width - 9, 1)},}"
        return first_fitting(
            (f"{whole} tokens{more}", f"{whole} tokens{shortly}", f"{whole} tokens", whole, narrow), width
        )

    yield row("sent", sent)
    if usage.cache_read_tokens:
        share = _percent(usage.cache_read_tokens, sent)
        yield row("  cached", usage.cache_read_tokens, f", {share} of what was sent", f", {share}")
    if usage.cache_write_tokens:
        yield row("  stored", usage.cache_write_tokens, " went into the cache")
    yield row("received", usage.output_tokens)
    if usage.is_estimate:
        yield "A service did not count all of this; what it left out is estimated."


def _turn(turn: TurnCost, width: int) -> Iterator[Content]:
    """What was asked, and below it what that used; in a small window only the larger of it."""
    sent = turn.usage.context_tokens - turn.usage.output_tokens
    cached = f", {_percent(turn.usage.cache_read_tokens, sent)} cached" if turn.usage.cache_read_tokens else ""
    text = " ".join(show_invisible(turn.text).split()) or "went on"
    longest = min(_LONGEST, max(width - _TURN_COLUMN - 1, 1))
    yield Content.assemble((f"{turn.turn:>4}  ", "$text-muted"), text if len(text) <= longest else text[:longest] + "…")
    used = f"{'about ' if turn.usage.is_estimate else ''}{sent:,} sent"
    received = f"{turn.usage.output_tokens:,} received"
    open_tokens = sum(one.tokens for one in turn.unpriced)
    more = f" + {counted(open_tokens, 'token')} without a price" if open_tokens and turn.cost is not None else ""
    money = f"{_money(turn.cost)}{more}"
    variants = (f"{money} · {used}{cached} · {received}", f"{money} · {used} · {received}", f"{money} · {used}", money)
    said = first_fitting(variants, width - _TURN_COLUMN)
    if _TURN_COLUMN + len(said) <= width:
        yield Content.styled(" " * _TURN_COLUMN + said, "$text-muted")
    else:
        yield from _indented(said, "$text-muted", width, by=_TURN_COLUMN)


def _money(cost: float | None) -> str:
    if cost is None:
        return "price unknown"
    return dollars(cost, rough_from=1)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "0 %"
