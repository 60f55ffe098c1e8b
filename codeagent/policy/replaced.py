"""Which files a plain command deletes or replaces by others, as ``rm``, ``mv`` or ``sed -i`` do without a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name

_MOST_WORDS = 1_000
_DELETING = frozenset({"rm", "unlink"})
_COPYING = frozenset({"cp", "mv", "install"})


def replaced_files(words: Sequence[Word], folder: Path) -> Iterator[Path]:
    """The files that are there and would be gone or others; ``folder`` is where the command runs.

    Only words that are fixed count: this is for commands that nothing else asks about.
    """
    if not words or len(words) > _MOST_WORDS or not words[0].is_fixed:
        return
    for name in dict.fromkeys(_names(base_name(words[0].text), words[1:], folder)):
        path = folder / name
        if name and path.is_file():
            yield path


def _names(program: str, words: Sequence[Word], folder: Path) -> Iterator[str]:
    texts = [word.text for word in words if word.is_fixed]
    options = [text for text in texts if text.startswith("-")]
    operands = [text for text in texts if not text.startswith("-")]
    short = {letter for text in options if not text.startswith("--") for letter in text[1:]}
    is_editing = program == "sed" and ("i" in short or any(text.startswith("--in-p") for text in options))
    is_linking = program == "ln" and ("f" in short or "--force" in options)
    if program in _DELETING or is_editing:
        yield from operands
    elif (program in _COPYING or is_linking) and operands and words[-1].is_fixed:
        yield from _targets(options, operands, folder)
    elif program == "sort":
        yield from _sorted_into(texts)


def _targets(options: Sequence[str], operands: Sequence[str], folder: Path) -> Iterator[str]:
    """The file that is written, or those of the same names in the folder that is written to."""
    named = [text.partition("=")[2] for text in options if text.startswith("--target-directory=")]
    target = named[0] if named else operands[0] if "-t" in options else operands[-1]
    if (folder / target).is_dir():
        yield from (f"{target}/{Path(operand).name}" for operand in operands)
    else:
        yield target


def _sorted_into(texts: Sequence[str]) -> Iterator[str]:
    for text, following in zip(texts, [*texts[1:], ""], strict=True):
        if text.startswith("--output="):
            yield text.partition("=")[2]
        elif text in {"-o", "--output"}:
            yield following
        elif text.startswith("-o"):
            yield text[2:]
