"""A model that plays a script instead of thinking: for the demo and for trying things out without a key.

A script is JSON lines, one reply each: ``{"say": text, "denied": text, "calls":
[{"name", "arguments"}], "delay": seconds}``. All keys may be missing; ``denied``
is said instead when a call of the reply before was denied, or skipped because the
person said something; ``delay`` is the wait before the reply.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.errors import ConfigError, reason_of
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import AssistantBlock, AssistantMessage, Outcome, StopReason, TextBlock, ToolCall, Usage
from codeagent.core.protocols import CallPiece, ModelEvent, ModelRequest, ReplyFinished, TextPiece
from codeagent.core.text import storable
from codeagent.providers.sse import as_object, as_text, parse_object

PREFIX = "scripted"
CLOSING_TEXT = "That is the end of the script."
NATURAL_PACE = 0.03
_PIECE = 8
_KEYS = frozenset({"say", "denied", "calls", "delay"})
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call of a script; the arguments are sent as written."""

    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedStep:
    """One reply of a script; ``delay`` in seconds before it, ``denied`` in place of ``say`` after a denial."""

    say: str = ""
    denied: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    delay: float = 0.0


class ScriptedProvider:
    """Plays its steps one after the other, then only says that the script is over.

    ``pace`` is in seconds between two pieces of text; 0 plays at full speed. So many
    steps were ``played`` before.
    """

    def __init__(
        self, steps: Sequence[ScriptedStep], *, name: str = "script", pace: float = NATURAL_PACE, played: int = 0
    ) -> None:
        self._steps = list(steps)
        self._name = name
        self._pace = pace
        self._played = played
        self._calls = 0

    @classmethod
    def from_file(cls, path: Path, *, pace: float = NATURAL_PACE, played: int = 0) -> ScriptedProvider:
        """Reads the script; raises ConfigError naming the line that cannot be used."""
        return cls(read_script(path), name=str(path), pace=pace, played=played)

    @property
    def model(self) -> str:
        """Its name in the form that ``--model`` takes."""
        return f"{PREFIX}/{self._name}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Streams the next step of the script."""
        step = self._steps[self._played] if self._played < len(self._steps) else ScriptedStep(say=CLOSING_TEXT)
        self._played += 1
        if step.denied and _was_kept_back(request):
            step = replace(step, say=step.denied)
        await asyncio.sleep(step.delay)
        for start in range(0, len(step.say), _PIECE):
            yield TextPiece(text=step.say[start : start + _PIECE])
            await asyncio.sleep(self._pace)
        for call in step.calls:
            yield CallPiece(name=call.name, size=len(call.arguments_json))
            await asyncio.sleep(self._pace)
        yield ReplyFinished(message=self._message(step, request))

    async def aclose(self) -> None:
        """There is nothing to close."""

    def _message(self, step: ScriptedStep, request: ModelRequest) -> AssistantMessage:
        blocks: list[AssistantBlock] = [TextBlock(text=step.say)] if step.say else []
        taken = {call.id for message in request.messages if message.kind == "assistant" for call in message.calls}
        blocks += [
            ToolCall(id=self._next_id(taken), name=call.name, arguments_json=call.arguments_json) for call in step.calls
        ]
        written = len(step.say) + sum(len(call.arguments_json) for call in step.calls)
        return AssistantMessage(
            blocks=tuple(blocks),
            stop=StopReason.TOOL_USE if step.calls else StopReason.END_TURN,
            model=self.model,
            usage=Usage(output_tokens=-(-written // _CHARACTERS_PER_TOKEN)),
        )

    def _next_id(self, taken: set[str]) -> str:
        while True:
            self._calls += 1
            if (chosen := f"call_{self._calls}") not in taken:
                return chosen


def _was_kept_back(request: ModelRequest) -> bool:
    """Whether the person or a rule said no to a call of the reply before, or new words came first."""
    latest = next((message for message in reversed(request.messages) if message.kind == "results"), None)
    return latest is not None and any(result.outcome in {Outcome.DENIED, Outcome.SKIPPED} for result in latest.results)


def read_script(path: Path) -> list[ScriptedStep]:
    """The steps of a script file; raises ConfigError naming the line that cannot be used."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The script {path} cannot be read: {reason_of(error)}.") from error
    return [_step(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def _step(line: str, where: str) -> ScriptedStep:
    step = parse_object(line)
    if step is None:
        raise ConfigError(f"{where} is not a JSON object.")
    if unknown := sorted(step.keys() - _KEYS):
        raise ConfigError(f"{where} has an unknown key: {unknown[0]}.", hint="Known are say, denied, calls and delay.")
    say, denied = step.get("say", ""), step.get("denied", "")
    calls, delay = step.get("calls", []), step.get("delay", 0)
    if not isinstance(say, str) or not isinstance(denied, str) or not isinstance(calls, list):
        raise ConfigError(f"{where}: say and denied are texts and calls is a list.")
    if isinstance(delay, bool) or not isinstance(delay, int | float) or delay < 0:
        raise ConfigError(f"{where}: delay is a number of seconds.")
    return ScriptedStep(
        say=storable(say),
        denied=storable(denied),
        calls=tuple(_scripted_call(as_object(call), where) for call in calls),
        delay=delay,
    )


def _scripted_call(call: JsonObject, where: str) -> ScriptedCall:
    name = as_text(call.get("name"))
    if not name:
        raise ConfigError(f"{where}: a call needs a name.")
    arguments: JsonValue = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(name=name, arguments_json=storable(text))
