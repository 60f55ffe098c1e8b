"""A session that talks to a scripted service through a real SDK, with a tool whose runs leave a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeagent.agent.history import restore
from codeagent.agent.limits import Limits
from codeagent.core.events import HistoryAppended, TurnEnd
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.agent.stage import Stage, SteadyProbe
from tests.server.replies import say

PATIENT = Limits(retries=2, retry_seconds=0.001, longest_pause=0.01)
PROTOCOLS: Mapping[str, type[AnthropicProvider | OpenAIChatProvider | OpenAIProvider]] = {
    "messages": AnthropicProvider,
    "chat": OpenAIChatProvider,
    "responses": OpenAIProvider,
}


@dataclass
class Scene:
    """A session with a live provider, and a tool whose runs leave a trace."""

    protocol: str
    server: object
    provider: object
    notes: list[str] = field(default_factory=list[str])

    def stage(self, *tools: object, limits: Limits = PATIENT, gate: object = None) -> Stage:
        async def write_down(text, progress):
            self.notes.append(text)
            return "noted"

        return Stage(self.provider, SteadyProbe("note", write_down), *tools, limits=limits, gate=gate)

    async def is_well(self, stage: Stage) -> None:
        """The next turn works, no request was one that a service would refuse, and disk and memory agree."""
        assert self.server.is_played_out
        self.server.reply(say("Still here."))
        after = await stage.send("And now?")
        assert (after.reason, after.text) == (TurnEnd.DONE, "Still here.")
        assert self.server.refusals == []
        assert restore(stage.journal.events) == stage.session.messages
        assert tuple(event.message for event in stage.of(HistoryAppended)) == stage.session.messages
