"""Finds every simple command of a shell text in its syntax tree: in lists, pipes, loops, functions and expansions.

Whatever is not understood to the last byte is reported as a problem: node types,
operators and gaps between tokens are compared with what is known, so that a fault
of the grammar cannot hide a command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, zip_longest

from tree_sitter import Node

from codeagent.policy.effort import TooMuch, spend
from codeagent.policy.shell_conditions import read_condition
from codeagent.policy.shell_expansions import WordReader
from codeagent.policy.shell_loops import Loops, Round, is_harmless_variable
from codeagent.policy.shell_places import Flow, either, moved, stay
from codeagent.policy.shell_redirections import RedirectionReader
from codeagent.policy.shell_script import (
    START,
    TOO_MANY,
    Assignment,
    Places,
    Problem,
    Redirection,
    Script,
    SimpleCommand,
)
from codeagent.policy.shell_source import CALCULATES, DEEPEST, MISREAD, UNKNOWN_SYNTAX, Source, syntax_tree
from codeagent.policy.shell_words import MAY_BE_KEY, Word, shows_key

_COMMAND = 40
_FILE = 10
_BYTES = 4
"""What reading takes, beside one for each word: so much for a command, and for a file that it opens, and one for so
many bytes of text.
"""

_TOKENS = frozenset(
    {";", "\n", "&", ";;", ";&", ";;&", "(", ")", "{", "}", "do", "done", "then", "fi", "esac", "in", "((", "))"}
    | {"if", "elif", "else", "while", "until", "for", "select", "case", "function", "&&", "||", "|", "|&", "!"}
)
_RESERVED = frozenset(
    {"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in"}
    | {"function", "{", "}", "!", "[[", "]]", "coproc"}
)
_CASE_ENDS = frozenset({";;", ";&", ";;&"})
_SETTINGS = frozenset({"variable_assignment", "variable_assignments"})
_DECLARATIONS = frozenset({"declaration_command", "unset_command"})
_SEQUENCES = frozenset({"program", "compound_statement", "do_group"})
_STATEMENTS = (
    frozenset(
        {"list", "pipeline", "negated_command", "subshell", "redirected_statement", "command", "comment", "ERROR"}
    )
    | {"if_statement", "elif_clause", "else_clause", "while_statement", "for_statement", "c_style_for_statement"}
    | {"case_statement", "case_item", "function_definition", "test_command"}
    | _SETTINGS
    | _DECLARATIONS
    | _SEQUENCES
)
_WHOSE_WORDS = "it is not certain which command gets some of its words"
_DOUBTS = {
    "function_definition": "it defines a function, which changes what a name means",
    "c_style_for_statement": CALCULATES,
}


def parse_script(text: str, *, follows_loops: bool = False) -> Script:
    """Takes a shell text apart; what is not understood is among the problems. Raises TooMuch.

    Of one that holds too much to look at it finds the first commands.

    ``follows_loops`` tells words what the variables of loops stand for; that holds only
    where nothing else may set a variable.
    """
    source = Source(text.encode("utf-8", "replace"))
    spend(len(source.data) // _BYTES)
    root = syntax_tree(source.data)
    if root is None:
        return Script(commands=(), problems=(Problem.unread("it takes too long to read"),))
    walker = _Walker(source, loops := Loops(are_followed=follows_loops))
    if root.has_error:
        source.problem(MISREAD, is_hidden=True)
    try:
        walker.statement(root, START, 0)
    except TooMuch:
        return Script(tuple(walker.commands), (*source.problems, TOO_MANY))
    if walker.calculates_with_names and (walker.sets_variables or len(walker.commands) > 1):
        source.problem(CALCULATES)
    for unread in source.unread:
        script = parse_script(unread)
        walker.commands += script.commands
        source.problems += (problem for problem in script.problems if problem.is_unread)
    problems = tuple(dict.fromkeys(source.problems))
    if loops.were_followed and (problems or not loops.is_certain):
        return parse_script(text)
    return Script(tuple(walker.commands), problems, follows_loops=loops.were_followed, runs_on=walker.runs_on)


class _Walker:
    """Goes through the tree once, in the order of execution."""

    def __init__(self, source: Source, loops: Loops) -> None:
        self._source = source
        self._loops = loops
        self.commands: list[SimpleCommand] = []
        self.sets_variables = False
        self.runs_on = False
        self._words = WordReader(source, self._nested, loops)
        self._handed_down: dict[int, Sequence[Node]] = {}
        self._places: Places | None = START
        self._depth = 0

    @property
    def calculates_with_names(self) -> bool:
        """Whether an arithmetic expansion evaluates a variable, which runs the code in its value, if any."""
        return self._words.has_calculated_names

    def statement(self, node: Node, places: Places | None, depth: int) -> Flow:
        """Reads one statement that starts in ``places``; says where the shell stands afterwards."""
        kind = node.type
        self._depth, self._places = depth, places
        redirects = self._handed_down.pop(node.id, ()) if self._handed_down else ()
        if kind == "command" or kind in _SETTINGS:
            return self._command(node, node, redirects, places)
        if depth > DEEPEST:
            self._source.is_too_deep()
            return Flow(None, None, None)
        if redirects:
            self._group_files(node, redirects, places)
        if kind in _SEQUENCES:
            return self._group(node, places, depth)
        if kind in _COMPOUNDS:
            return _COMPOUNDS[kind](self, node, places, depth)
        return self._other(node, kind, places, depth)

    def _group(self, node: Node, places: Places | None, depth: int) -> Flow:
        children = self._source.children(node)
        if children and children[0].type == "((":
            self._source.problem(CALCULATES)
        if any(child.type in _CASE_ENDS for child in children):
            self._source.problem(MISREAD, is_hidden=True)
        return stay(self._sequence(children, places, depth))

    def subshell(self, node: Node, places: Places | None, depth: int) -> Flow:
        """Whoever goes elsewhere in it comes back."""
        self._sequence(self._source.children(node), places, depth)
        return stay(places)

    def pipeline(self, node: Node, places: Places | None, depth: int) -> Flow:
        """Its parts run side by side, each in a shell of its own."""
        for child in self._source.children(node):
            self._child(child, places, depth)
        return stay(places)

    def _other(self, node: Node, kind: str, places: Places | None, depth: int) -> Flow:
        """Loops, branches, functions: bodies may run in any place reached so far."""
        if kind in _DOUBTS:
            self._source.problem(_DOUBTS[kind])
        elif kind == "ERROR":
            self._source.problem(MISREAD, is_hidden=True)
        elif kind not in _STATEMENTS:
            self._source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)
        around = self._loops.around()
        rounds = self._loop_values(node, places) if kind == "for_statement" else ()
        reached = places
        for child in self._source.children(node):
            first = len(self.commands)
            for round_ in (rounds or (None,)) if child.type == "do_group" else (None,):
                self._loops.turn(round_)
                flow = self._child(child, reached, depth)
                if flow:
                    if child.type == "do_group" and flow.after != reached:
                        self._source.problem("it changes the folder in a loop")
                    reached = either(reached, flow.after)
            if rounds:
                self.commands[first:] = dict.fromkeys(self.commands[first:])
        self._loops.leave(around)
        return stay(reached)

    def _sequence(self, children: list[Node], places: Places | None, depth: int) -> Places | None:
        """Statements one after the other; what runs in the background moves nobody."""
        for child, behind in zip_longest(children, children[1:]):
            flow = self._child(child, places, depth)
            if flow and not (behind and behind.type == "&"):
                places = flow.after
        return places

    def _child(self, child: Node, places: Places | None, depth: int) -> Flow | None:
        """A part of a statement: a statement itself, a word such as a loop's values, or a token."""
        kind = child.type
        if kind == "comment":
            self._source.comment(child)
        elif kind in _STATEMENTS:
            return self.statement(child, places, depth + 1)
        elif not child.is_named:
            self.runs_on = self.runs_on or kind == "&"
            if kind not in _TOKENS:
                self._source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)
        elif kind.endswith("_redirect"):
            self._finish([], (), (child,), child, places)
        elif kind != "variable_name":
            self._depth, self._places = depth, places
            words = self._words.read(child)
            if any(map(shows_key, words)) and child.parent and child.parent.type in {"case_statement", "case_item"}:
                self._source.problem(MAY_BE_KEY)  # which branch is taken tells of it
        return None

    def list(self, node: Node, places: Places | None, depth: int) -> Flow:
        """``a && b || c``: the tree leans to the left as deep as the list is long, so it is unrolled."""
        chain: list[tuple[str, Node]] = []
        while node.type == "list":
            children = self._source.children(node)
            if len(children) != 3 or children[1].type not in {"&&", "||"}:  # noqa: PLR2004 - left, operator, right
                self._source.problem(MISREAD, is_hidden=True)
                for child in children:
                    self._child(child, places, depth)
                return Flow(None, None, None)
            chain.append((children[1].type, children[2]))
            node = children[0]
        flow = self.statement(node, places, depth + 1)
        for operator, right in reversed(chain):
            if operator == "&&":
                flow = flow.and_then(self.statement(right, flow.success, depth + 1))
            else:
                flow = flow.or_else(self.statement(right, flow.failure, depth + 1))
        return flow

    def redirected(self, node: Node, places: Places | None, depth: int) -> Flow:
        """A statement with files; the grammar puts those of a list's last command behind the whole list."""
        children = self._source.children(node)
        redirects = [child for child in children if child.type.endswith("_redirect")]
        bodies = [child for child in children if not child.type.endswith("_redirect")]
        if len(bodies) != 1:
            self._group_files(node, redirects, places)
        elif bodies[0].type == "command" or bodies[0].type in _SETTINGS:
            return self._command(bodies[0], node, redirects, places)
        elif bodies[0].type == "test_command":
            return self._test_with(bodies[0], redirects, places)
        else:
            if self._source.take_lost_dash():
                self._source.problem(_WHOSE_WORDS, is_hidden=True)
            last = bodies[0]
            while last.type in {"list", "pipeline", "negated_command"} and last.named_children:
                last = last.named_children[-1]
            self._handed_down[last.id] = redirects
        flow = stay(places)
        for body in bodies:
            flow = self._child(body, places, depth) or flow
        return flow

    def _group_files(self, node: Node, redirects: Sequence[Node], places: Places | None) -> None:
        """The files of a group, opened before anything in it runs."""
        words: list[Word] = []
        self._finish(words, (), redirects, node, places)
        if words or self._source.take_lost_dash():
            self._source.problem(_WHOSE_WORDS, is_hidden=True)

    def _command(self, node: Node, whole: Node, redirects: Sequence[Node], places: Places | None) -> Flow:
        """A simple command: settings, words, redirections, in any order."""
        words: list[Word] = []
        nodes: list[Node] = list(redirects)
        assignments: list[Assignment] = []
        outer, self._source.problems = self._source.problems, []
        parts = (node,) if node.type == "variable_assignment" else self._source.children(node, in_line=True)
        self._check_ends(parts)
        for child in parts:
            kind = child.type
            if kind == "command_name":
                words += self._words.read_name(child.children[0])
            elif kind == "variable_assignment":
                assignments.append(self._assignment(child))
            elif kind.endswith("_redirect"):
                nodes.append(child)
            elif kind == "comment":
                self._source.comment(child)
            elif child.is_named or kind in {"$", "==", "=~"}:
                words += self._words.read(child)
            else:
                self._source.problem(f"{UNKNOWN_SYNTAX} ({kind})", is_hidden=True)
        if self._source.take_lost_dash():
            words.append(Word("-"))
        self._check_name(words)
        problems, self._source.problems = self._source.problems, outer
        return self._finish(words, tuple(assignments), nodes, whole, places, problems)

    def _check_ends(self, parts: Sequence[Node]) -> None:
        """Words that touch each other are one word to the shell."""
        for first, second in pairwise(parts):
            if second.start_byte == first.end_byte and not second.type.endswith("_redirect"):
                self._source.problem("it is not certain where a word ends", is_hidden=True)

    def _check_name(self, words: Sequence[Word]) -> None:
        if words and not words[0].is_fixed:
            self._source.problem("its command word is only known when it runs", is_hidden=True)
        elif words and words[0].text in _RESERVED:
            self._source.problem("its command word is not certain", is_hidden=True)

    def _finish(
        self,
        words: list[Word],
        assignments: tuple[Assignment, ...],
        redirects: Sequence[Node],
        whole: Node,
        places: Places | None,
        problems: list[Problem] | None = None,
        files: Sequence[Redirection] = (),
    ) -> Flow:
        """Adds the redirections, which may hold words of the command as well, and keeps the command."""
        tails, problems = list[Node](), [] if problems is None else problems
        reader = RedirectionReader(self._source, self._words, words, files)
        if redirects:
            outer, self._source.problems = self._source.problems, problems
            for redirect in redirects:
                reader.read(redirect)
            tails = reader.tails
            self._source.problems = outer
        spend(_COMMAND + len(words) + _FILE * len(reader.files))
        if words or assignments or reader.files or reader.texts or problems:
            opened, fed = tuple(reader.files), tuple(reader.texts)
            self.commands.append(
                SimpleCommand(tuple(words), self._source.text(whole), assignments, opened, tuple(problems), places, fed)
            )
        flow = moved(words, places) or stay(places)
        if not tails:
            return flow
        return stay(either(flow.after, self._sequence(tails, flow.after, self._depth + 1)))

    def test(self, node: Node, places: Places | None, _: int) -> Flow:
        """``[ … ]`` or ``[[ … ]]`` without redirections."""
        return self._test_with(node, (), places)

    def _test_with(self, node: Node, redirects: Sequence[Node], places: Places | None) -> Flow:
        """``[ … ]`` and ``[[ … ]]`` as a command of that name with all its words."""
        outer, self._source.problems = self._source.problems, []
        words, files = read_condition(node, self._source, self._words)
        problems, self._source.problems = self._source.problems, outer
        return self._finish(words, (), redirects, node, places, problems, files)

    def _assignment(self, node: Node) -> Assignment:
        children = self._source.children(node, in_line=True)
        self.sets_variables = True
        name, value = self._source.text(children[0]), ""
        if children[0].type != "variable_name":
            self._words.read(children[0])
        known: str | None = value
        for child in children[1:]:
            if child.type in {"=", "+="}:
                continue
            words = self._words.read(child)
            known = words[0].text if len(words) == 1 and words[0].is_fixed and child.type != "array" else None
        return Assignment(name, known if children[0].type == "variable_name" else None)

    def declaration(self, node: Node, places: Places | None, _: int) -> Flow:
        """``export``, ``declare``, ``unset`` and their kind."""
        self._source.problem("it changes shell variables in a way that can steer what follows")
        words: list[Word] = []
        assignments: list[Assignment] = []
        for child in self._source.children(node, in_line=True):
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child))
            else:
                words += self._words.read(child) if child.is_named else [Word(self._source.text(child))]
        return self._finish(words, tuple(assignments), (), node, places)

    def _loop_values(self, node: Node, places: Places | None) -> Sequence[Round]:
        """The variable of a loop, and the values that stand for file names, as a command named ``for``."""
        self.sets_variables = True
        name = node.child_by_field_name("variable")
        if name is None or not is_harmless_variable(self._source.text(name)):
            self._source.problem("it sets a variable that can steer programs")
        outer, self._source.problems = self._source.problems, []
        values = [word for child in node.children_by_field_name("value") for word in self._words.read(child)]
        self._source.problems = outer
        if any(word.glob or shows_key(word) for word in values):
            self.commands.append(SimpleCommand((Word("for"), *values), self._source.text(node), places=places))
        return () if name is None else self._loops.enter(node, self._source.text(name), values)

    def _nested(self, node: Node) -> None:
        """A command inside an expansion: it runs, in a shell of its own."""
        depth, places = self._depth, self._places
        marks = {"$(", "`", "<(", ">(", ")"}
        self._sequence([child for child in self._source.children(node) if child.type not in marks], places, depth + 1)
        self._depth, self._places = depth, places


_COMPOUNDS: Mapping[str, Callable[[_Walker, Node, Places | None, int], Flow]] = {
    "list": _Walker.list,
    "pipeline": _Walker.pipeline,
    "subshell": _Walker.subshell,
    "redirected_statement": _Walker.redirected,
    "test_command": _Walker.test,
    "declaration_command": _Walker.declaration,
    "unset_command": _Walker.declaration,
}
