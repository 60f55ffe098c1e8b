"""What crashes, full disks, old versions and other programs leave of a record, and what is made of it."""

import asyncio
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.agent.history import restore
from codeagent.core.errors import JournalError, SessionBusy
from codeagent.core.events import HistoryAppended, NoticeGiven, ToolEnded, TurnStarted
from codeagent.core.messages import ResultsMessage, TextBlock, ToolResult
from codeagent.store.beside import GONE, LARGE, Beside
from codeagent.store.journal import MOST_UNWRITTEN, JournalFile, folder_beside, read_past
from codeagent.store.records import VERSION, Record, encode_record, upgraded

OLD = Path(__file__).with_name("session_version_1.jsonl")
FIRST, SECOND, THIRD = (TurnStarted(turn=number, text=f"message {number} – ä") for number in (1, 2, 3))


def line(event, version: int = VERSION) -> bytes:
    return encode_record(Record(at="now", event=event)).replace(b'{"v":%d' % VERSION, b'{"v":%d' % version, 1)


def large(text: str = "much output\n" * 3_000) -> ToolEnded:
    return ToolEnded(result=ToolResult(call_id="c1", blocks=(TextBlock(text=text),)))


def reopened(path: Path):
    journal, past = JournalFile.reopen(path, redact=str)
    return journal, past


def turns(past) -> list[int]:
    return [event.turn for event in past.events if isinstance(event, TurnStarted)]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "s" / "a.jsonl"


@pytest.fixture
def put(path):
    def write(data: bytes) -> Path:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    return write


# --- old and new versions


def test_a_record_of_the_first_version_opens_and_goes_on(put):
    put(OLD.read_bytes())
    journal, past = reopened(put(OLD.read_bytes()))
    asyncio.run(journal.append(THIRD))
    journal.close()
    assert past.damaged == 0
    assert turns(past) == [1, 2]
    assert restore(past.events)
    assert journal.path.read_bytes().startswith(OLD.read_bytes())
    assert turns(read_past(journal.path.read_bytes())) == [1, 2, 3]


def test_each_version_is_led_to_the_next_one():
    steps = [lambda event: {**event, "two": 2}, lambda event: {**event, "three": event["two"] + 1}]
    assert upgraded({"one": 1}, 1, steps) == {"one": 1, "two": 2, "three": 3}
    assert upgraded({"two": 5}, 2, steps) == {"two": 5, "three": 6}
    assert upgraded({}, 3, steps) == {}


@pytest.mark.parametrize("tail", [b"", b'{"v":99,"at"'])
def test_a_record_of_a_newer_version_is_refused_and_stays_as_it_was_and_free(put, tail):
    data = line(FIRST) + line(SECOND, version=99) + tail
    path = put(data)
    for _ in range(2):
        with pytest.raises(JournalError, match="Update codeagent"):
            reopened(path)
    assert path.read_bytes() == data


# --- torn, glued and zeroed ends


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(line(SECOND)[:-9], id="half a line"),
        pytest.param(b"{", id="one character"),
        pytest.param(line(SECOND)[: line(SECOND).index("ä".encode()) + 1], id="half a character"),
        pytest.param(bytes(4096), id="zeros"),
        pytest.param(line(SECOND)[:30] + bytes(500), id="half a line and zeros"),
        pytest.param(b"\xff\xfe\x00garbage", id="no text"),
        pytest.param(b"[" * 20_000, id="nested without end"),
    ],
)
def test_whatever_stands_at_the_end_what_was_before_and_comes_after_is_whole(put, tail):
    journal, past = reopened(put(line(FIRST) + tail))
    assert turns(past) == [1]
    assert past.torn is not None
    asyncio.run(journal.append(THIRD))
    journal.close()
    again, past = reopened(journal.path)
    again.close()
    assert turns(past) == [1, 3]
    assert (past.damaged, past.torn) == (0, None)


def test_a_last_line_that_lacks_only_its_end_counts_and_nothing_is_said(put):
    journal, past = reopened(put(line(FIRST) + line(SECOND).rstrip(b"\n")))
    asyncio.run(journal.append(THIRD))
    journal.close()
    assert past.torn is None
    assert turns(past) == [1, 2]
    assert turns(read_past(journal.path.read_bytes())) == [1, 2, 3]


def test_a_line_glued_to_half_a_line_or_to_zeros_is_not_lost(put):
    data = line(FIRST)[:25] + line(SECOND) + bytes(64) + line(THIRD)
    journal, past = reopened(put(data))
    journal.close()
    assert turns(past) == [2, 3]


def test_an_empty_file_is_an_empty_session(put):
    journal, past = reopened(put(b""))
    asyncio.run(journal.append(FIRST))
    journal.close()
    assert past.events == ()
    assert turns(read_past(journal.path.read_bytes())) == [1]


def test_events_of_unknown_kinds_are_passed_over_and_counted(put):
    odd = line(FIRST).replace(b"turn_started", b"turn_twisted")
    journal, past = reopened(put(odd + line(SECOND)))
    journal.close()
    assert (turns(past), past.damaged) == ([2], 1)


WRITER = """
import asyncio, sys
from pathlib import Path
from codeagent.core.events import TurnStarted, ToolEnded
from codeagent.core.messages import TextBlock, ToolResult
from codeagent.store.journal import JournalFile

async def write():
    path = Path(sys.argv[1])
    journal = JournalFile.reopen(path, redact=str)[0] if path.exists() else JournalFile(path, redact=str)
    start = int(sys.argv[2])
    for number in range(start, start + 100_000):
        await journal.append(TurnStarted(turn=number, text="words " * (number % 400)))
        if number % 7 == 0:
            blocks = (TextBlock(text=f"{number} " * 8_000),)
            await journal.append(ToolEnded(result=ToolResult(call_id=str(number), blocks=blocks)))
        print(number, flush=True)

asyncio.run(write())
"""


def test_killed_at_random_moments_nothing_that_was_written_is_lost(path):
    chance, start, told = random.Random(7), 1, 0
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)], stdout=subprocess.PIPE)
        for _ in range(chance.randrange(1, 60)):
            told = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        writer.stdout.close()
        writer.wait()
        beside = Beside(folder_beside(path))
        past = read_past(path.read_bytes(), beside)
        assert turns(past)[:told] == list(range(1, told + 1))
        assert past.missing == 0
        start = turns(past)[-1] + 1


def test_a_second_writer_never_gets_in(path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), "1"], stdout=subprocess.PIPE)
    try:
        writer.stdout.readline()
        with pytest.raises(SessionBusy, match="--fork"):
            reopened(path)
    finally:
        writer.kill()
        writer.stdout.close()
        writer.wait()
    journal, past = reopened(path)
    journal.close()
    assert past.damaged == 0


# --- large parts


async def test_large_parts_lie_beside_the_record_once_and_come_back_as_they_were(path):
    journal = JournalFile(path, redact=str)
    events = (FIRST, large(), HistoryAppended(message=ResultsMessage(results=(large().result,))), large("x" * 9))
    for event in events:
        await journal.append(event)
    journal.close()
    assert max(map(len, path.read_bytes().splitlines())) < LARGE
    assert len(list(folder_beside(path).iterdir())) == 1
    again, past = reopened(path)
    again.close()
    assert past.events == events


@pytest.mark.parametrize("harm", ["gone", "cut off", "another's"])
async def test_where_a_part_is_gone_or_damaged_that_is_counted_and_the_session_opens(path, harm):
    journal = JournalFile(path, redact=str)
    for event in (FIRST, large(), SECOND):
        await journal.append(event)
    journal.close()
    (part,) = folder_beside(path).iterdir()
    if harm == "gone":
        shutil.rmtree(part.parent)
    else:
        part.write_bytes(part.read_bytes()[:100] if harm == "cut off" else b'"other"')
    again, past = reopened(path)
    again.close()
    assert past.missing == 1
    assert past.damaged == 0
    assert turns(past) == [1, 2]
    assert past.events[1].result.text == GONE


async def test_where_parts_cannot_be_written_they_stay_in_the_record(path):
    path.parent.mkdir()
    folder_beside(path).write_text("in the way")
    journal = JournalFile(path, redact=str)
    await journal.append(large())
    journal.close()
    assert read_past(path.read_bytes()).events == (large(),)


async def test_what_is_redacted_reaches_no_further_than_its_text_and_no_file(path):
    half_a_key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow"
    journal = JournalFile(path, redact=lambda text: text.split("-----BEGIN")[0].replace("s3cret", "[redacted]"))
    await journal.append(large(f"s3cret {'x' * LARGE * 2}"))
    await journal.append(ToolEnded(result=ToolResult(call_id="2", blocks=(TextBlock(text=half_a_key),)), seconds=5))
    journal.close()
    past = read_past(path.read_bytes(), Beside(folder_beside(path)))
    assert past.damaged == 0
    assert past.events[1].seconds == 5
    assert not any(b"s3cret" in file.read_bytes() for file in path.parent.rglob("*") if file.is_file())


# --- disks that refuse


@pytest.fixture
def small_files():
    """No file may grow over 64 KiB, as on a disk that is nearly full: a write is cut short, then refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size if size >= 0 else before[0], before[1]))

    limit(64 * 1024)
    yield limit
    limit(-1)
    signal.signal(signal.SIGXFSZ, handler)


async def test_a_disk_that_fills_up_is_told_once_and_nothing_is_missing_once_there_is_room(path, small_files):
    told: list[NoticeGiven] = []
    journal = JournalFile(path, redact=str)
    journal.tell = told.append
    events = [TurnStarted(turn=number, text="x" * 900) for number in range(1, 200)]
    for event in events:
        await journal.append(event)
    assert [notice.text[:33] for notice in told] == ["This session is not recorded at t"]
    assert path.stat().st_size == 64 * 1024
    small_files(-1)
    await journal.append(large())
    journal.close()
    assert read_past(path.read_bytes(), Beside(folder_beside(path))).events == (*events, large())
    assert len(told) == 2


async def test_a_disk_that_stays_full_costs_only_so_much_memory(path, small_files, monkeypatch):
    monkeypatch.setattr("codeagent.store.journal.MOST_UNWRITTEN", 100_000)
    journal = JournalFile(path, redact=str)
    for number in range(400):
        await journal.append(TurnStarted(turn=number, text="x" * 900))
    assert len(journal._unwritten) <= 100_000
    assert journal._noted == []
    journal.close()
    assert MOST_UNWRITTEN > 100_000


async def test_a_record_that_may_only_be_read_opens_and_the_session_goes_on(path, put):
    put(line(FIRST))
    told: list[NoticeGiven] = []
    journal, past = reopened(path)
    journal._refusal = OSError(30, "Read-only file system")  # as a record on such a disk is opened
    journal.tell = told.append
    await journal.append(SECOND)
    await journal.append(THIRD)
    journal.close()
    assert turns(past) == [1]
    assert len(told) == 1
    assert "Read-only file system" in told[0].text
    assert path.read_bytes() == line(FIRST)


@pytest.mark.skipif(os.getuid() != 0, reason="becomes somebody else, which only root may")
def test_somebody_who_may_only_read_the_record_can_still_open_it(put, tmp_path):
    path = put(line(FIRST))
    path.chmod(0o644)
    for folder in (path.parent, *path.parent.parents):
        if folder.is_relative_to(Path("/tmp")) and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            journal, past = JournalFile.reopen(path, redact=str)
            asyncio.run(journal.append(SECOND))
            journal.close()
            code = 0 if turns(past) == [1] else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_bytes() == line(FIRST)


# --- who may read it


@pytest.mark.parametrize("umask", [0o000, 0o022])
async def test_everything_of_a_session_is_for_its_owner_alone_whatever_the_umask(path, umask):
    before = os.umask(umask)
    try:
        journal = JournalFile(path, redact=str)
        for event in (FIRST, large(), large("other\n" * 9_000)):
            await journal.append(event)
        journal.close()
    finally:
        os.umask(before)
    for file in (path.parent, *path.parent.rglob("*")):
        assert stat.S_IMODE(file.lstat().st_mode) == (0o700 if file.is_dir() else 0o600), file


async def test_a_link_in_place_of_a_large_part_is_not_written_through(path):
    journal = JournalFile(path, redact=str)
    await journal.append(large())
    (part,) = folder_beside(path).iterdir()
    victim = path.parent / "victim"
    part.unlink()
    part.symlink_to(victim)
    await journal.append(large())
    journal.close()
    assert not victim.exists()
    assert not part.is_symlink()
