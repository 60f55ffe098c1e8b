"""What was typed before in this workspace, to walk through with Up and Down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from textual.message import Message

from codeagent.core.desk import Workbench
from codeagent.core.messages import Draft
from codeagent.tui.widgets.attached_images import AttachedImages

_EDIT = re.compile(r"My edit of (.+), which was not used:$", re.MULTILINE)


def first_line_of_edit(name: str) -> str:
    """What an edited proposal begins with, so that the person and the model know what it is."""
    return f"My edit of {name}, which was not used:"


def part_from_edits(draft: str) -> tuple[str, dict[str, str]]:
    """The words of a draft, and the edited proposals behind them, each with its first line, by name."""
    starts = list(_EDIT.finditer(draft))
    ends = [*(found.start() for found in starts[1:]), len(draft)]
    words = draft[: starts[0].start()] if starts else draft
    return words.rstrip("\n"), {
        found[1]: draft[found.start() : end].rstrip("\n") for found, end in zip(starts, ends, strict=False)
    }


def typed_in(bench: Workbench) -> tuple[tuple[Draft, ...], Draft, list[str]]:
    """The history, the draft, and whose edits of proposals the draft had: these belong to the history now.

    None of them may be sent by an Enter that was meant for something else. The images of the draft are read again.
    """
    kept = bench.draft()
    words, edits = part_from_edits(kept.text)
    draft = replace(kept, text=words)
    for edit in edits.values():
        bench.remember(Draft(text=edit))
    if edits:
        bench.save_draft(draft)
    images = tuple(replace(one, image=AttachedImages().read(Path(one.path))) for one in draft.images)
    return bench.history(), replace(draft, images=images), list(edits)


class MovedHere(Message):
    """What was typed elsewhere, where nothing can be typed any more, goes on here."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Of ``texts`` each is by itself: what one begins with stays in view where the rest is folded."""
        super().__init__()
        self.texts = texts


class TypedBefore:
    """Earlier prompts, with the unsent draft as the newest."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        """``texts`` are oldest first."""
        self._texts = list(texts)
        self._at = len(self._texts)
        self._draft = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, oldest first."""
        return tuple(self._texts)

    def add(self, text: str) -> None:
        """Remembers a sent prompt, once when it is the same as the last one, and starts at the end again."""
        if text and (not self._texts or self._texts[-1] != text):
            self._texts.append(text)
        self._at = len(self._texts)
        self._draft = ""

    def older(self, current: str) -> str | None:
        """The prompt before, or None at the oldest; ``current`` is kept as the draft when the walk starts."""
        if self._at == 0:
            return None
        if self._at == len(self._texts):
            self._draft = current
        self._at -= 1
        return self._texts[self._at]

    def newer(self) -> str | None:
        """The prompt after, the draft last, or None when it is already shown."""
        if self._at == len(self._texts):
            return None
        self._at += 1
        return self._draft if self._at == len(self._texts) else self._texts[self._at]
