"""The git commands that change nothing, with the options that keep them so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codeagent.policy.options import Allowed, Given, allow, names, read_options
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word

_NEUTRAL = names("--no-pager -P --no-optional-locks --literal-pathspecs --no-advice")
_EXCLUDING = (":!", ":^", ":(exclude)")

_A_COMMIT = re.compile(r"(?:HEAD|@)(?:[~^]\d*)*")
_SUMMARIES = names(
    "s no-patch raw stat numstat shortstat dirstat summary compact-summary name-only name-status quiet q"
)
_PATCHES = names(
    "p u U W L c m patch patch-with-raw patch-with-stat unified word-diff color-words word-diff-regex function-context"
    " binary cc combined-all-paths remerge-diff diff-merges submodule check inter-hunk-context line-prefix"
)
_MANY = names("all branches tags remotes glob bisect")
_MAY_HOLD_KEYS = re.compile(r"extraheader|token|password|secret|credential|cookie|proxy|\.key", re.IGNORECASE)
_ADDRESS = re.compile(r"url|insteadof|remote$", re.IGNORECASE)
_WITHOUT_PATHS = names("branch tag describe remote stash reflog shortlog config for-each-ref var worktree")
_LISTING = names("l list contains no-contains merged no-merged")
_CONFIG_PLACES = names("local global system worktree")
_VERB_FIRST = {"stash": names("list show"), "worktree": names("list")}
"""Where an option stands in the place of these, git takes what follows for something else: ``git stash -m list``."""
_VERBS = {"show": 1, "get-url": 2}
"""How many operands ``git remote`` has when it only shows what is written down here."""
_SIGNATURE = re.compile(r"%G|%\(signature", re.IGNORECASE)
"""Formats in which git checks signatures, which runs the program that the repository configures for that."""

_DIFF_LONGS = (
    " patch no-patch raw patch-with-raw patch-with-stat stat numstat shortstat dirstat summary compact-summary"
    " name-only name-status color no-color color-moved word-diff color-words minimal patience histogram"
    " indent-heuristic no-indent-heuristic full-index binary abbrev check exit-code quiet cached staged"
    " merge-base relative no-relative no-renames rename-empty find-renames find-copies find-copies-harder"
    " break-rewrites irreversible-delete text ignore-space-at-eol ignore-space-change ignore-all-space"
    " ignore-blank-lines ignore-cr-at-eol function-context no-ext-diff no-textconv no-prefix default-prefix"
    " pickaxe-all pickaxe-regex ita-invisible-in-index ignore-submodules submodule combined-all-paths cc"
    " remerge-diff no-diff-merges first-parent"
)
_DIFF_VALUED = (
    "unified diff-filter diff-algorithm anchored inter-hunk-context word-diff-regex src-prefix dst-prefix line-prefix"
    " stat-width stat-count stat-name-width color-moved-ws diff-merges skip-to rotate-to"
)
_LOG_LONGS = (
    " oneline graph all decorate no-decorate abbrev-commit no-abbrev-commit no-abbrev merges no-merges reverse"
    " follow date-order author-date-order topo-order cherry cherry-pick cherry-mark left-right left-only"
    " right-only branches tags remotes simplify-by-decoration full-history dense sparse ancestry-path boundary"
    " no-walk walk-reflogs children parents source mailmap use-mailmap log-size clear-decorations"
    " relative-date show-pulls no-notes notes regexp-ignore-case extended-regexp fixed-strings perl-regexp"
    " invert-grep all-match bisect no-show-signature no-expand-tabs date format pretty"
)
_LOG_VALUED = (
    " max-count skip since after until before author committer grep grep-reflog min-parents max-parents glob exclude"
    " decorate-refs decorate-refs-exclude encoding"
)
_DIFF = allow("pusaRzwbWtqmcMCBD", "USG", _DIFF_LONGS, _DIFF_VALUED, counts=True)
_LOG = allow("pusaRzwbWtqmcMCBDiEFPg", "USGnL", _DIFF_LONGS + _LOG_LONGS, _DIFF_VALUED + _LOG_VALUED, counts=True)
_COMMANDS: Mapping[str, Allowed] = {
    "status": allow(
        "sbvzunolarm",  # the last ones spell -uno, -uall, -unormal
        longs="short branch show-stash porcelain long verbose untracked-files ignored column no-column ahead-behind"
        " no-ahead-behind renames no-renames find-renames ignore-submodules",
    ),
    "log": _LOG,
    "show": _LOG,
    "diff": _DIFF,
    "blame": allow(
        "blstfnpewcCM",
        "L",
        "root show-stats porcelain line-porcelain incremental date color-lines color-by-age show-name show-number"
        " show-email abbrev score-debug",
        "since",
    ),
    "branch": allow(
        "alrvqi",
        longs="list all remotes verbose show-current color no-color column no-column ignore-case abbrev no-abbrev quiet"
        " contains no-contains merged no-merged",
        long_valued="sort format points-at",
    ),
    "rev-parse": allow(
        "q",
        longs="abbrev-ref short verify quiet symbolic symbolic-full-name show-toplevel show-prefix show-cdup git-dir"
        " git-common-dir absolute-git-dir is-inside-git-dir is-inside-work-tree is-bare-repository"
        " is-shallow-repository show-superproject-working-tree all branches tags remotes revs-only no-revs flags"
        " no-flags sq not show-object-format show-ref-format path-format",
    ),
    "ls-files": allow(
        "cdmoisuktvfz",
        "x",
        "cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude-standard"
        " full-name error-unmatch abbrev debug deduplicate eol recurse-submodules sparse resolve-undo",
        "exclude format",
    ),
    "shortlog": allow(
        "snecw",
        longs="summary numbered email committer all no-merges merges format date branches tags remotes",
        long_valued="group since after until before author grep max-count",
    ),
    "describe": allow(
        longs="all tags contains long always exact-match dirty broken first-parent abbrev",
        long_valued="candidates match exclude",
    ),
    "tag": allow(
        "lni0123456789",  # the digits spell -n3
        longs="list column no-column color ignore-case contains no-contains merged no-merged",
        long_valued="sort format points-at",
    ),
    "remote": allow("v", longs="verbose all push"),
    "stash": _LOG,
    "reflog": _LOG,
    "whatchanged": _LOG,
    "diff-tree": allow(
        _DIFF.flags + "rtcm", _DIFF.valued, _DIFF_LONGS + " root no-commit-id always merge-base", _DIFF_VALUED
    ),
    "diff-index": _DIFF,
    "diff-files": _DIFF,
    "grep": allow(
        "ivwaIEGFPnlLcohHqWpz",
        "eABCm",
        "ignore-case invert-match word-regexp text extended-regexp basic-regexp fixed-strings perl-regexp"
        " line-number files-with-matches name-only files-without-match count only-matching quiet show-function"
        " function-context cached null column heading break and or not all-match color no-color full-name",
        "after-context before-context context max-depth max-count threads",
        counts=True,
    ),
    "cat-file": allow("tsep"),
    "check-ignore": allow("vnq", longs="verbose non-matching quiet no-index"),
    "check-attr": allow("a", longs="all cached"),
    "worktree": allow("vz", longs="porcelain verbose"),
    "for-each-ref": allow(
        longs="shell perl python tcl ignore-case contains no-contains merged no-merged omit-empty",
        long_valued="count sort format points-at exclude",
    ),
    "show-ref": allow("dsq", longs="heads tags head dereference hash abbrev quiet verify branches"),
    "symbolic-ref": allow("q", longs="short quiet no-recurse"),
    "name-rev": allow(longs="tags name-only always no-undefined all", long_valued="refs exclude"),
    "count-objects": allow("vH", longs="verbose human-readable"),
    "cherry": allow("v", longs="abbrev"),
    "show-branch": allow("ar", longs="all remotes current topo-order date-order list merge-base"),
    "var": allow(),
    "hash-object": allow(valued="t", longs="no-filters stdin literally"),
    "rev-list": allow(valued="n", longs=_LOG_LONGS + " count objects timestamp", long_valued=_LOG_VALUED, counts=True),
    "merge-base": allow("a", longs="all octopus independent is-ancestor fork-point"),
    "ls-tree": allow(
        "dtrlz", longs="long name-only name-status object-only full-name full-tree abbrev", long_valued="format"
    ),
    "config": allow(
        "lz",
        longs="get get-all list local global system worktree name-only show-origin show-scope null bool int path type",
    ),
    "version": allow(longs="build-options"),
}


def read_git(words: Sequence[Word]) -> Reading | str:  # noqa: PLR0911 - one return a reason
    """What a git command (its words behind ``git``) reads, or in words why it may do more than read."""
    if any(word.values for word in words):
        return "git: what the variable of the loop stands for is not looked at"
    if [word.text for word in words] == ["--version"]:
        return Reading()
    start = _start(words)
    if isinstance(start, str):
        return start
    at, base = start
    if at == len(words) or not words[at].is_fixed:
        return "git: its command is not known before it runs" if at < len(words) else Reading()
    command, rest = words[at].text, words[at + 1 :]
    allowed = _COMMANDS.get(command)
    if allowed is None:
        return f"`git {command}` may change something"
    if command in _VERB_FIRST and rest and rest[0].text not in _VERB_FIRST[command]:
        return f"`git {command} {rest[0].text}` may change something"
    given = read_options(rest, allowed)
    if isinstance(given, str):
        return f"`git {command}`: {given}"
    return _changing(command, given) or _signing(given) or _read(words[at:], given, base)


def _start(words: Sequence[Word]) -> tuple[int, Word | None] | str:
    """Where the command stands behind git's own options, and the folder that these name."""
    base: Word | None = None
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-C" and base is None and at + 1 < len(words) and words[at + 1].is_known:
            base = words[at + 1]
            at += 1
        elif words[at].text not in _NEUTRAL or not words[at].is_fixed:
            return f"git: {words[at].text} is not known to be harmless"
        at += 1
    return at, base


def _read(words: Sequence[Word], given: Given, base: Word | None) -> Reading | str:
    """What a harmless command, the first of ``words``, reads."""
    command = words[0].text
    if command == "grep":
        found = _grep(given)
        if isinstance(found, str):
            return found
        staged = (Word("--cached"),) if "cached" in given.names else ()
        given, words = found, (words[0], *staged, *found.operands[: found.after_dashes], Word("--"), *found.paths)
    reading = _files(command, given, base)
    if isinstance(reading, Reading) and _shows_addresses(command, given):
        return replace(reading, shows_addresses=True)
    if isinstance(reading, Reading) and command == "blame" and len(given.operands) > 1:  # it is of a commit
        named = given.operands
        return replace(reading, shows_tracked=True, limits=named[-1:], git_words=tuple(words), revisions=named)
    if isinstance(reading, str) or not _shows_contents(command, given):
        return reading
    revisions = given.operands[: given.after_dashes]
    lists = command == "show" and bool(given.names & _SUMMARIES) and not given.names & (_PATCHES | _MANY)
    reading = replace(reading, shows_tracked=True, lists_commits=lists, limits=given.paths)
    return replace(reading, git_words=tuple(words), revisions=revisions)


def _grep(given: Given) -> Given | str:
    """The same without the pattern, so that what is left are commits and paths."""
    if "e" in given.names:
        return given
    if not given.operands or not given.operands[0].is_known:
        return "git grep: its pattern is only known when it runs"
    return replace(given, operands=given.operands[1:], after_dashes=max(0, given.after_dashes - 1))


def _changing(command: str, given: Given) -> str:
    """Why operands would make a listing command change something."""
    operands = [word.text for word in given.operands]
    if command in {"branch", "tag"} and operands and not given.names & _LISTING:
        return f"git {command} with a name creates a {command}"
    if command == "config" and not given.names & {"get", "get-all"} and not _gets(given):
        return "git config is only known to change nothing and show no keys with --get or --get-all"
    if command == "config" and any(_MAY_HOLD_KEYS.search(word.text) or not word.is_fixed for word in given.operands):
        return "this setting of git's may hold a key"
    return _changing_by_verb(command, operands, given.names)


def _changing_by_verb(command: str, operands: Sequence[str], given: frozenset[str]) -> str:  # noqa: PLR0911 - one return a reason
    """The same for commands whose first operand says what they do."""
    verb = operands[0] if operands else ""
    if command == "remote" and operands and (verb not in {"get-url", "show"} or len(operands) != _VERBS[verb]):
        return f"git remote {verb} is not known to change nothing"
    if command == "stash" and (verb not in {"list", "show"} or (verb == "list" and len(operands) > 1)):
        return "only git stash list and show are known to change nothing"
    if command == "worktree" and list(operands) != ["list"]:
        return "only git worktree list is known to change nothing"
    if command == "symbolic-ref" and len(operands) != 1:
        return "git symbolic-ref with a target moves a branch"
    if command == "cat-file" and (len(operands) != 1 or len(given & {"t", "s", "e", "p"}) != 1):
        return "git cat-file is only known to be harmless with -t, -s, -e or -p and one object"
    if command == "reflog" and operands and operands[0] not in {"show", "HEAD"}:
        return f"git reflog {operands[0]} is not known to change nothing"
    return ""


def _gets(given: Given) -> bool:
    """``git config NAME`` and ``git config get NAME`` show one setting; a second word would be its new value."""
    operands = [word.text for word in given.operands]
    has_name = operands[-1:] != [] and "." in operands[-1]
    return has_name and not given.names - _CONFIG_PLACES and len(operands) == (2 if operands[:1] == ["get"] else 1)


def _shows_contents(command: str, given: Given) -> bool:
    """Whether file contents may be among what is printed."""
    if command == "show" and (given.names & _MANY or any(not _A_COMMIT.fullmatch(one.text) for one in given.operands)):
        return True  # it may be the name of a file's contents, which are printed whatever the options
    is_stash = command == "stash" and given.operands[:1] != () and given.operands[0].text == "show"
    if (command in {"diff", "show"} or is_stash) and not given.names & _SUMMARIES:
        return True  # a patch is what they print unless told otherwise; of a stash with any option or by a setting
    if command == "grep" or (command == "cat-file" and "p" in given.names):
        return True
    if command == "status":
        return bool(given.names & {"v", "verbose"})
    may_print = {"diff", "show", "log", "stash", "reflog", "whatchanged", "diff-tree", "diff-index", "diff-files"}
    return command in may_print and bool(given.names & _PATCHES)


def _shows_addresses(command: str, given: Given) -> bool:
    """Whether it shows where other repositories are, by which a password may stand."""
    if command == "config":
        return any(_ADDRESS.search(word.text) for word in given.operands)
    return command == "remote" and bool(given.operands or given.names)


def _signing(given: Given) -> str:
    if any(not word.is_fixed or word.text not in {"log", "short"} for word in given.of("submodule")):
        return "it looks into repositories inside this one"
    formats = given.of("format", "pretty")
    if any("(raw" in word.text or "(*raw" in word.text for word in formats):
        return "its format may show any contents"
    if any(not word.is_fixed or _SIGNATURE.search(word.text) for word in formats):
        return "its format may make git check signatures, which runs a program"
    return ""


def _files(command: str, given: Given, base: Word | None) -> Reading | str:
    """Operands may be revisions or paths; both are judged, and what stands behind ``rev:`` as well."""
    paths: list[Word] = []
    if command not in _WITHOUT_PATHS:
        for word in given.operands:
            text = word.text
            if text.startswith(":"):
                if text.startswith(_EXCLUDING):
                    continue
                text = text.lstrip(":0123456789")
                if not text or text.startswith(("(", "/")):
                    return f"git: where {word.text} leads is not known"
                paths.append(Word(text, is_known=word.is_known))
                continue
            paths.append(word)
            if word.is_known:
                colons = (at for at, character in enumerate(text) if character == ":")
                paths += [Word(text[at + 1 :]) for at in colons if text[at + 1 :]]
        if command != "blame":  # there a line range names no file
            paths += [Word(value.text.rpartition(":")[2] or ".", is_known=value.is_known) for value in given.of("L")]
    elif not all(word.is_known for word in given.operands):
        return f"git {command}: its operands are not known before it runs"
    return Reading(paths=tuple(paths), base=base, uses_git=True)
