"""Every command that can be typed after a slash, in one table: completion, palette, help and README come from it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from codeagent.core.custom_commands import CustomCommand
from codeagent.core.errors import CodeagentError
from codeagent.core.values import value


class CommandName(StrEnum):
    """The commands there are."""

    HELP = "help"
    MODE = "mode"
    NEW = "new"
    RESUME = "resume"
    MODEL = "model"
    EFFORT = "effort"
    THEME = "theme"
    UNDO = "undo"
    REDO = "redo"
    REWIND = "rewind"
    DIFF = "diff"
    COMPACT = "compact"
    PIN = "pin"
    UNPIN = "unpin"
    CONTEXT = "context"
    COST = "cost"
    FORK = "fork"
    RENAME = "rename"
    EXPORT = "export"
    PERMISSIONS = "permissions"
    TOOLS = "tools"
    TRUST = "trust"
    INIT = "init"
    JOBS = "jobs"
    COPY = "copy"
    EDITOR = "editor"
    DOCTOR = "doctor"
    QUIT = "quit"


@value
class Command:
    """One command; ``argument`` names what may follow it, in capitals, or is empty.

    One that ``waits`` is carried out when no turn is under way, all others at once.
    """

    name: CommandName
    summary: str
    argument: str = ""
    waits: bool = False

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"/{self.name} {self.argument}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command(name=CommandName.HELP, summary="All keys and commands"),
    Command(name=CommandName.MODE, summary="How much happens without a question", argument="MODE"),
    Command(name=CommandName.NEW, summary="Start a new session; this one is saved", waits=True),
    Command(
        name=CommandName.RESUME, summary="Go on with an older session of this workspace", argument="ID", waits=True
    ),
    Command(
        name=CommandName.MODEL,
        summary="Go on with another model, listed or not",
        argument="NAME",
    ),
    Command(
        name=CommandName.EFFORT,
        summary="How hard the model thinks: low, medium, high or default",
        argument="LEVEL",
    ),
    Command(name=CommandName.THEME, summary="Colours; without a name a list shows each live", argument="NAME"),
    Command(name=CommandName.UNDO, summary="Show the agent's last change of files and take it back", waits=True),
    Command(name=CommandName.REDO, summary="Bring back what was last taken back", waits=True),
    Command(name=CommandName.REWIND, summary="Go back to before a message: conversation, files or both", waits=True),
    Command(
        name=CommandName.DIFF,
        summary="What was changed here; WHAT is last, a turn or branch",
        argument="WHAT",
    ),
    Command(
        name=CommandName.COMPACT,
        summary="Make room: sum up, keeping FOCUS above all",
        argument="FOCUS",
    ),
    Command(
        name=CommandName.PIN,
        summary="Keep word for word when room is made: @FILE:10-40, a text, or a message from the list",
        argument="WHAT",
    ),
    Command(name=CommandName.UNPIN, summary="Take a pin away", argument="WHAT"),
    Command(name=CommandName.CONTEXT, summary="What fills the model's window, and how to free it"),
    Command(name=CommandName.COST, summary="Tokens and money, of the session and of each turn"),
    Command(
        name=CommandName.FORK,
        summary="Go on with a copy of this session, from here or from before a message",
        waits=True,
    ),
    Command(name=CommandName.RENAME, summary="Give this session a title", argument="TITLE"),
    Command(
        name=CommandName.EXPORT,
        summary="Write this session, without secrets, to a .md, .html or .json file",
        argument="FILE",
    ),
    Command(
        name=CommandName.PERMISSIONS,
        summary="The rules, to change; or what they say to a command",
        argument="COMMAND",
    ),
    Command(name=CommandName.TOOLS, summary="What the model can do, tool by tool"),
    Command(
        name=CommandName.TRUST, summary="Decide anew about what the project brings along, in a new session", waits=True
    ),
    Command(
        name=CommandName.INIT, summary="Let the model look at the project and write or mend its AGENTS.md", waits=True
    ),
    Command(name=CommandName.JOBS, summary="What runs: calls and background jobs, with a stop for each"),
    Command(name=CommandName.COPY, summary="Copy the last answer"),
    Command(name=CommandName.EDITOR, summary="Write the prompt in $EDITOR"),
    Command(name=CommandName.DOCTOR, summary="Check terminal, key, model, git and sandbox"),
    Command(name=CommandName.QUIT, summary="Leave; the session is saved"),
)


WAITING = frozenset(command.name for command in COMMANDS if command.waits)
"""The commands that are carried out when no turn is under way."""


class NoSuchCommand(CodeagentError):
    """What was typed after the slash is no command, or could be several."""


class NotReady(CodeagentError):
    """A command that cannot be carried out just now."""


@value
class CommandCall:
    """A command as it was typed, with the rest of its line."""

    name: CommandName
    argument: str = ""

    @property
    def text(self) -> str:
        """The line that it was."""
        return f"/{self.name} {self.argument}".rstrip()


@value
class CustomCall:
    """A command of the person's or the project's own as it was typed, with the rest of its line."""

    command: CustomCommand
    argument: str = ""

    @property
    def text(self) -> str:
        """What is sent."""
        return self.command.text(self.argument)


def is_command(text: str) -> bool:
    """Whether a prompt is meant as a command: one line, a slash, and no second slash as a path would have."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return text.startswith("/") and "\n" not in text.strip() and "/" not in word[1:]


def parse_command(text: str, custom: Sequence[CustomCommand] = ()) -> CommandCall | CustomCall:
    """The command in ``text``; the beginning of a name is enough when no other begins so. Raises NoSuchCommand.

    No ``custom`` command can take a name, or the beginning of one, from those of the table.
    """
    word, _, argument = text.strip().removeprefix("/").partition(" ")
    argument = argument.strip()
    fitting = [command.name for command in COMMANDS if command.name == word]
    own = [command for command in custom if command.name == word]
    if not fitting and not own:
        fitting = matching(word)
        own = [] if fitting else [command for command in custom if command.name.startswith(word)]
    if word and len(fitting) == 1:
        return CommandCall(name=fitting[0], argument=argument)
    if word and len(own) == 1:
        return CustomCall(command=own[0], argument=argument)
    if word and (fitting or own):
        names = [*map(str, fitting), *(command.name for command in own)]
        raise NoSuchCommand(f"/{word} could be {' or '.join(f'/{name}' for name in names)}.")
    raise NoSuchCommand(f"There is no command /{word}.", hint="Typing / lists them all.")


def is_compaction(text: str) -> bool:
    """Whether the text of a turn is ``/compact``, with or without a focus: then nothing was said."""
    return text.partition(" ")[0] == f"/{CommandName.COMPACT}" and "\n" not in text


def matching(start: str) -> list[CommandName]:
    """The commands whose name begins with ``start``, in the table's order."""
    return [command.name for command in COMMANDS if command.name.startswith(start)]
