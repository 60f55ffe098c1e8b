"""The words of a shell command as bash would pass them: quotes taken off, braces expanded, what is unknown marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codeagent.core.text import names_secret
from codeagent.policy.effort import spend

MAY_BE_KEY = "this variable may hold a key"
_EXPANDED = re.compile(r"\$\{?([A-Za-z_]\w*)(?![\w+]|:\+)")
_MOST_BRACE_WORDS = 256
_LONGEST_BRACE_WORD = 1_000
_CHARACTERS_IN_ONE = 4
_BRACE_RANGES = re.compile(r"\{[^{}]*\.\.")
_BRACE_RANGE = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})|([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z])")
_MOST_WORDS = 4_096
"""More than anybody writes to be read: the shell holds all of them in memory, a million take about 300 MB."""

TOO_MANY_WORDS = "it makes more words than anybody can look at"

_BRACE_SIGNS = re.compile(r"[{},]")
_NUMBER_RANGE = re.compile(r"([+-]?\d{1,20})\.\.([+-]?\d{1,20})(?:\.\.([+-]?\d{1,20}))?", re.ASCII)
_LETTER_RANGE = re.compile(r"(.)\.\.(.)(?:\.\.[+-]?\d+)?", re.DOTALL)
_GLOB = re.compile(r"[*?\[]")
_UNUSUAL_GLOB = re.compile(r"\[[:.=]|[?*+@!]\(")
_SIGN_IN_SET = re.compile(r"[]\[!^*?\\/.:=-]")
_SET = re.compile(r"\[[!^]?\]?(?P<inside>[^]/\0]*)(?P<end>\0|[]/]|\Z)")
_NAMED_VALUE = re.compile(r"[^\W\d]\w*(?:\+?=|\[.*=)", re.DOTALL)
_TILDE_IN_VALUE = re.compile(r"[=:]~")
_HALF_QUOTED_TILDE = re.compile(r"~[^/:\0]*\0")
_ANSI_C = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})"
    r"|U(?P<long>[0-9a-fA-F]{1,8})|(?P<letter>[abeEfnrtv\\'\"?])|(?P<odd>c|x\{))",
)
_ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_LAST_BYTE_CHARACTER = 0x7F
_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    ``text`` is what the program gets, if ``is_known``; else the word as written.
    ``may_split`` says that it may become several words or none, ``glob`` is the
    pattern with quoted characters protected when file names take its place (as written
    where it is not known), and
    ``has_tilde`` that it begins with an unquoted ``~``. ``values`` are the words that
    the variable of a loop, which it consists of, stands for one after the other.
    """

    text: str
    is_known: bool = True
    may_split: bool = False
    glob: str = ""
    has_tilde: bool = False
    values: tuple[Word, ...] = ()

    @property
    def is_fixed(self) -> bool:
        """Whether exactly this one word is passed."""
        return self.is_known and not self.glob and not self.has_tilde


def one_by_one(words: Iterable[Word]) -> Iterator[Word]:
    """The words, with what the variables of loops stand for in their place."""
    for word in words:
        yield from word.values or (word,)


def shows_key(word: Word) -> bool:
    """Whether a variable that is called like a key stands in a word; ``${KEY:+set}`` and ``${#KEY}`` do not show it."""
    return (not word.is_known and names_key(word.text)) or any(map(shows_key, word.values))


def names_key(text: str) -> bool:
    """Whether an expansion in a text gives the value of a variable that is called like a key.

    ``$_`` is the last word of the command before, whatever that stood for.
    """
    return any(name == "_" or names_secret(name) for name in _EXPANDED.findall(text))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word; unknown ones stand for whatever an expansion gives."""

    text: str
    is_quoted: bool = False
    is_known: bool = True


def words_of(pieces: Sequence[Piece], source: str) -> list[Word]:
    """The word or, after brace expansion, words made of ``pieces``; ``source`` is how they were written."""
    plain = unquoted(pieces)
    if _may_expand_tilde(plain):
        return [Word(source, is_known=False, may_split="{" in plain, glob=source if _GLOB.search(plain) else "")]
    inside = plain[plain.find("{") : plain.rfind("}") + 1] if "{" in plain else ""
    if inside and ("," in inside or _BRACE_RANGES.search(inside)):
        expanded = _braces(pieces)
        if expanded is None:
            return [Word(source, is_known=False, may_split=True)]
        return [_word(variant, source) for variant in expanded]
    return [_word(pieces, source)]


def unquoted(pieces: Sequence[Piece]) -> str:
    """The text with a NUL for each part that is quoted or unknown."""
    return "".join(piece.text if piece.is_known and not piece.is_quoted else "\0" for piece in pieces)


def _may_expand_tilde(plain: str) -> bool:
    """Whether a home folder may stand inside the word, or not even at its beginning.

    Bash puts one into each argument like ``a=~/x`` or ``a=x:~``, other shells and its POSIX
    mode do not; ``~"/x"`` is a name like any other.
    """
    if "~" not in plain:
        return False
    if _NAMED_VALUE.match(plain) and _TILDE_IN_VALUE.search(plain):
        return True
    return _HALF_QUOTED_TILDE.match(plain) is not None


def _word(pieces: Sequence[Piece], source: str) -> Word:
    if _may_expand_tilde(unquoted(pieces)):
        return Word(source, is_known=False)
    is_glob = any(piece.is_known and not piece.is_quoted and _GLOB.search(piece.text) for piece in pieces)
    if not all(piece.is_known for piece in pieces):
        may_split = is_glob or any(not piece.is_known and not piece.is_quoted for piece in pieces)
        return Word(source, is_known=False, may_split=may_split, glob=source if is_glob else "")
    text = "".join(piece.text for piece in pieces)
    has_tilde = bool(pieces) and not pieces[0].is_quoted and pieces[0].text.startswith("~")
    if not is_glob:
        return Word(text, has_tilde=has_tilde)
    pattern = "".join(_protected(piece.text) if piece.is_quoted else piece.text for piece in pieces)
    if _UNUSUAL_GLOB.search(pattern) or _has_unusual_set(pieces):
        return Word(source, is_known=False, may_split=True, glob=source)
    return Word(text, glob=pattern.replace("[^", "[!"), has_tilde=has_tilde)


def _has_unusual_set(pieces: Sequence[Piece]) -> bool:
    """Whether a quoted sign may stand in ``[…]``, where it means itself: ``[x"]"]`` is a set of two characters."""
    marked = (_SIGN_IN_SET.sub("\0", piece.text) if piece.is_quoted else piece.text for piece in pieces)
    return any(found["end"] == "\0" or "[^" in found["inside"] for found in _SET.finditer("".join(marked)))


def _protected(text: str) -> str:
    return _GLOB.sub(lambda found: f"[{found[0]}]", text)


def unquoted_pieces(raw: str) -> Iterator[Piece]:
    """The pieces of text outside quotes: a backslash quotes the character behind it."""
    start = 0
    while (at := raw.find("\\", start)) >= 0:
        if at > start:
            yield Piece(raw[start:at])
        if at + 1 < len(raw):
            yield Piece(raw[at + 1], is_quoted=True)
        else:
            yield Piece("\\", is_quoted=True)
        start = at + 2
    if start < len(raw):
        yield Piece(raw[start:])


def inside_double_quotes(raw: str) -> str:
    """The text between double quotes with its backslashes worked off, as bash does."""
    return re.sub(r"\\([$`\"\\]|\n)", lambda found: "" if found[1] == "\n" else found[1], raw)


def ansi_c(raw: str) -> str | None:
    """The text of ``$'…'`` without its quotes; None when it is not certain what bash makes of it."""
    unknown = False

    def meant(found: re.Match[str]) -> str:
        nonlocal unknown
        if letter := found["letter"]:
            return _ANSI_LETTERS[letter]
        if found["odd"]:
            unknown = True
            return ""
        is_byte = found["octal"] or found["hex"]
        code = int(found["octal"], 8) if found["octal"] else int(found["hex"] or found["short"] or found["long"], 16)
        if code == 0 or code > _LAST_CHARACTER or (is_byte and code > _LAST_BYTE_CHARACTER):
            unknown = True
            return ""
        return chr(code)

    text = _ANSI_C.sub(meant, raw)
    return None if unknown else text


def _braces(pieces: Sequence[Piece]) -> list[list[Piece]] | None:
    """Brace expansion; None when it is too much or not certain. Works on single characters, so that quotes count."""
    if not all(piece.is_known for piece in pieces) or sum(len(piece.text) for piece in pieces) > _LONGEST_BRACE_WORD:
        return None
    characters = [
        Piece(character, is_quoted=piece.is_quoted) for piece in pieces for character in (piece.text or ("",))
    ]
    if not _is_plainly_nested(characters):
        return None
    expanded = _expand(characters, depth=0)
    # Nothing at all is no word: ``{,a}`` is one. Where none is left the word as a whole is left unknown.
    return [variant for variant in expanded if variant] or None if expanded else None


def _is_plainly_nested(characters: list[Piece]) -> bool:
    """Whether each brace has its other one and a comma or two dots between them: bash pairs others in its own ways."""
    opened: list[bool] = []
    for before, now in pairwise((Piece(""), *characters)):
        if now.is_quoted:
            continue
        if now.text == "{":
            opened.append(False)
        elif now.text == "}":
            if not opened or not opened.pop():
                return False
        elif opened and (now.text == "," or (now.text == before.text == "." and not before.is_quoted)):
            opened[-1] = True
    return not opened


def _expand(characters: list[Piece], depth: int) -> list[list[Piece]] | None:
    spend(1 + len(characters) // _CHARACTERS_IN_ONE)
    opening, closing, commas = _first_group(characters)
    if opening < 0:
        return [_joined(characters)]
    if depth > 8:  # noqa: PLR2004 - nobody nests braces this deep
        return None
    before, after = characters[:opening], characters[closing + 1 :]
    if commas:
        edges = [opening, *commas, closing]
        options = [characters[left + 1 : right] for left, right in pairwise(edges)]
    else:
        inner = "".join(c.text for c in characters[opening + 1 : closing])
        values = _range(inner)
        if values is None:
            return None
        options = [[Piece(value)] for value in values]
    result: list[list[Piece]] = []
    for option in options:
        expanded = _expand([*before, *option, *after], depth + 1)
        if expanded is None or len(result) + len(expanded) > _MOST_BRACE_WORDS:
            return None
        result += expanded
    return result


def _first_group(characters: list[Piece]) -> tuple[int, int, list[int]]:
    """Where the first real brace group opens and closes, and its commas; -1 where there is none."""
    for opening, first in enumerate(characters):
        if first.text == "{" and not first.is_quoted:
            closing, commas = _group_end(characters, opening)
            if closing >= 0:
                return opening, closing, commas
    return -1, -1, []


def _group_end(characters: list[Piece], opening: int) -> tuple[int, list[int]]:
    """Where a group closes that holds a comma or two dots; -1 when it is none."""
    level, commas, has_dots = 0, list[int](), False
    for at in range(opening + 1, len(characters)):
        character = "" if characters[at].is_quoted else characters[at].text
        if character == "{":
            level += 1
        elif character == "}" and level:
            level -= 1
        elif character == "}":
            return (at, commas) if commas or has_dots else (-1, [])
        elif character == "," and not level:
            commas.append(at)
        elif character == "." and not level and characters[at - 1].text == ".":
            has_dots = True
    return -1, []


def _range(inner: str) -> list[str] | None:
    """The words of ``{1..3}`` or ``{a..c}``."""
    found = _BRACE_RANGE.fullmatch(inner)
    if not found:
        return None
    if found[1] is not None:
        if re.match(r"-?0\d", found[1]) or re.match(r"-?0\d", found[2]):
            return None
        first, last = int(found[1]), int(found[2])
        if abs(first - last) > _MOST_BRACE_WORDS:
            return None
        step = 1 if first <= last else -1
        return [str(number) for number in range(first, last + step, step)]
    low, high = (found[3], found[4]) if found[3] else (found[5], found[6])
    step = 1 if low <= high else -1
    return [chr(code) for code in range(ord(low), ord(high) + step, step)]


def _joined(characters: list[Piece]) -> list[Piece]:
    """Neighbours of the same kind put together again."""
    joined: list[Piece] = []
    for character in characters:
        if not character.text and not character.is_quoted:
            continue
        if joined and joined[-1].is_quoted == character.is_quoted:
            joined[-1] = Piece(joined[-1].text + character.text, is_quoted=character.is_quoted)
        else:
            joined.append(character)
    return joined


def makes_too_many(plain: str) -> bool:
    """Whether a word may become more than _MOST_WORDS; ``plain`` holds something else for what is quoted or unknown."""
    count = 1
    opened: list[tuple[int, int]] = []  # for each brace that is open where it stands, and the commas behind it
    for found in _BRACE_SIGNS.finditer(plain):
        if found[0] == "{":
            opened.append((found.start(), 0))
        elif found[0] == "," and opened:
            start, commas = opened.pop()
            opened.append((start, commas + 1))
        elif found[0] == "}" and opened:
            start, commas = opened.pop()
            count *= commas + 1 if commas else _count_of(plain[start + 1 : found.start()])
            if count > _MOST_WORDS:
                return True
    return False


def _count_of(inner: str) -> int:
    """The number of words of ``{1..3}``, ``{1..9..2}`` or ``{a..c}``; one for anything else."""
    if found := _NUMBER_RANGE.fullmatch(inner):
        return abs(int(found[2]) - int(found[1])) // max(1, abs(int(found[3] or 1))) + 1
    if found := _LETTER_RANGE.fullmatch(inner):
        return abs(ord(found[2]) - ord(found[1])) + 1
    return 1
