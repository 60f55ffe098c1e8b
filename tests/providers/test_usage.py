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
            (chunk("a", counted(30, 2)), chunk("b", counted(0, 4)), chunk("", counted(0, 4), finish="stop"), DONE),
            Usage(input_tokens=30, output_tokens=10),
            id="what each chunk added",
        ),
        pytest.param(
            (chunk("a", counted(30, 2)), chunk("", finish="stop"), {"choices": [], "usage": counted(0, 4)}, DONE),
            Usage(input_tokens=30, output_tokens=6),
            id="what was added at the end",
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
        pytest.param(
            (*(chunk("word ", counted(9, 1)) for _ in range(5)), chunk("", finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=5),
            id="each chunk tells what it added, always the same",
        ),
        pytest.param(
            (chunk("a", counted(9, 5)), chunk("b", counted(0, 3)), chunk("c", counted(0, 4), finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=12),
            id="each chunk tells what it added, the prompt only once",
        ),
        pytest.param(
            (
                *(chunk("word ", counted(9, 1)) for _ in range(3)),
                chunk("", finish="stop"),
                {"choices": [], "usage": counted(9, 3)},
                DONE,
            ),
            Usage(input_tokens=9, output_tokens=3),
            id="each chunk tells what it added, and the end the whole",
        ),
        pytest.param(
            (
                *(chunk("word ", counted(9, count)) for count in (5, 3, 4)),
                chunk("", finish="stop"),
                {"choices": [], "usage": counted(9, 13)},
                DONE,
            ),
            Usage(input_tokens=9, output_tokens=13),
            id="what was added falls, and the end tells a whole that is more than the sum",
        ),
        pytest.param(
            (*(chunk("word ", counted(9, count)) for count in (3, 5, 9)), chunk("", finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=9),
            id="counts that only grow are the whole, as the protocol has it",
        ),
        pytest.param(
            (*(chunk("a", counted(9, 20)) for _ in range(5)), chunk("", finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=20),
            id="each chunk has the total of the end",
        ),
        pytest.param(
            ({"choices": [], "usage": counted(9, 2)}, chunk("ab"), chunk("c", counted(9, 2), finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=2),
            id="before anything is said, and once more at the end",
        ),
        pytest.param(
            (chunk("a", counted(100, 2, prompt_tokens_details={"cached_tokens": 90}), finish="stop"), DONE),
            Usage(input_tokens=10, output_tokens=2, cache_read_tokens=90),
            id="the cache within the prompt",
        ),
        pytest.param(
            (chunk("a", counted(10, 2, prompt_tokens_details={"cached_tokens": 90}), finish="stop"), DONE),
            Usage(input_tokens=10, output_tokens=2, cache_read_tokens=90),
            id="the cache beside the prompt",
        ),
        pytest.param(
            (
                chunk(
                    "a", counted(100, 2, total_tokens=192, prompt_tokens_details={"cached_tokens": 90}), finish="stop"
                ),
                DONE,
            ),
            Usage(input_tokens=100, output_tokens=2, cache_read_tokens=90),
            id="the cache beside the prompt, as only the total tells",
        ),
        pytest.param(
            (chunk("a", counted(9, 2, total_tokens=16), finish="stop"), DONE),
            Usage(input_tokens=9, output_tokens=7),
            id="thoughts that only the total tells of",
        ),
        pytest.param((chunk("a"), chunk("", finish="stop"), DONE), Usage(), id="not at all"),
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


@pytest.mark.parametrize(
    ("start", "reports", "output"),
    [
        (1, (3, 2, 4), 10),
        (1, (2, 2, 2), 7),
        (1, (3, 5, 9), 9),
        (20, (20,), 20),
        (20, (5,), 20),
        (1, (), 1),
        (0, (0, 7), 7),
    ],
)
async def test_a_message_is_counted_whether_reports_add_up_or_count_up(model_server, claude, start, reports, output):
    deltas = [
        event
        for count in reports
        for event in (
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Some words. "}},
            {"type": "message_delta", "delta": {}, "usage": {"output_tokens": count}},
        )
    ]
    model_server.reply(
        RawStream(
            chunks=data_lines(
                {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": start}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Well. "}},
                *deltas,
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                {"type": "message_stop"},
            )
        )
    )

    assert (await ask(claude)).usage == Usage(input_tokens=9, output_tokens=output)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"input_tokens": 9, "output_tokens": 2, "total_tokens": 16}, Usage(input_tokens=9, output_tokens=7)),
        (
            {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 90}},
            Usage(input_tokens=10, output_tokens=2, cache_read_tokens=90),
        ),
    ],
)
async def test_a_response_s_reasoning_and_cache_may_stand_beside_its_counts(model_server, responses, counts, expected):
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    whole = {"status": "completed", "output": [text], "usage": counts}
    model_server.reply(RawStream(chunks=data_lines({"type": "response.completed", "response": whole})))

    assert (await ask(responses)).usage == expected


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
