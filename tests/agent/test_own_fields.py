"""What only its own service understands of a reply goes back to it unchanged, and to nobody else."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from codeagent.agent.history import restore
from codeagent.core.events import NoticeGiven
from codeagent.core.messages import AssistantMessage, StopReason, TextBlock, ThinkingBlock, ToolCall, UserMessage
from codeagent.core.protocols import ModelRequest
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.anthropic_reply import PROVIDER
from codeagent.providers.catalog import Limits
from codeagent.providers.history import kept_fields, with_fields
from codeagent.store.records import Record, decode_record, encode_record
from tests.agent.services import PROTOCOLS, Scene
from tests.agent.stage import Stage
from tests.server.replies import RawStream, data_lines, say

CITED = [
    {"type": "web_search_result_location", "url": "https://a.example", "title": None, "encrypted_index": "ZQ=="},
    {"type": "char_location", "cited_text": "x", "document_index": 0, "start_char_index": 0, "end_char_index": 1},
]
COMPACTED = {"type": "compaction", "content": "So far.", "encrypted_content": "c2VjcmV0"}
SEARCHED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]}
NOTES = [
    {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 5},
    {"type": "url_citation", "url": "https://b.example", "title": "B", "start_index": 0, "end_index": 5},
]
DETAILS = [{"type": "reasoning.encrypted", "data": "c2VjcmV0", "index": 0}]


def opened(index: int, block: Mapping[str, object]) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index: int, kind: str, **fields: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def messages_reply(*blocks: dict[str, object]) -> tuple[object, ...]:
    """The blocks as the Messages protocol streams them."""
    return (
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        *blocks,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )


def chat_reply(*deltas: dict[str, object]) -> tuple[object, ...]:
    chunks = ({"choices": [{"index": 0, "delta": delta}]} for delta in deltas)
    return (*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]")


def responses_reply(*items: dict[str, object]) -> tuple[object, ...]:
    done = ({"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(items))
    return (*done, {"type": "response.completed", "response": {"status": "completed", "output": list(items)}})


def message(**part: object) -> dict[str, object]:
    content = [{"type": "output_text", "text": "Found.", "annotations": [], **part}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


SAID = {
    "messages": messages_reply(
        opened(0, {"type": "compaction", "content": None}),
        grown(0, "compaction_delta", content="So far.", encrypted_content="c2VjcmV0"),
        opened(1, {"type": "thinking", "thinking": "", "signature": ""}),
        grown(1, "thinking_delta", thinking="Hm."),
        grown(1, "signature_delta", signature="s"),
        opened(2, SEARCHED),
        opened(3, FOUND),
        opened(4, {"type": "text", "text": "", "citations": []}),
        *(grown(4, "citations_delta", citation=cited) for cited in CITED),
        grown(4, "text_delta", text="Fou"),
        grown(4, "text_delta", text="nd."),
        opened(5, {"type": "text", "text": "", "citations": CITED}),
        grown(5, "text_delta", text="All."),
    ),
    "chat": chat_reply(
        {"role": "assistant", "content": "Fou", "refusal": None, "annotations": []},
        {"content": "nd.", "annotations": NOTES[:1], "reasoning_details": DETAILS},
        {"annotations": NOTES[1:], "refusal": "I can"},
        {"refusal": "not."},
    ),
    "responses": responses_reply(
        message(annotations=NOTES, logprobs=[]) | {"phase": "commentary"},
        message() | {"phase": "final_answer"},
    ),
}
SENT: Mapping[str, list[object]] = {
    "messages": [
        {
            "role": "assistant",
            "content": [
                COMPACTED,
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                SEARCHED,
                FOUND,
                {"type": "text", "text": "Found.", "citations": CITED},
                {"type": "text", "text": "All.", "citations": CITED},
            ],
        }
    ],
    "chat": [
        {
            "role": "assistant",
            "content": "Found.I cannot.",
            "annotations": NOTES,
            "refusal": "I cannot.",
            "reasoning_details": DETAILS,
        }
    ],
    "responses": [
        message(annotations=NOTES, logprobs=[]) | {"phase": "commentary"},
        {"role": "assistant", "content": "Found.", "phase": "final_answer"},
    ],
}


def streamed(payloads: tuple[object, ...]) -> RawStream:
    return RawStream(chunks=data_lines(*payloads))


def sent(scene) -> list[object]:
    """What of the model's own first reply stands in the last request."""
    items = [item for item in scene.server.requests[-1].messages if item.get("role") != "system"]
    end = next(at for at, item in enumerate(items[1:], 1) if item.get("role") == "user")
    return items[1:end]


async def test_it_goes_back_unchanged(scene):
    stage = scene.stage()
    scene.server.reply(streamed(SAID[scene.protocol]), say("Done."))
    assert (await stage.send()).text.startswith("Found.")
    assert (await stage.send("And?")).text == "Done."
    assert sent(scene) == SENT[scene.protocol]
    await scene.is_well(stage)
    assert sent(scene) == SENT[scene.protocol]


async def test_it_is_still_there_in_a_session_that_is_resumed(scene):
    stage = scene.stage()
    scene.server.reply(streamed(SAID[scene.protocol]), say("Done."))
    await stage.send()
    lines = [encode_record(Record(at="2026-01-01T00:00:00Z", event=event)) for event in stage.journal.events]
    past = [record.event for line in lines if (record := decode_record(line))]
    assert (await Stage(scene.provider, history=restore(past)).send("And?")).text == "Done."
    assert sent(scene) == SENT[scene.protocol]
    assert scene.server.refusals == []


@pytest.mark.parametrize("other", PROTOCOLS)
async def test_another_service_is_not_sent_it(scene, other):
    stage = scene.stage()
    scene.server.reply(streamed(SAID[scene.protocol]), say("Done."))
    await stage.send()
    provider = PROTOCOLS[other]("other", "key", scene.server.url if other == "messages" else scene.server.openai_url)
    stage.session.set_provider(provider)
    assert (await stage.send("And?")).text == "Done."
    await provider.aclose()
    is_same_service = scene.protocol == other == "messages"  # whose models read what another of them wrote
    raw = scene.server.requests[-1].raw
    assert (b"a.example" in raw, b"c2VjcmV0" in raw) == (is_same_service, is_same_service)
    assert scene.server.refusals == []


ODD = {
    "messages": messages_reply(opened(0, {"type": "text", "text": "Found.", "shape": "cube"})),
    "chat": chat_reply({"content": "Found.", "shape": "cu"}, {"shape": "be"}),
    "responses": responses_reply(message(shape="cube")),
}
ODDER = {
    "messages": messages_reply(
        opened(0, {"type": "thinking", "thinking": "Hm.", "signature": "s", "shape": "cube"}),
        opened(1, {"type": "text", "text": "Found."}),
    ),
    "chat": chat_reply({"content": "Found.", "shape": {"name": "cube"}}),
    "responses": responses_reply(message() | {"shape": "cube"}),
}


@pytest.mark.parametrize("reply", [ODD, ODDER])
async def test_a_service_that_will_not_have_it_back_is_asked_without_it(scene, reply):
    stage = scene.stage()
    scene.server.reply(streamed(reply[scene.protocol]), say("Done."))
    await stage.send()
    assert (await stage.send("And?")).text == "Done."
    assert b"cube" not in scene.server.requests[-1].raw
    assert b"Found." in scene.server.requests[-1].raw
    [refusal] = scene.server.refusals
    assert "shape" in str(refusal)
    assert "cube" not in stage.of(NoticeGiven)[0].text


REPEATED = {"content": "x", "shape": "cube", "sizes": [1], "depth": False, "colour": ""}


async def test_a_field_that_each_chunk_repeats_is_kept_once(model_server):
    provider = PROTOCOLS["chat"]("test", "key", model_server.openai_url)
    model_server.reply(streamed(chat_reply(*[REPEATED] * 3)))
    stage = Stage(provider)
    await stage.send()
    [kept] = [block.payload_json for block in stage.session.messages[-1].blocks if block.kind == "opaque"]
    assert all(field in kept for field in ('"shape": "cube"', '"sizes": [1]', '"depth": false'))
    assert "colour" not in kept
    await provider.aclose()


def test_fields_of_a_call_that_was_cut_off_are_not_given_to_what_follows():
    kept = kept_fields("it", "tool_call", {"shape": "cube"}, frozenset())
    call, text = ToolCall(id="c1", name="note", arguments_json="{}"), TextBlock(text="So.")
    assert list(with_fields((*kept, call, text), "it")) == [(call, {"shape": "cube"}), (text, {})]
    assert list(with_fields((*kept, text), "it")) == [(text, {})]


async def test_thinking_with_fields_of_its_own_still_begins_a_chain_of_calls():
    kept = kept_fields(PROVIDER, "thinking", {"shape": "cube"}, frozenset())
    thought = ThinkingBlock(text="Hm.", signature="s", provider=PROVIDER)
    call = ToolCall(id="c1", name="note", arguments_json="{}")
    reply = AssistantMessage(blocks=(*kept, thought, call), stop=StopReason.TOOL_USE)
    said = UserMessage(blocks=(TextBlock(text="Go."),))
    provider = AnthropicProvider("test", "key", limits=Limits(has_budget=True, effort="low"))
    body = await provider.body(ModelRequest(system="", messages=(said, reply), tools=()))
    assert b'"budget_tokens"' in body
    assert b'"shape":"cube"' in body
    await provider.aclose()


LISTED = chat_reply(
    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "H"}]}]},
    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "m."}], "closed": True}]},
    {"content": "Fou"},
    {"content": [{"type": "text", "text": "nd."}, {"type": "reference", "reference_ids": [1, 2]}]},
    {"content": [{"type": "reference", "reference_ids": [3]}]},
    {"content": [{"type": "text", "text": " So."}]},
)
PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
    {"type": "text", "text": "Found."},
    {"type": "reference", "reference_ids": [1, 2]},
    {"type": "reference", "reference_ids": [3]},
    {"type": "text", "text": " So."},
]
OPEN = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


async def test_content_that_came_as_a_list_of_parts_goes_back_as_one_and_to_its_own_server_alone(model_server):
    provider, other = (PROTOCOLS["chat"](name, "key", model_server.openai_url) for name in ("test", "other"))
    stage = Stage(provider)
    model_server.reply(streamed(LISTED), say("Done."), say("Done."))
    assert (await stage.send()).text == "Found. So."
    assert [block.text for block in stage.session.messages[-1].blocks if block.kind == "thinking"] == ["Hm."]
    await stage.send("And?")
    assert model_server.requests[-1].messages[-2] == {"role": "assistant", "content": PARTS}
    stage.session.set_provider(other)
    await stage.send("And?")
    assert [message["content"] for message in model_server.requests[-1].messages if message["role"] == "assistant"] == [
        "Found. So.",
        "Done.",
    ]
    assert model_server.refusals == []
    await provider.aclose()
    await other.aclose()


async def test_parts_that_only_a_list_holds_stand_beside_calls(model_server):
    provider = PROTOCOLS["chat"]("test", "key", model_server.openai_url)
    call = {"index": 0, "id": "c1", "function": {"name": "note", "arguments": '{"say": "one"}'}}
    reference = {"type": "reference", "reference_ids": [7]}
    model_server.reply(streamed(chat_reply({"content": [reference]}, {"tool_calls": [call]})), say("Done."))
    stage = Scene("chat", model_server, provider).stage()
    assert (await stage.send()).text == "Done."
    sent_back = model_server.requests[-1].messages[-2]
    assert (sent_back["content"], len(sent_back["tool_calls"])) == ([reference], 1)
    assert model_server.refusals == []
    await provider.aclose()


@pytest.mark.parametrize("thought", ["Hm.", [{"type": "text", "text": "Hm."}]])
async def test_a_thought_in_a_list_is_a_text_or_a_list_of_texts(model_server, thought):
    provider = PROTOCOLS["chat"]("test", "key", model_server.openai_url)
    parts = [{"type": "thinking", "thinking": thought}, {"type": "text", "text": "Done."}]
    model_server.reply(streamed(chat_reply({"content": parts})))
    stage = Stage(provider)
    await stage.send()
    assert [block.text for block in stage.session.messages[-1].blocks if block.kind != "opaque"] == ["Hm.", "Done."]
    [kept] = [json.loads(block.payload_json) for block in stage.session.messages[-1].blocks if block.kind == "opaque"]
    assert kept == {"content": parts}
    await provider.aclose()


async def test_calls_that_were_written_in_a_list_are_not_sent_back_twice(model_server):
    provider = PROTOCOLS["chat"]("test", "key", model_server.openai_url)
    written = 'So.\n<tool_call>{"name": "note", "arguments": {"say": "one"}}</tool_call>'
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": written}]
    model_server.reply(streamed(chat_reply({"content": parts})), say("Done."))
    stage = Scene("chat", model_server, provider).stage()
    assert (await stage.send()).text == "Done."
    assert model_server.requests[-1].messages[-2]["content"] == "So."
    await provider.aclose()


TWO_FIELDS = {
    "messages": messages_reply(
        opened(0, {"type": "thinking", "thinking": "Hm.", "signature": "s"}),
        opened(1, {"type": "text", "text": "Found.", "shape": "cube", "citations": CITED}),
    ),
    "chat": chat_reply({"content": "Found.", "shape": "cube", "reasoning_details": DETAILS, "annotations": NOTES}),
    "responses": responses_reply(
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"},
        message(annotations=NOTES) | {"shape": "cube"},
    ),
}
KEPT = {
    "messages": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Found.", "citations": CITED},
    ],
    "chat": {"role": "assistant", "content": "Found.", "reasoning_details": DETAILS, "annotations": NOTES},
    "responses": message(annotations=NOTES),
}


async def test_of_all_that_is_a_services_own_only_what_its_refusal_names_is_left_out(scene):
    stage = scene.stage()
    scene.server.reply(streamed(TWO_FIELDS[scene.protocol]), say("Done."))
    await stage.send()
    assert (await stage.send("And?")).text == "Done."
    *_, last = sent(scene)
    assert (last["content"] if scene.protocol == "messages" else last) == KEPT[scene.protocol]
    [refusal] = scene.server.refusals
    assert "shape" in str(refusal)
    [notice] = stage.of(NoticeGiven)
    assert notice.text.startswith("The service refused shape of earlier replies, so it is left out")


@pytest.mark.parametrize(
    ("refusal", "left"),
    [
        ("messages[1]: unknown variant `reference`, expected `text` or `thinking`", [*PARTS[:2], PARTS[4]]),
        ("[{'type': 'extra_forbidden', 'loc': ['body', 'closed'], 'msg': 'Extra inputs']", [OPEN, *PARTS[1:]]),
        ("Extra inputs are not permitted", "Found. So."),
    ],
)
async def test_parts_and_fields_of_parts_are_left_out_by_name_and_all_of_it_where_none_is_named(
    model_server, refusal, left
):
    provider = PROTOCOLS["chat"]("test", "key", model_server.openai_url)
    gone = b'"closed"' if "closed" in refusal else b'"reference"'
    model_server.will_not_take = {gone: (422, refusal)}
    stage = Stage(provider)
    model_server.reply(streamed(LISTED), say("Done."))
    await stage.send()
    assert (await stage.send("And?")).text == "Done."
    assert model_server.requests[-1].messages[-2]["content"] == left
    await provider.aclose()


async def test_what_is_refused_again_under_its_name_takes_the_rest_with_it(model_server):
    provider = PROTOCOLS["chat"]("test", "key", model_server.openai_url)
    model_server.will_not_take = {b'"annotations"': (400, "Unknown parameter: 'shape'.")}
    stage = Stage(provider)
    model_server.reply(streamed(TWO_FIELDS["chat"]), say("Done."))
    await stage.send()
    assert (await stage.send("And?")).text == "Done."
    assert model_server.requests[-1].messages[-2] == {"role": "assistant", "content": "Found."}
    await provider.aclose()
