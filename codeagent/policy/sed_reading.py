"""Tells whether ``sed`` only prints some of the lines that it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codeagent.policy.options import allow, read_options
from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word

# One sed command: an address or two, then p.
_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/[IM]?)"
_PRINT = rf"[ \t]*(?:{_ADDRESS}(?:,(?:{_ADDRESS}|[+~]\d+))?)[ \t]*p[ \t]*"
_SCRIPT = re.compile(rf"{_PRINT}(?:[;\n]{_PRINT})*;?")


def read_sed(words: Sequence[Word]) -> Reading | str:
    """What ``sed`` reads, or in words why it may do more."""
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
    if not scripts or not all(word.is_fixed and _SCRIPT.fullmatch(word.text) for word in scripts):
        return "sed is only known to be harmless with addresses and p"
    return Reading(paths=files)
