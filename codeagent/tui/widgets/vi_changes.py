"""What vi's commands make of a text: lines shifted and joined, letters replaced and turned into capitals."""

from __future__ import annotations

from codeagent.core.values import value
from codeagent.tui.widgets.text_field import edge_after
from codeagent.tui.widgets.vi_motions import first_letter, line_end, line_start
from codeagent.tui.widgets.vi_states import Typed
from codeagent.tui.widgets.vi_targets import Span

_SHIFT = 4


@value
class Register:
    """What was taken last; ``is_lines`` when it was whole lines."""

    text: str = ""
    is_lines: bool = False


def opened(now: Typed, simple: str) -> Typed:
    """Where text is inserted: before or behind the cursor, at an end of the line, or in a new one."""
    text, at = now.text, now.at
    start, end = line_start(text, at), line_end(text, at)
    match simple:
        case "o":
            return Typed(text=f"{text[:end]}\n{text[end:]}", at=end + 1)
        case "O":
            return Typed(text=f"{text[:start]}\n{text[start:]}", at=start)
        case "a":
            return Typed(text=text, at=min(edge_after(text, at), end))
        case "A":
            return Typed(text=text, at=end)
        case "I":
            return Typed(text=text, at=end - len(text[start:end].lstrip()))
        case _:
            return now


def replaced(now: Typed, by: str, count: int) -> Typed:
    """The character under the cursor and those behind it, each replaced by another."""
    end = line_end(now.text, now.at)
    until, taken = now.at, 0
    while taken < count and until < end:
        until, taken = edge_after(now.text, until), taken + 1
    if taken < count:
        return now
    return Typed(text=now.text[: now.at] + by * count + now.text[until:], at=now.at + (count - 1) * len(by))


def joined(now: Typed, count: int) -> Typed:
    """So many lines as one, their indents as one blank."""
    text, at = now.text, now.at
    for _ in range(max(count - 1, 1)):
        end = line_end(text, at)
        if end == len(text):
            break
        rest = text[end + 1 :]
        stripped = rest.lstrip(" \t")
        is_tight = not text[line_start(text, at) : end].strip() or text[end - 1 : end].isspace()
        gap = "" if is_tight or stripped[:1] in {")", "\n", ""} else " "
        text, at = text[:end] + gap + stripped, end if gap else max(end - 1, line_start(text, at))
    return Typed(text=text, at=at)


def deleted(text: str, span: Span) -> Typed:
    """The text without what is taken; whole lines go with their ends."""
    start, end = span.start, span.end
    if not span.is_lines:
        return Typed(text=text[:start] + text[end:], at=start)
    left = text[:start] + text[end + 1 :] if end < len(text) else text[: max(start - 1, 0)]
    return Typed(text=left, at=first_letter(left, min(start, len(left))))


def altered(text: str, span: Span, operator: str) -> Typed:
    """The text with the lines shifted (``<``, ``>``) or the letters turned (``gu``, ``gU``, ``g~``)."""
    start, end = span.start, span.end
    if operator in "<>":
        start, end = line_start(text, start), line_end(text, max(end - 1, start))
        lines = [_shifted(line, is_left=operator == "<") for line in text[start:end].split("\n")]
        after = text[:start] + "\n".join(lines) + text[end:]
        return Typed(text=after, at=first_letter(after, start))
    turned = {"gu": str.lower, "gU": str.upper, "g~": str.swapcase}[operator](text[start:end])
    return Typed(text=text[:start] + turned + text[end:], at=span.cursor)


def _shifted(line: str, *, is_left: bool) -> str:
    if not is_left:
        return " " * _SHIFT + line if line else line
    if line.startswith("\t"):
        return line[1:]
    return line[min(len(line) - len(line.lstrip(" ")), _SHIFT) :]


def put(now: Typed, register: Register, count: int, *, is_before: bool) -> Typed:
    """The text with what was taken, ``count`` times, behind the cursor or before it."""
    text, at, taken = now.text, now.at, register.text
    if not taken and not register.is_lines:
        return now
    if register.is_lines:
        lines = "\n".join([taken] * count)
        if is_before:
            place = line_start(text, at)
            text = f"{text[:place]}{lines}\n{text[place:]}"
        else:
            place = line_end(text, at) + 1
            text = f"{text[: place - 1]}\n{lines}{text[place - 1 :]}"
        return Typed(text=text, at=first_letter(text, place))
    place = at if is_before else min(edge_after(text, at), line_end(text, at))
    new = taken * count
    text = text[:place] + new + text[place:]
    return Typed(text=text, at=place if "\n" in new else place + len(new) - 1)


def put_over(text: str, span: Span, register: Register, count: int) -> Typed:
    """The text with what was taken before in place of what is taken now."""
    new = "\n".join([register.text] * count) if register.is_lines else register.text * count
    start, end = span.start, span.end
    if register.is_lines and not span.is_lines:
        after = f"{text[:start]}\n{new}\n{text[end:]}"
        return Typed(text=after, at=first_letter(after, start + 1))
    after = text[:start] + new + text[end:]
    if span.is_lines:
        return Typed(text=after, at=first_letter(after, start) if register.is_lines else start)
    return Typed(text=after, at=start if "\n" in new else max(start + len(new) - 1, start))
