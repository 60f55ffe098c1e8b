"""The text of a streaming reply, with the thinking and the tool calls that a model wrote into it told apart.

Servers that do not know a model's own form pass it on as text. Text is held back
while it may be the beginning of such a form, so that no tag is ever shown; what
turns out to be something else is shown after all. Nothing in a code fence or
between backticks counts, nor what stands in the middle of a line, nor calls
that a reply introduces and then goes on to talk about. Behind a sentence on the same
line only calls in closed tags count, with which the reply ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple, Protocol

from codeagent.core.messages import meant_tool
from codeagent.providers.pieces import Prose
from codeagent.providers.written_calls import Found, WrittenCall, find_addressed, find_calls, harmony_head

_THINKING = {"<think>": "</think>", "<thinking>": "</thinking>", "[THINK]": "[/THINK]"}
_STRAY_END = "</think>"
_CLOSERS: dict[str, tuple[str, ...]] = {
    "<tool_call>": ("</tool_call>",),
    "<tool_calls>": ("</tool_calls>",),
    "<|tool_call|>": ("<|/tool_call|>",),
    "<function=": ("</function>",),
    "<function_calls>": ("</function_calls>",),
    "<｜DSML｜function_calls>": ("</｜DSML｜function_calls>",),
    "<minimax:tool_call>": ("</minimax:tool_call>",),
    "<seed:tool_call>": ("</seed:tool_call>",),
    "[TOOL_CALLS]": (),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "```tool_call": ("\n```",),
    "<|channel|>": ("<|call|>",),
    "<|start|>assistant": ("<|call|>",),
}
"""How each form begins, and how it ends; one without an end goes on to the end of the reply."""
_LEFT_OVER = frozenset({"</tool_call>", "</function>"})
"""Ends of forms that models write once too often."""
_HARMONY = frozenset({"<|channel|>", "<|start|>assistant"})
"""How a message of gpt-oss begins: thinking, an answer, or a call."""
_HARMONY_ENDS = frozenset({"<|end|>", "<|return|>"})
_BARE = ""
"""The form without tags: the whole reply is a call."""
_INNER_TAGS = ("<function=", "<invoke ", "<｜DSML｜invoke ", "<｜tool▁call▁begin｜>", "<|tool_call_begin|>")
_INSIDES = ("{", "<parameter", "<｜DSML｜parameter")
"""What such a tag of a tool that there is not must have in it to be a call."""

_WORDS = (*_CLOSERS, *_LEFT_OVER, *_HARMONY_ENDS, _STRAY_END)
_FIRST_CHARACTERS = frozenset("<`[")
_WORD = re.compile("|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True)))
_LONGEST = max(len(word) for words in (_WORDS, _THINKING, _THINKING.values(), *_CLOSERS.values()) for word in words)
_CODE = "```tool_code\n"
_BARE_HEADS = ("```\n", "```json\n", "```tool_call\n", _CODE, "functools[", "Action: ```json\n", "Action:```json\n")
_BARE_START = re.compile(r'[\[\s]*(?:\{\s*(?:"(\w*)(?:".*)?)?)?', re.DOTALL)
_BARE_KEYS = ("name", "function", "type", "tool_name", "parameters")
_BARE_NAME = re.compile(r'"(?:name|tool_name|function)"\s*:\s*"([^"]*)"')
_BARE_PYTHON = re.compile(r"(\[?)\s*(?:([A-Za-z_][\w.]*)\s*(\(.*)?)?", re.DOTALL)
_WHOLE_FENCE = re.compile(r"(?:Action:[ ]?)?```\w*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_NAME = re.compile(r'(?:"name"\s*:\s*"|<function=|invoke name="|\A\s*)([A-Za-z_][\w.:-]*)')
_UNDECIDED = 120
"""So much text is looked at to decide whether it can be a call at all."""


class Listener(Protocol):
    """Is told what kind of text came."""

    def say(self, text: str) -> None:
        """Text for the person."""
        ...

    def think(self, text: str) -> None:
        """Thinking."""
        ...

    def rethink(self) -> None:
        """All text so far was thinking."""
        ...

    def writes_call(self, name: str, size: int) -> None:
        """A call is being written; ``size`` is in characters."""
        ...


class _Part(NamedTuple):
    """A part of the reply as it was written, from the first call on."""

    text: str
    is_call: bool = False


class WrittenText:
    """Takes text as it streams and tells the listener what it is.

    ``calls`` are those that were written; ``unfinished`` is what is left of one
    that broke off before it could be told which tool it meant.
    """

    def __init__(self, tools: AbstractSet[str], listener: Listener) -> None:
        """``tools`` are those that were offered; without any, nothing is a call."""
        self._tools = tools
        self._listener = listener
        self._prose = Prose()
        self._is_start = True
        self._is_harmony = False
        self._has_thought = False
        self._is_answer_near = False
        self._thought_end = ""
        self._held = ""
        self._opener: str | None = None
        self._body: list[str] = []
        self._size = 0
        self._is_decided = False
        self._name = ""
        self._has_said = False
        self._is_inline = False
        self._since: list[_Part] = []
        self.calls: list[WrittenCall] = []
        self.unfinished = ""

    def feed(self, text: str) -> None:
        """More text."""
        if self._opener is not None:
            self._grow_call(text)
        else:
            self._held += text
            self._read()

    def finish(self) -> None:
        """There is no more text."""
        if self._thought_end:
            self._listener.think(self._held)
            return
        self._is_start = False
        self._read()
        while self._opener is not None:
            self._end_broken_call()
        self._pass(self._held)
        self._held = ""
        self._settle()

    def _read(self) -> None:
        """Goes through what is held as far as it can be told what it is."""
        if self._thought_end:
            self._read_thinking()
        elif self._is_start:
            self._read_start()
        else:
            self._read_text()

    def _read_start(self) -> None:
        """What the reply begins with: thinking, a call without tags, or neither."""
        text = self._held.lstrip()
        if (opener := next((one for one in _THINKING if text.startswith(one)), None)) is not None:
            self._thought_end = _THINKING[opener]
            self._has_thought = True
            self._held = text[len(opener) :]
            self._read()
        elif text and not any(one.startswith(text) for one in _THINKING):
            self._is_start = False
            if self._tools and self._may_be_bare(text):
                self._open(_BARE, self._held)
            else:
                self._read()

    def _read_thinking(self) -> None:
        thought, end, rest = self._held.partition(self._thought_end)
        if not end:
            kept = _kept(thought, (self._thought_end,))
            thought, rest = thought[: len(thought) - kept], thought[len(thought) - kept :]
        if thought:
            self._listener.think(thought)
        self._held = rest
        if end:
            self._thought_end = ""
            self._is_answer_near = True
            self._read()

    def _read_text(self) -> None:
        while self._opener is None and (found := _WORD.search(self._held)) is not None:
            self._pass(self._held[: found.start()])
            self._held = self._held[found.end() :]
            self._take_word(found[0])
        if self._opener is None:
            kept = _kept(self._held, _WORDS)
            self._pass(self._held[: len(self._held) - kept])
            self._held = self._held[len(self._held) - kept :]

    def _take_word(self, word: str) -> None:
        if not self._counts(word):
            self._pass(word)
        elif word == _STRAY_END:
            self._has_thought = True
            self._is_answer_near = True
            self._take_back_calls()
            self._listener.rethink()
        elif word in _LEFT_OVER:
            self._since.append(_Part(word, is_call=True))
        elif word not in _HARMONY_ENDS:
            self._open(word, self._held)

    def _counts(self, word: str) -> bool:
        if self._prose.is_quoting:
            return False
        if word == _STRAY_END:
            return self._prose.is_at_line_start and not self._has_thought
        if word in _LEFT_OVER:
            return bool(self.calls)
        if word in _HARMONY_ENDS or (self._is_harmony and word in _HARMONY):
            return self._is_harmony
        if word.startswith("`"):
            return bool(self._tools) and self._prose.may_begin_block
        is_begun = self._prose.may_begin_block or self._prose.is_after_sentence or self._may_be_inline(word)
        return bool(self._tools) and is_begun

    def _may_be_inline(self, word: str) -> bool:
        return self._prose.is_apart and bool(_CLOSERS[word])

    def _pass(self, text: str) -> None:
        if self._is_answer_near:
            text = text.lstrip()
            self._is_answer_near = not text
        if text:
            self._prose.take(text)
            self._say(text)

    def _say(self, text: str) -> None:
        if self.calls:
            self._since.append(_Part(text))
        else:
            self._has_said = self._has_said or bool(text.strip())
            self._listener.say(text)

    def _settle(self) -> None:
        """What came after the first call is text to be shown, or says that the calls were only told about."""
        last = max((number for number, part in enumerate(self._since) if part.is_call), default=-1)
        rest = "".join(part.text for part in self._since[last + 1 :])
        is_told = bool(rest.strip()) and (self._has_said or not rest.lstrip(" ").startswith(("\n", "\r")))
        if is_told or (self._is_inline and any(part.text.strip() for part in self._since if not part.is_call)):
            self._take_back_calls()
        for part in self._since:
            if not part.is_call:
                self._listener.say(part.text)
        self._since = []

    def _take_back_calls(self) -> None:
        """They were text after all."""
        parts, self._since, self.calls = self._since, [], []
        for part in parts:
            self._say(part.text)

    def _open(self, opener: str, text: str) -> None:
        self._opener, self._held, self._name = opener, "", ""
        self._body, self._size, self._is_decided = [], 0, False
        self._grow_call(text)

    def _grow_call(self, text: str) -> None:
        """More of a call; an end tag ends it, unless that stands inside the call's own arguments."""
        tail = "".join(self._body[-_LONGEST:])[-_LONGEST:] + text
        self._body.append(text)
        self._size += len(text)
        if not self._is_decided:
            start = "".join(self._body)
            if not self._may_be_call(start):
                self._give_up_call()
                return
            self._is_decided = len(start) > _UNDECIDED
            named = _NAME.search(f"{self._opener}{start}" if self._opener == "<function=" else start)
            self._name = (meant_tool(named[1], self._tools) if named else None) or ""
        self._listener.writes_call(self._name, self._size)
        if any(closer in tail for closer in self._closers):
            self._close_call()

    @property
    def _closers(self) -> tuple[str, ...]:
        return _CLOSERS.get(self._opener or "", ())

    def _close_call(self) -> None:
        body = "".join(self._body)
        self._body = [body]
        for start, end in self._ends_in(body):
            found = self._find(body[:start], body[start:end])
            if found is not None and found.is_whole:
                self._end_call(found, body[:end], body[end:])
                return

    def _end_call(self, found: Found, body: str, rest: str) -> None:
        self._since.append(_Part(f"{self._opener}{body}", is_call=True))
        self.calls += found.calls
        self._is_inline = self._is_inline or self._prose.is_apart
        self._opener, self._body = None, []
        self._held = rest
        self._read()

    def _give_up_call(self) -> None:
        """It was no call: how it began is text, or the head of a message, and what follows is read anew."""
        opener, body = self._opener or "", "".join(self._body)
        self._opener, self._body = None, []
        head = harmony_head(body) if opener in _HARMONY else None
        if head is not None and not head.tool:
            self._is_harmony, body = True, body[head.end :]
            self._thought_end = "<|end|>" if head.channel == "analysis" else ""
        else:
            self._pass(opener)
        self._held = body
        self._read()

    def _end_broken_call(self) -> None:
        """The reply ends in a call, which may be whole without its end tag, closed but unsound, or broken off."""
        body = "".join(self._body)
        found = self._find(body, "")
        first = next(iter(self._ends_in(body)), None)
        if first is not None and not (found is not None and found.is_whole):
            start, end = first
            closed = self._find(body[:start], body[start:end])
            if closed is not None:
                self._end_call(closed, body[:end], body[end:])
                return
        if self._prose.is_apart:
            self._give_up_call()
        elif found is not None:
            self._end_call(found, body, "")
        elif self._opener and first is None and self._may_be_call(body):
            self.unfinished = f"{self._opener}{body}"
            self._opener, self._body = None, []
        else:
            self._give_up_call()

    def _ends_in(self, body: str) -> list[tuple[int, int]]:
        return sorted(found.span() for closer in self._closers for found in re.finditer(re.escape(closer), body))

    def _find(self, body: str, closer: str) -> Found | None:
        if self._opener == _BARE:
            fenced = _WHOLE_FENCE.fullmatch(body.strip())
            inner = fenced[1] if fenced else body.strip().removeprefix("functools")
            return find_calls(inner, self._tools, is_bare=True)
        if self._opener == "<function=":
            return find_calls(f"<function={body}{closer}", self._tools)
        if self._opener in _HARMONY:
            return find_addressed(body, self._tools)
        return find_calls(body, self._tools)

    def _may_be_call(self, start: str) -> bool:
        """Whether a text with such a start can be the inside of a call."""
        if self._opener == _BARE:
            return self._may_be_bare(start.lstrip())
        if self._opener in _HARMONY:
            head = harmony_head(start)
            return bool(head.tool) if head else "<|message|>" not in start and len(start) <= _UNDECIDED
        text = f"<function={start}" if self._opener == "<function=" else start.lstrip()
        if not text or text[0] in "{[":
            return True
        if text[0] == "<":
            opened = _NAME.match(text)
            rest = "" if opened is None else text[opened.end() :].lstrip('"> \n')
            is_meant = opened is None or meant_tool(opened[1], self._tools) is not None
            is_one = is_meant or any(rest[: len(inner)] == inner[: len(rest)] for inner in _INSIDES)
            return is_one and any(tag.startswith(text[: len(tag)]) for tag in _INNER_TAGS)
        named = _NAME.match(text)
        if named is None:
            return False
        rest = text[named.end() :].lstrip("\n")
        return not rest or rest[0] in "{[<｜`" or meant_tool(named[1], self._tools) is not None

    def _may_be_bare(self, text: str) -> bool:
        """Whether a reply that begins so can be nothing but a call, in a code fence or without."""
        head = next((head for head in _BARE_HEADS if head.startswith(text[: len(head)])), "")
        text = text[len(head) :]
        if (not head or head.startswith("```")) and self._may_be_python(text, is_marked=head == _CODE):
            return True
        begun = _BARE_START.fullmatch(text)
        if begun is None or not any(key.startswith(begun[1] or "") for key in _BARE_KEYS):
            return False
        named = _BARE_NAME.search(text)
        return len(text) <= _UNDECIDED if named is None else meant_tool(named[1], self._tools) is not None

    def _may_be_python(self, text: str, *, is_marked: bool) -> bool:
        """Whether a text that begins so can be a list of calls as Python writes them, or where marked just calls."""
        begun = _BARE_PYTHON.fullmatch(text)
        if begun is None or not (begun[1] or is_marked):
            return False
        return len(text) <= _UNDECIDED if begun[3] is None else meant_tool(begun[2], self._tools) is not None


def _kept(text: str, words: Iterable[str]) -> int:
    """How many characters at the end of the text may be the beginning of one of the words."""
    start = max(0, len(text) - _LONGEST + 1)
    for at in range(start, len(text)):
        if text[at] in _FIRST_CHARACTERS and any(word.startswith(text[at:]) for word in words):
            return len(text) - at
    return 0
