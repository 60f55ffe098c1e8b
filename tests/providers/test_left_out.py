"""What a service refuses to be sent is left out, and the session goes on; through the real SDKs, on every protocol."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.errors import ProviderError, ProviderRejected
from codeagent.core.events import HistoryAppended, NoticeGiven, TurnEnd
from codeagent.core.images import image_block, image_type
from codeagent.core.messages import ImageBlock, OpaqueBlock, Outcome, TextBlock, ThinkingBlock, ToolResult, UserMessage
from codeagent.core.protocols import ModelRequest, NoticePiece
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.anthropic_reply import PROVIDER
from codeagent.providers.catalog import Limits as Wanted
from codeagent.providers.left_out import LeftOut, Taken
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from codeagent.store.records import Record, decode_record, encode_record
from tests.agent.stage import Stage
from tests.benchmarks.steps import counted_steps
from tests.providers.conftest import ask, called, events_of, replied, result, results, said
from tests.server.replies import RawStream, Refuse, data_lines, say

SHOT = ImageBlock(media_type="image/png", data="aGk=", name="shot.png")
PLAN = ImageBlock(media_type="image/png", data="aG8=", name="plan.png")
LOOK = UserMessage(blocks=(SHOT, TextBlock(text="look")))
READ = ToolResult(call_id="call_1", blocks=(TextBlock(text="plan.png"), PLAN))
HISTORY = (LOOK, replied(called()), results(READ))

TAKES_NONE = [
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (500, "Failed to parse messages: Unsupported content[].type"),
    (400, "model does not support multimodal requests"),
    (400, "This model does not support images. Use a model with vision."),
    (400, "At most 0 image(s) may be provided in one request."),
    (404, "No endpoints found that support image input"),
    (422, "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`"),
    (400, "messages[1].content must be a string"),
    (400, "'claude-2.1' does not support image input."),
]
REFUSES_ONE = [
    (400, "Could not process image"),
    (400, "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5412348 bytes > 5242880 bytes"),
    (415, "Invalid image format. Supported formats: png, jpeg, gif, webp"),
    (413, "request_too_large"),
    (400, "Provider returned error"),
]


def takes_no_images(server, status: int, message: str) -> None:
    server.will_not_take = {SHOT.data.encode(): (status, message), PLAN.data.encode(): (status, message)}


def notices(events) -> list[str]:
    return [event.text for event in events if isinstance(event, NoticePiece)]


@pytest.mark.parametrize(("status", "message"), TAKES_NONE)
async def test_a_model_without_images_is_asked_once_more_without_them(model_server, provider, status, message):
    takes_no_images(model_server, status, message)
    model_server.reply(say("I cannot see it."), say("Still here."))

    events = await events_of(provider, ModelRequest(system="", messages=HISTORY, tools=()))
    after = await ask(provider, *HISTORY, replied("I cannot see it."), said("go on"), tools=())

    assert notices(events) == [
        f"{provider.model} does not take images: the images of this session are left out of what it is sent."
    ]
    assert after.text == "Still here."
    assert len(model_server.requests) == 3
    sent = model_server.requests[-1].raw.decode()
    assert "[image shot.png left out: the model does not take images]" in sent
    assert "[image plan.png left out: the model does not take images]" in sent


async def test_requests_without_the_images_stay_the_same_to_the_byte(model_server, chat):
    takes_no_images(model_server, *TAKES_NONE[0])
    await ask(chat, *HISTORY)
    await ask(chat, *HISTORY, replied("Ok."), said("go on"))
    _, first, second = (request.raw for request in model_server.requests)
    assert second.startswith(first.removesuffix(b"]}"))


@pytest.mark.parametrize(("status", "message"), REFUSES_ONE)
async def test_one_refused_image_does_not_take_the_others_with_it(model_server, provider, status, message):
    await ask(provider, LOOK, tools=())
    model_server.will_not_take = {PLAN.data.encode(): (status, message)}

    events = await events_of(provider, ModelRequest(system="", messages=HISTORY, tools=()))

    (notice,) = notices(events)
    assert notice == (
        f"The service refused an image, so it is left out of what {provider.model} is sent: plan.png. "
        f"It said: {message}."
    )
    sent = model_server.requests[-1].raw.decode()
    assert SHOT.data in sent
    assert "[image plan.png left out: the service refused it]" in sent


def png(width: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + (20).to_bytes(4, "big")


def jpeg(width: int) -> bytes:
    """Behind as much as a camera and a colour profile may put before the size."""
    beforehand = b"\xff\xe2\xff\xff" + b"x" * 65_533
    return b"\xff\xd8" + beforehand * 3 + b"\xff\xc0\0\x0b\x08\0\x14" + width.to_bytes(2, "big") + b"\x03"


def gif(width: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + b"\x14\0"


def webp(width: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0" + b"\0" * 4 + (width - 1).to_bytes(3, "little") + b"\x13\0\0"


def sized(name: str, width: int, *, size: int = 100, head=png) -> ImageBlock:
    data = head(width).ljust(size, b"\0")
    return image_block(data, image_type(data), name)


PIXELS = "messages.0.content.2.image.source.base64.data: image dimensions exceed max allowed size: 2000 pixels"


@pytest.mark.parametrize(
    ("message", "head"),
    [
        *((PIXELS, head) for head in (png, jpeg, gif, webp)),
        ("image exceeds 1 MB maximum: 1200000 bytes > 1048576 bytes", png),
    ],
)
async def test_of_several_images_that_came_together_the_one_beyond_the_named_size_is_left_out(
    model_server, provider, message, head
):
    good = (sized("a.png", 64, head=head), sized("sp ace.png", 2_000, head=head))
    bad = sized("wide.png", 2_001, size=900_000, head=head)
    model_server.will_not_take = {bad.data.encode(): (400, message)}

    shown = UserMessage(blocks=(good[0], bad, good[1], TextBlock(text="look")))
    events = await events_of(provider, ModelRequest(system="", messages=(shown,), tools=()))

    (notice,) = notices(events)
    assert notice.endswith(f"is sent: wide.png. It said: {message}.")
    assert len(model_server.requests) == 2
    assert all(image.data in model_server.requests[-1].raw.decode() for image in good)


@pytest.mark.parametrize(
    "words",
    [
        "At most 2 images are supported per request.",
        "At most 2 image(s) may be provided in one prompt.",
        "Too many images: 3 > 2",
        "Too many images in request. Max is 2.",
        "Too many images provided. This model supports up to 2 images",
        "Request contains too many images (3), the maximum is 2.",
        "The maximum number of images is 2",
    ],
)
def test_of_more_images_than_a_refusal_names_only_the_oldest_are_left_out(words):
    shown = [UserMessage(blocks=(sized(f"{width}.png", width), TextBlock(text="look"))) for width in (1, 2, 3)]
    refusal = ProviderRejected("refused", status=400, said=words)
    taken = Taken("acme/seer-1")
    assert taken.learns(refusal, shown)
    assert [image.name for image in taken.left_out.images] == ["1.png"]


async def test_a_limit_of_images_costs_one_request_and_the_newest_are_still_sent(model_server, provider):
    model_server.will_not_take = {SHOT.data.encode(): (400, "At most 1 image(s) may be provided in one prompt.")}
    events = await events_of(provider, ModelRequest(system="", messages=HISTORY, tools=()))
    assert notices(events)[0].partition(" It said")[0].endswith("is sent: shot.png.")
    assert (len(model_server.requests), PLAN.data in model_server.requests[-1].raw.decode()) == (2, True)


async def test_where_the_refusal_names_no_image_what_was_taken_before_stays(model_server, provider):
    model_server.will_not_take = {PLAN.data.encode(): REFUSES_ONE[0]}
    other = sized("other.png", 64)
    await ask(provider, LOOK, tools=())
    again = UserMessage(blocks=(PLAN, other, TextBlock(text="and these")))
    request = ModelRequest(system="", messages=(LOOK, replied("Ok."), again), tools=())
    (notice,) = notices(await events_of(provider, request))
    assert "refused images, so they are left out" in notice
    assert SHOT.data in model_server.requests[-1].raw.decode()


async def test_what_another_service_refused_is_left_out_first_and_shown_again_it_is_said(model_server, provider):
    model_server.will_not_take = {PLAN.data.encode(): REFUSES_ONE[0]}
    other = Taken("other/model")
    other.left_out = LeftOut(images=frozenset({PLAN}))
    seen = replace(replied("I see."), model="other/model", learnt=other.learnt)
    again = UserMessage(blocks=(PLAN, TextBlock(text="and now?")))
    model_server.reply(say("Fine."), say("Still fine."))

    request = ModelRequest(system="", messages=(LOOK, again, seen, said("go on")), tools=())
    first = await events_of(provider, request)
    more = (*request.messages, replace(replied("Fine."), model=provider.model), again)
    second = await events_of(provider, replace(request, messages=more))

    (notice,) = notices(first)
    assert notice.endswith(f"is sent: plan.png. It said: {REFUSES_ONE[0][1]}.")
    assert SHOT.data in model_server.requests[-1].raw.decode()
    assert [notice.endswith("is sent again: plan.png.") for notice in notices(second)] == [True]
    assert len(model_server.requests) == 3


async def test_a_refusal_in_the_middle_of_the_stream_counts_as_well(model_server, chat):
    error = {"error": {"code": 400, "message": "image input is not supported"}}
    model_server.reply(RawStream(chunks=data_lines(error)), say("Ok."))
    assert (await ask(chat, LOOK)).text == "Ok."


async def test_a_refusal_that_is_about_something_else_stays_one_and_the_images_are_sent_again(model_server, provider):
    no = Refuse(status=400, message="This account is not allowed to do that")
    model_server.reply(no, no, say("Ok."))
    with pytest.raises(ProviderRejected, match="not allowed"):
        await ask(provider, LOOK, tools=())
    await ask(provider, LOOK, tools=())
    assert [SHOT.data.encode() in request.raw for request in model_server.requests] == [True, False, True]


@pytest.mark.parametrize("status", [401, 402, 403, 429, 503])
def test_refusals_for_other_reasons_leave_nothing_out(status):
    taken = Taken("openai/gpt-image")
    assert taken.after(ProviderError("image", status=status), [LOOK]) == taken.left_out


def test_what_was_taken_once_is_not_left_out_for_a_refusal_that_names_nothing():
    taken, start = Taken("openai/gpt-image"), LeftOut()
    refusal = ProviderError("Provider returned error", status=400)
    newer = UserMessage(blocks=(PLAN, TextBlock(text="and this?")))
    assert taken.accepted((LOOK, replied("Ok.")), start) == ""
    assert taken.accepted((LOOK, replied("Ok."), said("shorter")), start) == ""
    assert taken.accepted((said("Make a summary."),), start) == ""
    assert taken.after(refusal, (LOOK,)) == start
    assert taken.after(refusal, (LOOK, newer)) == replace(start, images=frozenset({PLAN}))


def test_what_a_new_client_makes_of_a_long_history_that_was_taken_costs_nothing():
    counts: list[int] = []
    for turns in (10, 1_000):
        with counted_steps() as steps:
            Taken("openai/gpt-image").accepted(HISTORY * turns, LeftOut())
        counts.append(steps["line"])
    assert counts[1] == counts[0]


async def test_thinking_that_a_service_refuses_is_left_out(model_server, claude, responses):
    for provider, block, refusal in (
        (
            claude,
            ThinkingBlock(text="hm", signature="old", provider=PROVIDER),
            "Invalid `signature` in `thinking` block",
        ),
        (
            responses,
            OpaqueBlock(
                provider=responses.model,
                payload_json='{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"old"}',
            ),
            "The encrypted content could not be verified.",
        ),
    ):
        model_server.will_not_take = {b'"old"': (400, refusal)}
        history = (said("hi"), replied(block, called()), results(result()))
        model_server.reply(say("Ok."))
        assert (await ask(provider, *history)).text == "Ok."
        assert b'"old"' not in model_server.requests[-1].raw


MISTRAL = (400, "Unexpected role 'user' after role 'tool'")
TEMPLATE = (500, "After the optional system message, conversation roles must alternate user/assistant/...")


@pytest.mark.parametrize("refusal", [MISTRAL, TEMPLATE])
async def test_a_server_that_wants_an_answer_before_the_next_word_gets_one_from_then_on(model_server, chat, refusal):
    model_server.will_not_take = {b'"done"},{"role":"user"': refusal}
    history = (said("go"), replied(called()), results(result()), said("wait"))
    model_server.reply(say("Ok."), say("Still here."))
    assert (await ask(chat, *history)).text == "Ok."
    assert (await ask(chat, *history, replied("Ok."), said("and?"))).text == "Still here."
    roles = [message["role"] for message in model_server.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "user"]
    assert len(model_server.requests) == 3


async def test_images_of_a_result_come_after_such_an_answer_too(model_server, chat):
    model_server.will_not_take = {b'plan.png"},{"role":"user"': MISTRAL}
    model_server.reply(say("Ok."))
    assert (await ask(chat, *HISTORY)).text == "Ok."
    roles = [message["role"] for message in model_server.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_an_image_in_a_failed_result_is_sent_in_a_form_that_is_taken(model_server, provider):
    failed = ToolResult(call_id="call_1", blocks=(PLAN,), outcome=Outcome.FAILED)
    await ask(provider, said("look"), replied(called()), results(failed))
    assert model_server.refusals == []


@pytest.mark.parametrize("make", [AnthropicProvider, OpenAIProvider, OpenAIChatProvider])
async def test_a_session_goes_on_and_another_model_is_sent_the_images_again(model_server, make):
    url = model_server.url if make is AnthropicProvider else model_server.openai_url
    blind, seeing = make("blind", "key", url), make("seeing", "key", url)
    takes_no_images(model_server, *TAKES_NONE[0])
    stage = Stage(blind, limits=Limits(retries=0))
    for text in ("look", "and now?"):
        assert (await stage.session.send(text, (SHOT,))).reason is TurnEnd.DONE
    assert len(stage.of(NoticeGiven)) == 1

    model_server.will_not_take = {}
    stage.session.set_provider(seeing)
    assert (await stage.session.send("what is it?")).reason is TurnEnd.DONE
    assert json.dumps(model_server.requests[-1].body).count(SHOT.data) == 2
    await blind.aclose()
    await seeing.aclose()


async def test_a_session_that_is_resumed_is_not_refused_the_same_again(model_server, provider):
    thought = {
        "claude-test": ThinkingBlock(text="hm", signature="old", provider=PROVIDER),
        "chat-test": ThinkingBlock(text="hm", signature="old", provider=provider.model),
        "gpt-test": OpaqueBlock(
            provider=provider.model,
            payload_json='{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"old"}',
        ),
    }[provider.model.partition("/")[2]]
    await ask(provider, LOOK, tools=())
    model_server.will_not_take = {b'"old"': (400, "Extra inputs: thinking"), PLAN.data.encode(): REFUSES_ONE[0]}
    model_server.reply(say("I see."), say("Still here."))
    history = (LOOK, replied(thought, called()), results(READ))
    first = await ask(provider, *history, tools=())
    refused = len(model_server.refusals)
    assert refused

    stored = decode_record(encode_record(Record(at="", event=HistoryAppended(message=first))))
    again = type(provider)(provider.model.partition("/")[2], "key", _address(model_server, provider))
    events = await events_of(
        again, ModelRequest(system="", messages=(*history, stored.event.message, said("go on")), tools=())
    )
    await again.aclose()

    assert len(model_server.refusals) == refused
    assert notices(events) == []
    assert SHOT.data in model_server.requests[-1].raw.decode()
    assert events[-1].message.learnt == first.learnt


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (AnthropicProvider, "output_config: extra inputs are not permitted"),
        (OpenAIProvider, "Unsupported parameter: 'reasoning.effort' is not supported with this model."),
        (OpenAIChatProvider, "Unrecognized request argument supplied: reasoning_effort"),
    ],
)
async def test_how_a_model_wants_to_be_asked_is_remembered_with_the_session_too(model_server, make, refusal):
    limits = Wanted(effort="high", max_output=2_000)
    url = model_server.url if make is AnthropicProvider else model_server.openai_url
    model_server.will_not_take = {b'effort":"high"': (400, refusal)}
    model_server.reply(say("Ok."), say("Still here."), say("Here as well."))
    history, clients = (said("go"),), [make("m", "key", url, limits), make("m", "key", url, limits)]
    for client in clients:
        history = (*history, await ask(client, *history), said("go on"))
    assert len(model_server.refusals) == 1
    clients.append(make("m", "key", url, limits, "", clients[-1]))
    assert (await ask(clients[-1], *history)).text == "Here as well."
    assert len(model_server.refusals) == 1
    for client in clients:
        await client.aclose()


def test_what_a_session_remembers_may_be_anything():
    for learnt in ("", "no", "[]", '{"fields":5,"images":[{}],"corrections":{}}', '{"thinking":"yes"}'):
        taken = Taken("openai/m")
        assert not taken.recall([replace(replied("Ok."), model="openai/m", learnt=learnt)])
        assert taken.left_out == replace(LeftOut(), fields=taken.left_out.fields, images=frozenset())
        assert not taken.left_out.thinking


async def test_fields_whose_names_are_broken_are_not_kept(model_server, claude):
    begun = {"type": "thinking", "thinking": "", "signature": "", "thi\ufffdnking": "", "a b": 1, "caller_": 1}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}}
    events = (
        {"type": "content_block_start", "index": 0, "content_block": begun},
        delta,
        {"type": "content_block_start", "index": 1, "content_block": {"type": "te\ufffdxt", "text": "a"}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "found", "x\ufffd": 1, "y": [{"z\ufffd": 1}]},
        },
        {"type": "message_stop"},
    )
    model_server.reply(RawStream(chunks=data_lines(*events)))
    kept = [json.loads(one.payload_json) for one in (await ask(claude)).blocks if isinstance(one, OpaqueBlock)]
    assert kept == [{"thinking_fields": {"caller_": 1}}, {"type": "found", "y": [{}]}]


async def test_of_a_stream_with_broken_bytes_only_what_everybody_can_read_is_kept(model_server, provider):
    replies = {
        "claude-test": (
            {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "hm"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "BAD"}},
            {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "Done."}},
            {"type": "message_stop"},
        ),
        "chat-test": (
            {"choices": [{"delta": {"reasoning": "hm", "reasoning_details": [{"type": "x", "data": "BAD"}]}}]},
            {"choices": [{"delta": {"content": "Done."}, "finish_reason": "stop"}]},
            "[DONE]",
        ),
        "gpt-test": (
            {
                "type": "response.completed",
                "response": {
                    "output": [
                        {"type": "reasoning", "summary": [{"text": "hm"}], "encrypted_content": "BAD"},
                        {"type": "message", "content": [{"type": "output_text", "text": "Done."}]},
                    ]
                },
            },
        ),
    }
    lines = data_lines(*replies[provider.model.partition("/")[2]])
    model_server.reply(RawStream(chunks=tuple(line.replace(b"BAD", b"B\xffD") for line in lines)), say("Ok."))
    reply = await ask(provider)
    assert [type(block) for block in reply.blocks] == [ThinkingBlock, TextBlock]
    assert (reply.text, reply.blocks[0].text, reply.blocks[0].signature) == ("Done.", "hm", "")
    assert (await ask(provider, said("go"), reply, said("go on"))).text == "Ok."
    assert b"hm" not in model_server.requests[-1].raw
    assert model_server.refusals == []


def _address(model_server, provider) -> str:
    return model_server.url if isinstance(provider, AnthropicProvider) else model_server.openai_url


async def test_a_value_that_a_refusal_quotes_is_not_taken_for_the_name_of_a_field(model_server, claude):
    thought = ThinkingBlock(text="Hm.", signature="sig399bb6af", provider=PROVIDER)
    odd = OpaqueBlock(provider=PROVIDER, payload_json='{"type": "found", "in the park, at noon": 1}')
    history = (said("go"), replied(thought, odd, TextBlock(text="Done.")), said("on"))
    quoted = "'thinking' is invalid: {'signature': 'sig399bb6af'} and {'in the park, at noon': 1}"
    model_server.reply(Refuse(status=400, message=quoted), say("Well."))
    told = notices(await events_of(claude, ModelRequest(system="You help.", messages=history, tools=())))
    assert len(told) == 1
    assert "sig399" not in told[0]
    assert "park" not in told[0]
