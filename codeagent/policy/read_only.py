"""The commands that change nothing, with the options that keep them so; what is not listed here is asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from codeagent.core.text import names_secret
from codeagent.policy.awk_reading import read_awk
from codeagent.policy.git_reading import read_git
from codeagent.policy.name_patterns import of_names, of_types
from codeagent.policy.options import Given, allow, names, read_options
from codeagent.policy.read_only_table import DEEP, TABLE, Operands, Row
from codeagent.policy.reading import Reading
from codeagent.policy.real_programs import read_version
from codeagent.policy.sed_reading import read_sed
from codeagent.policy.shell_loops import is_harmless_variable
from codeagent.policy.shell_words import MAY_BE_KEY, Word, shows_key
from codeagent.policy.wrappers import inside
from codeagent.policy.xxd_reading import read_xxd

_SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin"})
_JQ_LOADS = re.compile(r"\b(?:import|include|modulemeta|env|input_filename|ENV)\b")
_PS_STYLE = re.compile(r"[auxwfjlvhTr]+|\d+")
_PS_FORMAT = re.compile(r"(?!.*env)[a-z%,=_]+")
_PAGE = re.compile(r"\w[\w.+:-]*")
_NUMBER = re.compile(r"\d{1,3}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_COMPARING = names("test [ [[")
_WHOLE_VARIABLE = re.compile(r"\$(?:\w+|\{\w+(?::?-)?\})|\"\$(?:\w+|\{\w+(?::?-)?\})\"")
_XARGS_OPTION = re.compile(r"-[0rtx]+|-[0rtx]*[nPLsdI].*|--null|--no-run-if-empty", re.DOTALL)
_XARGS_WHOLE = re.compile(r"-[0rtx]+|-[0rtx]*[nPLsdI].+|--.*", re.DOTALL)
_TREE_WORD = re.compile(r"-[^LPI]*(?:L\d*|[PI])?|--.*", re.DOTALL)  # elsewhere the next word is their value
_TAR_LIST = re.compile(r"-?t[vzjJ]*f")

_FIND_FLAGS = names(
    "-L -P -H -print -print0 -ls -prune -empty -not ! -o -or -a -and ( ) , -xdev -mount -depth -d -follow -readable"
    " -writable -executable -true -false -daystart -quit -nouser -nogroup -noleaf -ignore_readdir_race"
)
_FIND_VALUED = names(
    "-maxdepth -mindepth -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size"
    " -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -lname -ilname -printf -fstype"
    " -used -newerat -newerBt -newerct -newermt"
)
_FIND_PATHS = names("-newer -anewer -cnewer -samefile")

_DATE_ISO = names("-I -Idate -Ihours -Iminutes -Iseconds -Ins")

_TEST_FILES = names("-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S")
_TEST_TEXTS = names("-n -z -t -o")
_TEST_PAIRS = names("= == != < > -eq -ne -lt -le -gt -ge =~")
_TEST_FILE_PAIRS = names("-nt -ot -ef")
_TEST_JOINTS = names("! ( ) -a -o && ||")


def reading(words: Sequence[Word]) -> Reading | str:
    """What a command reads, or in words why it may do more than read."""
    found = _reading(words)
    if isinstance(found, Reading) and any(map(shows_key, words)) and not _asks_if_empty(words):
        return MAY_BE_KEY
    globs = tuple(word for word in words if word.glob)
    if isinstance(found, str) or not globs or words[0].text == "[[":
        return found
    return replace(found, globs=globs)


def _asks_if_empty(words: Sequence[Word]) -> bool:
    """Whether of each key only that it is set is told: every other test tells more, or names it in its complaint."""
    if words[0].text not in _COMPARING:
        return False
    ends = _TEST_JOINTS | {"]", "]]"}
    return all(
        operator.text in {"-n", "-z"}
        and _WHOLE_VARIABLE.fullmatch(word.text)
        and (behind is None or behind.text in ends)
        for operator, word, behind in zip_longest(words[:-1], words[1:], words[2:])
        if shows_key(word)
    )


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


def _printf(words: Sequence[Word]) -> Reading | str:
    has_dashes = bool(words) and words[0].text == "--"
    form = words[1:2] if has_dashes else words[:1]
    if form and (not form[0].is_known or (form[0].text.startswith("-") and not has_dashes)):
        return "printf may set a variable"
    return Reading(paths=tuple(word for word in words if word.glob))


def _echo(words: Sequence[Word]) -> Reading | str:
    """Also the values of a ``for`` loop: only patterns stand for files."""
    return Reading(paths=tuple(word for word in words if word.glob))


def _cd(words: Sequence[Word]) -> Reading | str:
    operands = [word for word in words if word.text not in {"-L", "-P", "--"}]
    if len(operands) > 1 or any(word.text.startswith("-") for word in operands):
        return "cd goes to a folder that is not known"
    return Reading(paths=tuple(operands) or (Word("~", has_tilde=True),))


def _leave(words: Sequence[Word]) -> Reading | str:
    if len(words) > 1 or not all(word.is_fixed and _NUMBER.fullmatch(word.text) for word in words):
        return "it calculates with its operand"
    return Reading()


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


def _read(words: Sequence[Word]) -> Reading | str:
    """``read`` takes a line of its input into variables, whose names must not steer anything."""
    variables = [word for word in words if word.text != "-r"]
    if not all(word.is_fixed and is_harmless_variable(word.text) for word in variables):
        return "read: what it sets may steer programs"
    return Reading()


def _command(words: Sequence[Word]) -> Reading | str:
    if len(words) > 1 and words[0].text in {"-v", "-V"} and all(word.is_fixed for word in words):
        return Reading()
    return "command runs another command"


def _find(words: Sequence[Word]) -> Reading | str:
    paths: list[Word] = []
    at = 0
    in_paths = True
    while at < len(words):
        word = words[at]
        at += 1
        if not word.is_known:
            return f"find: {word.text} is not known before it runs"
        text = word.text
        if text in _FIND_FLAGS and not word.glob:
            in_paths = in_paths and text in {"-L", "-P", "-H"}
        elif text in _FIND_VALUED or text in _FIND_PATHS or re.fullmatch(r"-newer[aBcm][aBcm]", text):
            in_paths = False
            if at == len(words) or not words[at].is_known:
                return f"find: the value of {text} is not known before it runs"
            if text not in _FIND_VALUED or words[at].glob:
                paths.append(words[at])
            at += 1
        elif in_paths and not text.startswith("-"):
            paths.append(word)
        else:
            return f"find: {text} is not known to be harmless"
    follows = any(word.text in {"-L", "-follow"} for word in words)
    paths = paths or [Word(".")]
    return Reading(paths=tuple(paths), is_recursive=follows, follows_links=follows, names_only=follows)


def _test(words: Sequence[Word]) -> Reading | str:
    """``test`` and its brackets: simple comparisons and questions about files."""
    inner = [word for word in words if word.text not in {"]", "]]"}]
    if any(word.may_split or word.glob for word in inner):
        return "it may get other words than are written"
    if not _is_certain_test(inner):
        return "test: one of its words may be an operator"
    paths: list[Word] = []
    at = 0
    while at < len(inner):
        word, rest = inner[at], inner[at + 1 :]
        if len(rest) > 1 and rest[0].text in _TEST_PAIRS | _TEST_FILE_PAIRS:
            if rest[0].text in _TEST_FILE_PAIRS:
                paths += [word, rest[1]]
            at += 3
        elif word.text in _TEST_FILES and rest and rest[0].text not in _TEST_JOINTS:
            paths.append(rest[0])
            at += 2
        elif word.text in _TEST_TEXTS and rest:
            at += 2
        elif word.text in _TEST_JOINTS or len(inner) == 1 or not word.text.startswith("-"):
            at += 1
        else:
            return f"test: {word.text} is not known to be harmless"
    return Reading(paths=tuple(paths))


def _is_certain_test(words: Sequence[Word]) -> bool:
    """Whether no word that is only known when it runs can be taken for an operator: ``-v`` would run code."""
    if all(word.is_known for word in words):
        return True
    if words[0].is_known and words[0].text == "!":
        words = words[1:]
    if len(words) == 1:
        return True
    if len(words) == 2:  # noqa: PLR2004 - an operator and its operand
        return words[0].is_known and words[0].text in _TEST_FILES | _TEST_TEXTS
    return len(words) == 3 and words[1].is_known and words[1].text in _TEST_PAIRS | _TEST_FILE_PAIRS  # noqa: PLR2004


def _double_test(words: Sequence[Word]) -> Reading | str:
    """``[[ … ]]``: words are not split here, and patterns are no file names."""
    found = _test([Word(word.text) for word in words])
    if isinstance(found, str):
        return found
    unknown = {word.text for word in words if not word.is_known}
    return Reading(paths=tuple(Word(word.text, is_known=word.text not in unknown) for word in found.paths))


def _jq(words: Sequence[Word]) -> Reading | str:
    """``jq``: besides its options in the table, ``--arg NAME TEXT`` gives it two words that are no files."""
    at = 0
    while at + 2 < len(words) and words[at].text != "--":
        if words[at].text in {"--arg", "--argjson"} and not any(w.may_split or w.glob for w in words[at : at + 3]):
            words = (*words[:at], *words[at + 3 :])
        else:
            at += 1
    return _by_table("jq", words)


def _date(words: Sequence[Word]) -> Reading | str:
    """``date`` shows the time; an operand that is no format would set the clock."""
    given = read_options(
        [word for word in words if word.text not in _DATE_ISO],
        allow("uR", "dr", "utc universal rfc-email iso-8601 debug", "date rfc-3339 reference", "r reference"),
    )
    if isinstance(given, str):
        return f"date: {given}"
    if not all(word.text.startswith(("+", '"+')) and not word.may_split and not word.glob for word in given.operands):
        return "date may set the clock"
    return Reading(paths=given.of("r", "reference"))


def _printenv(words: Sequence[Word]) -> Reading | str:
    """``printenv NAME`` shows one variable, as ``echo $NAME`` does; without a name it would show all."""
    if len(words) != 1 or not words[0].is_fixed or not _VARIABLE.fullmatch(words[0].text):
        return "printenv may show keys"
    return MAY_BE_KEY if names_secret(words[0].text) else Reading()


def _tar(words: Sequence[Word]) -> Reading | str:
    """``tar -tf FILE`` lists what is in a file; a name with a colon is on another machine."""
    if len(words) != 2 or not all(word.is_fixed for word in words) or not _TAR_LIST.fullmatch(words[0].text):  # noqa: PLR2004 - letters, file
        return "tar is only known to be harmless when it lists one file"
    if ":" in words[1].text or words[1].text.startswith("-"):
        return "tar may start a program to reach that file"
    return Reading(paths=tuple(words[1:]))


def _unzip(words: Sequence[Word]) -> Reading | str:
    if len(words) != 2 or not all(word.is_fixed for word in words) or words[0].text not in {"-l", "-v"}:  # noqa: PLR2004 - option, file
        return "unzip is only known to be harmless when it lists one file"
    return "unzip: its file may be an option" if words[1].text.startswith("-") else Reading(paths=tuple(words[1:]))


def _ps(words: Sequence[Word]) -> Reading | str:
    """``ps`` lists processes; with ``e`` in the old style it would show what is in their environments."""
    given = read_options(words, allow("AefFlHjTL", "pCo", "forest no-headers", "sort"))
    if isinstance(given, str):
        return f"ps: {given}"
    formats = all(word.is_fixed and _PS_FORMAT.fullmatch(word.text) for word in given.of("o"))
    if not formats or not all(word.is_fixed and _PS_STYLE.fullmatch(word.text) for word in given.operands):
        return "ps may show what is in the environment of programs"
    return Reading()


_READERS: Mapping[str, Callable[[Sequence[Word]], Reading | str]] = {
    "printf": _printf,
    "echo": _echo,
    "cd": _cd,
    "exit": _leave,
    "return": _leave,
    "break": _leave,
    "continue": _leave,
    "for": _echo,
    "read": _read,
    "time": _time,
    "xargs": _xargs,
    "awk": read_awk,
    "gawk": read_awk,
    "mawk": read_awk,
    "nawk": read_awk,
    "printenv": _printenv,
    "tar": _tar,
    "unzip": _unzip,
    "command": _command,
    "sed": read_sed,
    "find": _find,
    "test": _test,
    "[": _test,
    "[[": _double_test,
    "git": read_git,
    "date": _date,
    "jq": _jq,
    "xxd": read_xxd,
    "ps": _ps,
}
