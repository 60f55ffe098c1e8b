"""Which paths a shell word could stand for: as it is written, in its parts, by the pattern or the end that is known."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from codeagent.policy.shell_words import Word

PLAIN_PATH = re.compile(r"[\w@%+:,./~-]+")
_OPTION_VALUE = re.compile(r"(?:--?[\w-]+=|-[A-Za-z]|[\w-]+=|@|file://)?(?P<path>.+)", re.DOTALL)
_BELOW_HOME = re.compile(r"(?:.*[=:@])?\$(?:HOME|\{HOME\})(?P<end>/[\w@%+:,./~-]+)", re.DOTALL)
_BELOW_UNKNOWN = re.compile(r".*(?:\$\w+|[})`])(?P<end>/[\w@%+:,./~-]+)", re.DOTALL)


def matches(word: Word, folder: Path) -> Iterator[str]:
    """The names that a pattern stands for now when the shell is in ``folder``; none for any other word."""
    pattern = str(Path.home()) + word.glob[1:] if word.has_tilde else word.glob
    return glob.iglob(pattern, root_dir=folder)  # noqa: PTH207 - Path.glob leaves out broken links and takes ** deep


def one_by_one(words: Iterable[Word]) -> Iterator[Word]:
    """The words, with what the variables of loops stand for in their place."""
    for word in words:
        yield from word.values or (word,)


def written(word: Word) -> str:
    """The path as the sandbox reads it: a quoted ``~`` is a name like any other."""
    return f"./{word.text}" if word.text.startswith("~") and not word.has_tilde else word.text


def is_other_home(word: Word) -> bool:
    """Whether it begins with somebody else's home folder, or another place that a tilde stands for."""
    return word.has_tilde and word.text != "~" and not word.text.startswith("~/")


def candidates(word: Word) -> Iterator[str]:
    """The parts of a word that could be a path: the word, an option's value, what stands around a colon."""
    whole = _OPTION_VALUE.fullmatch(word.text)
    texts = [word.text, *([whole["path"]] if whole else [])]
    texts += [part for text in tuple(texts) for part in re.split(r"[:,=@]", text)]
    for text in dict.fromkeys(texts):
        if text and not text.startswith("-") and PLAIN_PATH.fullmatch(text) and not re.match(r"\w+://", text):
            yield f"./{text}" if text.startswith("~") and not (word.has_tilde or text != word.text) else text


def is_telling(text: str) -> bool:
    """Whether a name without a folder is a file's beyond doubt, so that it matters though it is not there."""
    stem, dot, _ = text.rpartition(".")
    return text.startswith(".env") or bool(dot and stem)


def known_ends(word: Word) -> Iterator[str]:
    """The path that a word ends with, such as ``./.env`` of ``"$PWD/.env"``; one below ``$HOME`` is known whole."""
    text = "" if word.is_known else word.text.replace('"', "")
    if found := _BELOW_HOME.fullmatch(text):
        yield f"~{found['end']}"
    elif found := _BELOW_UNKNOWN.fullmatch(text):
        yield f".{found['end']}"
