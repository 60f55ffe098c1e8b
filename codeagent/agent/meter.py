"""How full the model's window is: the provider's own count, and an estimate for what came after it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import assert_never

from codeagent.core.context import ContextPart, ContextReport
from codeagent.core.json_types import JsonValue
from codeagent.core.messages import (
    AssistantBlock,
    AssistantMessage,
    ImageBlock,
    Message,
    OpaqueBlock,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.protocols import ToolSpec

_BYTES_PER_TOKEN = 3.5
IMAGE_TOKENS = 1_600
_MESSAGE_TOKENS = 6
_LEAST_RATIO, _MOST_RATIO = 0.5, 2.0
_MOST_LISTED = 8


def tokens_of_text(text: str) -> int:
    """About how many tokens a text has; source code and JSON have more than prose, so this errs upwards."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -int(-size // _BYTES_PER_TOKEN)


def tokens_of(message: Message) -> int:
    """About how many tokens a message has."""
    match message:
        case UserMessage(blocks=blocks):
            return _MESSAGE_TOKENS + sum(map(_of_block, blocks))
        case AssistantMessage(blocks=blocks):
            return _MESSAGE_TOKENS + sum(map(_of_block, blocks))
        case ResultsMessage(results=results):
            return sum(map(tokens_of_result, results))
        case _:
            assert_never(message)


def tokens_of_result(result: ToolResult) -> int:
    """About how many tokens a tool result has."""
    return _MESSAGE_TOKENS + sum(map(_of_block, result.blocks))


def _of_block(block: AssistantBlock | ImageBlock) -> int:
    match block:
        case TextBlock(text=text) | ThinkingBlock(text=text):
            return tokens_of_text(text)
        case OpaqueBlock(payload_json=text):
            return tokens_of_text(text)
        case ToolCall(name=name, arguments_json=arguments):
            return _MESSAGE_TOKENS + tokens_of_text(name) + tokens_of_text(arguments)
        case ImageBlock():
            return IMAGE_TOKENS
        case _:
            assert_never(block)


class Meter:
    """Follows a history; ``fixed`` is what every request carries beside it, in tokens.

    No work here grows with the history: each message is looked at once, until the
    history was made shorter.
    """

    def __init__(self, messages: Callable[[], Sequence[Message]], system: str, tools: Sequence[ToolSpec]) -> None:
        self._messages = messages
        self._system = tokens_of_text(system)
        self._tools = sum(
            tokens_of_text(tool.name) + tokens_of_text(tool.description) + tokens_of_text(tool.schema_json)
            for tool in tools
        )
        self._seen = 0
        self._estimated = 0
        self._known: tuple[int, int] | None = None
        self._ratio = 1.0
        self._last: tuple[str, Usage] | None = None
        self._replies = self._written = 0

    @property
    def fixed(self) -> int:
        """Tokens of the system prompt and the tools."""
        return self._system + self._tools

    @property
    def used(self) -> int:
        """Tokens that the next request will have."""
        self._catch_up()
        if self._known is None:
            return int((self.fixed + self._estimated) * self._ratio)
        tokens, estimated = self._known
        return tokens + int(max(self._estimated - estimated, 0) * self._ratio)

    def expected(self, model: str, size: int | None = None) -> Usage:
        """What the next request and its reply will probably be counted as.

        ``size`` is how many tokens the request has, where that is not the whole history.
        What the service kept of the last request it has at hand again; the reply is as long as replies were so far.
        """
        model_before, last = self._last or ("", Usage())
        size = self.used if size is None else size
        kept = min(last.cache_read_tokens + last.cache_write_tokens, size) if model == model_before else 0
        new = size - kept
        is_kept = model_before != model or last.cache_write_tokens > 0  # the first one is kept, where that is charged
        return Usage(
            input_tokens=0 if is_kept else new,
            output_tokens=self._written // max(self._replies, 1),
            cache_read_tokens=kept,
            cache_write_tokens=new if is_kept else 0,
            is_estimate=True,
        )

    def learn(self, usage: Usage, reply: AssistantMessage) -> None:
        """The provider's count of a request and its reply, which is not in the history yet."""
        self._replies, self._written = self._replies + 1, self._written + (usage.output_tokens or tokens_of(reply))
        if not usage.context_tokens - usage.output_tokens:
            return  # a service that does not count
        self._catch_up()
        estimated = self._estimated + tokens_of(reply)
        self._known = (usage.context_tokens, estimated)
        self._last = (reply.model, usage)
        ratio = usage.context_tokens / max(self.fixed + estimated, 1)
        self._ratio = min(max(ratio, _LEAST_RATIO), _MOST_RATIO)

    def accepted(self, model: str) -> int:
        """Tokens of the last request that the model answered, by its service's own count; 0 when nothing is known."""
        own = (one for one in reversed(self._messages()) if isinstance(one, AssistantMessage) and one.model == model)
        counts = (one.usage.context_tokens - one.usage.output_tokens for one in own if not one.usage.is_estimate)
        return next(filter(None, counts), 0)

    def start_over(self) -> None:
        """The history is another one: only an estimate is left until the provider counts again."""
        self._seen = self._estimated = 0
        self._known = self._last = None

    def scaled(self, estimated: int) -> int:
        """An estimate in the provider's own tokens."""
        return int(estimated * self._ratio)

    def report(self, window: int | None, compact_at: float | None) -> ContextReport:
        """What fills the window; the parts are scaled so that they add up to what is used."""
        messages = self._messages()
        said, replies, by_tool, by_file = _sorted_out(messages)
        results = sum(by_tool.values())
        used = self.used
        scale = used / max(self._system + self._tools + said + replies + results, 1)
        sizes = (
            ("system prompt", self._system),
            ("tool descriptions", self._tools),
            ("what you said", said),
            ("what the model said", replies),
        )
        parts = [ContextPart(name=name, tokens=round(size * scale)) for name, size in sizes]
        rest = max(used - sum(part.tokens for part in parts), 0)
        return ContextReport(
            used=used,
            window=window,
            is_estimate=self._known is None,
            parts=(*parts, ContextPart(name="tool results", tokens=rest)),
            by_tool=_largest(by_tool, scale),
            by_file=_largest(by_file, scale),
            compact_at=compact_at,
        )

    def _catch_up(self) -> None:
        messages = self._messages()
        if self._seen > len(messages):
            self.start_over()
        self._estimated += sum(map(tokens_of, messages[self._seen :]))
        self._seen = len(messages)


def path_of(call: ToolCall) -> str:
    """The file or folder that a call names; empty when it names none."""
    try:
        arguments: JsonValue = json.loads(call.arguments_json)
    except (ValueError, RecursionError):
        return ""
    path = arguments.get("path") if isinstance(arguments, dict) else None
    return path if isinstance(path, str) else ""


def _sorted_out(messages: Sequence[Message]) -> tuple[int, int, Counter[str], Counter[str]]:
    """Tokens of what was said, of replies, and of results by tool and by file."""
    said = replies = 0
    by_tool, by_file = Counter[str](), Counter[str]()
    calls: dict[str, ToolCall] = {}
    for message in messages:
        match message:
            case UserMessage():
                said += tokens_of(message)
            case AssistantMessage():
                replies += tokens_of(message)
                calls |= {call.id: call for call in message.calls}
            case ResultsMessage(results=results):
                for result in results:
                    call = calls.get(result.call_id)
                    size = tokens_of_result(result)
                    by_tool[call.name if call else "?"] += size
                    if call and (path := path_of(call)):
                        by_file[path] += size
            case _:
                assert_never(message)
    return said, replies, by_tool, by_file


def _largest(sizes: Counter[str], scale: float) -> tuple[ContextPart, ...]:
    return tuple(ContextPart(name=name, tokens=round(size * scale)) for name, size in sizes.most_common(_MOST_LISTED))
