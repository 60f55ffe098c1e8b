"""What the model is told of a call that did not do its work: what happened, and what would work."""

from __future__ import annotations

from dataclasses import replace

from codeagent.agent.phases import Halt, Phase
from codeagent.core.errors import JournalError, ToolError
from codeagent.core.messages import MADE_WAY, Outcome, TextBlock, ToolCall, ToolResult
from codeagent.core.protocols import Denied


def failed(call: ToolCall, error: ToolError) -> ToolResult:
    """The tool could not do what was asked, and says why."""
    return _result(call, str(error), Outcome.FAILED, error.code)


def faulty(call: ToolCall, fault: Exception, phase: Phase) -> ToolResult:
    """A bug ended the call."""
    so_far = "What it did until then stays." if phase is Phase.RUNNING else "Nothing was done."
    text = f"A fault of the program, not of your arguments, ended {call.name}: {fault!r}. {so_far}"
    return _result(call, text, Outcome.INTERNAL, "INTERNAL")


def disabled(call: ToolCall) -> ToolResult:
    """The tool rests after too many failures."""
    text = f"{call.name} failed three times in a row and is switched off for now. Go on without it, or ask."
    return _result(call, text, Outcome.DISABLED, "DISABLED")


def denied(call: ToolCall, denial: Denied) -> ToolResult:
    """The gate or a hook said no; what the person typed is passed on."""
    says = f"The person says: {denial.feedback}" if denial.feedback else "Do not reach for the same end another way."
    return _result(call, f"Not run: {denial.reason}\n{says}", Outcome.DENIED, "DENIED")


def not_followed(held: ToolResult, what: str, reason: str, feedback: str = "") -> ToolResult:
    """What a call came to when the offer at its end was not taken up."""
    says = f" The person says: {feedback}" if feedback else ""
    return replace(held, blocks=(*held.blocks, TextBlock(text=f"[It was not {what}: {reason}{says}]")))


def timed_out(call: ToolCall, seconds: float, shown: str) -> ToolResult:
    """The call's time was over; ``shown`` is the end of its output until then."""
    text = f"{call.name} was ended: it took longer than {seconds:g} s. What it did until then stays.{_output(shown)}"
    return _result(call, text, Outcome.TIMED_OUT, "TIMEOUT")


def halted(call: ToolCall, why: Halt, phase: Phase, shown: str) -> ToolResult:
    """The call made way in some phase; ``shown`` is the end of its output until then."""
    if phase is Phase.WAITING and why is Halt.STEERED:
        text = f"Not run: {why}. Read that first; make the call again if it still makes sense."
        return _result(call, text, Outcome.SKIPPED, "SKIPPED")
    if phase is Phase.WAITING:
        return _result(call, f"Not run: {why}.", Outcome.CANCELLED, "ABORTED_BEFORE_DISPATCH")
    code = MADE_WAY if why is Halt.STEERED else "ABORTED"
    if phase is Phase.RUNNING:
        text = f"Ended before it was done: {why}. What it did until then stays.{_output(shown)}"
        return _result(call, text, Outcome.CANCELLED, code)
    return _result(call, f"Nothing was done: {why}.", Outcome.CANCELLED, code)


def not_recorded(call: ToolCall, error: JournalError) -> ToolResult:
    """The call may have done its work, but its result could not be written down."""
    return _result(call, f"The result could not be recorded: {error}", Outcome.INTERNAL, "NOT_RECORDED")


def unknown(call: ToolCall) -> ToolResult:
    """The program ended while the call was under way."""
    text = f"{call.name} was interrupted before it reported anything; what it did until then is not known."
    return _result(call, text, Outcome.CANCELLED, "ABORTED")


def _output(shown: str) -> str:
    return f"\nOutput until then:\n{shown}" if shown.strip() else ""


def _result(call: ToolCall, text: str, outcome: Outcome, code: str) -> ToolResult:
    return ToolResult(call_id=call.id, blocks=(TextBlock(text=text),), outcome=outcome, code=code)
