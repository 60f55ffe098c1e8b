"""The terminal as the app drives it: taken over from the instant prompt, its own answers kept out of the keys.

And left as clean when a fault of the program ends the app.
"""

from __future__ import annotations

import os
import re
import select
import selectors
import sys
import threading
from codecs import getincrementaldecoder
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import ClassVar, Protocol, TypeVar

from textual import constants
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.worker import WorkerFailed

from codeagent.config.terminal_colours import FULL, colours_of
from codeagent.core.first_words import ASK_BACKGROUND, BRING_TITLE_BACK, NO_SHELL
from codeagent.core.quick_signal import DEFAULT, SIGTSTP, on_signal, stop_job
from codeagent.core.sequences import ESCAPE, is_enter
from codeagent.tui.escapes import Pasted, Typed
from codeagent.tui.keys import characters_with_alt

Result = TypeVar("Result")

_AS_ONE, _SHOWN = "\x1b[?2026h", "\x1b[?2026l"
_ALTERNATE_SCREEN = "\x1b[?1049h"
_MOUSE_PIXELS_OFF = "\x1b[?1016l"
_KEEP_TITLE = "\x1b[22;2t"
_TELL_LAYOUT = "\x1b[=4;2u"
"""Has the kitty protocol tell of a key what it is on a Latin layout as well, where it types another letter."""

_SECONDS = 0.1
_ESCAPE_SECONDS = 0.05  # a terminal sends a key in one piece; only a slow line tears one apart
_MOST_BYTES = 4_096
_JOINED = re.compile(
    "((?:[^\x00-\x7f][\ufe0f\U0001f3fb-\U0001f3ff]?\u200d)+[^\x00-\x7f][\ufe0f\U0001f3fb-\U0001f3ff]?"
    "|\U0001f3f4[\U000e0020-\U000e007f]+)"
)
"""What a terminal sends for one emoji of several, or a flag with tags; no key stands for what joins its parts."""
_KEYS_AND_TEXT = re.compile(r"(\x1b.*|[\x00-\x1f\x7f-\x9f]+)|([^\x00-\x1f\x7f-\x9f]+)", re.DOTALL)


class FirstPicture(Protocol):
    """What stands on the terminal before the app draws, and the keys typed at it."""

    @property
    def before(self) -> list[object]:
        """The terminal's attributes before the program was started."""
        ...

    def take_keys(self) -> bytes:
        """All that was typed, once; from then on the app reads the terminal."""
        ...

    def hand_over(self) -> None:
        """The app minds the terminal from now on."""
        ...


class TypedText(Paste):
    """Characters typed one behind the other before the app was there: handed over in one go, as text."""


class TypedAhead(Message):
    """All that was typed before the app was there has been passed on."""


class NoShell(Message):
    """The app was to stop, but it is all that runs in its terminal."""

    text = NO_SHELL


class BackgroundTold(Message):
    """The terminal said which colour its background has."""

    def __init__(self, *, is_dark: bool) -> None:
        super().__init__()
        self.is_dark = is_dark


class TerminalDriver(LinuxDriver):
    """Textual's driver for real terminals, which lets a first picture stand until the app's own is whole."""

    first_picture: ClassVar[FirstPicture | None] = None
    asks_background: ClassVar[bool] = False
    with_alt: ClassVar[Collection[str]] = ()

    def __init__(
        self, app: App[str], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        """As Textual has it; it draws on standard output, where a person is known to look."""
        self._suspend_first = on_signal(SIGTSTP, DEFAULT)
        super().__init__(app, debug=debug, mouse=mouse, size=size)  # pyright: ignore[reportUnknownMemberType] - of any app
        self._file = sys.__stdout__ or self._file
        self._first = self.first_picture
        self._held: list[str] | None = None
        self._is_ready = threading.Event()
        self._is_driving = False
        self._typed = Typed(self.with_alt)
        self._told: bool | None = None
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._typed_ahead = ""
        self._parser = XTermParser()
        self._title = ""

    def show_title(self, title: str) -> None:
        """Names the window; the name it had before comes back in the end."""
        if not self._title:
            self.write(_KEEP_TITLE)
        self._title = title
        self.write(f"\x1b]2;{title}\a")

    # --- taking over, and giving back

    @property
    def is_driving(self) -> bool:
        """Whether the terminal is the app's; not while it is suspended, or the person's editor has it."""
        return self._is_driving

    def start_application_mode(self) -> None:
        """Takes the terminal; what is drawn is held back while a first picture stands."""
        if self._is_driving:  # continued without having been suspended: nothing was given back
            return
        self._is_driving = True
        self._take()
        self._tell()

    def _tell(self) -> None:
        if isinstance(self._app, TerminalApp):
            self._app.tell_watch()

    def _take(self) -> None:
        first = self._first
        if first is None:
            self._begin()
            if not self._is_ready.is_set():
                self._typed_ahead = self._decode(self._read_waiting())
                if self.asks_background:
                    self.write(ASK_BACKGROUND)
            if self._title:
                self.write(f"{_KEEP_TITLE}\x1b]2;{self._title}\a")
            return
        self._held = []
        self._begin()
        self._held.remove(_ALTERNATE_SCREEN)  # it is shown already; once more would clear it
        self.attrs_before = list(first.before)
        first.hand_over()

    def _begin(self) -> None:
        super().start_application_mode()
        if not constants.DISABLE_KITTY_KEY:
            self.write(_TELL_LAYOUT)

    def stop_application_mode(self) -> None:
        """Gives the terminal back as it was."""
        self._is_driving = False
        if self._first is not None:
            self._first.take_keys()
            self.release()
        self.write(_MOUSE_PIXELS_OFF + (BRING_TITLE_BACK if self._title else ""))
        super().stop_application_mode()
        self._tell()

    def _sigtstp_application(self, *_: object) -> None:
        """Stops with the terminal as it was, and takes it again when the job goes on."""
        if self._first is not None and self._held is None and callable(self._suspend_first):
            self._suspend_first(SIGTSTP, None)  # the terminal is not the app's yet
            return
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
        has_stopped = stop_job()
        if self._auto_restart:
            self.resume_application_mode()
        if not has_stopped:
            self.process_message(NoShell())

    def be_ready(self) -> None:
        """The prompt can be typed in: passes on what was typed at the first picture, then lets all other keys come.

        The first are on their way when it returns, so that no question comes in between.
        """
        if self._first is not None:
            self._typed_ahead = self._decode(self._first.take_keys())
            if not self._typed_ahead:
                self.release()
        typed_ahead, self._typed_ahead = self._typed_ahead, ""
        if typed_ahead:
            self._pass_on_at_once(self._typed.take(typed_ahead, is_one_read=False))
            self.process_message(TypedAhead())
        self._is_ready.set()

    def release(self) -> None:
        """Draws what was held back, in one go, in place of the first picture.

        Terminals that know synchronized output show nothing in between
        (https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036); others ignore the two marks.
        """
        held, self._held, self._first = self._held, None, None
        if held:
            super().write("".join((_AS_ONE, *held, _SHOWN)))

    def write(self, data: str) -> None:
        """Draws, or holds back while a first picture stands."""
        if self._held is None:
            super().write(data)
        else:
            self._held.append(data)

    # --- reading

    def run_input_thread(self) -> None:
        """Reads keys, mouse and answers until the app ends, all in the order in which they came."""
        while not self._is_ready.wait(_SECONDS):
            if self.exit_event.is_set():
                return
        parser, self._parser = self._parser, XTermParser()  # this thread begins anew after each suspension
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_ESCAPE_SECONDS if self._typed.is_holding else _SECONDS):
                    arrived = os.read(self.fileno, _MOST_BYTES)
                    if not arrived:
                        return
                    self._pass_on(parser, self._typed.take(self._decode(arrived)))
                else:
                    self._pass_on(parser, self._typed.give_up_waiting())

    def _read_waiting(self) -> bytes:
        """What was typed while the terminal still made a newline of Enter; lines are a text, which is never sent."""
        waiting = b""
        while select.select([self.fileno], [], [], 0)[0]:
            more = os.read(self.fileno, _MOST_BYTES)
            if not more:
                break
            waiting += more
        return waiting.replace(b"\n", b"\r") if is_enter(waiting) else waiting

    def _pass_on_at_once(self, pieces: Iterable[str | Pasted]) -> None:
        """Passes on what was typed ahead: keys as they are, all but the first of several characters as one text.

        Each character by itself would be laid out with all before it. Behind an Escape
        characters may be vi's keys, so that they go by themselves.
        """
        may_be_text = True
        for piece in pieces:
            may_be_text = may_be_text and piece != ESCAPE
            if isinstance(piece, Pasted) or not may_be_text:
                self._pass_on(self._parser, [piece])
                continue
            for found in _KEYS_AND_TEXT.finditer(piece):
                keys, text = found.groups(default="")
                joined = _JOINED.match(text)
                first = joined[0] if joined else text[:1]
                self._pass_on(self._parser, [keys or first])
                if len(text) > len(first):
                    self.process_message(TypedText(text[len(first) :]))

    def _pass_on(self, parser: XTermParser, pieces: Iterable[str | Pasted]) -> None:
        for piece in pieces:
            if isinstance(piece, Pasted):
                self.process_message(Paste(piece.text))
            elif piece == ESCAPE:
                self.process_message(Key("escape", ESCAPE))
            else:
                for part in filter(None, _JOINED.split(piece)):  # to be fed nothing means the end to it
                    for message in [Paste(part)] if _JOINED.fullmatch(part) else parser.feed(part):
                        self.process_message(message)
        for message in parser.tick():
            self.process_message(message)
        if self._typed.is_dark is not self._told:
            self._told = self._typed.is_dark
            self.process_message(BackgroundTold(is_dark=bool(self._told)))


def driver_for(
    first: FirstPicture | None, *, asks_background: bool, keymap: Mapping[str, str] | None
) -> type[TerminalDriver]:
    """The driver to start the app with; the first picture is taken over once."""

    class Terminal(TerminalDriver):
        first_picture = first

    Terminal.asks_background = asks_background and first is None
    Terminal.with_alt = characters_with_alt(keymap or {})
    return Terminal


def be_ready(driver: Driver | None) -> None:
    """The prompt can be typed in: a real terminal's keys may come."""
    if isinstance(driver, TerminalDriver):
        driver.be_ready()


def show_title(driver: Driver | None, title: str) -> None:
    """Names the window of a real terminal."""
    if isinstance(driver, TerminalDriver):
        driver.show_title(title)


def draw_after_keys(driver: Driver | None, prompt: Widget) -> None:
    """Draws what was held back once all keys that are under way went the whole way that keys go."""
    if not isinstance(driver, TerminalDriver):
        return
    draw = partial(prompt.screen.call_after_refresh, driver.release)
    for step in (prompt, *reversed(prompt.ancestors_with_self)):
        draw = partial(step.call_later, draw)
    draw()


class Watch(Protocol):
    """What gives the terminal back if the program dies at once."""

    def tell(self, is_ours: bool) -> None:  # noqa: FBT001 - it is the one thing to tell
        """Whether the terminal is the program's now."""
        ...

    def tell_editor(self, pid: int, file: str) -> None:
        """The person's editor has the terminal; ``file`` is what it was started with."""
        ...


class TerminalApp(App[Result]):
    """An app that ends at a fault; who runs it asks for ``fault`` then, and tells it.

    Textual's own way is a traceback over the terminal, with the values of variables in it.
    The terminal's own cursor stands where one types: there an input method shows what it composes.
    """

    fault: BaseException | None = None

    _typed_at = Offset(0, 0)
    _watch: Watch | None = None

    def __init__(self, driver_class: type[Driver]) -> None:
        """Draws by that driver, in all colours that the terminal shows: Rich asks only for this variable."""
        os.environ["COLORTERM"] = "truecolor" if colours_of(os.environ) == FULL else ""
        super().__init__(driver_class=driver_class)  # pyright: ignore[reportUnknownMemberType] - as Textual has it

    def watched_by(self, watch: Watch) -> None:
        """Has ``watch`` told whether the terminal is the app's: now, and at each change."""
        self._watch = watch
        self.tell_watch()

    def tell_watch(self) -> None:
        """Tells whose the terminal is, where somebody wants to know."""
        if self._watch is not None and isinstance(self._driver, TerminalDriver):
            self._watch.tell(self._driver.is_driving)

    def tell_editor(self, pid: int, file: str) -> None:
        """Tells that the person's editor has the terminal, with the ``file`` it was started with."""
        if self._watch is not None:
            self._watch.tell_editor(pid, file)

    @property
    def cursor_position(self) -> Offset:  # pyright: ignore[reportIncompatibleVariableOverride] - fields set it before they have their place
        """Where on the screen the next character goes; asked for with each picture."""
        focused = self.focused if self.is_running else None
        if isinstance(focused, Input | TextArea):
            self._typed_at = focused.cursor_screen_offset
        return self._typed_at

    @cursor_position.setter
    def cursor_position(self, place: Offset) -> None:
        self._typed_at = place

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()  # and no picture of the trace, which takes seconds: who runs the app reports it

    def _handle_exception(self, error: Exception) -> None:
        super()._handle_exception(error)
        self._exit_renderables.clear()
        if self.fault is None:
            self.fault = error.error if isinstance(error, WorkerFailed) else error
