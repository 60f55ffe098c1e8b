"""The commands that change nothing, with the options that keep them so; what is not listed here is asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codeagent.policy.git_reading import read_git
from codeagent.policy.name_patterns import of_names, of_types
from codeagent.policy.options import Given, read_options
from codeagent.policy.read_only_programs import PROGRAMS, asks_if_empty
from codeagent.policy.read_only_table import DEEP, TABLE, Operands, Row
from codeagent.policy.reading import Reading
from codeagent.policy.real_programs import read_version
from codeagent.policy.shell_words import MAY_BE_KEY, Word, shows_key
from codeagent.policy.wrappers import inside

_SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin"})
_JQ_LOADS = re.compile(r"\b(?:import|include|modulemeta|env|input_filename|ENV)\b")
_PAGE = re.compile(r"\w[\w.+:-]*")
_XARGS_OPTION = re.compile(r"-[0rtx]+|-[0rtx]*[nPLsdI].*|--null|--no-run-if-empty", re.DOTALL)
_XARGS_WHOLE = re.compile(r"-[0rtx]+|-[0rtx]*[nPLsdI].+|--.*", re.DOTALL)
_TREE_WORD = re.compile(r"-[^LPI]*(?:L\d*|[PI])?|--.*", re.DOTALL)  # elsewhere the next word is their value


def reading(words: Sequence[Word]) -> Reading | str:
    """What a command reads, or in words why it may do more than read."""
    found = _reading(words)
    if isinstance(found, Reading) and any(map(shows_key, words)) and not asks_if_empty(words):
        return MAY_BE_KEY
    globs = tuple(word for word in words if word.glob)
    if isinstance(found, str) or not globs or words[0].text == "[[":
        return found
    return replace(found, globs=globs)


def _reading(words: Sequence[Word]) -> Reading | str:
    """What the words read as they are written; those that the shell replaces by file names come on top."""
    if not words or not words[0].is_fixed:
        return "its command word is only known when it runs"
    name = words[0].text
    folder, slash, plain = name.rpartition("/")
    if slash and folder not in _SYSTEM_FOLDERS:
        return f"{name} is a program of its own"
    name = plain if slash else name
    if version := read_version(name, words[1:]):
        return version
    return _READERS[name](words[1:]) if name in _READERS else _by_table(name, words[1:])


def _by_table(name: str, words: Sequence[Word]) -> Reading | str:
    row = TABLE.get(name)
    if row is None:
        return f"`{name}` may change something"
    given = read_options(words, row.allowed)
    if isinstance(given, str):
        return f"`{name}`: {given}"
    if name == "tree" and not all(_TREE_WORD.fullmatch(word.text) for word in words if word.text.startswith("-")):
        return "tree may take a letter in the value of an option for another one"
    if row.most is not None and given.operands and given.operands[-1] != words[-1]:
        return f"{name} may take its last option for a file to write"
    return _operand_doubt(name, row, given) or _read_by(name, row, given)


def _operand_doubt(name: str, row: Row, given: Given) -> str:
    """Why the operands of a command in the table may make it do more than read them."""
    first = given.operands[:1]
    if name == "jq" and any(not word.is_fixed or _JQ_LOADS.search(word.text) for word in first):
        return "jq may load other files or show the environment"
    if name == "man" and not all(_PAGE.fullmatch(word.text) and word.is_fixed for word in given.operands):
        return "man may show any file"
    if name == "strings" and any(word.text.startswith("@") for word in given.operands):
        return "strings takes further options from the file behind @"
    if row.most is not None and (len(given.operands) > row.most or any(word.glob for word in given.operands)):
        return f"{name} may write to one of its operands"
    return ""


def _named_by_options(name: str, row: Row, given: Given) -> list[Word]:
    """The files that options name, or may name; a pattern of rg that begins with ``!`` leaves files out."""
    files = [value for option, value in given.values if option in row.allowed.paths or option == "include"]
    return [word for word in (*files, *given.late) if name != "rg" or not word.text.startswith("!")]


def _read_by(name: str, row: Row, given: Given) -> Reading | str:
    """Which operands and option values are files."""
    operands = given.operands
    files = _named_by_options(name, row, given)
    if row.operands is Operands.NONE and operands:
        return f"{name} may change something with {operands[0].text}"
    if row.operands is Operands.PROGRAMS:
        return Reading(paths=(*files, *(word for word in operands if word.glob or "/" in word.text)))
    if row.operands is Operands.TEXT:
        return Reading(paths=(*files, *(word for word in operands if word.glob)))
    if row.operands is Operands.PATTERN and not given.names & {"e", "regexp", "f", "file", "files", "type-list"}:
        if not operands:
            return Reading(paths=tuple(files))
        if not operands[0].is_known and (given.after_dashes != 0 or operands[0].may_split):
            return f"{name}: {operands[0].text} is not known before it runs"
        operands = operands[1:]
    only = tuple(value.text for value in given.of("include", "g", "glob", "iglob") if not value.text.startswith("!"))
    is_deep = bool(given.names & DEEP.get(name, frozenset())) or (name == "rg" and bool(only))
    is_deep = is_deep or any(
        value.text not in {"read", "skip"} for value in given.of("d", "directories") if "grep" in name
    )
    only = only or of_types([value.text for value in given.of("t", "type") if name == "rg"])
    lists = name in {"ls", "du"} and bool(given.names & {"L", "dereference"})
    if (is_deep or lists or name == "rg") and not operands and not given.names & {"type-list"}:
        operands = (Word("."),)
    follows = is_deep and bool(given.names & {"R", "dereference-recursive", "L", "follow"})
    if name != "rg" or follows or any(word.text != "." for word in operands):
        only = tuple(map(of_names, only))
    if name == "diff":
        follows = "no-dereference" not in given.names
    return Reading(
        paths=(*files, *operands),
        is_recursive=is_deep or name in {"diff", "rg"} or lists,
        only=only,
        follows_links=follows or lists,
        is_shallow=(name == "diff" and not is_deep) or (name == "ls" and not given.names & {"R", "recursive"}),
        skips_hidden=name == "rg" and not is_deep,
        names_only=lists,
    )


def _time(words: Sequence[Word]) -> Reading | str:
    """``time`` says how long a command takes, as the shell does it or the program without options."""
    rest = words[1:] if words and words[0].text == "-p" else words
    return _reading(rest) if rest else "time: there is nothing to run"


def _xargs(words: Sequence[Word]) -> Reading | str:
    """``xargs`` adds words that nobody knows before it runs, which only harms commands that take files or options."""
    at = 0
    while at < len(words) and words[at].is_fixed and words[at].text.startswith("-"):
        if not _XARGS_OPTION.fullmatch(words[at].text):
            return f"xargs: {words[at].text} is not known to be harmless"
        at += 1 if _XARGS_WHOLE.fullmatch(words[at].text) else 2
    if at >= len(words):
        return Reading()
    found = inside((Word("xargs"), *words))
    if len(found) != 1 or found[0].is_hidden:
        return "what xargs runs cannot be seen"
    given = _reading(found[0].words)
    if isinstance(given, Reading) and not all(word.is_known for word in given.paths):
        return "which files xargs gives to it is only known when it runs"
    return given


def _jq(words: Sequence[Word]) -> Reading | str:
    """``jq``: besides its options in the table, ``--arg NAME TEXT`` gives it two words that are no files."""
    at = 0
    while at + 2 < len(words) and words[at].text != "--":
        if words[at].text in {"--arg", "--argjson"} and not any(w.may_split or w.glob for w in words[at : at + 3]):
            words = (*words[:at], *words[at + 3 :])
        else:
            at += 1
    return _by_table("jq", words)


_READERS: Mapping[str, Callable[[Sequence[Word]], Reading | str]] = {
    **PROGRAMS,
    "time": _time,
    "xargs": _xargs,
    "git": read_git,
    "jq": _jq,
}
