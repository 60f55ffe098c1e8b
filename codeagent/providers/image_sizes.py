"""Which of several images a refusal means, by the size or the number that it names."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import takewhile

from codeagent.core.images import image_size
from codeagent.core.messages import AssistantMessage, ImageBlock, Message, ResultsMessage, UserMessage
from codeagent.core.seldom import seldom

_PIXELS_NAMED = seldom(r"(\d[\d,]*) ?(?:px|pixels)\b", re.IGNORECASE)
_MEGABYTES_NAMED = seldom(r"(\d+) ?MB\b")
_NUMBER_NAMED = (
    seldom(
        r"(?:at most|up to|no more than|more than|maximum(?: of)?|max\.?|limit of|only) (\d+) (?:input )?images?\b"
        r"|max(?:imum)?(?: allowed)?(?: number)? of images\D{0,30}(\d+)",
        re.IGNORECASE,
    ),
    seldom(r"too many (?:input )?images?\b[^\d.;:]{0,40}[.;:]?[^\d.;:]{0,40}(\d+)(?:\D{1,40}?(\d+))?", re.IGNORECASE),
)
"""The ways to name how many images a request may hold; where two numbers are told, one is how many it held."""
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


def beyond_number(refusal: str, images: Sequence[ImageBlock]) -> frozenset[ImageBlock]:
    """The oldest of the images, which are in their order, as many as are too many; none where no number is named."""
    found = next(filter(None, (words().search(refusal) for words in _NUMBER_NAMED)), None)
    most = min(int(number) for number in found.groups() if number) if found else 0
    if not most:
        return frozenset()
    beyond: set[ImageBlock] = set()
    left = list(images)
    while len(left) > most:
        beyond.add(left[0])
        left = [image for image in left if image not in beyond]
    return frozenset(beyond)


def images_in(messages: Iterable[Message]) -> Iterable[ImageBlock]:
    """All images that the model was shown, the oldest first."""
    for message in messages:
        match message:
            case UserMessage():
                blocks = message.blocks
            case ResultsMessage():
                blocks = tuple(block for result in message.results for block in result.blocks)
            case AssistantMessage():
                continue
        yield from (block for block in blocks if isinstance(block, ImageBlock))


def shown_now(messages: Sequence[Message]) -> Iterable[ImageBlock]:
    """The images that the person showed since the model's last reply."""
    since = takewhile(lambda message: not isinstance(message, AssistantMessage), reversed(messages))
    return images_in(message for message in since if isinstance(message, UserMessage))


def _longest_side(image: ImageBlock) -> int:
    """In pixels, 0 when its head does not say so."""
    with suppress(ValueError):
        return max(image_size(b64decode(image.data[:_HEAD])))
    return 0
