"""Vi's keys on a text: what was pressed becomes another text, another place, another mode."""

from __future__ import annotations

import re
from enum import StrEnum

from codeagent.tui.widgets.vi_motions import (
    Reach,
    Target,
    first_letter,
    found,
    line_end,
    line_start,
    lines_away,
    on_text,
    repeat_find,
    text_object,
)
from codeagent.tui.widgets.vi_states import States, Typed
from codeagent.tui.widgets.vi_targets import Span, line, reached, span_to, target_in_line, word_taken, word_target

_PART = re.compile(
    r"""(?P<count>[1-9]\d*)?
    (?: (?P<operator>[dcy]) (?P<again>[1-9]\d*)? )?
    (?: (?P<find>[fFtT]) (?P<what>.) | (?P<object>[ia]) (?P<kind>.) | (?P<replace>r) (?P<by>.)
      | (?P<motion>gg | [hjklwbeWBEG0$^;,_] ) | (?P<same>[dcy]) | (?P<simple>[iaIAoOxXsSDCYpPu~J./]) )""",
    re.VERBOSE | re.DOTALL,
)
_BEGINNING = re.compile(r"[1-9]\d*|(?:[1-9]\d*)?(?:[fFtTrg]|[dcy](?:[1-9]\d*)?(?:[fFtTgia])?)")
_SHORT = {"x": "dl", "X": "dh", "s": "cl", "S": "cc", "D": "d$", "C": "c$", "Y": "yy"}


class ViMode(StrEnum):
    """Whether keys are text or commands."""

    INSERT = "insert"
    NORMAL = "normal"


class Wish(StrEnum):
    """What only the prompt itself can do."""

    OLDER = "older"
    NEWER = "newer"
    SEARCH = "search"


class ViKeys:
    """Reads the keys of normal mode, one at a time, and remembers what vi remembers."""

    def __init__(self) -> None:
        self.mode = ViMode.INSERT
        self._keys = ""
        self._states = States()
        self._register, self._register_is_lines = "", False
        self._find: tuple[str, str] | None = None
        self._last: tuple[str, str] = ("", "")
        self._inserting: tuple[str, Typed] | None = None

    @property
    def begun(self) -> str:
        """The keys of a command that is not complete yet."""
        return self._keys

    def start_inserting(self) -> None:
        """The next text is a new one."""
        self.mode, self._keys, self._inserting = ViMode.INSERT, "", None

    def leave_insert(self, now: Typed) -> Typed:
        """Escape: back to commands, the cursor on the last character typed."""
        self.mode, self._keys = ViMode.NORMAL, ""
        if self._inserting is not None:
            keys, before = self._inserting
            head, tail = before.text[: before.at], before.text[before.at :]
            is_plain = now.text.startswith(head) and now.text.endswith(tail) and len(now.text) >= len(before.text)
            self._last = (keys, now.text[len(head) : len(now.text) - len(tail)] if is_plain else "")
            self._inserting = None
        after = Typed(text=now.text, at=max(now.at - 1, line_start(now.text, now.at)))
        self._states.note(after)
        return after

    def press(self, key: str, now: Typed) -> Typed | Wish:
        """One key of normal mode: a character, ctrl+r, or escape, which gives up a command that was begun."""
        if key in {"escape", "ctrl+r"}:
            self._keys = ""
            return self._states.later(now) if key == "ctrl+r" else now
        self._keys += key
        if _BEGINNING.fullmatch(self._keys):
            return now
        keys, self._keys = self._keys, ""
        if keys == "u":
            return self._states.earlier(now)
        self._states.note(now)
        after = self._run(keys, now)
        if isinstance(after, Typed) and self.mode is ViMode.NORMAL:
            after = Typed(text=after.text, at=on_text(after.text, after.at))
            self._states.note(after)
        return after

    def _run(self, keys: str, now: Typed) -> Typed | Wish:  # noqa: PLR0911 - one return a kind of command
        part = _PART.fullmatch(keys)
        if part is None:
            return now
        count = int(part["count"] or 1) * int(part["again"] or 1)
        simple, motion = part["simple"], part["motion"]
        if simple in _SHORT and not part["operator"]:
            return self._run(f"{part['count'] or ''}{_SHORT[simple]}", now)
        if part["operator"]:
            return self._operate(keys, part, count, now)
        if motion in {"j", "k"}:
            away = lines_away(now.text, now.at, count if motion == "j" else -count)
            if away is None:
                return Wish.NEWER if motion == "j" else Wish.OLDER
            return Typed(text=now.text, at=away)
        if part["replace"] or simple:
            return self._change(keys, part, count, now)
        target = self._target(part, count, now)
        return now if target is None else Typed(text=now.text, at=target.at)

    # --- motions

    def _target(  # noqa: PLR0911 - one return a kind of motion
        self, part: re.Match[str], count: int, now: Typed
    ) -> Target | None:
        text, at, motion = now.text, now.at, part["motion"] or ""
        if part["find"]:
            self._find = (part["find"], part["what"])
            return reached(found(text, at, *self._find, count), part["find"])
        if part["object"]:
            return text_object(text, at, part["object"], part["kind"]) if part["operator"] else None
        match motion:
            case ";" | ",":
                return self._found_again(now, count, is_back=motion == ",")
            case "j" | "k":
                away = lines_away(text, at, count if motion == "j" else -count)
                return None if away is None else Target(at=away, reach=Reach.LINES)
            case "gg" | "G":
                is_last = motion == "G" and not (part["count"] or part["again"])
                return Target(at=line(text, None if is_last else count), reach=Reach.LINES)
            case "w" | "W" | "b" | "B" | "e" | "E":
                return word_target(text, at, motion, count)
            case _:
                return target_in_line(text, at, motion, count)

    def _found_again(self, now: Typed, count: int, *, is_back: bool) -> Target | None:
        if self._find is None:
            return None
        how, what = self._find
        how = how.swapcase() if is_back else how
        return reached(repeat_find(now.text, now.at, how, what, count), how)

    # --- operators

    def _operate(self, keys: str, part: re.Match[str], count: int, now: Typed) -> Typed:
        operator = part["operator"]
        span = self._span(part, count, now)
        if span is None:
            return now
        start, end, text = span.start, span.end, now.text
        taken = text[start:end]
        if taken or (span.is_lines and text):
            self._register, self._register_is_lines = taken, span.is_lines
        if operator == "y":
            return Typed(text=text, at=span.cursor)
        self._last = (keys, "")
        if operator == "c":
            return self._insert(keys, Typed(text=text[:start] + text[end:], at=start))
        if not span.is_lines:
            return Typed(text=text[:start] + text[end:], at=start)
        left = text[:start] + text[end + 1 :] if end < len(text) else text[: max(start - 1, 0)]
        return Typed(text=left, at=first_letter(left, min(start, len(left))))

    def _span(self, part: re.Match[str], count: int, now: Typed) -> Span | None:
        """What an operator takes."""
        text, at, operator = now.text, now.at, part["operator"]
        if part["same"]:
            below = lines_away(text, at, count - 1) if count > 1 else at
            if below is None or part["same"] != operator:
                return None
            return Span(start=line_start(text, at), end=line_end(text, below), is_lines=True, cursor=at)
        if part["motion"] in {"w", "W"}:
            target = word_taken(text, at, count, is_big=part["motion"] == "W", is_changed=operator == "c")
        else:
            target = self._target(part, count, now)
        if target is None:
            is_empty_line = line_start(text, at) == line_end(text, at)
            takes_nothing = (part["motion"] or part["kind"] or "") in {*"wWeEl"}
            return Span(start=at, end=at, cursor=at) if operator == "c" and is_empty_line and takes_nothing else None
        return span_to(text, at, target)

    # --- changes without a motion

    def _change(  # noqa: PLR0911 - one return a command
        self, keys: str, part: re.Match[str], count: int, now: Typed
    ) -> Typed | Wish:
        text, at, simple = now.text, now.at, part["simple"]
        if simple == "/":
            return Wish.SEARCH
        if simple == ".":
            return self._repeat(now)
        self._last = (keys, "")
        match simple:
            case "p" | "P":
                return self._put(now, count, is_before=simple == "P")
            case "~":
                until = min(at + count, line_end(text, at))
                return Typed(text=text[:at] + text[at:until].swapcase() + text[until:], at=until)
            case "J":
                return _joined(now, count)
            case None:
                return _replaced(now, part["by"], count)
            case _:
                return self._insert(keys, _opened(now, simple))

    def _insert(self, keys: str, now: Typed) -> Typed:
        self.mode, self._inserting = ViMode.INSERT, (keys, now)
        return now

    def _repeat(self, now: Typed) -> Typed:
        keys, typed = self._last
        if not keys:
            return now
        after = self._run(keys, now)
        if isinstance(after, Wish):
            return now
        if self.mode is ViMode.INSERT:
            text = after.text[: after.at] + typed + after.text[after.at :]
            after = self.leave_insert(Typed(text=text, at=after.at + len(typed)))
        self._last = (keys, typed)
        return after

    def _put(self, now: Typed, count: int, *, is_before: bool) -> Typed:
        text, at, taken = now.text, now.at, self._register
        if not taken and not self._register_is_lines:
            return now
        if self._register_is_lines:
            lines = "\n".join([taken] * count)
            if is_before:
                place = line_start(text, at)
                text = f"{text[:place]}{lines}\n{text[place:]}"
            else:
                place = line_end(text, at) + 1
                text = f"{text[: place - 1]}\n{lines}{text[place - 1 :]}"
            return Typed(text=text, at=first_letter(text, place))
        place = at if is_before else min(at + 1, line_end(text, at))
        put = taken * count
        text = text[:place] + put + text[place:]
        return Typed(text=text, at=place if "\n" in put else place + len(put) - 1)


def _opened(now: Typed, simple: str) -> Typed:
    """Where text is inserted: before or behind the cursor, at an end of the line, or in a new one."""
    text, at = now.text, now.at
    start, end = line_start(text, at), line_end(text, at)
    match simple:
        case "o":
            return Typed(text=f"{text[:end]}\n{text[end:]}", at=end + 1)
        case "O":
            return Typed(text=f"{text[:start]}\n{text[start:]}", at=start)
        case "a":
            return Typed(text=text, at=min(at + 1, end))
        case "A":
            return Typed(text=text, at=end)
        case "I":
            return Typed(text=text, at=end - len(text[start:end].lstrip()))
        case _:
            return now


def _replaced(now: Typed, by: str, count: int) -> Typed:
    until = now.at + count
    if until > line_end(now.text, now.at):
        return now
    return Typed(text=now.text[: now.at] + by * count + now.text[until:], at=until - 1)


def _joined(now: Typed, count: int) -> Typed:
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
