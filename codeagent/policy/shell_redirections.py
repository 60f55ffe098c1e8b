"""Reads redirections: which files the shell opens for a command, and what it is given to read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from codeagent.policy.shell_expansions import WordReader
from codeagent.policy.shell_script import Direction, Redirection
from codeagent.policy.shell_source import UNKNOWN_SYNTAX, Source
from codeagent.policy.shell_words import MAY_BE_KEY, Word, names_key, shows_key

_HEREDOC_START = re.compile(r"\w+|'\w+'|\"\w+\"|\\\w+")
_HEREDOC_EXPANSION = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$(?:[({\[]))")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_HEREDOC_TOKENS = frozenset({"<<", "<<-", "\n", "&&", "||", "|", "|&", ";", "&"})
_DESCRIPTOR = re.compile(r"\d+-?|-")
_STATEMENTS = frozenset(
    {"pipeline", "list", "command", "redirected_statement", "subshell", "compound_statement", "negated_command"}
    | {"if_statement", "while_statement", "for_statement", "case_statement", "test_command", "variable_assignment"}
)
_FILE_OPERATORS = frozenset({"<", ">", ">>", ">|", "&>", "&>>", ">&", "<&", "<>"})
_LONGEST_NAME = 500
_OPENS_INTO_VARIABLE = re.compile(rb"(?:^|[\s;&|()<>`{}])\{[A-Za-z_\\\n][\w\\\n]*(?:\[[^{}]*\])?(?:\\\n)*\}(?:\\\n)*\Z")
"""``{name}>file``: the grammar takes the first part for a word; to the shell it is none, and may set ``PATH``."""
_UNCERTAIN = "a redirection is not certain"
_UNCERTAIN_END = "it is not certain where a text for its input ends"


class RedirectionReader:
    """Reads the redirections of one command.

    ``files`` are those that it opens, ``texts`` what it is given to read, ``tails`` follow a here-document's mark.
    """

    def __init__(
        self, source: Source, reader: WordReader, words: list[Word], files: Sequence[Redirection] = ()
    ) -> None:
        """``words`` are the command's own, to which those behind a redirection's target are added.

        ``files`` were found before.
        """
        self._source = source
        self._reader = reader
        self._words = words
        self.files = list(files)
        self.texts: list[str] = []
        self.tails: list[Node] = []

    def read(self, node: Node) -> None:
        """Reads one redirection."""
        if _OPENS_INTO_VARIABLE.search(self._source.data[max(node.start_byte - _LONGEST_NAME, 0) : node.start_byte]):
            self._source.problem("it keeps the number of an open file in a variable", is_hidden=True)
        children = self._source.children(node, in_line=node.type != "heredoc_redirect")
        if node.type == "file_redirect":
            self._file(children)
        elif node.type == "herestring_redirect":
            for child in children[1:]:
                words = self._reader.read(child)
                self.texts += (word.text for word in words)
                if any(map(shows_key, words)):
                    self._source.problem(MAY_BE_KEY)
        else:
            self._heredoc(node, children)

    def _file(self, children: Sequence[Node]) -> None:
        """``2> file more``: what follows the first target are words of the command again."""
        operator, targets = "", list[Word]()
        for child in children:
            if child.type == "file_descriptor":
                continue
            if not child.is_named:
                if operator:
                    self._source.problem(_UNCERTAIN, is_hidden=True)
                operator = child.type
            else:
                targets += self._reader.read(child)
        if operator in {">&-", "<&-"}:
            self._words += targets
            return
        if not targets or operator not in _FILE_OPERATORS:
            self._source.problem(_UNCERTAIN, is_hidden=True)
            return
        target = targets[0]
        self._words += targets[1:]
        if operator in {">&", "<&"} and target.is_fixed and _DESCRIPTOR.fullmatch(target.text):
            return
        if operator == "<&" or (operator == ">&" and target.text.startswith("-")):
            # The shell closes the descriptor at a dash, and what follows it is a word of the command.
            self._source.problem(_UNCERTAIN, is_hidden=True)
        if target.text == "-":
            target = replace(target, text="./-")  # a file of that name, not the standard input as for programs
        direction = Direction.READS if operator in {"<", "<&"} else Direction.WRITES
        self.files.append(Redirection(Direction.APPENDS if ">>" in operator else direction, target))

    def _heredoc(self, node: Node, children: Sequence[Node]) -> None:
        """A text for the command's input, and what stands on the first line behind its mark."""
        start = end = body = ""
        for child in children:
            kind = child.type
            if kind == "heredoc_start":
                start = self._source.text(child)
            elif kind == "heredoc_end":
                end = self._source.text(child)
            elif kind == "heredoc_body":
                body = self._source.text(child)
                self.texts.append(body)
                if start and start[0] not in "'\"\\":
                    self._heredoc_body(child, body)
            else:
                self._behind_mark(child, kind)
        mark = start.strip("'\"\\")
        lines = [line.lstrip("\t") if children[0].type == "<<-" else line for line in body.split("\n")]
        is_certain = _HEREDOC_START.fullmatch(start) and end.strip("\t") == mark and mark not in lines
        if not is_certain or self._source.character_behind(node) not in {b"", b"\n"}:
            self._source.problem(_UNCERTAIN_END, is_hidden=True)

    def _behind_mark(self, child: Node, kind: str) -> None:
        """The rest of the first line: more redirections, words of the command, the next statements."""
        if kind.endswith("_redirect"):
            self.read(child)
        elif kind in _STATEMENTS:
            self.tails.append(child)
        elif child.is_named:
            self._words += self._reader.read(child)
        elif kind not in _HEREDOC_TOKENS:
            self._source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)

    def _heredoc_body(self, node: Node, body: str) -> None:
        for child in node.children:
            if child.type != "heredoc_content":
                self._reader.read(child)
        self._source.unread += _BACKTICKS.findall(body)
        if names_key(body):
            self._source.problem(MAY_BE_KEY)
        if _HEREDOC_EXPANSION.search(body):
            self._source.problem("a text for its input is expanded by the shell, which can run code", is_hidden=True)
