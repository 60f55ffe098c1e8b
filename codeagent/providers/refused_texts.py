"""Texts that a service refuses whatever is said next: which may be to blame, and what goes in their place.

A service that refuses a text refuses each later request that holds it too. What
was not in the last request that it took can be to blame: results first, then what
was said to the model, then the model's own words. A text counts as refused once the
request goes through without it; that is a guess, which shows itself to be wrong when the
service refuses in the same words without the text too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from codeagent.core.errors import ContextOverflow, ProviderError, ProviderUnavailable
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
from codeagent.providers.error_bodies import WalledOff, is_flagged
from codeagent.providers.failures import Unanswered

_REFUSALS = frozenset({400, 422, 451})
_FORBIDDEN, _FAULT = 403, 500
_ABOUT_CONTENT = seldom(
    r"token|prompt|template|content|input|message|utf|unicode|pars(?:e|ing)|invalid|flagged|moderat|policy|filter",
    re.IGNORECASE,
)
_MOST_TRIES = 3
_MOST_IN_VAIN = 2  # the second time what was said last the first time is left out as well
_COUNTED = seldom(r"\S*\d\S*")
"""What differs in the same words of a service: places, times, ids of requests."""
_LONGEST_NAME = 40
_NONE = frozenset[str]()


def blames_content(refusal: ProviderError, *, is_repeated: bool) -> bool:
    """Whether something in the request may be to blame; a fault of the server's only when it is repeated."""
    if isinstance(refusal, ContextOverflow):
        return False
    if refusal.status == _FAULT:
        return is_repeated and _ABOUT_CONTENT().search(refusal.said) is not None
    if refusal.status == _FORBIDDEN:
        return is_flagged(refusal.said)
    return refusal.status in _REFUSALS


def trouble_of(refusal: ProviderError) -> tuple[str, str]:
    """What the service did to a text, before its name, and what it said of that."""
    if isinstance(refusal, WalledOff):
        did = "A firewall in front of the service refused"
    elif _is_bare_fault(refusal):
        how = "failed (HTTP 500)" if refusal.status else "broke off the connection"
        return f"The service {how} at each request that held", ""
    else:
        did = "The service refused"
    return did, f" It said: {refusal.message.partition(': ')[2]}"


def _is_bare_fault(refusal: ProviderError) -> bool:
    """Whether the service failed, or broke off before a byte of an answer, and named no time to come back."""
    is_nameless = refusal.status == _FAULT and not blames_content(refusal, is_repeated=True)
    has_failed = is_nameless or (refusal.status is None and isinstance(refusal, Unanswered))
    return has_failed and refusal.retry_after is None and isinstance(refusal, ProviderUnavailable)


class Guesses:
    """Which texts one model's service is guessed to refuse, and what came of each guess.

    Where it refuses in the same words without a text too, that text may have been none of
    its reasons: once a request went through, the text is sent again on trial, and is left
    out for good only if that is refused. No text is guessed about twice for the same words.
    """

    def __init__(self, model: str) -> None:
        """``model`` is its name in the form that ``--model`` takes."""
        self._model = model
        self._words = ""
        self._helped: dict[str, frozenset[str]] = {}  # by the service's words, as the next ones
        self._in_vain: dict[str, frozenset[str]] = {}
        self._times_in_vain = Counter[str]()
        self._doubted = _NONE
        self._on_trial = _NONE
        self._ended: tuple[int | None, int] | None = None

    def ends_alike(self, refusal: ProviderError, messages: Sequence[Message]) -> bool:
        """Whether the last try for a second message, or a later one, ends in the same bare fault as for the first.

        It is to be told of each last try.
        """
        if not _is_bare_fault(refusal):
            self._ended = None
        elif self._ended is None or self._ended[0] != refusal.status:
            self._ended = refusal.status, len(messages)
        return self._ended is not None and self._ended[1] < len(messages)

    def sent_on_trial(self, messages: Sequence[Message]) -> frozenset[str]:
        """What of these messages was left out until now and is sent again, to see whether it is refused."""
        return self._on_trial.intersection(_keys(messages)) if self._on_trial else self._on_trial

    def after(
        self, said: str, left_out: frozenset[str], messages: Sequence[Message], accepted: Sequence[Message]
    ) -> Iterator[frozenset[str]]:
        """All that is to be left out after a refusal in these words, one set after the other; see ``tries``."""
        words = self._words = _COUNTED().sub("", said)
        if trial := self.sent_on_trial(messages) - left_out:
            self._on_trial, left_out = self._on_trial - trial, left_out | trial
            yield left_out
        helped, in_vain = self._helped.get(words, _NONE), self._in_vain.get(words, _NONE)
        self._helped[words], self._doubted = helped - left_out, self._doubted | (helped & left_out)
        if self._times_in_vain[words] >= _MOST_IN_VAIN:
            return
        for texts in tries(messages, accepted, self._model, in_vain):
            yield left_out | texts
            in_vain |= texts
        self._times_in_vain[words] += in_vain != self._in_vain.get(words, _NONE)
        self._in_vain[words] = in_vain

    def went_through(self, messages: Sequence[Message], fresh: frozenset[str]) -> frozenset[str]:
        """After a request that the service took without the ``fresh`` texts: those that were on trial, and are good."""
        good, self._ended = self.sent_on_trial(messages), None
        self._helped[self._words] = self._helped.get(self._words, fresh) | fresh
        self._on_trial, self._doubted = (self._on_trial - good) | self._doubted, _NONE
        self._times_in_vain.clear()
        return good


def _keys(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ResultsMessage):
            yield from map(key_of, message.results)
        else:
            yield key_of(message)


def tries(
    messages: Sequence[Message], accepted: Sequence[Message], model: str, in_vain: AbstractSet[str] = _NONE
) -> Iterator[frozenset[str]]:
    """Which texts to leave out, one set after the other, at most three.

    ``accepted`` are the messages of the last request that went through; where they are
    not known, those before the last reply of ``model`` are. What was said last always
    stays, and texts that were left out ``in_vain`` go only together with all others.
    """
    fresh = _fresh(messages, accepted, model)
    results = [key_of(one) for message in fresh if isinstance(message, ResultsMessage) for one in message.results]
    said = [key_of(message) for message in fresh[:-1] if isinstance(message, UserMessage)]
    replies = [key_of(message) for message in fresh if isinstance(message, AssistantMessage)]
    every = frozenset([*results, *said, *replies])
    if every <= in_vain:
        return
    results, said, replies = ([key for key in keys if key not in in_vain] for keys in (results, said, replies))
    groups = [*_halves(results), said] if results else _halves(said)
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
