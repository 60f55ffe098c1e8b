"""Reads from a repository's index which of its folders are repositories of their own (gitformat-index(5))."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path

_GITLINK = b"\0\0\xe0\0"
_KIND = 0xF000
_FIXED = 40
_EXTENDED = 0x4000
_COMPRESSED = 4


def submodules(inside: Path) -> tuple[str, ...]:
    """The paths, below the work tree, of the repositories that the index in ``inside`` names.

    Raises OSError, and ValueError for an index that is not read here: a split one, or a broken one.
    """
    if not (inside / "index").is_file():
        return ()
    if next(inside.glob("sharedindex.*"), None) is not None:
        raise ValueError("its index is split")
    data = (inside / "index").read_bytes()
    if _GITLINK not in data:
        return ()
    read: list[list[str]] = []
    for hash_bytes in (20, 32):  # which of them is told by where the entries end; if it cannot be, both count
        with suppress(struct.error, IndexError, ValueError):
            read.append(_gitlinks(data, hash_bytes))
    if not read:
        raise ValueError("its index is broken")
    return tuple(dict.fromkeys(name for names in read for name in names))


def _gitlinks(data: bytes, hash_bytes: int) -> list[str]:
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in {2, 3, 4}:
        raise ValueError("it is no index")
    found: list[str] = []
    at, name = 12, b""
    for _ in range(count):
        (mode,) = struct.unpack_from(">I", data, at + 24)
        (flags,) = struct.unpack_from(">H", data, at + _FIXED + hash_bytes)
        if mode & _KIND not in {0x8000, 0xA000, 0xE000, 0x4000}:
            raise ValueError("an entry is of no kind")
        begin = at + _FIXED + hash_bytes + (4 if flags & _EXTENDED else 2)
        kept = b""
        if version == _COMPRESSED:
            begin, dropped = _number(data, begin)
            kept = name[: len(name) - dropped]
        end = data.index(b"\0", begin)
        name = kept + data[begin:end]
        at = end + 1 if version == _COMPRESSED else at + ((end - at) // 8 + 1) * 8
        if mode & _KIND == 0xE000:  # noqa: PLR2004 - a link to another repository's commit
            found.append(os.fsdecode(name))
    while at < len(data) - hash_bytes:
        (size,) = struct.unpack_from(">I", data, at + 4)
        at += 8 + size
    if at != len(data) - hash_bytes:
        raise ValueError("its parts do not fit together")
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Where a number of variable length ends, and the number (as offsets are written in packs)."""
    byte = data[at]
    at += 1
    value = byte & 127
    while byte & 128:
        byte = data[at]
        at += 1
        value = ((value + 1) << 7) | (byte & 127)
    return at, value
