"""Images: their size as their heads have it, and which ones no model can take."""

from __future__ import annotations

import pytest

from codeagent.core.images import image_problem, image_size


def chunk(kind: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + kind + body + b"sum "


def segment(kind: int, body: bytes) -> bytes:
    return bytes((0xFF, kind)) + (len(body) + 2).to_bytes(2, "big") + body


def webp(kind: bytes, body: bytes) -> bytes:
    inner = b"WEBP" + kind + len(body).to_bytes(4, "little") + body
    return b"RIFF" + len(inner).to_bytes(4, "little") + inner


SIZE = (300).to_bytes(4, "big") + (20).to_bytes(4, "big")
FRAME = b"\x08" + (20).to_bytes(2, "big") + (300).to_bytes(2, "big") + b"\x03"
SMALL = (300).to_bytes(2, "little") + (20).to_bytes(2, "little")
THUMBNAIL = segment(0xE1, b"Exif \xff\xd8\xff\xd9")
WHOLE = {
    "png": b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", SIZE + b"\x08\6\0\0\0")
    + chunk(b"IDAT", b"x" * 50)
    + chunk(b"IEND", b""),
    "jpeg": b"\xff\xd8"
    + THUMBNAIL
    + segment(0xC4, b"table")
    + segment(0xC0, FRAME)
    + segment(0xDA, b"x")
    + b"x" * 50
    + b"\xff\xd9",
    "progressive jpeg": b"\xff\xd8" + b"\xff" + segment(0xC2, FRAME) + segment(0xDA, b"x") + b"x" * 50 + b"\xff\xd9",
    "lossy webp": webp(b"VP8 ", b"tag\x9d\x01\x2a" + SMALL + b"x" * 50),
    "lossless webp": webp(b"VP8L", b"\x2f" + (299 | 19 << 14).to_bytes(4, "little") + b"x" * 50),
    "extended webp": webp(b"VP8X", b"\0" * 4 + (299).to_bytes(3, "little") + (19).to_bytes(3, "little") + b"x" * 50),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_whole_image_is_taken_and_one_that_is_cut_off_is_not(kind):
    data = WHOLE[kind]
    assert image_size(data) == (300, 20)
    assert image_problem(data) == image_problem(data + b"more behind its end") == ""
    assert {image_problem(data[: len(data) - size]) for size in (20, 40)} == {"is cut off or damaged"}


def test_the_size_of_a_gif_is_in_its_head():
    assert image_size(b"GIF89a" + SMALL + b"\0\0\0;") == (300, 20)
    assert image_problem(b"GIF89a\0\0\0\0") == "is damaged"


@pytest.mark.parametrize("kind", WHOLE)
def test_whatever_stands_behind_the_first_bytes_is_judged(kind):
    data = WHOLE[kind]
    for end in range(4, len(data)):
        image_problem(data[:end])
        image_problem(data[:end] + b"\xff" * 20)
        image_problem(data[:end] + b"\0" * 20)


def test_too_many_pixels_are_told():
    wide = WHOLE["png"].replace(SIZE, (9_000).to_bytes(4, "big") + SIZE[4:])
    assert image_problem(wide) == "is 9,000 × 20 pixels (8,000 at most)"
