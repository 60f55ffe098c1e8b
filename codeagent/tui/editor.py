"""Writing the prompt in the person's own editor."""

from __future__ import annotations

import asyncio
import locale
import os
import signal
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from codeagent.core.errors import CodeagentError, reason_of
from codeagent.tui.later import split_words


class EditorFailed(CodeagentError):
    """The editor could not be started, or ended with an error."""


async def write_in_editor(text: str, on_begin: Callable[[int, str], None]) -> str:
    """What the person made of ``text`` in $VISUAL or $EDITOR; the terminal must be free. Raises EditorFailed.

    ``on_begin`` is called with the editor's process id and its file.
    """
    words = split_words(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        with tempfile.TemporaryDirectory(prefix="codeagent-") as folder:
            path = Path(folder) / "prompt.md"
            path.write_text(text, encoding="utf-8")
            await _edit(words, path, on_begin)
            return _read(path).removesuffix("\n")
    except OSError as error:
        raise EditorFailed(
            f"The file for the editor cannot be had: {error.strerror}. The prompt is as it was."
        ) from error


def _read(path: Path) -> str:
    """What the editor left; what is no UTF-8 is taken for the locale's encoding, else for Latin-1."""
    for encoding in ("utf-8", locale.getencoding(), "cp1252"):
        with suppress(UnicodeDecodeError):
            return path.read_text(encoding=encoding)
    return path.read_text(encoding="latin-1")  # in which all bytes are characters


async def _edit(words: Sequence[str], path: Path, on_begin: Callable[[int, str], None]) -> None:
    try:
        with _ctrl_c_is_the_editors():
            editor = await asyncio.create_subprocess_exec(*words, str(path))
            on_begin(editor.pid, str(path))
            code = await editor.wait()
    except (OSError, ValueError) as error:
        raise EditorFailed(
            f"The editor {words[0] if words else ''} did not start: {reason_of(error)}.", hint="Set $EDITOR."
        ) from error
    if code:
        raise EditorFailed(f"{words[0]} ended with exit code {code}; the prompt is as it was.")


@contextmanager
def _ctrl_c_is_the_editors() -> Generator[None]:
    """Ctrl+C in an editor that does not catch it must not end codeagent as well."""

    def nothing(_signal: int, _frame: FrameType | None) -> None:
        return

    before = signal.signal(signal.SIGINT, nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
