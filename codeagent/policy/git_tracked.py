"""Finds files with secrets, or rules of their own, among those whose contents a git command would show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from codeagent.core.approvals import Access, Decision
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.git_names import are_commits, shown_names
from codeagent.policy.reading import Reading
from codeagent.policy.rules import RuleSet
from codeagent.workspace.git_index import tracked
from codeagent.workspace.git_places import is_there, repository_of
from codeagent.workspace.git_repository import git_inside
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.sensitive import often_holds_key

_PATHS_IN_ONE = 4


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
