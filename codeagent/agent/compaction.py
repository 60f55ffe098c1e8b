"""Makes room in the model's window: old tool outputs go first, then the model sums up all but the last part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codeagent.agent.history import History
from codeagent.agent.limits import Limits
from codeagent.agent.meter import IMAGE_TOKENS, Meter, tokens_of, tokens_of_text
from codeagent.agent.pins import Pins
from codeagent.agent.record import Record
from codeagent.agent.shrinking import (
    SLACK,
    cut_point,
    images_under_way,
    long_results,
    shrunk,
    words_under_way,
    words_within,
)
from codeagent.agent.summaries import CHARACTERS, Judges, NotSummedUp, Pay, Summaries
from codeagent.agent.windows import Windows
from codeagent.core.context import CompactionReason, CompactionStarted, HistoryCompacted
from codeagent.core.errors import ContextOverflow
from codeagent.core.events import ContextMeasured, Level, NoticeGiven
from codeagent.core.messages import AssistantMessage, Message, UserMessage
from codeagent.core.protocols import Ledger, Provider
from codeagent.core.refused import without_refused

_MOST_KEPT = 20_000
_GOOD_ENOUGH = 0.6  # of the window: when clearing gets this far, nothing has to be summed up
_CLEARED_FROM = 400  # characters
_SHORTEST_RESULT = 1_000
_MOST_FAILURES = 3
_THOUSAND = 1_000
_PINS_SHARE, _USUAL_WINDOW = 4, 32_000
_WORDS_SHARE, _MOST_WORDS = 8, 12_000
_GIVEN_UP = "It is not tried by itself again. /compact tries once more, /new starts a new session."


class Compactor:
    """Keeps one history within the window; ``provider`` is asked for anew each time."""

    def __init__(  # noqa: PLR0913 - all that making room depends on
        self,
        history: History,
        meter: Meter,
        record: Record,
        provider: Callable[[], Provider],
        *,
        ledger: Ledger,
        limits: Limits,
        judges: Judges,
        pins: Pins,
        told: Mapping[str, int],
    ) -> None:
        """``told`` are the windows that services have named in refusals, by model."""
        self._history = history
        self._meter = meter
        self._record = record
        self._provider = provider
        self._limits = limits
        self._pins = pins
        self._windows = Windows(ledger, meter, told)
        self._summaries = Summaries(record, provider, limits=limits, windows=self._windows, judges=judges, pins=pins)
        self._failures = Counter[str]()  # by model
        self._overflows = 0
        self._is_refused = False

    @property
    def window(self) -> int | None:
        """The window of the model that answers now, in tokens: what is known of it, or what its service named."""
        return self._windows.of(self._provider().model)

    def narrow(self, refusal: ContextOverflow) -> None:
        """Takes what a refusal tells of the window for it from now on."""
        self._windows.narrow(self._provider().model, refusal)

    def is_full(self) -> None:
        """A reply ran into the end of the window: it holds no more than what is used now."""
        self._windows.is_full(self._provider().model)

    @property
    def most_pinned(self) -> int:
        """Tokens that all pins together may have."""
        return (self.window or _USUAL_WINDOW) // _PINS_SHARE

    @property
    def is_due(self) -> bool:
        """Whether room should be made before the next request."""
        at, window = self._limits.compact_at, self.window
        if at is None or window is None or self._failures[self._provider().model] >= _MOST_FAILURES:
            return False
        is_late = self._is_refused or self._summaries.are_useless
        return self._meter.used >= (window if is_late else at * window)

    @property
    def next_size(self) -> int:
        """About how many tokens the next request will have, once room was made for it."""
        used, room = self._meter.used, self.window
        if room is None or (used < room and not self.is_due):
            return used
        plan = self._unsummed(CompactionReason.FULL, room)
        return min(self._after(self._history.messages, plan), used, room)

    @property
    def is_refused(self) -> bool:
        """Whether the person wanted no summary when room was last to be made."""
        return self._is_refused

    @property
    def is_beyond(self) -> bool:
        """Whether the next request has more than the window holds."""
        return self.window is not None and self._meter.used >= self.window

    def measure(self) -> None:
        """Tells how full the window is."""
        self._record.tell(ContextMeasured(tokens=self._meter.used, window=self.window))

    def fits_again(self) -> None:
        """A request went through."""
        self._overflows = 0

    async def compact(self, reason: CompactionReason, pay: Pay, focus: str = "") -> bool:
        """Makes the history shorter; False when it stayed as it was, which was then said.

        ``focus`` is what the summary should keep above all. Raises JournalError.
        """
        self._record.tell(CompactionStarted(reason=reason))
        if reason is CompactionReason.OVERFLOW:
            self._overflows += 1
        window = self.window
        try:
            compaction = await self._compaction(reason, focus, pay)
        except NotSummedUp as problem:
            if self.window != window:  # the request for the summary was too long itself, and now it is known why
                return await self.compact(reason, pay, focus)
            self._fail(reason, str(problem))
            return False
        if compaction is None:
            self._is_refused = reason is not CompactionReason.WANTED
            self._record.tell(NoticeGiven(text="The conversation stays as it is: the summary was refused."))
            return False
        told = self._told_characters
        await self._history.compact(compaction)
        self._meter.start_over()
        if compaction.words_to:
            self._tell_cut(told - self._told_characters)
        self.measure()
        self._is_refused = False
        if reason is CompactionReason.FULL and self.is_due and not compaction.words_to:
            self._fail(reason, "The conversation is still too long after it was compacted.")
        else:
            self._failures[self._provider().model] = 0
        return True

    async def _compaction(self, reason: CompactionReason, focus: str, pay: Pay) -> HistoryCompacted | None:
        """What to do to the history; None when the person refused it."""
        messages, room = self._history.messages, self.window or self._meter.used
        if reason is CompactionReason.OVERFLOW:
            room = min(room, self._meter.used)
        plan = self._unsummed(reason, room)
        cut = len(messages) - plan.kept
        older, kept = without_refused(messages)[:cut], messages[cut:]
        is_mended = reason is CompactionReason.FULL or plan.words_to
        if is_mended and self._after(messages, plan) <= _GOOD_ENOUGH * room:
            return self._measured(messages, plan)
        if not any(isinstance(message, AssistantMessage) for message in older):
            if plan.cleared or plan.shortened or plan.words_to:
                return self._measured(messages, plan)
            raise NotSummedUp("There is nothing before this that could be summed up.")
        most_words = min(_MOST_WORDS, room // _WORDS_SHARE) >> max(self._overflows - 1, 0)
        words = words_under_way(messages, cut, most_words * CHARACTERS)
        images, remarks = images_under_way(messages, cut, most_words // IMAGE_TOKENS)
        words = tuple(said + remark for said, remark in zip(words, remarks, strict=True))
        plan = replace(plan, cleared=(), words=words, images=images)
        stays = tokens_of_text("".join(words)) + sum(images) * IMAGE_TOKENS
        summary = await self._summaries.of(older, stays, room, reason, focus, pay)
        if summary is None:
            return None
        pinned = await self._pins.text(kept, room // _PINS_SHARE * CHARACTERS)
        return self._measured(messages, replace(plan, summary=summary, pinned=pinned))

    def _unsummed(self, reason: CompactionReason, room: int) -> HistoryCompacted:
        """What goes without a summary."""
        messages = self._history.messages
        keep = min(_MOST_KEPT, room // 4) >> max(self._overflows - 1, 0)
        if reason is CompactionReason.WANTED:
            keep = min(keep, sum(map(tokens_of, messages)) // 3)
        cut = cut_point(messages, keep)
        older, kept = without_refused(messages)[:cut], messages[cut:]
        spared = frozenset[str]() if reason is CompactionReason.OVERFLOW else self._pins.spared(messages)
        plan = HistoryCompacted(
            reason=reason,
            kept=len(kept),
            cleared=tuple(call for call in long_results(older, _CLEARED_FROM) if call not in spared),
            before=self._meter.used,
            window=self.window,
            told_by=self._provider().model if self._windows.is_told(self._provider().model) else "",
        )
        return self._with_cut_words(_with_shortened(plan, kept, keep), messages, cut, room)

    def _with_cut_words(
        self, plan: HistoryCompacted, messages: Sequence[Message], cut: int, room: int
    ) -> HistoryCompacted:
        """Cuts what the model was told where that alone is too much, and no summary of the rest can help.

        Where nothing can be summed up, all that it was told has to share the room.
        """
        size = (room >> max(self._overflows - 1, 0)) * _THOUSAND // max(self._meter.scaled(_THOUSAND), 1)
        has_more = any(isinstance(message, AssistantMessage) for message in messages[:cut])
        own = [message for message in messages if isinstance(message, UserMessage)]
        most = size - size // 16 - (size // 8 if has_more else 0) - self._meter.fixed
        huge = [message for message in own if tokens_of(message) > most]
        if not huge and not has_more and (self.is_beyond or plan.reason is CompactionReason.OVERFLOW):
            huge = own
        tokens = sum(map(tokens_of, huge))
        if not tokens:
            return plan
        characters = sum(len(message.text) for message in huge)
        share = max(size // 2 - self._meter.fixed, size // 8)
        words_to = max(words_within(huge, min(share * characters // tokens, share * CHARACTERS)), _SHORTEST_RESULT)
        return replace(plan, words_to=words_to if max(len(one.text) for one in huge) > words_to + SLACK else 0)

    @property
    def _told_characters(self) -> int:
        """How much the model is told beside its own words and results."""
        return sum(len(message.text) for message in self._history.latest if isinstance(message, UserMessage))

    def _tell_cut(self, characters: int) -> None:
        text = (
            f"This is longer than the window of {self._provider().model}: {characters:,} characters of its middle are "
            "left out for the model. A file it could read in parts."
        )
        self._record.tell(NoticeGiven(text=text, level=Level.WARNING))

    def _after(self, messages: Sequence[Message], plan: HistoryCompacted) -> int:
        return self._meter.scaled(self._meter.fixed + sum(map(tokens_of, shrunk(messages, plan))))

    def _measured(self, messages: Sequence[Message], plan: HistoryCompacted) -> HistoryCompacted:
        return replace(plan, after=self._after(messages, plan))

    def _fail(self, reason: CompactionReason, problem: str) -> None:
        if reason is CompactionReason.FULL:
            self._failures[self._provider().model] += 1
        is_over = self._failures[self._provider().model] >= _MOST_FAILURES
        text = f"{problem} {_GIVEN_UP}" if is_over else problem
        ends_turn = reason is CompactionReason.OVERFLOW  # which then says what to do
        self._record.tell(NoticeGiven(text=text, level=Level.INFO if ends_turn else Level.WARNING))


def _with_shortened(plan: HistoryCompacted, kept: Sequence[Message], keep: int) -> HistoryCompacted:
    """Cuts the outputs of the part that is kept when they alone are too much for it."""
    if sum(map(tokens_of, kept)) <= keep:
        return plan
    long = long_results(kept, _SHORTEST_RESULT)
    most = max(keep * CHARACTERS // max(len(long), 1), _SHORTEST_RESULT)
    return replace(plan, shortened=long_results(kept, most), shortened_to=most)
