"""What the tools have in common that work on one file or folder: they say which, and run beside calls on others."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from codeagent.core.approvals import Access, Touch
from codeagent.core.protocols import Interruption, ToolContext
from codeagent.tools.left_out import RuleAgainst, no_rule
from codeagent.workspace.paths import PathSandbox


class NamesPath(Protocol):
    """Arguments that name a file or folder."""

    path: str


Named = TypeVar("Named", bound=NamesPath)


class PathTool(Generic[Named]):
    """A tool that changes one file."""

    Arguments: type[Named]
    access = Access.WRITE

    def __init__(self, sandbox: PathSandbox) -> None:
        self._sandbox = sandbox

    def label(self, arguments: object) -> str:
        """The path."""
        return arguments.path if isinstance(arguments, self.Arguments) else ""

    def is_concurrency_safe(self, arguments: object) -> bool:
        """It touches one path."""
        return isinstance(arguments, self.Arguments)

    def touches(self, arguments: Named, context: ToolContext) -> tuple[Touch, ...]:
        """The file or folder; raises PathRefused."""
        del context
        return (self._sandbox.resolve(arguments.path, self.access),)


class LookingTool(PathTool[Named]):
    """A tool that only looks; ``rule_against`` tells which rule stands against reading a file."""

    access = Access.READ

    def __init__(self, sandbox: PathSandbox, rule_against: RuleAgainst = no_rule) -> None:
        super().__init__(sandbox)
        self._rule_against = rule_against

    def is_read_only(self, arguments: object) -> bool:
        """Always."""
        return isinstance(arguments, self.Arguments)

    def interruption(self, arguments: object) -> Interruption:
        """Nothing is lost when it is cancelled."""
        return Interruption.CANCEL if isinstance(arguments, self.Arguments) else Interruption.BLOCK
