"""Texts that a service refuses whatever is said next: which may be to blame, and what goes in their place.

A service that refuses a text refuses each later request that holds it too. What
was not in the last request that it took can be to blame: results first, then what
was said to the model, then the model's own words. A text counts as refused once the
request goes through without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from codeagent.core.errors import ContextOverflow, ProviderError
from codeagent.core.messages import (
    AssistantMessage,
    Message,
    Origin,
    ResultsMessage,
    ToolCall,
    UserMessage,
)
from codeagent.core.refused import key_of
from codeagent.core.seldom import seldom
from codeagent.providers.error_bodies import is_flagged

_REFUSALS = frozenset({400, 422})
_FORBIDDEN, _FAULT = 403, 500
_ABOUT_CONTENT = seldom(
    r"token|prompt|template|content|input|message|utf|unicode|pars(?:e|ing)|invalid|flagged|moderat|policy|filter",
    re.IGNORECASE,
)
_MOST_TRIES = 3
_LONGEST_NAME = 40


def blames_content(refusal: ProviderError, *, is_repeated: bool) -> bool:
    """Whether something in the request may be to blame; a fault of the server's only when it is repeated."""
    if isinstance(refusal, ContextOverflow):
        return False
    if refusal.status == _FAULT:
        return is_repeated and _ABOUT_CONTENT().search(refusal.said) is not None
    if refusal.status == _FORBIDDEN:
        return is_flagged(refusal.said)
    return refusal.status in _REFUSALS


def tries(messages: Sequence[Message], accepted: Sequence[Message], model: str) -> Iterator[frozenset[str]]:
    """Which texts to leave out, one set after the other, at most three.

    ``accepted`` are the messages of the last request that went through; where they are
    not known, those before the last reply of ``model`` are. What was said last always stays.
    """
    fresh = _fresh(messages, accepted, model)
    results = [key_of(one) for message in fresh if isinstance(message, ResultsMessage) for one in message.results]
    said = [key_of(message) for message in fresh[:-1] if isinstance(message, UserMessage)]
    replies = [key_of(message) for message in fresh if isinstance(message, AssistantMessage)]
    groups = [*_halves(results), said] if results else _halves(said)
    every = frozenset([*results, *said, *replies])
    wanted = [frozenset(group) for group in (*groups, replies) if group]
    seen: set[frozenset[str]] = set()
    for one in (*wanted[: _MOST_TRIES - 1], every):
        if one and one not in seen:
            seen.add(one)
            yield one


def _fresh(messages: Sequence[Message], accepted: Sequence[Message], model: str) -> list[Message]:
    """What the last request that went through did not hold."""
    if accepted and tuple(messages[: len(accepted)]) == tuple(accepted):
        return list(messages[len(accepted) :])
    own = (
        at for at, message in enumerate(messages) if isinstance(message, AssistantMessage) and message.model == model
    )
    start = max(own, default=0)
    summaries = [one for one in messages[:start] if isinstance(one, UserMessage) and one.origin is Origin.SUMMARY]
    return [*summaries, *messages[start:]]


def _halves(keys: Sequence[str]) -> list[Sequence[str]]:
    middle = (len(keys) + 1) // 2
    return [keys[:middle], keys[middle:]]


def said_again(messages: Sequence[Message], refused: AbstractSet[str]) -> frozenset[str]:
    """The refused text that the person says once more, which is worth another try."""
    last = messages[-1] if messages and refused else None
    return frozenset({key_of(last)}) & refused if isinstance(last, UserMessage) else frozenset()


def named(messages: Sequence[Message], refused: AbstractSet[str]) -> str:
    """The refused texts among the messages, as a person knows them."""
    calls: dict[str, ToolCall] = {}
    names: dict[str, None] = {}
    for message in messages:
        match message:
            case UserMessage():
                if key_of(message) in refused:
                    text = " ".join(message.text.split())
                    names[f"“{text[:_LONGEST_NAME]}{'…' if len(text) > _LONGEST_NAME else ''}”"] = None
            case ResultsMessage():
                found = (calls.get(one.call_id) for one in message.results if key_of(one) in refused)
                names |= {f"the output of {call.name}" if call else "an output": None for call in found}
            case AssistantMessage():
                calls |= {call.id: call for call in message.calls}
                if key_of(message) in refused:
                    names["a reply"] = None
    return ", ".join(names)
