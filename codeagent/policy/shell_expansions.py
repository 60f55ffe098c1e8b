"""Reads the words of a syntax tree and doubts every expansion that can run code."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence

from tree_sitter import Node

from codeagent.policy.effort import spend
from codeagent.policy.shell_loops import Loops
from codeagent.policy.shell_source import CALCULATES, DEEPEST, MISREAD, UNKNOWN_SYNTAX, Source
from codeagent.policy.shell_words import (
    TOO_MANY_WORDS,
    Piece,
    Word,
    ansi_c,
    inside_double_quotes,
    makes_too_many,
    unquoted,
    unquoted_pieces,
    words_of,
)

_PART = 8
"""What reading takes for each quoted or unquoted part of a word: very many make very many things to remember."""

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./,:=@%+^-]+")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ANSI_C = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_QUOTE_END = "it is not certain where a quote ends"
_OPENER = re.compile(r"`|\$(?=[\w({\[@*#?$!-])")
_NO_WORD = re.compile(r"""[\s'";&|<>()]""")
_CODE_OPENER = re.compile(r"`|\$[(\[]|[<>]\(")
_SAFE_EXPANSION = re.compile(
    r"\s*\$\{(?:"
    r"\#?(?:[A-Za-z_]\w*|[0-9@*#?$!-])(?:\[[0-9@*]{1,9}\])?"
    r"|(?:[A-Za-z_]\w*|[0-9@*])(?:\[[0-9@*]{1,9}\])?(?::?[-+?]|\#\#?|%%?|//?|\^\^?|,,?).*"
    r"|(?:[A-Za-z_]\w*|[0-9@*]):[ ]?-?\d{1,9}(?::-?\d{1,9})?"
    r")\}",
    re.DOTALL,
)
_CALCULATION = re.compile(
    r"(?:\$\(\(|\$\[)(?:[\s\d+*/%()<>!&|^~?:,-]|==|<=|>=|!=|(?P<name>\b[a-z][a-z0-9_]*\b))*(?:\)\)|\])"
)
_COUNTING = re.compile(r"\+\+|--")
_VARIABLE = re.compile(r"""(?P<quote>"?)\$(?P<brace>\{)?(?P<name>[a-z][a-z0-9_]*)(?(brace)\})(?P=quote)""")
_EXPANSION = re.compile(r"\$(?P<brace>\{)?(?P<name>[a-z][a-z0-9_]*)(?(brace)\})")
_NAME_GOES_ON = frozenset(b"%c" % code for code in b"[_" + (string.ascii_letters + string.digits).encode())
_MAY_EXPAND = frozenset({"simple_expansion", "expansion", "string", "concatenation"})
RUNS_IN_WORD = "it runs a command inside another one's words"
_EXPRESSIONS = frozenset(
    {"binary_expression", "unary_expression", "postfix_expression", "ternary_expression", "parenthesized_expression"}
    | {"subscript"}
)
_AS_WRITTEN = frozenset(
    {"word", "number", "brace_expression", "extglob_pattern", "variable_name", "regex", "test_operator"}
)


class WordReader:
    """Turns nodes into words; ``nested`` is told of every command substitution, ``loops`` knows their variables."""

    def __init__(self, source: Source, nested: Callable[[Node], None], loops: Loops) -> None:
        self._source = source
        self._nested = nested
        self._loops = loops
        self._depth = 0
        self._plain: dict[str, tuple[Word, ...]] = {}
        self.has_calculated_names = False

    def read(self, node: Node) -> Sequence[Word]:
        """The word that a node stands for, or several after brace expansion."""
        text = self._source.text(node)
        if known := self._plain.get(text):
            return known
        if node.type in {"word", "number"} and _PLAIN_WORD.fullmatch(text):
            self._plain[text] = (Word(text),)
            return self._plain[text]
        if node.type == "array":
            for child in node.named_children:
                self.read(child)
            return [Word(text, is_known=False)]
        if self._loops.values and (found := _VARIABLE.fullmatch(text)) and found["name"] in self._loops.values:
            is_quoted = bool(found["quote"])
            if piece := self._loops.piece(found["name"], is_quoted=is_quoted):
                return words_of((piece,), text)
            values = self._loops.values[found["name"]]
            spend(len(values))
            return [Word(text, is_known=False, may_split=not is_quoted, values=values)]
        if text.startswith("#"):
            self._source.problem("it is not certain where a comment begins", is_hidden=True)
        pieces: list[Piece] = []
        self._pieces(node, text, pieces)
        if "{" in text and makes_too_many(unquoted(pieces)):
            self._source.problem(TOO_MANY_WORDS)
        return words_of(pieces, text)

    def read_name(self, node: Node) -> Sequence[Word]:
        """A command word, which no variable may choose."""
        words = self.read(node)
        if self._loops.is_turning and node.type in _MAY_EXPAND and "$" in (text := self._source.text(node)):
            return [Word(text, is_known=False, may_split=True)]
        return words

    def doubt_regex(self, node: Node) -> None:
        """Looks for code in a pattern of ``[[ =~ ]]``."""
        self._sweep(node)

    def _pieces(self, node: Node, text: str, pieces: list[Piece]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._source.is_too_deep()
            pieces.append(Piece(text, is_known=False))
        else:
            self._piece(node, node.type, text, pieces)
        self._depth -= 1

    def _piece(self, node: Node, kind: str, text: str, pieces: list[Piece]) -> None:
        """Appends what one node is made of."""
        if kind in _AS_WRITTEN:
            if "\\\n" in text:
                self._source.problem("a line is continued in the middle of a word", is_hidden=True)
            self._unless_code(node, text, pieces)
        elif kind == "raw_string":
            pieces.append(Piece(text[1:-1], is_quoted=True))
            if text.count("'") != 2:  # noqa: PLR2004 - one at each end
                self._source.problem(_QUOTE_END, is_hidden=True)
        elif kind == "string":
            self._string(node, text, pieces)
        elif kind == "concatenation":
            self._concatenation(node, text, pieces)
        elif kind == "ansi_c_string":
            if not _ANSI_C.fullmatch(text):
                self._source.problem(_QUOTE_END, is_hidden=True)
            meant = ansi_c(text[2:-1])
            pieces.append(Piece(text if meant is None else meant, is_quoted=True, is_known=meant is not None))
        elif not node.is_named:
            pieces.append(Piece(text, is_known=text != "$$"))
        else:
            pieces.append(self._turn(node, text, is_quoted=False) or self._unknown_piece(node, kind, text))

    def _unknown_piece(self, node: Node, kind: str, text: str) -> Piece:
        self._unknown(node, kind, text)
        return Piece(text, is_known=False)

    def _unknown(self, node: Node, kind: str, text: str) -> None:
        """What is only known when it runs, and whether it runs code."""
        if kind == "simple_expansion":
            return
        if kind in {"command_substitution", "process_substitution"}:
            self._source.problem(RUNS_IN_WORD)
            self._nested(node)
        elif kind == "expansion":
            self._expansion(node, text)
        elif kind == "arithmetic_expansion":
            self._calculation(node, text)
        elif kind in _EXPRESSIONS:
            self._source.problem(CALCULATES)
            self._sweep(node)
        elif kind == "translated_string":
            self._source.problem("it holds a text that is translated by the shell", is_hidden=True)
        else:
            self._source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)
            self._sweep(node)

    def _unless_code(self, node: Node, text: str, pieces: list[Piece]) -> None:
        """Bare text, unless the grammar put an expansion into it."""
        bare = _ESCAPED.sub("", text)
        if node.named_child_count and node.type != "brace_expression":
            self._sweep(node)
            pieces.append(Piece(text, is_known=False))
        elif _OPENER.search(bare) or _NO_WORD.search(bare):
            self._source.problem(f"{UNKNOWN_SYNTAX} ({node.type})", is_hidden=True)
            pieces.append(Piece(text, is_known=False))
        else:
            pieces.extend(unquoted_pieces(text))

    def _string(self, node: Node, text: str, pieces: list[Piece]) -> None:
        inner = text[1:-1]
        expansions = [child for child in node.named_children if child.type != "string_content"]
        if not text.startswith('"') or not text.endswith('"'):
            self._source.problem("it holds a text that is translated by the shell", is_hidden=True)
        if not expansions:
            if not _STRING.fullmatch(text):
                self._source.problem(_QUOTE_END, is_hidden=True)
            if _OPENER.search(_ESCAPED.sub("", inner)):
                self._source.problem(f"{UNKNOWN_SYNTAX} (string)", is_hidden=True)
            pieces.append(Piece(inside_double_quotes(inner), is_quoted=True))
            return
        for child in expansions:
            self._pieces(child, self._source.text(child), [])
        known = self._turns(node, expansions)
        pieces.append(Piece(text if known is None else known, is_quoted=True, is_known=known is not None))

    def _turns(self, node: Node, expansions: Sequence[Node]) -> str | None:
        """What stands between double quotes when each expansion is a loop's variable whose value is known."""
        text, at = "", node.start_byte + 1
        for child in (*expansions, None):
            between = self._source.data[at : child.start_byte if child else node.end_byte - 1].decode(
                "utf-8", "replace"
            )
            bare = _ESCAPED.sub("", between)
            piece = self._turn(child, self._source.text(child), is_quoted=True) if child else Piece("")
            if piece is None or _OPENER.search(bare) or "\\" in bare:
                return None
            text += inside_double_quotes(between) + piece.text
            at = child.end_byte if child else at
        return text

    def _turn(self, node: Node, text: str, *, is_quoted: bool) -> Piece | None:
        """What ``$name`` or ``${name}`` gives in this round of a loop, if that is known."""
        found = _EXPANSION.fullmatch(text)
        if not found or (not found["brace"] and self._source.character_behind(node) in _NAME_GOES_ON):
            return None
        return self._loops.piece(found["name"], is_quoted=is_quoted)

    def _concatenation(self, node: Node, text: str, pieces: list[Piece]) -> None:
        spend(_PART * node.child_count)
        position = node.start_byte
        for child in node.children:
            if child.start_byte != position:
                self._source.problem(MISREAD, is_hidden=True)
            position = child.end_byte
            self._pieces(child, self._source.text(child), pieces)
        if position != node.end_byte:
            self._source.problem(MISREAD, is_hidden=True)
        if "\\\n" in text:
            self._source.problem("a line is continued in the middle of a word", is_hidden=True)

    def _expansion(self, node: Node, text: str) -> None:
        """``${…}``: plain forms only; the texts in it are looked through as well."""
        if _CODE_OPENER.search(text):
            self._source.problem(RUNS_IN_WORD, is_hidden=True)
        elif not _SAFE_EXPANSION.fullmatch(text):
            self._source.problem("it holds an expansion that can run code or set a variable")
        self._sweep(node)

    def _calculation(self, node: Node, text: str) -> None:
        found = _CALCULATION.fullmatch(text)
        if not found or _COUNTING.search(text):
            self._source.problem(CALCULATES)
        elif found["name"] is not None:
            self.has_calculated_names = True
        self._sweep(node)

    def _sweep(self, node: Node) -> None:
        """Finds every command below a node whose own meaning does not matter."""
        waiting = list(reversed(node.children))
        while waiting:
            child = waiting.pop()
            if child.type in {"command_substitution", "process_substitution"}:
                self._source.problem(RUNS_IN_WORD)
                self._nested(child)
            elif child.type in {"expansion", "arithmetic_expansion", "string"}:
                self._pieces(child, self._source.text(child), [])
            elif child.is_error or child.is_missing:
                self._source.problem(MISREAD, is_hidden=True)
            else:
                waiting += reversed(child.children)
