"""Chat Completions through the real SDK against the strict server, and what odd servers send."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from codeagent.core.errors import ProviderRejected, ProviderUnavailable
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
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.providers.conftest import READ, ask, called, events_of, replied, result, results, said
from tests.server.replies import Call, RawStream, Refuse, Reply, Say, Think, Tokens, data_lines, say

DONE = "[DONE]"


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def calling(**fields: object) -> dict[str, object]:
    return delta(tool_calls=[fields])


def odd(*payloads: object) -> RawStream:
    return RawStream(chunks=data_lines(*payloads))


async def test_an_empty_event_says_nothing(model_server, chat):
    model_server.reply(odd(delta(content="hi"), None, delta(finish="stop"), DONE))

    assert (await ask(chat)).text == "hi"


async def test_a_reply_comes_back_with_thinking_text_and_parallel_calls(model_server, chat):
    first, second = Call("read", {"path": "a.py"}), Call("read", {"path": "b.py"})
    model_server.reply(Reply(parts=(Think("Let me look."), Say("Reading both."), first, second)))

    message = await ask(chat)

    assert message.blocks == (
        ThinkingBlock(text="Let me look.", signature="reasoning_content", provider="openai-chat/chat-test"),
        TextBlock(text="Reading both."),
        ToolCall(id=first.id, name="read", arguments_json='{"path": "a.py"}'),
        ToolCall(id=second.id, name="read", arguments_json='{"path": "b.py"}'),
    )
    assert message.stop is StopReason.TOOL_USE
    assert message.model == "openai-chat/chat-test"


async def test_usage_takes_cached_tokens_out_of_the_prompt(model_server, chat):
    model_server.reply(Reply(parts=(Say("hi"),), tokens=Tokens(input=7, output=5, cache_read=90, cache_write=11)))

    usage = (await ask(chat)).usage

    assert usage == Usage(input_tokens=7, output_tokens=5, cache_read_tokens=90, cache_write_tokens=11)


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("eos", StopReason.END_TURN),
    ],
)
async def test_each_finish_reason_is_understood(model_server, chat, word, stop):
    model_server.reply(say("hi", stop=word))

    assert (await ask(chat)).stop is stop


async def test_calls_with_the_finish_reason_stop_are_calls_all_the_same(model_server, chat):
    model_server.reply(say("", Call("read"), stop="stop"))

    assert (await ask(chat)).stop is StopReason.TOOL_USE


async def test_a_missing_finish_reason_and_usage_are_forgiven_when_the_stream_says_done(model_server, chat):
    model_server.reply(odd(delta(content="hi"), DONE))

    message = await ask(chat)

    assert (message.text, message.stop, message.usage) == ("hi", StopReason.END_TURN, Usage())


async def test_a_missing_done_is_forgiven_when_there_was_a_finish_reason(model_server, chat):
    model_server.reply(odd(delta(content="hi"), delta(finish="stop")))

    assert (await ask(chat)).text == "hi"


async def test_silence_after_the_finish_reason_does_not_cost_the_reply(model_server, chat):
    model_server.reply(RawStream(chunks=data_lines(delta(content="hi"), delta(finish="stop")), stalls=True))

    assert (await ask(chat)).text == "hi"
    assert (await ask(chat)).text
    assert len(model_server.requests) == 2


async def test_pings_after_the_finish_reason_do_not_hold_the_reply_for_ever(model_server, chat):
    end = data_lines({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})
    model_server.reply(RawStream(chunks=(*end, *[b": ping\n\n"] * 1_000), pace=0.05))

    assert (await ask(chat)).text == "hi"
    assert not model_server.answered_at


async def test_text_after_the_finish_reason_is_part_of_the_reply(model_server, chat):
    late = ({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]} for text in ("One ", "and ", "two."))
    model_server.reply(RawStream(chunks=data_lines(*late, "[DONE]")))

    assert (await ask(chat)).text == "One and two."


async def test_calls_without_ids_get_different_ones(model_server, chat):
    function = {"name": "read", "arguments": "{}"}
    model_server.reply(odd(calling(index=0, function=function), calling(index=1, function=function), DONE))

    ids = [call.id for call in (await ask(chat)).calls]

    assert len(set(ids)) == 2
    assert all(ids)


async def test_calls_without_indexes_are_told_apart_by_id(model_server, chat):
    model_server.reply(
        odd(
            calling(id="a", function={"name": "read", "arguments": '{"path":'}),
            calling(function={"arguments": '"x"}'}),
            calling(id="b", function={"name": "ls", "arguments": "{}"}),
            DONE,
        )
    )

    calls = (await ask(chat)).calls

    assert [(call.id, call.name, call.arguments_json) for call in calls] == [
        ("a", "read", '{"path":"x"}'),
        ("b", "ls", "{}"),
    ]


async def test_calls_that_all_have_index_zero_are_told_apart_by_id(model_server, chat):
    model_server.reply(
        odd(
            calling(index=0, id="a", function={"name": "read", "arguments": '{"n":1}'}),
            calling(index=0, id="b", function={"name": "read", "arguments": '{"n":2}'}),
            DONE,
        )
    )

    assert [call.arguments_json for call in (await ask(chat)).calls] == ['{"n":1}', '{"n":2}']


async def test_a_name_and_id_repeated_in_every_chunk_are_one_call(model_server, chat):
    model_server.reply(
        odd(
            calling(index=0, id="a", function={"name": "read", "arguments": '{"pa'}),
            calling(index=0, id="a", function={"name": "read", "arguments": 'th":1}'}),
            DONE,
        )
    )

    calls = (await ask(chat)).calls

    assert [(call.name, call.arguments_json) for call in calls] == [("read", '{"path":1}')]


async def test_arguments_that_come_as_an_object_are_understood(model_server, chat):
    model_server.reply(odd(calling(index=0, id="a", function={"name": "read", "arguments": {"path": "é"}}), DONE))

    assert json.loads((await ask(chat)).calls[0].arguments_json) == {"path": "é"}


async def test_an_id_used_in_the_history_is_not_used_again(model_server, chat):
    model_server.reply(say("", Call("read", id="call_0")))
    history = [said("go"), replied(called("call_0")), results(result("call_0"))]

    history.append(await ask(chat, *history))
    history.append(results(result(history[-1].calls[0].id)))
    await ask(chat, *history)

    assert model_server.refusals == []


async def test_thinking_is_read_under_either_name_and_as_a_list(model_server, chat):
    listed = [{"type": "thinking", "thinking": [{"type": "text", "text": "c"}]}, {"type": "text", "text": "d"}]
    model_server.reply(odd(delta(reasoning_content="a"), delta(reasoning="b"), delta(content=listed), DONE))

    thinking, _, text = (await ask(chat)).blocks

    assert (thinking.text, text.text) == ("abc", "d")


async def test_a_server_that_does_not_stream_is_understood(model_server, chat):
    whole = {
        "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    model_server.reply(RawStream(chunks=(json.dumps(whole).encode(),), content_type="application/json"))

    message = await ask(chat)

    assert (message.text, message.usage) == ("hi", Usage(input_tokens=3, output_tokens=2))


async def test_comments_and_lines_cut_anywhere_do_not_matter(model_server, chat):
    stream = b": processing\r\n\r\n" + b"".join(data_lines(delta(content="gr\u00fc\u2028n"), DONE))
    model_server.reply(RawStream(chunks=tuple(bytes([byte]) for byte in stream)))

    assert (await ask(chat)).text == "gr\u00fc\u2028n"


async def test_two_halves_of_a_character_in_two_chunks_are_one(model_server, chat):
    model_server.reply(
        RawStream(
            chunks=data_lines(delta(content="a\ud83d"), delta(content="\ude00b"), delta(content="\ud83d"), DONE),
            pace=0.01,
        )
    )

    events = await events_of(chat, ModelRequest(system="", messages=(said("hi"),), tools=()))

    assert events[-1].message.text == "a\U0001f600b\ufffd"
    shown = "".join(event.text for event in events if event.kind == "text")
    assert shown == "a\U0001f600b"


async def test_thinking_goes_back_with_calls_and_only_to_the_model_that_made_it(model_server, chat):
    own = ThinkingBlock(text="Hm.", signature="reasoning_content", provider="openai-chat/chat-test")
    foreign = ThinkingBlock(text="Hm.", signature="sig", provider="anthropic")
    opaque = OpaqueBlock(provider="anthropic", payload_json='{"type":"redacted_thinking","data":"x"}')

    await ask(
        chat,
        said("go"),
        replied(own, called("a")),
        results(result("a")),
        replied(foreign, opaque, called("b")),
        results(result("b")),
    )

    sent = [message for message in model_server.requests[-1].messages if message["role"] == "assistant"]
    assert sent[0]["reasoning_content"] == "Hm."
    assert sent[1].keys() == {"role", "content", "tool_calls"}
    assert model_server.refusals == []


async def test_items_of_reasoning_and_signatures_on_calls_go_back_as_they_came(model_server, chat):
    function = {"name": "read", "arguments": "{}"}
    signed = {"google": {"thought_signature": "c2ln"}}
    model_server.reply(
        odd(
            delta(reasoning="H", reasoning_details=[{"type": "reasoning.text", "text": "H", "index": 0}]),
            delta(reasoning="m", reasoning_details=[{"type": "reasoning.text", "text": "m", "index": 0}]),
            delta(reasoning_details=[{"type": "reasoning.text", "signature": "s", "index": 0}]),
            delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "x", "index": 1}]),
            calling(index=0, id="a", function=function, extra_content=signed),
            calling(index=1, id="b", function=function),
            DONE,
        )
    )
    message = await ask(chat)
    assert message.blocks[0].text == "Hm"

    await ask(chat, said("go"), message, results(result("a"), result("b")))
    other = OpenAIChatProvider("other", "key", model_server.openai_url)
    await ask(other, said("go"), message, results(result("a"), result("b")))
    await other.aclose()

    own, foreign = (request.messages[2] for request in model_server.requests[1:])
    assert own["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Hm", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "data": "x", "index": 1},
    ]
    assert [call.get("extra_content") for call in own["tool_calls"]] == [signed, None]
    assert "reasoning" not in own
    assert foreign.keys() == {"role", "content", "tool_calls"}
    assert [call.keys() for call in foreign["tool_calls"]] == [{"id", "type", "function"}] * 2
    assert model_server.refusals == []


@pytest.mark.parametrize("word", ["error", "abort", "insufficient_system_resource"])
async def test_a_reply_that_the_server_gave_up_is_worth_another_try(model_server, chat, word):
    model_server.reply(say("Half", stop=word))

    with pytest.raises(ProviderUnavailable):
        await ask(chat)


async def test_images_in_results_follow_as_the_users(model_server, chat):
    image = ImageBlock(media_type="image/png", data="aGk=")
    seen = ToolResult(call_id="call_1", blocks=(TextBlock(text="a.png"), image))

    await ask(chat, said("look"), replied(called()), results(seen), said("And?"))

    tool, user = model_server.requests[-1].messages[-2:]
    assert tool["content"] == "a.png"
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text"]
    assert user["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert model_server.refusals == []


async def test_prompts_of_text_alone_are_sent_as_plain_strings(model_server, chat):
    await ask(chat, UserMessage(blocks=(TextBlock(text='one "quoted"'), TextBlock(text="two"))), said("three"))

    assert model_server.requests[-1].messages[-1]["content"] == 'one "quoted"\n\ntwo\n\nthree'


async def test_earlier_bytes_never_change(model_server, chat):
    history = [said("one")]
    for turn in range(4):
        model_server.reply(say(f"Reply {turn} é.", Call("read", {"path": f"{turn}.py"}, id=f"id{turn}")))
        history.append(await ask(chat, *history))
        history.append(results(result(f"id{turn}", f"text {turn}")))

    bodies = [request.raw.removesuffix(b"]}") for request in model_server.requests]
    assert all(later.startswith(earlier) for earlier, later in pairwise(bodies))
    assert model_server.refusals == []


async def test_a_server_without_stream_options_is_asked_without_them_from_then_on(model_server, chat):
    model_server.reply(Refuse(status=422, message="Extra inputs are not permitted: stream_options"))

    await ask(chat)
    await ask(chat)

    assert ["stream_options" in request.body for request in model_server.requests] == [True, False, False]


async def test_a_model_that_takes_tools_only_without_reasoning_is_asked_so(model_server, chat):
    model_server.reply(
        Refuse(status=400, message="Function tools with reasoning_effort are not supported for gpt-6-sol.")
    )

    await ask(chat)

    assert model_server.requests[-1].body["reasoning_effort"] == "none"


async def test_a_refusal_that_the_other_form_does_not_cure_is_told(model_server, chat):
    model_server.reply(*[Refuse(status=400, message="reasoning_effort: unsupported value")] * 2)

    with pytest.raises(ProviderRejected, match="unsupported value"):
        await ask(chat)

    assert len(model_server.requests) == 2


async def test_the_output_limit_has_the_name_that_the_server_knows(model_server, chat):
    model_server.reply(Refuse(status=400, message="Use 'max_completion_tokens' instead."))
    request = ModelRequest(system="", messages=(said("hi"),), tools=(READ,), max_tokens=99)

    await events_of(chat, request)

    assert model_server.requests[0].body["max_tokens"] == 99
    assert model_server.requests[1].body["max_completion_tokens"] == 99


async def test_a_local_server_needs_no_key(model_server):
    provider = OpenAIChatProvider("local", "", model_server.openai_url)

    await ask(provider)
    await provider.aclose()

    assert model_server.refusals == []


async def test_openai_itself_needs_a_key():
    with pytest.raises(ProviderRejected, match="OPENAI_API_KEY"):
        await ask(OpenAIChatProvider("gpt-6-sol", ""))
