"""Vi's keys on a text: what was pressed becomes another text, another place, another mode."""

from __future__ import annotations

import re
from enum import StrEnum

from codeagent.tui.widgets.text_field import edge_after, edge_at, edge_before
from codeagent.tui.widgets.vi_changes import Register, altered, deleted, joined, opened, put, put_over, replaced
from codeagent.tui.widgets.vi_grammar import Command, is_begun, read_command
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
from codeagent.tui.widgets.vi_targets import (
    Span,
    far_target,
    line,
    reached,
    span_to,
    steps_on,
    target_in_line,
    word_taken,
    word_target,
)

_SHORT = {"x": "dl", "X": "dh", "s": "cl", "S": "cc", "D": "d$", "C": "c$", "Y": "yy"}
_SELECTED = {"x": "d", "s": "c", "u": "gu", "U": "gU", "~": "g~"}
_SELECTED_LINES = {"X": "d", "D": "d", "C": "c", "S": "c", "R": "c", "Y": "y"}
_AS_BEFORE = re.compile(r"(?P<how>[vV])(?P<lines>\d+),(?P<columns>\d+)(?P<operator>.+)")
"""How a change to what was selected is noted, to be done again to as much."""


class ViMode(StrEnum):
    """Whether keys are text, commands, or reach for more."""

    INSERT = "insert"
    NORMAL = "normal"
    VISUAL = "visual"
    LINES = "visual line"


_SELECTING = {"v": ViMode.VISUAL, "V": ViMode.LINES}


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
        self._register = Register()
        self._find: tuple[str, str] | None = None
        self._last: tuple[str, str] = ("", "")
        self._inserting: tuple[str, Typed] | None = None
        self._anchor = 0
        self._selected_before: tuple[ViMode, int, int] | None = None

    @property
    def is_selecting(self) -> bool:
        """Whether motions take what they pass."""
        return self.mode in {ViMode.VISUAL, ViMode.LINES}

    @property
    def minds_escape(self) -> bool:
        """Whether there is something begun that Escape gives up."""
        return bool(self._keys) or self.is_selecting

    @property
    def anchor(self) -> int:
        """Where the selection was begun."""
        return self._anchor

    def selected(self, now: Typed) -> Span:
        """What is taken, with the cursor there."""
        start, end = sorted((min(self._anchor, len(now.text)), now.at))
        if self.mode is ViMode.LINES:
            start, end = line_start(now.text, start), line_end(now.text, end)
            return Span(start=start, end=end, is_lines=True, cursor=start)
        return Span(start=start, end=edge_after(now.text, end), cursor=start)

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
        after = Typed(text=now.text, at=max(edge_before(now.text, now.at), line_start(now.text, now.at)))
        self._states.note(after)
        return after

    def press(self, key: str, now: Typed) -> Typed | Wish:
        """One key of normal mode: a character, ctrl+r, or escape, which gives up a command that was begun."""
        if key in {"escape", "ctrl+r"}:
            is_begun_only = bool(self._keys)
            self._keys = ""
            if key == "ctrl+r":
                return self._states.later(now) if not self.is_selecting else now
            return self._stop_selecting(now) if self.is_selecting and not is_begun_only else now
        self._keys += key
        if is_begun(self._keys, is_selecting=self.is_selecting):
            return now
        keys, self._keys = self._keys, ""
        if self.is_selecting:
            return self._select(keys, now)
        if keys == "u":
            return self._states.earlier(now)
        self._states.note(now)
        return self._rested(self._run(keys, now))

    def _rested(self, after: Typed | Wish) -> Typed | Wish:
        """Between commands the cursor is on a character, and the text can be gone back to."""
        if isinstance(after, Typed) and self.mode is ViMode.NORMAL:
            after = Typed(text=after.text, at=edge_at(after.text, on_text(after.text, after.at)))
            self._states.note(after)
        return after

    def _run(self, keys: str, now: Typed) -> Typed | Wish:  # noqa: PLR0911 - one return a kind of command
        command = read_command(keys, is_selecting=False)
        if command is None:
            return now
        if command.simple in _SHORT and not command.operator:
            return self._run(f"{command.count or ''}{_SHORT[command.simple]}", now)
        if command.operator:
            span = self._span(command, now)
            return now if span is None else self._operate(keys, command.operator, span, now)
        if command.motion in {"j", "k"}:
            away = lines_away(now.text, now.at, command.times if command.motion == "j" else -command.times)
            if away is None:
                return Wish.NEWER if command.motion == "j" else Wish.OLDER
            return Typed(text=now.text, at=away)
        if command.replace or command.simple:
            return self._change(keys, command, now)
        target = self._target(command, now)
        return now if target is None else Typed(text=now.text, at=target.at)

    # --- motions

    def _target(  # noqa: PLR0911 - one return a kind of motion
        self, command: Command, now: Typed
    ) -> Target | None:
        text, at, motion, count = now.text, now.at, command.motion, command.times
        if command.find:
            self._find = (command.find, command.what)
            return reached(found(text, at, *self._find, count), command.find)
        if command.object:
            is_taken = command.operator or self.is_selecting
            return text_object(text, at, command.object, command.kind) if is_taken else None
        match motion:
            case ";" | ",":
                return self._found_again(now, count, is_back=motion == ",")
            case "j" | "k":
                away = lines_away(text, at, count if motion == "j" else -count)
                return None if away is None else Target(at=away, reach=Reach.LINES)
            case "gg" | "G":
                is_last = motion == "G" and command.count is None
                return Target(at=line(text, None if is_last else count), reach=Reach.LINES)
            case "w" | "W" | "b" | "B" | "e" | "E":
                return word_target(text, at, motion, count)
            case "%" | "{" | "}" | "ge" | "gE":
                return far_target(text, at, motion, count)
            case _:
                return target_in_line(text, at, motion, count)

    def _found_again(self, now: Typed, count: int, *, is_back: bool) -> Target | None:
        if self._find is None:
            return None
        how, what = self._find
        how = how.swapcase() if is_back else how
        return reached(repeat_find(now.text, now.at, how, what, count), how)

    # --- operators

    def _operate(self, keys: str, operator: str, span: Span, now: Typed) -> Typed:
        text = now.text
        if operator in {"d", "c", "y"}:
            taken = text[span.start : span.end]
            if taken or (span.is_lines and text):
                self._register = Register(text=taken, is_lines=span.is_lines)
        if operator == "y":
            return Typed(text=text, at=span.cursor)
        self._last = (keys, "")
        if operator == "c":
            return self._insert(keys, Typed(text=text[: span.start] + text[span.end :], at=span.start))
        return deleted(text, span) if operator == "d" else altered(text, span, operator)

    def _span(self, command: Command, now: Typed) -> Span | None:
        """What an operator takes."""
        text, at, operator = now.text, now.at, command.operator
        if command.same:
            below = lines_away(text, at, command.times - 1) if command.times > 1 else at
            if below is None or command.same != operator[-1]:
                return None
            cursor = at if operator == "y" else first_letter(text, at)
            return Span(start=line_start(text, at), end=line_end(text, below), is_lines=True, cursor=cursor)
        if command.motion in {"w", "W"}:
            is_big, is_changed = command.motion == "W", operator == "c"
            target = word_taken(text, at, command.times, is_big=is_big, is_changed=is_changed)
        else:
            target = self._target(command, now)
        if target is None:
            is_empty_line = line_start(text, at) == line_end(text, at)
            takes_nothing = (command.motion or command.kind) in {*"wWeEl"}
            return Span(start=at, end=at, cursor=at) if operator == "c" and is_empty_line and takes_nothing else None
        return span_to(text, at, target)

    # --- changes without a motion

    def _change(  # noqa: PLR0911 - one return a command
        self, keys: str, command: Command, now: Typed
    ) -> Typed | Wish:
        text, at, simple = now.text, now.at, command.simple
        if simple == "/":
            return Wish.SEARCH
        if simple == ".":
            return self._repeat(now)
        if simple in {"v", "V", "gv"}:
            return self._start_selecting(simple, now)
        self._last = (keys, "")
        match simple:
            case "p" | "P":
                return put(now, self._register, command.times, is_before=simple == "P")
            case "~":
                until = min(steps_on(text, at, command.times), line_end(text, at))
                return Typed(text=text[:at] + text[at:until].swapcase() + text[until:], at=until)
            case "J":
                return joined(now, command.times)
            case "":
                return replaced(now, command.by, command.times)
            case _:
                return self._insert(keys, opened(now, simple))

    def _insert(self, keys: str, now: Typed) -> Typed:
        self.mode, self._inserting = ViMode.INSERT, (keys, now)
        return now

    def _repeat(self, now: Typed) -> Typed:
        keys, typed = self._last
        if not keys:
            return now
        before = _AS_BEFORE.fullmatch(keys)
        after = self._run(keys, now) if before is None else self._as_before(before, now)
        if isinstance(after, Wish):
            return now
        if self.mode is ViMode.INSERT:
            text = after.text[: after.at] + typed + after.text[after.at :]
            after = self.leave_insert(Typed(text=text, at=after.at + len(typed)))
        self._last = (keys, typed)
        return after

    # --- what is selected

    def _start_selecting(self, key: str, now: Typed) -> Typed:
        if key != "gv":
            self.mode, self._anchor = _SELECTING[key], now.at
            return now
        if self._selected_before is None:
            return now
        self.mode, anchor, at = self._selected_before
        self._anchor = min(anchor, len(now.text))
        return Typed(text=now.text, at=min(at, len(now.text)))

    def _stop_selecting(self, now: Typed) -> Typed:
        self._selected_before = (self.mode, self._anchor, now.at)
        self.mode = ViMode.NORMAL
        return Typed(text=now.text, at=on_text(now.text, now.at))

    def _select(self, keys: str, now: Typed) -> Typed:
        """One command while motions take what they pass."""
        command = read_command(keys, is_selecting=True)
        if command is None:
            return now
        simple = command.simple
        if simple in _SELECTING:
            if self.mode is _SELECTING[simple]:
                return self._stop_selecting(now)
            self.mode = _SELECTING[simple]
            return now
        if simple == "o":
            self._anchor, at = now.at, self._anchor
            return Typed(text=now.text, at=min(at, len(now.text)))
        if command.operator or command.replace or simple:
            return self._change_selected(command, now)
        return self._reach(command, now)

    def _reach(self, command: Command, now: Typed) -> Typed:
        if command.object:
            return self._reach_object(command, now)
        target = self._target(command, now)
        if target is None:
            return now
        is_on_text = command.motion in {"w", "W", "}"}
        return Typed(text=now.text, at=min(target.at, max(len(now.text) - 1, 0)) if is_on_text else target.at)

    def _reach_object(self, command: Command, now: Typed) -> Typed:
        """All of a text object; once more, all of the next one or of the one around it."""
        is_more, taken = self._anchor != now.at, self.selected(now)
        goes_on = is_more and command.kind in {*"wWp"} and now.at > self._anchor
        behind = min((line_end(now.text, now.at) if command.kind == "p" else now.at) + 1, len(now.text))
        target = self._target(command, Typed(text=now.text, at=behind) if goes_on else now)
        if is_more and not goes_on and target is not None and target.start is not None:
            is_same = target.start >= taken.start and target.at <= taken.end
            outer = Typed(text=now.text, at=max(taken.start - (1 if command.object == "a" else 2), 0))
            target = self._target(command, outer) if is_same and taken.start else target
        if target is None or target.start is None:
            return now
        self._anchor = self._anchor if goes_on else target.start
        if target.reach is Reach.LINES:
            self.mode = ViMode.LINES
            return Typed(text=now.text, at=line_start(now.text, target.at))
        self.mode = ViMode.VISUAL
        return Typed(text=now.text, at=max(target.at - 1, target.start))

    def _change_selected(self, command: Command, now: Typed) -> Typed:
        self._states.note(now)
        simple, span = command.simple, self.selected(now)
        if simple in _SELECTED_LINES:
            self.mode = ViMode.LINES
            span = self.selected(now)
        self._stop_selecting(now)
        operator = command.operator or _SELECTED.get(simple) or _SELECTED_LINES.get(simple) or simple
        after = self._rested(self._do_to(span, f"{command.by or operator}{'r' * bool(command.by)}", now, command))
        return after if isinstance(after, Typed) else now

    def _do_to(self, span: Span, what: str, now: Typed, command: Command) -> Typed:
        text = now.text
        lines = text.count("\n", span.start, max(span.end - 1, span.start)) + 1
        columns = span.end - max(line_start(text, max(span.end - 1, 0)), span.start)
        keys = f"{'V' if span.is_lines else 'v'}{lines},{columns}{what}"
        if command.by:
            self._last = (keys, "")
            by = "".join(one if one == "\n" else command.by for one in text[span.start : span.end])
            return Typed(text=text[: span.start] + by + text[span.end :], at=span.start)
        if what in {"p", "P"}:
            after = put_over(text, span, self._register, command.times)
            if what == "p":
                self._register = Register(text=text[span.start : span.end], is_lines=span.is_lines)
            return after
        if what == "J":
            self._last = (f"{max(lines, 2)}J", "")
            return joined(Typed(text=text, at=span.start), lines)
        return self._operate(keys, what, span, now)

    def _as_before(self, before: re.Match[str], now: Typed) -> Typed:
        """The change that was made to what was selected, to as much from the cursor on."""
        text, lines, operator = now.text, int(before["lines"]), before["operator"]
        below = (lines_away(text, now.at, lines - 1) if lines > 1 else None) or now.at
        start = now.at if lines == 1 else line_start(text, below)
        if before["how"] == "V":
            span = Span(start=line_start(text, now.at), end=line_end(text, below), is_lines=True, cursor=now.at)
        else:
            end = min(start + int(before["columns"]), line_end(text, start))
            span = Span(start=now.at, end=end, cursor=now.at)
        if operator.endswith("r"):
            by = "".join(one if one == "\n" else operator[0] for one in text[span.start : span.end])
            return Typed(text=text[: span.start] + by + text[span.end :], at=span.start)
        return self._operate(f"{before[0]}", operator, span, now)
