"""Which words of a command that is not known to read only may name a file that it writes.

Programs are many, so that it goes the other way round: all words may, but for those of the programs listed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from codeagent.policy.options import names
from codeagent.policy.path_words import PLAIN_PATH
from codeagent.policy.read_only import reading
from codeagent.policy.read_only_table import TABLE
from codeagent.policy.replaced import sorted_into
from codeagent.policy.shell_words import Word
from codeagent.policy.wrappers import base_name, inside

_WRITING_READERS = names("sort uniq shuf tree file")
"""They are in the table of harmless commands, and have options or operands that name a file to write."""
_LEAVES_OPERANDS = TABLE.keys() - _WRITING_READERS | names(
    "actionlint ag awk bat batcat cd cloc code cppcheck egrep flake8 gawk hadolint less mdl mypy nawk mawk more open"
    " pylint pyright basedpyright pytest py.test rg ripgrep shellcheck tokei xdg-open yamllint zizmor zcat zgrep"
)
_COMMANDS_THAT_LEAVE = frozenset({("gh", "api"), ("gh", "issue"), ("gh", "pr"), ("gh", "search"), ("gh", "workflow")})
_GIT_THAT_MAKES = names("clone init worktree svn p4 fast-import checkout-index difftool mergetool lfs filter-branch")
_NAMED_TO_BE_LEFT_OUT = re.compile(r"--(?:extend-)?(?:exclude|ignore)(?:-dir|-path|-pattern|-glob|d)?", re.IGNORECASE)
_OUTPUT = re.compile(r"-o|-O|--out[\w-]*")
_LINKS = re.compile(r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|gfortran|rustc|go|as|nasm)(?:-[\d.]+)?")
_FIND_FILES = names("-fprint -fprint0 -fls -fprintf")
_MOST_LETTERS = 8


def surely_output(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words that name a file, or by how they look very likely name one, into which the command writes."""
    name = base_name(words[0].text) if words and words[0].is_fixed else ""
    if name in _OUTPUTS:
        return tuple(_OUTPUTS[name](words[1:]))
    if name in _LEAVES_OPERANDS:
        return ()
    is_certain = _LINKS.fullmatch(name) is not None
    return tuple(
        word for word in _valued(_own(words)) if is_certain or (PLAIN_PATH.fullmatch(word.text) and _is_path(word.text))
    )


def possibly_written(words: Sequence[Word]) -> tuple[Word, ...]:  # noqa: PLR0911 - one return a kind
    """The words that may name a file which the command writes, as far as nothing is known to the contrary."""
    if not words or not words[0].is_fixed:
        return tuple(words[1:])
    name, rest = base_name(words[0].text), words[1:]
    if name == "git":
        at = next((at for at, word in enumerate(rest) if word.text in _GIT_THAT_MAKES), len(rest))
        return tuple(rest[at + 1 :])
    if name in _FINDERS:
        return (*surely_output(words), *(_tops(rest) if _changes(words) else ()))
    if name in _OUTPUTS:
        return surely_output(words)
    if name in TABLE:
        return tuple(_but_left_out(rest)) if name in _WRITING_READERS else ()
    if name in _LEAVES_OPERANDS or (name, *(word.text for word in rest[:1])) in _COMMANDS_THAT_LEAVE:
        return tuple(_valued(rest))
    ran = inside(words)
    return tuple(_valued(_own(words)) if ran and not any(one.is_hidden for one in ran) else _but_left_out(rest))


def _own(words: Sequence[Word]) -> Sequence[Word]:
    """The words behind the program, without the command that it runs."""
    behind = max((len(one.words) for one in inside(words)), default=1)
    return words[1 : max(len(words) - behind + 1, 1)]


def _valued(words: Sequence[Word]) -> Iterator[Word]:
    """The values of options for the output."""
    for word, following in pairwise([*words, Word("")]):
        name, equals, value = word.text.partition("=")
        if _OUTPUT.fullmatch(name) or (equals and name == "of"):
            if equals:
                yield Word(value, is_known=word.is_known)
            elif not following.text.startswith("-"):
                yield following


def _is_path(text: str) -> bool:
    return "=" not in text and ("/" in text or "." in text)


def _but_left_out(words: Sequence[Word]) -> Iterator[Word]:
    """Without the values of options that tell what is left alone; clusters of letters also in their parts."""
    before = ""
    for word in words:
        option = word.text.partition("=")[0]
        if not _NAMED_TO_BE_LEFT_OUT.fullmatch(before) and not _NAMED_TO_BE_LEFT_OUT.fullmatch(option):
            yield word
            if word.is_known and word.text[:1] == "-" != word.text[1:2]:
                yield from (Word(word.text[at:]) for at in range(3, min(len(word.text), _MOST_LETTERS)))
        before = word.text


def _changes(words: Sequence[Word]) -> bool:
    """Whether what is found is deleted, or given to a command that does more than read."""
    if any(word.text == "-delete" for word in words):
        return True
    return any(one.is_hidden or isinstance(reading(one.words), str) for one in inside(words))


def _tops(words: Sequence[Word]) -> Iterator[Word]:
    """The folders in which ``find`` looks."""
    for word in words:
        if word.text.startswith(("-", "(", "!")) and word.text not in {"-L", "-P", "-H"}:
            return
        yield word


def _second(words: Sequence[Word], valued: str) -> Iterator[Word]:
    """The second operand; each letter of ``valued`` is an option with a value in the next word."""
    operands: list[Word] = []
    is_value = is_over = False
    for word in words:
        is_option = word.text[:1] == "-" and word.text != "-" and not is_over
        if is_value:
            is_value = False
        elif not is_option:
            operands.append(word)
        else:
            is_over = word.text == "--"
            is_value = len(word.text) == len("-x") and word.text[1] in valued
    yield from operands[1:]


def _found_into(words: Sequence[Word]) -> Iterator[Word]:
    yield from (following for word, following in pairwise(words) if word.text in _FIND_FILES)


def _split_into(words: Sequence[Word]) -> Iterator[Word]:
    for word in _second(words, "abClnt"):
        yield Word(f"{word.text}aa", is_known=word.is_known)


_OUTPUTS: Mapping[str, Callable[[Sequence[Word]], Iterator[Word]]] = {
    "sort": sorted_into,
    "shuf": sorted_into,
    "uniq": lambda words: _second(words, "fsw"),
    "xxd": lambda words: _second(words, "cglosR"),
    "find": _found_into,
    "split": _split_into,
}
_FINDERS = names("find fd fdfind")
