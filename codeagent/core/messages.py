"""What is said in a session: text, thinking, images, tool calls, tool results, usage."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from typing import Literal

from codeagent.core.diff import FileDiff
from codeagent.core.seldom import seldom
from codeagent.core.values import value

_LONGEST_NAME = 200
_AROUND_A_NAME = seldom(r"^(?:<\|[^|>]*\|>|[\s\"'`])+|<\|.*$|(?:[\s\"'`]|\(\)|:\d+)+$", re.DOTALL)
"""What models write before and after a name: special tokens, space, quotes, ``()``, and a number as Kimi's are."""
_PARTS_OF_A_NAME = seldom(r"[.:/=]")


class Outcome(StrEnum):
    """How one tool call ended."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    DENIED = "denied"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    DISABLED = "disabled"
    INTERNAL = "internal"


class StopReason(StrEnum):
    """Why the model stopped writing."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    PAUSE_TURN = "pause_turn"
    REFUSAL = "refusal"
    CONTEXT_EXCEEDED = "context_exceeded"
    CANCELLED = "cancelled"


class Origin(StrEnum):
    """Where a user message came from."""

    PROMPT = "prompt"
    STEERING = "steering"
    FOLLOW_UP = "follow_up"
    SHELL = "shell"
    HARNESS = "harness"
    SUMMARY = "summary"


@value
class Usage:
    """Tokens of one request; ``input_tokens`` leaves out what the cache served or stored.

    ``is_estimate`` says that the service did not count, or in a sum, not everything.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    is_estimate: bool = False

    @property
    def context_tokens(self) -> int:
        """Tokens of the whole window that this request and its reply filled."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            is_estimate=self.is_estimate or other.is_estimate,
        )


@value
class Unpriced:
    """Tokens, sent and received, of a model whose price is unknown."""

    model: str
    tokens: int


@value
class TextBlock:
    """Plain text; Markdown when the model wrote it."""

    kind: Literal["text"] = "text"
    text: str


@value
class ImageBlock:
    """An image, base64 encoded; ``media_type`` such as ``image/png``."""

    kind: Literal["image"] = "image"
    media_type: str
    data: str
    name: str = ""


@value
class ThinkingBlock:
    """What the model thought; ``signature`` must go back unchanged to the provider that made it."""

    kind: Literal["thinking"] = "thinking"
    text: str
    signature: str = ""
    provider: str = ""


@value
class OpaqueBlock:
    """An item only its provider understands (redacted thinking, reasoning), kept as its own JSON."""

    kind: Literal["opaque"] = "opaque"
    provider: str
    payload_json: str


@value
class ToolCall:
    """A request of the model's to run a tool; ``arguments_json`` is the raw text as it wrote it."""

    kind: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments_json: str


def meant_tool(written: str, tools: Iterable[str]) -> str | None:
    """The one tool that a name can mean, whatever its case, its namespace and the dirt at its edges; else None."""
    names = frozenset(tools)
    if written in names:
        return written
    around = _AROUND_A_NAME()
    bare = around.sub("", around.sub("", written[:_LONGEST_NAME])).casefold()
    *spaces, last = _PARTS_OF_A_NAME().split(bare)
    fitting = [name for name in names if name.casefold() == last]
    is_clear = len(fitting) == 1 and not any(name.casefold() in spaces for name in names)
    return fitting[0] if is_clear else None


@value
class ChangeDetails:
    """What a write or edit changed; ``level`` says how the old text matched ('exact' or what was forgiven).

    ``is_edited``: the person changed the proposed text before it was written. Where they
    left hunks of it out, ``hunks`` were written of ``hunks_of``.
    """

    kind: Literal["change"] = "change"
    diffs: tuple[FileDiff, ...]
    level: str = ""
    is_edited: bool = False
    hunks: int = 0
    hunks_of: int = 0


@value
class CommandDetails:
    """How a command ended; ``log`` is the file with its full output, or empty.

    ``changes`` are the first files that it changed, of ``changed_files`` in all;
    ``uncovered`` names files that it changed and that cannot be taken back.
    ``refused`` is what the sandbox kept it from, in words, ``colours`` where its output changes
    its colours (see core/output_colours.py).
    """

    kind: Literal["command"] = "command"
    command: str
    cwd: str
    ended: str
    exit_code: int | None = None
    seconds: float = 0.0
    log: str = ""
    changes: tuple[FileDiff, ...] = ()
    changed_files: int = 0
    uncovered: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    colours: str = ""

    @property
    def edited_remark(self) -> str:
        """What the model reads on top of the output when the person changed the command."""
        return edited_remark(self.command)


def edited_remark(command: str) -> str:
    """What the model is told of a command that a person put in place of its own."""
    return f"[the person changed the command; this was run: {command}]"


@value
class ReadDetails:
    """Which lines (1-based, inclusive) of a file were shown."""

    kind: Literal["read"] = "read"
    path: str
    first_line: int
    last_line: int
    total_lines: int


@value
class SearchDetails:
    """How much a search found."""

    kind: Literal["search"] = "search"
    matches: int
    files: int
    truncated: bool = False


Details = ChangeDetails | CommandDetails | ReadDetails | SearchDetails


MADE_WAY = "MADE_WAY"
"""The ``code`` of a call that was ended so that a message of the person could be heard."""


@value
class ToolResult:
    """What one tool call came to: ``blocks`` for the model, ``details`` for the screen.

    ``code`` is a stable word such as ``STALE`` (empty when all went well).
    """

    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    blocks: tuple[TextBlock | ImageBlock, ...]
    outcome: Outcome = Outcome.OK
    code: str = ""
    details: Details | None = None

    @property
    def is_error(self) -> bool:
        """Whether the model should be told that the call did not do its work."""
        return self.outcome is not Outcome.OK

    @property
    def text(self) -> str:
        """All text blocks as one string."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))


AssistantBlock = TextBlock | ThinkingBlock | OpaqueBlock | ToolCall


BEFORE_OWN_COMMAND = "I ran this in the shell myself:\n$ "
"""What the model is told of a shell command of the person's own begins so."""

STOPPED = "stopped"
"""How a command of the person's own ended that they stopped."""


@value
class DraftImage:
    """An image that stands in a draft as a ``mark``: the absolute ``path`` of its file, and what was read there."""

    mark: str
    path: str
    image: ImageBlock | None = None


@value
class Draft:
    """What a person typed, sent or not: the whole text, the long pastes in it that are folded, and images.

    Of images those alone are here that came from a file, and of what was sent none.
    """

    text: str = ""
    pasted: tuple[str, ...] = ()
    images: tuple[DraftImage, ...] = ()


@value
class UserMessage:
    """Something said to the model by the person, or by the program for them.

    ``ran`` is for the screen: how the shell command ended that the person ran and that this tells of.
    """

    kind: Literal["user"] = "user"
    blocks: tuple[TextBlock | ImageBlock, ...]
    origin: Origin = Origin.PROMPT
    ran: CommandDetails | None = None

    @property
    def text(self) -> str:
        """All text blocks as one string."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))


@value
class AssistantMessage:
    """One whole reply of the model.

    ``learnt`` is what its service had refused to be sent by then, in the provider's own words.
    """

    kind: Literal["assistant"] = "assistant"
    blocks: tuple[AssistantBlock, ...]
    stop: StopReason
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    learnt: str = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in the order the model made them."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def text(self) -> str:
        """All text blocks as one string."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))


@value
class ResultsMessage:
    """The results of one reply's tool calls, exactly one for each, in call order."""

    kind: Literal["results"] = "results"
    results: tuple[ToolResult, ...]


Message = UserMessage | AssistantMessage | ResultsMessage
