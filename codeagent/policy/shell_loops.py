"""What the variables of ``for`` loops stand for, as far as that can be told before they run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeagent.policy.shell_words import Piece, Word

_MOST_VALUES = 256
_MOST_ROUNDS = 64
_MOST_TEXT = 30_000
"""Bytes of loop bodies that are read once more, for one value after the other."""

_HARMLESS = re.compile(r"(?!.*_proxy$)[a-z][a-z0-9_]*")
_UNSPLIT = re.compile(r"[\w@%+:,./=-]+")

Round = tuple[str, Word]
"""A variable, and the one word that it stands for."""


def is_harmless_variable(name: str) -> bool:
    """Whether setting the variable can steer neither the shell nor programs."""
    return _HARMLESS.fullmatch(name) is not None


class Loops:
    """The variables of the loops around the words that are being read.

    ``values`` holds the words that each stands for one after the other, ``were_followed``
    says whether there ever were any, and ``is_certain`` whether no two loops shared one.
    The body of a loop over few words that are all written out is read once for each;
    meanwhile its variable stands for that one.
    """

    def __init__(self, *, are_followed: bool) -> None:
        self._are_followed = are_followed
        self._now: dict[str, Word] = {}
        self._rounds = 1
        self._text_left = _MOST_TEXT
        self.values: dict[str, tuple[Word, ...]] = {}
        self.were_followed = False
        self.is_certain = True

    def enter(self, loop: Node, variable: str, values: Sequence[Word]) -> tuple[Round, ...]:
        """From here to ``leave`` the loop's variable stands for ``values``; its body is read once for each round."""
        if self.values.pop(variable, None) is not None:
            self.is_certain = False
        self._now.pop(variable, None)
        if not self._are_followed or not 0 < len(values) <= _MOST_VALUES or not _is_plain(loop, values):
            return ()
        self.values[variable] = tuple(values)
        self.were_followed = True
        more = (len(values) - 1) * (loop.end_byte - loop.start_byte)
        if self._rounds * len(values) > _MOST_ROUNDS or more > self._text_left:
            return ()
        if not all(word.is_fixed for word in values):
            return ()
        self._text_left -= more
        self._rounds *= len(values)
        return tuple((variable, word) for word in dict.fromkeys(values))

    def turn(self, round_: Round | None) -> None:
        """The next round of the innermost loop begins."""
        if round_:
            self._now[round_[0]] = round_[1]

    @property
    def is_turning(self) -> bool:
        """Whether a variable stands for one known word now."""
        return bool(self._now)

    def around(self) -> tuple[dict[str, tuple[Word, ...]], dict[str, Word], int]:
        """What is known of the loops around, for ``leave``."""
        return dict(self.values), dict(self._now), self._rounds

    def leave(self, around: tuple[dict[str, tuple[Word, ...]], dict[str, Word], int]) -> None:
        """A loop is over."""
        self.values, self._now, self._rounds = around

    def piece(self, variable: str, *, is_quoted: bool) -> Piece | None:
        """What the variable stands for in this round; None where that is not known, or where bash might split it."""
        word = self._now.get(variable)
        if word is None or not (is_quoted or _UNSPLIT.fullmatch(word.text)):
            return None
        return Piece(word.text, is_quoted=True)


def _is_plain(loop: Node, values: Sequence[Word]) -> bool:
    """Whether it is a ``for`` loop over words that are all written out."""
    nodes = loop.children_by_field_name("value")
    has_all = loop.named_child_count == len(nodes) + 2  # besides the values there are the variable and the body
    return has_all and loop.children[0].type == "for" and all(word.is_known for word in values)
