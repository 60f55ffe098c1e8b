"""Finds every simple command of a shell text in its syntax tree: in lists, pipes, loops, functions and expansions.

Whatever is not understood to the last byte is reported as a problem: node types,
operators and gaps between tokens are compared with what is known, so that a fault
of the grammar cannot hide a command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from codeagent.policy.shell_expansions import WordReader
from codeagent.policy.shell_script import (
    START,
    Assignment,
    Direction,
    Places,
    Problem,
    Redirection,
    Script,
    SimpleCommand,
)
from codeagent.policy.shell_words import Word

_BASH = Language(tree_sitter_bash.language())
_DEEPEST = 40
_MOST_PLACES = 8

_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_LOST_DASH = re.compile(rb"[ \t]+-[ \t]*")
_LINE_GAP = re.compile(rb"(?:[ \t]|\\\n)*")
_SEPARATORS = frozenset(
    {";", "\n", "&", ";;", ";&", ";;&", "(", ")", "{", "}", "do", "done", "then", "fi", "esac", "in"}
)
_KEYWORDS = frozenset(
    {"if", "elif", "else", "while", "until", "for", "select", "case", "function", "&&", "||", "|", "|&", "!"}
)
_RESERVED = frozenset(
    {"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in"}
    | {"function", "{", "}", "!", "[[", "]]", "coproc"}
)
_COMMENT_MAY_FOLLOW = b" \t\n;&|()"
_HEREDOC_START = re.compile(r"\w+|'\w+'|\"\w+\"|\\\w+")
_HEREDOC_EXPANSION = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$(?:[({\[]))")
_DESCRIPTOR = re.compile(r"\d+-?|-")
_STATEMENTS = frozenset(
    {
        "program",
        "list",
        "pipeline",
        "negated_command",
        "subshell",
        "compound_statement",
        "redirected_statement",
        "command",
    }
    | {"if_statement", "elif_clause", "else_clause", "while_statement", "for_statement", "c_style_for_statement"}
    | {"case_statement", "case_item", "do_group", "function_definition", "test_command", "variable_assignment"}
    | {"variable_assignments", "declaration_command", "unset_command", "comment", "ERROR"}
)


def parse_script(source: str) -> Script:
    """Takes a shell text apart. Never raises; what is not understood is among the problems."""
    data = source.encode("utf-8", "replace")
    tree = Parser(_BASH).parse(data)
    walker = _Walker(data)
    if tree.root_node.has_error:
        walker.problem("it does not parse as a shell command", is_hidden=True)
    walker.statement(tree.root_node, START, 0)
    if walker.calculates_with_names and (walker.sets_variables or len(walker.commands) > 1):
        walker.problem("it calculates with variables")
    return Script(commands=tuple(walker.commands), problems=tuple(dict.fromkeys(walker.problems)))


@dataclass(frozen=True, slots=True)
class _Flow:
    """Where the shell may stand after a statement that succeeded, that failed, or that was not looked at."""

    success: Places | None
    failure: Places | None
    after: Places | None

    @property
    def may_fail(self) -> bool:
        """Whether failing is worth a thought: that a folder to go to is missing is seen when paths are judged."""
        return self.failure is None or self.after is None or self.failure <= self.after


def _both(first: Places | None, second: Places | None) -> Places | None:
    if first is second:
        return first
    if first is None or second is None:
        return None
    union = first | second
    return union if len(union) <= _MOST_PLACES else None


class _Walker:
    """Goes through the tree once, in the order of execution."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.commands: list[SimpleCommand] = []
        self.problems: list[Problem] = []
        self._places: Places | None = START
        self._depth = 0
        self.sets_variables = False
        self._has_lost_dash = False
        self._words = WordReader(data, self.problem, self._nested)
        self._same: dict[Places | None, _Flow] = {}

    @property
    def calculates_with_names(self) -> bool:
        """Whether an arithmetic expansion evaluates a variable, which runs the code in its value, if any."""
        return self._words.has_calculated_names

    def problem(self, reason: str, *, is_hidden: bool = False) -> None:
        """Notes a doubt about the command that is being read."""
        self.problems.append(Problem(reason, is_hidden))

    def statement(self, node: Node, places: Places | None, depth: int) -> _Flow:
        """Reads one statement that starts in ``places``; says where the shell stands afterwards."""
        kind = node.type
        if kind == "command":
            self._depth = depth
            return self._command(node, node, (), places)
        if depth > _DEEPEST:
            self.problem("it is nested too deeply", is_hidden=True)
            return _Flow(None, None, None)
        if kind == "list":
            return self._list(node, places, depth)
        if kind == "redirected_statement":
            return self._redirected(node, places, depth)
        if kind == "pipeline":
            for child in self._children(node):
                self._child(child, places, depth)
            return self._stay(places)
        if kind == "subshell":
            self._sequence(self._children(node), places, depth)
            return self._stay(places)
        if kind in {"variable_assignment", "variable_assignments"}:
            self._depth = depth
            return self._command(node, node, (), places)
        if kind == "test_command":
            self._depth = depth
            return self._test(node, (), places)
        return self._other(node, kind, places, depth)

    def _other(self, node: Node, kind: str, places: Places | None, depth: int) -> _Flow:
        """Groups, loops, branches, functions: bodies may run in any place reached so far."""
        if kind == "function_definition":
            self.problem("it defines a function, which changes what a name means")
        elif kind in {"declaration_command", "unset_command"}:
            self.problem("it changes shell variables in a way that can steer what follows")
            self._depth = depth
            self._places = places
            return self._declaration(node, places)
        elif kind == "c_style_for_statement":
            self.problem("it calculates with variables")
        elif kind == "for_statement":
            self._loop_variable(node)
        elif kind == "ERROR":
            self.problem("it does not parse as a shell command", is_hidden=True)
        elif kind not in _STATEMENTS:
            self.problem(f"it uses shell syntax that is not looked through ({kind})", is_hidden=True)
        if kind in {"program", "compound_statement", "do_group"}:
            return self._stay(self._sequence(self._children(node), places, depth))
        reached = places
        for child in self._children(node):
            flow = self._child(child, reached, depth)
            if flow:
                if child.type == "do_group" and flow.after != reached:
                    self.problem("it changes the folder in a loop")
                reached = _both(reached, flow.after)
        return self._stay(reached)

    def _sequence(self, children: list[Node], places: Places | None, depth: int) -> Places | None:
        """Statements one after the other; what runs in the background moves nobody."""
        for child, behind in zip_longest(children, children[1:]):
            flow = self._child(child, places, depth)
            if flow and not (behind and behind.type == "&"):
                places = flow.after
        return places

    def _child(self, child: Node, places: Places | None, depth: int) -> _Flow | None:
        """A part of a statement: a statement itself, a word such as a loop's values, or a token."""
        kind = child.type
        if kind in _STATEMENTS:
            if kind == "comment":
                self._comment(child)
                return None
            return self.statement(child, places, depth + 1)
        if not child.is_named:
            if kind not in _SEPARATORS and kind not in _KEYWORDS and kind not in {"((", "))"}:
                self.problem(f"it uses shell syntax that is not looked through ({kind})", is_hidden=True)
            return None
        self._depth, self._places = depth, places
        if kind in {"file_redirect", "heredoc_redirect", "herestring_redirect"}:
            self._finish([], (), [child], child, places)
        elif kind == "variable_name":
            return None
        else:
            self._words.read(child)
        return None

    def _list(self, node: Node, places: Places | None, depth: int) -> _Flow:
        """``a && b || c``: the tree leans to the left as deep as the list is long, so it is unrolled."""
        chain: list[tuple[str, Node]] = []
        while node.type == "list":
            children = self._children(node)
            if len(children) != 3 or children[1].type not in {"&&", "||"}:  # noqa: PLR2004 - left, operator, right
                self.problem("it does not parse as a shell command", is_hidden=True)
                for child in children:
                    self._child(child, places, depth)
                return _Flow(None, None, None)
            chain.append((children[1].type, children[2]))
            node = children[0]
        flow = self.statement(node, places, depth + 1)
        for operator, right in reversed(chain):
            if operator == "&&":
                then = self.statement(right, flow.success, depth + 1)
                failure = _both(flow.failure, then.failure)
                flow = _Flow(then.success, failure, _both(then.after, flow.failure if flow.may_fail else then.after))
            else:
                then = self.statement(right, flow.failure, depth + 1)
                success = _both(flow.success, then.success)
                flow = _Flow(success, then.failure, _both(flow.after, then.after))
        return flow

    def _redirected(self, node: Node, places: Places | None, depth: int) -> _Flow:
        self._has_lost_dash = False
        children = self._children(node)
        redirects = [child for child in children if child.type.endswith("_redirect")]
        bodies = [child for child in children if not child.type.endswith("_redirect")]
        if len(bodies) == 1 and bodies[0].type in {"command", "variable_assignment", "variable_assignments"}:
            self._depth = depth
            return self._command(bodies[0], node, redirects, places)
        if len(bodies) == 1 and bodies[0].type == "test_command":
            self._depth = depth
            return self._test(bodies[0], redirects, places)
        flow = self._stay(places)
        for body in bodies:
            flow = self._child(body, places, depth) or flow
        self._depth = depth
        self._finish([], (), redirects, node, places)
        return flow

    def _command(self, node: Node, whole: Node, redirects: list[Node] | tuple[()], places: Places | None) -> _Flow:
        """A simple command: settings, words, redirections, in any order."""
        words: list[Word] = []
        nodes: list[Node] = list(redirects)
        assignments: list[Assignment] = []
        outer, self.problems = self.problems, []
        self._places = places
        parts = (node,) if node.type == "variable_assignment" else self._children(node, in_line=True)
        end = -1
        for child in parts:
            kind = child.type
            if child.start_byte == end and not kind.endswith("_redirect"):
                self.problem("it is not certain where a word ends", is_hidden=True)
            end = child.end_byte
            if kind == "command_name":
                words += self._words.read(child.children[0])
                if len(words) != 1 or words[0].text in _RESERVED:
                    self.problem("its command word is not certain", is_hidden=True)
            elif kind == "variable_assignment":
                assignments.append(self._assignment(child))
            elif kind.endswith("_redirect"):
                nodes.append(child)
            elif kind == "comment":
                self._comment(child)
            elif child.is_named or kind in {"$", "==", "=~"}:
                words += self._words.read(child)
            else:
                self.problem(f"it uses shell syntax that is not looked through ({kind})", is_hidden=True)
        if self._has_lost_dash:
            self._has_lost_dash = False
            words.append(Word("-"))
        if words and not words[0].is_fixed:
            self.problem("its command word is only known when it runs", is_hidden=True)
        problems, self.problems = self.problems, outer
        return self._finish(words, tuple(assignments), nodes, whole, places, problems)

    def _finish(
        self,
        words: list[Word],
        assignments: tuple[Assignment, ...],
        redirects: list[Node],
        whole: Node,
        places: Places | None,
        problems: list[Problem] | None = None,
    ) -> _Flow:
        """Adds the redirections, which may hold words of the command as well, and keeps the command."""
        outer, self.problems = self.problems, problems or []
        redirections: list[Redirection] = []
        tails: list[Node] = []
        for redirect in redirects:
            self._redirect(redirect, words, redirections, tails)
        problems, self.problems = self.problems, outer
        if words or assignments or redirections or problems:
            source = self._data[whole.start_byte : whole.end_byte].decode("utf-8", "replace")
            self.commands.append(
                SimpleCommand(tuple(words), source, assignments, tuple(redirections), tuple(problems), places)
            )
        flow = self._moved(words, places)
        if not tails:
            return flow
        return self._stay(_both(flow.after, self._sequence(tails, flow.after, self._depth + 1)))

    def _redirect(self, node: Node, words: list[Word], found: list[Redirection], tails: list[Node]) -> None:
        children = self._children(node, in_line=node.type != "heredoc_redirect")
        if node.type == "file_redirect":
            self._file_redirect(children, words, found)
        elif node.type == "herestring_redirect":
            for child in children[1:]:
                self._words.read(child)
        else:
            self._heredoc(node, children, words, found, tails)

    def _file_redirect(self, children: list[Node], words: list[Word], found: list[Redirection]) -> None:
        """``2> file more``: what follows the first target are words of the command again."""
        operator, targets = "", list[Word]()
        for child in children:
            if child.type == "file_descriptor":
                continue
            if not child.is_named:
                if operator:
                    self.problem("a redirection is not certain", is_hidden=True)
                operator = child.type
            else:
                targets += self._words.read(child)
        if operator in {">&-", "<&-"}:
            words += targets
            return
        if not targets or operator not in {"<", ">", ">>", ">|", "&>", "&>>", ">&", "<&", "<>"}:
            self.problem("a redirection is not certain", is_hidden=True)
            return
        target = targets[0]
        words += targets[1:]
        if operator in {">&", "<&"} and target.is_fixed and _DESCRIPTOR.fullmatch(target.text):
            return
        direction = Direction.READS if operator in {"<", "<&"} else Direction.WRITES
        found.append(Redirection(Direction.APPENDS if ">>" in operator else direction, target))

    def _heredoc(
        self, node: Node, children: list[Node], words: list[Word], found: list[Redirection], tails: list[Node]
    ) -> None:
        """A text for the command's input, and what stands on the first line behind its mark."""
        start = end = body = ""
        for child in children:
            kind = child.type
            if kind == "heredoc_start":
                start = self._text(child)
            elif kind == "heredoc_end":
                end = self._text(child)
            elif kind == "heredoc_body":
                body = self._text(child)
                if _HEREDOC_START.fullmatch(start) and start[0] not in "'\"\\":
                    self._heredoc_body(child, body)
            elif kind.endswith("_redirect"):
                self._redirect(child, words, found, tails)
            elif kind in _STATEMENTS:
                tails.append(child)
            elif child.is_named:
                words += self._words.read(child)
            elif kind not in {"<<", "<<-", "\n", "&&", "||", "|", "|&", ";", "&"}:
                self.problem(f"it uses shell syntax that is not looked through ({kind})", is_hidden=True)
        mark = start.strip("'\"\\")
        lines = [line.lstrip("\t") if children[0].type == "<<-" else line for line in body.split("\n")]
        if not _HEREDOC_START.fullmatch(start) or end.strip("\t") != mark or mark in lines:
            self.problem("it is not certain where a text for its input ends", is_hidden=True)
        if self._data[node.end_byte : node.end_byte + 1] not in {b"", b"\n"}:
            self.problem("it is not certain where a text for its input ends", is_hidden=True)

    def _heredoc_body(self, node: Node, body: str) -> None:
        for child in node.children:
            if child.type != "heredoc_content":
                self._words.read(child)
        if _HEREDOC_EXPANSION.search(body):
            self.problem("a text for its input is expanded by the shell, which can run code", is_hidden=True)

    def _test(self, node: Node, redirects: list[Node] | tuple[()], places: Places | None) -> _Flow:
        """``[ … ]`` and ``[[ … ]]`` as a command of that name with all its words."""
        outer, self.problems = self.problems, []
        self._places = places
        words: list[Word] = []
        self._test_words(node, words, 0)
        if words and words[0].text in {"[[", "(("}:
            self._check_calculation(words)
        problems, self.problems = self.problems, outer
        return self._finish(words, (), list(redirects), node, places, problems)

    def _test_words(self, node: Node, words: list[Word], depth: int) -> None:
        if depth > _DEEPEST:
            self.problem("it is nested too deeply", is_hidden=True)
            return
        for child in self._children(node):
            if child.type in {
                "binary_expression",
                "unary_expression",
                "parenthesized_expression",
                "negation_expression",
            }:
                self._test_words(child, words, depth + 1)
            elif child.type == "test_operator" or not child.is_named:
                words.append(Word(self._text(child).strip()))
            elif child.type == "regex":
                words.append(Word(self._text(child), is_known=False))
                self._words.doubt_regex(child)
            elif child.type in {"postfix_expression", "ternary_expression"} | _STATEMENTS:
                self.problem("it calculates with variables", is_hidden=child.type in _STATEMENTS)
            else:
                words += self._words.read(child)

    def _check_calculation(self, words: list[Word]) -> None:
        """Inside ``[[ ]]`` some operators evaluate their operands, and evaluating can run code."""
        if words[0].text == "((" or any(word.text in {"-v", "-R"} for word in words):
            self.problem("it calculates with variables")
        for at, word in enumerate(words):
            if word.text in {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}:
                sides = words[max(0, at - 1) : at] + words[at + 1 : at + 2]
                if not all(side.is_fixed and re.fullmatch(r"-?\d{1,18}", side.text) for side in sides):
                    self.problem("it calculates with variables")

    def _assignment(self, node: Node) -> Assignment:
        children = self._children(node, in_line=True)
        self.sets_variables = True
        name, value = self._text(children[0]), ""
        if children[0].type != "variable_name":
            self._words.read(children[0])
        known: str | None = value
        for child in children[1:]:
            if child.type in {"=", "+="}:
                continue
            words = self._words.read(child)
            known = words[0].text if len(words) == 1 and words[0].is_fixed and child.type != "array" else None
        return Assignment(name, known if children[0].type == "variable_name" else None)

    def _declaration(self, node: Node, places: Places | None) -> _Flow:
        words: list[Word] = []
        assignments: list[Assignment] = []
        for child in self._children(node, in_line=True):
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child))
            else:
                words += self._words.read(child) if child.is_named else [Word(self._text(child))]
        return self._finish(words, tuple(assignments), [], node, places)

    def _loop_variable(self, node: Node) -> None:
        self.sets_variables = True
        name = node.child_by_field_name("variable")
        if (
            name is None
            or not re.fullmatch(r"[a-z][a-z0-9_]*", self._text(name))
            or self._text(name).endswith("_proxy")
        ):
            self.problem("it sets a variable that can steer programs")

    def _nested(self, node: Node) -> None:
        """A command inside an expansion: it runs, in a shell of its own."""
        depth, places = self._depth, self._places
        marks = {"$(", "`", "<(", ">(", ")"}
        self._sequence([child for child in self._children(node) if child.type not in marks], places, depth + 1)
        self._depth, self._places = depth, places

    def _comment(self, node: Node) -> None:
        if node.start_byte and self._data[node.start_byte - 1] not in _COMMENT_MAY_FOLLOW:
            self.problem("it is not certain where a comment begins", is_hidden=True)

    def _children(self, node: Node, *, in_line: bool = False) -> list[Node]:
        """The parts of a node; whatever lies between them and is no blank is a fault of the grammar."""
        children = node.children
        position = node.start_byte
        for child in children:
            start = child.start_byte
            if start != position and not (start == position + 1 and self._data[position] == 0x20):  # noqa: PLR2004
                self._gap(self._data[position:start], in_line=in_line)
            position = child.end_byte
        if position != node.end_byte:
            self._gap(self._data[position : node.end_byte], in_line=in_line)
        return children

    def _gap(self, gap: bytes, *, in_line: bool) -> None:
        if not in_line and _LOST_DASH.fullmatch(gap):
            self._has_lost_dash = True
        elif not (_LINE_GAP if in_line else _GAP).fullmatch(gap):
            self.problem("it does not parse as a shell command", is_hidden=True)
        if b"\\" in gap and not gap.replace(b"\\\n", b""):
            self.problem("a line is continued in the middle of a word", is_hidden=True)

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _stay(self, places: Places | None) -> _Flow:
        flow = self._same.get(places)
        if flow is None:
            flow = self._same[places] = _Flow(places, places, places)
        return flow

    def _moved(self, words: list[Word], places: Places | None) -> _Flow:
        """Where the shell stands after a command: elsewhere only after ``cd`` and its kind."""
        if not words or words[0].text not in {"cd", "pushd", "popd", "builtin", "command"}:
            return self._stay(places)
        names = [word.text for word in words]
        while names[0] in {"builtin", "command"} and len(names) > 1:
            names, words = names[1:], words[1:]
        if names[0] not in {"cd", "pushd", "popd"}:
            return self._stay(places)
        target = _cd_target(words)
        if target is None or places is None or names[0] != "cd":
            return _Flow(None, places, None)
        there = frozenset((*chain, target) for chain in places)
        return _Flow(there, places, there)


def _cd_target(words: list[Word]) -> Word | None:
    """The folder that ``cd`` goes to, None when it cannot be told."""
    operands = [word for word in words[1:] if word.text not in {"--", "-L", "-P"}]
    if not operands:
        return Word("~", has_tilde=True)
    if len(operands) > 1 or not operands[0].is_known or operands[0].glob or operands[0].text.startswith("-"):
        return None
    return operands[0]
