import asyncio
import contextlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.containers import Vertical

from codeagent.core.approvals import (
    Access,
    Approve,
    Concern,
    ConcernKind,
    Decision,
    Deny,
    DiffPreview,
    Hold,
    NoPreview,
    Scope,
    TextPreview,
    Touch,
    Verdict,
    VerdictPart,
)
from codeagent.core.diff import make_diff
from codeagent.tui.widgets.approval import CLICK_SECONDS
from tests.tui.scenes import change


class Asking:
    """A turn that asks all its questions at once and keeps the answers."""

    def __init__(self, *requests):
        self.requests = requests
        self.answers = {}

    async def __call__(self, emit, approver):
        async def ask(request):
            self.answers[request.call_id] = await approver.ask(request)

        async with asyncio.TaskGroup() as group:
            for request in self.requests:
                group.create_task(ask(request))


async def ask(stage):
    """Starts the turn and walks to the question, as a person does with Tab."""
    await stage.type("go\n")
    await stage.to_question()


async def test_a_change_is_shown_with_numbers_signs_and_certainty(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff(hunks=1))) as stage:
        await ask(stage)
        assert "edit shop/cart.py  +1 −1 · exact match" in stage.text
        assert "− line 3" in stage.text
        assert "+ line three" in stage.text


async def test_what_an_edit_forgave_is_shown(stage_of, ask_diff):
    request = ask_diff()
    request = replace(request, preview=replace(request.preview, level="other quotes"))
    async with stage_of(Asking(request)) as stage:
        await ask(stage)
        assert "· other quotes" in stage.text


@pytest.mark.parametrize("lines", [1, 60])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_follows_is_told_right_from_the_first_frame_on(stage_of, ask_command, lines, size):
    request = ask_command("\n".join(f"echo {number}" for number in range(lines)))
    async with stage_of(size=size) as stage:
        dialog = stage.app.main.approval
        with stage.app._context():
            dialog.add(1, request)
        at_first = str(dialog._border_subtitle or "")
        await stage.until(lambda: dialog.outer_size.height == dialog._rows)
        await stage.pilot.pause()
        assert str(dialog._border_subtitle or "") == at_first
        assert at_first == "" if lines == 1 else re.fullmatch(r"↓ \d\d more of \d\d lines", at_first)


async def test_only_the_chosen_hunks_are_approved_and_the_reason_goes_along(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.pilot.press("j", "space")
        assert "y approve 1 hunk  n deny" in stage.text
        assert "left out" in stage.text
        await stage.press_slowly("y")
        await stage.until(lambda: not stage.app.main.approval.is_at_question)
        await stage.type("thirty is right")
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve(hunks=frozenset({0}), feedback="thirty is right")


async def test_a_hunk_taken_out_can_be_put_back(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("space", "space", "end", "y")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve()


async def test_no_hunk_at_all_is_no_approval(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("space", "j", "space", "y")
        await stage.until(lambda: "No hunk is chosen" in stage.text)
        assert asking.answers == {}


async def test_t_denies_with_a_sentence_for_the_model(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("t")
        await stage.type("y n Y keep it")
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Deny(feedback="y n Y keep it")


@pytest.mark.parametrize(("size", "most"), [((80, 24), 4), ((60, 15), 2), ((80, 11), 1)])
async def test_a_long_sentence_has_up_to_four_rows_and_the_keys_stay(stage_of, ask_diff, size, most):
    words = " ".join(f"word-{number}" for number in range(60))
    asking = Asking(ask_diff())
    async with stage_of(asking, size=size) as stage:
        await ask(stage)
        await stage.press_slowly("t")
        field = stage.app.main.approval._text._sentence
        await stage.type("because")
        await stage.until(lambda: "because" in stage.text)
        assert field.size.height == 1
        stage.app.post_message(events.Paste(f" {words}"))
        await stage.until(lambda: "word-59" in stage.text and field.size.height == most)
        await stage.until(lambda: "enter" in stage.text and "esc back" in stage.text)
        assert ("word-40" in stage.text) is (most > 2)
        assert stage.app.main.approval._body.size.height >= 1
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Deny(feedback=f"because {words}")


async def test_the_sentence_is_taken_back_word_by_word(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("t")
        await stage.type("keep all this")
        await stage.pilot.press("ctrl+u", "ctrl+underscore")
        await stage.until(lambda: "keep all this" in stage.text)
        await stage.pilot.press("ctrl+underscore", "enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Deny(feedback="keep all")


async def test_escape_leaves_the_sentence_and_not_the_turn(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("t", "x", "escape")
        assert "deny, why" in stage.text
        assert stage.conversation.is_running
        assert stage.app.main.approval.has_focus


async def test_a_shows_the_exact_rules_before_one_is_stored(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("end", "a")
        assert "edit(shop/**)" in stage.text
        assert "every change below shop/" in stage.text
        await stage.press_slowly("a", "y")
        assert asking.answers == {}
        await stage.pilot.press("2")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve(scope=Scope.PROJECT)


async def test_a_question_that_is_asked_each_time_offers_no_rule(stage_of, ask_command):
    asking = Asking(ask_command("rm -rf build"))
    async with stage_of(asking) as stage:
        await ask(stage)
        assert "always" not in stage.text
        await stage.press_slowly("a", "1")
        await stage.until(lambda: "This is asked each time" in stage.text)
        assert asking.answers == {}


async def test_a_command_is_edited_before_it_runs(stage_of, ask_command):
    asking = Asking(ask_command("pytest"))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("e", "end")
        await stage.type(" -q")
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve(edited="pytest -q")


SUMMARY = TextPreview(title="compact", text="## Task\nAll.", is_proposal=True)
MIXED = "one\r\ntwo\nthree\r\n"


@pytest.mark.parametrize("what", ["a change", "a new file", "mixed line ends", "a command", "a summary"])
async def test_leaving_the_editor_without_a_change_brings_the_question_back_and_answers_nothing(
    stage_of, ask_diff, ask_command, what
):
    change = ask_diff(hunks=1)
    asked = {
        "a change": change,
        "a new file": replace(change, preview=DiffPreview(diff=make_diff("n.txt", "", "a\n"), proposal="a\n")),
        "mixed line ends": replace(change, preview=DiffPreview(diff=make_diff("a", "one\r\n", MIXED), proposal=MIXED)),
        "a command": ask_command("touch zz"),
        "a summary": replace(change, preview=SUMMARY),
    }[what]
    asking = Asking(asked)
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("e", "ctrl+s")
        await stage.until(lambda: "Nothing was changed: y approves it as it is" in stage.text)
        assert asking.answers == {}
        assert stage.app.main.approval.is_at_question
        assert stage.app.main.approval.has_keyboard
        await stage.press_slowly("y")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve()


async def test_a_hunk_that_was_left_out_stays_out_when_the_editor_is_left(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("space", "e", "ctrl+s")
        await stage.until(lambda: "y approve 1 hunk" in stage.text)
        assert asking.answers == {}


async def test_the_editor_does_not_lead_round_what_was_never_seen(stage_of, ask_command):
    asking = Asking(ask_command("\n".join(f"echo {number}" for number in range(60))))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("e", "ctrl+s")
        await stage.until(lambda: "Nothing was changed" in stage.text)
        await stage.press_slowly("y")
        await stage.until(lambda: "lines were never seen" in stage.text)
        assert asking.answers == {}


async def test_a_command_of_which_nothing_is_left_is_not_sent(stage_of, ask_command):
    asking = Asking(ask_command("touch zz"))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("e")
        editor = stage.app.focused
        editor.load_text(" ")
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: "Nothing is left of it: esc goes back, and there n denies" in stage.text)
        assert stage.app.focused is editor
        assert asking.answers == {}


async def test_of_several_commands_each_reason_stands_below_its_own(stage_of, ask_command):
    reasons = {"touch": "`touch` may change something", "rm": "`rm` may change something"}
    parts = tuple(
        VerdictPart(words=(name, "x"), decision=Decision.ASK, because=because) for name, because in reasons.items()
    )
    verdict = Verdict(decision=Decision.ASK, because="`touch` may change something.", parts=parts)
    request = replace(ask_command("touch x; rm x"), verdict=verdict, warnings=("x would be deleted.",))
    async with stage_of(Asking(request)) as stage:
        await ask(stage)
        await stage.pilot.press("question_mark")
        await stage.until(lambda: "`rm` may" in stage.text)
        rows = [row.strip(" │") for row in stage.text.split("\n")]
        first = rows.index("ask   touch x")
        assert [row for row in rows[first:] if row][:5] == [
            "ask   touch x",
            "`touch` may change something",
            "ask   rm x",
            "`rm` may change something",
            "! x would be deleted.",
        ]


async def test_one_reason_stands_there_once(stage_of, ask_command):
    parts = (VerdictPart(words=("a.py",), decision=Decision.ASK, because="changes are asked about in ask mode."),)
    verdict = Verdict(decision=Decision.ASK, because="Changes are asked about in ask mode.", parts=parts)
    async with stage_of(Asking(replace(ask_command("make"), verdict=verdict))) as stage:
        await ask(stage)
        await stage.pilot.press("question_mark")
        await stage.until(lambda: "Changes are asked about in ask mode." in stage.text)
        assert stage.text.lower().count("asked about in ask mode") == 1


async def test_the_keys_that_are_told_are_those_that_work(stage_of, ask_command):
    asking = Asking(ask_command("make"))
    async with stage_of(asking, keymap={"approve": "ctrl+y", "deny": "f7,x", "why": "w"}) as stage:
        await ask(stage)
        assert "ctrl+y approve  f7 deny" in stage.text
        await stage.press_slowly("w")
        assert "ctrl+y approve  f7 deny  t deny, why  esc back" in stage.text
        await stage.pilot.press("escape")
        await stage.press_slowly("ctrl+y")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve()


@pytest.mark.parametrize(
    ("keys", "remark"),
    [
        (("space", "j", "space", "y"), "No hunk is chosen: f5 denies, f6 puts one back"),
        (("end", "f8"), "2 not looked at yet: this one, then f7 shows the next"),
    ],
)
async def test_what_is_said_at_a_question_names_the_persons_own_keys(stage_of, ask_diff, ask_command, keys, remark):
    own = {"deny": "f5", "toggle-hunk": "f6,space", "next-question": "f7", "approve-all": "f8"}
    asking = Asking(ask_diff("c1"), ask_command("make", "c2"), ask_command("make", "c3"))
    async with stage_of(asking, keymap=own) as stage:
        await ask(stage)
        await stage.press_slowly(*keys)
        await stage.until(lambda: remark in stage.text)


async def test_scrolling_is_told_by_the_persons_own_keys(stage_of, ask_command):
    own = {"line-up": "ctrl+up", "line-down": "ctrl+down"}
    async with stage_of(Asking(ask_command("make")), keymap=own) as stage:
        await ask(stage)
        await stage.press_slowly("j")
        await stage.until(lambda: "There are no hunks here: ctrl+up ctrl+down scroll" in stage.text)


async def test_storing_is_told_by_the_persons_own_keys(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff()), keymap={"give-choice": "f5"}, size=(120, 24)) as stage:
        await ask(stage)
        await stage.press_slowly("a")
        await stage.until(lambda: "1 or f5 for this session" in stage.text)


async def test_a_question_mark_shows_why_it_is_asked(stage_of, ask_command):
    async with stage_of(Asking(ask_command("make"))) as stage:
        await ask(stage)
        await stage.pilot.press("question_mark")
        assert "No rule covers it." in stage.text
        assert "y approve  n deny  t deny, why  esc back" in stage.text
        await stage.press_slowly("escape")
        assert "$ make" in stage.text


async def test_the_reasons_do_not_repeat_the_keys_that_stand_below_them(stage_of, ask_command):
    async with stage_of(Asking(ask_command("make")), size=(80, 24)) as stage:
        await ask(stage)
        await stage.pilot.press("question_mark")
        assert "No rule covers it." in stage.text
        assert "t deny and say why" not in stage.text


async def test_several_questions_are_answered_in_any_order(stage_of, ask_diff, ask_command):
    asking = Asking(ask_diff("c1"), ask_command("make", "c2"))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.until(lambda: "1 of 2 waiting" in stage.text)
        await stage.pilot.press("right_square_bracket")
        await stage.until(lambda: "2 of 2 waiting" in stage.text)
        assert "$ make" in stage.text
        await stage.until(lambda: stage.app.main.approval.answers_to(events.Focus().time))
        await stage.press_slowly("n")
        await stage.until(lambda: asking.answers == {"c2": Deny()})
        assert "− line 3" in stage.text


async def test_approving_all_leaves_those_that_nobody_looked_at(stage_of, ask_diff, ask_command):
    asking = Asking(ask_diff("c1"), ask_command("make", "c2"))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("end", "Y")
        await stage.until(lambda: asking.answers)
        await stage.until(lambda: "1 not looked at yet" in stage.text)
        assert asking.answers == {"c1": Approve()}
        assert "$ make" in stage.text


async def test_the_whole_command_can_be_reached_and_what_follows_is_counted(stage_of, ask_command):
    body = "\n".join(f"echo {number}" for number in range(38))
    asking = Asking(ask_command(f"bash <<'X'\n{body}\nrm -rf ~/precious\nX"))
    for size in ((80, 24), (60, 15)):
        async with stage_of(asking, size=size) as stage:
            await ask(stage)
            assert "more of 43 lines" in stage.text
            assert "y approve" in stage.text
            assert "rm -rf ~/precious" not in stage.text
            await stage.pilot.press("end")
            await stage.until(lambda: "rm -rf ~/precious" in stage.text)
            assert "more of" not in stage.text
            await stage.pilot.press("home", "pagedown", "pageup", "down", "up")
            assert "more of 43 lines" in stage.text


async def test_a_long_word_is_wrapped_and_not_cut(stage_of, ask_command):
    async with stage_of(Asking(ask_command(f"echo {'a' * 300} && touch T"))) as stage:
        await ask(stage)
        shown = "".join(line.strip(" │▁▂▃▄▅▆▇█").removeprefix("↳…") for line in stage.text.splitlines())
        assert "a" * 300 in shown
        assert "touch T" in shown


async def test_an_empty_row_parts_the_keys_from_the_question(stage_of, ask_command):
    async with stage_of(Asking(ask_command("make " + "x " * 900)), size=(80, 24)) as stage:
        await ask(stage)
        rows = stage.text.splitlines()
        keys = next(number for number, row in enumerate(rows) if "y approve" in row)
        assert not rows[keys - 1].strip(" │▁▂▃▄▅▆▇█")


async def test_what_cannot_be_seen_is_written_out(stage_of, ask_command):
    command = f"rm -rf ./\u202etxt.a{' ' * 200}; echo a\u200bb\xadc\x1b[8m"
    async with stage_of(Asking(ask_command(command)), size=(120, 40)) as stage:
        await ask(stage)
        assert "./<U+202E>txt.a <198 blanks> ; echo a<U+200B>b<U+00AD>c<U+001B>[8m" in stage.text


async def test_square_brackets_of_a_command_are_shown_as_they_are(stage_of, ask_command):
    nasty = "echo [/] [bold] [@click=app.quit]q[/]"
    request = ask_command(nasty, warnings=("It [bold]loses[/] things [/x].",))
    async with stage_of(Asking(request)) as stage:
        await ask(stage)
        assert f"$ {nasty}" in stage.text
        assert "! It [bold]loses[/] things [/x]." in stage.text


async def test_brackets_and_escapes_in_a_path_are_shown_as_they_are(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff(path="a[b]\x1b]0;pwn\x07.py"))) as stage:
        await ask(stage)
        assert "edit a[b]<U+001B>]0;pwn<U+0007>.py" in stage.text


async def test_a_file_outside_is_named_by_where_it_really_is(stage_of, ask_command):
    request = replace(
        ask_command("x"),
        tool="read",
        preview=NoPreview(),
        touches=(
            Touch(
                path=Path("/etc/hosts"),
                access=Access.READ,
                written="link",
                concern=Concern(kind=ConcernKind.OUTSIDE, reason="This is outside the workspace."),
            ),
        ),
    )
    async with stage_of(Asking(request)) as stage:
        await ask(stage)
        assert "/etc/hosts" in stage.text
        assert "written as link" in stage.text
        assert "! This is outside the workspace." in stage.text


@pytest.mark.parametrize("hold", Hold)
async def test_how_the_sandbox_holds_a_command_is_said_in_the_same_words_everywhere(stage_of, ask_command, hold):
    async with stage_of(Asking(replace(ask_command("make"), hold=hold))) as stage:
        await ask(stage)
        assert f" · {hold} " in stage.text


async def test_what_would_run_without_the_sandbox_is_not_called_unsandboxed(stage_of, ask_command):
    request = ask_command("make")
    preview = replace(request.preview, held_back="The sandbox would keep it from writing to x.")
    async with stage_of(Asking(replace(request, preview=preview))) as stage:
        await ask(stage)
        assert "runs without the sandbox" in stage.text
        assert "not sandboxed" not in stage.text


async def test_a_click_on_an_answer_gives_it(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        await ask(stage)
        await asyncio.sleep(CLICK_SECONDS)
        await stage.pilot.click("AnswerKeys", offset=(12, 0))
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Deny()


async def test_a_click_on_an_answer_that_was_just_put_there_gives_none(stage_of, ask_diff, monkeypatch):
    asking = Asking(ask_diff())
    async with stage_of(asking) as stage:
        monkeypatch.setattr(
            "codeagent.tui.widgets.approval.CLICK_SECONDS", 600
        )  # "just" lasts, however busy the machine
        await ask(stage)
        await stage.pilot.click("AnswerKeys", offset=(12, 0))
        await stage.pilot.pause()
        assert asking.answers == {}
        monkeypatch.undo()
        await asyncio.sleep(CLICK_SECONDS)
        await stage.pilot.click("AnswerKeys", offset=(12, 0))
        await stage.until(lambda: asking.answers)


async def test_a_very_long_change_opens_at_once(stage_of, ask_diff):
    old = "".join(f"value_{number} = {number}\n" for number in range(10_000))
    new = "".join(f"value_{number} = {number + 1}\n" for number in range(10_000))
    request = replace(ask_diff(), preview=DiffPreview(diff=make_diff("big.py", old, new), proposal=new))
    async with stage_of(Asking(request)) as stage:
        await ask(stage)
        assert "of 20,000 lines" in stage.text
        await stage.pilot.press("end")
        await stage.until(lambda: "value_9999 = 10000" in stage.text)


async def test_escape_leaves_the_editor_and_a_second_e_brings_back_what_was_typed(stage_of, ask_command):
    asking = Asking(ask_command("pytest"))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("e", "end")
        await stage.type(" -q")
        await stage.pilot.press("escape")
        assert stage.app.main.approval.is_at_question
        assert stage.app.focused is stage.app.main.approval
        await stage.press_slowly("e")
        assert "pytest -q" in stage.text
        await stage.pilot.press("ctrl+s")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"] == Approve(edited="pytest -q")


async def test_a_long_sentence_for_the_model_shows_where_it_goes_on(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff())) as stage:
        await ask(stage)
        await stage.press_slowly("t")
        field = stage.app.focused
        await stage.type("begin ")
        stage.app.post_message(events.Paste("word " * 100 + "end"))
        await stage.until(lambda: re.search(r"│ [wor d]+ end", stage.text) and "begin" not in stage.text)
        assert field.show_vertical_scrollbar
        await stage.pilot.press(*["up"] * 9)
        await stage.until(lambda: re.search(r"│ begin word [wor d]+", stage.text) and "end" not in stage.text)
        field.value = "short"
        await stage.until(lambda: re.search(r"│ short +│", stage.text))


async def test_tab_moves_on_from_the_editor_and_back_to_it(stage_of, ask_command):
    async with stage_of(Asking(ask_command("pytest"))) as stage:
        await ask(stage)
        await stage.press_slowly("e")
        editor = stage.app.focused
        await stage.pilot.press("tab")
        assert editor.text == "pytest"
        assert stage.app.focused is not editor
        await stage.pilot.press("tab", "tab")
        assert stage.app.focused is editor


async def test_the_editor_of_a_change_opens_where_it_changes_and_says_what_comes_next(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff())) as stage:
        await ask(stage)
        await stage.press_slowly("j", "e")
        assert stage.app.focused.cursor_location == (29, 0)
        assert "line thirty" in stage.text
        assert "ctrl+s new diff" in stage.text


async def test_a_long_command_is_approved_only_once_all_of_it_was_seen_or_y_was_pressed_again(stage_of, ask_command):
    asking = Asking(ask_command("\n".join(f"echo {number}" for number in range(60))))
    async with stage_of(asking) as stage:
        await ask(stage)
        rows = stage.app.main.approval._body.size.height
        await stage.press_slowly("end", "y")
        assert f"press again: {62 - 2 * rows} lines were never seen" in stage.text
        assert asking.answers == {}
        await stage.press_slowly("y")
        assert asking.answers == {"c1": Approve()}


async def test_a_long_command_all_of_which_was_seen_is_approved_at_once(stage_of, ask_command):
    asking = Asking(ask_command("\n".join(f"echo {number}" for number in range(30))))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("end", "pageup", "pageup", "home", "y")
        assert asking.answers == {"c1": Approve()}


async def test_approving_all_says_first_what_was_not_seen(stage_of, ask_command):
    long = ask_command("\n".join(f"echo {number}" for number in range(60)))
    asking = Asking(long, ask_command("make", "c2"))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("Y")
        assert "never seen" in stage.text
        assert asking.answers == {}


async def test_enter_at_the_rules_takes_the_session_and_where_rules_are_kept_is_said(stage_of, ask_diff):
    asking = Asking(ask_diff(hunks=1))
    async with stage_of(asking) as stage:
        await ask(stage)
        await stage.press_slowly("a")
        assert "grants.json" in stage.text
        await stage.pilot.press("enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers == {"c1": Approve(scope=Scope.SESSION)}


async def test_a_question_that_was_called_off_and_asked_anew_says_that_something_changed(stage_of, ask_diff):
    was_seen = asyncio.Event()

    async def turn(emit, approver):
        first = asyncio.ensure_future(approver.ask(ask_diff()))
        await was_seen.wait()
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first
        await approver.ask(ask_diff())

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: "exact match" in stage.text)
        assert "someone else" not in stage.text
        was_seen.set()
        await stage.until(lambda: "changed just now by someone else" in stage.text)


async def test_s_puts_old_and_new_side_by_side_and_is_remembered(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff(), ask_diff("c2")), size=(130, 40)) as stage:
        await ask(stage)
        assert "s side" in stage.text
        await stage.press_slowly("s")
        assert re.search(r"3 − line 3 +│ +3 \+ line three", stage.text)
        assert "s one" in stage.text
        await stage.until(lambda: stage.bench.chosen.side_by_side)
        await stage.press_slowly("y")
        assert re.search(r"3 − line 3 +│ +3 \+ line three", stage.text)


@pytest.mark.parametrize("size", [(120, 27), (120, 30), (200, 28)])
async def test_looking_at_a_hunk_in_other_ways_moves_nothing_in_the_end(stage_of, size):
    async with stage_of(Asking(change()), size=size) as stage:
        await ask(stage)
        await stage.press_slowly("j", "space")
        before = stage.text
        assert re.search(r"\+ +lines = \[f", before)
        await stage.press_slowly("s", "s", "question_mark", "escape")
        assert stage.text == before


async def test_side_by_side_needs_room(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff())) as stage:
        await ask(stage)
        await stage.press_slowly("s")
        assert "needs a screen of 120 columns" in stage.text
        assert "│   3 + line" not in stage.text


async def test_o_shows_the_lines_around_and_the_change_stays_where_it_is(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff()), size=(120, 40)) as stage:
        await ask(stage)
        await stage.press_slowly("j")
        assert "unchanged lines above" in stage.text
        row = next(at for at, line in enumerate(stage.text.split("\n")) if "line thirty" in line)
        await stage.press_slowly("o")
        assert re.search(r"25 +25 +line 25", stage.text), stage.text
        assert "unchanged lines above" not in stage.text
        assert "line thirty" in stage.text.split("\n")[row]


@pytest.mark.parametrize("keys", ["jo", "sjo", "jso"])
async def test_o_at_a_change_that_was_below_the_last_row_brings_it_into_view(stage_of, ask_diff, keys):
    request = ask_diff()
    before = "".join(f"line {number}\n" for number in range(1, 121))
    after = before.replace("line 10\n", "ten\n").replace("line 60\nline 61\n", "sixty\nsixty-one\n")
    diff = make_diff(request.preview.diff.path, before, after)
    request = replace(request, preview=replace(request.preview, diff=diff, proposal=after))
    async with stage_of(Asking(request), size=(140, 30)) as stage:
        await ask(stage)
        await stage.press_slowly(*keys)
        assert re.search(r"\+ sixty\b", stage.text), stage.text


@pytest.mark.parametrize("keys", ["ooj", "oojk", "ooojjk"])
async def test_walking_to_a_change_far_below_its_heading_shows_the_change(stage_of, ask_diff, keys):
    request = ask_diff()
    before = "".join(f"line {number}\n" for number in range(1, 121))
    after = before.replace("line 60\n", "sixty\n")
    diff = make_diff(request.preview.diff.path, before, after)
    request = replace(request, preview=replace(request.preview, diff=diff, proposal=after))
    async with stage_of(Asking(request), size=(80, 24)) as stage:
        await ask(stage)
        await stage.press_slowly(*keys)
        assert re.search(r"− line 60\b", stage.text), stage.text
        assert re.search(r"\+ sixty\b", stage.text), stage.text


async def test_a_click_on_what_is_folded_shows_it(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff()), size=(120, 50)) as stage:
        await ask(stage)
        lines = stage.text.split("\n")
        y = next(at for at, line in enumerate(lines) if "unchanged lines above" in line)
        await stage.pilot.click(offset=(lines[y].index("unchanged"), y))
        await stage.until(lambda: "line 20" in stage.text)
        assert stage.app.main.approval.waiting


async def test_the_hunks_that_are_chosen_are_the_same_side_by_side_and_unfolded(stage_of, ask_diff):
    asking = Asking(ask_diff())
    async with stage_of(asking, size=(130, 40)) as stage:
        await ask(stage)
        await stage.press_slowly("s", "o", "j", "space", "y", "enter")
        await stage.until(lambda: asking.answers)
        assert asking.answers["c1"].hunks == frozenset({0})


async def test_a_list_over_a_question_stands_on_the_same_columns(stage_of, ask_diff):
    async with stage_of(Asking(ask_diff()), size=(140, 40)) as stage:
        await ask(stage)
        await stage.pilot.press("ctrl+p")
        await stage.until(lambda: "╭─ Commands" in stage.text)
        box = stage.app.screen.query_one(Vertical).region
        question = stage.app.main.approval.region
        assert (box.x, box.right) == (question.x, question.right)
