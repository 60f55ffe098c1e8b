"""Commands that destroy work, each with a sentence that says what would be lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeagent.policy.at_stake import are_files
from codeagent.policy.destructive_git import abbreviates, git_loss, given_options, named
from codeagent.policy.shell_words import Word, one_by_one
from codeagent.policy.wrappers import base_name

_Check = Callable[[Sequence[Word], Path | None], str]

_MOST_LOOKED_AT = 50
"""Of so many operands it is looked at whether they are folders."""


def loss(words: Sequence[Word], folder: Path | None = None) -> str:
    """What would be lost when the command runs, as a sentence, or an empty string; ``folder`` is where, if known."""
    if not words or not words[0].is_fixed:
        return ""
    name = base_name(words[0].text).casefold()
    rest = words[1:]
    if name == "git":
        return git_loss(rest)
    if name.startswith("mkfs") or name in {"mke2fs", "wipefs", "fdisk", "parted"}:
        return "Everything on the file system it makes anew would be lost."
    check = _LOSSES.get(name)
    return check(rest, folder) if check else ""


def _files_apart(operands: Sequence[Word], folder: Path | None) -> tuple[list[Word], list[Word]]:
    """Those that surely name files only, and all others, which may be folders."""
    if folder is None or len(operands) > _MOST_LOOKED_AT:
        return [], list(operands)
    files = [word for word in operands if are_files(word, folder)]
    return files, [word for word in operands if word not in files]


def _rm(words: Sequence[Word], folder: Path | None) -> str:
    given, operands = given_options(words)
    if given & {"r", "R"} or abbreviates(given, "recursive"):
        files, others = _files_apart(operands, folder)
        if not files:
            return f"{named(others)} would be deleted with everything below."
        more = f", and {named(others)} with everything below" if others else ""
        return f"{named(files)} would be deleted{more}."
    broad = [
        word
        for word in one_by_one(operands)
        if not word.is_known or (word.glob and word.text.rpartition("/")[2] in {"*", "**"})
    ]
    return f"All that {named(broad)} stands for would be deleted." if broad else ""


def _dd(words: Sequence[Word], _folder: Path | None) -> str:
    for word in words:
        if word.text.startswith("of="):
            return f"{word.text[3:]} would be overwritten."
    return "What it writes to would be overwritten." if any(not word.is_known for word in words) else ""


def _changes_below(what: str) -> _Check:
    def check(words: Sequence[Word], folder: Path | None) -> str:
        given, operands = given_options(words)
        if "R" in given or abbreviates(given, "recursive"):
            files, others = _files_apart(operands[1:], folder)
            parts = [named(files)] if files else []
            parts += [f"everything below {named(others)}"] if others or not files else []
            return f"The {what} of {' and of '.join(parts)} would be changed."
        return ""

    return check


def _truncate(words: Sequence[Word], _folder: Path | None) -> str:
    return f"The contents of {named(given_options(words)[1])} would be cut off."


def _shred(words: Sequence[Word], _folder: Path | None) -> str:
    return f"{named(given_options(words)[1])} would be overwritten for good."


def _find(words: Sequence[Word], _folder: Path | None) -> str:
    return "Every file that is found would be deleted." if any(word.text == "-delete" for word in words) else ""


def _rsync(words: Sequence[Word], _folder: Path | None) -> str:
    given, operands = given_options(words)
    if any(option.startswith("del") or option == "remove-source-files" for option in given):
        return f"Files missing on the other side of {named(operands)} would be deleted."
    return ""


_LOSSES: Mapping[str, _Check] = {
    "rm": _rm,
    "dd": _dd,
    "chmod": _changes_below("permissions"),
    "chown": _changes_below("owner"),
    "chgrp": _changes_below("group"),
    "truncate": _truncate,
    "shred": _shred,
    "srm": _shred,
    "find": _find,
    "rsync": _rsync,
}
