"""Permission rules such as ``bash(pytest *)`` and ``edit(src/**)``: read from text, matched to calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from codeagent.core.approvals import Access, Decision, Scope
from codeagent.core.desk import RuleSource, StoredRule
from codeagent.core.errors import ConfigError
from codeagent.core.text import has_disguised, has_invisible, show_invisible
from codeagent.policy.effort import spend
from codeagent.policy.later import IgnoreSpec, ignore_spec, names_files
from codeagent.policy.options import GIT_VALUED, split_git
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name

_RULE = re.compile(r"(?P<tool>[a-z][a-z0-9_-]*|\*)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_PATTERN_WORD = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""", re.DOTALL)
_PATTERN_PART = re.compile(
    r"""'(?P<raw>[^']*)'|"(?P<quoted>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<bare>.)""", re.DOTALL
)
_PLAIN_WORD = re.compile(r"[\w./,:=@%+~^-]+")

_BETWEEN_COMMANDS = frozenset("|;&<>()`")

READERS = frozenset({"read", "grep", "glob", "ls"})
WRITERS = frozenset({"edit", "write"})
_TOOLS = frozenset({"bash", "job", "*", *READERS, *WRITERS})


class Match(StrEnum):
    """Whether a rule concerns a command; ``MAYBE`` when that is only known when it runs."""

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a tool (``*`` is every one) and a pattern; None is everything the tool does."""

    tool: str
    pattern: str | None

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Reads ``tool(pattern)`` or ``tool``; raises ConfigError."""
        found = _RULE.fullmatch(text.strip())
        if not found:
            raise ConfigError(f"{text!r} is no permission rule.", hint='Write "bash(git status *)" or "edit(src/**)".')
        rule = cls(found["tool"], found["pattern"])
        if rule.tool not in _TOOLS:
            hint = 'Rules are for bash, read and edit, such as "edit(src/**)".'
            raise ConfigError(f"{text!r} is no permission rule: there is no tool {rule.tool}.", hint=hint)
        if rule.pattern is not None and not rule.pattern.strip():
            raise ConfigError(f"{text!r} has an empty pattern.", hint='Leave the brackets out or write "(*)".')
        if rule.tool != "bash" and not _is_quick(rule.pattern or ""):
            raise ConfigError(f"{text!r} has so many * that matching never ends.", hint="Use fewer, or several rules.")
        if rule.tool != "bash" and rule.pattern is not None and not _is_path_pattern(rule.pattern):
            hint = "Write it like a line of an ignore file, from the workspace or from / or ~: src/**, ~/notes/*.md."
            raise ConfigError(f"{text!r} fits no file.", hint=hint)
        if rule.tool == "bash" and rule.pattern is not None:
            _check_words(rule.pattern, text)
        return rule

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    @property
    def is_for_commands(self) -> bool:
        """Whether it can concern shell commands."""
        return self.tool in {"bash", "*"}

    def is_for(self, tool: str) -> bool:
        """Whether it concerns a tool; reading tools share their rules, and so do those that change files."""
        if self.tool in {tool, "*"}:
            return True
        return any(self.tool in group and tool in group for group in (READERS, WRITERS))

    def match_command(self, words: Sequence[Word], *, strictly: bool) -> Match:
        """Compares a command's words with the pattern.

        ``strictly`` is for rules that allow: the command must be written just so.
        Otherwise the program's folder and git's global options do not matter.
        """
        if not self.is_for_commands:
            return Match.NO
        patterns = _pattern_words(self.pattern or "*") or ()
        found = [_match_words(patterns, tuple(words))]
        if not strictly:
            found += [_match_words(patterns, variant) for variant in _plain_forms(words)]
        return Match.YES if Match.YES in found else Match.MAYBE if Match.MAYBE in found else Match.NO

    def match_path(self, path: Path, root: Path, *, strictly: bool) -> bool:
        """Compares a canonical path with a gitignore-style pattern, which starts at ``root`` unless with / or ~."""
        if self.pattern is None or self.pattern in {"*", "**"}:
            return self.pattern is None or path.is_relative_to(root)
        pattern = _from_home(self.pattern)
        if pattern.startswith("./"):
            pattern = pattern[1:]
            if not path.is_relative_to(root):
                return False
            name = str(path.relative_to(root))
        elif pattern.startswith("/"):
            name = str(path).lstrip("/")
        elif path.is_relative_to(root):
            name = str(path.relative_to(root))
        else:
            return False
        if not strictly:
            pattern, name = pattern.casefold(), name.casefold()
        return _path_spec(pattern).match_file(name) or (
            pattern.endswith("/**") and _path_spec("/" + pattern[:-3].lstrip("/")).match_file(name)
        )

    @property
    def is_exact(self) -> bool:
        """Whether a command pattern stands for one command only, word for word."""
        words = _pattern_words(self.pattern) if self.pattern is not None else None
        return bool(words) and not any(word.has_star for word in words)

    @property
    def is_everything(self) -> bool:
        """Whether it is about all that the tool does."""
        return self.pattern is None or self.pattern.strip() == "*"

    @property
    def names_program(self) -> bool:
        """Whether a command pattern says which program it is about."""
        words = _pattern_words(self.pattern) if self.pattern is not None else None
        return bool(words) and not words[0].has_star

    @property
    def names_a_place(self) -> bool:
        """Whether a path pattern is absolute, and so speaks of places outside the workspace."""
        return self.pattern is not None and self.pattern.startswith(("/", "~"))


class RuleSet:
    """All rules in force: deny, ask and allow from settings, and what the person granted since."""

    def __init__(self, *, deny: Iterable[Rule] = (), ask: Iterable[Rule] = (), allow: Iterable[Rule] = ()) -> None:
        self._rules = {Decision.DENY: tuple(deny), Decision.ASK: tuple(ask), Decision.ALLOW: tuple(allow)}
        self._granted: list[tuple[Decision, Rule, Scope]] = []

    @classmethod
    def parse(cls, *, deny: Iterable[str] = (), ask: Iterable[str] = (), allow: Iterable[str] = ()) -> RuleSet:
        """Reads the rules of the settings; raises ConfigError for one that cannot be read."""
        return cls(deny=map(Rule.parse, deny), ask=map(Rule.parse, ask), allow=map(Rule.parse, allow))

    def grant(self, rule: str, scope: Scope = Scope.SESSION, decision: Decision = Decision.ALLOW) -> None:
        """Puts a rule in force from now on; raises ConfigError."""
        granted = decision, Rule.parse(rule), scope
        if granted not in self._granted:
            self._granted.append(granted)

    def revoke(self, rule: str, scope: Scope, decision: Decision = Decision.ALLOW) -> None:
        """Takes a granted rule back; raises ConfigError."""
        revoked = decision, Rule.parse(rule), scope
        self._granted = [granted for granted in self._granted if granted != revoked]

    def rules(self, decision: Decision) -> tuple[Rule, ...]:
        """The rules with one outcome; granted ones come before those of the settings."""
        return (*(rule for outcome, rule, _ in self._granted if outcome is decision), *self._rules[decision])

    def stored(self) -> tuple[StoredRule, ...]:
        """Every rule in force, for people; strictest first, as they are applied."""
        settings = [
            StoredRule(decision=decision, rule=str(rule), source=RuleSource.SETTINGS, scope=Scope.ALWAYS)
            for decision, rules in self._rules.items()
            for rule in rules
        ]
        granted = [
            StoredRule(decision=decision, rule=str(rule), source=RuleSource.PERSON, scope=scope)
            for decision, rule, scope in self._granted
        ]
        order = (Decision.DENY, Decision.ASK, Decision.ALLOW)
        return tuple(sorted((*granted, *settings), key=lambda rule: order.index(rule.decision)))

    def has_command_limits(self) -> bool:
        """Whether any rule denies commands or asks about them."""
        limits = (*self.rules(Decision.DENY), *self.rules(Decision.ASK))
        return any(rule.is_for_commands for rule in limits)

    @property
    def limits_reading(self) -> bool:
        """Whether any rule denies reading certain files."""
        return any(rule.is_for("read") for rule in self.rules(Decision.DENY))

    @property
    def concerns_reading(self) -> bool:
        """Whether any rule denies reading certain files or asks about it."""
        return self.limits_reading or any(rule.is_for("read") for rule in self.rules(Decision.ASK))

    def find_command(
        self, decision: Decision, words: Sequence[Word], *, maybe: bool = False, by_name: bool = False
    ) -> Rule | None:
        """The first rule with this outcome that concerns a command (``maybe``: may concern; ``by_name``: names it)."""
        wanted = {Match.YES, Match.MAYBE} if maybe else {Match.YES}
        strictly = decision is Decision.ALLOW
        rules = self.rules(decision)
        spend(len(rules))
        for rule in rules:
            if rule.match_command(words, strictly=strictly) in wanted and (rule.names_program or not by_name):
                return rule
        return None

    def find_path(
        self, decision: Decision, access: Access, paths: Iterable[Path], root: Path, *, places_only: bool = False
    ) -> Rule | None:
        """The first rule with this outcome that concerns one of ``paths``; ``places_only``: only absolute patterns."""
        tool = "edit" if access is Access.WRITE else "read"
        checked = tuple(paths)
        rules = self.rules(decision)
        spend(len(rules))
        for rule in rules:
            if not rule.is_for(tool) or (places_only and not rule.names_a_place):
                continue
            if any(rule.match_path(path, root, strictly=decision is Decision.ALLOW) for path in checked):
                return rule
        return None

    def find_tool(self, decision: Decision, tool: str) -> Rule | None:
        """The first rule with this outcome that names a tool which has neither command nor path."""
        return next((rule for rule in self.rules(decision) if rule.is_for(tool)), None)


def quoted_word(word: str) -> str:
    """A word as a pattern that matches exactly it."""
    return word if _PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'"


def path_pattern(path: str) -> str:
    """A path as a pattern that matches exactly it; one inside the workspace is tied to its top."""
    escaped = re.sub(r"([*?\[\]\\!# ])", r"\\\1", path)
    return escaped if escaped.startswith(("/", "~")) or "/" in escaped else f"./{escaped}"


def exact_rule(words: Sequence[Word]) -> str:
    """The rule that allows a command word for word; empty when its words are not all known."""
    if not all(word.is_fixed for word in words):
        return ""
    return f"bash({' '.join(quoted_word(word.text) for word in words)})"


def is_unclear(rule: str) -> bool:
    """Whether characters in a rule cannot be seen or pass for others, so that nobody can tell what it covers."""
    return has_invisible(rule) or has_disguised(rule)


def remedy(rules: Sequence[str]) -> str:
    """Flags that would allow what ``rules`` cover, quoted for a shell; empty when one of them cannot be read."""
    if any(map(is_unclear, rules)):
        return ""
    return " ".join("--allow '" + rule.replace("'", "'\\''") + "'" for rule in rules)


def _is_quick(pattern: str) -> bool:
    """Whether paths are matched in no time: each further ``*`` multiplies the ways to look."""
    parts = [part for part in pattern.split("/") if part != "**"]
    return pattern.split("/").count("**") <= _MOST_DEEP and sum(part.count("*") for part in parts) <= _MOST_STARS


def _from_home(pattern: str) -> str:
    return str(Path(pattern).expanduser()) if pattern == "~" or pattern.startswith("~/") else pattern


def _is_path_pattern(pattern: str) -> bool:
    """Whether some path could fit; what is surely plain is not looked at, as that would load what reads patterns."""
    parts = pattern.removeprefix("./").split("/")
    if not any(parts) or not {".", ".."}.isdisjoint(parts):
        return False
    if re.fullmatch(r"[^!#\\\[]*[^/!#\\\[\s][^!#\\\[]*", pattern):
        return True
    line = _from_home(pattern.removeprefix(".") if pattern.startswith("./") else pattern)
    return names_files(line) and names_files(line.casefold())


def _check_words(pattern: str, text: str) -> None:
    """Raises ConfigError for what cannot be the words of one simple command, so that the rule would never hold."""
    if has_invisible(pattern):
        raise ConfigError(f"{show_invisible(text)} holds characters that cannot be seen.", hint="Type it anew.")
    words = _pattern_words(pattern)
    if words is None:
        raise ConfigError(f"A quote in {text!r} does not end.", hint="Quote words as in a shell.")
    bare = "".join(part["bare"] or "" for part in _PATTERN_PART.finditer(pattern))
    if sign := next((sign for sign in bare if sign in _BETWEEN_COMMANDS), ""):
        raise ConfigError(
            f"{text!r} fits no command: a rule is the words of one simple command, and {sign} is none.",
            hint='Write a rule for each command, such as "bash(curl *)", or quote the sign.',
        )


@lru_cache(maxsize=512)
def _path_spec(pattern: str) -> IgnoreSpec:
    return ignore_spec([pattern])


@dataclass(frozen=True, slots=True)
class _PatternWord:
    """One word of a command pattern; ``is_rest`` is a bare ``*``, ``has_star`` one that stands for other text."""

    expression: re.Pattern[str]
    is_rest: bool
    has_star: bool


@lru_cache(maxsize=512)
def _pattern_words(pattern: str) -> tuple[_PatternWord, ...] | None:
    """The words of a pattern; quotes and backslashes take the meaning from ``*``. None when a quote does not end."""
    found: list[_PatternWord] = []
    position = 0
    text = pattern.strip()
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        word = _PATTERN_WORD.match(text, position)
        if not word:
            return None
        position = word.end()
        if position < len(text) and not text[position].isspace():
            return None
        parts = list(_PATTERN_PART.finditer(word[0]))
        expression = re.compile(_expression(parts), re.DOTALL)
        found.append(_PatternWord(expression, word[0] == "*", any(part["bare"] == "*" for part in parts)))
    return tuple(found)


def _expression(parts: Sequence[re.Match[str]]) -> str:
    """Between two stars the nearest fit is best, so that nothing is ever looked at again."""
    between = [""]
    for part in parts:
        if part["bare"] == "*":
            between.append("")
        else:
            between[-1] += _part_expression(part)
    first, *middle = between
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>.*?{text})" for text in middle if text) + ".*" + last


def _part_expression(part: re.Match[str]) -> str:
    if part["bare"]:
        return re.escape(part["bare"])
    if part["quoted"] is not None:
        return re.escape(re.sub(r"\\(.)", r"\1", part["quoted"], flags=re.DOTALL))
    return re.escape(part["raw"] if part["raw"] is not None else part["escaped"])


def _match_words(patterns: tuple[_PatternWord, ...], words: tuple[Word, ...]) -> Match:
    """Word by word; a last bare ``*`` takes any further words or none."""
    takes_rest = bool(patterns) and patterns[-1].is_rest
    fixed = patterns[:-1] if takes_rest else patterns
    result = Match.YES
    for at, pattern in enumerate(fixed):
        if at >= len(words):
            return Match.NO
        word = words[at]
        if word.may_split:
            return Match.MAYBE
        if not word.is_known or word.glob:
            result = Match.MAYBE
        elif not pattern.expression.fullmatch(word.text):
            return Match.NO
    if takes_rest or len(words) == len(fixed):
        return result
    rest = words[len(fixed) :]
    return Match.MAYBE if all(word.may_split for word in rest) else Match.NO


_MOST_STARS, _MOST_DEEP = 4, 3
_GIT_VALUED = GIT_VALUED | {"--exec-path"}


def _plain_forms(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Other ways to write the same command: without the program's folder, without git's global options."""
    if not words or not words[0].is_fixed:
        return []
    plain = (Word(base_name(words[0].text).casefold()), *words[1:])
    if plain[0].text != "git":
        return [plain]
    return [plain, (plain[0], *split_git(plain[1:], _GIT_VALUED)[1])]
