"""Which programs that no sandbox holds stand in the texts of a line, where something that cannot be seen may run them.

``trap "docker run x" EXIT``, ``d=docker; $d run x``, ``echo "docker run x" | sh``: no command word names the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from codeagent.policy.beyond_sandbox import ENDS, KINDS, beyond_sandbox
from codeagent.policy.commands import Analysis, Command, analyze
from codeagent.policy.effort import spend
from codeagent.policy.read_only import reading
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import INTERPRETERS, SHELLS, base_name

_ENGLISH = frozenset({"at", "batch", "gio", "screen", "service", "skill"})
"""Names that are words of the language too: they count only where a text begins with them."""

_NAMED = re.compile(rf"(?:(?<![\w./-])|(?<=bin/))(?:{'|'.join(map(re.escape, KINDS))})(?![\w-]|\.\w)", re.IGNORECASE)
_SAYING = frozenset({"echo", "printf", "set", "mapfile", "readarray", "read", "eval", "alias", "export", "declare"}) | {
    "local",
    "typeset",
    "readonly",
}
_TAKE_INPUT = SHELLS | {"source", ".", "xargs", "parallel"}
_TAKE_SCRIPTS = SHELLS | {"source", ".", "trap", "eval"}
_CODE_RUNS = re.compile(
    r"system|exec|spawn|popen|subprocess|child_process|shell|check_(?:call|output)|\bqx\b|%x|`|kill\s*[(\d'-]|(?:^|:)!",
    re.IGNORECASE,
)
_SED_RUNS = re.compile(r"(?:^|[;{}\n/$\d])\s*e\s+([^\n]+)|s(.).*?\2(.*?)\2[gimM\d]*e", re.DOTALL)
_MADE = re.compile(r"[\n;\t]")
_CODE_WORD = re.compile(r"[\w./:@%+-]+")
_ESCAPE = re.compile(r"\\[nt]")
_NEAR = 200
_LONGEST = 20_000
_BYTES_IN_ONE = 8
_MOST_TEXTS = 500
_MOST_SCRIPTS = 200
_MOST_VALUES = 20
_LONGEST_VALUE = 2_000
_TOO_MANY = "It holds more texts that may be commands than are looked at."


class RunInTexts:
    """Answers for the commands of one line; ``is_own`` knows the processes that it started itself."""

    def __init__(self, analysis: Analysis, is_own: Callable[[Word], bool]) -> None:
        self._analysis = analysis
        self._is_own = is_own
        self._said: dict[bool, str] = {}
        self._looked_at = 0

    def beyond(self, command: Command) -> str:
        """Why the sandbox may not hold what the command runs of a text, as a sentence; empty where nothing says so."""
        for found in command.everything():
            if not any(problem.is_hidden for problem in found.problems):
                reason = self._of_code(found)
            elif not (reason := self._of_words(found)):
                name = base_name(found.simple.name)
                if name in _TAKE_INPUT or not all(word.is_fixed for word in found.words):
                    reason = self._of_said(is_script=name in _TAKE_SCRIPTS)
            if reason:
                return reason
        return ""

    def _of_said(self, *, is_script: bool) -> str:
        """The same of the texts that the line keeps in variables, prints or gives to commands to read."""
        if is_script not in self._said:
            texts = dict.fromkeys(text for command in self._analysis.everything() for text in _texts_said(command))
            reasons = (self._of_script(text, is_script=is_script) for text in texts)
            self._said[is_script] = _TOO_MANY if len(texts) > _MOST_TEXTS else next(filter(None, reasons), "")
        return self._said[is_script]

    def _of_words(self, command: Command) -> str:
        """Of the command's own words: each may be a script, or be the program that it runs with those that follow."""
        words, is_script = command.words[1:], base_name(command.simple.name) in _TAKE_SCRIPTS
        if len(words) > _MOST_TEXTS:
            return _TOO_MANY
        for at, word in enumerate(words):
            name, reason = base_name(word.text).casefold(), ""
            if words[at + 1 :] and name in KINDS and name not in _ENGLISH and _NAMED.match(word.text):
                reason = beyond_sandbox(words[at:], self._is_own)
            elif re.search(r"\s", word.text) or command.simple.name == "alias":
                reason = self._of_script(word.text, is_script=is_script)
            if reason:
                return reason
        return ""

    def _of_code(self, command: Command) -> str:
        """Of code in another language, where it runs programs."""
        name = base_name(command.simple.name)
        if name not in INTERPRETERS - SHELLS | {"sed"} or isinstance(reading(command.words), Reading):
            return ""
        for text in (*command.simple.fed, *_code(command.words)):
            if len(text) > _LONGEST and name in {"sed", "make"}:
                return _TOO_MANY
            spend(len(text) // _BYTES_IN_ONE)
            if name == "sed":
                runs = [found[1] or found[3] for found in _SED_RUNS.finditer(text)]
            else:
                runs = _MADE.split(text) if name == "make" else []
            reason = next(filter(None, (self._of_script(run, is_script=True) for run in runs)), "")
            if not reason and name != "sed" and _NAMED.search(text) and _CODE_RUNS.search(text):
                reason = self._of_code_words(text)
            if reason:
                return reason
        return ""

    def _of_code_words(self, text: str) -> str:
        for found in _NAMED.finditer(text):
            words = _CODE_WORD.findall(text[found.start() : found.start() + _NEAR])
            if words[1:] and words[0].casefold() not in _ENGLISH:
                reason = beyond_sandbox(tuple(map(Word, words)), self._is_own)
                if reason:
                    return reason
        return ""

    def _of_script(self, text: str, *, is_script: bool) -> str:
        """Of a text that may be a shell script (``is_script``: surely), or an option or a setting with one in it."""
        plain = _ESCAPE.sub("\n", text).strip("\"' \t\n")
        scripts = (plain, plain.lstrip("-!@ \t"), re.sub(r"-\w", "", plain, count=1), *_values(plain))
        for script in filter(_NAMED.search, dict.fromkeys(scripts)):
            self._looked_at += 1
            if self._looked_at > _MOST_SCRIPTS:
                return _TOO_MANY
            spend(len(script) // _BYTES_IN_ONE)
            analysis = analyze(script)
            if any(problem.is_unread for problem in analysis.doubts):
                return _TOO_MANY
            for command in analysis.everything():
                name = base_name(command.simple.name).casefold()
                if name in _ENGLISH and not is_script:
                    continue
                reason = beyond_sandbox(command.words, self._is_own)
                if not reason and not command.words[1:] and KINDS.get(name, ("",))[0] is ENDS:
                    reason = ENDS.format(name)
                if reason:
                    return reason
        return ""


def _code(words: Sequence[Word]) -> list[str]:
    """The words that may be code; Python has it behind ``-c`` alone."""
    if base_name(words[0].text).startswith(("python", "pypy")):
        return [word.text for option, word in pairwise(words) if re.fullmatch(r"-\w*c", option.text)]
    return [word.text for word in words[1:] if re.search(r"[\s('\"!]", word.text)]


def _values(text: str) -> Iterator[str]:
    """What stands behind the first ``=`` signs, without a shell's parentheses around it."""
    for found in islice(re.finditer("=", text), _MOST_VALUES):
        yield text[found.end() : found.end() + _LONGEST_VALUE].strip("\"'()! ")


def _texts_said(command: Command) -> Iterator[str]:
    simple = command.simple
    for setting in simple.assignments:
        yield setting.value if setting.value is not None else simple.source
    yield from simple.fed
    if base_name(simple.name) in _SAYING:
        yield " ".join(word.text for word in command.words[1:])
        yield from (word.text for word in command.words[1:])
