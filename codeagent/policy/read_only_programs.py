"""Programs whose words say more than a table can hold: which calls of them change nothing, and what these read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from codeagent.core.text import names_secret
from codeagent.policy.options import allow, names, read_options
from codeagent.policy.reading import Reading
from codeagent.policy.shell_loops import is_harmless_variable
from codeagent.policy.shell_words import MAY_BE_KEY, Word, shows_key

_PS_STYLE = re.compile(r"[auxwfjlvhTr]+|\d+")
_PS_FORMAT = re.compile(r"(?!.*env)[a-z%,=_]+")
_NUMBER = re.compile(r"\d{1,3}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_COMPARING = names("test [ [[")
_WHOLE_VARIABLE = re.compile(r"\$(?:\w+|\{\w+(?::?-)?\})|\"\$(?:\w+|\{\w+(?::?-)?\})\"")
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

# Searched in the bare text, in strings and comments as well: telling these from code is where such checks are tricked.
_AWK_REACHES_OUT = re.compile(r"system|getline|close|fflush|ENVIRON|ARG[CVI]|PROCINFO|SYMTAB|FUNCTAB|@|\\\n")
_LONGEST_AWK = 2_000
_SAFE_MARKS = re.compile(
    r"\|\|"
    r"|(?<!>)>="
    r"|\([ \t]*\$?\w+[ \t]*>[ \t]*\$?[\w.]+[ \t]*\)"  # a comparison in brackets of its own
)
_CONDITION = re.compile(r"[ \t]*\$?\w+(?:\([^()<>|]*\))?[ \t]*>[ \t]*\$?[\w.]+[ \t]*(?=\{|$)")
_AWK_SETTING = re.compile(r"(?:[a-z_][a-z0-9_]*|OFS|FS|ORS|RS|OFMT)=.*", re.DOTALL)

# One sed command: an address or two, then p.
_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/[IM]?)"
_SED_PRINT = rf"[ \t]*(?:{_SED_ADDRESS}(?:,(?:{_SED_ADDRESS}|[+~]\d+))?)[ \t]*p[ \t]*"
_SED_SCRIPT = re.compile(rf"{_SED_PRINT}(?:[;\n]{_SED_PRINT})*;?")

_XXD_SWITCH = re.compile(r"-(?:[abCEeipu]|ps|plain|bits|include)")
_XXD_VALUED = re.compile(r"-[cglos]")
_XXD_WITH_VALUE = re.compile(r"-[cglos](?:0x[0-9a-fA-F]+|[+-]{0,2}\d+)")


def asks_if_empty(words: Sequence[Word]) -> bool:
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


def _awk(words: Sequence[Word]) -> Reading | str:
    """What ``awk`` reads; it must surely only print that."""
    given = read_options(words, allow(valued="Fv"))
    if isinstance(given, str):
        return f"awk: {given}"
    if not all(value.is_fixed and _AWK_SETTING.fullmatch(value.text) for value in given.of("v")):
        return "awk: a variable that it sets is not known to be harmless"
    if not given.operands or not given.operands[0].is_fixed:
        return "awk: its program is only known when it runs"
    program, files = given.operands[0].text, given.operands[1:]
    if given.late or any(word.text.startswith("-") and word.text != "-" for word in files):
        return "awk takes options only before its program"
    if len(program) > _LONGEST_AWK or not _only_prints(program):
        return "an awk program can run others and write files"
    return Reading(paths=files)


def _only_prints(program: str) -> bool:
    """Whether it can neither run a program nor open a file: there is no pipe, and every ``>`` surely compares."""
    if _AWK_REACHES_OUT.search(program) or not program.isascii():
        return False
    rest = _SAFE_MARKS.sub(" ", _CONDITION.sub(" ", program, count=1) if _CONDITION.match(program) else program)
    return not re.search(r"[|>]", rest)


def _sed(words: Sequence[Word]) -> Reading | str:
    """``sed`` with nothing but addresses and ``p`` only prints some of the lines that it reads."""
    given = read_options(
        words,
        allow("nErsuz", "e", "quiet silent regexp-extended separate unbuffered null-data", "expression"),
    )
    if isinstance(given, str):
        return f"sed: {given}"
    if not given.names & {"n", "quiet", "silent"}:
        return "sed is only known to be harmless with -n"
    scripts, files = given.of("e", "expression"), given.operands
    if not scripts:
        scripts, files = files[:1], files[1:]
    if not scripts or not all(word.is_fixed and _SED_SCRIPT.fullmatch(word.text) for word in scripts):
        return "sed is only known to be harmless with addresses and p"
    return Reading(paths=files)


def _xxd(words: Sequence[Word]) -> Reading | str:
    """``xxd`` takes one option a word, all before its file, and writes to a second file."""
    at = 0
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        text = words[at].text
        if not words[at].is_fixed or not (
            _XXD_SWITCH.fullmatch(text) or _XXD_VALUED.fullmatch(text) or _XXD_WITH_VALUE.fullmatch(text)
        ):
            return f"xxd: {text} is not known to be harmless"
        if _XXD_VALUED.fullmatch(text):
            at += 1
            if at < len(words) and not words[at].is_fixed:
                return f"xxd: the value of {text} is not known before it runs"
        at += 1
    files = tuple(words[at:])
    if len(files) > 1 or any(word.glob or word.may_split for word in files):
        return "xxd may write to one of its operands"
    return Reading(paths=files)


PROGRAMS: Mapping[str, Callable[[Sequence[Word]], Reading | str]] = {
    "printf": _printf,
    "echo": _echo,
    "cd": _cd,
    **dict.fromkeys(("exit", "return", "break", "continue"), _leave),
    "for": _echo,
    "read": _read,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "printenv": _printenv,
    "tar": _tar,
    "unzip": _unzip,
    "command": _command,
    "sed": _sed,
    "find": _find,
    "test": _test,
    "[": _test,
    "[[": _double_test,
    "date": _date,
    "xxd": _xxd,
    "ps": _ps,
}
"""By name, what tells of the words behind it what they read, or in words why they may do more."""
