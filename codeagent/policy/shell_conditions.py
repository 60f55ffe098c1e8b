"""Reads ``[ … ]`` and ``[[ … ]]``: their words, and whether comparing them can run code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeagent.policy.shell_expansions import WordReader
from codeagent.policy.shell_source import CALCULATES, DEEPEST, UNKNOWN_SYNTAX, Source
from codeagent.policy.shell_words import Word

_PARTS = frozenset({"binary_expression", "unary_expression", "parenthesized_expression", "negation_expression"})
_WORDS = frozenset(
    {"word", "number", "string", "raw_string", "concatenation", "ansi_c_string", "simple_expansion", "expansion"}
    | {"command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression", "extglob_pattern"}
    | {"variable_name", "translated_string"}
)
_NUMBER = re.compile(r"-?\d{1,18}")
_NUMBER_PAIRS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def read_condition(node: Node, source: Source, reader: WordReader) -> list[Word]:
    """The words of a condition as if it were a command of that name; doubts go to ``source``."""
    words: list[Word] = []
    _collect(node, source, reader, words, 0)
    if words and words[0].text != "[":
        _check_calculation(words, source)
    return words


def _collect(node: Node, source: Source, reader: WordReader, words: list[Word], depth: int) -> None:
    if depth > DEEPEST:
        source.problem("it is nested too deeply", is_hidden=True)
        return
    for child in source.children(node):
        kind = child.type
        if kind in _PARTS:
            _collect(child, source, reader, words, depth + 1)
        elif kind == "test_operator" or not child.is_named:
            words.append(Word(source.text(child).strip()))
        elif kind == "regex":
            words.append(Word(source.text(child), is_known=False))
            reader.doubt_regex(child)
        elif kind in _WORDS:
            words += reader.read(child)
        else:
            source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)
            reader.doubt_regex(child)


def _check_calculation(words: Sequence[Word], source: Source) -> None:
    """Inside ``[[ ]]`` some operators evaluate their operands, and evaluating can run code."""
    if words[0].text == "((" or any(word.text in {"-v", "-R"} for word in words):
        source.problem(CALCULATES)
    for at, word in enumerate(words):
        sides = (*words[max(0, at - 1) : at], *words[at + 1 : at + 2])
        if word.text in _NUMBER_PAIRS and not all(side.is_fixed and _NUMBER.fullmatch(side.text) for side in sides):
            source.problem(CALCULATES)
