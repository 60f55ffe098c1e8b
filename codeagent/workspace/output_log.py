"""The raw output of one command in a private file, up to a cap and without keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from codeagent.core.text import Redactor

LOG_CAP = 20_000_000
_LONGEST_LINE = 8_192
_LONGEST_KEY = 4_096
_LONGEST_BLOCK = 16_384
_BLOCK, _BLOCK_END = b"-----BEGIN ", b"-----END "
_BYTES = "latin-1"  # each byte a character, and back


class OutputLog:
    """Written as output comes in; the last line waits for its end, so that no key is cut in two."""

    def __init__(self, path: Path | None, secrets: Sequence[str] = ()) -> None:
        """Without a ``path`` nothing is written; it must not exist yet.

        ``secrets`` are taken out, and whatever looks like a key of a well-known kind.
        """
        self._path = path
        self._secrets = tuple(secret.encode("utf-8", "replace").decode(_BYTES) for secret in secrets)
        self._redactor = Redactor(self._secrets)
        self._waiting: bytes = b""
        self._file = -1
        self._written = 0
        self.problem = ""
        """Why it does not hold everything; empty when it does."""

    def add(self, data: bytes) -> None:
        """More output."""
        if self._path is None or self.problem:
            return
        self._open(self._path)
        data = self._waiting + data
        end = self._settled(data)
        self._waiting = data[end:]
        if end:
            self._write(self._without_keys(data[:end]))
        elif len(data) > 2 * _LONGEST_LINE:  # a line without an end: what is cut off holds whole keys or none
            text = data.decode(_BYTES)
            end = self._redactor.cut(text, len(text) - _LONGEST_KEY) or len(text)
            self._waiting = data[end:]
            self._write(self._without_keys(data[:end]))

    def close(self, *, is_kept: bool) -> None:
        """No more output will come; the file is removed unless it is to be kept."""
        self._write(self._without_keys(self._waiting))
        self._waiting = b""
        if self._file < 0:
            return
        os.close(self._file)
        self._file = -1
        if not is_kept and self._path is not None:
            self._path.unlink(missing_ok=True)

    def _settled(self, data: bytes) -> int:
        """Up to where no key can go on in what comes next: whole lines, no open block, no beginning of a secret."""
        end = data.rfind(b"\n") + 1
        block = data.rfind(_BLOCK, 0, end)
        if block >= 0 and data.find(_BLOCK_END, block, end) < 0 and len(data) - block < _LONGEST_BLOCK:
            end = block
        several = (secret.encode(_BYTES) for secret in self._secrets if "\n" in secret)
        starts = (secret[: at + 1] for secret in several for at, byte in enumerate(secret[:-1]) if byte == ord("\n"))
        return end - max((len(start) for start in starts if data.endswith(start, 0, end)), default=0)

    def _without_keys(self, data: bytes) -> bytes:
        return self._redactor.redact(data.decode(_BYTES)).encode(_BYTES)

    def _open(self, path: Path) -> None:
        """At the first output, since it may be read while the command runs."""
        if self._file >= 0:
            return
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self.problem = _not_written(error)

    def _write(self, data: bytes) -> None:
        if self._file < 0 or self.problem:
            return
        part = data[: LOG_CAP - self._written]
        try:
            left = memoryview(part)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self.problem = _not_written(error)
            return
        self._written += len(part)
        if len(part) < len(data):
            self.problem = f"it ends after {LOG_CAP:,} bytes"


def _not_written(error: OSError) -> str:
    return f"it could not be written: {error.strerror}"
