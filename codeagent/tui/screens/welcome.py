"""The welcome when no model can be used yet: what to do, on one screen, and a demo that needs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from codeagent.core.desk import LocalServer, Opening
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.text import show_invisible
from codeagent.core.values import value

DEMO = "demo"
"""What the screen returns when the demo is wanted."""

_WAYS = (
    ("From the shell", ("export ANTHROPIC_API_KEY=…", "codeagent config set-key anthropic")),
    ("Another model", ("codeagent --model openai/NAME",)),
    ("A server of yours", ("export OPENAI_BASE_URL=http://127.0.0.1:8080/v1", "codeagent --model openai-chat/NAME")),
)
_SERVICES = {"anthropic": "Anthropic", "openai": "OpenAI"}
_WHERE = "Kept in your keyring, or in a file that only you can read."
_COLUMN = 20
MOST_SERVERS = 4


Servers = Callable[[], Sequence[LocalServer]]
"""Looks for model servers on this machine; called on a thread."""


def _keeps_none(service: str, key: str) -> str:
    raise ConfigError(f"The key for {service} ({len(key)} characters) can not be kept here.")


@value
class Offers:
    """What the welcome can do about a missing model.

    ``servers`` looks for servers on this machine; ``keep_key`` keeps a key for a
    service and says where, or raises ConfigError. Both are called on a thread.
    """

    servers: Servers = tuple
    keep_key: Callable[[str, str], str] = _keeps_none


class DemoLine(Static):
    """The line that starts the demo when it is clicked."""

    class Clicked(Message):
        """The demo is wanted."""

    def on_click(self, event: events.Click) -> None:
        """Starts it."""
        event.stop()
        self.post_message(self.Clicked())


class WelcomeScreen(Screen[str | Opening | None]):
    """Enter starts the demo, q leaves, a number takes a model server of this machine, a and o take a key."""

    DEFAULT_CSS = """
    WelcomeScreen { align: center middle; background: $background; }
    WelcomeScreen > VerticalScroll {
        width: 100%; max-width: 84; height: auto; max-height: 100%; padding: 1 3; scrollbar-size-vertical: 1;
    }
    WelcomeScreen Static { height: auto; }
    WelcomeScreen #choices { margin: 1 0; padding: 0 2; background: $raised; }
    WelcomeScreen #demo { padding: 0 2; background: $raised; }
    WelcomeScreen #entry { display: none; height: auto; margin-top: 1; padding: 1 2; background: $raised; }
    WelcomeScreen Input, WelcomeScreen Input:focus {
        border: none; height: 1; margin: 0 0 1 0; padding: 0; background: $raised;
    }
    WelcomeScreen.entering #entry { display: block; }
    WelcomeScreen.entering .aside { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "demo", show=False),
        Binding("a", "enter_key('anthropic')", show=False),
        Binding("o", "enter_key('openai')", show=False),
        Binding("escape", "back", show=False),
        Binding("q,ctrl+d", "leave", show=False),
        *(Binding(str(number), f"take({number})", show=False) for number in range(1, MOST_SERVERS + 1)),
    ]

    def __init__(self, error: NoModel, offers: Offers) -> None:
        super().__init__()
        self._error = error
        self._offers = offers
        self._found: Sequence[LocalServer] = ()
        self._service = ""
        self._key = Input(password=True, placeholder="paste it here; it is not shown")
        self._key.cursor_blink = False

    def on_mount(self) -> None:
        """What is here already can be read while the machine is looked at."""
        self.run_worker(self._find)

    async def _find(self) -> None:
        self._found = (await asyncio.to_thread(self._offers.servers))[:MOST_SERVERS]
        self.query_one("#choices", Static).update(self._choices())

    def _choices(self) -> Content:
        """The keys to press, the servers that were found first."""
        lines = [
            _choice(str(number), f"{server.name} on this machine", server.models[0])
            for number, server in enumerate(self._found, 1)
        ]
        lines += [_choice(name[0], f"{shown} key", "enter it here") for name, shown in _SERVICES.items()]
        return Content("\n").join(lines)

    def action_enter_key(self, service: str) -> None:
        """Asks for a key."""
        self._service = service
        self._key.clear()
        self._say_of_key("enter keeps it and goes on · esc back")
        self.query_one("#service", Static).update(Content.styled(f"{_SERVICES[service]} key", "bold $text"))
        self.add_class("entering")
        self._key.focus()

    def _say_of_key(self, text: str, style: str = "$text-muted") -> None:
        self.query_one("#said", Static).update(Content.styled(show_invisible(text), style))

    @on(Input.Submitted)
    async def _key_entered(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            await asyncio.to_thread(self._offers.keep_key, self._service, event.value)
        except ConfigError as error:
            self._say_of_key(str(error), "$warning")
        else:
            self.dismiss(Opening(is_first=True))

    def action_back(self) -> None:
        """Leaves the entry of a key, or codeagent."""
        if self.has_class("entering"):
            self.remove_class("entering")
            self._key.clear()
            self.set_focus(None)
        else:
            self.action_leave()

    def action_take(self, number: int) -> None:
        """Goes on with that server's first model; /model chooses another."""
        if number <= len(self._found):
            server = self._found[number - 1]
            self.dismiss(Opening(is_first=True, model=f"openai-chat/{server.models[0]}", base_url=server.url))

    def compose(self) -> ComposeResult:
        """What is missing, what can be done at once, the demo, and the ways from the shell."""
        with VerticalScroll():
            yield Static(self._missing(), markup=False)
            yield Static(self._choices(), id="choices", markup=False, classes="aside")
            yield DemoLine(
                _choice("Enter", "the demo", "a real session on a sample project, without a network"),
                id="demo",
                markup=False,
                classes="aside",
            )
            yield Static(self._ways(), markup=False, classes="aside")
            with Vertical(id="entry"):
                yield Static(id="service", markup=False)
                yield self._key
                yield Static(id="said", markup=False)
                yield Static(Content.styled(_WHERE, "$text-muted"), markup=False)

    def _missing(self) -> Content:
        lines = [
            Content.assemble(("codeagent", "bold $accent"), ("  a coding agent for the terminal", "$text-muted")),
            Content(),
            Content(show_invisible(self._error.message)),
        ]
        if self._error.hint:
            lines.append(Content.styled(show_invisible(self._error.hint), "$text-muted"))
        return Content("\n").join(lines)

    def _ways(self) -> Content:
        lines: list[Content] = []
        for title, steps in _WAYS:
            lines.append(Content())
            for number, step in enumerate(steps):
                lines.append(Content.assemble((f"{'' if number else title:<{_COLUMN}}", "$text"), (step, "$accent")))
        lines += [Content(), Content.styled("q leave", "$text-muted")]
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


def _choice(key: str, what: str, detail: str) -> Content:
    """A line that says what a key does."""
    return Content.assemble(
        (f"{key:<7}", "bold $accent"),
        (show_invisible(what), "bold $text"),
        (f"  {show_invisible(detail)}", "$text-muted"),
    )
