"""A run without a screen: one prompt, the answer on standard output, and an exit code that tells how it went."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import stat
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TextIO, assert_never

from codeagent.cli.options import OutputFormat
from codeagent.cli.stream import KeyFilter, event_line
from codeagent.core.commands import CustomCall, is_command
from codeagent.core.custom_commands import FoundCommands
from codeagent.core.desk import Errand, Workbench
from codeagent.core.errors import ConfigError
from codeagent.core.events import (
    REFUSED,
    AgentEvent,
    CallStreamed,
    Emit,
    Level,
    NoticeGiven,
    RetryScheduled,
    TextStreamed,
    ThinkingStreamed,
    TurnEnd,
    TurnEnded,
)
from codeagent.core.text import clean

OK, FAILED, USAGE, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130

_PATIENCE = 3.0  # seconds that a pipe may stay silent when there is a prompt without it

OpenHeadless = Callable[[Emit], Awaitable[Errand]]


class Printer:
    """A listener that prints events in the chosen format."""

    def __init__(self, output_format: OutputFormat, out: TextIO, notes: TextIO) -> None:
        self._format = output_format
        self._out = out
        self._notes = notes
        self._trouble = ""
        self._noted = ""
        self.is_broken = False
        self.problem = ""
        """Why something could not be printed; a reader that went away on purpose is none."""
        self.keys = KeyFilter()
        """Takes out what must not be printed, once it is known."""
        self.on_answer: Callable[[], object] = lambda: None
        """Called once, when the first piece of an answer comes."""

    def emit(self, event: AgentEvent) -> None:
        """Prints one event; a reader that went away ends the printing, not the run."""
        if isinstance(event, TextStreamed | ThinkingStreamed | CallStreamed):
            on_answer, self.on_answer = self.on_answer, lambda: None
            on_answer()
        if self.is_broken:
            return
        try:
            self._print(event)
        except BrokenPipeError:  # the reader went away
            self.is_broken = True
        except (OSError, ValueError) as error:  # the disk is full, or there is no output at all
            self.is_broken = True
            self.problem = getattr(error, "strerror", None) or str(error)

    def _print(self, event: AgentEvent) -> None:
        match self._format:
            case OutputFormat.STREAM_JSON:
                for one in self.keys.events(event):
                    self._line(one)
            case OutputFormat.JSON:
                if isinstance(event, TurnEnded):
                    self._line(event)
                elif isinstance(event, NoticeGiven):
                    self._note(event)
            case OutputFormat.TEXT:
                self._text(event)
            case _:
                assert_never(self._format)

    def _line(self, event: AgentEvent) -> None:
        line = event_line(event, self.keys.json)
        if line is not None:
            self._out.write(line + "\n")
            self._out.flush()

    def _note(self, event: NoticeGiven) -> None:
        """Says a notice; where it begins with all of the one before it, what is new."""
        if event.level is Level.INFO:
            return
        if text := event.text.removeprefix(self._noted).strip():
            self._say(text)
        self._noted = event.text

    def _say(self, text: str) -> None:
        print(f"codeagent: {clean(self.keys.text(text))}", file=self._notes)

    def _answer(self, text: str) -> None:
        self._out.write(clean(self.keys.text(text)).rstrip("\n") + "\n")
        self._out.flush()

    def _text(self, event: AgentEvent) -> None:
        match event:
            case TurnEnded(reason=TurnEnd.DONE, text=text):
                self._answer(text)
            case TurnEnded(reason=TurnEnd.REFUSED, text=text):
                if text:
                    self._answer(text)
                self._say(REFUSED)
            case TurnEnded(text=text):
                self._say(text or "Stopped.")
            case NoticeGiven():
                self._note(event)
            case RetryScheduled(attempt=attempt, attempts=attempts, seconds=seconds):
                reason = "" if event.reason == self._trouble and attempt > 1 else f"{event.reason} "
                self._trouble = event.reason
                self._say(f"{reason}Trying again in {seconds:.0f} s ({attempt} of {attempts}).")
            case _:
                return
        if isinstance(event, TurnEnded):
            for denial in event.denials:
                self._say(denial)


def run_headless(open_errand: OpenHeadless, prompt: str, output_format: OutputFormat) -> int:
    """Runs one turn and returns the exit code."""
    printer = Printer(output_format, sys.stdout, sys.stderr)
    code = asyncio.run(_run(open_errand, prompt, printer))
    if printer.is_broken:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if printer.problem:
        with suppress(OSError, ValueError):
            print(f"codeagent: Not all of the answer could be printed: {printer.problem}.", file=sys.stderr)
        return code or FAILED
    return code


async def _run(open_errand: OpenHeadless, prompt: str, printer: Printer) -> int:
    errand = await open_errand(printer.emit)
    printer.keys = KeyFilter(errand.keys)
    try:
        prompt = expand_command(prompt, errand.workbench)
        async with asyncio.TaskGroup() as tasks:
            printer.on_answer = lambda: tasks.create_task(errand.settle())
            turn = tasks.create_task(errand.conversation.send(prompt))

            def stop() -> None:
                if not turn.done():
                    tasks.create_task(errand.conversation.cancel())

            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, stop)
            ended = await turn
    finally:
        errand.close()
    return exit_code(ended.reason)


def expand_command(prompt: str, workbench: Callable[[], Workbench]) -> str:
    """The text behind a command of one's own in the first line of a prompt; raises ConfigError for any other.

    The commands of the app need its screen. What follows the first line stays below.
    """
    line, _, rest = prompt.partition("\n")
    if not is_command(line):
        return prompt
    found = workbench().custom_commands()
    for notice in found.notices:
        print(f"codeagent: {clean(notice)}", file=sys.stderr)
    name = line.split()[0].removeprefix("/")
    command = next((one for one in found.commands if one.name == name), None)
    if command is None:
        raise ConfigError(f"There is no command /{name} without a screen.", hint=_hint(name, found))
    text = CustomCall(command=command, argument=line.partition(" ")[2].strip()).text
    return f"{text}\n{rest}" if rest else text


def _hint(name: str, found: FoundCommands) -> str:
    if name in found.withheld:
        return "This project brings one, which counts once the project is trusted: codeagent trust"
    known = ", ".join(f"/{command.name}" for command in found.commands)
    where = f"Of your own there are {known}." if known else f"{found.folder / name}.md would make one."
    return f"{where} A space before the slash sends it as it is."


def exit_code(reason: TurnEnd) -> int:
    """The exit code for the end of a turn."""
    match reason:
        case TurnEnd.DONE:
            return OK
        case TurnEnd.STEP_LIMIT | TurnEnd.BUDGET:
            return LIMIT
        case TurnEnd.CANCELLED:
            return INTERRUPTED
        case TurnEnd.REFUSED | TurnEnd.ERROR:
            return FAILED
        case _:
            assert_never(reason)


def whole_prompt(prompt: str, source: TextIO) -> str:
    """The prompt with what was piped in below it; raises ConfigError when both are empty."""
    piped = read_piped(source, must_wait=not prompt).strip("\n")
    whole = f"{prompt}\n\n{piped}" if prompt and piped else prompt or piped
    if not whole.strip():
        raise ConfigError(
            "There is no prompt.", hint="Give one after -p, or pipe one in: echo 'fix the tests' | codeagent -p"
        )
    return whole


def read_piped(source: TextIO, *, must_wait: bool) -> str:
    """What comes from a pipe or file on standard input; a terminal or device gives nothing.

    A pipe that stays silent is given up after a few seconds unless ``must_wait``.
    """
    try:
        descriptor = source.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return ""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return ""
    if not must_wait and not select.select([descriptor], [], [], _PATIENCE)[0]:
        print("codeagent: standard input is open but silent; going on without it.", file=sys.stderr)
        return ""
    with os.fdopen(descriptor, "rb", closefd=False) as pipe:
        return pipe.read().decode("utf-8", errors="replace")
