"""Looks through a folder that a command reads as a whole: for files with secrets or rules of their own, and for links
that lead outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.core.approvals import Access, Decision
from codeagent.core.errors import PathRefused
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.found_files import FINDERS, given_to_commands
from codeagent.policy.ignored import brought_back, is_surely_ignored
from codeagent.policy.name_patterns import may_fit, of_names
from codeagent.policy.reading import Reading
from codeagent.policy.rules import RuleSet
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.sensitive import git_secrets

_MOST_ENTRIES = 20_000
_PATTERNS_IN_ONE = 4
_TARS = frozenset({"tar", "gtar", "bsdtar"})
_COPIES = frozenset({"cp", "gcp", "scp"})
_TARGET_LAST = _COPIES | {"rsync", "ditto"}
_EVERYTHING = frozenset({"7z", "7za", "7zr", "rar", "ag", "ack", "ugrep", "rgrep"})
"""Without a path these take the folder they run in; with one it is looked through as well."""
_TAKING = _TARS | _TARGET_LAST | _EVERYTHING | {"zip", "pax", "cpio"}
_DEEP = frozenset({"--recursive", "--archive"})
_LISTS = {**dict.fromkeys(_TARS, frozenset("TI")), "zip": frozenset("@"), "cpio": frozenset("op")}
"""Options by which they read the names of files from elsewhere."""


def whole_reading(words: Sequence[Word]) -> Reading | None:
    """What a program that takes whole folders along reads, such as ``tar`` and ``find -exec``; None for every other."""
    name = base_name(words[0].text) if words and words[0].is_fixed else ""
    if name in FINDERS:
        return given_to_commands(words)
    if name not in _TAKING:
        return None
    letters = {letter for word in words[1:] if word.text[:1] == "-" != word.text[1:2] for letter in word.text[1:]}
    longs = {word.text.partition("=")[0] for word in words[1:] if word.text.startswith("--")}
    if name in _TARS:
        letters |= set(words[1].text if len(words) > 1 and words[1].text.isalpha() else "")
    if (name in _TARS and letters & {"x", "t"}) or (name in _COPIES and not (letters & set("rRa") or longs & _DEEP)):
        return None
    paths = tuple(word for word in words[1:] if not word.text.startswith("-"))
    if name in _TARGET_LAST and len(paths) > 1:
        paths = paths[:-1]
    if name in _EVERYTHING:
        paths = (*paths, Word("."))
    if letters & _LISTS.get(name, frozenset()) or longs & {"--files-from", "--include-from"}:
        paths = (*paths, Word("what stands in its list", is_known=False))
    follows = (name == "zip" and "y" not in letters) or bool(letters & set("Lh")) or "--dereference" in longs
    return Reading(paths=paths, is_recursive=True, follows_links=follows)


def found_below(top: Path, reading: Reading, sandbox: PathSandbox, rules: RuleSet) -> Finding | None:
    """What in the folder ``top`` stands against the reading; a rule that denies comes first."""
    shown = sandbox.show(top)
    asked: Finding | None = None
    against = ""
    is_secret = sandbox.search_filter()
    for path, follows in files_below(top, reading):
        if path is None:
            return asked or ask_each_time(f"it reads all of {shown}, which holds more files than are looked at.")
        rule = None if reading.names_only else rules.find_path(Decision.DENY, Access.READ, (path,), sandbox.root)
        if rule and not _is_left_out(path, top, reading):
            because = f"it reads all of {shown}, and the rule {rule} denies {sandbox.show(path)} in it."
            return Finding(decision=Decision.DENY, because=because)
        if asked is None and not reading.names_only and is_secret(path):
            against = f"where {sandbox.show(path)} may hold secrets."
        elif asked is None:
            against = _against(path, reading, sandbox, rules, follows=follows)
        if asked is None and against:
            asked = None if _is_left_out(path, top, reading) else ask_each_time(f"it reads all of {shown}, {against}")
        if asked is not None and not rules.limits_reading:
            return asked
    return asked


def files_below(top: Path, reading: Reading) -> Iterator[tuple[Path | None, bool]]:
    """Each file that is read, and whether that means following a link; None when there are too many."""
    seen = 0
    back = [of_names(line) for folder in top.parents for line in brought_back(folder)] if reading.skips_hidden else []
    waiting = [str(top)]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        spend(len(entries))
        seen += len(entries)
        if seen > _MOST_ENTRIES:
            yield None, False
            return
        if reading.skips_hidden:
            back += map(of_names, brought_back(Path(folder)))
        for entry in entries:
            if reading.skips_hidden and _is_hidden(entry.name, back):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting += () if reading.is_shallow or entry.name == ".git" else (entry.path,)
                yield from _git_secrets(entry, top, reading)
                continue
            follows = reading.follows_links and entry.is_symlink()
            if follows or not reading.only or _fits(entry.path[len(str(top)) :].lstrip("/"), reading.only):
                yield Path(entry.path), follows


def _git_secrets(folder: os.DirEntry[str], top: Path, reading: Reading) -> Iterator[tuple[Path, bool]]:
    """Of a repository's own files only those that may hold keys, where all is read."""
    if folder.name == ".git" and not reading.is_shallow:
        found = filter(Path.exists, git_secrets(Path(folder.path)))
        yield from (
            (path, False) for path in found if not reading.only or _fits(str(path.relative_to(top)), reading.only)
        )


def _is_hidden(name: str, back: list[str]) -> bool:
    if not name.startswith("."):
        return False
    spend(len(back) // _PATTERNS_IN_ONE)
    return not _fits(name, back)


def _is_left_out(path: Path, top: Path, reading: Reading) -> bool:
    return reading.skips_hidden and is_surely_ignored(path, top)


def _against(path: Path, reading: Reading, sandbox: PathSandbox, rules: RuleSet, *, follows: bool) -> str:
    """Why to ask about a file, as the end of a sentence; empty when nothing stands against it."""
    if not reading.names_only:
        rule = rules.find_path(Decision.ASK, Access.READ, (path,), sandbox.root)
        if rule:
            return f"and the rule {rule} asks about {sandbox.show(path)} in it."
    if follows and not _is_inside(path, sandbox, names_only=reading.names_only):
        return f"where the link {sandbox.show(path)} leads outside."
    return ""


def _fits(path: str, patterns: list[str] | tuple[str, ...]) -> bool:
    return any(may_fit(path, pattern) for pattern in patterns)


def _is_inside(path: Path, sandbox: PathSandbox, *, names_only: bool) -> bool:
    try:
        touch = sandbox.examine(str(path), Access.READ)
    except PathRefused:
        return names_only and path.is_symlink() and not path.exists()
    return touch.concern is None
