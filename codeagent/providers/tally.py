"""How many tokens a reply took, from reports that count up, repeat themselves or only add; and how many it may."""

from __future__ import annotations

import re

from codeagent.core.messages import Usage
from codeagent.core.seldom import seldom

_OUTPUT_NAMED = (
    seldom(r"max_(?:output_|completion_)?tokens\W+\d[\d,]* ?(?:>|exceeds?\D{1,60}) ?(\d[\d,]*)"),
    seldom(
        r"(?:at most|no more than|less than or equal to|must be <=|cannot exceed|range\D{0,40}\d+,)\W{0,3}(\d[\d,]*)"
    ),
    seldom(r"maximum (?:allowed )?(?:number of )?(?:output|completion) tokens\D{0,12}(\d[\d,]*)", re.IGNORECASE),
)
"""The ways to name the most tokens of a reply."""
_ABOUT_OUTPUT = seldom(r"max_(?:output_|completion_)?tokens|(?:output|completion) tokens")
_CHARACTERS_A_TOKEN = 4
_FAR_BEYOND = 5  # as much more does a service's beta hold than a window that is known
_MUCH_MORE = 2
_WIDEST_WINDOW = 10_000_000


class OutputTally:
    """Counts of output tokens as a stream reports them, together with how much it has said by then.

    All three protocols say that a report is of the whole so far: Messages calls the
    counts of ``message_delta`` cumulative, Chat Completions sends one report after
    the last choice, Responses one with the whole response. Some servers report what
    was added since the last time all the same. A count that falls, be it that of the
    prompt, or that stands still while much more is said, gives them away; counts that
    only grow are believed to be what the protocol says, as nothing tells them apart.

    https://docs.anthropic.com/en/docs/build-with-claude/streaming,
    https://platform.openai.com/docs/api-reference/chat/create (``stream_options``)
    """

    def __init__(self) -> None:
        self._most = 0
        self._sum: int = 0
        self._last: int = 0
        self._said = 0
        self._falls: bool = False
        self._stands_still: bool = False
        self._whole = 0

    def report_whole(self, count: int) -> None:
        """The report at the place where the protocol has the whole; it holds unless an earlier one was more."""
        if count >= self._most:
            self._whole = count

    def report(self, count: int, said: int, *, is_added: bool = False) -> None:
        """One report; ``said`` is how many characters have come so far, those that came with it included.

        ``is_added``: it holds only what was added since the last one, as its prompt tells.
        """
        if not count:
            return
        self._falls = self._falls or is_added
        if self._last and self._said and said > self._said:
            self._falls = self._falls or count < self._last
            self._stands_still = self._stands_still or count == self._last
        if is_added or said > self._said or count not in {self._last, self._sum}:
            self._sum += count
        self._most = max(self._most, count)
        self._last, self._said = count, said

    @property
    def total(self) -> int:
        """The reply's output tokens so far."""
        if self._whole:
            return self._whole
        is_added_up = self._falls or (self._stands_still and self._is_likelier_added_up)
        return self._sum if is_added_up else self._most

    @property
    def _is_likelier_added_up(self) -> bool:
        """Whether what was said is nearer to the sum of all counts than to the highest; a whole can stand still too.

        It does where a token comes in several pieces.
        """
        likely = self._said / _CHARACTERS_A_TOKEN
        return self._sum <= self._said and self._sum * self._most < likely * likely


def believable(usage: Usage, window: int | None, most_output: int | None) -> Usage:
    """The usage that a service reported, or none when it is far beyond what fits, which is then estimated.

    ``window`` is the model's, ``most_output`` what it was asked for at most, both in tokens and None when unknown.
    """
    most = window * _FAR_BEYOND if window else _WIDEST_WINDOW
    written = min(most, (most_output or window or most) * _MUCH_MORE)
    is_beyond = usage.context_tokens - usage.output_tokens > most or usage.output_tokens > written
    return Usage() if is_beyond else usage


def usage_of(prompt: int, output: int, cached: int, stored: int, *, total: int = 0) -> Usage:
    """The usage of a service whose prompt count holds what the cache served and stored, as most have it.

    Where the parts are more than the whole, or ``total`` is the sum of all, the
    cache was counted beside the prompt.
    """
    is_beside = cached + stored > prompt or total == prompt + output + cached + stored
    return Usage(
        input_tokens=prompt if is_beside else prompt - cached - stored,
        output_tokens=output,
        cache_read_tokens=cached,
        cache_write_tokens=stored,
    )


def output_of(prompt: int, completion: int, cached: int, total: int) -> int:
    """The output tokens of one report; where reasoning is counted beside the completion, only the total tells."""
    beside = total - prompt - completion
    return completion + beside if prompt and completion and beside > 0 and beside != cached else completion


def output_limit_in(refusal: str) -> int | None:
    """The most tokens that a reply may have by a refusal of more, None when it is about something else."""
    if not _ABOUT_OUTPUT().search(refusal):
        return None
    named = (found.group(1) for words in _OUTPUT_NAMED if (found := words().search(refusal)))
    return next((size for one in named if (size := int(one.replace(",", "")))), None)
