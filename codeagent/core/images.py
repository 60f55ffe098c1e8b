"""Images as the model is shown them: which files are some, and how they go into a message."""

from __future__ import annotations

import base64

from codeagent.core.messages import ImageBlock

LARGEST_IMAGE = 3_750_000
"""In bytes; services refuse larger ones."""

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_type(data: bytes) -> str:
    """The media type by the first bytes of a file; empty when it is no image that models know."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS if data.startswith(start)), "")


def image_block(data: bytes, media_type: str, name: str) -> ImageBlock:
    """The image as it goes into a message."""
    return ImageBlock(media_type=media_type, data=base64.b64encode(data).decode("ascii"), name=name)
