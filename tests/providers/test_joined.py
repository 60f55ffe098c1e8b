"""Long histories: what is joined once must be what would be joined anew."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import nullcontext

import pytest

from codeagent.core.messages import Message
from codeagent.core.protocols import ModelRequest
from codeagent.providers.anthropic import AnthropicProvider, MessagesDialect
from codeagent.providers.history import EncodedHistory
from codeagent.providers.joined import JoinedMessages
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.benchmarks.steps import counted_steps
from tests.providers.conftest import READ, called, replied, result, results, said


async def body(provider, messages: list[Message]) -> bytes:
    return await provider.body(ModelRequest(system="s", messages=messages, tools=()))


def more(numbers: random.Random, turn: int) -> list[Message]:
    """A few messages such as a session brings, the odd ones too."""
    kinds = [
        [said(f"say {turn}"), replied("well")],
        [replied(called(f"c{turn}")), results(result(f"c{turn}"))],
        [replied(called(f"c{turn}")), said("stop")],
        [replied(""), said("again")],
        [replied(called("same")), results(result("same"))],
        [replied("one"), replied("two")],
    ]
    return numbers.choice(kinds)


@pytest.mark.parametrize("make", [AnthropicProvider, OpenAIChatProvider, OpenAIProvider])
@pytest.mark.parametrize("seed", range(4))
async def test_a_growing_and_sometimes_compacted_history_is_sent_as_if_it_were_new(make, seed):
    numbers = random.Random(seed)
    provider = make("m", "k", "http://x")
    messages: list[Message] = [said("go")]
    for turn in range(150):
        if numbers.random() < 0.02:
            messages[: len(messages) // 2] = [said("summary")]
        if numbers.random() < 0.02:
            del messages[numbers.randrange(1, len(messages) + 1) :]
        messages += more(numbers, turn)

        sent = await body(provider, messages)

        if numbers.random() < 0.1:
            assert sent == await body(make("m", "k", "http://x"), messages)
    assert await body(provider, messages) == await body(make("m", "k", "http://x"), messages)


async def test_messages_far_back_are_not_written_again():
    written = 0

    def write(turn):
        nonlocal written
        written += 1
        return turn.parts

    joined = JoinedMessages(write)
    history = EncodedHistory(MessagesDialect())
    messages: list[Message] = []
    for turn in range(500):
        messages += [said(f"{turn}"), replied("ok")]
        joined.join(history.encode([*messages, said("and")]))

    assert written < 500 * 50


async def test_what_was_joined_is_kept_in_memory_once():
    provider = AnthropicProvider("m", "k", "http://x")
    messages: list[Message] = [said("go")]
    for turn in range(200):
        messages += [replied(called(f"c{turn}")), results(result(f"c{turn}"))]
        await body(provider, messages)
    held = [one for one in provider._encoder.history._said if one.parts]
    assert len(provider._encoder.history._said) > 400
    assert len(held) < 60


@pytest.mark.parametrize("make", [AnthropicProvider, OpenAIChatProvider, OpenAIProvider])
async def test_a_request_late_in_a_long_session_takes_no_more_steps_than_an_early_one(make):
    provider = make("m", "k", "http://x")
    messages: list[Message] = [said("go")]
    taken: dict[int, int] = {}
    for turn in range(2_000):
        messages += [replied(called(f"c{turn}")), results(result(f"c{turn}"))]
        is_counted = turn % 1_000 >= 700  # so many that what is joined for good now and then counts in both
        with counted_steps() if is_counted else nullcontext(Counter()) as steps:
            await provider.body(ModelRequest(system="s", messages=tuple(messages), tools=(READ,)))
        taken[turn // 1_000] = taken.get(turn // 1_000, 0) + steps["line"]
    assert taken[0] > 0
    assert taken[1] <= taken[0] * 1.02


async def test_services_that_take_turns_each_go_on_with_what_they_have_encoded():
    makes = (AnthropicProvider, OpenAIChatProvider, OpenAIProvider)
    clients = [make("m", "k", "http://x") for make in makes]
    messages: list[Message] = [said("go")]
    taken: dict[int, int] = {}
    for turn in range(600):
        messages += [replied(called(f"c{turn}")), results(result(f"c{turn}"))]
        at = turn % 3
        with counted_steps() if turn % 300 >= 210 else nullcontext(Counter()) as steps:
            clients[at] = makes[at]("m", "k", "http://x", before=clients[at])
            sent = await clients[at].body(ModelRequest(system="s", messages=tuple(messages), tools=(READ,)))
        taken[turn // 300] = taken.get(turn // 300, 0) + steps["line"]
        if turn in {3, 4, 5, 200, 201, 202}:
            new = makes[at]("m", "k", "http://x")
            assert sent == await new.body(ModelRequest(system="s", messages=messages, tools=(READ,)))
    assert taken[0] > 0
    assert taken[1] <= taken[0] * 1.02


async def test_a_client_of_another_model_takes_nothing_over():
    one = OpenAIChatProvider("one", "k", "http://x")
    other = OpenAIChatProvider("other", "k", "http://x", before=one)
    assert other.encoder is not one.encoder
    assert OpenAIChatProvider("one", "k", "http://elsewhere", before=one).encoder is one.encoder
