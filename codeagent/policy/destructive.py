"""Commands that destroy work, each with a sentence that says what would be lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name

_GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_SHOWN = 3

_Check = Callable[[Sequence[Word]], str]
_GitCheck = Callable[[set[str], Sequence[Word], Sequence[Word]], str]


def loss(words: Sequence[Word]) -> str:
    """What would be lost when the command runs, as a sentence, or an empty string."""
    if not words or not words[0].is_fixed:
        return ""
    name = base_name(words[0].text).casefold()
    rest = words[1:]
    if name == "git":
        return _git_loss(rest)
    if name.startswith("mkfs") or name in {"mke2fs", "wipefs", "fdisk", "parted"}:
        return "Everything on the file system it makes anew would be lost."
    check = _LOSSES.get(name)
    return check(rest) if check else ""


def _options(words: Sequence[Word]) -> tuple[set[str], list[Word]]:
    """Option letters and long names on one side, operands on the other."""
    letters: set[str] = set()
    operands: list[Word] = []
    is_over = False
    for word in words:
        if is_over or not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        elif word.text == "--":
            is_over = True
        elif word.text.startswith("--"):
            letters.add(word.text[2:].partition("=")[0])
        else:
            letters.update(word.text[1:])
    return letters, operands


def _abbreviates(given: set[str], name: str) -> bool:
    """Whether a long option was given, also cut short as GNU programs accept it."""
    return any(len(option) > 1 and name.startswith(option) for option in given)


def _named(operands: Sequence[Word]) -> str:
    shown = ", ".join(word.text for word in operands[:_SHOWN])
    more = len(operands) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "what it is given"


def _rm(words: Sequence[Word]) -> str:
    given, operands = _options(words)
    if given & {"r", "R"} or _abbreviates(given, "recursive"):
        return f"{_named(operands)} would be deleted with everything below."
    broad = [
        word for word in operands if not word.is_known or (word.glob and word.text.rpartition("/")[2] in {"*", "**"})
    ]
    return f"All that {_named(broad)} stands for would be deleted." if broad else ""


def _dd(words: Sequence[Word]) -> str:
    for word in words:
        if word.text.startswith("of="):
            return f"{word.text[3:]} would be overwritten."
    return "What it writes to would be overwritten." if any(not word.is_known for word in words) else ""


def _changes_below(what: str) -> _Check:
    def check(words: Sequence[Word]) -> str:
        given, operands = _options(words)
        if "R" in given or _abbreviates(given, "recursive"):
            return f"The {what} of everything below {_named(operands[1:])} would be changed."
        return ""

    return check


def _truncate(words: Sequence[Word]) -> str:
    return f"The contents of {_named(_options(words)[1])} would be cut off."


def _shred(words: Sequence[Word]) -> str:
    return f"{_named(_options(words)[1])} would be overwritten for good."


def _find(words: Sequence[Word]) -> str:
    return "Every file that is found would be deleted." if any(word.text == "-delete" for word in words) else ""


def _rsync(words: Sequence[Word]) -> str:
    given, operands = _options(words)
    if any(option.startswith("del") or option == "remove-source-files" for option in given):
        return f"Files missing on the other side of {_named(operands)} would be deleted."
    return ""


def _git_loss(words: Sequence[Word]) -> str:
    """What a git command would throw away."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _GIT_VALUED else 1
    if at == len(words):
        return ""
    command, rest = words[at].text, words[at + 1 :]
    given, operands = _options(rest)
    check = _GIT_LOSSES.get(command)
    return check(given, operands, rest) if check else ""


def _reset(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if _abbreviates(given, "hard") or _abbreviates(given, "merge") or _abbreviates(given, "keep"):
        return "Uncommitted changes would be lost."
    return "Uncommitted changes may be lost." if any(not word.is_known for word in operands) else ""


def _clean(given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if "n" in given or "dry-run" in given:
        return ""
    return "Files that git does not know would be deleted."


def _checkout(given: set[str], operands: Sequence[Word], rest: Sequence[Word]) -> str:
    if given & {"f", "B"} or _abbreviates(given, "force"):
        return "Uncommitted changes would be lost."
    if "b" in given or "orphan" in given:
        return ""
    is_paths = any(word.text == "--" for word in rest) or len(operands) > 1
    if is_paths or any(
        word.text in {".", ":/"} or ("/" in word.text.rstrip("/") and "." in word.text) for word in operands
    ):
        return f"Uncommitted changes in {_named(operands)} would be lost."
    return ""


def _restore(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"S"} | {name for name in given if name == "staged"} and not (given & {"W"} or "worktree" in given):
        return ""
    return f"Uncommitted changes in {_named(operands)} would be lost."


def _switch(given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"f", "C"} or _abbreviates(given, "discard-changes") or _abbreviates(given, "force-create"):
        return "Uncommitted changes or a branch's commits would be lost."
    return ""


def _push(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    forced = given & {"f", "d"} or any(
        len(option) > 1 and (option.startswith(("force", "mirror", "delete", "prune")) or "force".startswith(option))
        for option in given
    )
    if forced or any(word.text.startswith(("+", ":")) for word in operands):
        return "Commits on the remote would be lost."
    return ""


def _branch(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"D", "M", "C", "f"} or ("d" in given and "f" in given):
        return f"Commits that only {_named(operands)} holds could be lost."
    return ""


def _stash(_given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if operands and operands[0].text in {"drop", "clear"}:
        return "Stashed changes would be lost."
    return ""


def _always(sentence: str) -> _GitCheck:
    def check(_given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
        return sentence

    return check


def _with(word: str, sentence: str) -> _GitCheck:
    def check(_given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
        return sentence if operands and operands[0].text == word else ""

    return check


def _git_rm(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"r", "f"} and "cached" not in given:
        return f"{_named(operands)} would be deleted."
    return ""


def _given(options: set[str], sentence: str) -> _GitCheck:
    def check(given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
        return sentence if given & options else ""

    return check


def _submodule(_given: set[str], operands: Sequence[Word], rest: Sequence[Word]) -> str:
    forced = any(word.text in {"-f", "--force"} for word in rest)
    if forced and operands and operands[0].text in {"deinit", "update"}:
        return "Uncommitted changes in the submodule would be lost."
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
_GIT_LOSSES: Mapping[str, _GitCheck] = {
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _restore,
    "switch": _switch,
    "push": _push,
    "branch": _branch,
    "stash": _stash,
    "rm": _git_rm,
    "reflog": _with("expire", "The way back to older commits would be lost."),
    "worktree": _with("remove", "Uncommitted changes in that work tree would be lost."),
    "read-tree": _given({"reset"}, "What is staged would be lost, and uncommitted changes with it."),
    "checkout-index": _given({"f", "force"}, "Uncommitted changes would be lost."),
    "tag": _given({"d", "delete"}, "Commits that only this tag holds could be lost."),
    "submodule": _submodule,
    "update-ref": _always("Commits could be lost."),
    "filter-branch": _always("The history would be rewritten."),
    "filter-repo": _always("The history would be rewritten."),
    "gc": _always("Commits that no branch holds could be lost."),
    "prune": _always("Commits that no branch holds would be lost."),
}
