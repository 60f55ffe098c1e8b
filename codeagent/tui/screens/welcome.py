"""The welcome when no model can be used yet: what to do, on one screen, and a demo that needs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from codeagent.core.desk import LocalServer, Opening
from codeagent.core.errors import NoModel
from codeagent.core.text import show_invisible

DEMO = "demo"
"""What the screen returns when the demo is wanted."""

_WAYS = (
    ("Anthropic", ("export ANTHROPIC_API_KEY=…",)),
    ("OpenAI and others", ("export OPENAI_API_KEY=…", "codeagent --model openai-chat/NAME")),
    ("A server of yours", ("export OPENAI_BASE_URL=http://127.0.0.1:8080/v1", "codeagent --model openai-chat/NAME")),
    ("For good", ("codeagent config", "tells where the file is; set name below [model]")),
)
_COLUMN = 20
MOST_SERVERS = 4


class DemoLine(Static):
    """The line that starts the demo when it is clicked."""

    class Clicked(Message):
        """The demo is wanted."""

    def on_click(self, event: events.Click) -> None:
        """Starts it."""
        event.stop()
        self.post_message(self.Clicked())


Servers = Callable[[], Sequence[LocalServer]]
"""Looks for model servers on this machine; called on a thread."""


class WelcomeScreen(Screen[str | Opening | None]):
    """Enter starts the demo, q leaves, a number takes a model server that answers on this machine."""

    DEFAULT_CSS = """
    WelcomeScreen { align: center middle; background: $background; }
    WelcomeScreen > VerticalScroll {
        width: 100%; max-width: 84; height: auto; max-height: 100%; padding: 1 3; scrollbar-size-vertical: 1;
    }
    WelcomeScreen Static { height: auto; }
    WelcomeScreen #servers { display: none; margin-top: 1; padding: 0 2; background: $raised; }
    WelcomeScreen #demo { margin-top: 1; padding: 0 2; background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "demo", show=False),
        Binding("escape,q,ctrl+d", "leave", show=False),
        *(Binding(str(number), f"take({number})", show=False) for number in range(1, MOST_SERVERS + 1)),
    ]

    def __init__(self, error: NoModel, servers: Servers) -> None:
        super().__init__()
        self._error = error
        self._look = servers
        self._found: Sequence[LocalServer] = ()

    def on_mount(self) -> None:
        """What is here already can be read while the machine is looked at."""
        self.run_worker(self._find)

    async def _find(self) -> None:
        self._found = (await asyncio.to_thread(self._look))[:MOST_SERVERS]
        lines = [
            Content.assemble(
                (f"{number}", "bold $accent"),
                (f"  {show_invisible(server.name)} on this machine", "bold $text"),
                (f"  {show_invisible(server.models[0])}", "$text-muted"),
            )
            for number, server in enumerate(self._found, 1)
        ]
        servers = self.query_one("#servers", Static)
        servers.update(Content("\n").join(lines))
        servers.display = bool(lines)

    def action_take(self, number: int) -> None:
        """Goes on with that server's first model; /model chooses another."""
        if number <= len(self._found):
            server = self._found[number - 1]
            self.dismiss(Opening(is_first=True, model=f"openai-chat/{server.models[0]}", base_url=server.url))

    def compose(self) -> ComposeResult:
        """What is missing, the ways to mend it, and the demo."""
        with VerticalScroll():
            yield Static(self._text(), markup=False)
            yield Static(id="servers", markup=False)
            yield DemoLine(
                Content.assemble(
                    ("Enter", "bold $accent"),
                    ("  the demo", "bold $text"),
                    ("  a real session on a sample project, without a network", "$text-muted"),
                ),
                id="demo",
                markup=False,
            )
            yield Static(Content.styled("\nq leave", "$text-muted"), markup=False)

    def _text(self) -> Content:
        lines = [
            Content.assemble(("codeagent", "bold $accent"), ("  a coding agent for the terminal", "$text-muted")),
            Content(),
            Content(show_invisible(self._error.message)),
        ]
        if self._error.hint:
            lines.append(Content.styled(show_invisible(self._error.hint), "$text-muted"))
        for title, steps in _WAYS:
            lines.append(Content())
            for number, step in enumerate(steps):
                name = "" if number else title
                style = "$accent" if step.startswith(("export", "codeagent")) else "$text-muted"
                lines.append(Content.assemble((f"{name:<{_COLUMN}}", "$text"), (step, style)))
        return Content("\n").join(lines)

    def action_demo(self) -> None:
        """Leaves, so that the demo can start."""
        self.dismiss(DEMO)

    def action_leave(self) -> None:
        """Leaves codeagent."""
        self.dismiss(None)

    def on_demo_line_clicked(self) -> None:
        """As Enter."""
        self.action_demo()
