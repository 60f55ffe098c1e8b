"""The shell text that is being read, and its tree: hands out nodes, notes every doubt, and lets no byte go unread."""

from __future__ import annotations

import re
import time

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

from codeagent.policy.shell_script import TOO_DEEP, Problem

DEEPEST = 40
"""Nesting that is looked through; nobody writes deeper."""

MISREAD = "it does not parse as a shell command"
CALCULATES = "it calculates with variables"
UNKNOWN_SYNTAX = "it uses shell syntax that is not looked through"

_BASH = Language(tree_sitter_bash.language())
_LONGEST_PARSE = 0.5
"""Seconds of computing; a real command of the greatest length takes a tenth of it."""

_MOST_PIPES = 1_500
"""In a text with a fault the parser's time and memory grow with their square: a tenth of a second for so many."""

_ASCII_ONLY = bytes(range(0x80)) + b"x" * 0x80
_BLANK = 0x20
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_LINE_GAP = re.compile(rb"(?:[ \t]|\\\n)*")
_LOST_DASH = re.compile(rb"[ \t]+-[ \t]*")
_COMMENT_MAY_FOLLOW = b" \t\n;&|()"


class Source:
    """One text and its doubts; ``problems`` are those about the command that is being read.

    ``unread`` are texts in it that are commands for the shell, but not for the grammar.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.problems: list[Problem] = []
        self.unread: list[str] = []
        self._has_lost_dash = False

    def problem(self, reason: str, *, is_hidden: bool = False) -> None:
        """Notes a doubt; ``is_hidden`` when commands may run that are not found."""
        self.problems.append(Problem(reason, is_hidden))

    def is_too_deep(self) -> None:
        """Notes that a part is nested so deeply that it is not looked at."""
        self.problems.append(TOO_DEEP)

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def character_behind(self, node: Node) -> bytes:
        """The byte that follows a node, empty at the end."""
        return self.data[node.end_byte : node.end_byte + 1]

    def children(self, node: Node, *, in_line: bool = False) -> list[Node]:
        """The parts of a node; whatever lies between them and is no blank is a fault of the grammar.

        ``in_line``: the parts stand on one line, but for a backslash at its end.
        """
        children = node.children
        position = node.start_byte
        for child in children:
            start = child.start_byte
            if start != position and not (start == position + 1 and self.data[position] == _BLANK):
                self._gap(self.data[position:start], in_line=in_line)
            position = child.end_byte
        if position != node.end_byte:
            self._gap(self.data[position : node.end_byte], in_line=in_line)
        return children

    def take_lost_dash(self) -> bool:
        """Whether the grammar dropped a word ``-`` before a redirection, as it does; asked once."""
        found, self._has_lost_dash = self._has_lost_dash, False
        return found

    def comment(self, node: Node) -> None:
        """Doubts a comment that begins where the shell would not see one."""
        if node.start_byte and self.data[node.start_byte - 1] not in _COMMENT_MAY_FOLLOW:
            self.problem("it is not certain where a comment begins", is_hidden=True)

    def _gap(self, gap: bytes, *, in_line: bool) -> None:
        if not in_line and _LOST_DASH.fullmatch(gap):
            self._has_lost_dash = True
        elif not (_LINE_GAP if in_line else _GAP).fullmatch(gap):
            self.problem(MISREAD, is_hidden=True)
        if b"\\" in gap and not gap.replace(b"\\\n", b""):
            self.problem("a line is continued in the middle of a word", is_hidden=True)


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
