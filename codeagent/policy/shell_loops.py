"""What the variables of ``for`` loops stand for, as far as that can be told before they run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeagent.policy.shell_words import Word

_MOST_VALUES = 256
_HARMLESS = re.compile(r"(?!.*_proxy$)[a-z][a-z0-9_]*")


def is_harmless_variable(name: str) -> bool:
    """Whether setting the variable can steer neither the shell nor programs."""
    return _HARMLESS.fullmatch(name) is not None


class Loops:
    """The variables of the loops around the words that are being read.

    ``values`` holds the words that each stands for one after the other, ``were_followed``
    says whether there ever were any, and ``is_certain`` whether no two loops shared one.
    """

    def __init__(self, *, are_followed: bool) -> None:
        self._are_followed = are_followed
        self.values: dict[str, tuple[Word, ...]] = {}
        self.were_followed = False
        self.is_certain = True

    def enter(self, loop: Node, variable: str, values: Sequence[Word]) -> None:
        """From here to the end of the loop its variable stands for ``values``."""
        if self.values.pop(variable, None) is not None:
            self.is_certain = False
        if self._are_followed and 0 < len(values) <= _MOST_VALUES and _is_plain(loop, values):
            self.values[variable] = tuple(values)
            self.were_followed = True


def _is_plain(loop: Node, values: Sequence[Word]) -> bool:
    """Whether it is a ``for`` loop over words that are all written out."""
    nodes = loop.children_by_field_name("value")
    has_all = loop.named_child_count == len(nodes) + 2  # besides the values there are the variable and the body
    return has_all and loop.children[0].type == "for" and all(word.is_known for word in values)
