"""What only some servers of the Responses protocol send: understood, or told in one sentence; nothing runs twice."""

from __future__ import annotations

import pytest

from codeagent.core.events import NoticeGiven, RetryScheduled, TextStreamed, TurnEnd
from codeagent.providers.openai import OpenAIProvider
from tests.agent.services import Scene
from tests.server.replies import RawStream, data_lines, say

ONE = '{"say": "one"}'


@pytest.fixture
async def scene(model_server):
    provider = OpenAIProvider("test", "key", model_server.openai_url)
    yield Scene("responses", model_server, provider)
    await provider.aclose()


def event(kind: str, **fields: object) -> dict[str, object]:
    return {"type": f"response.{kind}", **fields}


def ended(*output: object, kind: str = "completed", **fields: object) -> dict[str, object]:
    return event(kind, response={"object": "response", "status": kind, "output": list(output), **fields})


def call(arguments: str = ONE, **fields: object) -> dict[str, object]:
    return {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "note", "arguments": arguments, **fields}


def message(text: str, **fields: object) -> dict[str, object]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def added(index: int | None, item: dict[str, object]) -> dict[str, object]:
    place = {} if index is None else {"output_index": index}
    return event("output_item.added", item=item, **place)


def done(index: int | None, item: dict[str, object]) -> dict[str, object]:
    return added(index, item) | {"type": "response.output_item.done"}


def arguments(index: int | None, *pieces: str) -> list[dict[str, object]]:
    place = {} if index is None else {"output_index": index}
    return [event("function_call_arguments.delta", item_id="fc_1", delta=piece, **place) for piece in pieces]


REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
UNDERSTOOD: dict[str, tuple[object, ...]] = {
    "items out of order": (
        added(1, call("")),
        *arguments(1, ONE),
        added(0, REASONING),
        done(1, call()),
        done(0, REASONING),
        ended(),
    ),
    "no done event of the call": (added(0, call("")), *arguments(0, '{"say"', ': "one"}'), ended(call())),
    "no done event and no pieces": (added(0, call("")), ended(call())),
    "no events of the items": (event("created", response={}), ended(REASONING, call())),
    "only the text streamed": (
        added(0, message("")),
        event("output_text.delta", output_index=0, item_id="msg_1", delta="I note."),
        done(0, message("I note.")),
        ended(message("I note."), call()),
    ),
    "no indexes": (
        added(None, REASONING),
        done(None, REASONING),
        added(None, call("")),
        *arguments(None, '{"say"', ': "one"}'),
        done(None, call()),
        ended(),
    ),
    "other ids in the whole than in the pieces": (
        added(0, call("")),
        *arguments(0, ONE),
        done(0, call()),
        ended(call(id="fc_9")),
    ),
    "reasoning without what is encrypted": (added(0, REASONING), done(0, REASONING), done(1, call()), ended()),
    "events that nobody knows, and an item that never was whole": (
        event("hologram.delta", delta="x"),
        {"type": "keepalive"},
        added(0, {"type": "hologram", "id": "h1"}),
        done(1, call()),
        ended(),
    ),
    "done twice": (done(0, call()), done(0, call()), ended(call()), ended(call()), "[DONE]"),
    "arguments as an object": (done(0, call() | {"arguments": {"say": "one"}}), ended()),
}


@pytest.mark.parametrize("name", UNDERSTOOD)
async def test_it_is_understood_as_the_one_call_that_was_meant(scene, name):
    stage = scene.stage()
    scene.server.reply(RawStream(chunks=data_lines(*UNDERSTOOD[name])), say("Done."))
    end = await stage.send("Write it down.")
    assert (end.reason, end.text) == (TurnEnd.DONE, "Done.")
    assert scene.notes == ["one"]
    await scene.is_well(stage)


SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
WAITING = {"type": "custom_tool_call", "id": "ct_1", "call_id": "x1", "name": "draw", "input": "a cube"}
PROGRAM = {"type": "program", "id": "p_1", "call_id": "p1", "code": "1 + 1"}
PRINTED = {"type": "program_output", "id": "p_2", "call_id": "p1", "output": "2"}


def asked_for(*items: dict[str, object]) -> RawStream:
    return RawStream(chunks=data_lines(*(done(at, item) for at, item in enumerate(items)), ended(*items)))


def sent_back(scene) -> list[object]:
    """What of the model's own reply stands in the last request."""
    return [item for item in scene.server.requests[-1].messages if item.get("role") != "user"]


async def test_items_of_the_services_own_tools_go_back_as_they_came(scene):
    stage = scene.stage()
    scene.server.reply(asked_for(THOUGHT, SEARCH, message("Found."), call(namespace="notes")), say("Done."))
    assert (await stage.send()).text == "Done."
    thought, search, text, called, _ = sent_back(scene)
    assert (thought, search) == (THOUGHT, SEARCH)
    assert text["content"] == "Found."
    assert called["namespace"] == "notes"
    assert scene.notes == ["one"]
    await scene.is_well(stage)


async def test_a_call_that_waits_for_an_output_nobody_gave_is_not_sent_back(scene):
    stage = scene.stage()
    scene.server.reply(asked_for(WAITING, call()), say("Done."))
    assert (await stage.send()).text == "Done."
    assert [item["type"] for item in sent_back(scene)] == ["function_call", "function_call_output"]
    await scene.is_well(stage)


async def test_what_came_with_its_output_goes_back_with_it(scene):
    stage = scene.stage()
    scene.server.reply(asked_for(PROGRAM, PRINTED, call()), say("Done."))
    await stage.send()
    asked = next(request for request in scene.server.requests if b"program_output" in request.raw)
    assert [item for item in asked.messages if item.get("call_id") == "p1"] == [PROGRAM, PRINTED]
    assert scene.notes == ["one"]


@pytest.mark.parametrize("item", [{"type": "hologram", "id": "h1"}, call(shape="cube")])
async def test_a_service_that_will_not_have_its_own_items_back_is_asked_without_them(scene, item):
    stage = scene.stage()
    scene.server.reply(asked_for(item, *([call()] if item["type"] == "hologram" else [])), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one"]
    assert len(scene.server.refusals) == 1
    assert "refused" in stage.of(NoticeGiven)[0].text


REFUSED = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}


@pytest.mark.parametrize(
    "payloads",
    [
        (added(0, message("")), event("refusal.delta", output_index=0, delta="I cannot."), done(0, REFUSED), ended()),
        (done(0, REFUSED), ended()),
        (ended(REFUSED),),
    ],
)
async def test_the_words_of_a_refusal_are_shown(scene, payloads):
    stage = scene.stage()
    scene.server.reply(RawStream(chunks=data_lines(*payloads)))
    assert (await stage.send()).text == "I cannot."
    assert "".join(shown.text for shown in stage.of(TextStreamed)) == "I cannot."
    await scene.is_well(stage)


@pytest.mark.parametrize("error", [{"code": "rate_limit_exceeded", "message": "Slow"}, {"code": "server_error"}, None])
async def test_a_response_that_failed_in_passing_is_asked_for_again(scene, error):
    stage = scene.stage()
    scene.server.reply(
        RawStream(chunks=data_lines(done(0, call()), ended(call(), kind="failed", error=error))), say("Done.")
    )
    assert (await stage.send()).text == "Done."
    assert len(stage.of(RetryScheduled)) == 1
    assert scene.notes == []
    await scene.is_well(stage)


async def test_a_response_that_failed_for_good_says_why(scene):
    stage = scene.stage()
    error = {"code": "invalid_prompt", "message": "That is no prompt"}
    scene.server.reply(RawStream(chunks=data_lines(ended(kind="failed", error=error))))
    end = await stage.send()
    assert (end.reason, "That is no prompt" in end.text) == (TurnEnd.ERROR, True)
    await scene.is_well(stage)


@pytest.mark.parametrize("reason", ["max_output_tokens", None])
async def test_a_call_in_the_midst_of_which_the_response_was_cut_is_not_run(scene, reason):
    stage = scene.stage()
    cut = '{"say": "on'
    scene.server.reply(
        RawStream(
            chunks=data_lines(
                added(0, call("")),
                *arguments(0, cut),
                ended(call(cut), kind="incomplete", incomplete_details={"reason": reason} if reason else None),
            )
        ),
        say("Done."),
    )
    assert (await stage.send()).text == "Done."
    assert scene.notes == []
    await scene.is_well(stage)


async def test_what_is_counted_at_the_beginning_is_not_lost_where_the_end_says_nothing(scene):
    stage = scene.stage()
    usage = {"input_tokens": 9, "output_tokens": 0}
    scene.server.reply(
        RawStream(
            chunks=data_lines(
                event("in_progress", response={"usage": usage}), done(0, message("Hi.")), ended(usage=None)
            )
        )
    )
    assert (await stage.send()).usage.input_tokens == 9
