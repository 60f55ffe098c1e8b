"""The record of a session: written at once, private, and readable after any crash."""

import asyncio
import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.approvals import (
    Access,
    ApprovalRequest,
    Approve,
    CommandPreview,
    Decision,
    DiffPreview,
    Mode,
    Scope,
    Touch,
    Verdict,
)
from codeagent.core.diff import make_diff
from codeagent.core.errors import JournalError, SessionBusy
from codeagent.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    HistoryAppended,
    NoticeGiven,
    SessionStarted,
    ToolEnded,
    ToolPreviewed,
    TurnEnd,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import (
    AssistantMessage,
    ChangeDetails,
    Outcome,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.text import Redactor
from codeagent.store.beside import Beside
from codeagent.store.journal import JournalFile, folder_beside, read_past
from codeagent.store.records import Record, decode_record, encode_record, kept_line, lightened, redacted_line


def same(text: str) -> str:
    return text


DIFF = make_diff("a.py", "a\nb\n", "a\nc\n")
COMMAND = CommandPreview(command="pytest -q", cwd=Path("/tmp"), timeout=120)
EVENTS = (
    SessionStarted(session_id="s", model="m", mode=Mode.ASK, cwd="/tmp"),
    TurnStarted(turn=1, text="héllo 😀"),
    HistoryAppended(message=UserMessage(blocks=(TextBlock(text="hi"),))),
    HistoryAppended(
        message=AssistantMessage(
            blocks=(TextBlock(text="x"), ToolCall(id="1", name="read", arguments_json='{"path": ')),
            stop=StopReason.TOOL_USE,
            usage=Usage(input_tokens=3),
        )
    ),
    ToolPreviewed(call_id="1", preview=DiffPreview(diff=DIFF, proposal="c")),
    ApprovalAsked(
        request=ApprovalRequest(
            call_id="1",
            tool="bash",
            preview=COMMAND,
            touches=(Touch(path=Path("/tmp"), access=Access.WRITE),),
            verdict=Verdict(decision=Decision.ASK, because="mode"),
        )
    ),
    ApprovalSettled(call_id="1", answer=Approve(scope=Scope.SESSION, hunks=frozenset({1, 2}))),
    ToolEnded(
        result=ToolResult(
            call_id="1", blocks=(TextBlock(text="done"),), outcome=Outcome.OK, details=ChangeDetails(diffs=(DIFF,))
        ),
        seconds=0.5,
    ),
    TurnEnded(turn=1, reason=TurnEnd.DONE, text="done"),
)


async def test_every_event_comes_back_as_it_was(tmp_path):
    journal = JournalFile(tmp_path / "s" / "a.jsonl", redact=same)
    for event in EVENTS:
        await journal.append(event)
    journal.close()
    again, past = JournalFile.reopen(journal.path, redact=same)
    again.close()
    assert past.events == EVENTS
    assert past.damaged == 0


async def test_an_event_is_in_the_file_when_append_returns(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", redact=same)
    journal.note(EVENTS[0])
    await journal.append(EVENTS[1])
    assert read_past(journal.path.read_bytes()).events == EVENTS[:2]
    journal.close()


async def test_what_is_only_noted_is_in_the_file_once_the_loop_gets_round_to_it(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", redact=same)
    journal.note(EVENTS[0])
    await asyncio.sleep(0)
    assert not journal.path.exists()
    await journal.append(EVENTS[1])
    for event in EVENTS[2:]:
        journal.note(event)
    await asyncio.sleep(0)
    assert read_past(journal.path.read_bytes()).events == EVENTS
    journal.note(EVENTS[0])
    journal.close()
    await asyncio.sleep(0)
    assert read_past(journal.path.read_bytes()).events == (*EVENTS, EVENTS[0])


async def test_megabytes_are_looked_through_for_secrets_on_a_thread_and_keep_their_place(tmp_path):
    threads: dict[int, int] = {}

    def redact(line: str) -> str:
        threads[len(line)] = threading.get_ident()
        return line.replace("a-secret", "[redacted]")

    journal = JournalFile(tmp_path / "a.jsonl", redact)
    large = HistoryAppended(message=UserMessage(blocks=(TextBlock(text="a-secret " * 500_000),)))
    async with asyncio.TaskGroup() as group:
        for event in (EVENTS[0], large, EVENTS[1]):
            group.create_task(journal.append(event))
    events = read_past(journal.path.read_bytes(), Beside(folder_beside(journal.path))).events
    journal.close()
    assert events[::2] == EVENTS[:2]
    assert events[1].message.blocks[0].text == "[redacted] " * 500_000
    assert threads[max(threads)] != threading.get_ident()


@pytest.mark.parametrize("odd", ["", "\udc80", "sk-ant-0123456789abcdefghijk", "a-secret-of-mine"])
def test_a_record_of_megabytes_is_kept_as_any_other(tmp_path, odd):
    long = f'und so “ja” \\ "{odd}" \n\t\x01' * 20_000
    call = ToolCall(id="1", name="write", arguments_json=long)
    blocks = (ThinkingBlock(text=long, signature="abc", provider="p"), TextBlock(text=long), call)
    message = AssistantMessage(blocks=blocks, stop=StopReason.END_TURN)
    record = Record(at="2026-01-01T00:00:00.000+00:00", event=HistoryAppended(message=message))
    redact, parts, others = Redactor(("a-secret-of-mine",)).redact, Beside(tmp_path / "a"), Beside(tmp_path / "b")
    kept = kept_line(record, redact, parts)
    assert kept == lightened(redacted_line(encode_record(record), redact), others)
    assert {path.name for path in parts.folder.iterdir()} == {path.name for path in others.folder.iterdir()}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
async def test_nobody_else_can_read_it_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        journal = JournalFile(tmp_path / "x" / "y" / "a.jsonl", redact=same)
        await journal.append(EVENTS[0])
    finally:
        os.umask(before)
    journal.close()
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(journal.path.parent.parent.stat().st_mode) == 0o700


async def test_a_torn_last_line_is_set_aside_once_and_spoils_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    journal = JournalFile(path, redact=same)
    await journal.append(EVENTS[0])
    await journal.append(EVENTS[1])
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole + encode_record(Record(at="now", event=EVENTS[2]))[:20])

    journal, past = JournalFile.reopen(path, redact=same)
    assert past.events[:2] == EVENTS[:2]
    assert isinstance(past.events[2], NoticeGiven)
    await journal.append(EVENTS[3])
    journal.close()
    assert path.read_bytes().startswith(whole)

    journal, past = JournalFile.reopen(path, redact=same)
    journal.close()
    assert past.events[3] == EVENTS[3]
    assert sum(isinstance(event, NoticeGiven) for event in past.events) == 1
    assert past.damaged == 0


@given(cut=st.integers(min_value=0, max_value=10_000))
def test_a_record_cut_anywhere_gives_every_whole_line(cut):
    lines = [encode_record(Record(at="now", event=event)) for event in EVENTS]
    data = b"".join(lines)[:cut]
    whole = 0
    while whole < len(lines) and len(b"".join(lines[: whole + 1])) - 1 <= len(data):
        whole += 1
    assert read_past(data).events == EVENTS[:whole]


@given(line=st.binary(max_size=200))
def test_no_line_can_break_the_reading(line):
    assert decode_record(line) is None


def test_a_damaged_line_in_the_middle_is_counted(tmp_path):
    data = (
        encode_record(Record(at="now", event=EVENTS[0]))
        + b"{broken\n"
        + encode_record(Record(at="now", event=EVENTS[1]))
    )
    past = read_past(data)
    assert past.events == EVENTS[:2]
    assert past.damaged == 1


async def test_a_second_program_cannot_open_the_same_session(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", redact=same)
    await journal.append(EVENTS[0])
    with pytest.raises(SessionBusy, match="open in another"):
        JournalFile.reopen(journal.path, redact=same)
    journal.close()
    again, _ = JournalFile.reopen(journal.path, redact=same)
    again.close()


def test_a_record_of_a_newer_version_is_refused_with_advice():
    with pytest.raises(JournalError, match="Update codeagent"):
        decode_record(b'{"v": 99, "at": "now", "event": {}}')


async def test_secrets_are_taken_out_before_anything_is_written(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", redact=lambda text: text.replace("s3cret", "[redacted]"))
    await journal.append(TurnStarted(turn=1, text="my key is s3cret"))
    journal.close()
    assert b"s3cret" not in journal.path.read_bytes()


async def test_a_thought_that_a_secret_was_taken_out_of_loses_its_signature_and_no_other_does(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", redact=lambda text: text.replace("s3cret", "[redacted]"))
    thoughts = [ThinkingBlock(text=text, signature="sig", provider="p") for text in ("it is s3cret", "it is not")]
    message = AssistantMessage(blocks=tuple(thoughts), model="m", stop=StopReason.END_TURN)
    await journal.append(HistoryAppended(message=message))
    journal.close()
    (event,) = read_past(journal.path.read_bytes()).events
    assert [(block.text, block.signature) for block in event.message.blocks] == [
        ("it is [redacted]", ""),
        ("it is not", "sig"),
    ]


async def test_what_is_no_text_is_replaced_and_spoils_nothing(tmp_path):
    journal = JournalFile(tmp_path / "a.jsonl", redact=same)
    odd = CommandPreview(command="cat \udcff", cwd=Path("/tmp/\udcff"), timeout=1)
    await journal.append(TurnStarted(turn=1, text="half \ud83d of a character"))
    await journal.append(ToolPreviewed(call_id="1", preview=odd))
    await journal.append(EVENTS[1])
    journal.close()
    past = read_past(journal.path.read_bytes())
    assert past.damaged == 0
    assert past.events[0].text == "half \ufffd of a character"
    assert past.events[2] == EVENTS[1]


def test_half_a_character_in_a_record_is_replaced_when_it_is_read():
    line = encode_record(Record(at="2026-01-01T00:00:00Z", event=TurnStarted(turn=1, text="a HALF b")))
    past = read_past(line.replace(b"HALF", b"\\uD83d"))
    assert past.damaged == 0
    assert past.events[0].text == "a \ufffd b"
    whole = read_past(line.replace(b"HALF", b"\\uD83d\\ude00"))
    assert whole.events[0].text == "a \U0001f600 b"


def test_a_session_in_which_nothing_was_said_leaves_no_file(tmp_path):
    journal = JournalFile(tmp_path / "s" / "a.jsonl", redact=same)
    journal.note(EVENTS[0])
    journal.close()
    assert not (tmp_path / "s").exists()


async def test_a_folder_that_cannot_be_written_is_told_once_and_what_happened_is_written_later(tmp_path):
    told = []
    (tmp_path / "folder").write_text("")
    journal = JournalFile(tmp_path / "folder" / "a.jsonl", redact=same)
    journal.tell = told.append
    for event in EVENTS[:4]:
        await journal.append(event)
    (notice,) = told
    assert "CODEAGENT_HOME" in notice.text
    (tmp_path / "folder").unlink()
    for event in EVENTS[4:]:
        await journal.append(event)
    journal.close()
    assert read_past(journal.path.read_bytes()).events == EVENTS
    assert "recorded again" in told[1].text


def test_a_link_in_place_of_a_record_is_not_followed(tmp_path):
    (tmp_path / "target").write_text("")
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "target")
    with pytest.raises(JournalError):
        JournalFile.reopen(tmp_path / "a.jsonl", redact=same)
