"""What was said so far, always in a form that the next request can carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.record import Record
from codeagent.agent.results import unknown
from codeagent.agent.shrinking import shrunk
from codeagent.core.context import HistoryCompacted
from codeagent.core.errors import JournalError, NothingToUndo
from codeagent.core.events import (
    AgentEvent,
    ConversationRestored,
    ConversationRewound,
    HistoryAppended,
    ToolEnded,
    TurnStarted,
)
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    ImageBlock,
    Message,
    OpaqueBlock,
    Origin,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.text import storable

OnLeft = Callable[[Sequence[Message]], None]
"""Is told of a history that became shorter."""


class History:
    """The messages of a session; a message is in it once it is in the journal.

    After every append the rule holds that each tool call has exactly one result,
    in call order, directly after its message; until the results of the last
    message are there, ``open_calls`` says what they are waited for.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        record: Record,
        bookmarks: Bookmarks | None = None,
        on_left: OnLeft = lambda _: None,
    ) -> None:
        """``on_left`` is told of the messages that are left whenever some went."""
        self._on_left = on_left
        self._messages = list(messages)
        self._bookmarks = bookmarks or Bookmarks()
        self._record = record
        self._ids = self._bookmarks.call_ids
        self._ids.update(call.id for message in self._messages for call in _calls(message))
        self._next_number: dict[str, int] = {}
        self._asides: list[UserMessage] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first."""
        return tuple(self._messages)

    @property
    def latest(self) -> Sequence[Message]:
        """All messages without a copy, to be looked at only."""
        return self._messages

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last message, when it has calls: their results must come next."""
        return _calls(self._messages[-1]) if self._messages else ()

    async def append(self, message: Message) -> None:
        """Adds a message once it is written; raises JournalError, and then it is not in the history."""
        if isinstance(message, UserMessage):
            await self.keep_asides()
        await self._add(message)

    def set_aside(self, message: UserMessage) -> None:
        """Keeps a message that goes in right before the person's next one."""
        self._asides.append(message)

    async def keep_asides(self) -> None:
        """Adds what was set aside; no call may be open. Raises JournalError, and what is left stays set aside."""
        while self._asides:
            aside = self._asides.pop(0)
            try:
                await self._add(aside)
            except JournalError:
                self._asides.insert(0, aside)
                raise

    async def compact(self, compaction: HistoryCompacted) -> None:
        """Makes the history shorter once that is written; raises JournalError, and then it is as it was."""
        await self._record.keep(compaction)
        self._messages = shrunk(self._messages, compaction)
        self._on_left(self._messages)

    @property
    def rewound_turn(self) -> int | None:
        """The turn that the conversation just went back before, while nothing was said since."""
        return self._bookmarks.rewound_turn

    def begin_turn(self, turn: int) -> None:
        """Remembers where a turn begins."""
        self._bookmarks.begin(turn, self._messages)

    async def rewind(self, turn: int) -> None:
        """Goes back to before a turn, once that is written; raises NothingToUndo and JournalError."""
        self._bookmarks.check(turn)
        await self._record.keep(ConversationRewound(turn=turn))
        self._messages = self._bookmarks.rewind(turn, self._messages)
        self._on_left(self._messages)

    async def take_rewind_back(self) -> None:
        """Takes the last rewind back, once that is written; raises NothingToUndo and JournalError."""
        turn = self.rewound_turn
        messages = self._bookmarks.restore()
        await self._record.keep(ConversationRestored(turn=turn or 0))
        self._messages = messages

    async def _add(self, message: Message) -> None:
        await self._record.keep(HistoryAppended(message=message))
        self._messages.append(message)

    async def close_calls(self, results: Sequence[ToolResult]) -> None:
        """Gives every open call its result, of the known ``results`` or a stand-in; raises JournalError.

        The results enter the history even when they cannot be written: a request must stay possible.
        """
        if not self.open_calls:
            return
        message = ResultsMessage(results=results_for(self.open_calls, results))
        try:
            await self.append(message)
        except JournalError:
            self._messages.append(message)
            raise

    def adopt(self, message: AssistantMessage) -> AssistantMessage:
        """The reply in a form that can be kept: texts that can be written, call ids used once in the session."""
        blocks = tuple(self._adopt(block) for block in message.blocks if not _is_blank(block))
        return replace(message, blocks=blocks)

    def _adopt(self, block: AssistantBlock) -> AssistantBlock:
        match block:
            case ToolCall():
                return ToolCall(
                    id=self._unique(storable(block.id)),
                    name=storable(block.name),
                    arguments_json=storable(block.arguments_json),
                )
            case TextBlock() | ThinkingBlock():
                return replace(block, text=storable(block.text))
            case OpaqueBlock():
                return block

    def _unique(self, wanted: str) -> str:
        """The id, with a number when the session has used it before: some services count from zero in each reply."""
        stem = wanted or "call"
        unique = stem if wanted else ""
        while not unique or unique in self._ids:
            number = self._next_number.get(stem, 2)
            self._next_number[stem] = number + 1
            unique = f"{stem}-{number}"
        self._ids.add(unique)
        return unique


def restore(past: Iterable[AgentEvent], bookmarks: Bookmarks | None = None) -> tuple[Message, ...]:
    """The history that a session's past events add up to, with a result for every call that has none.

    Where the program was stopped in mid-step, results of calls that had ended are
    taken from their end events; the others are reported as not finished. The
    ``bookmarks`` learn where the turns began, and which calls there ever were.
    """
    bookmarks = bookmarks or Bookmarks()
    messages: list[Message] = []
    ended: list[ToolResult] = []
    open_calls: tuple[ToolCall, ...] = ()
    for event in past:
        match event:
            case ToolEnded(result=result):
                ended.append(result)
            case HistoryAppended(message=message):
                is_answer = isinstance(message, ResultsMessage)
                known = message.results if isinstance(message, ResultsMessage) else ended
                if open_calls:
                    messages.append(ResultsMessage(results=results_for(open_calls, known)))
                if not is_answer:
                    messages.append(message)
                open_calls = _calls(message)
                bookmarks.call_ids.update(call.id for call in open_calls)
                ended = []
            case HistoryCompacted() | TurnStarted() | ConversationRewound() | ConversationRestored():
                if open_calls:
                    messages.append(ResultsMessage(results=results_for(open_calls, ended)))
                    open_calls, ended = (), []
                if isinstance(event, HistoryCompacted):
                    messages = shrunk(messages, event)
                else:
                    messages = _turned(event, messages, bookmarks)
            case _:
                continue
    if open_calls:
        messages.append(ResultsMessage(results=results_for(open_calls, ended)))
    return tuple(messages)


def _turned(
    event: TurnStarted | ConversationRewound | ConversationRestored, messages: list[Message], bookmarks: Bookmarks
) -> list[Message]:
    """The history after a turn's start or a rewind; one that makes no sense changes nothing."""
    try:
        match event:
            case TurnStarted(turn=turn):
                bookmarks.begin(turn, messages)
                return messages
            case ConversationRewound(turn=turn):
                return bookmarks.rewind(turn, messages)
            case ConversationRestored():
                return bookmarks.restore()
    except NothingToUndo:
        return messages


def results_for(calls: Sequence[ToolCall], known: Iterable[ToolResult]) -> tuple[ToolResult, ...]:
    """Exactly one result for each call, in call order; a stand-in where none is known."""
    by_id = {result.call_id: result for result in known}
    return tuple(by_id.get(call.id) or unknown(call) for call in calls)


def storable_blocks(blocks: Iterable[TextBlock | ImageBlock]) -> tuple[TextBlock | ImageBlock, ...]:
    """The blocks with texts that can be written; blank texts, which services refuse, are left out."""
    cleaned = (TextBlock(text=storable(block.text)) if isinstance(block, TextBlock) else block for block in blocks)
    return tuple(block for block in cleaned if isinstance(block, ImageBlock) or block.text.strip())


def user_message(text: str, origin: Origin, images: Iterable[ImageBlock] = ()) -> UserMessage:
    """Something said to the model, in a form that can be kept."""
    blocks = storable_blocks((*images, TextBlock(text=text)))
    return UserMessage(blocks=blocks or (TextBlock(text="(nothing)"),), origin=origin)


def _is_blank(block: AssistantBlock) -> bool:
    """Services refuse blank texts in a history, also those that they wrote themselves."""
    return isinstance(block, TextBlock) and not block.text.strip()


def _calls(message: Message) -> tuple[ToolCall, ...]:
    return message.calls if isinstance(message, AssistantMessage) else ()
