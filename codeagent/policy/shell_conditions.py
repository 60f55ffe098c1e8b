"""Reads ``[ … ]`` and ``[[ … ]]``: their words, and whether comparing them can run code or open files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeagent.policy.shell_expansions import WordReader
from codeagent.policy.shell_script import Direction, Redirection
from codeagent.policy.shell_source import CALCULATES, DEEPEST, UNKNOWN_SYNTAX, Source
from codeagent.policy.shell_words import Word

_PARTS = frozenset({"binary_expression", "unary_expression", "parenthesized_expression", "negation_expression"})
_WORDS = frozenset(
    {"word", "number", "string", "raw_string", "concatenation", "ansi_c_string", "simple_expansion", "expansion"}
    | {"command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression", "extglob_pattern"}
    | {"variable_name", "translated_string"}
)
_NUMBER = re.compile(r"-?\d{1,18}")
_REDIRECTS = re.compile("[<>]")
_ENDS_COMMAND = re.compile("[;&|()]")
_BLANKS = (b" ", b"\t")
_NUMBER_PAIRS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def read_condition(node: Node, source: Source, reader: WordReader) -> tuple[list[Word], list[Redirection]]:
    """The words of a condition as if it were a command of that name, and its files; doubts go to ``source``."""
    is_plain = bool(node.children) and node.children[0].type == "["
    parts = _Parts(source, reader, is_plain=is_plain)
    parts.collect(node, 0)
    _check_brackets(node, source, is_plain=is_plain)
    words, files = parts.words, list[Redirection]()
    if not is_plain:
        _check_calculation(words, source)
        return words, files
    # A plain command to the shell, though not to the grammar: there it opens files and ends as anywhere else.
    bare = [word.text for word, is_bare in zip(words, parts.is_bare, strict=True) if is_bare]
    if any(map(_REDIRECTS.search, bare)):
        source.problem("inside [ … ] the signs < and > open files, they do not compare", is_hidden=True)
        files = [Redirection(Direction.WRITES, Word(source.text(node), is_known=False))]
    if any(map(_ENDS_COMMAND.search, bare)):
        source.problem("inside [ … ] the shell takes a sign for the end of the command", is_hidden=True)
    return words, files


def _check_brackets(node: Node, source: Source, *, is_plain: bool) -> None:
    """A bracket that touches a word is a part of it to the shell, and then all that follows is a plain command."""
    first, last = node.children[0], node.children[-1]
    opens = (source.character_behind(first) in _BLANKS) or (not is_plain and source.character_behind(first) == b"\n")
    before = source.data[last.start_byte - 1 : last.start_byte]
    closes = before in _BLANKS or (not is_plain and before in {b"\n", b")"})
    if not (opens and closes):
        source.problem("a bracket touches a word, which makes it a part of that", is_hidden=True)


class _Parts:
    """The words of a condition; ``is_bare`` says of each whether it is an operator that was not quoted.

    ``is_plain``: it stands in ``[ … ]``, which ends with the line.
    """

    def __init__(self, source: Source, reader: WordReader, *, is_plain: bool) -> None:
        self._source = source
        self._reader = reader
        self._is_plain = is_plain
        self.words: list[Word] = []
        self.is_bare: list[bool] = []

    def collect(self, node: Node, depth: int) -> None:
        """Adds the words below a node."""
        if depth > DEEPEST:
            self._source.is_too_deep()
            return
        for child in self._source.children(node, in_line=self._is_plain):
            kind = child.type
            if kind in _PARTS:
                self.collect(child, depth + 1)
            elif kind == "~":
                self._source.problem("a home folder is compared, which is not looked through")
            elif kind == "test_operator" or not child.is_named:
                self._add([Word(self._source.text(child).strip())], is_bare=True)
            elif kind == "regex":
                self._add([Word(self._source.text(child), is_known=False)], is_bare=self._is_plain)
                self._reader.doubt_regex(child)
            elif kind in _WORDS:
                self._add(self._reader.read(child))
            else:
                self._source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)
                self._reader.doubt_regex(child)

    def _add(self, words: Sequence[Word], *, is_bare: bool = False) -> None:
        self.words += words
        self.is_bare += [is_bare] * len(words)


def _check_calculation(words: Sequence[Word], source: Source) -> None:
    """Inside ``[[ ]]`` some operators evaluate their operands, and evaluating can run code."""
    if words[0].text == "((" or any(word.text in {"-v", "-R"} for word in words):
        source.problem(CALCULATES)
    for at, word in enumerate(words):
        sides = (*words[max(0, at - 1) : at], *words[at + 1 : at + 2])
        if word.text in _NUMBER_PAIRS and not all(side.is_fixed and _NUMBER.fullmatch(side.text) for side in sides):
            source.problem(CALCULATES)
