"""Images pasted or dragged into the prompt, by path or as data: short marks there, whole images in the message."""

from __future__ import annotations

import os
import re
import stat
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path

from codeagent.core.images import LARGEST_IMAGE, image_block, image_problem, image_type
from codeagent.core.messages import Draft, DraftImage, ImageBlock
from codeagent.core.seldom import seldom
from codeagent.core.text import clean
from codeagent.tui.later import split_words, unquote_url

_MARK = seldom(r"\[image #\d+ · ([^\]\n]+)\]")
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_LONGEST_PASTE = 8_192
_DATA = seldom(r"\s*data:image/([a-z]{1,8});base64,")


class AttachedImages:
    """The images behind the marks; they stay, since text that was sent can come back."""

    def __init__(self) -> None:
        self._images: dict[str, ImageBlock] = {}
        self._paths: dict[str, str] = {}
        self._forgotten: dict[str, str] = {}
        self.problem = ""

    def attach(self, pasted: str) -> str | None:
        """Marks in place of a paste that names images, or is one, and nothing else; None for any other paste.

        The files are read now, so what is sent is what was there when it was pasted. ``problem`` says why an image
        that is named, or is pasted as data, could not be taken.
        """
        self.problem = ""
        if data := _DATA().match(pasted):
            return self.take(_decoded(pasted[data.end() :]), f"pasted.{data[1]}")
        if len(pasted) > _LONGEST_PASTE or not any(suffix in pasted.lower() for suffix in _SUFFIXES):
            return None
        images = [(self.read(path), path) for path in _paths(pasted.strip())]
        if not images or any(image is None for image, _ in images):
            return None
        return " ".join(self._mark(image, path) for image, path in images if image is not None) + " "

    def take(self, data: bytes, name: str) -> str | None:
        """A mark for the bytes of an image; None when they are none that models take, which ``problem`` says."""
        media_type = image_type(data)
        if len(data) > LARGEST_IMAGE:
            self.problem = f"{name} is larger than {LARGEST_IMAGE / 1_000_000:.1f} MB, which models refuse"
        elif not media_type:
            self.problem = f"{name} is no image that models know"
        elif problem := image_problem(data):
            self.problem = f"{name} {problem}"
        else:
            return self._mark(image_block(data, media_type, name)) + " "
        return None

    def found_in(self, text: str) -> tuple[ImageBlock, ...]:
        """The images that a text has marks of, each once."""
        return tuple(self._images[mark] for mark in _marks(text) if mark in self._images)

    def drafted_in(self, text: str) -> tuple[DraftImage, ...]:
        """The images that a text has marks of, as far as they came from files."""
        return tuple(DraftImage(mark=mark, path=self._paths[mark]) for mark in _marks(text) if mark in self._paths)

    def take_back(self, draft: Draft) -> tuple[str, str]:
        """The text of a draft, with new marks for the images that are there again and the names of the others.

        Also in words which those are; empty when there are none.
        """
        marks = {one.mark: self._mark(one.image, Path(one.path)) for one in draft.images if one.image is not None}
        return _renamed(draft.text, marks)

    def without_lost(self, text: str) -> tuple[str, str]:
        """The text with the name in place of each mark that stands for no image, and in words which those are."""
        return _renamed(text, {mark: mark for mark in self._images})

    def forget(self, text: str) -> str:
        """A text of an earlier run, with the names of its images: a mark may stand for another one by now."""
        shown, lost = _renamed(text, {})
        if lost:
            self._forgotten[shown] = lost
        return shown

    def forgotten_in(self, text: str) -> str:
        """In words, and once for each text, which images were left out of one of an earlier run; empty for none."""
        return self._forgotten.pop(text, "")

    def marks_in(self, line: str) -> list[tuple[int, int]]:
        """Start and end of each mark that stands for an image."""
        return [found.span() for found in _MARK().finditer(line) if found[0] in self._images]

    def mark_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Start and end of the mark that the cursor is in or directly behind."""
        return next(((start, end) for start, end in self.marks_in(line) if start < column <= end), None)

    def read(self, path: Path) -> ImageBlock | None:
        """The image in a plain file; None when it is none, too large, or cannot be read."""
        name = re.sub(r"[\[\]\s]+", " ", clean(path.name)).strip() or "image"
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return None
                data = file.read(LARGEST_IMAGE + 1)
        except (OSError, ValueError):
            return None
        media_type = image_type(data)
        if len(data) > LARGEST_IMAGE:
            self.problem = f"{name} is larger than {LARGEST_IMAGE / 1_000_000:.1f} MB: only its path is here"
        elif not media_type:
            self.problem = f"{name} is no image that models know: only its path is here"
        elif problem := image_problem(data):
            self.problem = f"{name} {problem}: only its path is here"
        return image_block(data, media_type, name) if media_type and not self.problem else None

    def _mark(self, image: ImageBlock, path: Path | None = None) -> str:
        mark = f"[image #{len(self._images) + 1} · {image.name}]"
        self._images[mark] = image
        if path is not None and (whole := str(path.absolute())) == clean(whole):  # any other cannot be kept as text
            self._paths[mark] = whole
        return mark


def _marks(text: str) -> Sequence[str]:
    """What looks like the mark of an image, each once."""
    return tuple(dict.fromkeys(found[0] for found in _MARK().finditer(text)))


def _renamed(text: str, marks: Mapping[str, str]) -> tuple[str, str]:
    """The text with other marks, where there are some, and else names; in words, whose marks were not there."""
    if "[image #" not in text:
        return text, ""
    names = dict.fromkeys(found[1] for found in _MARK().finditer(text) if found[0] not in marks)
    shown = _MARK().sub(lambda found: marks.get(found[0], found[1]), text)
    verb = "is" if len(names) == 1 else "are"
    return shown, f"{' and '.join(names)} {verb} not attached any more" if names else ""


def _paths(pasted: str) -> list[Path]:
    """The paths in a paste: the whole of it, else its words as a shell reads them, as terminals drag files."""
    if "\n" not in pasted and _is_image_name(pasted):
        whole = Path(pasted).expanduser()
        if whole.is_file():
            return [whole]
    try:
        words = split_words(pasted)
    except ValueError:
        return []
    paths = [Path(unquote_url(word.removeprefix("file://")) if word.startswith("file://") else word) for word in words]
    return [path.expanduser() for path in paths] if all(_is_image_name(path.name) for path in paths) else []


def _is_image_name(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def _decoded(text: str) -> bytes:
    """The bytes behind base64; none when it is none."""
    try:
        return b64decode("".join(text.split()), validate=True)
    except ValueError:
        return b""
