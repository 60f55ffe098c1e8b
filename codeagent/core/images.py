"""Images as models take them: which kinds there are, how large they may be, and whether one is whole."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from codeagent.core.messages import ImageBlock

LARGEST_IMAGE = 3_750_000
"""In bytes; services refuse larger ones."""
LONGEST_SIDE = 8_000
"""In pixels; https://docs.anthropic.com/en/docs/build-with-claude/vision has the least of the services' limits."""

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_SCAN, _END, _FILL = 0xDA, b"\xff\xd9", 0xFF
_SIZED = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of JPEG whose segments have the size."""


def image_type(data: bytes) -> str:
    """The media type by the first bytes of a file; empty when it is no image that models know."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS if data.startswith(start)), "")


def image_block(data: bytes, media_type: str, name: str) -> ImageBlock:
    """The image as it goes into a message."""
    return ImageBlock(media_type=media_type, data=base64.b64encode(data).decode("ascii"), name=name)


def image_problem(data: bytes) -> str:
    """Why no model can take an image of a kind that models know, after its name in a sentence; empty when one can."""
    if not _is_whole(data):
        return "is cut off or damaged"
    width, height = image_size(data)
    if not (width and height):
        return "is damaged"
    if max(width, height) > LONGEST_SIDE:
        return f"is {width:,} × {height:,} pixels ({LONGEST_SIDE:,} at most)"
    return ""


def image_size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels, as the file's head has them; zeros when it has none."""
    match image_type(data):
        case "image/png":
            return _number(data[16:20]), _number(data[20:24])
        case "image/gif":
            return _little(data[6:8]), _little(data[8:10])
        case "image/webp":
            return _webp_size(data)
        case "image/jpeg":
            sizes = (data[at + 5 : at + 9] for at, kind in _segments(data) if kind in _SIZED)
            found = next(sizes, b"")
            return _number(found[2:4]), _number(found[:2])
        case _:
            return 0, 0


def _is_whole(data: bytes) -> bool:
    """Whether a file goes on to its end; animations are not looked through."""
    match image_type(data):
        case "image/png":
            at = 8
            while (head := data[at : at + 8]) and head[4:] != b"IEND":
                at += 12 + _number(head[:4])
            return bool(head)
        case "image/webp":
            return len(data) >= 8 + _little(data[4:8])
        case "image/jpeg":
            scan = next((at for at, kind in _segments(data) if kind == _SCAN), None)
            return scan is not None and data.find(_END, scan) >= 0
        case _:
            return True


def _segments(data: bytes) -> Iterator[tuple[int, int]]:
    """Where the segments before a JPEG's picture begin, and of what kind they are; its first scan is the last."""
    at = 2
    while at + 4 <= len(data) and data[at] == _FILL:
        kind = data[at + 1]
        if kind == _FILL:
            at += 1
            continue
        yield at, kind
        if kind == _SCAN:
            return
        at += 2 + max(2, _number(data[at + 2 : at + 4]))


def _webp_size(data: bytes) -> tuple[int, int]:
    """The size in the first chunk: https://developers.google.com/speed/webp/docs/riff_container."""
    match data[12:16]:
        case b"VP8X":
            return 1 + _little(data[24:27]), 1 + _little(data[27:30])
        case b"VP8L":
            bits = _little(data[21:25])
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
        case _:
            return 0, 0


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
