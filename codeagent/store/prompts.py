"""What was typed in a workspace before, and the draft that was not sent yet."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from codeagent.workspace.private import make_private_folder, open_private

_KEPT = 1_000


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

    def history(self) -> tuple[str, ...]:
        """What was typed, oldest first; the same text twice in a row counts once."""
        return tuple(self._history)

    def remember(self, text: str) -> None:
        """Adds to the history."""
        if not text.strip() or (self._history and self._history[-1] == text):
            return
        self._history.append(text)
        if not self._keeps:
            return
        line = json.dumps(self._redact(text)) + "\n"
        with suppress(OSError):
            make_private_folder(self._folder)
            with open_private(self._folder / "history.jsonl", os.O_APPEND) as file:
                file.write(line)

    def draft(self) -> str:
        """The draft that was kept, or an empty string."""
        try:
            return (self._folder / "draft.txt").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def save_draft(self, text: str) -> None:
        """Keeps a draft in place of the one before; an empty one removes it."""
        if not self._keeps:
            return
        path = self._folder / "draft.txt"
        with suppress(OSError, UnicodeEncodeError):
            if not text:
                path.unlink(missing_ok=True)
                return
            make_private_folder(self._folder)
            fresh = self._folder / "draft.new"
            with open_private(fresh, os.O_TRUNC) as file:
                file.write(self._redact(text))
            fresh.replace(path)


def _read_history(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    history: list[str] = []
    for line in lines[-_KEPT:]:
        with suppress(ValueError):
            text: object = json.loads(line)
            if isinstance(text, str):
                history.append(text)
    return history
