"""Every error the program raises on purpose, as one tree.

::

    CodeagentError                what went wrong, and a hint that says what to do next
    ├── ConfigError               a setting, flag or rule that cannot be used
    │   └── NoModel               no model was chosen, or its key is missing
    ├── ProviderError             the model service failed (may say: try again)
    │   ├── ProviderUnavailable   busy, unreachable, broken off: worth another try
    │   ├── ProviderRejected      the request was refused: trying again changes nothing
    │   └── ContextOverflow       the history no longer fits the model's window
    ├── SummaryRefused            the history is too long, and the person wants no summary of it
    ├── JournalError              the session's record cannot be written or read
    │   └── NoSuchSession         no session, or more than one, is what was named
    ├── NotOpened             what had to be answered before the session opens was not
    ├── SessionBusy               another process, or another turn, is using the session
    ├── CheckpointError           the state of the files cannot be kept or found again
    │   └── NothingToUndo         there is no change to take back, or to bring back
    └── ToolError                 a tool cannot do what was asked; read by the model
        ├── BadArguments          the arguments do not fit the tool's schema
        ├── UnknownTool           no tool of that name
        ├── PathRefused           the path sandbox says no
        ├── FileProblem           missing, unreadable, binary, special, too large, disk full
        ├── Unread                the model has not seen what it wants to change
        ├── StaleFile             the file is no longer what the plan was made from
        ├── EditRefused           an edit whose place or result is not certain
        │   ├── NoMatch           the old text is nowhere
        │   └── ManyMatches       the old text is in several places
        ├── CommandProblem        a command that cannot be started
        └── PlanFixed             this plan can not be narrowed or edited
"""

from __future__ import annotations


def reason_of(error: Exception) -> str:
    """What went wrong, in words for people: of an error of the system its text without the number and the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class CodeagentError(Exception):
    """Anything that can go wrong and has been thought of.

    ``str(error)`` is one or more plain sentences; ``hint`` says what to do next
    and may be empty.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        between = "\n" if "\n" in self.message else " "
        return f"{self.message}{between}{self.hint}".strip()


class ConfigError(CodeagentError):
    """A setting, flag or rule that cannot be used."""


class NoModel(ConfigError):
    """No model was chosen and none can be guessed, or the chosen one has no key."""

    WAYS = "codeagent config set-key anthropic keeps a key; or set ANTHROPIC_API_KEY, or name a --model."
    """What to do where no screen offers it, and nothing nearer is known."""


class ProviderError(CodeagentError):
    """The model service failed."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        most_retries: int | None = None,
        said: str = "",
    ) -> None:
        """``status`` is the HTTP status if there was one, ``retry_after`` is in seconds.

        Trying more often than ``most_retries`` has little hope; None leaves it to the settings.
        ``said`` are the service's own words, of which the message quotes the beginning.
        """
        super().__init__(message, hint=hint)
        self.said = said or message
        self.status = status
        self.retry_after = retry_after
        self.most_retries = most_retries


class ProviderUnavailable(ProviderError):
    """Busy, unreachable or broken off: the same request is worth another try."""


class ProviderRejected(ProviderError):
    """The service refused the request; trying again changes nothing."""


class ContextOverflow(ProviderError):
    """The history no longer fits the model's context window."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, window: int | None = None, said: str = ""
    ) -> None:
        """``window`` is its size in tokens where the service named it."""
        super().__init__(message, hint=hint, status=status, said=said)
        self.window = window


class SummaryRefused(CodeagentError):
    """The history no longer fits the model's window, and the person wants no summary in its place."""


class JournalError(CodeagentError):
    """The session's record cannot be written or read."""


class NoSuchSession(JournalError):
    """No session, or more than one, is what was named."""


class NotOpened(CodeagentError):
    """A question that had to be answered before the session could be opened was closed without an answer."""


class SessionBusy(CodeagentError):
    """Another process or another turn is using the session."""


class CheckpointError(CodeagentError):
    """The state of the files cannot be kept or found again."""


class NothingToUndo(CheckpointError):
    """There is no change to take back, or to bring back."""


class UndoStopped(CheckpointError):
    """The person stopped it before any file was changed."""


class ToolError(CodeagentError):
    """A tool cannot do what was asked; the text goes to the model.

    ``code`` is stable and is what scripts may rely on.
    """

    code = "TOOL_FAILED"


class BadArguments(ToolError):
    """The arguments do not fit the tool's schema."""

    code = "BAD_ARGUMENTS"


class UnknownTool(ToolError):
    """No tool of that name."""

    code = "UNKNOWN_TOOL"


class PathRefused(ToolError):
    """The path sandbox says no, whatever anyone answers."""

    code = "PATH_REFUSED"


class FileProblem(ToolError):
    """The file is missing, unreadable, binary, special or too large, or the disk is full."""

    code = "FILE_PROBLEM"


class Unread(ToolError):
    """The model has not seen what it wants to change."""

    code = "UNREAD"


class StaleFile(ToolError):
    """The file is no longer what the plan was made from."""

    code = "STALE"


class EditRefused(ToolError):
    """An edit whose place or result is not certain; nothing was changed."""

    code = "EDIT_REFUSED"


class NoMatch(EditRefused):
    """The old text is nowhere in the file."""

    code = "NO_MATCH"


class ManyMatches(EditRefused):
    """The old text is in several places."""

    code = "MANY_MATCHES"


class CommandProblem(ToolError):
    """A command that cannot be started."""

    code = "COMMAND_PROBLEM"


class PlanFixed(ToolError):
    """This plan can not be narrowed to hunks, or not be edited."""

    code = "PLAN_FIXED"
