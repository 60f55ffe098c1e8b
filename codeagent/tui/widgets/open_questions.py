"""The questions that wait for the person, which of them is in view, and what was made of their proposals."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from codeagent.core.approvals import (
    ApprovalRequest,
    Approve,
    CommandPreview,
    DiffPreview,
    ProjectPreview,
    Scope,
    TextPreview,
)
from codeagent.core.diff import LineKind
from codeagent.core.text import counted, show_invisible
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.diff_lines import ChangedLine
from codeagent.tui.widgets.drawn_rows import SeenRows
from codeagent.tui.widgets.surroundings import Surroundings
from codeagent.tui.widgets.typed_before import first_line_of_edit


class DrawnAs(NamedTuple):
    """All that decides where the lines of a change stand."""

    width: int
    palette: Palette
    side: Side
    unfolded: int


@dataclass(slots=True, kw_only=True)
class OpenQuestion:
    """One question; ``left_out`` are the hunks taken out, ``was_shown`` that the person could have read it.

    ``rows`` are those that it has as it was ``drawn_as`` last, ``seen`` which of them were in view, ``seen_changes``
    what was in any layout, ``was_warned`` that the person knows of the others, ``is_anew`` that another program changed
    what was shown before; ``order`` is the place of its call among the calls. ``is_called_off``: its file changed while
    something is typed about it, so that no answer counts until it is asked anew. ``around`` holds the lines around the
    hunks, shown ``unfolded`` times more; ``counts`` are the lines that come and go.
    ``is_turned`` says that its warnings were laid out behind what they are about. ``opened_with`` is the key that a
    reason was typed right behind.
    """

    ticket: int
    request: ApprovalRequest
    order: int = 0
    left_out: set[int] = field(default_factory=set[int])
    hunk: int = 0
    was_shown: bool = False
    was_warned: bool = False
    rows: int = 0
    drawn_as: DrawnAs | None = None
    seen: SeenRows = field(default_factory=SeenRows)
    seen_changes: set[ChangedLine] = field(default_factory=set[ChangedLine])
    is_anew: bool = False
    is_called_off: bool = False
    is_turned: bool = False
    opened_with: str = ""
    unfolded: int = 0
    around: Surroundings | None = field(init=False)
    counts: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        preview = self.request.preview
        self.around, self.counts = None, (0, 0)
        if isinstance(preview, DiffPreview):
            self.around = Surroundings(preview.diff, preview.proposal)
            self.counts = (preview.diff.added, preview.diff.removed)

    def open_fold(self) -> bool:
        """Shows more of what is around the hunk; False when there is no more."""
        is_more = self.around is not None and self.around.open(self.hunk)
        self.unfolded += is_more
        return is_more

    @property
    def hunks(self) -> int:
        """How many hunks there are to choose from."""
        preview = self.request.preview
        return len(preview.diff.hunks) if isinstance(preview, DiffPreview) else 0

    @property
    def chosen(self) -> frozenset[int] | None:
        """The hunks that are taken, None when all are."""
        return frozenset(range(self.hunks)) - self.left_out if self.left_out else None

    @property
    def choice(self) -> frozenset[int] | None:
        """The hunks that are taken, None when there is nothing to choose between."""
        return frozenset(range(self.hunks)) - self.left_out if self.hunks > 1 else None

    @property
    def is_about_project(self) -> bool:
        """Whether it is about no call, but about what the project brings along."""
        return isinstance(self.request.preview, ProjectPreview)

    @property
    def is_about_limit(self) -> bool:
        """Whether it is about going on past a limit: a no stops the turn, and nobody is told why."""
        preview = self.request.preview
        return isinstance(preview, TextPreview) and not preview.is_proposal

    @property
    def is_one_thing(self) -> bool:
        """Whether a yes means the whole call, which is what a yes to several questions at once can mean."""
        return self.chosen is None and not self.is_about_project

    @property
    def proposal(self) -> str | None:
        """The text that can be edited, if there is one."""
        preview = self.request.preview
        if isinstance(preview, DiffPreview):
            return preview.proposal
        if isinstance(preview, TextPreview):
            return preview.text if preview.is_proposal else None
        return preview.command if isinstance(preview, CommandPreview) else None

    @property
    def subject(self) -> str:
        """What the proposal is for: a file, or no file in particular."""
        preview = self.request.preview
        if isinstance(preview, DiffPreview):
            return show_invisible(preview.diff.path)
        return "a command" if isinstance(preview, CommandPreview) else "a text"

    def is_missing(self, edited: str) -> bool:
        """Whether nothing is left of what has to be something; only a file may be empty."""
        return not edited.strip() and not isinstance(self.request.preview, DiffPreview)

    @property
    def line_of_hunk(self) -> int | None:
        """The line of the proposal, from 0, where the hunk pointed at changes something; None is a command's end."""
        preview = self.request.preview
        if isinstance(preview, CommandPreview):
            return None
        if not isinstance(preview, DiffPreview) or not preview.diff.hunks:
            return 0
        hunk = preview.diff.hunks[self.hunk]
        changed = takewhile(lambda line: line.kind is LineKind.SAME, hunk.lines)
        return max(hunk.new_start - 1, 0) + len(list(changed))

    @property
    def unread(self) -> int:
        """How many lines were never in view; of one that was not laid out yet none is known."""
        return self.rows - len(self.seen)

    def warn(self) -> bool:
        """Whether something was never in view and that was not said yet; it is said now."""
        was_warned, self.was_warned = self.was_warned, True
        return self.unread > 0 and not was_warned

    def warning(self, width: int) -> str:
        """What to say then, in ``width`` cells."""
        unread = self.unread
        whole = f"press again: {counted(unread, 'line')} {'was' if unread == 1 else 'were'} never seen"
        return whole if len(whole) <= width else f"{unread} unseen: press again"

    def walk(self, by: int) -> None:
        """Goes to another hunk, stopping at the ends."""
        self.hunk = min(max(self.hunk + by, 0), max(self.hunks - 1, 0))

    def toggle(self) -> None:
        """Takes the hunk out, or puts it back."""
        self.left_out ^= {self.hunk}

    def yes(self, *, scope: Scope | None = None, feedback: str = "", edited: str | None = None) -> Approve:
        """The approval as it was chosen; an edited text stands for itself, without hunks."""
        scope = scope or (Scope.PROJECT if self.is_about_project else Scope.ONCE)
        hunks = None if edited is not None else self.chosen
        return Approve(scope=scope, hunks=hunks, feedback=feedback, edited=edited)


class OpenQuestions:
    """The open questions in call order; while they are held back none is in view and none counts yet."""

    def __init__(self) -> None:
        self._all: list[OpenQuestion] = []
        self._at = 0
        self._is_held = False

    def __len__(self) -> int:
        return 0 if self._is_held else len(self._all)

    def __iter__(self) -> Iterator[OpenQuestion]:
        return iter(self._all)

    @property
    def at(self) -> int:
        """The place of the one in view, from 0."""
        return self._at

    @property
    def current(self) -> OpenQuestion | None:
        """The one in view."""
        return self._all[self._at] if self._all and not self._is_held else None

    @property
    def first_held(self) -> int | None:
        """The order of the first one while they are held back."""
        return self._all[0].order if self._is_held else None

    def release(self) -> bool:
        """Brings the first one into view if they were held back; whether it is that now."""
        was_held, self._is_held = self._is_held, False
        return was_held

    def add(self, question: OpenQuestion, *, is_early: bool = False) -> bool:
        """Puts one where its call stands; whether it came into view by that, which an earlier one never loses.

        Where nothing is in view, one that ``is_early`` is held back, and what comes before ``release`` with it.
        """
        place = bisect_right(self._all, question.order, key=lambda one: one.order)
        self._all.insert(place, question)
        if self._is_held:
            return False
        if len(self._all) == 1:
            self._is_held = is_early
            return not is_early
        self._at += place <= self._at
        return False

    def show(self, question: OpenQuestion) -> bool:
        """Brings that one into view, which it is then."""
        self._at, self._is_held = self._all.index(question), False
        return True

    def find(self, ticket: int) -> OpenQuestion | None:
        """The one with that ticket."""
        return next((one for one in self._all if one.ticket == ticket), None)

    def called_off(self, call_id: str) -> OpenQuestion | None:
        """The one about that call whose file changed while something is being typed about it."""
        return next((one for one in self._all if one.is_called_off and one.request.call_id == call_id), None)

    @property
    def called_off_calls(self) -> set[str]:
        """The calls of all such."""
        return {one.request.call_id for one in self._all if one.is_called_off}

    def replace(self, question: OpenQuestion, by: OpenQuestion) -> None:
        """Puts another one in its place."""
        self._all[self._all.index(question)] = by

    def remove(self, ticket: int) -> bool:
        """Takes one out; whether it was the one in view."""
        index = next((index for index, one in enumerate(self._all) if one.ticket == ticket), None)
        if index is None:
            return False
        was_current = index == self._at and not self._is_held
        del self._all[index]
        self._is_held = self._is_held and bool(self._all)
        if index < self._at or self._at == len(self._all):
            self._at = max(self._at - 1, 0)
        return was_current

    def unseen(self, next_key: str) -> str:
        """What to say of those that nobody looked at yet, empty when there are none; ``next_key`` shows another."""
        unseen = sum(not one.was_shown for one in self._all)
        is_this = self.current is not None and not self.current.was_shown
        another = f"{next_key} shows the next"
        where = ("this one" if unseen == 1 else f"this one, then {another}") if is_this else another
        return f"{unseen} not looked at yet: {where}" if unseen else ""

    def switch(self, by: int) -> None:
        """Brings another one into view, round the ends."""
        self._at = (self._at + by) % len(self._all)


class KeptReasons:
    """The sentences that the person began and did not send, by call, one for each view that asks for one.

    One that was typed right behind its key may have been for the prompt: outside of the question that belongs to it.
    """

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        self._opened_with: dict[tuple[str, str], str] = {}

    @property
    def calls(self) -> set[str]:
        """The calls with a sentence."""
        return set(self._texts)

    @property
    def texts(self) -> list[str]:
        """All of them, the oldest first."""
        return [text for call_id in self._texts for text in self._whole(call_id).values()]

    def of(self, question: OpenQuestion, view: str) -> str:
        """What was begun there before."""
        return self._texts.get(question.request.call_id, {}).get(view, "")

    def keep(self, question: OpenQuestion, view: str, text: str) -> None:
        """Keeps a sentence in place of the one before; an empty one is none."""
        call_id = question.request.call_id
        kept = self._texts.pop(call_id, {})
        if question.opened_with:
            self._opened_with[call_id, view], question.opened_with = question.opened_with, ""
        if text.strip():
            kept[view] = text
        elif kept.pop(view, ""):
            self._opened_with.pop((call_id, view), None)
        if kept:
            self._texts[call_id] = kept

    def take(self, call_id: str) -> dict[str, str]:
        """Those about a call, which are the caller's from now on."""
        whole = self._whole(call_id)
        for view in self._texts.pop(call_id, {}):
            self._opened_with.pop((call_id, view), None)
        return whole

    def _whole(self, call_id: str) -> dict[str, str]:
        kept = self._texts.get(call_id, {})
        return {view: self._opened_with.get((call_id, view), "") + text for view, text in kept.items()}


class KeptEdits:
    """What the person made of proposals, by call, kept until the call is over, so that nothing is typed twice."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._subjects: dict[str, str] = {}

    @property
    def calls(self) -> set[str]:
        """The calls with an edited text."""
        return set(self._texts)

    @property
    def texts(self) -> list[str]:
        """All of them but the empty ones, the oldest first, each below a line that says what it is."""
        kept = [(self._subjects[call], text) for call, text in self._texts.items() if text.strip()]
        return [f"{first_line_of_edit(subject)}\n{text}" for subject, text in kept]

    def of(self, question: OpenQuestion) -> str | None:
        """What the person made of the proposal before, if it is another text."""
        text = self._texts.get(question.request.call_id)
        return None if text == question.proposal else text

    def is_asked_about(self, question: OpenQuestion) -> bool:
        """Whether the question is about the edited text itself."""
        text = self._texts.get(question.request.call_id)
        return text is not None and text == question.proposal

    def keep(self, question: OpenQuestion, text: str | None) -> None:
        """Keeps a text in place of the one before; None is that there is none any more."""
        if text is None:
            self._texts.pop(question.request.call_id, None)
        else:
            self._texts[question.request.call_id] = text
            self._subjects[question.request.call_id] = question.subject

    def take(self, call_id: str) -> tuple[str, ...]:
        """The line that says what the text is, and the text, which are the caller's from now on; no empty one."""
        text = self._texts.pop(call_id, "")
        return (f"{first_line_of_edit(self._subjects[call_id])}\n", text) if text.strip() else ()
