"""Which files a plain command deletes or replaces by others, as ``rm``, ``mv`` or ``sed -i`` do without a word."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

from codeagent.policy.effort import spend
from codeagent.policy.path_words import glob_names
from codeagent.policy.shell_words import Word, one_by_one
from codeagent.policy.wrappers import base_name
from codeagent.workspace.files import is_file, is_folder

_MOST_WORDS = 1_000
_MOST_FILES = 1_000
_DELETING = frozenset({"rm", "unlink"})
_COPYING = frozenset({"cp", "mv", "install", "ln", "rsync"})
_EDITING = frozenset({"sed", "gsed", "perl", "ruby"})
_PACKING = frozenset({"gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "compress", "uncompress"})
_VALUED = {"install": "mogSt", "cp": "St", "mv": "St", "ln": "St", "rsync": "efTB"}
_LONG_TARGET = "--target-directory"

Replaced = tuple[Path, ...] | None
"""Files that are there and would be gone or others; None when that is only known when it runs."""


def replaced_files(words: Sequence[Word], folder: Path | None) -> Replaced:
    """The files that a plain command which runs in ``folder`` (None: nobody knows where) would delete or replace.

    This is for commands that nothing else asks about.
    """
    if not words or not words[0].is_fixed or not may_replace(base_name(words[0].text), words[1:]):
        return ()
    names = written_out(words[1:], folder) if folder else None
    if folder is None or names is None:
        return None
    found = list(islice(_names(base_name(words[0].text), names, folder), _MOST_FILES + 1))
    if len(found) > _MOST_FILES:
        return None
    return tuple(path for name in dict.fromkeys(found) if name and is_file(path := folder / name))


def written_names(words: Sequence[Word], folder: Path) -> tuple[str, ...]:
    """The names that such a command in ``folder`` deletes or writes to, whether they are there or not."""
    if not words or not words[0].is_fixed or not may_replace(base_name(words[0].text), words[1:]):
        return ()
    texts = written_out(words[1:], folder)
    return tuple(islice(_names(base_name(words[0].text), texts, folder), _MOST_FILES)) if texts else ()


def may_replace(program: str, words: Sequence[Word]) -> bool:
    """Whether the program is one of those that are known here, called so that it writes."""
    if program in _EDITING:
        return any(_edits(word.text) for word in words)
    if program == "ln":
        return any(word.text.startswith("--f") or (word.text[1:2] != "-" and "f" in word.text[1:]) for word in words)
    return program in _DELETING | _COPYING | _PACKING | {"sort"}


def _edits(text: str) -> bool:
    """Whether an option tells ``sed``, ``perl`` or ``ruby`` to write the file anew."""
    if text.startswith("--"):
        return text.startswith("--in-p")
    return text.startswith("-") and "i" in text


def written_out(words: Sequence[Word], folder: Path) -> list[str] | None:
    """The words, with file names in the place of patterns and of loops' variables; None when they are not known."""
    texts: list[str] = []
    for word in one_by_one(words):
        spend()
        if not word.is_known:
            return None
        if word.glob and not word.has_tilde:
            texts += list(islice(glob_names(word.glob, folder), _MOST_WORDS)) or [word.text]
        else:
            texts.append(str(Path.home()) + word.text[1:] if word.has_tilde else word.text)
        if len(texts) >= _MOST_WORDS:
            return None
    return texts


def _names(program: str, texts: Sequence[str], folder: Path) -> Iterator[str]:
    targets: list[str] = []
    operands: list[str] = []
    valued = _VALUED.get(program, "")
    words = iter(texts)
    is_over = False
    for text in words:
        if is_over or not text.startswith("-") or text == "-":
            operands.append(text)
        elif text == "--":
            is_over = True
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            if len(name) > len("--t") and _LONG_TARGET.startswith(name):
                targets.append(value if equals else next(words, ""))
        elif (letter := next((one for one in text[1:] if one in valued), "")) != "":
            value = text.partition(letter)[2] or next(words, "")
            targets += [value] if letter == "t" and program != "rsync" else []
    if program == "sort":
        yield from (word.text for word in sorted_into([Word(text) for text in texts]))
    elif program in _COPYING:
        for source in (operands if targets else operands[:-1]) if program == "mv" else ():
            yield source  # undo takes the new file away: the old one must come back
            yield from _inside(folder / source, source)
        yield from _copied(operands, targets, folder, is_exact=_is_exact(texts))
    else:
        yield from operands


def _is_exact(texts: Sequence[str]) -> bool:
    """Whether the last operand is the target itself even when it is a folder."""
    return any(text == "--no-target-directory" or (text[:1] == "-" != text[1:2] and "T" in text) for text in texts)


def _copied(operands: Sequence[str], targets: Sequence[str], folder: Path, *, is_exact: bool) -> Iterator[str]:
    """The file that is written, or what the folder that is written to holds under the names of what comes in."""
    sources = operands if targets else operands[:-1]
    target = targets[-1] if targets else next(iter(operands[-1:]), "")
    for source in sources:
        name = "." if source.endswith(("/.", "/..")) else Path(source).name
        goes_below = bool(targets) or (is_folder(folder / target) and not is_exact)
        places = [f"{target}/{name}"] if goes_below else [target]
        if source.endswith("/"):
            places.append(target)  # rsync, and cp on some systems, take what is in the folder
        for place in places:
            yield place
            yield from _inside(folder / source, place)


def _inside(source: Path, place: str) -> Iterator[str]:
    """The names that the files below a folder get in their new place."""
    if is_folder(source) and not source.is_symlink():
        for found, folders, files in os.walk(source):
            spend(len(folders) + len(files))
            for file in files:
                yield f"{place}/{Path(found, file).relative_to(source)}"


def sorted_into(words: Sequence[Word]) -> Iterator[Word]:
    """The words behind ``sort`` or ``shuf`` that name the file into which it writes."""
    for word, following in pairwise([*words, Word("")]):
        name, equals, value = word.text.partition("=")
        if len(name) > len("--") and "--output".startswith(name):
            yield Word(value, is_known=word.is_known) if equals else following
        elif word.text[:1] == "-" != word.text[1:2] and "o" in word.text:
            stuck = word.text.partition("o")[2]
            yield Word(stuck, is_known=word.is_known) if stuck else following
