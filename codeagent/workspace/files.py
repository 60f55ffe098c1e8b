"""Files as bytes and as text: reading with limits, and decoding without loss."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import FileProblem
from codeagent.workspace.handles import opened_file, opened_folder, problems_of, read_all

MAX_BYTES = 50_000_000
_UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How a text file's characters are stored; ``bom`` is the byte order mark, or empty.

    With ``has_unknown_bytes`` the encoding is not known: bytes that are no UTF-8 stand
    in the text as lone surrogates U+DC80 to U+DCFF and come back unchanged.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    has_unknown_bytes: bool = False


UTF8 = Encoding()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file's text without byte order mark, line endings untouched, and how to store it again."""

    text: str
    encoding: Encoding


def read_bytes(touch_path: Path, *, limit: int | None = None) -> bytes:
    """The bytes of a regular file, by its canonical path; ``limit`` in bytes (None: 50 MB).

    Never follows a link and never waits for a pipe or device. Raises FileProblem.
    """
    with (
        problems_of(touch_path),
        opened_folder(touch_path.parent) as folder,
        opened_file(folder, touch_path.name or ".", touch_path) as file,
    ):
        return read_all(file, touch_path, MAX_BYTES if limit is None else limit)


def decode(data: bytes) -> TextFile:
    """The text of a file; UTF-8, or UTF-16 with a byte order mark. Raises FileProblem for a binary file.

    What is neither still becomes text whose unknown bytes survive ``encode``.
    """
    for bom, codec in _UTF16:
        if data.startswith(bom):
            return _decode_utf16(data, bom, codec)
    if b"\0" in data:
        raise FileProblem("The file is binary.", hint=_BINARY_HINT)
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(bom) :]
    try:
        return TextFile(text=body.decode("utf-8"), encoding=Encoding(bom=bom) if bom else UTF8)
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        return TextFile(text=text, encoding=Encoding(bom=bom, has_unknown_bytes=True))


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes to store, byte order mark included. Raises FileProblem for characters that cannot be stored."""
    errors = "surrogateescape" if encoding.has_unknown_bytes else "strict"
    try:
        return encoding.bom + text.encode(encoding.codec, errors)
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        line = text.count("\n", 0, error.start) + 1
        raise FileProblem(
            f"Line {line} holds half a character (U+{code:04X}), which no file can store.",
            hint="Send the whole character.",
        ) from None


def is_file(path: Path) -> bool:
    """Whether there is a file, or a link to one; what may not be looked at, or cannot be a name, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether there is a folder, or a link to one; what may not be looked at is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_binary(data: bytes) -> bool:
    """Whether ``decode`` would refuse it."""
    try:
        decode(data)
    except FileProblem:
        return True
    return False


_BINARY_HINT = "Only text files can be shown or edited; use a command for it."


def _decode_utf16(data: bytes, bom: bytes, codec: str) -> TextFile:
    try:
        text = data[len(bom) :].decode(codec)
    except UnicodeDecodeError:
        raise FileProblem("The file is binary, or broken UTF-16.", hint=_BINARY_HINT) from None
    if "\0" in text:
        raise FileProblem("The file is binary.", hint=_BINARY_HINT)
    return TextFile(text=text, encoding=Encoding(codec=codec, bom=bom))
