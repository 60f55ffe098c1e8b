"""OpenAI's Responses protocol through the real SDK against the strict server."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from codeagent.core.errors import ContextOverflow, ProviderRejected, ProviderUnavailable
from codeagent.core.messages import (
    ImageBlock,
    OpaqueBlock,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.protocols import ModelRequest
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.providers.conftest import READ, ask, called, events_of, replied, result, results, said
from tests.server.replies import Call, RawStream, Refuse, Reply, Say, Think, Tokens, data_lines, say

REASONING = {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": "secret"}


def items(server, **wanted):
    return [
        item
        for item in server.requests[-1].body["input"]
        if all(item.get(key) == value for key, value in wanted.items())
    ]


async def test_a_reply_comes_back_with_reasoning_text_and_parallel_calls(model_server, responses):
    first, second = Call("read", {"path": "a.py"}), Call("read", {"path": "b.py"})
    model_server.reply(Reply(parts=(Think("Let me look.", "secret"), Say("Reading both."), first, second)))

    message = await ask(responses)

    thinking, reasoning, *rest = message.blocks
    assert thinking == ThinkingBlock(text="Let me look.", provider="openai/gpt-test")
    assert isinstance(reasoning, OpaqueBlock)
    assert json.loads(reasoning.payload_json)["encrypted_content"] == "secret"
    assert rest == [
        TextBlock(text="Reading both."),
        ToolCall(id=first.id, name="read", arguments_json='{"path": "a.py"}'),
        ToolCall(id=second.id, name="read", arguments_json='{"path": "b.py"}'),
    ]
    assert message.stop is StopReason.TOOL_USE
    assert message.model == "openai/gpt-test"


async def test_reasoning_goes_back_as_it_came_and_nothing_is_stored(model_server, responses):
    model_server.reply(Reply(parts=(Think("Hm.", "secret"), Call("read", id="c1"))))
    history = [said("go")]
    history.append(await ask(responses, *history))
    history.append(results(result("c1")))

    await ask(responses, *history)

    assert items(model_server, type="reasoning")[0]["encrypted_content"] == "secret"
    assert model_server.requests[-1].body["store"] is False
    assert model_server.refusals == []


async def test_reasoning_without_what_it_led_to_or_of_another_model_is_left_out(model_server, responses):
    own = OpaqueBlock(provider="openai/gpt-test", payload_json=json.dumps(REASONING))
    other = OpaqueBlock(provider="openai/gpt-other", payload_json=json.dumps(REASONING))

    await ask(responses, said("go"), replied("Done.", own), said("more"), replied(other, "Yes."), said("and"))

    assert items(model_server, type="reasoning") == []
    assert model_server.refusals == []


async def test_usage_takes_cached_tokens_out_of_the_input(model_server, responses):
    model_server.reply(Reply(parts=(Say("hi"),), tokens=Tokens(input=7, output=5, cache_read=90, cache_write=11)))

    usage = (await ask(responses)).usage

    assert usage == Usage(input_tokens=7, output_tokens=5, cache_read_tokens=90, cache_write_tokens=11)


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        (None, StopReason.END_TURN),
        ("max_output_tokens", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("model_context_window_exceeded", StopReason.CONTEXT_EXCEEDED),
        ("some_new_reason", StopReason.MAX_TOKENS),
    ],
)
async def test_each_reason_to_stop_is_understood(model_server, responses, word, stop):
    model_server.reply(say("hi", stop=word))

    assert (await ask(responses)).stop is stop


async def test_the_system_prompt_limit_and_tools_are_sent(model_server, responses):
    await events_of(responses, ModelRequest(system="You help.", messages=(said("hi"),), tools=(READ,), max_tokens=77))

    body = model_server.requests[-1].body
    assert (body["instructions"], body["max_output_tokens"]) == ("You help.", 77)
    assert body["tools"][0]["name"] == "read"


async def test_images_reach_the_model_in_prompts_and_results(model_server, responses):
    image = ImageBlock(media_type="image/png", data="aGk=")
    seen = ToolResult(call_id="call_1", blocks=(TextBlock(text="a.png"), image))

    await ask(responses, UserMessage(blocks=(TextBlock(text="look"), image)), replied(called()), results(seen))

    shown = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}
    assert items(model_server, role="user")[0]["content"][1] == shown
    assert items(model_server, type="function_call_output")[0]["output"][1] == shown
    assert model_server.refusals == []


async def test_earlier_bytes_never_change(model_server, responses):
    history = [said("one")]
    for turn in range(4):
        model_server.reply(Reply(parts=(Think("Hm", f"s{turn}"), Say(f"é {turn}"), Call("read", id=f"id{turn}"))))
        history.append(await ask(responses, *history))
        history.append(results(result(f"id{turn}", f"text {turn}")))

    bodies = [request.raw.removesuffix(b"]}") for request in model_server.requests]
    assert all(later.startswith(earlier) for earlier, later in pairwise(bodies))
    assert model_server.refusals == []


async def test_the_phase_of_a_text_goes_back_with_it(model_server, responses):
    item = {"type": "message", "role": "assistant", "phase": "commentary", "content": [{"text": "Looking."}]}
    model_server.reply(
        RawStream(
            chunks=data_lines(
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": {}},
            )
        )
    )

    message = await ask(responses)
    await ask(responses, said("go"), message, said("more"))

    assert message.text == "Looking."
    assert items(model_server, role="assistant") == [
        {"role": "assistant", "content": "Looking.", "phase": "commentary"}
    ]
    assert model_server.refusals == []


async def test_a_model_that_does_not_reason_is_not_asked_about_it(model_server, responses):
    model_server.reply(
        Refuse(status=400, message="Unsupported parameter: 'reasoning.summary' is not supported with this model."),
        Refuse(status=400, message="Encrypted content is not supported with this model."),
    )

    await ask(responses)

    assert {"reasoning", "include"}.isdisjoint(model_server.requests[-1].body)


async def test_any_other_refusal_is_told_at_once(model_server, responses):
    model_server.reply(Refuse(status=400, message="No."))

    with pytest.raises(ProviderRejected, match="No"):
        await ask(responses)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", ProviderUnavailable),
        ("rate_limit_exceeded", ProviderUnavailable),
        ("invalid_prompt", ProviderRejected),
        ("context_length_exceeded", ContextOverflow),
    ],
)
async def test_a_response_that_fails_is_told_with_its_reason(model_server, responses, code, kind):
    failed = {"type": "response.failed", "response": {"error": {"code": code, "message": "So it is"}}}
    model_server.reply(RawStream(chunks=data_lines(failed)))

    with pytest.raises(kind, match="So it is"):
        await ask(responses)


async def test_an_error_without_an_envelope_is_understood(model_server, responses):
    error = {"type": "error", "code": "server_error", "message": "Sorry"}
    model_server.reply(RawStream(chunks=data_lines(error)))

    with pytest.raises(ProviderUnavailable, match="Sorry"):
        await ask(responses)


@pytest.mark.parametrize("make", [OpenAIProvider, OpenAIChatProvider])
async def test_openai_itself_is_told_which_requests_begin_alike_and_no_other_server_is(make):
    def request(system: str, *texts: str) -> ModelRequest:
        return ModelRequest(system=system, messages=tuple(map(said, texts)), tools=())

    own, other = make("gpt", "key"), make("gpt", "key", "http://127.0.0.1:1/v1")
    asked = [request("You help.", "one"), request("You help.", "one", "two"), request("You do not.", "one")]
    keys = [json.loads(await own.body(each))["prompt_cache_key"] for each in asked]
    assert keys[0] == keys[1] != keys[2]
    assert "prompt_cache_key" not in json.loads(await other.body(asked[0]))
