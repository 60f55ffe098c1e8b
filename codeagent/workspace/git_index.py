"""Reads from a repository's index which files and which repositories inside it git knows (gitformat-index(5))."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path

_GITLINK = b"\0\0\xe0\0"
_KIND = 0xF000
_REPOSITORY = 0xE000
_FIXED = 40
_EXTENDED = 0x4000
_COMPRESSED = 4


def submodules(inside: Path) -> tuple[str, ...]:
    """The paths, below the work tree, of the repositories that the index in ``inside`` names.

    Raises OSError, and ValueError for an index that is not read here: a split one, or a broken one.
    """
    data = _data(inside)
    return _read(data, {_REPOSITORY}) if _GITLINK in data else ()


def tracked(inside: Path) -> tuple[str, ...]:
    """The paths of all files that the index names; raises as above."""
    data = _data(inside)
    return _read(data, {0x8000, 0xA000}) if data else ()


def _data(inside: Path) -> bytes:
    if not (inside / "index").is_file():
        return b""
    if next(inside.glob("sharedindex.*"), None) is not None:
        raise ValueError("its index is split")
    return (inside / "index").read_bytes()


def _read(data: bytes, kinds: set[int]) -> tuple[str, ...]:
    read: list[list[str]] = []
    for hash_bytes in (20, 32):  # which of them is told by where the entries end; if it cannot be, both count
        with suppress(struct.error, IndexError, ValueError):
            read.append(_names(data, hash_bytes, kinds))
    if not read:
        raise ValueError("its index is broken")
    return tuple(dict.fromkeys(name for names in read for name in names))


def _names(data: bytes, hash_bytes: int, kinds: set[int]) -> list[str]:
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
        if mode & _KIND in kinds:
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
