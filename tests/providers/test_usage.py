"""What is counted of a reply, in all the ways in which services report it, and what that costs."""

from __future__ import annotations

import pytest

from codeagent.core.messages import Usage
from codeagent.providers.catalog import Catalog
from tests.providers.conftest import ask
from tests.server.replies import RawStream, data_lines

DONE = "[DONE]"


def counted(prompt: int, completion: int, **more: object) -> dict[str, object]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion} | more


def chunk(text: str, usage: object = None, *, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}], "usage": usage}


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        pytest.param(
            (chunk("a", counted(9, 1)), chunk("b", counted(9, 2), finish="stop"), {"choices": [], "usage": None}, DONE),
            Usage(input_tokens=9, output_tokens=2),
            id="each chunk repeats the total",
        ),
        pytest.param(
            (chunk("a"), chunk("", finish="stop"), {"choices": [], "usage": counted(9, 2)}, DONE),
            Usage(input_tokens=9, output_tokens=2),
            id="in a chunk without choices",
        ),
        pytest.param(
            (chunk("a", {"prompt_tokens": 9}), chunk("", {"completion_tokens": 2}, finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=2),
            id="in parts",
        ),
        pytest.param(
            (chunk("a", counted(9, 2), finish="stop"), {"choices": [], "usage": counted(0, 0)}, DONE),
            Usage(input_tokens=9, output_tokens=2),
            id="zeros at the end",
        ),
        pytest.param(
            ({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop", "usage": counted(9, 2)}]}, DONE),
            Usage(input_tokens=9, output_tokens=2),
            id="inside the choice",
        ),
        pytest.param(
            (chunk("a", counted(9, 7, completion_tokens_details={"reasoning_tokens": 5}), finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=7),
            id="reasoning within the completion",
        ),
        pytest.param(
            (
                chunk(
                    "a",
                    counted(9, 2, total_tokens=16, completion_tokens_details={"reasoning_tokens": 5}),
                    finish="stop",
                ),
                DONE,
            ),
            Usage(input_tokens=9, output_tokens=7),
            id="reasoning beside the completion",
        ),
    ],
)
async def test_chat_servers_count_in_many_ways(model_server, chat, payloads, expected):
    model_server.reply(RawStream(chunks=data_lines(*payloads)))

    assert (await ask(chat)).usage == expected


async def test_a_message_that_is_counted_again_and_again_counts_once(model_server, claude):
    first = {"input_tokens": 9, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 11, "output_tokens": 1}
    deltas = [
        {"type": "message_delta", "delta": {}, "usage": first | {"output_tokens": 4}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 0, "output_tokens": 6},
        },
    ]
    model_server.reply(
        RawStream(
            chunks=data_lines(
                {"type": "message_start", "message": {"usage": first}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}},
                {"type": "content_block_stop", "index": 0},
                *deltas,
                {"type": "message_stop"},
            )
        )
    )

    expected = Usage(input_tokens=9, output_tokens=6, cache_read_tokens=90, cache_write_tokens=11)
    assert (await ask(claude)).usage == expected


async def test_a_response_s_reasoning_is_part_of_its_output_and_early_reports_are_not_added(model_server, responses):
    usage = {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}}
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    model_server.reply(
        RawStream(
            chunks=data_lines(
                {"type": "response.in_progress", "response": {"status": "in_progress", "usage": usage}},
                {"type": "response.output_item.done", "output_index": 0, "item": text},
                {"type": "response.completed", "response": {"status": "completed", "usage": usage}},
            )
        )
    )

    assert (await ask(responses)).usage == Usage(input_tokens=9, output_tokens=7)


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-4-5", "openai/gpt-5"])
def test_what_the_cache_served_and_stored_is_priced_apart(name):
    card = Catalog().card(name)
    assert card
    assert card.price
    price = card.price
    usage = Usage(input_tokens=1_000, output_tokens=2_000, cache_read_tokens=3_000, cache_write_tokens=4_000)
    expected = 1_000 * price.input + 2_000 * price.output + 3_000 * price.cached + 4_000 * price.stored
    assert price.of(usage) == pytest.approx(expected / 1_000_000)
    assert price.cached < price.input
