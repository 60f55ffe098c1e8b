"""The syntax tree of a shell text, within bounds of time and memory."""

from __future__ import annotations

import time

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

_BASH = Language(tree_sitter_bash.language())
_LONGEST_PARSE = 0.5
"""Seconds of computing; a real command of the greatest length takes a tenth of it."""

_MOST_PIPES = 1_500
"""In a text with a fault the parser's time and memory grow with their square: a tenth of a second for so many."""

_ASCII_ONLY = bytes(range(0x80)) + b"x" * 0x80


def syntax_tree(data: bytes) -> Node | None:
    """The syntax tree; None when the parser, which mends faults, would take too long over them.

    The parser is shown a letter for each byte that is not ASCII: to the shell they
    are letters as well, and the grammar's scanner looks them up beyond its tables.
    """
    if data.count(b"|") > _MOST_PIPES:
        return None
    data = data.translate(_ASCII_ONLY)
    end = time.thread_time() + _LONGEST_PARSE

    def read(offset: int, _: Point) -> bytes:
        return data[offset : offset + 65536]

    def is_too_long(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - the parser calls it so
        return time.thread_time() > end

    try:
        return Parser(_BASH).parse(read, encoding="utf8", progress_callback=is_too_long).root_node
    except ValueError:
        return None
