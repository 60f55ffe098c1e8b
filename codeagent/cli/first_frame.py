"""The instant prompt: a few escape codes draw the first picture and take keys while the app is still being loaded.

Nothing is imported here that costs time; the app takes over the terminal, and all
that was typed, in the state that is left here. Where anything is out of the
ordinary there is no instant prompt, and the app starts as it always did.
"""

import os
from _collections_abc import Mapping, Sequence  # collections.abc would load all of collections
from sys import setswitchinterval

from codeagent.cli.instant_look import InstantLook, find_look
from codeagent.cli.terminal_guard import ENTER, TerminalGuard, TerminalWatch, put
from codeagent.cli.typed_ahead import Keyboard, Typed, read_typed
from codeagent.core.first_words import (
    AGAIN_QUITS,
    ASK_BACKGROUND,
    GREETING,
    MARKER,
    NAME,
    NO_SHELL,
    PLACEHOLDER,
    STARTING,
    WAITS_FOR,
    end_of_path,
)
from codeagent.core.quick_signal import DEFAULT, SIGTSTP, SIGWINCH, on_signal, stop_job

_INPUT, _OUTPUT = 0, 1
_KEEP_PLACE, _BACK_TO_PLACE = "\x1b7", "\x1b8"  # there an input method shows what it composes
_NARROWEST, _LOWEST = 80, 15
_USUAL_SIZE = (80, 24)
_PROMPT_FROM_BOTTOM = 2
_PROMPT_SHARE = 3  # a long text takes one row in so many of the screen, as in the app
_QUIT_CODES = {"\x03": 130, "\x04": 0}
_QUICK, _USUAL = 0.001, 0.005  # seconds a thread may keep the others waiting

_DRAWN_OTHERWISE = ("TEXTUAL_DRIVER", "TEXTUAL_COLOR_SYSTEM", "TEXTUAL_FILTERS", "TEXTUAL_DEBUG")
_PLAIN_FLAGS = {"-c", "--continue", "--trust", "--no-session"}
_FLAGS_WITH_VALUE = {"--model", "--mode", "--allow", "--ask", "--deny", "--add-dir", "--sandbox"} | {
    "--max-steps",
    "--max-cost",
}
_SUBCOMMANDS = {"demo", "doctor", "sessions", "config", "trust", "permissions"}


class FirstFrame:
    """The picture that stands until the app draws its own, and the keys typed at it."""

    def __init__(self, look: InstantLook, folder: str, size: tuple[int, int]) -> None:
        self._look = look
        self._folder = folder
        self._size = size
        self._typed = b""
        self._keyboard = Keyboard(_INPUT)
        self._guard = TerminalGuard()
        self._stands = False
        self._remark = ""

    @property
    def before(self) -> list[object]:
        """The terminal's attributes before the program was started."""
        return self._guard.before

    @property
    def watch(self) -> TerminalWatch | None:
        """What gives the terminal back should the program die without doing so."""
        return self._guard.watch

    def show(self) -> None:
        """Draws, takes what was typed already, and goes on taking keys on a thread."""
        self._guard.__enter__()
        self._guard.make_raw()
        self._stands = True
        put(ENTER + self._picture() + ASK_BACKGROUND)
        on_signal(SIGWINCH, self._resized)
        on_signal(SIGTSTP, self._suspended)
        self._take_in(self._keyboard.read_waiting())
        setswitchinterval(_QUICK)
        self._keyboard.start(self._take_in, self._suspend)
        self._guard.begin_watch(is_raw=True)

    def take_keys(self) -> bytes:
        """All that was typed, once; from here on the app reads the terminal."""
        typed = self._keyboard.take()
        setswitchinterval(_USUAL)
        return typed

    def hand_over(self) -> None:
        """The app minds the terminal from now on: its size, suspension, and the way back."""
        self._stands = False

    def leave(self) -> None:
        """Takes the picture away if it still stands: the app will not come."""
        if self._stands:
            self.take_keys()
            self.hand_over()
            on_signal(SIGWINCH, DEFAULT)
            on_signal(SIGTSTP, DEFAULT)
            self._guard.restore()
        self._guard.__exit__()

    # --- drawing

    def _picture(self) -> str:
        """Everything, top to bottom, in the places the app gives it."""
        columns, lines = self._size
        style = self._look.style
        plain, muted, rule = style("text"), style("muted"), style("rule") + "─" * columns
        typed = read_typed(self._typed)
        parts = [plain, *(_at(row, 1) + " " * columns for row in range(1, lines + 1))]
        parts += [_at(1, 2), style("accent", bold=True), NAME, muted, "  ", plain, _shortened(self._folder, columns)]
        parts += [_at(2, 1), rule]
        for number, line in enumerate(GREETING.splitlines()):
            parts += [_at(4 + number, 4), muted, line]
        hints = f"ctrl+c {AGAIN_QUITS}" if typed.asks_to_quit else self._remark or self._look.hints
        gap = columns - 2 - len(STARTING) - len(hints)
        parts += [_at(lines - 1, 1), rule, _at(lines, 2), muted, STARTING, " " * gap, hints]
        return "".join(parts) + self._prompt(typed)

    def _prompt(self, typed: Typed) -> str:
        """The lines that are typed in, with the cursor as the app draws it; of many, those at the end."""
        columns, lines = self._size
        style = self._look.style
        room = columns - 5
        *above, shown = typed.text.split("\n")[-max(lines // _PROMPT_SHARE, 1) :]
        under_cursor, after = " ", ""
        if not typed.text:
            under_cursor, after = PLACEHOLDER[0], PLACEHOLDER[1:]
        shown = shown[-room if shown.isascii() else -(room // 2) :]
        row = lines - _PROMPT_FROM_BOTTOM - len(above)
        blank = style("text") + " " * columns
        parts = [_at(row, 1), blank, _at(row, 2), style("accent"), MARKER, style("text")]
        for number, line in enumerate((*above, shown)):
            fitting = line[: room if line.isascii() else room // 2]
            parts += [_at(row + number, 1), blank] if number else []
            parts += [_at(row + number, 4), fitting]
        parts += [_KEEP_PLACE, self._look.cursor(), under_cursor, style("faint"), after, style("text")]
        parts += [_at(row - 1, 1), blank]
        if typed.sent:
            sent = " ".join(typed.sent[-1].split())[: columns // 3]
            parts += [_at(row - 1, 4), style("faint"), "queued: ", style("muted"), f"“{sent}”"]
            parts += [style("faint"), "  waits for ", WAITS_FOR]
        return "".join((*parts, _BACK_TO_PLACE))

    # --- what happens meanwhile

    def _take_in(self, typed: bytes) -> None:
        """More was typed: it is shown, and ctrl+c or ctrl+d at an empty prompt quits."""
        if typed == self._typed:
            return
        before, self._typed = self._typed, typed
        now = read_typed(typed)
        if now.quits_with:
            self._guard.restore()
            os._exit(_QUIT_CODES[now.quits_with])
        put(self._prompt(now) if _looks_alike(read_typed(before), now) else self._picture())

    def _resized(self, _number: int, _frame: object) -> None:
        self._size = _size(os.environ)
        put(self._picture())

    def _suspend(self) -> bool:
        """Has the main thread stop, as only that one may; whether Ctrl+Z means that, and the app is not there yet."""
        is_ours = self._stands and self._look.suspends
        if is_ours:
            os.kill(os.getpid(), SIGTSTP)
        return is_ours

    def _suspended(self, _number: int, _frame: object) -> None:
        """Stops with the terminal as it was; goes on with the picture as it is."""
        self._guard.restore()
        self._remark = "" if stop_job() else NO_SHELL
        self._guard.make_raw()
        put(ENTER + self._picture())


def show_first_frame(words: Sequence[str], environ: Mapping[str, str]) -> FirstFrame | None:
    """Draws the instant prompt where that is sure to be right; None where the app has to start by itself."""
    if not (opens_app(words) and os.isatty(_INPUT) and os.isatty(_OUTPUT) and _is_plain_terminal(environ)):
        return None
    try:
        size, folder = _size(environ), _shown_folder(os.getcwd(), environ.get("HOME", ""))  # noqa: PTH109 - pathlib would cost more than the whole picture
    except OSError:
        return None
    is_roomy = size[0] >= _NARROWEST and size[1] >= _LOWEST
    look = find_look(environ) if is_roomy else None
    if look is None or not folder.isprintable() or (not folder.isascii() and 2 * len(folder) > _room(size[0])):
        return None
    frame = FirstFrame(look, folder, size)
    frame.show()
    return frame


def opens_app(words: Sequence[str]) -> bool:
    """Whether the command line surely asks for the app in this directory, and for nothing else first."""
    if words and words[0] in _SUBCOMMANDS:
        return False
    rest = iter(words)
    for word in rest:
        flag, equals, _ = word.partition("=")
        if flag in _FLAGS_WITH_VALUE:
            if not equals and next(rest, "-").startswith("-"):
                return False
        elif word.startswith("-") and word not in _PLAIN_FLAGS:
            return False
    return True


def _is_plain_terminal(environ: Mapping[str, str]) -> bool:
    """Whether it draws, in UTF-8, and nothing was set that changes how Textual draws."""
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    is_utf8 = "utf-8" in locale.lower() or "utf8" in locale.lower()
    is_plain = environ.get("TERM", "") not in {"", "dumb"}
    return is_utf8 and is_plain and not any(environ.get(name) for name in _DRAWN_OTHERWISE)


def _looks_alike(one: Typed, other: Typed) -> bool:
    """Whether nothing but the row that is typed in and the one above may look different."""
    return one.text.count("\n") == other.text.count("\n") and one.asks_to_quit is other.asks_to_quit


def _shown_folder(folder: str, home: str) -> str:
    if not home or home == "/" or not f"{folder}/".startswith(f"{home.rstrip('/')}/"):
        return folder
    return "~" + folder[len(home.rstrip("/")) :]


def _room(columns: int) -> int:
    """Columns that the app's top line has for the folder as long as it shows nothing else."""
    return columns - len(NAME) - 8


def _shortened(folder: str, columns: int) -> str:
    return end_of_path(folder, _room(columns))


def _size(environ: Mapping[str, str]) -> tuple[int, int]:
    """Columns and lines, found in the way of ``shutil.get_terminal_size``, which the app asks."""
    said = [environ.get(name, "") for name in ("COLUMNS", "LINES")]
    columns, lines = (int(one) if one.isdecimal() else 0 for one in said)
    if not columns or not lines:
        found = os.get_terminal_size(_OUTPUT)
        columns, lines = columns or found.columns or _USUAL_SIZE[0], lines or found.lines or _USUAL_SIZE[1]
    return columns, lines


def _at(row: int, column: int) -> str:
    return f"\x1b[{row};{column}H"
