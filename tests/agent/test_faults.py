"""Whatever a model service does wrong: nothing runs twice, one clear sentence, and the next turn works."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.events import (
    ApprovalAsked,
    CallStreamed,
    RetryScheduled,
    StepStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolProgressed,
    TurnEnd,
)
from codeagent.core.messages import Outcome
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from tests.agent.services import PATIENT, Scene
from tests.agent.stage import Person, Read, Shell, Stage, Write
from tests.server import chat_api, messages_api
from tests.server.replies import (
    Answer,
    Bare,
    Call,
    Hangup,
    RawStream,
    Refuse,
    Reply,
    Reset,
    Say,
    Stall,
    StreamError,
    Think,
    Truncate,
    say,
)
from tests.server.wires import WIRES

HASTY = replace(PATIENT, retries=8, first_byte_seconds=1, idle_seconds=1)
AT_ONCE = 0.2  # seconds
PATIENCE = 20
TRIES = 5  # what takes longer each time does so by itself, and not because the machine was busy
CUT = {"messages": "max_tokens", "chat": "length", "responses": "max_output_tokens"}
TEXT = "Grüße 😀, I write it down."


def note(text: str = "one", **given: str) -> Call:
    """A call whose every run leaves a trace."""
    return Call("note", {"say": text}, **given)


def spoilt(**how: object) -> Reply:
    """A reply with text and a call, over which something goes wrong."""
    return Reply(parts=(Say(TEXT, size=4), note()), **how)


def wired(name: str) -> Reply:
    return spoilt(wire=WIRES[name])


WELL = (say("", note()), say("Done."))
WELCOME = ": Welcome to nginx. Check the"
PAGE = b"<html><body><h1>Welcome to nginx</h1></body></html>"
LATER = format_datetime(datetime.now(UTC) - timedelta(seconds=30), usegmt=True)


@dataclass(frozen=True, kw_only=True)
class Case:
    """``answers`` are played in one turn, in which requests are made again ``retries`` times.

    ``notes`` is what the tool wrote down; ``told`` are words the person reads at the end.
    """

    answers: Sequence[Answer] | Callable[[str], Sequence[Answer]]
    retries: int = 0
    notes: tuple[str, ...] = ("one",)
    reason: TurnEnd = TurnEnd.DONE
    told: tuple[str, ...] = ("Done.",)
    limits: Limits = PATIENT


def again(*answers: Answer, limits: Limits = PATIENT) -> Case:
    """Asked again until it goes well."""
    return Case(answers=(*answers, *WELL), retries=len(answers), limits=limits)


def taken(*answers: Answer, notes: tuple[str, ...] = ("one",)) -> Case:
    """Understood as it is."""
    return Case(answers=(*answers, say("Done.")), notes=notes)


def ended(*told: str, answers: Sequence[Answer] | Callable[[str], Sequence[Answer]], retries: int = 0) -> Case:
    """The turn ends with these words, and nothing was done."""
    return Case(answers=answers, retries=retries, notes=(), reason=TurnEnd.ERROR, told=told)


def error_object(kind: str, message: str) -> Callable[[str], Sequence[Answer]]:
    """An error with the status 200, as an object without a stream."""

    def answers(protocol: str) -> Sequence[Answer]:
        api = messages_api if protocol == "messages" else chat_api
        body = api.error_body(400, message, kind)
        return [RawStream(chunks=(body,), content_type="application/json")] * 2  # what was said before is left out once

    return answers


def cut_off(call: Call) -> Callable[[str], Sequence[Answer]]:
    """The output limit ends the reply in the middle of a call."""
    return lambda protocol: [Reply(parts=(Say(TEXT), call), stop=CUT[protocol]), *WELL]


def nested(depth: int) -> str:
    """Arguments so many lists deep, which some readers take and then cannot write again."""
    return '{"say": ' + "[" * depth + "]" * depth + "}"


CASES: dict[str, Case] = {
    # refusals
    **{f"{status}": again(Refuse(status=status)) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)},
    "429 with seconds": again(Refuse(status=429, retry_after="0.01")),
    "429 with a date": again(Refuse(status=429, retry_after=LATER)),
    "503 with a web page": again(Refuse(status=503, body=PAGE, headers={"Content-Type": "text/html"})),
    "500 for ever": ended("HTTP 500", "3 times", "another model", answers=[Refuse(status=500)] * 3, retries=2),
    "429 for an hour": ended("60 minutes", "another model", answers=[Refuse(status=429, retry_after="3600")]),
    "400": ended("HTTP 400", "Bad thing", "another model", answers=[Refuse(status=400, message="Bad thing")] * 2),
    "401": ended("key", "API_KEY", answers=[Refuse(status=401)]),
    "402": ended("payment", "credit", answers=[Refuse(status=402)]),
    "403": ended("key", "API_KEY", answers=[Refuse(status=403)]),
    "404": ended("no model test", "BASE_URL", answers=[Refuse(status=404)]),
    "404 with a web page": ended("no model test", WELCOME, answers=[Refuse(status=404, body=PAGE)]),
    "422": ended("HTTP 422", "another model", answers=[Refuse(status=422)] * 2),
    "501": ended("HTTP 501", "another model", answers=[Refuse(status=501)]),
    "413": ended("too long", "larger window", "new session", answers=[Refuse(status=413)]),
    # connections
    "closed before the headers": Case(answers=(Hangup(), *WELL)),
    "reset before the headers": Case(answers=(Hangup(reset=True), *WELL)),
    "closed before the headers twice": Case(answers=(Hangup(), Hangup(reset=True), *WELL), retries=1),
    "reset after the headers": again(spoilt(fault=Reset(after=-1))),
    "reset in the text": again(spoilt(fault=Reset(after=3), pace=0.001)),
    "reset in the call": again(spoilt(fault=Reset(after=8), pace=0.001)),
    "cut before the first piece": again(spoilt(fault=Truncate(after=0))),
    "cut in the text": again(spoilt(fault=Truncate(after=3))),
    "cut in the call": again(spoilt(fault=Truncate(after=8))),
    "broken off for ever": ended("broke off", "3 times", answers=[spoilt(fault=Truncate(after=3))] * 3, retries=2),
    "slow headers": again(Reply(parts=(Say("Too late."),), delay=20), limits=HASTY),
    "silence after the headers": again(spoilt(fault=Stall(after=-1)), limits=HASTY),
    "silence in the text": again(spoilt(fault=Stall(after=3)), limits=HASTY),
    "silence in the call": again(spoilt(fault=Stall(after=8)), limits=HASTY),
    "all kinds in a row": Case(answers=(Hangup(), spoilt(fault=Truncate(after=3)), *WELL), retries=1),
    # streams
    **{name: taken(wired(name)) for name in WIRES if name not in {"cut_json", "error_line"}},
    "an event that is no JSON": again(wired("cut_json")),
    "an error on a line of its own": again(wired("error_line")),
    "text/plain": taken(spoilt(content_type="text/plain")),
    "application/json that is a stream": taken(spoilt(content_type="application/json")),
    "no content type": taken(spoilt(content_type=None)),
    "an error in mid-stream": again(spoilt(fault=StreamError(after=3))),
    "a refusal in mid-stream": ended(
        "HTTP 400", "Bad tool", answers=[spoilt(fault=StreamError(after=3, type="invalid_prompt", message="Bad tool"))]
    ),
    "a wrong key in mid-stream": ended(
        "key", "API_KEY", answers=[spoilt(fault=StreamError(after=0, type="authentication_error"))]
    ),
    "an error object": ended("Bad thing", "another model", answers=error_object("invalid_request_error", "Bad thing")),
    "a web page": ended("a web page", WELCOME, answers=[RawStream(chunks=(PAGE,), content_type="text/html")]),
    "a web page that calls itself a stream": ended("Welcome", "BASE_URL", answers=[RawStream(chunks=(PAGE,))]),
    "a list": ended("BASE_URL", answers=[RawStream(chunks=(b"[]",), content_type="application/json")]),
    "nothing at all": again(RawStream(chunks=())),
    "comments only": again(RawStream(chunks=(b": wait\n\n",))),
    # what the model does
    "an empty reply": ended("empty reply", answers=[Reply(parts=())]),
    "white space": ended("empty reply", answers=[say(" \n")]),
    "thinking alone": ended("empty reply", answers=[Reply(parts=(Think("Hm."),))]),
    "thinking that is cut off": Case(answers=lambda p: [Reply(parts=(Think("Hm"),), stop=CUT[p]), *WELL]),
    "thinking at the end": taken(Reply(parts=(Say(TEXT), note(), Think("Hm.")))),
    "thinking before white space": ended("empty reply", answers=[Reply(parts=(Think("Hm."), Say(" ")))]),
    "arguments that are no JSON": Case(answers=[say("", Call("note", '{"say": one}')), *WELL]),
    "arguments that are a list": Case(answers=[say("", Call("note", '["one"]')), *WELL]),
    "arguments that end early": Case(answers=[say("", Call("note", '{"say": "on')), *WELL]),
    "arguments with half a character": Case(answers=[say("", Call("note", '{"say": "\\ud83d"}')), *WELL]),
    **{
        f"arguments nested {depth} deep": Case(answers=[say("", Call("note", nested(depth))), *WELL])
        for depth in (101, 130, 957, 5_000, 100_000)
    },
    "arguments with a number that is too large": Case(answers=[say("", Call("note", '{"say": 1e999}')), *WELL]),
    "arguments with what is no number": Case(answers=[say("", Call("note", '{"say": NaN}')), *WELL]),
    "a call cut off": Case(answers=cut_off(Call("note", '{"say": "on'))),
    "a whole call at the cut": Case(answers=cut_off(note())),
    "an unknown tool": Case(answers=[say("", Call("no such tool!", {})), *WELL]),
    "an id twice": taken(say("", note("one", id="c1"), note("two", id="c1")), notes=("one", "two")),
    "an id of an earlier reply": taken(say("", note(id="c1")), say("", note("two", id="c1")), notes=("one", "two")),
    "an id that no service takes": taken(say("", note(id="functions.note:0"))),
    "no id": taken(say("", note("one", id=""), note("two", id="")), notes=("one", "two")),
    "two hundred calls": taken(
        say("", *(note(f"{number}") for number in range(200))), notes=tuple(f"{number}" for number in range(200))
    ),
    "five megabytes of text": taken(Reply(parts=(Say("grün " * 1_000_000, size=4_000), note()))),
    "five megabytes in one event": taken(Reply(parts=(Say("grün " * 1_000_000, size=9_000_000), note()))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_session_gets_over_it(scene, name):
    case = CASES[name]
    stage = scene.stage(limits=case.limits)
    await warm_up(scene, stage)
    scene.server.reply(*(case.answers(scene.protocol) if callable(case.answers) else case.answers))
    end = await stage.send("Write it down.")
    assert end.reason is case.reason, end.text
    assert [words for words in case.told if words not in end.text] == [], end.text
    retries = len(stage.of(RetryScheduled))
    assert retries >= case.retries if case.limits is HASTY else retries == case.retries
    assert tuple(scene.notes) == case.notes
    await scene.is_well(stage)


async def warm_up(scene: Scene, stage: Stage) -> None:
    """A first turn, so that the time to connect the first time is no part of what follows."""
    scene.server.reply(say("Hello."))
    await stage.session.send("Hello.")


REFUSED = {"messages": "refusal", "chat": "content_filter", "responses": "content_filter"}
FULL = {
    "messages": "model_context_window_exceeded",
    "chat": "model_length",
    "responses": "model_context_window_exceeded",
}


async def test_what_a_refused_reply_calls_is_not_run(scene):
    stage = scene.stage()
    scene.server.reply(Reply(parts=(Say("I'd rather not."), note()), stop=REFUSED[scene.protocol]))
    end = await stage.send()
    assert (end.reason, end.text) == (TurnEnd.REFUSED, "I'd rather not.")
    assert scene.notes == []
    await scene.is_well(stage)


async def test_a_text_cut_by_the_output_limit_goes_on(scene):
    stage = scene.stage()
    scene.server.reply(say("One and", stop=CUT[scene.protocol]), say(" two."))
    assert (await stage.send()).text == "One and two."
    await scene.is_well(stage)


async def test_a_reply_that_fills_the_window_runs_nothing_and_says_what_to_do(scene):
    stage = scene.stage()
    scene.server.reply(Reply(parts=(Say("I go"), note()), stop=FULL[scene.protocol]))
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert "larger window" in end.text
    assert scene.notes == []
    await scene.is_well(stage)


async def test_a_turn_that_the_service_pauses_goes_on_by_itself(model_server):
    provider = AnthropicProvider("test", "key", model_server.url)
    scene = Scene("messages", model_server, provider)
    stage = scene.stage()
    model_server.reply(say("Wait a moment.", stop="pause_turn"), say("Done."))
    assert (await stage.send()).text == "Done."
    await scene.is_well(stage)
    await provider.aclose()


async def test_an_empty_reply_is_told(scene):
    stage = scene.stage()
    scene.server.reply(Reply(parts=()))
    end = await stage.send()
    assert end.reason is TurnEnd.ERROR
    assert "another model" in end.text
    await scene.is_well(stage)


@pytest.mark.parametrize("is_date", [False, True])
async def test_the_wait_that_a_service_asks_for_is_kept_and_can_be_stopped(scene, is_date):
    stage = scene.stage()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=280), usegmt=True)
    scene.server.reply(Refuse(status=429, retry_after=date if is_date else "277"))
    turn = asyncio.ensure_future(stage.send())
    pause = await stage.until(lambda event: isinstance(event, RetryScheduled))
    assert 200 <= pause.seconds <= 280
    await asyncio.wait_for(stage.session.cancel(), PATIENCE)
    assert (await turn).reason is TurnEnd.CANCELLED
    await scene.is_well(stage)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def dripping(connection: socket.socket, _: bytes) -> None:
    """Headers that come byte by byte, and never to an end."""
    for byte in b"HTTP/1.1 200 OK\r\nX-Wait: " + b"y" * 50_000:
        connection.sendall(bytes((byte,)))
        time.sleep(0.01)


LONG = {"path": "a", "content": "x" * 4_000}
MOMENTS: dict[str, tuple[Answer, type]] = {
    "before the headers": (Reply(parts=(Say("Too late."),), delay=20), StepStarted),
    "in the headers": (Bare(act=dripping), StepStarted),
    "after the headers": (Reply(parts=(Say("Hm."),), fault=Stall(after=-1)), StepStarted),
    "in the thinking": (Reply(parts=(Think("Let me see what it is."),), fault=Stall(after=1)), ThinkingStreamed),
    "in the text": (Reply(parts=(Say("Let me see what it is."),), fault=Stall(after=1)), TextStreamed),
    "in a call": (Reply(parts=(Call("write", LONG),), fault=Stall(after=9)), CallStreamed),
    "while text streams": (Reply(parts=(Say("word " * 2_000, size=5),), pace=0.005), TextStreamed),
    "while signs of life come": (RawStream(chunks=(b": wait\n\n",) * 9_000, pace=0.005), StepStarted),
    "before another try": (Refuse(status=503, retry_after="200"), RetryScheduled),
    "while a command runs": (say("", Call("bash", {"command": "echo go; sleep 30"})), ToolProgressed),
    "while a question is open": (say("", Call("write", {"path": "a", "content": "x"})), ApprovalAsked),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_it_can_be_stopped_at_once_at_every_moment(scene, moment, tmp_path):
    took: list[float] = []
    while not took or (took[-1] > AT_ONCE and len(took) < TRIES):
        stage = moment_of(scene, moment, tmp_path)
        took.append(await stop(scene, stage, moment))
    assert min(took) <= AT_ONCE
    assert not files_in(tmp_path)
    await scene.is_well(stage)


def moment_of(scene: Scene, moment: str, root: Path) -> Stage:
    """A session that comes to such a moment in its next turn."""
    answer, event = MOMENTS[moment]
    scene.server.reply(answer)
    return scene.stage(Write(root), Shell(root), gate=Person() if event is ApprovalAsked else None)


async def stop(scene: Scene, stage: Stage, moment: str) -> float:
    """Seconds from the wish to stop, at that moment, to the end of the turn."""
    event, before = MOMENTS[moment][1], len(scene.server.requests)
    turn = asyncio.ensure_future(stage.send())
    await stage.until(lambda told: isinstance(told, event))
    if event is StepStarted:
        await asyncio.to_thread(scene.server.wait_for_requests, before + 1)
    began = time.perf_counter()
    await asyncio.wait_for(stage.session.cancel(), PATIENCE)
    took = time.perf_counter() - began
    assert (await turn).reason is TurnEnd.CANCELLED
    return took


async def test_it_can_be_stopped_at_once_while_the_history_is_summed_up(scene):
    took: list[float] = []
    while not took or (took[-1] > AT_ONCE and len(took) < TRIES):
        stage = scene.stage()
        scene.server.reply(*(say("Words. " * 300) for _ in range(4)))
        for _ in range(4):
            await stage.session.send("More words. " * 200)
        before = len(scene.server.requests)
        scene.server.reply(Reply(parts=(Say("Too late."),), delay=20))
        summing = asyncio.ensure_future(stage.session.compact("the words"))
        await asyncio.to_thread(scene.server.wait_for_requests, before + 1)
        began = time.perf_counter()
        await asyncio.wait_for(stage.session.cancel(), PATIENCE)
        took.append(time.perf_counter() - began)
        await summing
    assert min(took) <= AT_ONCE
    await scene.is_well(stage)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_it_can_be_stopped_at_once_while_it_connects(scheme):
    """Nobody takes the connection, or nobody answers in the handshake; the SDK may still be loading, on its thread."""
    took: list[float] = []
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        url = f"{scheme}://127.0.0.1:{deaf.getsockname()[1]}"
        while not took or (took[-1] > AT_ONCE and len(took) < TRIES):
            provider = AnthropicProvider("test", "key", url)
            stage = Scene("messages", None, provider).stage()
            turn = asyncio.ensure_future(stage.send())
            await stage.until(lambda told: isinstance(told, StepStarted))
            await asyncio.sleep(0.3 * len(took))
            began = time.perf_counter()
            await asyncio.wait_for(stage.session.cancel(), PATIENCE)
            took.append(time.perf_counter() - began)
            assert (await turn).reason is TurnEnd.CANCELLED
            await provider.aclose()
    assert min(took) <= AT_ONCE


async def test_only_the_failed_step_of_a_turn_is_asked_for_again(scene, tmp_path):
    (tmp_path / "a").write_text("A")
    stage = scene.stage(Read(tmp_path))
    first = say("", note("one"), Call("read", {"path": "a"}))
    scene.server.reply(first, spoilt(fault=Truncate(after=8)), Refuse(status=529), say("", note("two")), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one", "two"]
    assert {result.outcome for result in stage.results().values()} == {Outcome.OK}
    await scene.is_well(stage)


async def test_a_weak_model_that_writes_its_calls_as_text_gets_its_work_done(model_server):
    provider = OpenAIChatProvider("test", "", model_server.openai_url)
    scene = Scene("chat", model_server, provider)
    stage = scene.stage()
    cut = '<tool_call>{"name": "note", "arguments": {"say": "on'
    model_server.reply(
        say('<think>Hm.</think>I write.\n<tool_call>\n{"name": "note", "arguments": {"say": "one"}}\n</tool_call>'),
        say("<function=note>\n<parameter=say>\ntwo\n</parameter>\n</function>"),
        say(cut),
        say(cut, stop="length"),
        say('{"name": "note", "parameters": {"say": "three"}}'),
        say("Done."),
    )
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one", "two", "three"]
    assert [result.outcome for result in stage.results().values()].count(Outcome.FAILED) == 1
    assert "<" not in "".join(event.text for event in stage.of(TextStreamed))
    await scene.is_well(stage)
    await provider.aclose()


@pytest.mark.parametrize("scene", ["messages", "chat"], indirect=True)
async def test_a_reply_that_is_whole_is_taken_though_its_stream_never_ends(scene):
    """These two have a stop reason before their last event."""
    stage = scene.stage()

    def without_last_event(stream: bytes):
        end = stream.rindex(b"data: [DONE]" if scene.protocol == "chat" else b"event: message_stop")
        yield stream[:end]

    scene.server.reply(spoilt(wire=without_last_event), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one"]
    await scene.is_well(stage)


async def test_a_server_that_does_not_stream_is_understood(scene):
    whole = {
        "messages": {
            "type": "message", "stop_reason": "tool_use",
            "content": [{"type": "text", "text": TEXT},
                        {"type": "tool_use", "id": "c1", "name": "note", "input": {"say": "one"}}],
        },
        "chat": {"choices": [{"finish_reason": "tool_calls", "message": {"content": TEXT, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "note", "arguments": '{"say": "one"}'}}]}}]},
        "responses": {
            "object": "response", "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": TEXT}]},
                       {"type": "function_call", "call_id": "c1", "name": "note", "arguments": '{"say": "one"}'}],
        },
    }[scene.protocol]  # fmt: skip
    stage = scene.stage()
    raw = json.dumps(whole, indent=2).encode()
    scene.server.reply(RawStream(chunks=(raw,), content_type="application/json"), say("Done."))
    assert (await stage.send()).text == "Done."
    assert scene.notes == ["one"]
    assert "".join(event.text for event in stage.of(TextStreamed)).startswith(TEXT)
    await scene.is_well(stage)
