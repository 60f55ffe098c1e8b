"""What a shell command would do: its simple commands, what they run in turn, and whether all of that is certain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from codeagent.core.text import has_invisible, looks_like_ascii
from codeagent.policy.effort import Effort, TooMuch, spend
from codeagent.policy.options import names
from codeagent.policy.program_options import program_option
from codeagent.policy.shell_places import moved
from codeagent.policy.shell_script import TOO_DEEP, TOO_MANY, Places, Problem, Script, SimpleCommand
from codeagent.policy.shell_syntax import parse_script
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import Inside, base_name, inside

LONGEST = 200_000
"""Characters of a command that are looked through; nobody reads more before saying yes."""

_DEEPEST = 6
_COMMAND = 10
_MOST_EFFORT = 400_000
"""Some five thousand commands, or a hundred thousand words: half a second."""
_EFFORT_FOR_THE_FIRST = 100_000


_HARMLESS_SETTINGS = {
    **dict.fromkeys(names("LANG LANGUAGE TZ"), re.compile(r"(?!.*\.\.)[A-Za-z][\w.@:+-]*(?:/[A-Za-z_+-]+){0,2}|")),
    **dict.fromkeys(
        names("NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES CI RUST_BACKTRACE NODE_ENV"),
        re.compile(r"[\w.-]*"),
    ),
}
_LOCALE = re.compile(r"LC_[A-Z]+")
_HIDING = names("eval source . trap alias enable hash bind complete compgen mapfile readarray fc")
"""Those that name what is to run later, or under another name."""

_STEERING = _HIDING | names(
    "unalias set export exec declare typeset local readonly unset let shopt compopt getopts coproc history setopt"
    " emulate zmodload autoload"
)
_LEAVING = names("setsid daemonize daemon coproc disown at batch start-stop-daemon")
_COUNTS = re.compile(r"%[^a-zA-Z%(]*[hlLjtz]*n")
_SETTERS = names("env sudo doas time")
_NAMES_PROGRAMS = re.compile(
    r"PATH|.*_PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|IFS|PS[0-4]|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|SHELL|BROWSER|VISUAL|HOME|XDG_.*"
    r"|.*(?:PAGER|EDITOR|ASKPASS|WRAPPER|_COMMAND|_CMD|OPTIONS|OPTS)|GIT_.*|LESS(?:OPEN|CLOSE)|PYTHON.*|PERL5.*|RUBY.*"
    r"|NODE_.*|CC|CXX|LD|AR|CARGO.*|RUSTC.*|(?:MAKE|GO|RUST)FLAGS|BASH_FUNC.*"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LETTERS_THAT_LOOK_LATIN = re.compile(
    "[\u0370-\u052f\u0530-\u058f\u13a0-\u13ff\u1d00-\u1d7f\u0250-\u02af\u2c80-\u2cff]"
)
_LATIN = re.compile("[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command as it is written, and all that it runs in turn.

    ``runs_on``: what it runs may go on when it is over.
    """

    simple: SimpleCommand
    inner: tuple[Command, ...] = ()
    problems: tuple[Problem, ...] = ()
    runs_on: bool = False

    @property
    def words(self) -> tuple[Word, ...]:
        """Its words, the command word first."""
        return self.simple.words

    def everything(self) -> Iterator[Command]:
        """The command itself, then what it runs."""
        yield self
        for command in self.inner:
            yield from command.everything()


@dataclass(frozen=True, slots=True)
class Analysis:
    """A shell command taken apart. ``problems`` concern it as a whole, others stand with their commands.

    ``text`` is the command as it is written, as far as it was looked at.
    """

    commands: tuple[Command, ...]
    problems: tuple[Problem, ...] = ()
    has_jobs: bool = False
    text: str = ""

    @property
    def runs_on(self) -> bool:
        """Whether a part of it may still run when it is over."""
        return self.has_jobs or any(command.runs_on for command in self.everything())

    def everything(self) -> Iterator[Command]:
        """Every command, also those inside others."""
        for command in self.commands:
            yield from command.everything()

    @property
    def doubts(self) -> tuple[Problem, ...]:
        """All problems, each once."""
        found = [*self.problems, *(problem for command in self.everything() for problem in command.problems)]
        return tuple(dict.fromkeys(found))

    @property
    def is_opaque(self) -> bool:
        """Whether more may happen than the commands say."""
        return bool(self.doubts)

    @property
    def is_hidden(self) -> bool:
        """Whether commands may run that were not found."""
        return any(problem.is_hidden for problem in self.doubts)


@lru_cache(maxsize=8)
def analyze(command: str) -> Analysis:
    """Finds all that a shell command would run. Pure, never raises, bounded on hostile text.

    Of what is too much to look at it finds the beginning, so that rules hold for that at least.
    """
    if len(command) > LONGEST:
        start = analyze(command[:LONGEST])
        return replace(start, problems=(Problem.unread(f"it is longer than {LONGEST:,} characters"), *start.problems))
    if "\0" in command:
        return Analysis((), (Problem.unread("it holds a NUL character, which no command can"),))
    problems = list(_odd_characters(command))
    try:
        with Effort(_MOST_EFFORT).drawn_on():
            script = parse_script(command, follows_loops=True)
            analysis = _analysis(script, problems)
            if script.follows_loops and _may_set_variables(analysis) and TOO_MANY not in analysis.doubts:
                analysis = _analysis(parse_script(command), problems)
    except TooMuch:
        return Analysis((), (*problems, TOO_MANY))
    except RecursionError:
        return Analysis((), (*problems, TOO_DEEP))
    return replace(analysis, text=command)


def _analysis(script: Script, problems: Sequence[Problem]) -> Analysis:
    if TOO_MANY in script.problems:  # finding the commands took all there was
        with Effort(_EFFORT_FOR_THE_FIRST).drawn_on():
            commands = tuple(_seen(simple, 0) for simple in script.commands)
    else:
        commands = tuple(_seen(simple, 0) for simple in script.commands)
    return Analysis(commands, tuple(dict.fromkeys([*problems, *script.problems])), script.runs_on)


def _may_set_variables(analysis: Analysis) -> bool:
    """Whether anything but the head of a loop may set its variable."""
    return analysis.is_opaque or any(
        found.simple.assignments or found.simple.name == "read" for found in analysis.everything()
    )


def _seen(simple: SimpleCommand, depth: int) -> Command:
    """A command, looked through unless that is too much by now."""
    try:
        return _looked_through(simple, depth)
    except TooMuch:
        return Command(simple, problems=(TOO_MANY,))


def _looked_through(simple: SimpleCommand, depth: int) -> Command:
    """A command with its own doubts, and what it runs."""
    spend(_COMMAND + len(simple.words))
    problems = [*simple.problems, *_settings(simple), *_own_doubts(simple)]
    inner: list[Command] = []
    runs_on = base_name(simple.name) in _LEAVING
    for found in inside(simple.words):
        if found.is_hidden or (found.words and not found.words[0].is_fixed):
            problems.append(Problem(f"what {simple.name or 'it'} runs cannot be seen", is_hidden=True))
        if depth >= _DEEPEST:
            problems.append(TOO_DEEP)
            continue
        if found.script is not None:
            script = parse_script(found.script)
            problems += script.problems
            runs_on = runs_on or script.runs_on
            inner += [_seen(_moved(part, simple.places), depth + 1) for part in script.commands]
        elif found.words:
            places = _places(found, simple.places)
            inner.append(_seen(SimpleCommand(found.words, simple.source, places=places, fed=simple.fed), depth + 1))
    return Command(simple, tuple(inner), tuple(dict.fromkeys(problems)), runs_on)


def _places(found: Inside, places: Places | None) -> Places | None:
    """Where a command runs that a wrapper starts in ``places``."""
    if found.is_anywhere or found.folder is None:
        return None if found.is_anywhere else places
    there = moved((Word("cd"), found.folder), places)
    return there.success if there else None


def _moved(simple: SimpleCommand, start: Places | None) -> SimpleCommand:
    """A command of a script that starts in ``start``."""
    if start is None or simple.places is None:
        return replace(simple, places=None)
    return replace(simple, places=frozenset((*outer, *inner) for outer in start for inner in simple.places))


def _own_doubts(simple: SimpleCommand) -> Iterator[Problem]:
    """What the command word and its options make uncertain."""
    words = simple.words
    if not simple.source.isascii() and any(_looks_like_ascii(word.text) for word in _all_words(simple)):
        yield Problem("it holds characters that look like others")
    if not words or not words[0].is_fixed:
        return
    name = base_name(words[0].text)
    if name in _STEERING:
        yield Problem(f"{name} changes what follows", is_hidden=name in _HIDING)
    elif name in {"printf", "test", "[", "read", "wait"}:
        yield from _sets_by_name(name, words)
    if option := program_option(name, words[1:]):
        yield Problem(f"{name} {option} can name a program to run", is_hidden=True)


def _settings(simple: SimpleCommand) -> Iterator[Problem]:
    """Variables that are set: only a few are known to steer nothing."""
    if not simple.assignments and base_name(simple.name) not in _SETTERS:
        return
    settings = [(found.name, found.value) for found in simple.assignments]
    if simple.name and base_name(simple.name) in _SETTERS:
        settings += [
            (word.text.partition("=")[0], word.text.partition("=")[2] if word.is_fixed else None)
            for word in simple.words[1:]
            if re.match(r"(?:[A-Za-z_]\w*|BASH_FUNC_.*?)=", word.text)
        ]
    for name, value in settings:
        if (simple.name, name, value) == ("read", "IFS", ""):
            continue  # it holds for this one builtin, which then takes its line whole
        pattern = _HARMLESS_SETTINGS.get("LANG" if _LOCALE.fullmatch(name) else name)
        if pattern is None or value is None or not pattern.fullmatch(value):
            yield Problem(
                f"it sets {name}, which can steer what runs",
                is_hidden=_NAMES_PROGRAMS.fullmatch(name.partition("[")[0]) is not None,
            )


def _sets_by_name(name: str, words: tuple[Word, ...]) -> Iterator[Problem]:
    """Builtins that take the name of a variable run the code in its subscript."""
    first = words[1] if len(words) > 1 else Word("")
    if name == "printf" and any(not word.is_known or word.glob for word in words[1 : 3 if first.text == "--" else 2]):
        yield Problem("printf may set a variable")
    elif name == "printf" and (
        first.text.startswith("-v") or any(_COUNTS.search(word.text.replace("%%", "")) for word in words[1:3])
    ):
        yield Problem("printf sets a variable")
    elif name in {"test", "["}:
        if any(word.text in {"-v", "-R"} for word in words):
            yield Problem(f"{name} looks into a variable by name")
        elif any(word.may_split for word in words[1:]):
            yield Problem(f"{name} may get other words than are written")
    elif name in {"read", "wait"} and not all(re.fullmatch(r"-?[\w]*", w.text) and w.is_fixed for w in words[1:]):
        yield Problem(f"{name} may set a variable")


def _odd_characters(text: str) -> Iterator[Problem]:
    """Characters that show something else than the shell reads."""
    if text.isascii():
        if _CONTROL.search(text):
            yield Problem("it holds control characters")
        return
    if "\ufffd" in text:
        yield Problem("it holds a broken character")
    if has_invisible(text):
        yield Problem("it holds characters that cannot be seen")


def _all_words(simple: SimpleCommand) -> tuple[Word, ...]:
    return (*simple.words, *(redirection.target for redirection in simple.redirections))


def _looks_like_ascii(text: str) -> bool:
    """Letters of other scripts among Latin ones, and, but for prose, whatever may be taken for an ASCII character."""
    if text.isascii():
        return False
    if any(_LETTERS_THAT_LOOK_LATIN.search(run) and _LATIN.search(run) for run in re.findall(r"\w+", text)):
        return True
    if re.search(r"\s", text):
        return False
    folded = unicodedata.normalize("NFKC", text)
    return looks_like_ascii(text) or (
        folded != text and not unicodedata.is_normalized("NFKC", text) and _is_more_ascii(folded, text)
    )


def _is_more_ascii(folded: str, text: str) -> bool:
    return sum(map(str.isascii, folded)) > sum(map(str.isascii, text))
