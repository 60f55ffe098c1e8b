"""Finding a session again by age or by its id."""

import os
from pathlib import Path

import pytest

from codeagent.core.approvals import Mode
from codeagent.core.errors import NoSuchSession
from codeagent.core.events import SessionStarted, TurnStarted
from codeagent.store.journal import JournalFile
from codeagent.store.sessions import Sessions
from codeagent.store.summaries import summary_of


async def write(sessions: Sessions, session_id: str, *requests: str, age: int = 0) -> None:
    journal = JournalFile(sessions.path(session_id), redact=str)
    await journal.append(SessionStarted(session_id=session_id, model="scripted/x", mode=Mode.ASK, cwd="/"))
    for turn, text in enumerate(requests, start=1):
        await journal.append(TurnStarted(turn=turn, text=text))
    journal.close()
    os.utime(sessions.path(session_id), (1_000_000 - age, 1_000_000 - age))


async def test_the_latest_is_the_one_used_last(tmp_path):
    sessions = Sessions(tmp_path, Path("/src/shop"))
    await write(sessions, "20260102-a", "new", age=50)
    await write(sessions, "20260101-b", "old but used last", age=10)
    assert sessions.latest() == "20260101-b"


async def test_a_summary_has_the_first_request_the_count_and_the_model(tmp_path):
    sessions = Sessions(tmp_path, Path("/src/shop"))
    await write(sessions, "a", "fix the\n totals", "and the tests")
    summary = summary_of(sessions.path("a"))
    assert (summary.title, summary.turns, summary.model) == ("fix the totals", 2, "scripted/x")


async def test_an_id_may_be_shortened_while_it_is_clear(tmp_path):
    sessions = Sessions(tmp_path, Path("/src/shop"))
    await write(sessions, "abc-1")
    await write(sessions, "abd-2")
    assert sessions.find("abc") == "abc-1"
    with pytest.raises(NoSuchSession, match="2 sessions"):
        sessions.find("ab")
    with pytest.raises(NoSuchSession, match="sessions list"):
        sessions.find("x")


async def test_an_empty_id_means_no_session_even_where_there_is_but_one(tmp_path):
    sessions = Sessions(tmp_path, Path("/src/shop"))
    await write(sessions, "abc-1")
    for find in (sessions.find, sessions.locate):
        with pytest.raises(NoSuchSession, match="empty id"):
            find("")


def test_directories_of_the_same_name_do_not_share_sessions(tmp_path):
    assert Sessions(tmp_path, Path("/a/shop")).folder != Sessions(tmp_path, Path("/b/shop")).folder


def test_without_sessions_the_error_says_what_to_do(tmp_path):
    with pytest.raises(NoSuchSession, match="without -c"):
        Sessions(tmp_path, Path("/src/shop")).latest()
