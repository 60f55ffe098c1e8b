"""Tells whether ``xxd`` only prints: it takes one option a word, all before its file, and writes to a second file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codeagent.policy.reading import Reading
from codeagent.policy.shell_words import Word

_SWITCH = re.compile(r"-(?:[abCEeipu]|ps|plain|bits|include)")
_VALUED = re.compile(r"-[cglos]")
_WITH_VALUE = re.compile(r"-[cglos](?:0x[0-9a-fA-F]+|[+-]{0,2}\d+)")


def read_xxd(words: Sequence[Word]) -> Reading | str:
    """What ``xxd`` reads, or in words why it may do more."""
    at = 0
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        text = words[at].text
        if not words[at].is_fixed or not (
            _SWITCH.fullmatch(text) or _VALUED.fullmatch(text) or _WITH_VALUE.fullmatch(text)
        ):
            return f"xxd: {text} is not known to be harmless"
        if _VALUED.fullmatch(text):
            at += 1
            if at < len(words) and not words[at].is_fixed:
                return f"xxd: the value of {text} is not known before it runs"
        at += 1
    files = tuple(words[at:])
    if len(files) > 1 or any(word.glob or word.may_split for word in files):
        return "xxd may write to one of its operands"
    return Reading(paths=files)
