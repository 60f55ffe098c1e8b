"""The welcome when no model can be used yet: what can be done right here, and how to name a model for good."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker

from codeagent.core.desk import LocalServer, Opening
from codeagent.core.errors import ConfigError, NoModel
from codeagent.core.text import show_invisible
from codeagent.tui.keys import OwnKeysScreen
from codeagent.tui.offers import DEMO, Offers
from codeagent.tui.widgets.choices import Choice, Choices
from codeagent.tui.widgets.text_field import LineField, read_back

_WAYS = (
    ("From the shell", ("export ANTHROPIC_API_KEY=…", "codeagent config set-key anthropic")),
    ("Another model", ("codeagent --model openai/NAME",)),
    ("Your server", ("export OPENAI_BASE_URL=http://host/v1", "codeagent --model openai-chat/NAME")),
)
_SERVICES = {"anthropic": "Anthropic", "openai": "OpenAI"}
_WHERE = "Kept in your keyring, or in a file that only you can read."
_COLUMN = 16
_KEYS_SAID = "↑ ↓ choose · enter takes it · so does its letter"
MOST_SERVERS = 4
_KEYS = tuple(Choice(key=name[0], name=f"{shown} key", detail="enter it here") for name, shown in _SERVICES.items())
_DEMO = Choice(key="d", name="The demo", detail="a real session, without network")
_LEAVE = Choice(key="q", name="Leave")


class WelcomeScreen(OwnKeysScreen[str | Opening | None]):
    """Arrows and Enter choose, or the key of a line; what was found on this machine stands first."""

    DEFAULT_CSS = """
    WelcomeScreen { align: center middle; background: $background; }
    WelcomeScreen > VerticalScroll {
        width: 100%; max-width: 76; height: auto; max-height: 100%; padding: 0 2; scrollbar-size-vertical: 1;
        scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    WelcomeScreen.-tall > VerticalScroll { padding: 1 3; }
    WelcomeScreen Static { height: auto; }
    WelcomeScreen Choices { margin: 1 0 0 0; }
    WelcomeScreen #keys { margin: 0 0 1 2; color: $text-muted; }
    WelcomeScreen.-tall #keys { margin: 1 0 1 2; }
    WelcomeScreen #entry { display: none; height: auto; margin-top: 1; padding: 1 2; background: $raised; }
    WelcomeScreen Input, WelcomeScreen Input:focus {
        border: none; height: 1; margin: 0 0 1 0; padding: 0; background: $raised;
    }
    WelcomeScreen.entering #entry { display: block; }
    WelcomeScreen.entering .aside { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", show=False),
        Binding("up,k,shift+tab", "move(-1)", show=False),
        Binding("down,j,tab", "move(1)", show=False),
        Binding("escape", "back", show=False),
        Binding("ctrl+d", "take('q')", show=False),
        *(Binding(key, f"take('{key}')", show=False) for key in ("a", "o", "d", "q", *"1234")),
    ]
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (20, "-tall")]  # noqa: RUF012 - as Textual has it

    AUTO_FOCUS = ""

    def __init__(self, error: NoModel, offers: Offers) -> None:
        super().__init__()
        self._error = error
        self._offers = offers
        self._found: Sequence[LocalServer] = ()
        self._box = VerticalScroll()
        self._choices = Choices((*_KEYS, _DEMO, _LEAVE))
        self._service = ""
        self._doubted = ""
        self._asking: Worker[None] | None = None
        self._key = LineField(password=True, placeholder="paste it here; it is not shown")
        self._key.cursor_blink = False

    def on_mount(self) -> None:
        """What is here already can be chosen while the machine is looked at."""
        self.run_worker(self._find)

    def on_resize(self) -> None:
        """On a small screen what can be chosen comes before what is said."""
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        """Scrolls to where the bar stands, once that has its place."""
        self.call_after_refresh(lambda: self._box.scroll_to_region(self._choices.chosen_line, animate=False))

    async def _find(self) -> None:
        self._found = (await asyncio.to_thread(self._offers.servers))[:MOST_SERVERS]
        if self._found:
            servers = (_server_choice(server, number) for number, server in enumerate(self._found, 1))
            self._choices.show((*servers, *_KEYS, _DEMO, _LEAVE))
            self._keep_in_view()

    def action_move(self, by: int) -> None:
        """Moves the bar."""
        self._choices.move(by)
        self._keep_in_view()

    def action_choose(self) -> None:
        """Takes what the bar stands on."""
        self.action_take(self._choices.chosen)

    def on_choices_taken(self, event: Choices.Taken) -> None:
        """As its key."""
        self.action_take(event.key)

    def action_take(self, key: str) -> None:
        """A server's number goes on with its first model, which /model can change; a letter does what its line says."""
        services = {name[0]: name for name in _SERVICES}
        if key in services:
            self.action_enter_key(services[key])
        elif key == _DEMO.key:
            self.dismiss(DEMO)
        elif key == _LEAVE.key:
            self.dismiss(None)
        elif int(key) <= len(self._found):
            server = self._found[int(key) - 1]
            self.dismiss(Opening(is_first=True, model=f"openai-chat/{server.models[0]}", base_url=server.url))

    def action_enter_key(self, service: str) -> None:
        """Asks for a key."""
        self._service, self._doubted = service, ""
        self._key.clear()
        self._say_of_key("enter keeps it and goes on · esc back")
        self.query_one("#service", Static).update(Content.styled(f"{_SERVICES[service]} key", "bold $text"))
        self.add_class("entering")
        self._key.focus()

    def _say_of_key(self, text: str, style: str = "$text-muted") -> None:
        self.query_one("#said", Static).update(Content.styled(show_invisible(text), style))

    @on(Input.Submitted)
    def _key_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._asking = self.run_worker(partial(self._take_key, read_back(event.value)), exclusive=True, group="key")

    async def _take_key(self, key: str) -> None:
        """Keeps a key that the service takes; one that it does not only when it is entered again."""
        try:
            if key != self._doubted:
                self._say_of_key(f"asking {_SERVICES[self._service]} about it…")
                problem = await asyncio.to_thread(self._offers.check_key, self._service, key)
                if problem:
                    self._doubted = key
                    self._say_of_key(f"{problem} Enter keeps it all the same, esc goes back.", "$warning")
                    return
            await asyncio.to_thread(self._offers.keep_key, self._service, key)
        except ConfigError as error:
            self._say_of_key(str(error), "$warning")
        else:
            self.dismiss(Opening(is_first=True))

    def action_back(self) -> None:
        """Leaves the entry of a key, or codeagent."""
        if self.has_class("entering"):
            if self._asking is not None:
                self._asking.cancel()
            self.remove_class("entering")
            self._key.clear()
            self.set_focus(None)
            self._keep_in_view()
        else:
            self.dismiss(None)

    def compose(self) -> ComposeResult:
        """What is missing, what can be done at once, and the ways from the shell."""
        with self._box:
            self._box.can_focus = False
            yield Static(self._missing(), markup=False)
            self._choices.add_class("aside")
            yield self._choices
            yield Static(_KEYS_SAID, markup=False, id="keys", classes="aside")
            yield Static(_ways(), markup=False, classes="aside")
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


def _server_choice(server: LocalServer, number: int) -> Choice:
    first, *others = server.models
    more = f" and {len(others):,} more" if others else ""
    return Choice(key=str(number), name=f"{server.name} on this machine", detail=f"{first}{more}")


def _ways() -> Content:
    lines: list[Content] = []
    for title, steps in _WAYS:
        for number, step in enumerate(steps):
            name = "" if number else title
            lines.append(Content.assemble((f"{name:<{_COLUMN}}", "$text-muted"), (step, "$text")))
    return Content("\n").join(lines)
