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
_NUMBER_PAIRS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def read_condition(node: Node, source: Source, reader: WordReader) -> tuple[list[Word], list[Redirection]]:
    """The words of a condition as if it were a command of that name, and its files; doubts go to ``source``."""
    parts = _Parts(source, reader)
    parts.collect(node, 0)
    words, files = parts.words, list[Redirection]()
    if not words or words[0].text != "[":
        _check_calculation(words, source)
    elif any(parts.is_bare[at] and _REDIRECTS.search(word.text) for at, word in enumerate(words)):
        # A plain command, in which the shell opens what stands behind such a sign: the grammar does not know that.
        source.problem("inside [ … ] the signs < and > open files, they do not compare", is_hidden=True)
        files = [Redirection(Direction.WRITES, Word(source.text(node), is_known=False))]
    return words, files


class _Parts:
    """The words of a condition; ``is_bare`` says of each whether it is an operator that was not quoted."""

    def __init__(self, source: Source, reader: WordReader) -> None:
        self._source = source
        self._reader = reader
        self.words: list[Word] = []
        self.is_bare: list[bool] = []

    def collect(self, node: Node, depth: int) -> None:
        """Adds the words below a node."""
        if depth > DEEPEST:
            self._source.problem("it is nested too deeply", is_hidden=True)
            return
        for child in self._source.children(node):
            kind = child.type
            if kind in _PARTS:
                self.collect(child, depth + 1)
            elif kind == "test_operator" or not child.is_named:
                self._add([Word(self._source.text(child).strip())], is_bare=True)
            elif kind == "regex":
                self._add([Word(self._source.text(child), is_known=False)])
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
