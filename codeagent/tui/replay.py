"""Plays a stored session on the screen as it happened, to look at only."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from codeagent.core.events import (
    AgentEvent,
    HistoryAppended,
    ReplyEnded,
    SessionStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolEnded,
    ToolProgressed,
)
from codeagent.core.messages import AssistantMessage, CommandDetails, Origin, TextBlock, ThinkingBlock, UserMessage
from codeagent.core.text import show_invisible
from codeagent.core.values import value
from codeagent.tui.bridge import Bridge
from codeagent.tui.driver import TerminalApp, be_ready, driver_for
from codeagent.tui.screens.main import MainScreen
from codeagent.tui.themes import Palette, Themes, to_textual
from codeagent.tui.widgets.past import own_command

LONGEST_PAUSE = 2.0
"""Seconds; what took longer is not waited for, least of all the person."""

FASTEST = 1_000.0
_PIECE = 24
_PIECE_SECONDS = 0.03
_SLICE = 0.05
_SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)


@value
class Told:
    """An event, and when it was recorded, in seconds since the session began."""

    at: float
    event: AgentEvent


def beats(told: Sequence[Told]) -> Iterator[tuple[float, AgentEvent]]:
    """The events as the screen got them, each after so many seconds.

    Replies and the output of commands, which are not kept in pieces, come in pieces anew:
    output spread over the time that the command took.
    """
    before = told[0].at if told else 0.0
    for one in told:
        pause, before = min(max(one.at - before, 0.0), LONGEST_PAUSE), one.at
        match one.event:
            case HistoryAppended(message=AssistantMessage() as message):
                yield from _streamed(message)
                yield 0.0, one.event
            case ToolEnded(result=result) if isinstance(result.details, CommandDetails) and pause > _SLICE:
                pieces = _lines_in_parts(_output(result.text), max(int(pause / _SLICE), 1))
                share = pause / (len(pieces) + 1)
                yield from ((share, ToolProgressed(call_id=result.call_id, text=piece)) for piece in pieces)
                yield share, one.event
            case _:
                yield pause, one.event


def _output(text: str) -> str:
    """What a command put out, without what was said of it below."""
    lines = text.splitlines(keepends=True)
    while lines and lines[-1].startswith("["):
        lines.pop()
    return "".join(lines)


def _lines_in_parts(text: str, most: int) -> list[str]:
    lines = text.splitlines(keepends=True)
    size = max(math.ceil(len(lines) / most), 1)
    return ["".join(lines[start : start + size]) for start in range(0, len(lines), size)]


def _streamed(message: AssistantMessage) -> Iterator[tuple[float, AgentEvent]]:
    for block in message.blocks:
        if isinstance(block, ThinkingBlock) and block.text.strip():
            yield from ((_PIECE_SECONDS, ThinkingStreamed(text=piece)) for piece in _pieces(block.text))
        elif isinstance(block, TextBlock) and block.text.strip():
            yield from ((_PIECE_SECONDS, TextStreamed(text=piece)) for piece in _pieces(block.text))
    yield 0.0, ReplyEnded()


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


class ReplayScreen(MainScreen):
    """The main screen with a line of its own where the prompt is."""

    DEFAULT_CSS = """
    ReplayScreen StatusLine { display: none; }
    ReplayScreen #bottom { padding: 0; border-top: solid $panel; }
    ReplayScreen.-tall #bottom { padding: 0; }
    ReplayScreen #replay { height: 1; padding: 0 1; color: $text-muted; }
    ReplayScreen #replay-what { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ReplayScreen #replay-keys { width: auto; margin-left: 2; }
    """
    AUTO_FOCUS = "SessionTranscript"

    def __init__(self, *, root: Path, palette: Palette, reduced_motion: bool) -> None:
        super().__init__(root=root, palette=palette, reduced_motion=reduced_motion, keymap={}, vi=False)
        self._told_what = Static(id="replay-what", markup=False)
        self._told_keys = Static(id="replay-keys", markup=False)

    async def furnish(self) -> None:
        """Nothing is typed here."""
        self.query_one("#prompt-row").display = False
        self.greeting.display = False
        await self.query_one("#bottom", Vertical).mount(Horizontal(self._told_what, self._told_keys, id="replay"))
        self.set_focus(self.transcript)

    def tell(self, what: Content, keys: str) -> None:
        """What is played stands on the left of the line, and on the right what keys do."""
        self._told_what.update(what)
        self._told_keys.update(keys)


class ReplayApp(TerminalApp[None]):
    """A session played from its record."""

    TITLE = "codeagent"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", show=False, priority=True),
        Binding("plus,plus_sign,equals_sign", "faster(1)", show=False, priority=True),
        Binding("minus,hyphen", "faster(-1)", show=False, priority=True),
        Binding("end", "skip", show=False, priority=True),
        Binding("q,escape,ctrl+c,ctrl+d", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        *,
        told: Sequence[Told],
        title: str,
        root: Path,
        theme: str,
        themes: Themes | None = None,
        speed: float = 1.0,
        reduced_motion: bool = False,
    ) -> None:
        super().__init__(driver_class=driver_for(None, asks_background=False, keymap=None))
        themes = themes or Themes()
        self.palette = themes.sound(theme)
        self.register_theme(to_textual(self.palette))
        self.theme = self.palette.name
        self.animation_level = "none"
        self.main = ReplayScreen(root=root, palette=self.palette, reduced_motion=reduced_motion)
        self.main.drawn = lambda: be_ready(self._driver)
        self.bridge = Bridge(self.main)
        self.is_over = False
        self._told, self._what, self._speed = told, title, speed
        self._going = asyncio.Event()
        self._going.set()
        self._is_skipping = False
        self._own_commands = 0

    def get_default_screen(self) -> MainScreen:
        """The main screen stands at once."""
        return self.main

    def on_mount(self) -> None:
        """The screen stands; now it is played."""
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        await self.main.furnish()
        self.main.status.show(replace(self.main.status.status, is_connecting=False))
        self.run_worker(self._play, exclusive=True)

    async def _play(self) -> None:
        self._tell()
        for pause, event in beats(self._told):
            await self._wait(pause)
            self.bridge.emit(event)
            if isinstance(event, HistoryAppended) and isinstance(event.message, UserMessage):
                self._show_own_command(event.message)
            if isinstance(event, SessionStarted):
                self._tell()
        self.is_over = True
        self._tell()

    def _show_own_command(self, message: UserMessage) -> None:
        """A shell command of the person's own, which no event of the agent tells of."""
        if message.origin is Origin.SHELL:
            self._own_commands += 1
            own = own_command(message, f"own-{self._own_commands}")
            transcript, call_id = self.main.transcript, own.result.call_id
            transcript.add_user(f"!{own.command}")
            transcript.tool_started(call_id, "bash", own.arguments_json, is_open=True)
            transcript.tool_ended(own.result, own.seconds)

    async def _wait(self, seconds: float) -> None:
        """Waits in slices, so that a key acts at once; pausing holds it up even where there is nothing to wait for."""
        left = seconds
        await self._going.wait()
        while left > 0 and not self._is_skipping:
            step = min(left / self._speed, _SLICE)
            await asyncio.sleep(step)
            left -= step * self._speed
            await self._going.wait()
        if self._is_skipping:
            await asyncio.sleep(0)

    def _tell(self) -> None:
        state = "the end" if self.is_over else "playing" if self._going.is_set() else "paused"
        keys = "q leave" if self.is_over else f"space {self._verb} · + − speed · end skip · q leave"
        speed = "" if self.is_over else f" · {self._speed:g}×"
        what = Content.assemble((state, "$accent"), speed, f" · {show_invisible(self._what)}")
        self.main.tell(what, keys)

    @property
    def _verb(self) -> str:
        return "pause" if self._going.is_set() else "go on"

    def action_pause(self) -> None:
        """Holds it up, or lets it go on."""
        if self._going.is_set():
            self._going.clear()
        else:
            self._going.set()
        self._tell()

    def action_faster(self, by: int) -> None:
        """The next speed, or the one before."""
        above = [speed for speed in _SPEEDS if (speed > self._speed if by > 0 else speed < self._speed)]
        if above:
            self._speed = above[0] if by > 0 else above[-1]
        self._tell()

    def action_skip(self) -> None:
        """Shows the rest at once."""
        self._is_skipping = True
        self._going.set()
