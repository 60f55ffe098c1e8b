"""The row of answers below a question: which key gives which, to be read, chosen with the arrows, or clicked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from codeagent.core.values import value

_GAP = 2
_NARROW = 92


@value
class Choice:
    """One answer: the key, what it does, in few words for narrow screens, and the action's name.

    ``brief`` takes the place of the few words where not even these fit in one row; None leaves them. Where that is
    too long as well, those with the highest number ``spared`` are left out first, and those with 0 never. A choice
    that is no answer by itself, such as taking a hunk out, cannot be reached with the arrows. One that ``is_extra``
    is there only where all have room for their full words.
    """

    key: str
    words: str
    short: str
    action: str
    is_answer: bool = True
    brief: str | None = None
    spared: int = 0
    is_extra: bool = False


class _Placed(NamedTuple):
    number: int
    choice: Choice
    row: int
    start: int
    text: str


class AnswerKeys(Widget):
    """The answers there are, in one row where that can be; those that are left out work all the same."""

    DEFAULT_CSS = """
    AnswerKeys { height: auto; }
    """

    class Clicked(Message):
        """An answer was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__()
        self._choices: tuple[Choice, ...] = ()
        self._chosen: int | None = None
        self._pressed = ""
        self._is_live = False

    def show(self, choices: tuple[Choice, ...], *, is_live: bool) -> None:
        """Shows other answers; ``is_live`` says that their keys work now."""
        is_other = choices != self._choices
        if is_other or not is_live:
            self._chosen = None
        if is_other or is_live != self._is_live:
            self._choices, self._is_live = choices, is_live
            self.refresh(layout=is_other)

    def press(self, action: str) -> None:
        """The key of an answer was pressed, which is given in a moment; an empty ``action``: it was, or will not be."""
        if action != self._pressed:
            self._pressed = action
            self.refresh()

    def choose(self, by: int) -> None:
        """Chooses the next answer, or the one before; nothing is chosen until this was used."""
        shown = self._placed(self.size.width)
        answers = [one.number for one in shown if one.choice.is_answer]
        if not answers:
            return
        at = answers.index(self._chosen) + by if self._chosen in answers else (0 if by > 0 else -1)
        self._chosen = answers[at % len(answers)]
        self.refresh()

    @property
    def chosen(self) -> str | None:
        """The action of the chosen answer, None when nothing was chosen."""
        return None if self._chosen is None else self._choices[self._chosen].action

    def rows(self, width: int) -> int:
        """How many rows the answers take."""
        placed = self._placed(width)
        return placed[-1].row + 1 if placed else 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """As many rows as they need."""
        return self.rows(width)

    def render(self) -> Content:
        """The rows; the keys stand out only while they work."""
        placed = self._placed(self.size.width)
        rows = [Content() for _ in range(placed[-1].row + 1)] if placed else []
        for one in placed:
            key, words = one.text[: len(one.choice.key)], one.text[len(one.choice.key) :]
            part = Content.assemble((key, "bold $accent" if self._is_live else ""), (words, "$text-muted"))
            if one.number == self._chosen or one.choice.action == self._pressed:
                part = Content.styled(one.text, "$background on $accent")
            gap = one.start - rows[one.row].cell_length
            rows[one.row] = Content.assemble(rows[one.row], " " * gap, part)
        return Content("\n").join(rows)

    def _placed(self, width: int) -> list[_Placed]:
        """Where each answer stands, wrapped between answers only."""
        placed: list[_Placed] = []
        row = start = 0
        for index, text in self._texts(width).items():
            if start and start + len(text) > width:
                row, start = row + 1, 0
            placed.append(_Placed(index, self._choices[index], row, start, text))
            start += len(text) + _GAP
        return placed

    def _texts(self, width: int) -> dict[int, str]:
        """What is said of each, by its number: the last ones lose words first, then those that can be spared go.

        Where one row is not enough for the others, they have all their words in several.
        """
        has_room = _cells([_text(choice, 0) for choice in self._choices]) <= width
        left = [index for index, choice in enumerate(self._choices) if has_room or not choice.is_extra]
        while True:
            texts = self._in_one_row(left, width)
            if texts is not None:
                return texts
            spared = [index for index in left if self._choices[index].spared]
            if not spared:
                return {index: _text(self._choices[index], 1 if width < _NARROW else 0) for index in left}
            left.remove(max(spared, key=lambda index: self._choices[index].spared))

    def _in_one_row(self, indexes: Sequence[int], width: int) -> dict[int, str] | None:
        """What is said of these where that fits into one row, None where nothing does."""
        texts = {index: _text(self._choices[index], 1 if width < _NARROW else 0) for index in indexes}
        for form in (1, 2):
            for index in reversed(indexes):
                if _cells(texts.values()) <= width:
                    return texts
                texts[index] = _text(self._choices[index], form)
        return texts if _cells(texts.values()) <= width else None

    def on_click(self, event: events.Click) -> None:
        """Gives the answer under the mouse."""
        event.stop()
        for one in self._placed(self.size.width):
            if one.row == event.y and one.start <= event.x < one.start + len(one.text):
                self.post_message(self.Clicked(one.choice.action))


def have_room(choices: Sequence[Choice], width: int) -> bool:
    """Whether the few words of each fit into one row, so that none is told by less."""
    return _cells([_text(choice, 1) for choice in choices if not choice.is_extra]) <= width


def _text(choice: Choice, form: int) -> str:
    forms = (choice.words, choice.short, choice.short if choice.brief is None else choice.brief)
    return f"{choice.key} {forms[form]}".rstrip()


def _cells(texts: Collection[str]) -> int:
    """What the texts take in one row."""
    return sum(map(len, texts)) + _GAP * (len(texts) - 1)
