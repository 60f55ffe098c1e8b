"""Histories that no service would take as they are, sent to the strict server."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    OpaqueBlock,
    Outcome,
    ResultsMessage,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from codeagent.core.protocols import ModelRequest
from codeagent.providers.anthropic import AnthropicProvider, MessagesDialect
from codeagent.providers.history import (
    CONTINUE,
    NO_RESULT,
    EncodedHistory,
    clean_id,
    clean_name,
    kept_fields,
    parse_arguments,
)
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.providers.conftest import ask, called, replied, result, results, said
from tests.server import chat_api, messages_api, responses_api
from tests.server.replies import Refuse, say


async def test_calls_without_results_get_one_that_says_so(model_server, provider):
    await ask(provider, said("go"), replied(called("a"), called("b")), said("stop that"))

    assert model_server.refusals == []
    assert model_server.requests[-1].raw.decode().count(NO_RESULT) == 2


async def test_a_history_that_ends_with_calls_is_completed(model_server, provider):
    await ask(provider, said("go"), replied(called("a")))

    assert model_server.refusals == []


async def test_a_single_missing_result_is_added_in_call_order(model_server, provider):
    await ask(provider, said("go"), replied(called("a"), called("b"), called("c")), results(result("c"), result("a")))

    assert model_server.refusals == []
    assert model_server.requests[-1].raw.decode().count(NO_RESULT) == 1


async def test_a_result_without_its_call_is_kept_as_text(model_server, provider):
    await ask(provider, said("go"), replied("Done."), results(result("gone", "precious output")))

    assert model_server.refusals == []
    assert "precious output" in model_server.requests[-1].raw.decode()


async def test_consecutive_messages_of_the_user_become_one(model_server, provider):
    await ask(provider, said("one"), said("two"), replied(called()), results(result()), said("three"), said("four"))

    assert model_server.refusals == []


async def test_empty_texts_are_left_out(model_server, provider):
    blank = UserMessage(blocks=(TextBlock(text=""), TextBlock(text="  \n"), TextBlock(text="real")))
    await ask(provider, blank, replied("", "  ", called()), results(result(text=" ")), said(""))

    assert model_server.refusals == []


async def test_a_reply_of_nothing_is_left_out(model_server, provider):
    cut_off = ThinkingBlock(text="Well", provider="anthropic")

    await ask(provider, said("one"), replied(cut_off, "", stop=StopReason.CANCELLED), said("two"))

    assert model_server.refusals == []
    roles = [message["role"] for message in model_server.requests[-1].messages]
    assert [role for role in roles if role != "system"] == ["user"]


async def test_a_reply_that_ends_in_white_space_is_accepted(model_server, provider):
    await ask(provider, said("one"), replied("half a sentence \n", stop=StopReason.CANCELLED))

    assert model_server.refusals == []
    assert CONTINUE in model_server.requests[-1].raw.decode()


async def test_a_history_that_begins_with_a_reply_is_accepted(model_server, provider):
    await ask(provider, replied("Hello."), replied("Anyone?"), said("yes"))

    assert model_server.refusals == []


async def test_ids_and_names_of_other_providers_are_made_acceptable(model_server, provider):
    odd = "functions.read:0 " + "x" * 60
    await ask(provider, said("go"), replied(called(odd, "functions.read file"), called("", "")), results(result(odd)))

    assert model_server.refusals == []


async def test_half_characters_anywhere_do_not_spoil_the_request(model_server, provider):
    await ask(
        provider,
        said("a\ud83d"),
        replied("b\udc00", called(arguments='{"p": "\\ud83d"}'), called("x\ud800", "n\ud800", '{"p": "\ud83d"}')),
        results(result(text="name \udcff.txt"), result("x\ud800", "cut \ud83d")),
    )

    assert model_server.refusals == []
    assert "\ufffd" in model_server.requests[-1].raw.decode()


async def test_a_result_in_place_of_images_and_text_is_never_empty(model_server, provider):
    nothing = ToolResult(call_id="call_1", blocks=())

    await ask(provider, said("go"), replied(called()), ResultsMessage(results=(nothing,)))

    assert model_server.refusals == []
    assert "(no output)" in model_server.requests[-1].raw.decode()


def test_clean_ids_stay_different():
    assert clean_id("toolu_01-a") == "toolu_01-a"
    assert len({clean_id("a.b"), clean_id("a_b"), clean_id("a:b"), clean_id("x" * 41), clean_id("x" * 42)}) == 5


def test_clean_names_keep_what_they_can():
    assert clean_name("read") == "read"
    assert clean_name("mcp.files/read") == "mcp_files_read"
    assert clean_name("") == "unknown"


@pytest.mark.parametrize("written", ["", "[1]", '"{}"', "null", "NaN", '{"a": Infinity}', "{", "[" * 100_000])
def test_only_json_objects_are_arguments(written):
    assert parse_arguments(written) is None


def test_a_message_is_encoded_once_however_often_it_is_sent():
    class Counting(MessagesDialect):
        count = 0

        def user(self, message):
            self.count += 1
            return super().user(message)

    dialect = Counting()
    history = EncodedHistory(dialect)
    messages: list[Message] = []
    for turn in range(50):
        messages += [said(f"{turn}"), replied("ok")]
        history.encode([*messages, said("and")])

    assert dialect.count < 250


def test_a_changed_history_is_encoded_anew_from_the_change_on():
    history = EncodedHistory(MessagesDialect())
    history.encode([said("one"), replied("two"), said("three")])

    compacted = history.encode([said("summary"), replied("two"), said("three")])

    assert b"summary" in compacted[0].parts[0]
    assert [one.role for one in compacted] == ["user", "assistant", "user"]


texts = st.sampled_from(["", " ", "text", "t \n", "\ud83d", "é\u2028"])
ids = st.sampled_from(["", "a", "b", "a.b", "x" * 50])
raw_arguments = st.sampled_from(["{}", '{"a": 1}', "", "{", "[]", "null", '{"a": "\\ud83d"}'])
text_blocks = st.builds(TextBlock, text=texts)
calls = st.builds(ToolCall, id=ids, name=st.sampled_from(["read", "", "a b"]), arguments_json=raw_arguments)
opaques = st.builds(
    OpaqueBlock,
    provider=st.sampled_from(["openai/m", "openai/other"]),
    payload_json=st.sampled_from(
        ['{"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}', '{"type": "phase"}', "broken"]
    ),
)
thinking = st.builds(
    ThinkingBlock, text=texts, signature=st.sampled_from(["", "s"]), provider=st.sampled_from(["anthropic", "x"])
)
replies = st.builds(
    AssistantMessage,
    blocks=st.lists(st.one_of(text_blocks, calls, thinking, opaques), max_size=4).map(tuple),
    stop=st.sampled_from(StopReason),
)
tool_results = st.builds(
    ToolResult,
    call_id=ids,
    blocks=st.lists(text_blocks, max_size=2).map(tuple),
    outcome=st.sampled_from(Outcome),
)
histories = st.lists(
    st.one_of(
        st.builds(UserMessage, blocks=st.lists(text_blocks, max_size=2).map(tuple)),
        replies,
        st.builds(ResultsMessage, results=st.lists(tool_results, max_size=3).map(tuple)),
    ),
    max_size=6,
)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (AnthropicProvider, messages_api.check),
        (OpenAIChatProvider, chat_api.check),
        (OpenAIProvider, responses_api.check),
    ],
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=histories)
async def test_no_history_at_all_is_refused(make, check, messages):
    body = await make("m", "k", "http://127.0.0.1").body(ModelRequest(system="s", messages=messages, tools=()))

    check(json.loads(body.decode()))


async def test_more_calls_than_a_message_may_hold_go_in_several_each_before_its_results(model_server, chat):
    ids = [f"call_{at}" for at in range(300)]
    thought = ThinkingBlock(text="All.", signature="reasoning_content", provider=chat.model)
    marks = [kept_fields(chat.model, "tool_call", {"shape": at}, frozenset()) for at in ids]
    calls = [block for mark, at in zip(marks, ids, strict=True) for block in (*mark, called(at))]
    reply = replied(thought, "Looking.", *calls)
    picture = ImageBlock(media_type="image/png", data="aGk=", name="a.png")
    shown = replace(result(ids[0]), blocks=(picture,))
    answers = results(shown, *map(result, ids[1:]))

    await ask(chat, said("hi"), reply, answers)
    await ask(chat, said("hi"), reply, answers, replied("Done."), said("more"))

    first, second = (request.body["messages"] for request in model_server.requests)
    holding = [message for message in first if "tool_calls" in message]
    assert second[: len(first)] == first
    assert [len(message["tool_calls"]) for message in holding] == [128, 128, 44]
    assert [call["id"] for message in holding for call in message["tool_calls"]] == ids
    assert [call["shape"] for message in holding for call in message["tool_calls"]] == ids
    assert [(message["content"], "reasoning_content" in message) for message in holding] == [
        ("Looking.", True), (None, False), (None, False)
    ]  # fmt: skip
    assert [message["role"] for message in first][-2:] == ["tool", "user"]


async def test_a_smaller_limit_of_calls_that_a_refusal_names_is_kept_to_and_remembered(model_server, chat):
    words = "Invalid 'messages[1].tool_calls': array too long. Expected an array with maximum length 2, but got 5."
    ids = [f"call_{at}" for at in range(5)]
    history = said("hi"), replied(*map(called, ids)), results(*map(result, ids))
    model_server.reply(Refuse(status=400, message=words), say("Ok."), say("More."))

    answer = await ask(chat, *history)
    another = OpenAIChatProvider("chat-test", "test-key-123456", model_server.openai_url)
    await ask(another, *history, answer, said("more"))
    await another.aclose()

    sent = [[len(one["tool_calls"]) for one in request.messages if "tool_calls" in one]
            for request in model_server.requests]  # fmt: skip
    assert sent == [[5], [2, 2, 1], [2, 2, 1]]
