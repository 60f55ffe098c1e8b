"""What a session has to pay for: whole replies, replies that broke off, and what nobody counted."""

from __future__ import annotations

import asyncio
import re

import pytest

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.limits import Limits
from codeagent.agent.meter import tokens_of
from codeagent.agent.session import before
from codeagent.agent.summaries import Judges
from codeagent.core.approvals import ApprovalRequest, Approve
from codeagent.core.errors import ProviderUnavailable
from codeagent.core.events import NoticeGiven, TextStreamed, TurnEnd, UsageReported
from codeagent.core.messages import AssistantMessage, StopReason, Unpriced, Usage
from codeagent.core.protocols import ReplyFinished, TextPiece, UsagePiece
from tests.agent.stage import Model, Prices, Probe, Stage, call, reply

HALF = Usage(input_tokens=10, output_tokens=1)
WHOLE = Usage(input_tokens=10, output_tokens=5)
LIMITS = Limits(retries=3, retry_seconds=0.001)


class Tariff(Prices):
    """A dollar a token, ten of another model's."""

    def cost(self, message: AssistantMessage) -> float | None:
        return message.usage.context_tokens * (10.0 if message.model == "played/dear" else 1.0)


async def breaking_off(request):
    yield TextPiece(text="Half")
    yield UsagePiece(usage=Usage(input_tokens=10))
    yield UsagePiece(usage=HALF)
    raise ProviderUnavailable("The reply broke off.")


async def whole(request):
    yield UsagePiece(usage=HALF)
    yield UsagePiece(usage=WHOLE)
    yield ReplyFinished(message=reply("Done.", usage=WHOLE))


async def test_an_attempt_that_failed_is_paid_for_once_with_its_last_count():
    stage = Stage(Model(breaking_off, breaking_off, whole), limits=LIMITS, ledger=Tariff())
    ended = await stage.send()
    assert [event.usage for event in stage.of(UsageReported)] == [HALF, HALF, WHOLE]
    assert (ended.usage, ended.cost) == (HALF + HALF + WHOLE, 37.0)


async def test_attempts_that_all_failed_are_paid_for():
    stage = Stage(Model(breaking_off, breaking_off), limits=Limits(retries=1, retry_seconds=0.001), ledger=Tariff())
    ended = await stage.send()
    assert (ended.usage, ended.cost) == (HALF + HALF, 22.0)


async def test_a_stopped_reply_is_paid_for():
    async def endless(request):
        yield UsagePiece(usage=HALF)
        yield TextPiece(text="Half")
        await asyncio.Event().wait()

    stage = Stage(Model(endless), ledger=Tariff())
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda event: isinstance(event, TextStreamed))
    await stage.session.cancel()
    ended = await turn
    assert (ended.usage, ended.cost) == (HALF, 11.0)


async def test_what_a_service_does_not_count_is_estimated_and_said_so():
    async def uncounted(request):
        yield ReplyFinished(message=AssistantMessage(blocks=reply("Fine.").blocks, stop=reply("Fine.").stop))

    stage = Stage(Model(uncounted), ledger=Tariff())
    ended = await stage.send("A question of some length.")
    assert ended.usage.is_estimate
    assert ended.usage.input_tokens > 0
    assert ended.usage.output_tokens > 0
    assert ended.cost


async def test_each_reply_has_the_price_of_the_model_that_gave_it():
    dear = AssistantMessage(blocks=reply("Hm.").blocks, stop=reply("Hm.").stop, model="played/dear", usage=WHOLE)
    stage = Stage(Model(reply("Done.", usage=WHOLE), dear), ledger=Tariff())
    first, second = await stage.send(), await stage.send()
    assert (first.cost, second.cost) == (15.0, 150.0)
    assert stage.of(UsageReported)[-1].cost == 165.0


class Tolerant:
    """A person who goes on at every limit."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> Approve:
        self.asked.append(request)
        return Approve()


async def test_a_person_may_go_on_without_a_price_and_is_asked_once():
    person = Tolerant()
    model = Model(reply("Once."), reply("And again."))
    stage = Stage(model, limits=Limits(max_cost=2.0), ledger=Prices(None), judges=Judges(approver=person))
    assert [(await stage.send()).text for _ in range(2)] == ["Once.", "And again."]
    [question] = person.asked
    assert "No price is known for played/one" in question.preview.text


class Mixed(Prices):
    """A dollar a reply; one model has no price."""

    def cost(self, message: AssistantMessage) -> float | None:
        return None if message.model == "played/free" else 1.0


FREE = AssistantMessage(blocks=reply("Free.").blocks, stop=StopReason.END_TURN, model="played/free", usage=WHOLE)
UNPRICED = (Unpriced(model="played/free", tokens=15),)


async def test_what_is_known_of_the_cost_is_held_to_the_limit_after_a_reply_without_a_price():
    stage = Stage(Model(FREE, reply("One."), reply("Two.")), limits=Limits(max_cost=2.0), ledger=Mixed())
    assert [(await stage.send()).reason for _ in range(4)] == [TurnEnd.DONE] * 3 + [TurnEnd.BUDGET]


async def test_what_has_no_price_stands_beside_the_cost_by_model():
    stage = Stage(Model(reply("One."), FREE, FREE, reply("Two.")), ledger=Mixed())
    ends = [await stage.send() for _ in range(4)]
    assert [(ended.cost, ended.unpriced) for ended in ends] == [
        (1.0, ()),
        (None, UNPRICED),
        (None, UNPRICED),
        (1.0, ()),
    ]
    twice = (Unpriced(model="played/free", tokens=30),)
    sums = [(event.cost, event.unpriced) for event in stage.of(UsageReported)]
    assert sums == [(1.0, ()), (1.0, UNPRICED), (1.0, twice), (2.0, twice)]


async def test_a_resumed_session_knows_what_had_no_price():
    stage = Stage(Model(FREE, reply("One.")), ledger=Mixed())
    await stage.send()
    await stage.send()
    resumed = Stage(Model(reply("Two."), FREE), ledger=Mixed(), before=before(stage.journal.events, Bookmarks()))
    await resumed.send()
    await resumed.send()
    last = resumed.of(UsageReported)[-1]
    assert (last.cost, last.unpriced) == (2.0, (Unpriced(model="played/free", tokens=30),))


async def test_a_limit_says_once_what_it_cannot_count():
    stage = Stage(Model(FREE), ledger=Mixed())
    await stage.send()
    past = before(stage.journal.events, Bookmarks())
    limits = Limits(max_cost=5.0)
    resumed = Stage(Model(reply("One."), reply("Two.")), limits=limits, ledger=Mixed(), before=past)
    await resumed.send()
    await resumed.send()
    [notice] = resumed.of(NoticeGiven)
    assert notice.text == "The limit of $5.00 cannot count 15 tokens of played/free without a price."


async def test_who_went_on_without_a_price_is_not_told_again():
    model, limits = Model(reply("Once."), reply("And again.")), Limits(max_cost=2.0)
    stage = Stage(model, limits=limits, ledger=Prices(None), judges=Judges(approver=Tolerant()))
    await stage.send()
    await stage.send()
    assert stage.of(NoticeGiven) == []


async def test_a_resumed_session_counts_what_it_cost_before():
    stage = Stage(Model(reply("One."), reply("Two.")), limits=Limits(max_cost=2.0))
    await stage.send()
    past = before(stage.journal.events, Bookmarks())
    resumed = Stage(Model(reply("Two."), reply("Three.")), limits=Limits(max_cost=2.0), before=past)
    assert [(await resumed.send()).reason for _ in range(2)] == [TurnEnd.DONE, TurnEnd.BUDGET]


class PerToken(Prices):
    """A million tokens cost $3 read, $0.30 read once more, $3.75 kept, $15 written."""

    def cost(self, message: AssistantMessage) -> float | None:
        used = message.usage
        read = used.input_tokens * 3 + used.cache_read_tokens * 0.3 + used.cache_write_tokens * 3.75
        return (read + used.output_tokens * 15) / 1_000_000


DEAR = Usage(input_tokens=100_000, output_tokens=10_000)
"""45 cents."""


def looks(*usages: Usage) -> Model:
    return Model(*(reply("", call(f"c{number}", "look"), usage=usage) for number, usage in enumerate(usages)))


async def look(say, progress):
    return "seen"


@pytest.mark.parametrize(("most", "requests"), [(0.4, 1), (1.0, 2), (1.3, 2), (1.5, 3)])
async def test_a_request_that_would_pass_the_limit_is_not_made(most, requests):
    model = looks(*[DEAR] * 9)
    stage = Stage(model, Probe("look", look), limits=Limits(max_cost=most), ledger=PerToken())
    ended = await stage.send()
    assert (ended.reason, len(model.requests)) == (TurnEnd.BUDGET, requests)
    assert "the limit is $" in ended.text
    assert "--max-cost" in ended.text


async def test_what_the_service_keeps_is_expected_at_its_own_price():
    first = Usage(cache_write_tokens=100_000, output_tokens=100)
    later = Usage(cache_read_tokens=100_000, cache_write_tokens=200, output_tokens=100)
    model = looks(first, later, later, later)
    stage = Stage(model, Probe("look", look), limits=Limits(max_cost=0.46), ledger=PerToken())
    ended = await stage.send()
    assert (ended.reason, len(model.requests)) == (TurnEnd.BUDGET, 3)
    assert ended.cost is not None
    assert ended.cost < 0.45


async def test_a_person_is_asked_before_a_request_that_would_pass_the_limit():
    person, model = Tolerant(), looks(*[DEAR] * 2)
    model.steps.append(reply("Done.", usage=DEAR))
    judges = Judges(approver=person)
    stage = Stage(model, Probe("look", look), limits=Limits(max_cost=1.0), ledger=PerToken(), judges=judges)
    assert (await stage.send()).text == "Done."
    [question] = person.asked
    text = "The session has cost $0.90; the next request costs about $0.48, and the limit is $1.00."
    assert question.preview.text == f"{text}\nGo on for $1.00 more?"


async def test_what_is_asked_for_covers_the_next_request():
    person, model = Tolerant(), Model(reply("Read.", usage=Usage(input_tokens=250_000)))
    ledger, judges = PerToken(), Judges(approver=person)
    stage = Stage(model, limits=Limits(max_cost=0.05), ledger=ledger, judges=judges)
    assert (await stage.send("word " * 175_000)).text == "Read."
    [question] = person.asked
    wanted = re.search(r"costs about \$([\d.]+), .*\nGo on for \$([\d.]+) more\?", question.preview.text)
    assert wanted is not None
    assert 0.05 < float(wanted[1]) <= float(wanted[2]) <= float(wanted[1]) + 0.01


async def test_what_is_told_to_cost_is_the_message_as_it_is_sent_without_its_middle():
    person, model = Tolerant(), Model(reply("Read.", usage=Usage(input_tokens=5_000)))
    ledger = PerToken()
    ledger.size = 9_000
    stage = Stage(model, limits=Limits(max_cost=0.0001), ledger=ledger, judges=Judges(approver=person))
    await stage.send("word " * 175_000)
    [question] = person.asked
    [request] = model.requests
    wanted = re.search(r"costs about \$([\d.]+),", question.preview.text)
    assert wanted is not None
    sent = sum(map(tokens_of, request.messages))
    least = ledger.cost(reply("", usage=Usage(cache_write_tokens=sent, output_tokens=1_024)))
    assert float(wanted[1]) == pytest.approx(least, rel=0.1)
