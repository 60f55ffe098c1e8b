"""What was typed in a workspace before, and the draft that was not sent yet."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from codeagent.core.messages import Draft, DraftImage
from codeagent.core.values import value
from codeagent.workspace.private import make_private_folder, open_private

_KEPT = 1_000
_DRAFT = "draft.json"


class Prompts:
    """The prompt history and draft of one workspace, in a private folder.

    Nothing here is worth stopping for: where the disk refuses, the history lasts
    as long as the program runs. ``redact`` takes secrets out before writing;
    without ``keeps`` nothing is written. Who calls writes one thing at a time.
    """

    def __init__(self, folder: Path, redact: Callable[[str], str], *, keeps: bool = True) -> None:
        self._folder = folder
        self._redact = redact
        self._keeps = keeps
        self._history = _read_history(folder / "history.jsonl")

    def history(self) -> tuple[Draft, ...]:
        """What was typed, oldest first, with the long texts that were pasted; one twice in a row counts once."""
        return tuple(self._history)

    def remember(self, typed: Draft) -> None:
        """Adds to the history."""
        if not typed.text.strip() or (self._history and self._history[-1].text == typed.text):
            return
        self._history.append(Draft(text=typed.text, pasted=typed.pasted))
        if not self._keeps:
            return
        text, places = self._placed(typed)
        line = json.dumps({"text": text, "pasted": places} if places else text) + "\n"
        with suppress(OSError):
            make_private_folder(self._folder)
            with open_private(self._folder / "history.jsonl", os.O_APPEND) as file:
                file.write(line)

    def draft(self) -> Draft:
        """The draft that was kept, or an empty one."""
        try:
            kept = (self._folder / _DRAFT).read_bytes()
        except OSError:
            return Draft()
        return _read_draft(kept)

    def save_draft(self, draft: Draft) -> None:
        """Keeps a draft in place of the one before; an empty one removes it."""
        if not self._keeps:
            return
        path = self._folder / _DRAFT
        with suppress(OSError):
            if not draft.text:
                path.unlink(missing_ok=True)
                return
            make_private_folder(self._folder)
            fresh = self._folder / "draft.new"
            with open_private(fresh, os.O_TRUNC) as file:
                file.write(self._written(draft))
            fresh.replace(path)

    def _written(self, draft: Draft) -> str:
        """As JSON: the text once, and where the pastes stand in it; one that stands there no more is none."""
        text, places = self._placed(draft)
        images = [(self._redact(one.mark), self._redact(one.path)) for one in draft.images]
        return json.dumps({"text": text, "pasted": places, "images": images})

    def _placed(self, draft: Draft) -> tuple[str, list[tuple[int, int]]]:
        """The text as it is written, and where pastes stand in it; sending took the blanks from its ends."""
        text = self._redact(draft.text)
        places: list[tuple[int, int]] = []
        for pasted in sorted(map(self._redact, draft.pasted), key=len, reverse=True):
            for form in dict.fromkeys((pasted, pasted.rstrip(), pasted.lstrip(), pasted.strip())):
                if (start := _free_place(text, form, places)) >= 0:
                    places.append((start, start + len(form)))
                    break
        return text, sorted(places)


@value
class _Kept:
    """A draft on the disk; each paste is from one character of the text up to another, each image a mark and a path."""

    text: str
    pasted: tuple[tuple[int, int], ...] = ()
    images: tuple[tuple[str, str], ...] = ()


@cache
def _kept() -> TypeAdapter[_Kept]:
    """What reads it; made when there is one, which takes a while."""
    return TypeAdapter(_Kept)


def _read_draft(written: bytes | str) -> Draft:
    try:
        kept = _kept().validate_json(written)
    except ValidationError:
        return Draft()
    pasted = (kept.text[start:end] for start, end in kept.pasted if 0 <= start < end)
    images = tuple(DraftImage(mark=mark, path=path) for mark, path in kept.images)
    return Draft(text=kept.text, pasted=tuple(filter(None, pasted)), images=images)


def _free_place(text: str, pasted: str, taken: Sequence[tuple[int, int]]) -> int:
    """Where it stands outside of all that is taken; -1 where it does not."""
    at = text.find(pasted) if pasted else -1
    while at >= 0 and any(at < end and start < at + len(pasted) for start, end in taken):
        at = text.find(pasted, at + 1)
    return at


def _read_history(path: Path) -> list[Draft]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    history: list[Draft] = []
    for line in lines[-_KEPT:]:
        with suppress(ValueError):
            typed: object = json.loads(line)
            if isinstance(typed, str):
                history.append(Draft(text=typed))
            elif (with_pastes := _read_draft(line)).text:
                history.append(with_pastes)
    return history
