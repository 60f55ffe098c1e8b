"""The bottom line: mode, context, money and what runs on the left, the keys of the moment on the right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic

from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from codeagent.core.approvals import Mode
from codeagent.core.first_words import STARTING
from codeagent.core.keys import key_hints
from codeagent.core.messages import Unpriced
from codeagent.core.text import counted, show_invisible
from codeagent.core.values import value
from codeagent.tui.attention import WorkState

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.125
_TIGHT = 72
_NEARLY_FULL = 0.8


@value
class Status:
    """All that the line shows; ``context`` is the filled part of the window, from 0 to 1.

    The ``cost`` does not hold the ``unpriced``. ``own_running`` counts the person's own shell commands; where
    ``words_stop_command``, sending a message ends a command of the agent. With vi's keys in the prompt,
    ``vi_mode`` says what they mean where they are no text. A line that ``is_covered`` stands beside a window,
    which names its own keys. ``is_aside`` is a question whose reasons, rules or text are shown, and
    ``is_reading`` the keyboard in the transcript: there Esc goes back. While a list ``is_completing`` what is typed,
    Esc closes it, and where the person ``is_choosing`` from it with the arrows Enter takes what they stand on.
    """

    mode: Mode | None = None
    context: float | None = None
    cost: float | None = None
    unpriced: tuple[Unpriced, ...] = ()
    running: int = 0
    own_running: int = 0
    words_stop_command: bool = False
    jobs: int = 0
    waiting: int = 0
    activity: str = ""
    sandbox: str = ""
    is_connecting: bool = True
    is_working: bool = False
    is_stopping: bool = False
    is_answering: bool = False
    is_aside: bool = False
    is_reading: bool = False
    is_finding: bool = False
    is_completing: bool = False
    is_choosing: bool = False
    is_covered: bool = False
    vi_mode: str = ""
    below: int = 0
    remark: str = ""


class StatusLine(Widget):
    """The status line; nothing in it moves while the agent rests."""

    DEFAULT_CSS = """
    StatusLine { height: 2; padding: 0 1; border-top: solid $rule; color: $text-muted; }
    """

    class StateChanged(Message):
        """The program began to work, to wait for the person, or to rest."""

        def __init__(self, state: WorkState) -> None:
            super().__init__()
            self.state = state

    def __init__(self, *, reduced_motion: bool, keymap: Mapping[str, str]) -> None:
        super().__init__()
        self.keys = key_hints(keymap)
        self._reduced_motion = reduced_motion
        self._frame = 0
        self._turned_at = self._along_at = 0.0
        self._spinner: Timer | None = None
        self._remark_timer: Timer | None = None
        self.status = Status()

    def show(self, status: Status) -> None:
        """Shows another state; the spinner turns only while the agent works."""
        if status == self.status:
            return
        if bool(self.status.waiting) is not bool(status.waiting):
            status = replace(status, remark="")  # it was about a question that has gone, or covers the keys of one
        before, self.status = self.status, status
        if _state_of(status) is not _state_of(before):
            self.post_message(self.StateChanged(_state_of(status)))
        is_moving = status.is_working and not status.waiting
        if is_moving and not self._reduced_motion and self._spinner is None:
            self._spinner = self.set_interval(_FRAME_SECONDS, self._turn_by_itself)
        elif not is_moving and self._spinner is not None:
            self._spinner.stop()
            self._spinner = None
        self.refresh()

    def remark(self, text: str, seconds: float) -> None:
        """Shows a remark in place of the keys for a while."""
        if self._remark_timer is not None:
            self._remark_timer.stop()
        self.show(replace(self.status, remark=text))
        self._remark_timer = self.set_timer(seconds, self.forget_remark)

    def forget_remark(self) -> None:
        """Shows the keys again."""
        self.show(replace(self.status, remark=""))

    def turn_along(self) -> None:
        """Something else is about to be painted: the spinner turns with it, when it is time, and not by itself."""
        self._along_at = monotonic()
        if self._spinner is not None and self._along_at >= self._turned_at + _FRAME_SECONDS:
            self._turn()

    def _turn_by_itself(self) -> None:
        if monotonic() >= self._along_at + _FRAME_SECONDS:
            self._turn()

    def _turn(self) -> None:
        self._turned_at = monotonic()
        self._frame = (self._frame + 1) % len(_FRAMES)
        self.refresh()

    def render(self) -> Content:
        """Both sides; when the line is too short the keys give way, but what a remark says is shown whole."""
        width = self.size.width
        parts = self._left()
        if self.status.is_working and width < _TIGHT:
            parts[:2] = [Content(" ").join(parts[:2])]  # the mark alone says that it works
        rights = self._right()
        while self.status.remark and parts and _joined(parts).cell_length + 2 + rights[0].cell_length > width:
            parts.pop()
        left = _joined(parts)
        room = max(width - left.cell_length - 2, 0) if left else width
        right = next((one for one in rights if one.cell_length <= room), Content())
        if not right and self.status.remark:
            right = rights[0].truncate(room, ellipsis=True)
        gap = max(width - left.cell_length - right.cell_length, 0)
        return Content.assemble(left, " " * gap, right).truncate(width, ellipsis=True)

    def _left(self) -> list[Content]:
        status = self.status
        parts: list[Content] = []
        if status.is_working:
            mark = "●" if self._reduced_motion or status.waiting else _FRAMES[self._frame]
            doing = "waiting for you" if status.waiting else status.activity or "working"
            doing = "stopping" if status.is_stopping else doing
            activity = f" {doing}" if self.size.width >= _TIGHT or status.is_stopping else ""
            parts.append(Content.styled(f"{mark}{activity}", "$accent"))
        if status.vi_mode:
            parts.append(Content.styled(status.vi_mode, "bold $accent"))
        if status.is_connecting and (status.waiting or not status.is_covered):
            parts.append(Content.styled("● waiting for you", "$accent") if status.waiting else Content(STARTING))
        if status.mode is not None:
            parts.append(mode_word(status.mode))
        if status.context is not None:
            style = "$warning" if status.context >= _NEARLY_FULL else ""
            parts.append(Content.styled(f"context {status.context:.0%}".replace("%", " %"), style))
        if status.cost is not None:
            more = f" + {_short(sum(one.tokens for one in status.unpriced))} unpriced" if status.unpriced else ""
            parts.append(Content(f"${status.cost:.2f}{more}"))
        if running := status.running + status.own_running:
            parts.append(Content(f"{running:,} running"))
        if status.jobs:
            parts.append(Content(counted(status.jobs, "job")))
        if status.sandbox:
            parts.append(Content.styled(show_invisible(status.sandbox), "$warning"))
        return parts

    def _right(self) -> list[Content]:
        """What stands on the right, and shorter forms of it, the longest first."""
        status = self.status
        if status.remark:
            return [Content.styled(show_invisible(status.remark), "$text")]
        if status.is_covered:
            return [Content()]
        if status.below and not status.is_finding:
            new = f"↓ {status.below:,} new"
            return [Content.styled(f"{new} · {self.keys['bottom']}", "$accent"), Content.styled(new, "$accent")]
        style = "$text" if status.waiting and not (status.is_answering or status.is_reading) else ""
        return [Content.styled(hint.format_map(self.keys), style) for hint in _hints(status)]


def _short(tokens: int) -> str:
    """A number of tokens in a few characters."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            return f"{tokens / size:.0f}{letter}"
    return str(tokens)


def _joined(parts: list[Content]) -> Content:
    return Content(" · ").stylize("$text-faint").join(parts)


def _hints(status: Status) -> tuple[str, ...]:
    """What keys do now, each by its name in the table of keys, and shorter forms of it."""
    if status.is_finding:
        stay, leave = "{find-stay} stay", "{find-leave} back"
        return f"{{find-older}} older · {{find-newer}} newer · {stay} there · {leave}", f"{stay} · {leave}"
    if status.is_reading:
        opens, leave = "{open-panel} open", "{leave} prompt"
        return (
            f"{{panel-up}} {{panel-down}} choose · {opens} · {{copy-panel}} copy · {leave}",
            f"{opens} · {leave}",
            leave,
        )
    if status.is_completing and not status.is_answering:
        return _hints_at_completions(status)
    return _hints_at_question(status) if status.waiting else _hints_at_prompt(status)


def _hints_at_question(status: Status) -> tuple[str, ...]:
    if status.is_answering and status.is_aside:
        return "{next-pane} transcript · esc back", "esc back"
    if not status.is_working:  # there is no turn to stop
        return ("{next-pane} transcript",) if status.is_answering else ("{next-pane} answer",)
    if status.is_answering:
        return "{next-pane} transcript · {stop} stop", "{stop} stop"
    return "{next-pane} answer the question · {stop} stop", "{next-pane} answer"


def _hints_at_completions(status: Status) -> tuple[str, ...]:
    if status.is_choosing:
        return "{send} take · esc close", "esc close"
    send = "{send} steer" if status.is_working else "{send} send"
    return f"{{complete}} complete · {send} · esc close", "{complete} complete · esc close", "esc close"


def _hints_at_prompt(status: Status) -> tuple[str, ...]:
    if status.is_stopping:
        return "{send} send afterwards · {stop} end by force", "{stop} end by force"
    if status.is_working and status.words_stop_command:
        steer = "{send} steer, stop command"
        return f"{steer} · {{send-later}} later · {{stop}} stop", f"{steer} · {{stop}} stop", steer, "{stop} stop"
    if status.is_working:
        return "{send} steer · {send-later} later · {stop} stop", "{send} steer · {stop} stop", "{stop} stop"
    if status.own_running:
        stop = "{stop} stop command"
        return f"{{send}} send · {stop} · {{help}} keys", f"{{send}} send · {stop}", stop
    return "{send} send · {palette} commands · {help} keys", "{palette} commands · {help} keys", "{help} keys"


def _state_of(status: Status) -> WorkState:
    if status.waiting:
        return WorkState.WAITING
    return WorkState.WORKING if status.is_working else WorkState.IDLE


def mode_word(mode: Mode) -> Content:
    """The mode, coloured when it lets things happen without a question."""
    style = {Mode.ASK: "$text", Mode.EDITS: "$warning", Mode.AUTO: "$warning", Mode.PLAN: "$accent"}[mode]
    return Content.styled(str(mode), style)
