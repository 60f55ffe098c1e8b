"""Vi's commands as they are spelled: when one is complete, and what it consists of."""

from __future__ import annotations

import re

from codeagent.core.values import value

_AIM = r"""(?P<find>[fFtT]) (?P<what>.) | (?P<object>[ia]) (?P<kind>.) | (?P<replace>r) (?P<by>.)
      | (?P<motion>g[geE] | [hjklwbeWBEG0$^;,_%{}] )"""
_OPERATOR = r"[dcy<>] | g[uU~]"
_COMMAND = re.compile(
    rf"""(?P<count>[1-9]\d*)?
    (?: (?P<operator>{_OPERATOR}) (?P<again>[1-9]\d*)? )?
    (?: {_AIM} | (?P<same>[dcy<>uU~]) | (?P<simple>gv | [iaIAoOxXsSDCYpPu~J./vV]) )""",
    re.VERBOSE | re.DOTALL,
)
_BEGINNING = re.compile(r"(?:[1-9]\d*)?(?:[fFtTrg]|(?:[dcy<>]|g[uU~])(?:[1-9]\d*)?(?:[fFtTgia])?)?")
_SELECTING = re.compile(
    rf"""(?P<count>[1-9]\d*)? (?: {_AIM} | (?P<operator>{_OPERATOR}) | (?P<simple>[xXsSDCYRpPuU~JoOvV]) )""",
    re.VERBOSE | re.DOTALL,
)
_SELECTING_BEGUN = re.compile(r"(?:[1-9]\d*)?[fFtTriag]?")


@value
class Command:
    """One command; ``count`` is None where none was typed, what is not part of it is empty.

    ``same`` is an operator pressed twice, ``what`` the character to find, ``kind`` that
    of the text object, ``by`` the character to put instead.
    """

    count: int | None
    operator: str
    find: str
    what: str
    object: str
    kind: str
    replace: str
    by: str
    motion: str
    same: str
    simple: str

    @property
    def times(self) -> int:
        """How often; once unless it is said."""
        return self.count or 1


def is_begun(keys: str, *, is_selecting: bool) -> bool:
    """Whether more keys belong to the command."""
    return (_SELECTING_BEGUN if is_selecting else _BEGINNING).fullmatch(keys) is not None


def read_command(keys: str, *, is_selecting: bool) -> Command | None:
    """The command that the keys are; None when they are none."""
    found = (_SELECTING if is_selecting else _COMMAND).fullmatch(keys)
    if found is None:
        return None
    parts = {name: text or "" for name, text in found.groupdict().items()}
    if not parts["operator"] and parts.get("same"):
        parts["simple"], parts["same"] = parts["same"], ""
    counts = [int(parts.get(name) or 1) for name in ("count", "again")]
    is_counted = bool(parts["count"] or parts.get("again"))
    names = ("operator", "find", "what", "object", "kind", "replace", "by", "motion", "same", "simple")
    return Command(count=counts[0] * counts[1] if is_counted else None, **{name: parts.get(name, "") for name in names})
