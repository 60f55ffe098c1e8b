"""The transcript: a long reply at full speed, a chunk in a long session, a long session opened again."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.widgets import Markdown

from codeagent.core.events import AgentEvent, HistoryAppended, ToolEnded, ToolStarted, TurnStarted
from codeagent.core.messages import AssistantMessage, ReadDetails, StopReason, TextBlock, ToolResult
from codeagent.tui.themes import load_themes, to_textual
from codeagent.tui.widgets.session_transcript import SessionTranscript
from tests.benchmarks.row import Row, row
from tests.benchmarks.stall import Stall, stall_rows

SIZE = (120, 40)
ROUNDS = 3
SECTION = """\
## Step {number}: how the totals are computed

The cart keeps **line items** and a *discount*; `total()` divides by what is left of the price, so that a
discount of 100 % divides by zero. See [the manual](https://docs.python.org/3/library/decimal.html) for rounding.

- read `shop/cart.py` and its tests
- change `total()` and nothing else
- run `pytest -q tests/test_cart.py` again

```python
def total_{number}(self) -> Decimal:
    \"\"\"The sum of all lines, less the discount.\"\"\"
    if self.discount >= 1:  # everything is free
        return Decimal(0)
    return sum((line.price * line.count for line in self.lines), Decimal(0)) / (1 - self.discount)
```

| case | before | after |
| --- | ---: | ---: |
| no discount | 10.00 | 10.00 |
| all of it | error | 0.00 |

"""
TEXT = "".join(SECTION.format(number=number) for number in range(1_000))[:80_000]
PIECES = [TEXT[start : start + 4] for start in range(0, len(TEXT), 4)]


class Page(App[None]):
    """A transcript alone, or Textual's own Markdown to compare with."""

    def __init__(self, *, of_textual: bool = False) -> None:
        super().__init__()
        palette = load_themes()["dark"]
        self.register_theme(to_textual(palette))
        self.theme = "dark"
        self.transcript = SessionTranscript(palette)
        self.markdown = Markdown()
        self._of_textual = of_textual
        self.paints = 0

    def compose(self) -> ComposeResult:
        yield self.markdown if self._of_textual else self.transcript

    def _display(self, screen, renderable) -> None:
        self.paints += renderable is not None
        super()._display(screen, renderable)


@asynccontextmanager
async def opened(*, of_textual: bool = False) -> AsyncIterator[Page]:
    app = Page(of_textual=of_textual)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        yield app


def run() -> list[Row]:
    """All rows."""
    return [*_stream_rows(), *_length_rows(), *_load_rows()]


def _stream_rows() -> list[Row]:
    ours = [asyncio.run(_streamed()) for _ in range(ROUNDS)]
    cpu = [one[0] for one in ours]
    textual = asyncio.run(streamed_by_textual())
    ratio = statistics.median(cpu) / textual
    return [
        row("80 kB in 20,000 pieces: CPU", cpu, "s", bar="≤ 2.5", at_most=2.5),
        *stall_rows("", [one[1] for one in ours], 100),
        row("paints", [one[2] for one in ours], "/s", bar="≤ 30", at_most=30),
        row("Textual's Markdown stream, fed every 50 ms: CPU", [textual], "s"),
        row("ours against Textual's", [ratio], "", bar="≤ 0.15", at_most=0.15),
    ]


async def _streamed() -> tuple[float, Stall, float]:
    """CPU seconds, the longest stall, and paints a second."""
    async with opened() as app:
        app.paints = 0
        wall, cpu = time.monotonic(), time.process_time()
        stall = Stall()
        for number, piece in enumerate(PIECES):
            app.transcript.stream_text(piece)
            if number % 20 == 0:
                await asyncio.sleep(0.001)
                stall.look()
        app.transcript.end_text()
        await asyncio.sleep(0.1)
        taken = time.process_time() - cpu
        return taken, stall, app.paints / (time.monotonic() - wall)


async def streamed_by_textual() -> float:
    async with opened(of_textual=True) as app:
        started = time.process_time()
        stream = Markdown.get_stream(app.markdown)
        for start in range(0, len(PIECES), 100):
            await stream.write("".join(PIECES[start : start + 100]))
            await asyncio.sleep(0.05)
        await stream.stop()
        return time.process_time() - started


def _length_rows() -> list[Row]:
    """CPU of a chunk, alternating between a short and a long transcript so that noise hits both alike."""
    short: list[float] = []
    long: list[float] = []
    for _ in range(ROUNDS):
        short.append(asyncio.run(_chunks_after(100)))
        long.append(asyncio.run(_chunks_after(10_000)))
    ratio = statistics.median(long) / statistics.median(short)
    return [
        row("CPU of a drawn chunk after 100 messages", short, "ms"),
        row("CPU of a drawn chunk after 10,000 messages", long, "ms"),
        row("long against short", [ratio], "", bar="≤ 1.3", at_most=1.3),
    ]


async def _chunks_after(messages: int) -> float:
    async with opened() as app:
        app.transcript.load(session(messages))
        app.transcript.flush()
        await asyncio.sleep(0.1)
        text = TEXT[:4_000]
        started = time.process_time()
        for start in range(0, len(text), 20):
            app.transcript.stream_text(text[start : start + 20])
            app.transcript.flush()
            await asyncio.sleep(0)
        return (time.process_time() - started) * 1_000 / (len(text) / 20)


def _load_rows() -> list[Row]:
    events = list(session(10_000))
    return [row("10,000 messages opened again: CPU", _timed(lambda: _loaded(events)), "s", bar="≤ 1", at_most=1)]


def _timed(work: Callable[[], Awaitable[float]]) -> list[float]:
    async def once() -> float:
        return await work()

    return [asyncio.run(once()) for _ in range(ROUNDS)]


async def _loaded(events: list[AgentEvent]) -> float:
    async with opened() as app:
        started = time.process_time()
        app.transcript.load(events)
        app.transcript.flush()
        await asyncio.sleep(0.05)
        return time.process_time() - started


def session(messages: int) -> Iterator[AgentEvent]:
    """Turns of four messages: a question, a reply with a call, its result, an answer."""
    for turn in range(messages // 4):
        yield TurnStarted(turn=turn, text=f"Question {turn}: why is the total wrong?")
        yield _reply("I'll look at how totals are computed.")
        yield ToolStarted(call_id=f"c{turn}", name="read", arguments_json='{"path": "shop/cart.py"}')
        details = ReadDetails(path="shop/cart.py", first_line=1, last_line=20, total_lines=20)
        text = "\n".join(f"{number:>5}→x = {number}" for number in range(20))
        yield ToolEnded(result=ToolResult(call_id=f"c{turn}", blocks=(TextBlock(text=text),), details=details))
        yield _reply(SECTION.format(number=turn))


def _reply(text: str) -> HistoryAppended:
    return HistoryAppended(message=AssistantMessage(blocks=(TextBlock(text=text),), stop=StopReason.END_TURN))
