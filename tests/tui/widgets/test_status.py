from dataclasses import replace
from pathlib import Path

from codeagent.core.approvals import Mode
from codeagent.core.desk import WorkspaceStatus
from codeagent.core.first_words import IDLE_HINTS
from codeagent.tui.widgets.status import Status, StatusLine


async def shown(stage, status):
    stage.app.main.status.show(status)
    await stage.pilot.pause()
    return stage.text.splitlines()[-1]


NO_RULE = "This is asked each time: no rule can answer it"
NOT_READ = "press again: 999 lines were never seen"
BUSY = Status(mode=Mode.ASK, context=0.34, cost=0.12, running=2, is_connecting=False, is_working=True)


async def test_everything_stands_on_one_line(stage_of):
    async with stage_of(size=(120, 30)) as stage:
        line = await shown(stage, BUSY)
        assert "ask · context 34 % · $0.12 · 2 running" in line
        assert line.endswith("enter steer · alt+enter later · esc stop")


async def test_the_keys_are_told_in_a_shorter_form_when_there_is_no_room(stage_of):
    async with stage_of(size=(60, 20)) as stage:
        line = await shown(stage, BUSY)
        assert "2 running" in line
        assert line.endswith("esc stop")
        assert "…" not in line


async def test_enter_says_so_where_it_stops_a_command(stage_of):
    async with stage_of(size=(120, 30)) as stage:
        line = await shown(stage, replace(BUSY, words_stop_command=True))
        assert line.endswith("enter steer, stop command · alt+enter later · esc stop")
    async with stage_of() as stage:
        assert (await shown(stage, replace(BUSY, words_stop_command=True))).endswith("enter steer, stop command")


async def test_an_open_question_is_told_until_it_has_the_keyboard(stage_of):
    async with stage_of() as stage:
        assert "tab answer" in await shown(stage, replace(BUSY, waiting=1))
        line = await shown(stage, replace(BUSY, waiting=1, is_answering=True, running=0))
        assert line.endswith("tab transcript · esc stop")
        assert (await shown(stage, replace(BUSY, waiting=1, is_answering=True))).endswith("esc stop")


async def test_missing_confinement_is_told_at_both_ends(stage_of):
    async with stage_of(size=(120, 30)) as stage:
        folder = stage.app.main.header.heading.root
        stage.app.bridge.show_workspace(
            WorkspaceStatus(root=folder, branch="main", sandbox="sandbox off", held="not sandboxed")
        )
        await stage.pilot.pause()
        assert stage.text.splitlines()[0].endswith("not sandboxed")
        assert "sandbox off" in stage.text.splitlines()[-1]


async def test_news_below_are_told_until_the_end_is_reached(stage_of):
    async with stage_of() as stage:
        assert "↓ 12 new · ctrl+end" in await shown(stage, replace(BUSY, below=12))


async def test_a_remark_goes_by_itself(stage_of):
    async with stage_of() as stage:
        stage.app.main.status.remark("copied", 0.1)
        await stage.until(lambda: stage.text.splitlines()[-1].endswith("copied"))
        await stage.until(lambda: not stage.text.splitlines()[-1].endswith("copied"))


async def test_a_remark_is_shown_whole_where_there_is_no_room_for_both_sides(stage_of):
    question = replace(BUSY, waiting=1, is_answering=True, running=0)
    for columns, remarks in ((40, [NOT_READ]), (60, [NO_RULE, NOT_READ]), (80, [NO_RULE, NOT_READ])):
        async with stage_of(size=(columns, 24)) as stage:
            await shown(stage, question)
            for remark in remarks:
                stage.app.main.status.remark(remark, 600)
                await stage.until(lambda remark=remark: stage.text.splitlines()[-1].endswith(remark))
            stage.app.main.status.forget_remark()
            await stage.until(lambda: "context 34 % · $0.12" in stage.text.splitlines()[-1])


async def test_a_remark_about_a_question_goes_with_it(stage_of):
    async with stage_of(size=(120, 30)) as stage:
        await shown(stage, replace(BUSY, waiting=1, is_answering=True))
        stage.app.main.status.remark("5 more lines not seen", 600)
        await stage.until(lambda: stage.text.splitlines()[-1].endswith("5 more lines not seen"))
        assert "not seen" not in await shown(stage, replace(stage.app.main.status.status, waiting=0))


async def test_the_spinner_turns_only_while_the_agent_works(stage_of):
    async with stage_of() as stage:
        stage.app.main.status._reduced_motion = False
        await shown(stage, BUSY)
        assert stage.app.main.status._spinner is not None
        await shown(stage, replace(BUSY, waiting=1))
        assert stage.app.main.status._spinner is None
        assert "● waiting for you" in stage.text
        await shown(stage, replace(BUSY, is_working=False))
        assert stage.app.main.status._spinner is None


async def test_the_spinner_turns_with_what_is_painted_and_by_itself_only_where_nothing_is(stage_of, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("codeagent.tui.widgets.status.monotonic", lambda: now[0])
    async with stage_of() as stage:
        line = StatusLine(reduced_motion=False, keymap={})
        await stage.app.main.mount(line)
        line.show(BUSY)
        line.turn_along()
        begun = line._frame
        for _ in range(13):  # somewhat more than half a second of a stream
            now[0] += 1 / 24
            line.turn_along()
            turned = line._frame
            line._turn_by_itself()
            assert line._frame == turned
        assert turned in {begun + 3, begun + 4}
        now[0] += 0.2
        line._turn_by_itself()
        assert line._frame == turned + 1


async def test_the_keys_that_are_told_are_those_that_work(stage_of):
    own = {"send": "f5", "stop": "ctrl+x", "help": "f3", "bottom": "f8", "next-pane": "f9", "leave": "ctrl+q"}
    async with stage_of(keymap=own, size=(120, 24)) as stage:
        assert "f5 send · ctrl+p commands · f3 keys" in await shown(stage, Status(is_connecting=False))
        assert "f5 steer · alt+enter later · ctrl+x stop" in await shown(stage, BUSY)
        assert "f9 answer the question · ctrl+x stop" in await shown(stage, replace(BUSY, waiting=1))
        assert "↑ ↓ choose · enter open · c copy · ctrl+q prompt" in await shown(stage, replace(BUSY, is_reading=True))
        assert "↓ 12 new · f8" in await shown(stage, replace(BUSY, below=12))
        completing = Status(is_connecting=False, is_completing=True)
        assert "tab complete · f5 send · esc close" in await shown(stage, completing)
        assert "f5 take · esc close" in await shown(stage, replace(completing, is_choosing=True))


def test_the_prompt_that_stands_first_tells_the_same_keys():
    line = StatusLine(reduced_motion=False, keymap={})
    line.show(Status(is_connecting=False))
    assert line._right()[0].plain == IDLE_HINTS


async def test_a_very_narrow_top_line_leaves_out_rather_than_cuts_twice(stage_of):
    async with stage_of(size=(20, 10)) as stage:
        header = stage.app.main.header
        header.show(replace(header.heading, root=Path("/tmp/work/projd7rwcuo"), branch="main"))
        await stage.pilot.pause()
        assert stage.text.splitlines()[0].split() == ["codeagent", "ask"]


async def test_beside_a_window_nothing_is_said_to_be_starting(stage_of):
    async with stage_of() as stage:
        assert "starting…" in await shown(stage, Status())
        assert "starting…" not in await shown(stage, Status(is_covered=True))
