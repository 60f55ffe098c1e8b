"""Judges git commands that print what files hold without naming them: what git knows here, and what rules say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codeagent.core.approvals import Access, Decision
from codeagent.policy.effort import spend
from codeagent.policy.finding import Finding, ask_each_time
from codeagent.policy.git_names import is_pattern
from codeagent.policy.git_tracked import tracked_secret
from codeagent.policy.options import split_git
from codeagent.policy.reading import Reading
from codeagent.policy.rules import RuleSet
from codeagent.policy.shell_words import Word
from codeagent.policy.trees import found_below
from codeagent.workspace.git_index import tracked
from codeagent.workspace.git_places import repository_of
from codeagent.workspace.git_repository import git_inside
from codeagent.workspace.paths import PathSandbox

_PRINTING = frozenset({"grep", "archive", "format-patch", "fast-export", "cat-file"})
_BEYOND_INDEX = ("--no-i", "--unt", "--rec")
_MOST_NAMES = 50_000
_SAYS = {Decision.DENY: "denies", Decision.ASK: "asks about"}


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
