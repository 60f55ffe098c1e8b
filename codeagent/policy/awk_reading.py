"""Tells whether an ``awk`` program only prints what it reads; what is not surely so is asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codeagent.policy.options import allow, read_options
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word

# Searched in the bare text, in strings and comments as well: telling these from code is where such checks are tricked.
_REACHES_OUT = re.compile(r"system|getline|close|fflush|ENVIRON|ARG[CVI]|PROCINFO|SYMTAB|FUNCTAB|@|\\\n")
_LONGEST = 2_000
_SAFE_MARKS = re.compile(
    r"\|\|"
    r"|(?<!>)>="
    r"|\([ \t]*\$?\w+[ \t]*>[ \t]*\$?[\w.]+[ \t]*\)"  # a comparison in brackets of its own
)
_CONDITION = re.compile(r"[ \t]*\$?\w+(?:\([^()<>|]*\))?[ \t]*>[ \t]*\$?[\w.]+[ \t]*(?=\{|$)")
_SETTING = re.compile(r"(?:[a-z_][a-z0-9_]*|OFS|FS|ORS|RS|OFMT)=.*", re.DOTALL)


def read_awk(words: Sequence[Word]) -> Reading | str:
    """What ``awk`` reads, or in words why it may do more."""
    given = read_options(words, allow(valued="Fv"))
    if isinstance(given, str):
        return f"awk: {given}"
    if not all(value.is_fixed and _SETTING.fullmatch(value.text) for value in given.of("v")):
        return "awk: a variable that it sets is not known to be harmless"
    if not given.operands or not given.operands[0].is_fixed:
        return "awk: its program is only known when it runs"
    program, files = given.operands[0].text, given.operands[1:]
    if given.late or any(word.text.startswith("-") and word.text != "-" for word in files):
        return "awk takes options only before its program"
    if len(program) > _LONGEST or not _only_prints(program):
        return "an awk program can run others and write files"
    return Reading(paths=files)


def _only_prints(program: str) -> bool:
    """Whether it can neither run a program nor open a file: there is no pipe, and every ``>`` surely compares."""
    if _REACHES_OUT.search(program) or not program.isascii():
        return False
    rest = _SAFE_MARKS.sub(" ", _CONDITION.sub(" ", program, count=1) if _CONDITION.match(program) else program)
    return not re.search(r"[|>]", rest)
