"""The reply that is being written: finished parts stay as they are, only the last one is drawn anew."""

from __future__ import annotations

from codeagent.tui.widgets.blocks import Block, Kind, LiveCode, TextBlock, ThinkingBlock
from codeagent.tui.widgets.column import Column, gap_between
from codeagent.tui.widgets.markdown_stream import MarkdownStream, Part

_MOST_WAITING = 16_384
"""Characters of text; all of a reply of megabytes would take long to be cut into blocks."""

_LONGEST_HEADER = 1_000
"""A longer line that begins like the header of a table is shown before it is known whether it is one."""


class LiveReply:
    """Writes a streamed reply to the end of a column.

    Text is taken at once and turned into blocks by ``flush``, so that many small
    pieces cost no more than few large ones.
    """

    def __init__(self, column: Column, before: Kind | None) -> None:
        self._column = column
        self._before = before
        self._pending: list[str] = []
        self._waiting = 0
        self._stream = MarkdownStream()
        self._tail: int | None = None
        self._code: LiveCode | None = None
        self._thinking: tuple[int, ThinkingBlock] | None = None
        self._written: list[int] = []

    @property
    def last_kind(self) -> Kind | None:
        """What the reply ends with so far, or what stands before it."""
        return self._before

    @property
    def written(self) -> list[int]:
        """The blocks of this reply."""
        return self._written

    def write(self, text: str) -> int | None:
        """More text; the first block that changed, when there was so much of it that it became blocks at once."""
        self._pending.append(text)
        self._waiting += len(text)
        return self.flush() if self._waiting >= _MOST_WAITING else None

    def think(self, text: str) -> int:
        """More thinking; the index of its block."""
        if self._thinking is None:
            self._end_text()
            block = ThinkingBlock(is_live=True)
            self._thinking = (self._append(block), block)
        index, block = self._thinking
        block.write(text)
        self._column.changed(index)
        return index

    def flush(self) -> int | None:
        """Turns what came into blocks; the first block that changed, None when nothing did."""
        if not self._pending:
            return None
        first = len(self._column) if self._tail is None else self._tail
        if self._thinking is not None:
            first = self._thinking[0]  # its heading changes as well
        self._end_thinking()
        text = "".join(self._pending)
        self._pending.clear()
        self._waiting = 0
        for part in self._stream.feed(text):
            self._settle(part)
        self._show_tail()
        return min(first, len(self._column) - 1) if len(self._column) else None

    def end(self) -> int | None:
        """Nothing more comes; the first block that changed."""
        thinking = self._thinking
        first = self.flush()
        tail, before = self._tail, len(self._column)
        self._end_text()
        self._end_thinking()
        added = before if len(self._column) > before else None
        changed = (first, tail, added, thinking[0] if thinking else None)
        return min([index for index in changed if index is not None], default=None)

    def discard(self) -> int | None:
        """Takes the whole reply out again; the first block that changed."""
        self._pending.clear()
        for index in self._written:
            self._column.replace(index, None)
        return min(self._written, default=None)

    def _end_text(self) -> None:
        if self._pending:
            self.flush()
        for part in self._stream.finish():
            self._settle(part)
        if self._tail is not None:
            self._column.replace(self._tail, None)
            self._tail = None
        self._code = None

    def _end_thinking(self) -> None:
        if self._thinking is not None:
            index, block = self._thinking
            block.is_live = False
            self._column.changed(index)
            self._thinking = None

    def _settle(self, part: Part) -> None:
        """A part is finished: it takes the place of the tail."""
        block = TextBlock(part.source, number=part.number)
        if self._tail is None:
            self._append(block, is_close=part.is_close)
        else:
            self._column.replace(self._tail, block)
            self._tail = None
        self._code = None

    def _show_tail(self) -> None:
        part = self._stream.tail
        if not part.source.strip() or _is_beginning_of_fence(part.source) or _is_beginning_of_table(part.source):
            return
        block = self._live_code() or TextBlock(part.source, number=part.number, more=part.more)
        if self._tail is None:
            self._tail = self._append(block, is_close=part.is_close)
        else:
            self._column.replace(self._tail, block)

    def _live_code(self) -> LiveCode | None:
        """The tail as code, when it is a fence that has begun."""
        fence = self._stream.code
        if fence is None:
            return None
        language, count = fence
        if self._code is None:
            self._code = LiveCode(language)
        partial = "" if _is_beginning_of_fence(self._stream.partial) else self._stream.partial
        self._code.write(self._stream.code_lines(self._code.line_count, count), count, partial)
        return self._code

    def _append(self, block: Block, *, is_close: bool = False) -> int:
        index = self._column.append(block, gap_between(self._before, block.kind, is_close=is_close))
        self._before = block.kind
        self._written.append(index)
        return index


def _is_beginning_of_fence(text: str) -> bool:
    """Whether the text may turn out to open or close a fence with what comes next; until then it is not shown."""
    text = text.lstrip(" ")
    return "\n" not in text and (text.startswith("```") or not text.strip("`"))


def _is_beginning_of_table(text: str) -> bool:
    """Whether the text may turn out to be a table with what comes next: its first line, and part of the rule below."""
    head, newline, rule = text.lstrip(" ").partition("\n")
    if not head.startswith("|") or len(head) > _LONGEST_HEADER:
        return False
    return not newline or ("\n" not in rule and not rule.strip("|:- ") and not _is_whole_rule(head, rule))


def _is_whole_rule(head: str, rule: str) -> bool:
    return rule.rstrip().endswith("|") and rule.count("|") >= head.count("|")
