"""A message is never lost, whatever happens around it: the app with a real session, whose model a test holds back."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.events import Key

from codeagent.core.approvals import Mode
from codeagent.core.context import CompactionStarted
from codeagent.core.desk import Desk
from codeagent.core.errors import JournalError, ProviderRejected
from codeagent.core.events import HistoryAppended, SessionStarted, ToolRunning, TurnEnd, TurnEnded, TurnStarted
from codeagent.core.protocols import ReplyFinished
from codeagent.tui.app import CodeagentApp
from codeagent.tui.widgets.prompt_text import RETURN_SECONDS
from tests.agent.stage import MemoryJournal, Model, Shell, call, reply
from tests.agent.stage import Stage as Talk
from tests.tui.conftest import MemoryWorkbench
from tests.tui.conftest import Stage as Screen

SLOW = reply("", call("c1", "bash", command="touch begun; until [ -e go ]; do sleep 0.02; done"))


@asynccontextmanager
async def opened(talk: Talk):
    """The app in front of the session of ``talk``."""

    async def connect(emit, approver, opening):
        talk.listeners.append(emit)
        bench = MemoryWorkbench(emit=emit)
        screen.desks.append((talk.session, bench))
        emit(SessionStarted(session_id="s-1", model="played/one", mode=Mode.AUTO, cwd="/src/shop"))
        screen.opened.set()
        return Desk(conversation=talk.session, workbench=bench)

    app = CodeagentApp(connect=connect, root=Path.home() / "shop", theme="dark", reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Screen(app=app, pilot=pilot, opened=asyncio.Event(), desks=[])
        await screen.until(screen.opened.is_set)
        await pilot.pause()
        yield screen


def heard(talk: Talk) -> list[str]:
    """What the model was told by the person, in its order."""
    return [message.text for message in talk.session.messages if message.kind == "user"]


def queued(screen: Screen) -> list[str]:
    return [message.text for message in screen.app.main.queue_lines.queued]


async def at_rest(screen: Screen, talk: Talk, turns: int = 1) -> None:
    await screen.until(lambda: len(talk.of(TurnEnded)) >= turns and not talk.session.is_running, 20)
    await screen.pilot.pause()


def held(gate: asyncio.Event, text: str = "Fine."):
    """A step of the model that waits."""

    async def step(request):
        await gate.wait()
        yield ReplyFinished(message=reply(text))

    return step


async def test_what_is_typed_while_a_tool_runs_is_heard_in_its_order(tmp_path):
    talk = Talk(Model(SLOW, reply("Fine.")), Shell(tmp_path))
    async with opened(talk) as screen:
        await screen.type("start\n")
        await screen.until(lambda: talk.of(ToolRunning))
        await screen.type("first\nsecond\n")
        assert queued(screen) == ["first", "second"]
        await screen.until(lambda: screen.bench.kept == "first\nsecond")
        (tmp_path / "go").touch()
        await at_rest(screen, talk)
        assert heard(talk) == ["start", "first", "second"]
        assert queued(screen) == []
        await screen.until(lambda: screen.bench.kept == "")


async def test_what_is_typed_around_the_begin_of_a_compaction_is_heard(tmp_path):
    gate = asyncio.Event()
    talk = Talk(Model(reply("One."), held(gate, "A summary."), reply("Fine."), reply("Fine.")))
    async with opened(talk) as screen:
        await screen.type("one\n")
        await at_rest(screen, talk)
        await screen.type("/compact\n")
        await screen.until(lambda: talk.of(CompactionStarted))
        await screen.type("first\nsecond\n")
        gate.set()
        await screen.until(lambda: "second" in heard(talk) and not talk.session.is_running)
        assert heard(talk)[-2:] == ["first", "second"]
        assert queued(screen) == []


async def test_what_is_sent_in_the_tick_in_which_a_compaction_begins_is_heard():
    talk = Talk(Model(reply("One.")))
    async with opened(talk) as screen:
        await screen.type("one\n")
        await at_rest(screen, talk)
        screen.app.action_command("compact", "")
        screen.app._outgoing.send("first")
        screen.app._outgoing.send("second")
        await screen.until(lambda: {"first", "second"} <= set(heard(talk)) and not talk.session.is_running)
        assert heard(talk)[-2:] == ["first", "second"]
        assert queued(screen) == []


async def test_stopping_gives_back_what_was_not_heard_and_keeps_what_was(tmp_path):
    talk = Talk(Model(SLOW), Shell(tmp_path))
    async with opened(talk) as screen:
        await screen.type("start\n")
        await screen.until(lambda: talk.of(ToolRunning))
        await screen.type("first\n")
        await screen.pilot.press("escape")
        await at_rest(screen, talk)
        assert heard(talk)[0] == "start"
        assert screen.app.main.prompt.text == "first"
        assert queued(screen) == []


async def test_a_turn_that_nobody_was_told_of_yet_is_stopped_in_plain_sight():
    recorded = asyncio.Event()

    class SlowJournal(MemoryJournal):
        """As with megabytes, which are looked through before the turn is told of."""

        async def append(self, event):
            await recorded.wait()
            await super().append(event)

    talk = Talk(Model(reply("Fine.")), journal=SlowJournal())
    async with opened(talk) as screen:
        await screen.type("start\n")
        await screen.until(lambda: talk.session.is_running)
        await screen.pilot.press("escape")
        await screen.until(lambda: "stopping" in screen.text)
        assert not talk.of(TurnStarted)
        recorded.set()
        await at_rest(screen, talk)
        assert "stopping" not in screen.text


async def test_an_error_of_the_service_gives_back_what_was_not_heard(tmp_path):
    gate = asyncio.Event()

    async def fails(request):
        await gate.wait()
        raise ProviderRejected("The service refused the request.")
        yield

    talk = Talk(Model(fails))
    async with opened(talk) as screen:
        await screen.type("start\n")
        await screen.until(lambda: talk.model.requests)
        await screen.type("first\nsecond\n")
        gate.set()
        await at_rest(screen, talk)
        assert screen.app.main.prompt.text == "first\n\nsecond"
        assert queued(screen) == []


async def test_a_model_that_cannot_be_changed_to_loses_nothing(tmp_path):
    talk = Talk(Model(SLOW, reply("Fine.")), Shell(tmp_path))
    async with opened(talk) as screen:
        await screen.type("start\n")
        await screen.until(lambda: talk.of(ToolRunning))
        await screen.type("first\n/model nothing\nsecond\n")
        await screen.until(lambda: "does not name a model" in screen.text)
        (tmp_path / "go").touch()
        await at_rest(screen, talk)
        assert heard(talk) == ["start", "first", "second"]


async def test_a_message_that_the_record_does_not_take_comes_back_to_the_prompt():
    for kind in (TurnStarted, HistoryAppended):
        talk = Talk(Model())
        talk.journal.refuses = lambda event, kind=kind: isinstance(event, kind)
        async with opened(talk) as screen:
            await screen.type("mend it\n")
            await at_rest(screen, talk)
            assert talk.of(TurnEnded)[-1].reason is TurnEnd.ERROR
            assert screen.app.main.prompt.text == "mend it"
            assert heard(talk) == []


async def test_a_message_that_cannot_be_sent_comes_back_to_the_prompt(stage_of):
    async def send(text, images=()):
        raise JournalError("The session's record is gone.")

    async with stage_of() as stage:
        stage.conversation.send = send
        await stage.type("mend it\n")
        await stage.until(lambda: "record is gone" in stage.text)
        assert stage.app.main.prompt.text == "mend it"


async def test_what_still_waits_is_kept_as_the_draft_when_the_app_is_left(tmp_path):
    talk = Talk(Model(SLOW), Shell(tmp_path))
    async with opened(talk) as screen:
        await screen.type("start\n")
        await screen.until(lambda: talk.of(ToolRunning))
        await screen.type("first\nsec")
        await screen.app.action_quit()
        assert screen.bench.kept == "first\nsec"


async def test_a_draft_that_finds_the_prompt_in_use_is_the_newest_of_what_was_typed(stage_of):
    gate = asyncio.Event()
    async with stage_of(gate=gate, draft="unfinished") as stage:
        await stage.type("new")
        gate.set()
        await stage.until(lambda: "unfinished" in stage.app.main.prompt.typed_before)
        assert stage.app.main.prompt.text == "new"
        assert stage.app.main.prompt.typed_before[-1] == "unfinished"
        await stage.until(lambda: stage.bench.typed[-1:] == ["unfinished"])


async def test_escape_right_behind_enter_is_heard():
    talk = Talk(Model(held(asyncio.Event())))
    async with opened(talk) as screen:
        await screen.type("start")
        for key in ("enter", "escape"):  # both are under way at once
            screen.app.post_message(Key(key, None))
        await screen.until(lambda: screen.app.main.prompt.typed_before[-1:] == ("start",))
        await screen.until(lambda: screen.app.main.prompt.text or talk.of(TurnEnded))
        assert [ended.reason for ended in talk.of(TurnEnded)] in ([], [TurnEnd.CANCELLED])
        assert not talk.session.is_running
        await screen.pilot.pause()
        assert not talk.session.is_running


async def test_what_waits_for_the_session_comes_back_before_what_is_typed(tmp_path):
    talk = Talk(Model(reply("Fine.")))
    may_open = asyncio.Event()

    async def connect(emit, approver, opening):
        await may_open.wait()
        return Desk(conversation=talk.session, workbench=MemoryWorkbench(emit=emit))

    app = CodeagentApp(connect=connect, root=tmp_path, theme="dark", reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Screen(app=app, pilot=pilot, opened=asyncio.Event(), desks=[])
        await screen.type("one\ntwo\nthree")
        await screen.until(lambda: queued(screen) == ["one", "two"])
        await pilot.press("escape")
        assert (queued(screen), app.main.prompt.text) == ([], "one\n\ntwo\nthree")
        may_open.set()
        await screen.until(lambda: app.main.status.status.mode is not None)
        await pilot.pause()
        assert heard(talk) == []


def pressed_at_once(app: CodeagentApp, *keys: str) -> None:
    """Puts all these keys on their way before the first of them is heard."""
    for key in keys:
        app.post_message(Key(key, key if len(key) == 1 else None))


async def test_escape_takes_back_what_was_sent_before_it_and_nothing_that_is_sent_behind_it(stage_of):
    async with stage_of(gate=asyncio.Event()) as stage:
        pressed_at_once(stage.app, "escape", "b", "enter")
        await stage.until(lambda: queued(stage) == ["b"])
        pressed_at_once(stage.app, "escape", "x", "enter", "c")
        await stage.until(lambda: stage.app.main.prompt.text == "c")
        await stage.pilot.pause()
        (sent,) = queued(stage)
        assert sent == "b\nx"


async def test_what_goes_on_with_a_text_that_came_back_or_is_typed_later_stays_in_its_line(stage_of):
    async with stage_of(gate=asyncio.Event()) as stage:
        pressed_at_once(stage.app, "a", "enter", "escape", ",", "b")
        await stage.until(lambda: stage.app.main.prompt.text == "a,b")
        await stage.pilot.press("ctrl+u")
        pressed_at_once(stage.app, "a", "enter", "escape")
        await stage.until(lambda: stage.app.main.prompt.text == "a")
        await asyncio.sleep(RETURN_SECONDS)
        await stage.type("b")
        assert stage.app.main.prompt.text == "ab"


async def test_ctrl_c_takes_back_nothing_that_was_sent(stage_of):
    async with stage_of(gate=asyncio.Event()) as stage:
        await stage.type("a\n")
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: "again quits" in stage.text)
        assert queued(stage) == ["a"]
        assert stage.app.main.prompt.is_empty


@pytest.mark.parametrize("keymap", [{}, {"stop": "f7", "take-back": "f8", "mode": "f9"}])
async def test_a_key_about_messages_means_what_was_sent_before_it(stage_of, keymap):
    stop, take_back = keymap.get("stop", "escape"), keymap.get("take-back", "alt+up")
    async with stage_of(gate=asyncio.Event(), keymap=keymap) as stage:
        pressed_at_once(stage.app, "a", "enter", take_back, "b", "enter")
        await stage.until(lambda: queued(stage) == ["ab"])
        pressed_at_once(stage.app, stop, "ctrl+u", "c", "enter")
        await stage.until(lambda: queued(stage) and queued(stage)[0].endswith("c"))
        assert stage.app.main.prompt.is_empty


async def test_a_message_typed_behind_the_key_for_the_mode_finds_the_mode_changed(stage_of):
    modes = []

    async def turn(emit, approver):
        modes.append(stage.bench.current)

    async with stage_of(turn) as stage:
        pressed_at_once(stage.app, "shift+tab", "a", "enter")
        await stage.until(lambda: modes)
        assert modes == [Mode.EDITS]


def scrolled_up(screen: Screen) -> bool:
    return not screen.app.main.transcript.follows


async def scroll_up(screen: Screen) -> None:
    """Goes up in an answer of many screens."""
    screen.app.main.transcript.add_note("\n".join(f"line {number}" for number in range(90)))
    await screen.pilot.pause()
    await screen.pilot.press("pageup", "pageup")
    await screen.until(lambda: scrolled_up(screen))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/nonsense", "There is no command"),
        ("/theme none-such", "There is no theme"),
        ("!ls", " !ls"),
        ("and then", " and then"),
    ],
)
async def test_what_the_person_does_while_scrolled_up_is_answered_in_view(tmp_path, typed, answer):
    talk = Talk(Model(reply("Fine.")), Shell(tmp_path))
    async with opened(talk) as screen:
        await scroll_up(screen)
        await screen.type(f"{typed}\n")
        await screen.until(lambda: answer in screen.text.rpartition("───")[0].rpartition("───")[0])
        assert not scrolled_up(screen)


async def test_steering_leaves_the_person_where_they_scrolled_to(tmp_path):
    gate = asyncio.Event()
    talk = Talk(Model(held(gate, "Done."), reply("Fine.")), Shell(tmp_path))
    async with opened(talk) as screen:
        await screen.type("go on\n")
        await screen.until(lambda: talk.session.is_running)
        await scroll_up(screen)
        await screen.type("faster\n")
        await screen.until(lambda: queued(screen) == ["faster"])
        gate.set()
        await at_rest(screen, talk)
        assert scrolled_up(screen)
