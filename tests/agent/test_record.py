from pathlib import Path

import pytest

from codeagent.agent.record import Record
from codeagent.core.approvals import ApprovalRequest, CommandPreview, Decision, DiffPreview, Verdict
from codeagent.core.diff import make_diff
from codeagent.core.events import ApprovalAsked, ToolPreviewed, TurnEnd, TurnEnded
from codeagent.store.journal import JournalFile, read_past

WHOLE_FILE = "".join(f"line {number}\n" for number in range(5_000))
DIFF = DiffPreview(diff=make_diff("a.txt", WHOLE_FILE, WHOLE_FILE + "more\n"), proposal=WHOLE_FILE + "more\n")
COMMAND = CommandPreview(command="make", cwd=Path("/work"), timeout=60)


def asked(preview):
    return ApprovalAsked(
        request=ApprovalRequest(
            call_id="c1", tool="edit", preview=preview, touches=(), verdict=Verdict(decision=Decision.ASK, because="")
        )
    )


@pytest.fixture
def kept(tmp_path):
    """What is read from the journal after the events were told."""

    async def keep(*events):
        told = []
        journal = JournalFile(tmp_path / "s.jsonl", lambda text: text)
        record = Record(journal, told.append)
        for event in events:
            record.tell(event)
        await record.write(TurnEnded(turn=1, reason=TurnEnd.DONE, text=""))
        journal.close()
        data = (tmp_path / "s.jsonl").read_bytes()
        return told, [one.event for one in read_past(data).records][:-1], len(data)

    return keep


@pytest.mark.parametrize("event", [ToolPreviewed(call_id="c1", preview=DIFF), asked(DIFF)])
async def test_a_change_is_kept_as_its_diff_without_the_whole_file(kept, event):
    told, stored, size = await kept(event)
    assert told == [event]
    found = stored[0].preview if isinstance(stored[0], ToolPreviewed) else stored[0].request.preview
    assert (found.diff, found.proposal) == (DIFF.diff, "")
    assert size < 3_000


@pytest.mark.parametrize("event", [ToolPreviewed(call_id="c1", preview=COMMAND, label="make"), asked(COMMAND)])
async def test_a_command_is_kept_as_it_was_shown(kept, event):
    assert (await kept(event))[1] == [event]
