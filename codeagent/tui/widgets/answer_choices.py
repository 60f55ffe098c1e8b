"""The answers that each view of a question offers, and their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import assert_never

from codeagent.core.approvals import Scope
from codeagent.core.text import counted
from codeagent.tui.widgets.answer_keys import Choice
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.open_questions import OpenQuestion

SCOPES = {"1": Scope.SESSION, "2": Scope.PROJECT, "3": Scope.ALWAYS}
"""The keys that store a rule, and for how long."""

_ONLY_AT_THE_QUESTION = frozenset(
    {
        "approve",
        "approve_for_run",
        "deny",
        "deny_because",
        "always",
        "edit",
        "why",
        "approve_all",
        "hunk",
        "toggle_hunk",
        "switch",
        "other_side",
        "open_fold",
        "choose",
        "give_choice",
    }
)
"""The actions that mean something only while the question itself is in view, or why it is asked."""


_CHOOSING = frozenset({"choose", "give_choice"})
"""The actions that choose an answer with the arrows and give it."""


_SHOWN_AT_THE_REASONS = frozenset({"approve", "deny", "deny_because", "always", "approve_for_run"})
"""The answers that are named while the reasons are shown: the question was in view right before."""

_OF_WHAT_IS_SEEN = frozenset({"hunk", "toggle_hunk", "switch", "other_side", "open_fold"})
"""The actions that change what is seen of a question, which has to be in view for that."""

_AT_THE_REASONS = _SHOWN_AT_THE_REASONS | _OF_WHAT_IS_SEEN | _CHOOSING | {"why"}
"""The actions that mean something there; the key that brought the reasons takes them away."""


def leaves_reasons(action: str) -> bool:
    """Whether an action with its arguments brings the question back into view first."""
    return action.partition("(")[0] in _OF_WHAT_IS_SEEN


_NEXT_HUNK, _HUNK_BEFORE = "hunk(1)", "hunk(-1)"


class View(StrEnum):
    """What the dialog shows of a question."""

    QUESTION = "question"
    REFUSING = "refusing"
    EXPLAINING = "explaining"
    EDITING = "editing"
    STORING = "storing"
    ASKING_WHY = "asking why"
    CRAMPED = "the window is too small"


SENTENCES = frozenset({View.REFUSING, View.EXPLAINING})
"""The views in which a sentence for the model is typed."""

HINTS = {View.REFUSING: "why not, for the model", View.EXPLAINING: "why not the other hunks; empty is fine"}
"""What stands in the empty line for it."""

TYPING = SENTENCES | {View.EDITING}
"""The views in which something is typed."""

OTHER_LINES = frozenset({View.STORING, View.ASKING_WHY})
"""The views in which other lines stand in place of the question's own."""

_BACK = Choice(key="esc", words="back", short="back", action="back", is_answer=False)
_SEND = Choice(key="enter", words="send", short="send", action="send_reason", is_answer=False)
_NEW_DIFF = Choice(key="ctrl+s", words="show the new diff", short="new diff", action="approve_edited")
_NEW_TEXT = Choice(key="ctrl+s", words="show the new text", short="new text", action="approve_edited")
_USED = Choice(key="ctrl+s", words="use this instead", short="use this", action="approve_edited")


_OF_CALLS = frozenset({"deny_because", "always", "edit", "hunk", "toggle_hunk"})
"""The actions that mean something only where a call is decided about."""


def works_in(action: str, view: View, question: OpenQuestion | None, *, is_live: bool) -> bool | None:
    """Whether a key's action means something in a view; ``is_live`` says that answers count, None is for others.

    A question about what a project brings along has fewer answers, and one of its own; one about a limit has fewer.
    """
    is_about_project = question is not None and question.is_about_project
    if action in _OF_CALLS and question is not None and (is_about_project or question.is_about_limit):
        return False
    if action == "approve_for_run" and not is_about_project:
        return False
    if action == "back":
        return view is not View.QUESTION
    if action == "store" or (action in _CHOOSING and view is View.STORING):
        return view is View.STORING
    if action == "approve_edited":
        return view is View.EDITING
    is_possible = view is View.QUESTION or (view is View.ASKING_WHY and action in _AT_THE_REASONS)
    return is_possible and is_live if action in _ONLY_AT_THE_QUESTION else None


def choices_of(
    question: OpenQuestion, view: View, waiting: int, keys: Mapping[str, str], *, side: Side | None
) -> tuple[Choice, ...]:
    """The answers of a view.

    ``waiting`` is how many questions are open, ``keys`` the key of each action, and ``side`` how a change is laid
    out where there is room to choose.
    """
    choices = _choices_of(question, view, waiting, side, enter=keys.get("give_choice") or "enter")
    named = {**keys, _NEXT_HUNK: "/".join(keys[action] for action in (_NEXT_HUNK, _HUNK_BEFORE) if keys.get(action))}
    return tuple(replace(choice, key=named.get(choice.action) or choice.key) for choice in choices)


def _choices_of(
    question: OpenQuestion, view: View, waiting: int, side: Side | None, *, enter: str
) -> tuple[Choice, ...]:
    match view:
        case View.QUESTION:
            return _to_the_question(question, waiting, side)
        case View.REFUSING | View.EXPLAINING:
            words, short, _ = _yes(question) if view is View.EXPLAINING else ("deny", "deny", None)
            return (replace(_SEND, words=words, short=short), _BACK)
        case View.EDITING:
            return ({"diff": _NEW_DIFF, "text": _NEW_TEXT}.get(question.request.preview.kind, _USED), _BACK)
        case View.STORING:
            return (
                Choice(key="1", words=f"or {enter} for this session", short="session", action="store('1')"),
                Choice(key="2", words="in this project", short="project", action="store('2')"),
                Choice(key="3", words="always", short="always", action="store('3')"),
                _BACK,
            )
        case View.ASKING_WHY:
            answers = _to_the_question(question, waiting, side)
            back = replace(_BACK, words="back to the question")
            return (*(one for one in answers if one.action in _SHOWN_AT_THE_REASONS), back)
        case View.CRAMPED:
            return ()
        case _:
            assert_never(view)


def _to_the_question(question: OpenQuestion, waiting: int, side: Side | None) -> tuple[Choice, ...]:
    if question.is_about_project:
        choices = _TO_A_PROJECT
    elif question.is_about_limit:
        choices = _TO_A_LIMIT
    else:
        choices = tuple(_to_a_call(question, side))
    return (*choices, *_among_others(waiting))


_TO_A_PROJECT = (
    Choice(key="n", words="not now", short="not now", action="deny"),
    Choice(key="r", words="only in this run", short="this run", action="approve_for_run"),
    Choice(key="y", words="trust it", short="trust it", action="approve"),
    Choice(key="?", words="what that means", short="meaning", action="why"),
)


_TO_A_LIMIT = (
    Choice(key="y", words="go on", short="go on", action="approve"),
    Choice(key="n", words="stop", short="stop", action="deny"),
    Choice(key="?", words="why am I asked", short="why", action="why"),
)


def _among_others(waiting: int) -> Iterator[Choice]:
    if waiting > 1:
        yield Choice(key="]", words="next", short="next", action="switch(1)", is_answer=False, spared=6)
        yield Choice(key="Y", words="approve all seen", short="all seen", action="approve_all", brief="all", spared=4)


def _yes(question: OpenQuestion) -> tuple[str, str, str | None]:
    """What a yes is to, in words, in few, and in even less."""
    if not question.left_out:
        return "approve", "approve", None
    taken = question.hunks - len(question.left_out)
    hunks = counted(taken, "hunk")
    return f"approve {taken:,} of {question.hunks:,} hunks", f"approve {hunks}", hunks


def _to_a_call(question: OpenQuestion, side: Side | None) -> list[Choice]:
    yes, short, brief = _yes(question)
    choices = [
        Choice(key="y", words=yes, short=short, action="approve", brief=brief),
        Choice(key="n", words="deny", short="deny", action="deny"),
        Choice(key="t", words="deny and say why", short="deny, why", action="deny_because", brief="deny…", spared=1),
    ]
    if question.hunks > 1:
        choices.append(Choice(key="space", words="hunk", short="hunk", action="toggle_hunk", is_answer=False, spared=5))
        words = "next hunk"
        choices.append(Choice(key="j/k", words=words, short=words, action=_NEXT_HUNK, is_answer=False, is_extra=True))
    if question.proposal is not None:
        choices.append(Choice(key="e", words="edit", short="edit", action="edit", spared=2))
    if question.request.offers:
        choices.append(Choice(key="a", words="always…", short="always…", action="always", brief="rule", spared=3))
    choices.append(Choice(key="?", words="why am I asked", short="why", action="why"))
    if side is not None and question.around is not None and question.around.is_foldable:
        words, short = ("side by side", "side") if side is Side.BELOW else ("one column", "one")
        choices.append(Choice(key="s", words=words, short=short, action="other_side", is_answer=False, spared=7))
        if any(question.around.folded.values()):
            choices.append(Choice(key="o", words="more", short="more", action="open_fold", is_answer=False, spared=8))
    return choices
