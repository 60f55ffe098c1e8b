"""Judges what a command changes without naming it: files that git writes, all below a folder, what ``xargs`` gets.

The rules that limit changes hold for these as for files that are named: what surely hits a rule that denies is
denied, what may hit one is asked about each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from codeagent.core.approvals import Access, ConcernKind, Decision
from codeagent.core.errors import PathRefused
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.found_files import FINDERS, found_by
from codeagent.policy.git_writes import GitWrites, git_writes
from codeagent.policy.options import names
from codeagent.policy.path_words import PLAIN_PATH, candidates, exists, known_ends, matches, written
from codeagent.policy.possibly_written import possibly_written, surely_output
from codeagent.policy.replaced import may_replace, written_names, written_out
from codeagent.policy.rules import Rule, RuleSet
from codeagent.policy.shell_words import Word, one_by_one
from codeagent.policy.trees import files_below
from codeagent.policy.wrappers import ANYTHING, base_name, inside
from codeagent.workspace.files import is_folder
from codeagent.workspace.paths import PathSandbox, without_dots

_CHANGING = names("touch mkdir rmdir truncate tee chmod chown chgrp shred sponge dd")
_WHOLE = names("rm chmod chown chgrp shred")
_FED = names("xargs gxargs parallel")
_BY_LIST = names("patch unzip cpio")
_TAKES_OUT = frozenset({"--extract", "--get"})
_PATH = 10
_MOST = 1_000
_MOST_BELOW = 20_000
_SIGNS = frozenset("*?[\\")
_UNKNOWN = "it changes files that are only known when it runs, and the rule {} limits that."


def written_unsaid(
    words: Sequence[Word], folder: Path | None, sandbox: PathSandbox, rules: RuleSet
) -> Iterator[Finding]:
    """What stands against what the command ``words`` changes in ``folder``; None when that is not known."""
    if any("\0" in word.text for word in words):
        return
    limits = [rule for decision in (Decision.DENY, Decision.ASK) for rule in rules.rules(decision) if _limits(rule)]
    yield from _into(words, folder, limits, sandbox, rules)
    yield from _starts(possibly_written(words), folder or sandbox.root, sandbox)
    name = base_name(words[0].text) if words and words[0].is_fixed else ""
    if name == "git" and folder is not None:
        found = git_writes(words[1:], folder)
        if limits or found.is_named:
            yield from _by_git(found, limits, sandbox, rules)
    elif limits and _is_unknown(name, words, folder):
        yield ask_each_time(_UNKNOWN.format(limits[0]))
    elif limits and folder is not None and name in FINDERS:
        yield from _found(words, folder, sandbox, rules)
    elif limits and folder is not None and _changes(words):
        yield from _named(name, words, folder, limits, sandbox, rules)


def unknown_write(rules: RuleSet) -> Iterator[Finding]:
    """What stands against changing a file of which nobody knows which one it is."""
    for decision in (Decision.DENY, Decision.ASK):
        if rule := next(filter(_limits, rules.rules(decision)), None):
            yield ask_each_time(_UNKNOWN.format(rule))


def _into(
    words: Sequence[Word], folder: Path | None, limits: Sequence[Rule], sandbox: PathSandbox, rules: RuleSet
) -> Iterator[Finding]:
    """What rules say of the files into which a command writes what it would print."""
    found = surely_output(words) if limits else ()
    texts = written_out(found, folder) if folder else None
    if texts is None or folder is None:
        if found:
            yield ask_each_time(_UNKNOWN.format(limits[0]))
        return
    yield from _sure([folder / text for text in texts if text], sandbox, rules, with_starts=False)


def _starts(words: Sequence[Word], folder: Path, sandbox: PathSandbox) -> Iterator[Finding]:
    """What stands against files that are asked about each time when they are written, if these words name some."""
    for word in one_by_one(words):
        for text in _meant(word, folder):
            spend(_PATH)
            try:
                concern = sandbox.examine(text, Access.WRITE, base=folder).concern
            except PathRefused as error:
                yield ask_each_time(str(error))
            else:
                if concern and concern.kind is ConcernKind.SENSITIVE:
                    yield ask_each_time(concern.reason)


def _meant(word: Word, folder: Path) -> Iterator[str]:
    if not word.is_known:
        yield from known_ends(word)
    elif word.glob:
        yield from islice(matches(word, folder), _MOST)
    else:
        yield from candidates(word)
        known = str(Path(word.text).parent) if "/" in word.text else word.text  # else it may be code
        if not PLAIN_PATH.fullmatch(word.text) and exists(folder, known):
            yield written(word)


def _limits(rule: Rule) -> bool:
    return rule.is_for("edit")


def _changes(words: Sequence[Word]) -> bool:
    """Whether a command changes the files that are its operands."""
    if not words or not words[0].is_fixed:
        return True
    name = base_name(words[0].text)
    return name in _CHANGING or (name != "sort" and may_replace(name, words[1:]))


def _is_unknown(name: str, words: Sequence[Word], folder: Path | None) -> bool:
    if name in _FED:
        return any(one.is_hidden or one.words[:1] == (Word("git"),) or _changes(one.words) for one in inside(words))
    if name in FINDERS and any("{}" in word.text != "{}" for word in words):
        return True
    if name == "tar":
        letters = (word.text for at, word in enumerate(words[1:]) if word.text[:1] != "-" and not at)
        options = (word.text for word in words[1:] if word.text[:1] == "-" != word.text[1:2])
        return any("x" in text for text in (*letters, *options)) or any(word.text in _TAKES_OUT for word in words)
    if name in _BY_LIST:
        return True
    if not name or not _changes(words):
        return False
    return folder is None or written_out([word for word in words[1:] if word != ANYTHING], folder) is None


def _by_git(found: GitWrites, limits: Sequence[Rule], sandbox: PathSandbox, rules: RuleSet) -> Iterator[Finding]:
    yield from _sure(found.sure, sandbox, rules, with_starts=found.is_named)
    for rule in limits:
        below = next((top for top in found.below if _may_fit_below(rule, top, sandbox.root)), None)
        if below is not None:
            yield ask_each_time(f"it may change files below {sandbox.show(below)} that the rule {rule} limits.")
            return


def _named(
    name: str, words: Sequence[Word], folder: Path, limits: Sequence[Rule], sandbox: PathSandbox, rules: RuleSet
) -> Iterator[Finding]:
    """What a plain program moves, copies or deletes with a folder that it names."""
    found = [folder / text for text in written_names(words, folder)]
    if len(found) >= _MOST:
        yield ask_each_time(_UNKNOWN.format(limits[0]))
    yield from _sure(found, sandbox, rules, with_starts=False)
    for text in (written_out(words[1:], folder) or ()) if name in _WHOLE else ():
        if not text.startswith("-") and is_folder(folder / text):
            below = list(_below(folder / text))
            if len(below) >= _MOST_BELOW:
                yield ask_each_time(_UNKNOWN.format(limits[0]))
            yield from _sure(below, sandbox, rules, with_starts=False)


def _below(top: Path) -> Iterator[Path]:
    seen = 0
    for place, folders, files in os.walk(top):
        spend(len(folders) + len(files))
        seen += len(folders) + len(files)
        yield from (Path(place, name) for name in files)
        if seen >= _MOST_BELOW:
            return


def _sure(paths: Sequence[Path], sandbox: PathSandbox, rules: RuleSet, *, with_starts: bool) -> Iterator[Finding]:
    real = cache(Path.resolve)
    for path in dict.fromkeys(map(without_dots, paths)):
        spend(_PATH)
        both = (path, real(path.parent) / path.name)
        shown = sandbox.show(path)
        if rule := rules.find_path(Decision.DENY, Access.WRITE, both, sandbox.root):
            yield Finding(decision=Decision.DENY, because=f"it changes {shown}, which the rule {rule} denies.")
            return
        if rule := rules.find_path(Decision.ASK, Access.WRITE, both, sandbox.root):
            yield ask_each_time(f"it changes {shown}, which the rule {rule} asks about.")
        if with_starts and any(sandbox.is_sensitive(one, Access.WRITE) for one in both):
            try:
                concern = sandbox.examine(shown, Access.WRITE, base=sandbox.root).concern
            except PathRefused as error:
                yield ask_each_time(str(error))
            else:
                yield ask_each_time(concern.reason if concern else f"it changes {shown}.")


def _found(words: Sequence[Word], folder: Path, sandbox: PathSandbox, rules: RuleSet) -> Iterator[Finding]:
    """What ``find`` deletes by itself, or gives to a command that changes it."""
    if not any(word.text == "-delete" for word in words) and not any(
        one.is_hidden or _changes(one.words) for one in inside(words)
    ):
        return
    reading = found_by(words)
    for word in reading.paths or (Word("."),):
        for path, _ in files_below(folder / word.text, reading):
            if path is None:
                yield from unknown_write(rules)
                return
            for decision in (Decision.DENY, Decision.ASK):
                if rule := rules.find_path(decision, Access.WRITE, (path,), sandbox.root):
                    yield ask_each_time(f"it may change {sandbox.show(path)}, which the rule {rule} limits.")
                    return


def _may_fit_below(rule: Rule, top: Path, root: Path) -> bool:
    """Whether a rule on paths can concern a file below a folder: by the parts of its pattern before the first sign."""
    pattern = rule.pattern or "*"
    if pattern.startswith("~"):
        pattern = str(Path(pattern).expanduser())
    pattern = pattern.removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        return True
    start = Path("/") if pattern.startswith("/") else root
    for part in pattern.strip("/").split("/"):
        if not _SIGNS.isdisjoint(part):
            break
        start /= part
    mine, other = (Path(str(path).casefold()) for path in (start, without_dots(top)))
    return mine.is_relative_to(other) or other.is_relative_to(mine)
