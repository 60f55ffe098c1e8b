from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.agent.history import History, restore, user_message
from codeagent.agent.record import Record
from codeagent.core.errors import JournalError
from codeagent.core.events import HistoryAppended, ToolEnded, TurnEnd, TurnEnded
from codeagent.core.messages import Origin, Outcome, ResultsMessage, TextBlock, ToolCall, UserMessage
from tests.agent.stage import MemoryJournal, assert_valid, call, reply, said


def words(text: str = "hi") -> UserMessage:
    return user_message(text, Origin.PROMPT)


def appended(message) -> HistoryAppended:
    return HistoryAppended(message=message)


def test_a_whole_session_comes_back_as_it_was():
    messages = (words(), reply("", call("c1", "read")), ResultsMessage(results=(said("c1", "A"),)), reply("Done."))
    assert restore([appended(message) for message in messages]) == messages


def test_after_a_crash_known_results_are_used_and_the_others_are_reported_as_interrupted():
    past = [
        appended(words()),
        appended(reply("", call("c1", "read"), call("c2", "bash"), call("c3", "read"))),
        ToolEnded(result=said("c3", "third")),
        ToolEnded(result=said("c1", "first")),
    ]
    results = restore(past)[-1].results
    assert [result.call_id for result in results] == ["c1", "c2", "c3"]
    assert (results[0].text, results[2].text) == ("first", "third")
    assert (results[1].outcome, results[1].code) == (Outcome.CANCELLED, "ABORTED")


def test_a_session_resumed_after_a_crash_can_be_restored_again():
    past = [
        appended(words()),
        appended(reply("", call("c1", "read"), call("c2", "read"))),
        ToolEnded(result=said("c2", "known")),
        TurnEnded(turn=1, reason=TurnEnd.ERROR, text=""),
        appended(words("again")),
        appended(reply("Done.")),
    ]
    assert restore(past)[2].results[1].text == "known"
    assert [message.kind for message in restore(past)] == ["user", "assistant", "results", "user", "assistant"]


def test_results_in_the_wrong_order_or_without_calls_are_put_right():
    past = [
        appended(words()),
        appended(ResultsMessage(results=(said("x", "stray"),))),
        appended(reply("", call("c1", "read"), call("c2", "read"))),
        appended(ResultsMessage(results=(said("c2", "B"), said("zz", "?")))),
    ]
    restored = restore(past)
    assert_valid(restored)
    assert len(restored) == 3
    assert restored[-1].results[1].text == "B"


calls = st.lists(st.integers(0, 5), max_size=3)
events = st.lists(
    st.one_of(
        st.builds(lambda: "user"),
        calls.map(lambda ids: ("assistant", tuple(dict.fromkeys(ids)))),
        calls.map(lambda ids: ("results", tuple(ids))),
        st.integers(0, 5).map(lambda number: ("ended", number)),
    )
)


@settings(deadline=None)
@given(events)
def test_whatever_a_journal_holds_the_restored_history_is_valid(plan):
    past = [appended(words())]
    used: set[str] = set()
    for index, item in enumerate(plan):
        match item:
            case "user":
                past.append(appended(words()))
            case ("assistant", numbers):
                ids = [f"{number}-{index}" for number in numbers]
                used.update(ids)
                past.append(appended(reply("x", *(call(one, "read") for one in ids))))
            case ("results", numbers):
                past.append(appended(ResultsMessage(results=tuple(said(f"{n}-{index - 1}", "r") for n in numbers))))
            case ("ended", number):
                past.append(ToolEnded(result=said(f"{number}-{index - 1}", "r")))
    assert_valid([*restore(past), words()])


async def test_a_message_that_cannot_be_written_is_not_in_the_history():
    journal = MemoryJournal()
    journal.refuses = lambda event: True
    told = []
    history = History((), Record(journal, told.append))
    try:
        await history.append(words())
    except JournalError:
        assert (history.messages, told) == ((), [])
    else:
        raise AssertionError("the journal was full")


async def test_results_that_cannot_be_written_are_still_in_the_next_request():
    journal = MemoryJournal()
    history = History((words(), reply("", call("c1", "read"))), Record(journal, print))
    journal.refuses = lambda event: True
    try:
        await history.close_calls(())
    except JournalError:
        assert_valid(history.messages)
    else:
        raise AssertionError("the journal was full")


async def test_ids_stay_unique_when_a_resumed_session_meets_a_service_that_counts_from_zero():
    history = History((words(), reply("", call("call_0", "read"))), Record(MemoryJournal(), print))
    adopted = [history.adopt(reply("", call("call_0", "read"))).calls[0].id for _ in range(3)]
    assert adopted == ["call_0-2", "call_0-3", "call_0-4"]


async def test_texts_that_cannot_be_encoded_are_made_storable_everywhere():
    history = History((), Record(MemoryJournal(), print))
    broken = ToolCall(id="i\ud800", name="n\ud800", arguments_json='"\ud800"')
    adopted = history.adopt(reply("t\ud800", broken))
    assert adopted.blocks == (
        TextBlock(text="t�"),
        ToolCall(id="i�", name="n�", arguments_json='"�"'),
    )
