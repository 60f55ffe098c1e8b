"""The program is killed in the middle of a step, and the session is resumed from its journal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from codeagent.agent.history import restore
from codeagent.core.messages import Outcome
from codeagent.store.journal import JournalFile
from tests.agent.stage import Model, Read, Shell, Stage, assert_valid, reply

ROOT = Path(__file__).parents[2]
PROGRAM = """
import asyncio, sys
from pathlib import Path
from codeagent.core.events import ToolProgressed
from codeagent.store.journal import JournalFile
from tests.agent.stage import Model, Read, Shell, Stage, call, reply

folder = Path(sys.argv[1])
(folder / "a").write_text("the text of a")
slow = call("c2", "bash", command="echo go; exec sleep 30")
calls = [call("c1", "read", path="a"), slow, call("c3", "read", path="a")]
journal = JournalFile(folder / "journal.jsonl", redact=str)
stage = Stage(Model(reply("I look.", *calls)), Read(folder), Shell(folder), journal=journal)
stage.listeners.append(lambda event: print("go", flush=True) if isinstance(event, ToolProgressed) else None)
asyncio.run(stage.session.send("Do it."))
"""


async def test_after_a_kill_in_mid_step_the_session_goes_on_with_what_is_known(tmp_path):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(tmp_path), cwd=ROOT, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 30) == b"go\n"
    os.killpg(process.pid, signal.SIGKILL)
    await process.communicate()

    journal, past = JournalFile.reopen(tmp_path / "journal.jsonl", redact=str)
    history = restore(past.events)
    assert_valid(history)
    read, bash, never = history[-1].results
    assert (read.outcome, read.text) == (Outcome.OK, "the text of a")
    assert {bash.outcome, never.outcome} == {Outcome.CANCELLED}

    stage = Stage(Model(reply("Going on.")), Read(tmp_path), Shell(tmp_path), history=history, journal=journal)
    assert (await stage.session.send("Go on.")).turn == 2
    journal.close()
    journal, past = JournalFile.reopen(tmp_path / "journal.jsonl", redact=str)
    journal.close()
    assert restore(past.events) == stage.session.messages
