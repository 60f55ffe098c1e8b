"""Foreign text is shown as it is wherever it turns up: it is no markup, moves no cursor and hides nothing."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.approvals import Access, CommandPreview, Concern, ConcernKind, DiffPreview, RuleOffer, Touch
from codeagent.core.diff import make_diff
from codeagent.core.events import (
    CallStreamed,
    Level,
    NoticeGiven,
    RetryScheduled,
    SessionStarted,
    TextStreamed,
    ThinkingStreamed,
    ToolEnded,
    ToolPreviewed,
    ToolProgressed,
    ToolRunning,
    ToolStarted,
)
from codeagent.core.messages import CommandDetails, Outcome, TextBlock, ToolResult

HOSTILE = {
    "[/nope]": "[/nope]",
    "[bold red]x[/]": "[bold red]x[/]",
    "[@click=app.quit]x[/]": "[@click=app.quit]x[/]",
    "\x1b]8;;http://evil\x07x\x1b]8;;\x07": "x",
    "\x1b[2J\x1b[H": "",
    "$x \\[": "$x \\[",
}
"""What comes, and what is left to see of it."""


@pytest.fixture(params=HOSTILE, ids=["closing", "style", "action", "link", "cursor", "escape"])
def text(request):
    return request.param


def raw(stage):
    """All that the screen sends to the terminal."""
    return "".join(segment.text for strip in stage.app.screen._compositor.render_strips() for segment in strip)


async def test_in_everything_the_agent_does(stage_of, text):
    async def turn(emit, approver):
        emit(SessionStarted(session_id="s-1", model=f"m {text}", mode="ask", cwd=text))
        emit(NoticeGiven(text=f"note {text}", level=Level.WARNING))
        emit(ThinkingStreamed(text=f"thought {text}"))
        emit(TextStreamed(text=f"said {text}\n\n`code {text}`\n\n- {text}\n\n| {text} |\n|---|\n| {text} |\n"))
        emit(TextStreamed(text=f"\n```{text}\nwhole\n```\n\n[x]({text}) ![{text}](y)\n\n```{text}\nopen\n"))
        emit(CallStreamed(name=f"tool{text}", size=3))
        emit(RetryScheduled(attempt=1, attempts=2, seconds=9, reason=f"failed {text}."))
        for name in (f"tool{text}", "bash"):
            emit(ToolStarted(call_id=name, name=name, arguments_json=f'{{"command": "{text}'))
            preview = CommandPreview(command=text, cwd=Path("/x"), timeout=9)
            emit(ToolPreviewed(call_id=name, preview=preview, label=text))
            emit(ToolRunning(call_id=name))
            emit(ToolProgressed(call_id=name, text=f"out {text}\n"))
            details = CommandDetails(command=text, cwd=text, ended=f"ended {text}", exit_code=1)
            blocks = (TextBlock(text=f"result {text}"),)
            emit(ToolEnded(result=ToolResult(call_id=name, blocks=blocks, outcome=Outcome.OK, details=details)))
        await asyncio.Event().wait()

    async with stage_of(turn, size=(120, 60)) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "result" in stage.text)
        stage.conversation.steer(text)
        await stage.pilot.press("ctrl+o")
        await stage.pilot.pause()
        for place in ("note", "said", "result"):
            assert place in stage.text
        assert f"note {HOSTILE[text]}".strip() in stage.text
        assert "\x1b" not in raw(stage)
        await stage.pilot.press("ctrl+f", *"note")
        await stage.until(lambda: "of 1" in stage.text)


async def test_in_every_view_of_a_question(stage_of, ask_diff, ask_command, text):
    diff = make_diff(f"a{text.replace('/', '')}.py", f"old {text}\n", f"new {text}\n", notes=(f"note {text}",))
    concern = Concern(kind=ConcernKind.SENSITIVE, reason=f"reason {text}")
    request = replace(
        ask_diff(),
        tool=f"edit{text}",
        preview=DiffPreview(diff=diff, proposal=f"new {text}\n", level=f"level {text}", notes=(f"remark {text}",)),
        touches=(Touch(path=Path("/x") / "y", access=Access.WRITE, written=text, concern=concern),),
        warnings=(f"warning {text}",),
        offers=(RuleOffer(rule=f"edit({text})", covers=f"covers {text}"),),
    )
    command = replace(ask_command(f"echo {text}", "c2"), verdict=replace(request.verdict, because=f"because {text}"))

    async def turn(emit, approver):
        async with asyncio.TaskGroup() as group:
            for one in (request, command):
                group.create_task(approver.ask(one))

    async with stage_of(turn, size=(140, 60)) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.waiting == 2)
        await stage.to_question()
        for action, shows in (
            ("other_side", "new "),
            ("always", "covers "),
            ("back", "warning "),
            ("why", ""),
            ("back", "warning "),
        ):
            await dialog.run_action(action)
            await stage.pilot.pause()
            assert shows in stage.text
            assert "\x1b" not in raw(stage)
        dialog.action_switch(1)
        await stage.until(lambda: "echo " in stage.text)
        assert "\x1b" not in raw(stage)


async def test_in_lists_and_remarks(stage_of, text):
    async with stage_of(size=(100, 30)) as stage:
        stage.app.main.status.remark(f"remark {text}", 5)
        stage.app.main.find_bar.open()
        stage.app.main.find_bar._words.value = text
        stage.bench.paths = (f"a{text}", "b")
        await stage.pilot.pause()
        assert "remark" in stage.text
        await stage.pilot.press("escape", "@", "a")
        await stage.pilot.pause(0.1)
        assert "\x1b" not in raw(stage)
