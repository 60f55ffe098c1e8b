"""A session of 10,000 messages opened again: its record read and decoded, the history and the transcript built."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codeagent.agent.bookmarks import Bookmarks
from codeagent.agent.history import restore
from codeagent.agent.session import before
from codeagent.core.approvals import Mode
from codeagent.core.events import SessionStarted
from codeagent.store.journal import JournalFile
from codeagent.store.records import Record, encode_record
from codeagent.store.sessions import Sessions
from codeagent.store.summaries import summary_of
from tests.benchmarks.row import Row, row
from tests.benchmarks.transcript import opened, session

MESSAGES = 10_000
ROUNDS = 5


def run() -> list[Row]:
    """All rows; the parts are of the whole."""
    with tempfile.TemporaryDirectory() as folder:
        path = _kept(Path(folder), MESSAGES)
        parts = [asyncio.run(_parts(path)) for _ in range(ROUNDS)]
        listing = [_cpu(lambda: summary_of(path)) for _ in range(ROUNDS)]
    whole = [sum(one) for one in parts]
    started = [_headless(MESSAGES) - _headless(0) for _ in range(ROUNDS)]
    return [
        row("10,000 messages opened again, all of it: CPU", whole, "s", bar="≤ 1", at_most=1),
        row("  the record read and decoded", [one[0] for one in parts], "s"),
        row("  the history restored", [one[1] for one in parts], "s"),
        row("  the transcript built and drawn", [one[2] for one in parts], "s"),
        row("-c -p on it against a new session, the whole program: CPU", started, "s", bar="≤ 1", at_most=1),
        row("its line in the list of sessions: CPU", [value * 1_000 for value in listing], "ms"),
    ]


def _kept(folder: Path, messages: int) -> Path:
    sessions = Sessions(folder / "data" / "sessions", folder)
    sessions.folder.mkdir(parents=True)
    started = SessionStarted(session_id="a", model="scripted/x", mode=Mode.ASK, cwd=str(folder))
    records = (Record(at="2026-01-02T03:04:05.678+00:00", event=event) for event in (started, *session(messages)))
    path = sessions.path("a")
    path.write_bytes(b"".join(map(encode_record, records)))
    return path


async def _parts(path: Path) -> tuple[float, float, float]:
    async with opened() as app:
        begun = time.process_time()
        journal, past = JournalFile.reopen(path, redact=str)
        events = past.events
        read = time.process_time()
        bookmarks = Bookmarks()
        restore(events, bookmarks)
        before(events, bookmarks)
        restored = time.process_time()
        app.transcript.load(events)
        app.transcript.flush()
        await asyncio.sleep(0.05)
        drawn = time.process_time()
        journal.close()
        return read - begun, restored - read, drawn - restored


def _headless(messages: int) -> float:
    """CPU seconds of a run without a screen that goes on with such a session, or begins one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        script = folder / "script.jsonl"
        script.write_text('{"say": "Done."}\n')
        if messages:
            _kept(folder, messages)
        words = ["-c"] if messages else []
        usage = os.times()
        subprocess.run(
            [sys.executable, "-m", "codeagent", *words, "--model", f"scripted/{script}", "-p", "go on"],
            cwd=folder,
            env={**os.environ, "CODEAGENT_HOME": str(folder)},
            capture_output=True,
            check=True,
        )
        after = os.times()
        return after.children_user + after.children_system - usage.children_user - usage.children_system


def _cpu(work) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
