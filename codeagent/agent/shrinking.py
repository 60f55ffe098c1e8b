"""How a history becomes shorter: what is kept, what is taken out, and the same again when a session is resumed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from codeagent.agent.meter import tokens_of
from codeagent.core.context import HistoryCompacted
from codeagent.core.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    Origin,
    ResultsMessage,
    TextBlock,
    ToolResult,
    UserMessage,
)

CLEARED = "[The output of this call was removed to make room. Make the call again if you need it.]"
_IMAGE_CLEARED = "[The image of this output was removed to make room. Make the call again if you need it.]"
_CUT_MARK = "\n[… {count} characters were removed here to make room …]\n"
_PINNED = "The person wants this to stay word for word:"
_CUT = re.compile(r"\[… [\d,]+ characters were removed here to make room …\]")
SLACK = 100  # characters: what was shortened once, and has its mark, is not shortened again
_PROMPT = frozenset({Origin.PROMPT})
_OWN = frozenset({Origin.PROMPT, Origin.STEERING, Origin.FOLLOW_UP})
_OPENING = (
    "The conversation so far was summed up to make room. What follows is the summary; the work goes on from here.\n\n"
)


def shrunk(messages: Sequence[Message], compaction: HistoryCompacted) -> list[Message]:
    """The history after a compaction; the same for the same history, now and when the session is resumed."""
    kept = list(messages[max(len(messages) - compaction.kept, 0) :]) if compaction.summary else list(messages)
    cleared, shortened = frozenset(compaction.cleared), frozenset(compaction.shortened)
    if cleared or shortened:
        kept = [_lightened(message, cleared, shortened, compaction.shortened_to) for message in kept]
    if compaction.words_to:
        kept = [_with_cut_words(message, compaction.words_to) for message in kept]
    if not compaction.summary:
        return kept
    blocks = [TextBlock(text=_OPENING + compaction.summary)]
    if compaction.pinned:
        blocks.append(TextBlock(text=f"{_PINNED}\n{compaction.pinned}"))
    shown = _under_way(messages, len(messages) - compaction.kept) if any(compaction.images) else []
    images = [_images(message)[:count] for message, count in zip(shown, compaction.images, strict=False)]
    said = [
        UserMessage(
            blocks=(*(images[at] if at < len(images) else ()), *([TextBlock(text=text)] if text.strip() else [])),
            origin=Origin.STEERING if at else Origin.PROMPT,
        )
        for at, text in enumerate(compaction.words)
    ]
    return [UserMessage(blocks=tuple(blocks), origin=Origin.SUMMARY), *said, *kept]


def _with_cut_words(message: Message, most: int) -> Message:
    """The message with a mark for the middle of each text that is longer than so many characters."""
    if not isinstance(message, UserMessage) or len(message.text) <= most + SLACK:
        return message
    blocks = (
        TextBlock(text=shorten(block.text, most))
        if isinstance(block, TextBlock) and len(block.text) > most + SLACK
        else block
        for block in message.blocks
    )
    return replace(message, blocks=tuple(blocks))


def words_within(messages: Sequence[UserMessage], most: int) -> int:
    """To how many characters the longest texts have to be cut so that all together have about ``most``."""
    lengths = sorted(len(message.text) for message in messages)
    for at, length in enumerate(lengths):
        left = len(lengths) - at
        if length * left > most:
            return most // left
        most -= length
    return most


def words_under_way(messages: Sequence[Message], cut: int, most: int) -> tuple[str, ...]:
    """What the person said before ``cut`` in the turn under way, oldest first, in about ``most`` characters.

    They stay messages of theirs, so that the next time room is made finds them again. Of
    long ones the middle is left out; short ones beside them stay whole.
    """
    words = [message.text for message in _under_way(messages, cut)]
    shortest_first = sorted(range(len(words)), key=lambda at: len(words[at]))
    for left, at in zip(range(len(words), 0, -1), shortest_first, strict=True):
        share = max(most // left, 0)
        if len(words[at]) > share + SLACK:
            words[at] = shorten(words[at], share)
        most -= len(words[at])
    return tuple(words)


def images_under_way(messages: Sequence[Message], cut: int, most: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """How many images of each of these messages stay, at most ``most`` in all, and the words for those that do not."""
    counts: list[int] = []
    remarks: list[str] = []
    for message in _under_way(messages, cut):
        images = _images(message)
        counts.append(min(len(images), most))
        most -= counts[-1]
        gone = images[counts[-1] :]
        names = ", ".join(image.name or "an image" for image in gone)
        remarks.append(f"\n[Left out to make room, so ask for it again if you need it: {names}]" if gone else "")
    return tuple(counts), tuple(remarks)


def _under_way(messages: Sequence[Message], cut: int) -> list[UserMessage]:
    """What the person said, and showed, before ``cut`` in the turn under way."""
    begin = max((at for at, message in enumerate(messages) if _is_of(message, _PROMPT)), default=0)
    own = [message for message in messages[begin:cut] if _is_of(message, _OWN)]
    return [message for message in own if message.text.strip() or _images(message)]


def _images(message: UserMessage) -> tuple[ImageBlock, ...]:
    return tuple(block for block in message.blocks if isinstance(block, ImageBlock))


def cut_point(messages: Sequence[Message], most: int) -> int:
    """Where the part begins that is kept: at most about ``most`` tokens, and never results without their calls.

    The last reply with its results, or the last thing said, is always kept.
    """
    total = 0
    cut = len(messages)
    for index in range(len(messages) - 1, -1, -1):
        total += tokens_of(messages[index])
        is_whole = not isinstance(messages[index], ResultsMessage)
        if total > most and cut < len(messages):
            break
        if is_whole:
            cut = index
            if total > most:
                break
    return cut


def long_results(messages: Sequence[Message], longer_than: int) -> tuple[str, ...]:
    """The ids of the calls whose result has more than so many characters, or an image."""
    return tuple(
        result.call_id
        for message in messages
        if isinstance(message, ResultsMessage)
        for result in message.results
        if len(result.text) > longer_than or any(isinstance(block, ImageBlock) for block in result.blocks)
    )


def still_there(messages: Sequence[Message]) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of the calls that a history holds, and of those whose result it holds in full."""
    calls = (call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    results = (
        result.call_id
        for message in messages
        if isinstance(message, ResultsMessage)
        for result in message.results
        if result.text != CLEARED and not result.text.endswith(_IMAGE_CLEARED) and not _CUT.search(result.text)
    )
    return frozenset(calls), frozenset(results)


def shorten(text: str, most: int) -> str:
    """The text in about ``most`` characters: a third from its beginning, the rest from its end."""
    if len(text) <= most:
        return text
    head = most // 3
    tail = most - head
    return text[:head] + _CUT_MARK.format(count=f"{len(text) - most:,}") + text[len(text) - tail :]


def _is_of(message: Message, origins: frozenset[Origin]) -> TypeGuard[UserMessage]:
    return isinstance(message, UserMessage) and message.origin in origins


def _lightened(message: Message, cleared: frozenset[str], shortened: frozenset[str], most: int) -> Message:
    if not isinstance(message, ResultsMessage):
        return message
    results = tuple(_light(result, cleared, shortened, most) for result in message.results)
    return message if results == message.results else replace(message, results=results)


def _light(result: ToolResult, cleared: frozenset[str], shortened: frozenset[str], most: int) -> ToolResult:
    if result.call_id in cleared:
        return replace(result, blocks=(TextBlock(text=CLEARED),), details=None)
    if result.call_id in shortened:
        text = shorten(result.text, most)
        note = _IMAGE_CLEARED if any(isinstance(block, ImageBlock) for block in result.blocks) else ""
        left = "\n".join(filter(None, (text, note)))
        return replace(result, blocks=(TextBlock(text=left or CLEARED),), details=None)
    return result
