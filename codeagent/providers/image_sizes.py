"""Which of several images a refusal means, by the size that it names."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Set as AbstractSet
from contextlib import suppress

from codeagent.core.images import image_size
from codeagent.core.messages import ImageBlock
from codeagent.core.seldom import seldom

_PIXELS_NAMED = seldom(r"(\d[\d,]*) ?(?:px|pixels)\b", re.IGNORECASE)
_MEGABYTES_NAMED = seldom(r"(\d+) ?MB\b")
_MEGABYTE = 1_000_000
_HEAD = 1_000_000
"""Characters of base64 in which an image has its size; a JPEG's may stand behind a thumbnail and a colour profile."""


def meant(refusal: str, images: AbstractSet[ImageBlock]) -> AbstractSet[ImageBlock]:
    """Those beyond the size that a refusal names; all of them where it names none, or none is known to be beyond."""
    beyond: set[ImageBlock] = set()
    if pixels := _PIXELS_NAMED().search(refusal):
        beyond = {image for image in images if _longest_side(image) > int(pixels[1].replace(",", ""))}
    elif size := _MEGABYTES_NAMED().search(refusal):
        beyond = {image for image in images if len(image.data) > int(size[1]) * _MEGABYTE}
    return beyond or images


def _longest_side(image: ImageBlock) -> int:
    """In pixels, 0 when its head does not say so."""
    with suppress(ValueError):
        return max(image_size(b64decode(image.data[:_HEAD])))
    return 0
