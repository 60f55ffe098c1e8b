"""The scripted server refuses what the real services refuse, so that tests that pass mean something."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.server import chat_api, messages_api, responses_api
from tests.server.messages_api import Refused
from tests.server.replies import Refuse, say
from tests.server.scripted_server import CLOSING_TEXT

SCHEMA = {"type": "object", "properties": {}}
USE = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
GOT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}]}
MESSAGES = {
    "model": "m",
    "max_tokens": 10,
    "tools": [{"name": "read", "description": "d", "input_schema": SCHEMA}],
    "system": [{"type": "text", "text": "s"}],
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, USE, {**USE, "id": "t2"}]},
        {"role": "user", "content": [GOT, {**GOT, "tool_use_id": "t2"}, {"type": "text", "text": "go on"}]},
    ],
}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CHAT = {
    "model": "m",
    "tools": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "user", "content": "go on"},
    ],
}

FUNCTION = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}
RESPONSES = {
    "model": "m",
    "store": False,
    "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}],
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"},
        FUNCTION,
        OUTPUT,
    ],
}

Change = Callable[[dict], object]


def blocks(body, message):
    return body["messages"][message]["content"]


@pytest.mark.parametrize(
    "check", [(messages_api.check, MESSAGES), (chat_api.check, CHAT), (responses_api.check, RESPONSES)]
)
def test_a_sound_request_is_taken(check):
    check[0](check[1])


MESSAGES_FAULTS: dict[str, Change] = {
    "no max_tokens": lambda body: body.pop("max_tokens"),
    "no messages": lambda body: body["messages"].clear(),
    "unknown field": lambda body: body.update(temprature=1),
    "empty text": lambda body: blocks(body, 2)[2].update(text=""),
    "blank text": lambda body: blocks(body, 2)[2].update(text=" \n"),
    "empty system": lambda body: body["system"][0].update(text=""),
    "wrong role": lambda body: body["messages"][0].update(role="system"),
    "first role": lambda body: body["messages"].pop(0),
    "two user messages": lambda body: body["messages"].insert(0, {"role": "user", "content": "x"}),
    "missing result": lambda body: blocks(body, 2).pop(0),
    "result twice": lambda body: blocks(body, 2).insert(0, GOT),
    "results in another order": lambda body: blocks(body, 2).insert(0, blocks(body, 2).pop(1)),
    "result after text": lambda body: blocks(body, 2).insert(0, {"type": "text", "text": "x"}),
    "stray result": lambda body: blocks(body, 2)[0].update(tool_use_id="t9"),
    "call id twice": lambda body: blocks(body, 1)[2].update(id="t1"),
    "bad call id": lambda body: blocks(body, 1)[1].update(id="a.b"),
    "bad call name": lambda body: blocks(body, 1)[1].update(name="a b"),
    "input is text": lambda body: blocks(body, 1)[1].update(input="{}"),
    "thinking without signature": lambda body: blocks(body, 1).insert(0, {"type": "thinking", "thinking": "x"}),
    "thinking from the middle of a turn on": lambda body: body.update(thinking={"type": "enabled"}),
    "unknown block": lambda body: blocks(body, 1).insert(0, {"type": "video"}),
    "empty content": lambda body: blocks(body, 1).clear(),
    "ends with calls": lambda body: body["messages"].pop(),
    "ends with a reply": lambda body: body["messages"].append({"role": "assistant", "content": "x"}),
    "ends with white space": lambda body: body["messages"].append({"role": "assistant", "content": "x "}),
    "calls without tools": lambda body: body.pop("tools"),
    "bad tool name": lambda body: body["tools"][0].update(name="a b"),
    "tool twice": lambda body: body["tools"].append(body["tools"][0]),
    "schema without type": lambda body: body["tools"][0]["input_schema"].pop("type"),
    "schema with a union on top": lambda body: body["tools"][0]["input_schema"].update(anyOf=[]),
    "five cache markers": lambda body: blocks(body, 2)[2].update(
        cache_control={f"{number}": {"cache_control": 1} for number in range(5)}
    ),
    "bad image": lambda body: blocks(body, 2).append({"type": "image", "source": {"type": "base64", "data": "x"}}),
}

CHAT_FAULTS: dict[str, Change] = {
    "no messages": lambda body: body["messages"].clear(),
    "no model": lambda body: body.pop("model"),
    "no tools in the list": lambda body: body["tools"].clear(),
    "bad tool name": lambda body: body["tools"][0]["function"].update(name="a b"),
    "schema without type": lambda body: body["tools"][0]["function"]["parameters"].pop("type"),
    "wrong role": lambda body: body["messages"][1].update(role="human"),
    "late system message": lambda body: body["messages"].append({"role": "system", "content": "x"}),
    "two user messages": lambda body: body["messages"].append({"role": "user", "content": "x"}),
    "empty text": lambda body: body["messages"][5].update(content=""),
    "missing result": lambda body: body["messages"].pop(3),
    "results in another order": lambda body: body["messages"].insert(3, body["messages"].pop(4)),
    "stray result": lambda body: body["messages"][3].update(tool_call_id="c9"),
    "stray result at the end": lambda body: body["messages"].append(body["messages"][3]),
    "call id twice": lambda body: body["messages"][2]["tool_calls"][1].update(id="c1"),
    "long call id": lambda body: body["messages"][2]["tool_calls"][0].update(id="x" * 41),
    "bad call name": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(name="a b"),
    "arguments that are no JSON": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(arguments="{"),
    "arguments that are a list": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(arguments="[]"),
    "no calls in the list": lambda body: body["messages"][2]["tool_calls"].clear(),
    "too many calls": lambda body: body["messages"][2]["tool_calls"].extend(
        {**CALL, "id": f"n{at}"} for at in range(127)
    ),
    "an empty reply": lambda body: body["messages"].insert(2, {"role": "assistant", "content": ""}),
    "ends with calls": lambda body: body["messages"].__delitem__(slice(3, None)),
    "unknown part": lambda body: body["messages"][5].update(content=[{"type": "video"}]),
}

RESPONSES_FAULTS: dict[str, Change] = {
    "no input": lambda body: body["input"].clear(),
    "unknown field": lambda body: body.update(messages=[]),
    "bad tool name": lambda body: body["tools"][0].update(name="a b"),
    "schema without type": lambda body: body["tools"][0]["parameters"].pop("type"),
    "empty text": lambda body: body["input"][0]["content"][0].update(text=""),
    "wrong part": lambda body: body["input"][0]["content"][0].update(type="output_text"),
    "wrong role": lambda body: body["input"][0].update(role="human"),
    "unknown item": lambda body: body["input"].append({"type": "video"}),
    "missing output": lambda body: body["input"].pop(),
    "stray output": lambda body: body["input"][3].update(call_id="c9"),
    "output twice": lambda body: body["input"].append(OUTPUT),
    "call twice": lambda body: body["input"].insert(2, FUNCTION),
    "bad call name": lambda body: body["input"][2].update(name="a b"),
    "reasoning that leads to nothing": lambda body: body["input"].append(body["input"][1]),
    "reasoning that is not stored": lambda body: body["input"][1].pop("encrypted_content"),
    "ends with a reply": lambda body: body["input"].append({"role": "assistant", "content": "x"}),
}


@pytest.mark.parametrize("fault", RESPONSES_FAULTS)
def test_responses_refuses(fault):
    body = copy.deepcopy(RESPONSES)
    RESPONSES_FAULTS[fault](body)

    with pytest.raises(Refused):
        responses_api.check(body)


@pytest.mark.parametrize("fault", MESSAGES_FAULTS)
def test_messages_refuses(fault):
    body = copy.deepcopy(MESSAGES)
    MESSAGES_FAULTS[fault](body)

    with pytest.raises(Refused):
        messages_api.check(body)


@pytest.mark.parametrize("fault", CHAT_FAULTS)
def test_chat_refuses(fault):
    body = copy.deepcopy(CHAT)
    CHAT_FAULTS[fault](body)

    with pytest.raises(Refused):
        chat_api.check(body)


def post(url: str, raw: bytes, key: str = "k") -> tuple[int, str]:
    request = Request(url, raw, {"x-api-key": key, "Content-Type": "application/json"})
    try:
        with urlopen(request) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize("raw", [b"\xff{}", b"{", b'"text"', b'{"model": "\\ud83d"}'])
def test_a_body_that_is_no_sound_json_is_refused(model_server, raw):
    assert post(f"{model_server.url}/v1/messages", raw)[0] == 400


def test_a_request_without_a_key_is_refused(model_server):
    assert post(f"{model_server.url}/v1/messages", json.dumps(MESSAGES).encode(), key="")[0] == 401


def test_requests_are_recorded_with_their_bytes(model_server):
    raw = json.dumps(MESSAGES).encode()
    model_server.reply(say("one"), Refuse(status=529, retry_after="3"))

    first, second, third = (post(f"{model_server.url}/v1/messages", raw) for _ in range(3))

    assert (first[0], second[0]) == (200, 529)
    assert "one" in first[1]
    assert json.loads(second[1])["error"]["type"] == "overloaded_error"
    assert CLOSING_TEXT[:8] in third[1]
    assert [request.raw for request in model_server.requests] == [raw] * 3
    assert model_server.refusals == []


def test_models_are_listed(model_server):
    with urlopen(Request(f"{model_server.url}/v1/models", headers={"x-api-key": "k"})) as response:
        assert json.load(response)["data"][0]["id"] == "scripted-model"


def test_it_runs_as_a_program_that_prints_its_url(tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text('{"say": "hello", "calls": [{"name": "ls"}]}\n{"status": 503, "retry_after": 1}\n')
    record = tmp_path / "record.jsonl"
    program = Path(__file__).with_name("scripted_server.py")
    command = [sys.executable, str(program), "--script", str(script), "--record", str(record)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        first = post(f"{url}/v1/chat/completions", json.dumps(CHAT).encode())
        second = post(f"{url}/v1/chat/completions", json.dumps(CHAT).encode())
        server.terminate()

    assert "hello" in first[1]
    assert second[0] == 503
    assert [json.loads(line)["body"]["model"] for line in record.read_text().splitlines()] == ["m", "m"]
