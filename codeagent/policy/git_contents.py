"""Finds files with secrets, or rules of their own, among those whose contents a git command would show.

Also of commands that print what files hold without naming them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from codeagent.core.approvals import Access, Decision
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.git_names import are_commits, is_pattern, shown_names
from codeagent.policy.options import split_git
from codeagent.policy.reading import Reading
from codeagent.policy.rules import RuleSet
from codeagent.policy.shell_words import Word
from codeagent.policy.trees import found_below
from codeagent.workspace.git_index import tracked
from codeagent.workspace.git_places import is_there, repository_of
from codeagent.workspace.git_repository import git_inside
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.sensitive import often_holds_key

_PRINTING = frozenset({"grep", "archive", "format-patch", "fast-export", "cat-file"})
_BEYOND_INDEX = ("--no-i", "--unt", "--rec")
_MOST_NAMES = 50_000
_PATHS_IN_ONE = 4
_SAYS = {Decision.DENY: "denies", Decision.ASK: "asks about"}


def tracked_secret(folder: Path, limits: Sequence[Path], sandbox: PathSandbox, *, counts_past: bool = False) -> str:
    """A file with secrets that the repository around ``folder`` knows, below ``limits`` if there are any.

    ``counts_past``: it is not about what the files hold now, so that the name is enough.
    """
    for place in (folder, *folder.parents):
        if not is_there(place / ".git"):
            continue
        try:
            index = git_inside(place / ".git") / "index"
            status = index.stat()
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
            found = _secrets(index, stamp, place, sandbox, sandbox.roots, counts_past=counts_past)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return f"a file of {sandbox.show(place)}"
        spend(len(found) * max(1, len(limits)) // _PATHS_IN_ONE)
        near = (path for path in found if not limits or any(path.is_relative_to(limit) for limit in limits))
        return next(map(sandbox.show, near), "")
    return ""


def shown_by_git(reading: Reading, folder: Path, sandbox: PathSandbox, rules: RuleSet) -> Iterator[Finding]:
    """What stands against what git knows by name now, and what is in the commits and changes that it would show."""
    is_known = all(word.is_known for word in reading.git_words)
    named = [word.text for word in reading.revisions]
    if reading.lists_commits and is_known and are_commits(folder, named):
        return
    limits = [folder / word.text for word in reading.limits if word.is_fixed]
    if secret := tracked_secret(folder, limits if len(limits) == len(reading.limits) else [], sandbox):
        yield ask_each_time(f"it may show {secret}, which git knows and which may hold secrets.")
    if is_known and (
        found := _shown_contents(folder, [word.text for word in reading.git_words], named, sandbox, rules)
    ):
        yield found


def _shown_contents(
    folder: Path, words: Sequence[str], named: Sequence[str], sandbox: PathSandbox, rules: RuleSet
) -> Finding | None:
    """What stands against a git command that shows commits or changes, told by the files that are in them.

    ``words`` are the command and what follows it, ``named`` the commits or paths among them. Where the files cannot
    be told, it is asked about.
    """
    place = repository_of(folder)
    if place is None:
        return None
    names = shown_names(folder, words, named)
    if names is None:
        return ask_each_time("which files it would show cannot be told beforehand.")
    is_present = words[0] in {"grep", "blame"} and "--cached" not in words and all(is_there(folder / w) for w in named)
    asked: Finding | None = None
    for name in names:
        path = place / name
        if rule := rules.find_path(Decision.DENY, Access.READ, (path,), sandbox.root):
            because = f"it would show {sandbox.show(path)}, which the rule {rule} denies."
            return Finding(decision=Decision.DENY, because=because)
        if asked is None and (sandbox.is_sensitive(path) or (not is_present and often_holds_key(path))):
            asked = ask_each_time(f"it would show what was in {sandbox.show(path)}, which may hold secrets.")
        if asked is None and (rule := rules.find_path(Decision.ASK, Access.READ, (path,), sandbox.root)):
            asked = ask_each_time(f"it would show {sandbox.show(path)}, which the rule {rule} asks about.")
    return asked


@lru_cache(maxsize=8)
def _secrets(
    index: Path,
    stamp: tuple[int, int, int],
    place: Path,
    sandbox: PathSandbox,
    roots: tuple[Path, ...],
    *,
    counts_past: bool,
) -> tuple[Path, ...]:
    """Kept until the index (``stamp``) or the folders of the workspace (``roots``) change."""
    del stamp, roots
    paths = (place / name for name in tracked(index.parent))
    return tuple(path for path in paths if sandbox.is_sensitive(path) or (counts_past and often_holds_key(path)))


def contents_shown(words: Sequence[Word], folder: Path, sandbox: PathSandbox, rules: RuleSet) -> Iterator[Finding]:
    """What stands against the git command ``words`` (behind ``git``) in ``folder``, as far as it prints contents."""
    own, words = split_git(words)
    for option, value in own:
        folder = folder / value if option == "-C" else folder
    command, rest = "".join(word.text for word in words[:1]), words[1:]
    texts = [word.text for word in rest]
    if command not in _PRINTING or (command == "cat-file" and not any(text.startswith("--batch") for text in texts)):
        return
    named = rest[texts.index("--") + 1 :] if "--" in texts else ()
    is_narrow = command == "grep" and all(
        word.is_fixed and word.text[:1] != ":" and not is_pattern(word.text) for word in named
    )
    limits = [folder / word.text for word in named] if is_narrow else []
    if secret := tracked_secret(folder, limits, sandbox, counts_past=command != "grep"):
        yield ask_each_time(f"it may show {secret}, which git knows and which may hold secrets.")
    if rules.concerns_reading:
        yield from _ruled(folder, limits, sandbox, rules)
    if any(text.startswith(_BEYOND_INDEX) for text in texts):
        for top in limits or [folder]:
            if top.is_dir() and (found := found_below(top, Reading(is_recursive=True), sandbox, rules)):
                yield found


def _ruled(folder: Path, limits: Sequence[Path], sandbox: PathSandbox, rules: RuleSet) -> Iterator[Finding]:
    """The rules on reading that concern a file which the repository around ``folder`` knows, a denying one first."""
    place = repository_of(folder)
    if place is None:
        return
    try:
        paths = [place / name for name in tracked(git_inside(place / ".git"))]
    except (OSError, ValueError):
        yield ask_each_time("which files it would show cannot be told beforehand.")
        return
    spend(len(paths) * max(1, len(limits)))
    paths = [path for path in paths if not limits or any(path.is_relative_to(limit) for limit in limits)]
    if len(paths) > _MOST_NAMES:
        yield ask_each_time("git knows more files here than are looked at.")
        return
    for decision in (Decision.DENY, Decision.ASK):
        for path in paths:
            if rule := rules.find_path(decision, Access.READ, (path,), sandbox.root):
                because = f"it may show {sandbox.show(path)}, which the rule {rule} {_SAYS[decision]}."
                yield (
                    ask_each_time(because) if decision is Decision.ASK else Finding(decision=decision, because=because)
                )
                return
