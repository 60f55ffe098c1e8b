"""Git commands that destroy work or rewrite history, each with a sentence that says what would be lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeagent.policy.options import names, split_git
from codeagent.policy.shell_words import Word
from codeagent.workspace.git_places import is_there

_SHOWN = 3

# What names a commit and hardly ever a file.
_COMMIT = re.compile(r"[~^]|@\{|^(?:[0-9a-f]{7,40}|ORIG_HEAD|FETCH_HEAD|MERGE_HEAD)$")

_Check = Callable[[set[str], Sequence[Word], Sequence[Word]], str]


def given_options(words: Sequence[Word]) -> tuple[set[str], list[Word]]:
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


def abbreviates(given: set[str], name: str) -> bool:
    """Whether a long option was given, also cut short as GNU programs accept it."""
    return any(len(option) > 1 and name.startswith(option) for option in given)


def named(operands: Sequence[Word]) -> str:
    """The first operands, and how many more there are."""
    shown = ", ".join(word.text for word in operands[:_SHOWN])
    more = len(operands) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "what it is given"


def git_loss(words: Sequence[Word]) -> str:
    """What a git command would throw away."""
    _, words = split_git(words)
    if not words:
        return ""
    if not words[0].is_fixed:
        return "What git does is only known when it runs: work could be lost."
    rest = words[1:]
    given, operands = given_options(rest)
    check = _LOSSES.get(words[0].text)
    return check(given, operands, rest) if check else ""


def git_loss_here(words: Sequence[Word], folder: Path) -> str:
    """The same of a whole command in ``folder``, where it depends on what is there whether a word is a file or not."""
    if len(words) != 3 or words[0].text != "git" or not words[2].is_known or words[2].text.startswith("-"):  # noqa: PLR2004 - git, its command, one word
        return ""
    command, operand = words[1].text, words[2]
    is_file = bool(operand.glob) or is_there(folder / operand.text)
    if command == "checkout" and is_file:
        return f"Uncommitted changes in {operand.text} would be lost."
    if command == "reset" and not is_file and operand.text not in {"HEAD", "@"}:
        return "The branch would be moved: commits that only it holds could be lost."
    return ""


def _reset(given: set[str], operands: Sequence[Word], rest: Sequence[Word]) -> str:
    if abbreviates(given, "hard") or abbreviates(given, "merge") or abbreviates(given, "keep"):
        return "Uncommitted changes would be lost."
    if any(not word.is_known for word in operands):
        return "Uncommitted changes may be lost."
    moves = operands[:1] if abbreviates(given, "soft") or abbreviates(given, "mixed") else ()
    before = operands if all(word.text != "--" for word in rest) else ()
    if any(word.text not in {"HEAD", "@"} for word in moves) or any(_COMMIT.search(word.text) for word in before):
        return "The branch would be moved: commits that only it holds could be lost."
    return ""


def _clean(given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if "n" in given or "dry-run" in given:
        return ""
    return "Files that git does not know would be deleted."


def _checkout(given: set[str], operands: Sequence[Word], rest: Sequence[Word]) -> str:
    if given & {"f", "B"} or abbreviates(given, "force"):
        return "Uncommitted changes would be lost."
    if "b" in given or "orphan" in given:
        return ""
    is_paths = any(word.text == "--" for word in rest) or len(operands) > 1
    if is_paths or any(
        word.text in {".", ":/"} or ("/" in word.text.rstrip("/") and "." in word.text) for word in operands
    ):
        return f"Uncommitted changes in {named(operands)} would be lost."
    return ""


def _restore(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"S"} | {name for name in given if name == "staged"} and not (given & {"W"} or "worktree" in given):
        return ""
    return f"Uncommitted changes in {named(operands)} would be lost."


def _push(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    forced = given & {"f", "d"} or any(
        len(option) > 1 and (option.startswith(("force", "mirror", "delete", "prune")) or "force".startswith(option))
        for option in given
    )
    if forced or any(word.text.startswith(("+", ":")) for word in operands):
        return "Commits on the remote would be lost."
    return ""


def _branch(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"D", "M", "C", "f"} or abbreviates(given, "force"):
        return f"Commits that only {named(operands)} holds could be lost."
    return ""


def _always(sentence: str) -> _Check:
    def check(_given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
        return sentence

    return check


def _with(verbs: str, sentence: str) -> _Check:
    def check(_given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
        return sentence if operands and operands[0].text in names(verbs) else ""

    return check


def _git_rm(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"r", "f"} and "cached" not in given:
        return f"{named(operands)} would be deleted."
    return ""


def _given(options: str, sentence: str) -> _Check:
    """Options are letters and long names, the latter also cut short."""

    def check(given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
        known = names(options)
        return sentence if given & known or any(abbreviates(given, name) for name in known if len(name) > 1) else ""

    return check


def _rebase(given: set[str], _operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    harmless = {"continue", "show-current-patch", "edit-todo"}
    return "" if given and given <= harmless else "Commits would be rewritten, and the branch moved to the new ones."


def _symbolic_ref(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"d", "m"} or abbreviates(given, "delete") or len(operands) > 1:
        return "What the repository stands on would change: commits could be lost."
    return ""


def _fetch(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    if given & {"f", "u", "r"} or any(abbreviates(given, name) for name in ("force", "update-head-ok", "rebase")):
        return "Commits of your own could be rewritten or lost."
    if any(word.text.startswith("+") for word in operands):
        return "Branches would be replaced, whatever they hold."
    return ""


def _worktree(given: set[str], operands: Sequence[Word], _rest: Sequence[Word]) -> str:
    verb = operands[0].text if operands else ""
    if verb == "remove":
        return "Uncommitted changes in that work tree would be lost."
    return "Commits that only the branch holds could be lost." if verb == "add" and "B" in given else ""


def _submodule(_given: set[str], operands: Sequence[Word], rest: Sequence[Word]) -> str:
    forced = any(word.text in {"-f", "--force"} for word in rest)
    if forced and operands and operands[0].text in {"deinit", "update"}:
        return "Uncommitted changes in the submodule would be lost."
    return ""


_HISTORY = "The history would be rewritten."
_LOSSES: Mapping[str, _Check] = {
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _restore,
    "switch": _given("f C discard-changes force-create", "Uncommitted changes or a branch's commits would be lost."),
    "push": _push,
    "branch": _branch,
    "stash": _with("drop clear", "Stashed changes would be lost."),
    "rm": _git_rm,
    "commit": _given("amend", "The last commit would be replaced by another one."),
    "rebase": _rebase,
    "pull": _fetch,
    "fetch": _fetch,
    **dict.fromkeys(
        ("merge", "cherry-pick", "revert", "am"),
        _given("abort quit skip", "What was changed since it began would be lost."),
    ),
    "symbolic-ref": _symbolic_ref,
    "replace": _always("Commits would be shown as others."),
    "reflog": _with("expire delete drop", "The way back to older commits would be lost."),
    "notes": _with("remove prune", "Notes on commits would be lost."),
    "bisect": _with("reset", "What was found so far would be forgotten."),
    "remote": _with("rm remove prune", "What is known of the remote's branches would be lost."),
    "worktree": _worktree,
    "read-tree": _given("reset", "What is staged would be lost, and uncommitted changes with it."),
    "checkout-index": _given("f force", "Uncommitted changes would be lost."),
    "mv": _given("f force", "A file of the new name would be replaced."),
    "tag": _given("d delete f force", "Commits that only this tag holds could be lost."),
    "submodule": _submodule,
    "update-ref": _always("Commits could be lost."),
    "filter-branch": _always(_HISTORY),
    "filter-repo": _always(_HISTORY),
    "fast-import": _always(_HISTORY),
    "gc": _always("Commits that no branch holds could be lost."),
    "repack": _given("a d A", "Commits that no branch holds could be lost."),
    "maintenance": _with("run", "Commits that no branch holds could be lost."),
    "prune": _always("Commits that no branch holds would be lost."),
    "lfs": _with("prune migrate", "Large files that are only kept here could be lost."),
}
