import random

import pytest
from textual.app import App, ComposeResult

from codeagent.core.messages import Outcome, TextBlock, ToolResult
from codeagent.tui.themes import load_themes, to_textual
from codeagent.tui.widgets.transcript import Transcript

DARK = load_themes()["dark"]
SAMPLE = """\
Some **words** that go on.

- one
- two

```python
x = 1

y = 2
```

| a | b |
| - | - |
| 1 | 2 |

"""


class Page(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(to_textual(DARK))
        self.theme = "dark"
        self.transcript = Transcript(DARK, reduced_motion=True)

    def compose(self) -> ComposeResult:
        yield self.transcript


class Session:
    """Whatever a session may do, in any order."""

    def __init__(self, transcript: Transcript, seed: int) -> None:
        self._transcript = transcript
        self._random = random.Random(seed)
        self._running: list[str] = []
        self._count = 0

    def act(self) -> bool:
        """One thing happens; True when the person moved or opened something."""
        transcript, choose = self._transcript, self._random
        match choose.randrange(10):
            case 0 | 1 | 2:
                start = choose.randrange(len(SAMPLE))
                transcript.stream_text((SAMPLE * 3)[start : start + choose.randrange(200)])
            case 3:
                transcript.end_text()
            case 4:
                self._count += 1
                self._running.append(str(self._count))
                transcript.tool_started(self._running[-1], "bash", '{"command": "make"}')
            case 5 if self._running:
                transcript.tool_progressed(choose.choice(self._running), "out\n" * choose.randrange(9))
            case 6 if self._running:
                self._end(choose.randrange(len(self._running)))
            case 7:
                transcript.scroll_to(y=int(choose.random() * transcript.column.height))
                return True
            case 8:
                transcript.scroll_to_end()
                return True
            case _:
                transcript.add_user("hello " * choose.randrange(60))
        return False

    def end_all(self) -> None:
        """No panel tells any more for how long its tool has been running."""
        while self._running:
            self._end(0)

    def _end(self, position: int) -> None:
        outcome = self._random.choice([Outcome.OK, Outcome.FAILED])
        blocks = (TextBlock(text="o\n" * self._random.randrange(30)),)
        result = ToolResult(call_id=self._running.pop(position), blocks=blocks, outcome=outcome)
        self._transcript.tool_ended(result, 1)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_the_end_is_followed_or_the_place_is_kept(seed):
    app = Page()
    async with app.run_test(size=(60, 20)):
        transcript = app.transcript
        session = Session(transcript, seed)
        for _ in range(150):
            transcript.flush()
            followed, top = transcript.follows, transcript.column.find(transcript.scroll_offset.y)
            has_moved = session.act()
            transcript.flush()
            end = max(transcript.column.height - transcript.size.height, 0)
            if transcript.follows:
                assert transcript.scroll_offset.y == end
            elif not has_moved and not followed and top is not None:
                block, _ = transcript.column.find(transcript.scroll_offset.y) or (None, 0)
                assert block == top[0] or transcript.scroll_offset.y == end
            assert transcript.virtual_size.height == transcript.column.height
            rows = [transcript.render_line(y).cell_length for y in range(transcript.size.height)]
            assert set(rows) == {transcript.column.width}


@pytest.mark.parametrize("seed", range(6))
async def test_after_any_resizes_it_looks_as_if_drawn_for_the_first_time(seed):
    choose = random.Random(seed)
    sizes = [(choose.randrange(20, 110), choose.randrange(5, 40)) for _ in range(6)]

    async def shown(steps):
        app = Page()
        async with app.run_test(size=steps[0]) as pilot:
            transcript = app.transcript
            session = Session(transcript, seed)
            for number in range(60):
                session.act()
                if number % 10 == 0:
                    transcript.flush()
                    await pilot.resize_terminal(*steps[number // 10 % len(steps)])
                    await pilot.pause()
            await pilot.resize_terminal(*steps[-1])
            await pilot.pause()
            session.end_all()
            transcript.end_text()
            transcript.scroll_to_end()
            transcript.flush()
            return [transcript.render_line(row).text for row in range(transcript.size.height)]

    assert await shown(sizes) == await shown(sizes[-1:])
