"""With a limit on money, no reply gets longer than what is left pays for; through the real SDKs, on every protocol."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from codeagent.agent.limits import Limits
from codeagent.agent.meter import Meter
from codeagent.agent.spending import Forecast, Spending
from codeagent.agent.summaries import Judges
from codeagent.core.events import TurnEnd
from codeagent.core.messages import AssistantMessage
from tests.agent.stage import Model, Prices, Stage, SteadyProbe, reply
from tests.agent.test_spending import Tolerant
from tests.server.replies import Call, Reply, Say, Tokens, say

READ, WRITTEN = 3 / 1_000_000, 15 / 1_000_000  # US dollars a token
KEYS = {"messages": "max_tokens", "chat": "max_tokens", "responses": "max_output_tokens"}
CUT = {"messages": "max_tokens", "chat": "length", "responses": "max_output_tokens"}


class PerToken(Prices):
    """A token read and a token written have each their price; replies have 64,000 tokens at most."""

    def output(self, model: str) -> int | None:
        return 64_000

    def cost(self, message: AssistantMessage) -> float | None:
        return message.usage.input_tokens * READ + message.usage.output_tokens * WRITTEN


def stage_with(scene, most: float | None, *tools, judges: Judges | None = None) -> Stage:
    return Stage(scene.provider, *tools, limits=Limits(max_cost=most), ledger=PerToken(), judges=judges)


def most_of(scene) -> list[int | None]:
    """The most tokens that each request let the reply have."""
    return [request.body.get(KEYS[scene.protocol]) for request in scene.server.requests]


async def test_a_reply_may_have_no_more_than_what_is_left_pays_for(scene):
    scene.server.reply(say("Short."))
    ended = await stage_with(scene, 0.1).send()
    assert ended.reason is TurnEnd.DONE
    [most] = most_of(scene)
    assert most is not None
    assert 0.09 < most * WRITTEN < 0.1


@pytest.mark.parametrize("limit", [None, 2.0])
async def test_where_the_money_pays_for_any_reply_the_request_is_as_without_a_limit(scene, limit):
    scene.server.reply(say("Fine."))
    await stage_with(scene, limit).send()
    assert most_of(scene) == [16_384 if scene.protocol == "messages" else None]


async def test_a_reply_that_the_money_cut_short_ends_the_turn_at_the_limit_not_above(scene):
    whole = Tokens(input=100, output=6_600)
    scene.server.reply(Reply(parts=(Say("As far as it goes"),), stop=CUT[scene.protocol], tokens=whole))
    stage = stage_with(scene, 0.1)
    ended = await stage.send()
    assert (ended.reason, len(scene.server.requests)) == (TurnEnd.BUDGET, 1)
    assert ended.cost is not None
    assert ended.cost <= 0.1
    assert "the limit is $0.10" in ended.text
    assert "As far as it goes" in str(stage.session.messages)


async def test_a_person_who_goes_on_gets_the_rest_of_a_reply_that_the_money_cut_short(scene):
    whole = Tokens(input=100, output=6_600)
    scene.server.reply(
        Reply(parts=(Say("As far as it goes"),), stop=CUT[scene.protocol], tokens=whole), say(" and on.")
    )
    person = Tolerant()
    ended = await stage_with(scene, 0.1, judges=Judges(approver=person)).send()
    assert (ended.reason, ended.text) == (TurnEnd.DONE, "As far as it goes and on.")
    assert len(person.asked) == 1
    assert scene.server.refusals == []


async def test_too_little_for_a_reply_of_use_is_not_spent_at_all(scene):
    ended = await stage_with(scene, 0.01).send()
    assert (ended.reason, ended.cost or 0.0, scene.server.requests) == (TurnEnd.BUDGET, 0.0, [])
    assert "the next request costs about $0.01" in ended.text


async def test_requests_with_ever_less_money_left_continue_each_other_to_the_byte(scene):
    async def look(text, progress):
        return "seen"

    looks = [Reply(parts=(Call("look", {"say": str(number)}),), tokens=Tokens(output=1_000)) for number in range(3)]
    scene.server.reply(*looks, say("Done."))
    await stage_with(scene, 0.2, SteadyProbe("look", look)).send()
    most = [one or 0 for one in most_of(scene)]
    assert len(most) == 4
    assert most == sorted(most, reverse=True)
    marks = rb',"cache_control":\{"type":"ephemeral"\}|\]?,"max_\w*tokens":\d+\}$'
    bodies = [re.sub(marks, b"", request.raw) for request in scene.server.requests]
    assert all(later.startswith(earlier.rstrip(b"]}")) for earlier, later in pairwise(bodies))
    assert scene.server.refusals == []


async def test_a_service_that_is_not_held_by_the_limit_is_still_counted_as_it_says(scene):
    scene.server.reply(Reply(parts=(Say("Long."),), tokens=Tokens(output=60_000)))
    ended = await stage_with(scene, 0.1).send()
    assert ended.usage.output_tokens == 60_000


def forecast_for(ledger: Prices, *messages) -> Forecast:
    return Forecast(ledger, Meter(lambda: messages, "", ()), Spending(ledger))


class Unknown(PerToken):
    """Nobody knows how long a reply may be."""

    def output(self, model: str) -> int | None:
        return None


@pytest.mark.parametrize(("left", "most"), [(0.3, 20_000), (0.6, None), (None, None)])
def test_where_no_length_is_known_a_server_is_not_asked_for_more_than_it_may_take(left, most):
    assert forecast_for(Unknown()).affordable("m", None, left) == most


def test_what_is_asked_for_fits_beside_the_request_in_a_small_window():
    assert forecast_for(PerToken()).affordable("m", 4_000, 0.0599) == 3_600
    assert forecast_for(PerToken()).affordable("m", 4_000, 0.0601) is None


def test_a_model_that_costs_nothing_by_length_is_asked_as_ever():
    assert forecast_for(Prices()).affordable("m", None, 0.5) is None


async def test_a_first_request_is_expected_to_be_kept_where_that_is_charged():
    class Keeping(PerToken):
        def cost(self, message: AssistantMessage) -> float | None:
            return message.usage.cache_write_tokens * 1.0

    model = Model(reply("Never said."))
    ended = await Stage(model, limits=Limits(max_cost=2.0), ledger=Keeping()).send("A question.")
    assert (ended.reason, model.requests) == (TurnEnd.BUDGET, [])


def test_what_a_summary_left_over_is_never_spent_on_a_reply_of_no_use():
    assert forecast_for(PerToken()).affordable("m", None, 0.0) == 1_024
