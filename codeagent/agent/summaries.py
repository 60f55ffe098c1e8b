"""The summary that takes the place of older messages: asked of the model, looked at by the person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import assert_never

from codeagent.agent.digest import asked_again, excerpt, is_too_short, summary_request, with_certainties
from codeagent.agent.limits import Limits
from codeagent.agent.meter import tokens_of, tokens_of_text
from codeagent.agent.pins import Pins
from codeagent.agent.record import Record
from codeagent.agent.reply import Asker
from codeagent.agent.shrinking import shorten
from codeagent.agent.windows import Windows
from codeagent.core.approvals import ApprovalRequest, Approve, Decision, Deny, TextPreview, Verdict, Withdraw
from codeagent.core.context import CompactionReason
from codeagent.core.desk import Approver
from codeagent.core.errors import ContextOverflow, ProviderError, ProviderRejected
from codeagent.core.events import NoticeGiven
from codeagent.core.messages import AssistantMessage, Message, StopReason
from codeagent.core.protocols import ModelRequest, Provider
from codeagent.core.text import counted
from codeagent.core.values import value

CHARACTERS = 3
"""A token in characters, counted so low that what is cut by it surely fits."""
_MOST_SUMMARY, _LEAST_SUMMARY = 8_000, 400
_MOST_WISHES = 3
_MORE_ROOM = 2  # times as much for a summary that did not fit, as of a model that thinks before it writes
_SHOWN = 80  # characters of a summary that is no good
_OF_THE_TEXT = frozenset({None, 400, 413, 422})  # refusals that come again with the same text, whoever pays
_SHORT = "This is very short for so much: most of the conversation would be lost."
_NO_SHORTER = "The summary is no shorter than what it would stand for; nothing was changed."
_UNASKED = (
    "{model} is not asked for one again: once its window is full, an excerpt takes the place of what was said before. "
    "/compact asks it once more, and another model may do better."
)

Pay = Callable[[AssistantMessage], Awaitable[None]]
"""Counts what a request of ours has cost."""


class NotSummedUp(Exception):
    """There is no summary, and the text says why."""


class _Useless(NotSummedUp):
    """The model gives no summary of use, and would give none the next time."""


@value
class Judges:
    """Who looks at a summary before it is used: nobody without an ``approver``, or while ``reviews`` says no."""

    approver: Approver | None = None
    reviews: Callable[[], bool] = lambda: True


class Summaries:
    """Gets summaries from ``provider``, asked for anew each time, and remembers which models gave none of use."""

    def __init__(
        self,
        record: Record,
        provider: Callable[[], Provider],
        *,
        limits: Limits,
        windows: Windows,
        judges: Judges,
        pins: Pins,
    ) -> None:
        self._record = record
        self._asker = Asker(record, limits, is_shown=False)
        self._provider = provider
        self._windows = windows
        self._judges = judges
        self._pins = pins
        self._useless: set[str] = set()
        self._numbers = count(1)

    @property
    def are_useless(self) -> bool:
        """Whether the last summary of the model that answers now was of no use, so that it is not asked by itself."""
        return self._provider().model in self._useless

    async def of(
        self, older: Sequence[Message], stays: int, room: int, reason: CompactionReason, focus: str, pay: Pay
    ) -> str | None:
        """What stands for the older messages, as the person lets it stand; None when it is refused.

        ``stays`` and ``room`` are tokens: what of ``older`` is kept all the same, and the
        window. ``focus`` is what the summary should keep above all. Raises NotSummedUp.
        """
        replaced = sum(map(tokens_of, older))
        for _ in range(_MOST_WISHES):
            text = await self._text(older, replaced - stays, room, reason, focus, pay)
            verdict = await self._judged(
                with_certainties(text, older), len(older), is_short=is_too_short(text, replaced)
            )
            match verdict:
                case Approve(edited=edited):
                    return with_certainties(text, older) if edited is None else edited.strip() or None
                case Deny(feedback=""):
                    return None
                case Deny(feedback=feedback):
                    focus = f"{focus}\n{feedback}".strip()
                case Withdraw():
                    return None
                case _:
                    assert_never(verdict)
        return None

    async def _text(
        self, older: Sequence[Message], most: int, room: int, reason: CompactionReason, focus: str, pay: Pay
    ) -> str:
        """A summary of fewer than ``most`` tokens; an excerpt where the model gives none and room is needed."""
        if not self.are_useless or focus or reason is CompactionReason.WANTED:
            try:
                return await self._asked(older, most, room, reason, focus, pay)
            except NotSummedUp as problem:
                text = self._told(problem)
                if reason is not CompactionReason.OVERFLOW:
                    raise NotSummedUp(text) from problem
                if text != str(problem):
                    self._record.tell(NoticeGiven(text=text))
        text = excerpt(older, room // 8 * CHARACTERS)
        if reason is CompactionReason.FULL and tokens_of_text(with_certainties(text, older)) >= most:
            raise NotSummedUp(_NO_SHORTER)
        return text

    def _told(self, problem: NotSummedUp) -> str:
        """What to say of a summary that failed; the first time that a model's is of no use, what follows from it."""
        if not isinstance(problem, _Useless) or self.are_useless:
            return str(problem)
        self._useless.add(self._provider().model)
        return f"{problem} {_UNASKED.format(model=self._provider().model)}"

    async def _asked(
        self, older: Sequence[Message], most: int, room: int, reason: CompactionReason, focus: str, pay: Pay
    ) -> str:
        """The model's summary; raises NotSummedUp."""
        wanted = min(_MOST_SUMMARY, max(room // 8, _LEAST_SUMMARY))
        request = summary_request(older, focus, room // 2 * CHARACTERS, wanted)
        text = await self._long_enough(request, sum(map(tokens_of, older)), pay)
        if tokens_of_text(with_certainties(text, older)) >= most:
            raise (NotSummedUp if reason is CompactionReason.WANTED else _Useless)(_NO_SHORTER)
        self._useless.discard(self._provider().model)
        return text

    async def _long_enough(self, request: ModelRequest, replaced: int, pay: Pay) -> str:
        """A summary that can stand for so many tokens; where one twice cannot, only a person may take it."""
        text = await self._ask(request, pay)
        if is_too_short(text, replaced):
            text = await self._ask(asked_again(request), pay)
        if is_too_short(text, replaced) and not self._is_reviewed:
            raise _Useless(f"The model wrote far too little to stand for the conversation: {text[:_SHOWN]!r}.")
        return text

    async def _ask(self, request: ModelRequest, pay: Pay) -> str:
        """A whole summary; one that the output limit cuts off is asked for once more, with more room."""
        most = request.max_tokens or _MOST_SUMMARY
        reply = await self._reply(request, pay)
        if reply.stop is StopReason.MAX_TOKENS:
            reply = await self._reply(replace(request, max_tokens=most * _MORE_ROOM), pay)
        text = reply.text.strip()
        if reply.stop is StopReason.MAX_TOKENS:
            raise _Useless("The summary was cut off by the model's output limit, so it was not used.")
        if not text or reply.stop in {StopReason.REFUSAL, StopReason.CONTEXT_EXCEEDED}:
            raise _Useless("The model gave no summary of the conversation.")
        return shorten(text, most * _MORE_ROOM * CHARACTERS)

    async def _reply(self, request: ModelRequest, pay: Pay) -> AssistantMessage:
        try:
            reply = await self._asker.ask(self._provider(), request)
        except ProviderError as error:
            if isinstance(error, ContextOverflow):
                self._windows.take_named(self._provider().model, error)
            is_lasting = isinstance(error, ProviderRejected) and error.status in _OF_THE_TEXT
            kind = _Useless if is_lasting else NotSummedUp
            raise kind(f"The conversation could not be summed up: {error}") from error
        finally:
            for lost in self._asker.take_lost():
                await pay(lost)
        await pay(reply)
        return reply

    @property
    def _is_reviewed(self) -> bool:
        return self._judges.approver is not None and self._judges.reviews()

    async def _judged(self, summary: str, replaced: int, *, is_short: bool) -> Approve | Deny | Withdraw:
        """What the person says to a summary; one that they edited is shown again, and is what they say yes to."""
        approver = self._judges.approver
        if approver is None or not self._is_reviewed:
            return Approve()
        title = f"compact: this summary in place of {counted(replaced, 'message')}"
        because = (
            "From here on the model would see this summary in place of the earlier messages, which makes room in its "
            "window; the session's record keeps them. Editing changes what it will know."
        )
        if self._pins.all:
            because += f" Pinned, so kept word for word behind it: {', '.join(pin.label for pin in self._pins.all)}."
        question = ApprovalRequest(
            call_id=f"compaction-{next(self._numbers)}",
            tool="compact",
            preview=TextPreview(title=title, text=summary, is_proposal=True),
            touches=(),
            warnings=(_SHORT,) if is_short else (),
            verdict=Verdict(decision=Decision.ASK, because=because),
        )
        shown = summary
        while True:
            answer = await approver.ask(question)
            if not isinstance(answer, Approve):
                return answer
            if answer.edited is None:
                return answer if shown == summary else replace(answer, edited=shown)
            shown = answer.edited.strip()
            question = replace(question, preview=TextPreview(title=title, text=shown, is_proposal=True), warnings=())
