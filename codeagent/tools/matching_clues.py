"""What may have happened to an old text that is not in the file: escapes, entities, fences, look-alikes and such."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from codeagent.tools.matching_document import BLANKS, Call, Document, join_lines, split_lines, without_numbers
from codeagent.tools.output import line_ranges

_ESCAPE = re.compile(r"\\([ntr\"'\\/])")
_ESCAPED = {"n": "\n", "t": "\t", "r": ""}
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_WILDCARD = re.compile(r"^[ \t]*(?:#|//|/\*|--|<!--)?[ \t]*(?:\.\.\.|…)", re.MULTILINE)
# Letters of other scripts that look like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "АВЕЗКМНОРСТУХаеорсухіјѕԁһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧονıɡ", "ABE3KMHOPCTYXaeopcyxijsdhlABEZHIKMNOPTYXovig"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What was seen, in a sentence, and what to send instead."""

    text: str
    hint: str


def clue(document: Document, call: Call) -> Clue | None:
    """What is wrong with the old text, if putting it right makes it fit."""
    for what, hint, repair in _REPAIRS:
        repaired = repair(call.old)
        if repaired != call.old and repaired.strip() and (where := _stands_on(document.text, repaired)):
            return Clue(text=f"It contains {what}; without them it fits {line_ranges([where])}.", hint=hint)
    return _odd_character(document, call)


def already_there(document: Document, call: Call) -> str:
    """A sentence that says where the new text already stands, or nothing."""
    if not call.new.strip() or call.new in call.old:
        return ""
    where = _stands_on(document.text, call.new)
    return (
        f"But `new` is already there, on {line_ranges([where])}: this edit may have been made before." if where else ""
    )


def is_like_something_shown(old: str) -> str:
    """A sentence about marks in the old text that do not belong to any file, or nothing."""
    lines = split_lines(old)
    if _FENCE.match(lines[0]) and len(lines) > 1:
        return "It is wrapped in a code fence: send the plain text."
    if without_numbers(old) != old:
        return "Lines of it start with a line number: send the plain text."
    if _without_diff_marks(old) != old:
        return "It has diff markers (+ and - at the line starts): send the plain text."
    if _WILDCARD.search(old):
        return "`...` stands for nothing but three dots: send every line."
    return ""


def bare(text: str) -> str:
    """The text without invisible characters, compatibility forms and look-alikes made plain; lines stay lines."""
    if text.isascii():
        return text
    characters = set(text)
    if invisible := "".join(filter(_is_invisible, characters)):
        text = re.sub(f"[{re.escape(invisible)}]", "", text)
    text = unicodedata.normalize("NFKC", text)
    return text if characters.isdisjoint(map(chr, _LOOK_ALIKES)) else text.translate(_LOOK_ALIKES)


def _odd_character(document: Document, call: Call) -> Clue | None:
    """The first character that only looks like the one it is taken for, in the file or in the old text."""
    if document.text.isascii() and call.old.isascii():
        return None
    where = _stands_on(bare(document.text), bare(call.old))
    if where is None:
        return None
    file_lines, old_lines = document.lines[where[0] - 1 : where[1]], split_lines(call.old)
    for number, (line, old) in enumerate(zip(file_lines, old_lines, strict=False)):
        place = f"line {where[0] + number} of the file"
        for text, other, owner in ((line, old, place), (old, line, f"line {number + 1} of `old`")):
            for column, character in enumerate(text, start=1):
                if not character.isascii() and character not in other:
                    odd = f"{owner} has {_name(character)} in column {column}"
                    return Clue(
                        text=f"It looks like {line_ranges([where])}, but {odd}.",
                        hint="Send exactly the characters that the file has.",
                    )
    return None


def _stands_on(text: str, wanted: str) -> tuple[int, int] | None:
    """The lines where a text stands: as it is, else as whole lines whatever blanks are around them."""
    at = text.find(wanted)
    if at >= 0:
        first = text.count("\n", 0, at) + 1
        return first, first + wanted.removesuffix("\n").count("\n")
    lines = [line.strip(BLANKS) for line in split_lines(wanted.strip("\n"))]
    if not any(lines):
        return None
    haystack = join_lines([line.strip(BLANKS) for line in split_lines(text)])
    at = haystack.find(join_lines(lines))
    if at < 0:
        return None
    first = haystack.count("\n", 0, at) + 1
    return first, first + len(lines) - 1


def _name(character: str) -> str:
    return f"U+{ord(character):04X} ({unicodedata.name(character, 'no name').lower()})"


def _is_invisible(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) in ("Cf", "Cc", "Mn", "Co", "Zl", "Zp")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text)


def _escaped(text: str) -> str:
    inner = text.removesuffix("\n")
    return inner.replace("\n", "\\n").replace("\t", "\\t")


def _without_fence(text: str) -> str:
    lines = split_lines(text)
    if len(lines) > 1 and _FENCE.match(lines[0]):
        lines = lines[1:-1] if _FENCE.match(lines[-1]) else lines[1:]
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _without_diff_marks(text: str) -> str:
    """The old side of a diff: removed and unchanged lines."""
    lines = [line for line in split_lines(text) if not line.startswith(("@@", "---", "+++", "\\ No newline"))]
    if not any(line.startswith(("-", "+")) for line in lines) or any(line[:1] not in "+- " for line in lines):
        return text
    return "\n".join(line[1:] for line in lines if not line.startswith("+")) + ("\n" if text.endswith("\n") else "")


_PLAIN = "Send the plain text, as it is in the file."
_REPAIRS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("the line numbers of the read tool", _PLAIN, without_numbers),
    ("a code fence around the text (its marks)", _PLAIN, _without_fence),
    ("diff markers at the line starts", _PLAIN, _without_diff_marks),
    ('escapes such as \\n, \\t or \\" (read as what they stand for)', _PLAIN, _unescaped),
    ("HTML entities such as &lt; (read as what they stand for)", _PLAIN, html.unescape),
    (
        "real line breaks or tabs where the file has the escapes \\n or \\t (read as such)",
        "Send the backslash and the letter as two characters.",
        _escaped,
    ),
)
