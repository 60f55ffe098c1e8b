"""Claude through the real SDK against the strict server."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from itertools import pairwise

import pytest

from codeagent.core.errors import ProviderUnavailable
from codeagent.core.messages import (
    ImageBlock,
    OpaqueBlock,
    Outcome,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.protocols import CallPiece, ModelRequest, TextPiece, ThinkingPiece, ToolSpec
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.catalog import Limits
from tests.providers.conftest import READ, ask, called, events_of, replied, result, results, said
from tests.server.replies import Call, RawStream, Redacted, Reply, Say, Stall, Think, Tokens, data_lines, say
from tests.server.scripted_server import ScriptedServer

HELLO = ModelRequest(system="You help.", messages=(said("hello"),), tools=(READ,))


def content(server: ScriptedServer, message: int = -1) -> list[dict[str, object]]:
    """The content blocks of one message of the last request."""
    blocks = server.requests[-1].messages[message]["content"]
    assert isinstance(blocks, list)
    return blocks


async def test_a_reply_comes_back_with_thinking_text_and_parallel_calls(model_server, claude):
    first, second = Call("read", {"path": "a.py"}), Call("read", {"path": "b.py"})
    model_server.reply(Reply(parts=(Think("Let me look.", "sig"), Say("Reading both."), first, second)))

    message = await ask(claude)

    assert message.blocks == (
        ThinkingBlock(text="Let me look.", signature="sig", provider="anthropic"),
        TextBlock(text="Reading both."),
        ToolCall(id=first.id, name="read", arguments_json='{"path": "a.py"}'),
        ToolCall(id=second.id, name="read", arguments_json='{"path": "b.py"}'),
    )
    assert message.stop is StopReason.TOOL_USE
    assert message.model == "anthropic/claude-test"


async def test_usage_counts_what_the_cache_served_and_stored_apart(model_server, claude):
    model_server.reply(Reply(parts=(Say("hi"),), tokens=Tokens(input=7, output=5, cache_read=90, cache_write=11)))

    message = await ask(claude)

    assert message.usage == Usage(input_tokens=7, output_tokens=5, cache_read_tokens=90, cache_write_tokens=11)


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", StopReason.END_TURN),
        ("stop_sequence", StopReason.END_TURN),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("pause_turn", StopReason.PAUSE_TURN),
        ("refusal", StopReason.REFUSAL),
        ("model_context_window_exceeded", StopReason.CONTEXT_EXCEEDED),
        ("some_new_reason", StopReason.END_TURN),
    ],
)
async def test_each_stop_reason_is_understood(model_server, claude, word, stop):
    model_server.reply(say("hi", stop=word))

    assert (await ask(claude)).stop is stop


async def test_pieces_are_shown_in_order_while_they_arrive(model_server, claude):
    model_server.reply(Reply(parts=(Think("hm", size=1), Say("abc", size=1), Call("read", {"path": "a"})), pace=0.002))

    events = [event for event in await events_of(claude, HELLO) if event != ThinkingPiece(text="")]

    assert "".join(event.text for event in events if isinstance(event, ThinkingPiece)) == "hm"
    assert "".join(event.text for event in events if isinstance(event, TextPiece)) == "abc"
    assert [event.size for event in events if isinstance(event, CallPiece)][-1] == len('{"path": "a"}')
    kinds = [event.kind for event in events if event.kind != "usage"]
    assert kinds == sorted(kinds, key=["thinking", "text", "call", "finished"].index)


async def test_a_stream_at_full_speed_is_shown_in_few_pieces(model_server, claude):
    text = "word " * 4_000
    model_server.reply(Reply(parts=(Say(text, size=5),)))

    pieces = [event for event in await events_of(claude, HELLO) if isinstance(event, TextPiece)]

    assert "".join(piece.text for piece in pieces) == text
    assert len(pieces) < 200


async def test_bytes_that_say_nothing_yet_are_a_sign_of_life(model_server, claude):
    model_server.reply(Reply(parts=(Say("late"),), fault=Stall(after=0)))

    async with aclosing(claude.stream(HELLO)) as stream:
        first = await anext(stream)

    assert first == ThinkingPiece(text="")


async def test_closing_the_iterator_ends_a_silent_request_at_once(model_server, claude):
    model_server.reply(Reply(parts=(Say("a b c"),), fault=Stall(after=1)))
    stream = claude.stream(HELLO)
    async with asyncio.timeout(5):
        await anext(stream)
        await stream.aclose()


async def test_cancelling_a_silent_request_ends_it_at_once(model_server, claude):
    model_server.reply(Reply(parts=(Say("hi"),), fault=Stall(after=-1)))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await events_of(claude, HELLO)


async def test_the_cache_is_marked_on_tools_system_and_the_last_two_user_turns(model_server, claude):
    model_server.reply(say("", Call("read", id="one")))
    history = [said("read it")]
    history.append(await ask(claude, *history))
    history.append(results(result("one")))
    await ask(claude, *history)

    body = model_server.requests[-1].body
    marker = {"type": "ephemeral"}
    assert body["tools"][-1]["cache_control"] == marker
    assert body["system"][-1]["cache_control"] == marker
    marked = ["cache_control" in message["content"][-1] for message in body["messages"]]
    assert marked == [True, False, True]
    assert model_server.refusals == []


async def test_earlier_bytes_never_change_but_for_the_markers(model_server, claude):
    history = [said("one")]
    for turn in range(4):
        model_server.reply(say(f"Reply {turn} é.", Call("read", {"path": f"{turn}.py"}, id=f"id{turn}")))
        history.append(await ask(claude, *history))
        history.append(results(result(f"id{turn}", f"text {turn}")))

    marker = b',"cache_control":{"type":"ephemeral"}'
    bodies = [request.raw.replace(marker, b"").removesuffix(b"]}") for request in model_server.requests]
    assert all(later.startswith(earlier) for earlier, later in pairwise(bodies))
    assert model_server.refusals == []


async def test_tools_are_sent_in_the_given_order(model_server, claude):
    tools = [ToolSpec(name=name, description=name, schema_json=READ.schema_json) for name in ("write", "bash", "ls")]

    await ask(claude, tools=tools)

    assert [tool["name"] for tool in model_server.requests[-1].body["tools"]] == ["write", "bash", "ls"]


async def test_thinking_goes_back_with_its_signature(model_server, claude):
    thinking = ThinkingBlock(text="Hm.", signature="sig", provider="anthropic")
    redacted = OpaqueBlock(provider="anthropic", payload_json='{"type":"redacted_thinking","data":"xyz"}')

    await ask(claude, said("go"), replied(thinking, redacted, called()), results(result()))

    assert content(model_server, 1)[:2] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
    assert model_server.refusals == []


async def test_redacted_thinking_is_kept_as_it_came(model_server, claude):
    model_server.reply(Reply(parts=(Redacted("opaque"), Say("hi"))))

    message = await ask(claude)
    await ask(claude, said("hello"), message, said("more"))

    assert content(model_server, 1)[0] == {"type": "redacted_thinking", "data": "opaque"}
    assert model_server.refusals == []


async def test_thinking_of_another_provider_or_without_signature_is_left_out(model_server, claude):
    foreign = ThinkingBlock(text="Hm.", signature="reasoning_content", provider="openai-chat/x")
    cut_off = ThinkingBlock(text="Well", provider="anthropic")
    opaque = OpaqueBlock(provider="openai", payload_json='{"type":"reasoning"}')

    await ask(claude, said("go"), replied(foreign, cut_off, opaque, "Done."), said("more"))

    assert content(model_server, 1) == [{"type": "text", "text": "Done."}]
    assert model_server.refusals == []


async def test_images_reach_the_model_in_prompts_and_results(model_server, claude):
    image = ImageBlock(media_type="image/png", data="aGk=", name="a.png")
    seen = ToolResult(call_id="call_1", blocks=(image,))

    await ask(claude, UserMessage(blocks=(TextBlock(text="look"), image)), replied(called()), results(seen))

    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert content(model_server, 0)[1] == {"type": "image", "source": source, "cache_control": {"type": "ephemeral"}}
    assert content(model_server, 2)[0]["content"] == [{"type": "image", "source": source}]
    assert model_server.refusals == []


async def test_failed_results_are_marked_as_errors(model_server, claude):
    failed = result(text="No such file", outcome=Outcome.FAILED)

    await ask(claude, said("go"), replied(called()), results(failed))

    assert content(model_server)[0]["is_error"] is True


async def test_adaptive_thinking_is_asked_for_where_the_model_takes_it(model_server):
    provider = AnthropicProvider("m", "key", model_server.url, Limits(max_output=64_000, thinks=True))

    await ask(provider)
    await provider.aclose()

    body = model_server.requests[-1].body
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["max_tokens"] == 64_000


async def test_the_request_may_set_its_own_output_limit(model_server, claude):
    await events_of(claude, ModelRequest(system="", messages=(said("hi"),), tools=(), max_tokens=321))

    body = model_server.requests[-1].body
    assert body["max_tokens"] == 321
    assert "system" not in body
    assert "tools" not in body


async def test_a_base_url_with_the_version_in_it_works_too(model_server):
    provider = AnthropicProvider("m", "key", f"{model_server.url}/v1/")

    await ask(provider)
    await provider.aclose()

    assert model_server.requests[-1].path == "/v1/messages"


async def test_a_compatible_server_may_send_whole_input_no_indexes_and_no_usage(model_server, claude):
    block = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "ä"}}
    model_server.reply(
        RawStream(
            chunks=data_lines(
                {"type": "message_start", "message": {}},
                {"type": "content_block_start", "content_block": block},
                {"type": "content_block_stop"},
                {"type": "something_new", "x": 1},
                {"type": "message_stop"},
            )
        )
    )

    message = await ask(claude)

    assert json.loads(message.calls[0].arguments_json) == {"path": "ä"}
    assert message.stop is StopReason.TOOL_USE
    assert message.usage == Usage()


async def test_a_call_without_arguments_has_an_empty_object(model_server, claude):
    model_server.reply(say("", Call("read", "")))

    assert (await ask(claude)).calls[0].arguments_json == "{}"


async def test_a_call_cut_off_before_its_arguments_has_none(model_server, claude):
    model_server.reply(say("", Call("read", ""), stop="max_tokens"))

    assert (await ask(claude)).calls[0].arguments_json == ""


async def test_an_event_that_is_no_json_is_worth_another_try(model_server, claude):
    model_server.reply(RawStream(chunks=(b"data: {oops\n\n",)))

    with pytest.raises(ProviderUnavailable, match="not JSON"):
        await ask(claude)


async def test_a_request_without_tools_names_those_that_the_history_used(model_server, claude):
    await ask(
        claude, said("go"), replied(called(name="read"), called("b", "a b")), results(result(), result("b")), tools=()
    )

    body = model_server.requests[-1].body
    assert [tool["name"] for tool in body["tools"]] == ["a_b", "read"]
    assert body["tool_choice"] == {"type": "none"}
    assert model_server.refusals == []
