"""The conversation goes back before a turn, and forward again; the news between turns; hooks whose run was stopped."""

import asyncio

import pytest

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.history import restore
from codeagent.agent.session import before
from codeagent.core.errors import NothingToUndo
from codeagent.core.events import ConversationRestored, ConversationRewound, HistoryAppended, ToolEnded
from codeagent.core.messages import AssistantMessage, Origin, UserMessage
from tests.agent.stage import Model, Probe, Stage, call, reply


def said(messages):
    return [message.text for message in messages if isinstance(message, UserMessage)]


async def three_turns():
    stage = Stage(Model(reply("one"), reply("two"), reply("three"), reply("four")))
    for text in ("first", "second", "third"):
        await stage.send(text)
    return stage


async def test_the_next_request_carries_only_what_was_before_the_turn():
    stage = await three_turns()
    await stage.session.rewind(2)
    await stage.send("another way")
    assert said(stage.model.requests[-1].messages) == ["first", "another way"]
    assert stage.of(ConversationRewound) == [ConversationRewound(turn=2)]


async def test_a_rewind_can_be_taken_back_until_something_is_said():
    stage = await three_turns()
    await stage.session.rewind(2)
    assert stage.session.rewound_turn == 2
    await stage.session.take_rewind_back()
    assert said(stage.session.messages) == ["first", "second", "third"]
    assert stage.of(ConversationRestored) == [ConversationRestored(turn=2)]
    await stage.session.rewind(3)
    await stage.send("another way")
    with pytest.raises(NothingToUndo):
        await stage.session.take_rewind_back()


async def test_turns_that_are_gone_cannot_be_gone_back_to():
    stage = await three_turns()
    await stage.session.rewind(2)
    with pytest.raises(NothingToUndo):
        await stage.session.rewind(9)


async def test_a_restored_session_uses_no_call_id_again_that_a_rewind_or_a_summary_took_out():
    def calling(*words):
        return Model(*[one for word in words for one in (reply("", call("c1", "look")), reply(word))])

    async def look(say, progress):
        return "word " * 300

    stage = Stage(calling("one", "two"), Probe("look", look))
    await stage.send("first")
    await stage.send("second")
    stage.session.set_provider(Model(reply("Both looked.")))
    await stage.session.compact()
    bookmarks = Bookmarks()
    messages = restore(stage.events, bookmarks)
    again = Stage(
        calling("three", "four"), Probe("look", look), history=messages, before=before(stage.events, bookmarks)
    )
    await again.send("third")
    await again.session.rewind(2)
    await again.send("fourth")
    ids = [one.id for event in (*stage.events, *again.events) if isinstance(event, HistoryAppended)
           and isinstance(event.message, AssistantMessage) for one in event.message.calls]  # fmt: skip
    assert ids == ["c1", "c1-2", "c1-3", "c1-4"]


async def test_a_restored_session_knows_its_turns_and_its_rewinds():
    stage = await three_turns()
    await stage.session.rewind(3)
    await stage.send("fourth")
    bookmarks = Bookmarks()
    messages = restore(stage.events, bookmarks)
    assert said(messages) == ["first", "second", "fourth"]
    assert bookmarks.last_turn == 4
    assert said(bookmarks.rewind(4, list(messages))) == ["first", "second"]


async def test_a_rewind_taken_back_is_restored_as_such():
    stage = await three_turns()
    await stage.session.rewind(1)
    assert said(restore(stage.events)) == []
    await stage.session.take_rewind_back()
    assert said(restore(stage.events)) == ["first", "second", "third"]


async def test_call_ids_stay_used_once_when_a_restored_session_takes_a_rewind_back():
    async def act(say, progress):
        return "done"

    first = Stage(Model(reply("", call("c1", "p")), reply("one")), Probe("p", act))
    await first.send("first")
    await first.session.rewind(1)
    bookmarks = Bookmarks()
    history = restore(first.events, bookmarks)
    steps = reply("", call("c1", "p")), reply("two")
    second = Stage(Model(*steps), Probe("p", act), history=history, before=before(first.events, bookmarks))
    await second.session.take_rewind_back()
    await second.send("second")
    assert len({one.id for message in second.session.messages for one in getattr(message, "calls", ())}) == 2


async def test_what_happened_between_turns_is_told_before_the_next_message():
    told = [["the person took it back"], []]

    async def news():
        return told.pop(0)

    stage = Stage(Model(reply("one"), reply("two")), before_turn=news)
    await stage.send("go on")
    message = stage.model.requests[0].messages[0]
    assert (message.text, message.origin) == ("the person took it back", Origin.HARNESS)
    await stage.send("and on")
    assert said(stage.session.messages) == ["the person took it back", "go on", "and on"]


class Watching:
    def __init__(self):
        self.log = []
        self.has_begun = asyncio.Event()

    async def before(self, call, plan):
        self.log.append("before")
        self.has_begun.set()
        return ""

    async def after(self, call, result):
        self.log.append("after")
        return result

    async def dropped(self, call):
        self.log.append("dropped")
        return "[changed files: created a]"


@pytest.mark.parametrize("how", ["stopped", "faulty"])
async def test_a_hook_hears_of_a_run_without_a_result(how):
    hook = Watching()

    async def act(say, progress):
        if how == "faulty":
            raise RuntimeError("a bug")
        await asyncio.sleep(60)

    stage = Stage(Model(reply("", call("c1", "p"))), Probe("p", act), hooks=(hook,))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(stage.send())
        if how == "stopped":
            await hook.has_begun.wait()
            await stage.session.cancel()
        await turn
    assert hook.log == ["before", "dropped"]
    (result,) = [event.result for event in stage.events if isinstance(event, ToolEnded)]
    assert result.text.endswith("\n[changed files: created a]")
