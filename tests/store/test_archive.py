"""Stored sessions: listed, searched, named, copied, exported, removed, and found again after a move."""

import json
import os
import resource
import shutil
import stat
from pathlib import Path

import pytest

from codeagent.agent.history import restore
from codeagent.core.approvals import Approve, Deny, Mode, Scope, Withdraw
from codeagent.core.archive import ExportForm, Speaker
from codeagent.core.diff import make_diff
from codeagent.core.errors import JournalError, SessionBusy
from codeagent.core.events import (
    ApprovalSettled,
    ConversationRewound,
    HistoryAppended,
    ModeChanged,
    ModelChanged,
    SessionStarted,
    ToolEnded,
    TurnEnd,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from codeagent.core.messages import (
    AssistantMessage,
    ChangeDetails,
    ResultsMessage,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from codeagent.core.text import Redactor
from codeagent.store.archive import SessionArchive
from codeagent.store.beside import Beside
from codeagent.store.exporting import exported
from codeagent.store.journal import JournalFile, folder_beside, read_past
from codeagent.store.sessions import Sessions

SECRET = "hunter2-hunter2"
LONG = "all of the output\n" * 4_000


def user(text: str) -> HistoryAppended:
    return HistoryAppended(message=UserMessage(blocks=(TextBlock(text=text),)))


def reply(text: str, *calls: ToolCall) -> HistoryAppended:
    stop = StopReason.TOOL_USE if calls else StopReason.END_TURN
    return HistoryAppended(message=AssistantMessage(blocks=(TextBlock(text=text), *calls), stop=stop))


def turn(number: int, asked: str, answer: str, cost: float = 0.5):
    return (
        TurnStarted(turn=number, text=asked),
        user(asked),
        reply(answer),
        UsageReported(usage=Usage(input_tokens=5), cost=cost),
        TurnEnded(turn=number, reason=TurnEnd.DONE, text=answer, cost=cost),
    )


CALL = ToolCall(id="c1", name="edit", arguments_json='{"path": "shop/cart.py"}')
RESULT = ToolResult(
    call_id="c1",
    blocks=(TextBlock(text=LONG + "the needle in the output"),),
    details=ChangeDetails(diffs=(make_diff("shop/cart.py", "a <b>\n", "a & c\n"),)),
)
RICH = (
    SessionStarted(session_id="x", model="scripted/x", mode=Mode.ASK, cwd="/"),
    TurnStarted(turn=1, text="Why is <b>the total</b> wrong?"),
    user("Why is <b>the total</b> wrong?"),
    reply("Let me *look*. <script>alert(1)</script> ![x](http://evil.example/p.png)", CALL),
    ToolEnded(result=RESULT),
    HistoryAppended(message=ResultsMessage(results=(RESULT,))),
    reply("It was the DISCOUNT: größer als hundert.\n\n```\nfence\n```"),
    UsageReported(usage=Usage(input_tokens=5), cost=1.25),
    TurnEnded(turn=1, reason=TurnEnd.DONE, text="It was the DISCOUNT.", cost=1.25),
    *turn(2, "and the readme?", "It is written.", cost=1.5),
)


@pytest.fixture
def workspace(tmp_path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


@pytest.fixture
def sessions(tmp_path, workspace) -> Sessions:
    return Sessions(tmp_path / "data", workspace)


@pytest.fixture
def archive(sessions, tmp_path) -> SessionArchive:
    return SessionArchive(sessions, Redactor([SECRET]).redact, exported, tmp_path / "checkpoints")


async def keep(sessions: Sessions, session_id: str, *events, age: int = 0) -> Path:
    journal = JournalFile(sessions.path(session_id), redact=Redactor([]).redact)
    for event in events:
        await journal.append(event)
    journal.close()
    os.utime(journal.path, (1_800_000_000 - age, 1_800_000_000 - age))
    sessions.settle()
    return journal.path


def past_of(path: Path):
    return read_past(path.read_bytes(), Beside(folder_beside(path)))


def search(archive: SessionArchive, words: str):
    return list(archive.search(words, lambda: False))


async def test_a_summary_has_title_cost_and_last_words(sessions, archive):
    await keep(sessions, "a", *RICH)
    (summary,) = archive.summaries()
    assert (summary.title, summary.turns, summary.cost) == ("Why is <b>the total</b> wrong?", 2, 1.5)
    assert (summary.model, summary.last_words) == ("scripted/x", "It is written.")


@pytest.mark.parametrize("text", ["/compact", "/compact the tests"])
async def test_what_only_summed_up_is_no_turn_in_the_list(sessions, archive, text):
    await keep(sessions, "a", *turn(1, "go", "done"), *turn(2, text, ""), *turn(3, "/compact\nis what I typed", "yes"))
    assert archive.summaries()[0].turns == 2


async def test_what_only_summed_up_gives_a_summary_no_last_words(sessions, archive):
    summed = (TurnStarted(turn=3, text="/compact the totals"), TurnEnded(turn=3, reason=TurnEnd.DONE, text=""))
    await keep(sessions, "a", *RICH, *summed)
    (summary,) = archive.summaries()
    assert summary.last_words == "It is written."


async def test_words_are_found_in_any_case_also_beyond_ascii_and_the_record_leads_to_them(sessions, archive):
    path = await keep(sessions, "a", *RICH)
    await keep(sessions, "b", *turn(1, "something else", "Nothing."), age=9)
    for words in ("discount", "GRÖßER".replace("SS", "ß"), "größer ALS"):
        (hit,) = search(archive, words)
        assert (hit.session_id, hit.speaker) == ("a", Speaker.AGENT)
        assert hit.text[hit.start : hit.start + hit.length].lower() == words.lower()
        assert past_of(path).events[hit.record] == RICH[6]


async def test_words_of_the_person_of_calls_and_in_large_outputs_are_found(sessions, archive):
    await keep(sessions, "a", *RICH)
    assert [hit.speaker for hit in search(archive, "readme")] == [Speaker.PERSON]
    assert [hit.speaker for hit in search(archive, "shop/cart.py")] == [Speaker.TOOL]
    (hit,) = search(archive, "needle in the output")
    assert (hit.speaker, hit.text) == (Speaker.TOOL, "the needle in the output")


@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("words", ['say "hi"', "C:\\temp", 'GRÖßE "x"', "größe"])
async def test_a_search_finds_quotes_backslashes_and_umlauts_in_the_arguments_of_a_call(
    sessions, archive, words, is_ascii
):
    arguments = json.dumps({"command": 'echo say "hi" C:\\temp größe "x"'}, ensure_ascii=is_ascii)
    await keep(
        sessions, "a", *turn(1, "go", "well"), reply("", ToolCall(id="c", name="bash", arguments_json=arguments))
    )
    (hit,) = search(archive, words)
    assert hit.speaker is Speaker.TOOL


async def test_a_search_that_is_stopped_looks_no_further(sessions, archive):
    await keep(sessions, "a", *RICH)
    await keep(sessions, "b", *RICH, age=9)
    stopped = []
    found = archive.search("discount", lambda: bool(stopped))
    next(found)
    stopped.append(True)
    assert list(found) == []


async def test_a_new_title_stays_and_leaves_the_order_as_it_is(sessions, archive):
    await keep(sessions, "new", *turn(1, "newer", "x"))
    await keep(sessions, "old", *turn(1, "older", "x"), age=99)
    archive.rename("old", "A better\ntitle")
    assert [summary.title for summary in archive.summaries()] == ["newer", "A better title"]


async def test_a_copy_up_to_a_message_has_the_history_before_it_and_leaves_the_origin_alone(sessions, archive):
    path = await keep(sessions, "a", *RICH)
    before = path.read_bytes()
    new_id = archive.fork("a", 2)
    copied = JournalFile.reopen(sessions.path(new_id), redact=str)
    messages = restore(copied[1].events)
    copied[0].close()
    assert messages == restore(RICH[:9])
    assert path.read_bytes() == before
    archive.delete("a")
    assert past_of(sessions.path(new_id)).damaged == 0
    assert search(archive, "needle in the output")[0].session_id == new_id


async def test_a_whole_copy_of_a_session_that_is_open_and_was_cut_off_has_every_whole_line(sessions, archive):
    path = await keep(sessions, "a", *RICH)
    journal, _ = JournalFile.reopen(path, redact=str)
    with path.open("ab") as file:
        file.write(b'{"v":2,"at":"now","eve')
    new_id = archive.fork("a")
    journal.close()
    past = past_of(sessions.path(new_id))
    assert past.damaged == 0
    assert len(past.events) == len(RICH) + 1


async def test_a_message_that_is_not_there_cannot_be_copied_to(sessions, archive):
    await keep(sessions, "a", *RICH)
    with pytest.raises(JournalError, match="no message 7"):
        archive.fork("a", 7)


async def test_deleting_leaves_nothing_and_is_refused_while_the_session_is_open(sessions, archive):
    path = await keep(sessions, "a", *RICH)
    journal, _ = JournalFile.reopen(path, redact=str)
    with pytest.raises(SessionBusy):
        archive.delete("a")
    journal.close()
    assert folder_beside(path).is_dir()
    archive.delete("a")
    assert [one.name for one in sessions.folder.iterdir() if one.name.startswith("a")] == []


async def test_a_page_of_html_runs_nothing_loads_nothing_and_shows_everything(sessions, archive):
    await keep(sessions, "a", *RICH)
    page = archive.export("a", ExportForm.HTML)
    assert "<script" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page
    for shown in ("&lt;b&gt;the total", "<em>look</em>", "+ a &amp; c", "− a &lt;b&gt;", "It is written.", "$1.50"):
        assert shown in page


async def test_an_export_names_mode_and_model_and_how_each_question_was_answered(sessions, archive):
    hostile = "</p><script>alert(1)</script> `*_"
    settled = [
        ApprovalSettled(call_id=f"c{at}", answer=answer)
        for at, answer in enumerate(
            (Approve(scope=Scope.PROJECT), Approve(hunks=frozenset({0})), Deny(feedback=hostile), Withdraw())
        )
    ]
    calls = [ToolCall(id=f"c{at}", name="bash", arguments_json='{"command": "x"}') for at in range(4)]
    results = tuple(ToolResult(call_id=call.id, blocks=()) for call in calls)
    model = ModelChanged(model="openai/other", effort="high")
    told = [RICH[0], ModeChanged(mode=Mode.EDITS), model, reply("", *calls), *settled]
    await keep(sessions, "a", *told, HistoryAppended(message=ResultsMessage(results=results)), *turn(1, "x", "y"))
    page, text = archive.export("a", ExportForm.HTML), archive.export("a", ExportForm.MARKDOWN)
    for shown in (
        "began in ask mode",
        "From here on in edits mode",
        "From here on openai/other answers, with high effort.",
        "you allowed it for this project",
        "you allowed it, in part",
        "you denied it: ",
        "the question closed without an answer",
    ):
        assert shown in page
        assert shown in text
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\\<script\\>" in text


async def test_markdown_escapes_what_was_no_markdown(sessions, archive):
    await keep(sessions, "a", *RICH)
    text = archive.export("a", ExportForm.MARKDOWN)
    assert text.startswith("# Why is \\<b\\>the total")
    assert "> Why is \\<b\\>the total" in text
    assert "```diff\n--- shop/cart.py" in text
    assert "It was the DISCOUNT" in text


async def test_json_has_every_event(sessions, archive):
    await keep(sessions, "a", *RICH)
    found = json.loads(archive.export("a", ExportForm.JSON))
    assert found["session"]["session_id"] == "a"
    assert [one["event"]["kind"] for one in found["events"]] == [event.kind for event in RICH]
    assert "the needle in the output" in json.dumps(found)


@pytest.mark.parametrize("form", ExportForm)
async def test_secrets_leave_every_export_and_nothing_else_does(sessions, archive, form):
    half_a_key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA"
    await keep(sessions, "a", *turn(1, f"my password is {SECRET}", half_a_key), *turn(2, "after", "The end."))
    text = archive.export("a", form)
    assert SECRET not in text
    assert "MIIEpAIBAAKCAQEA" not in text
    assert "The end." in text


async def test_turns_that_were_taken_back_are_not_exported_as_if_they_stood(sessions, archive):
    await keep(sessions, "a", *RICH, ConversationRewound(turn=2), *turn(3, "third", "Instead."))
    text = archive.export("a", ExportForm.MARKDOWN)
    assert "readme" not in text
    assert "Instead." in text


@pytest.mark.parametrize("umask", [0o000, 0o022])
async def test_an_exported_file_is_for_its_owner_alone_and_replaces_nothing_unasked(sessions, archive, tmp_path, umask):
    await keep(sessions, "a", *RICH)
    target = tmp_path / "out.html"
    before = os.umask(umask)
    try:
        archive.export_to("a", target)
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert target.read_text().startswith("<!doctype html>")
        with pytest.raises(JournalError, match="already"):
            archive.export_to("a", target)
        archive.export_to("a", target, replaces=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


async def test_what_is_no_file_is_no_session(sessions, archive):
    await keep(sessions, "one", *turn(1, "a", "b"))
    os.mkfifo(sessions.path("pipe"))
    sessions.path("folder").mkdir()
    sessions.path("link").symlink_to("/etc/hosts")
    assert [summary.session_id for summary in archive.summaries()] == ["one"]
    assert [hit.session_id for hit in archive.search("b", lambda: False)] == ["one"]


async def test_an_ending_that_says_no_form_is_refused(sessions, archive, tmp_path):
    await keep(sessions, "one", *turn(1, "a", "b"))
    with pytest.raises(JournalError, match=r"as \.pdf\. Let the name end in \.md, \.html or \.json\."):
        archive.export_to("one", tmp_path / "one.pdf")
    assert not (tmp_path / "one.pdf").exists()
    archive.export_to("one", tmp_path / "one")
    assert (tmp_path / "one").read_text().startswith("# a")


async def test_a_title_that_cannot_be_written_is_told(sessions, archive):
    await keep(sessions, "one", *turn(1, "a", "b"))
    path = sessions.path("one")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
    try:
        with pytest.raises(JournalError, match="cannot be written: File too large"):
            archive.rename("one", "Better")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert b"Better" not in path.read_bytes()


async def test_an_export_follows_no_link(sessions, archive, tmp_path):
    await keep(sessions, "a", *RICH)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "out.md").symlink_to(victim)
    with pytest.raises(JournalError):
        archive.export_to("a", tmp_path / "out.md")
    archive.export_to("a", tmp_path / "out.md", replaces=True)
    assert victim.read_text() == "mine"
    assert not (tmp_path / "out.md").is_symlink()


async def test_sessions_are_found_again_after_the_directory_was_moved(sessions, workspace, tmp_path):
    await keep(sessions, "a", *RICH)
    moved = tmp_path / "elsewhere" / "renamed"
    moved.parent.mkdir()
    workspace.rename(moved)
    again = Sessions(tmp_path / "data", moved)
    assert again.latest() == "a"
    workspace.mkdir()
    assert Sessions(tmp_path / "data", workspace).paths() == []
    assert Sessions(tmp_path / "data", moved).latest() == "a"


@pytest.mark.parametrize("replacement", [None, "folder", "file"])
async def test_sessions_are_found_again_after_the_directory_was_moved_to_another_disk(
    sessions, workspace, tmp_path, replacement
):
    for number in range(8):
        (workspace / f"f{number}").write_text("x")
        os.utime(workspace / f"f{number}", (1_700_000_000 + number, 1_700_000_000 + number))
    await keep(sessions, "a", *RICH)
    (workspace / "f0").write_text("edited since\n")
    (workspace / "f1").unlink()
    moved = tmp_path / "other disk" / "shop"
    shutil.copytree(workspace, moved, copy_function=shutil.copy2)
    assert Sessions(tmp_path / "data", moved).paths() == []  # so far it is only a copy
    shutil.rmtree(workspace)
    if replacement == "folder":
        workspace.mkdir()
    elif replacement == "file":
        workspace.write_text("")
    assert Sessions(tmp_path / "data", moved).latest() == "a"
    assert Sessions(tmp_path / "data", workspace).paths() == []


async def test_a_directory_made_anew_of_the_same_files_is_another_one(sessions, workspace, tmp_path):
    (workspace / "f").write_text("x")
    os.utime(workspace / "f", (1_700_000_000, 1_700_000_000))
    await keep(sessions, "a", *RICH)
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "f").write_text("x")
    shutil.rmtree(workspace)
    assert Sessions(tmp_path / "data", clone).paths() == []


async def test_sessions_of_a_copy_stay_with_the_directory_that_has_them(sessions, workspace, tmp_path):
    await keep(sessions, "a", *RICH)
    copy = tmp_path / "copy"
    copy.mkdir()
    assert Sessions(tmp_path / "data", copy).paths() == []
    assert Sessions(tmp_path / "data", workspace).latest() == "a"


async def test_sessions_of_a_directory_that_is_gone_are_listed_from_there_and_copied_when_opened(
    sessions, workspace, tmp_path
):
    await keep(sessions, "a", *RICH)
    workspace.rmdir()
    other = tmp_path / "fresh clone"
    other.mkdir()
    here = Sessions(tmp_path / "data", other)
    archive = SessionArchive(here, str, exported, tmp_path / "checkpoints")
    (summary,) = archive.summaries()
    assert summary.place == str(workspace)
    assert here.locate("a").parent == sessions.folder
    new_id = archive.fork("a")
    assert here.latest() == new_id
    assert sessions.latest() == "a"


async def test_one_session_that_a_newer_version_wrote_hides_no_other(sessions, archive):
    await keep(sessions, "good", *RICH)
    newer = sessions.path("newer")
    newer.write_bytes(b'{"v":99,"at":"now","event":{"kind":"turn_started","turn":1,"text":"x"}}\n')
    titles = {summary.session_id: summary.title for summary in archive.summaries()}
    assert titles["good"].startswith("Why is")
    assert "newer version" in titles["newer"]
    assert [hit.session_id for hit in search(archive, "discount")] == ["good"]
    with pytest.raises(JournalError, match="Update codeagent"):
        archive.fork("newer")
