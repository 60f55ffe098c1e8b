"""The question about what a project brings along: it stands before the session, and nothing answers it by accident."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual import events

from codeagent.core.approvals import (
    ApprovalRequest,
    Approve,
    Decision,
    Deny,
    ProjectEntry,
    ProjectPreview,
    Scope,
    Verdict,
    Withdraw,
)
from codeagent.core.errors import NotOpened
from codeagent.tui.screens.main import QUIET_SECONDS

TRUST, THIS_RUN = Approve(scope=Scope.PROJECT), Approve(scope=Scope.SESSION)


def project_request(*, text="Use tabs.\n", change="", gone=()) -> ApprovalRequest:
    entries = (
        ProjectEntry(
            name=".codeagent/config.toml",
            effect="settings",
            text='[model]\nname = "x/[y]"\n',
            notes=("sets model.name",),
        ),
        ProjectEntry(name="AGENTS.md", effect="instructions for the model, 1 line", text=text, change=change),
    )
    preview = ProjectPreview(root=Path("/src/shop"), entries=entries, gone=gone)
    verdict = Verdict(decision=Decision.ASK, because="Whoever wrote these files decides with them.")
    return ApprovalRequest(call_id="project", tool="trust", preview=preview, touches=(), verdict=verdict)


class Question:
    """Asks about a project before the session opens, as the real opening does, and keeps the answers."""

    def __init__(self, request=None):
        self.request = request or project_request()
        self.answers = []
        self.openings = []

    async def __call__(self, approver, opening):
        self.openings.append(opening)
        answer = await approver.ask(self.request)
        self.answers.append(answer)
        if isinstance(answer, Withdraw):
            raise NotOpened("It was not answered.")


async def live(stage):
    dialog = stage.app.main.approval
    await stage.until(lambda: dialog.has_focus and dialog.answers_to(events.Focus().time))


@pytest.mark.parametrize(("key", "answer"), [("y", TRUST), ("r", THIS_RUN), ("n", Deny())])
async def test_each_answer_opens_the_session(stage_of, key, answer):
    question = Question()
    async with stage_of(first=question, size=(100, 40)) as stage:
        await live(stage)
        assert not stage.opened.is_set()
        assert "waiting for you" in stage.text
        await stage.press_slowly(key)
        await stage.until(stage.opened.is_set)
        assert question.answers == [answer]
        await stage.until(lambda: stage.app.focused is stage.app.main.prompt)


async def test_all_files_are_listed_and_shown_as_they_are(stage_of):
    question = Question(
        project_request(text="Use [b]tabs[/b].\u202eEvil\x1b[2J\n", change="changed", gone=("CLAUDE.md",))
    )
    async with stage_of(first=question, size=(100, 50)) as stage:
        await live(stage)
        await stage.until(lambda: "Do you trust what shop brings along?" in stage.text)
        assert "They are not what you trusted before" in stage.text
        assert "instructions for the model, 1 line · changed" in stage.text
        assert "sets model.name" in stage.text
        assert 'name = "x/[y]"' in stage.text
        assert "Use [b]tabs[/b].<U+202E>Evil<U+001B>[2J" in stage.text
        assert any(line.split()[1:3] == ["CLAUDE.md", "gone"] for line in stage.text.splitlines())


async def test_what_was_not_seen_to_its_end_takes_a_second_yes(stage_of):
    question = Question(project_request(text="line\n" * 300))
    async with stage_of(first=question) as stage:
        await live(stage)
        await stage.press_slowly("y")
        await stage.until(lambda: "lines were never seen" in stage.text)
        assert question.answers == []
        await stage.press_slowly("r")
        await stage.until(lambda: question.answers == [THIS_RUN])


async def test_blank_lines_hide_nothing(stage_of):
    question = Question(project_request(text="Nice." + "\n" * 400 + "Nasty."))
    async with stage_of(first=question, size=(100, 50)) as stage:
        await live(stage)
        await stage.until(lambda: "<399 empty lines>" in stage.text)
        assert "Nasty." in stage.text


@pytest.mark.parametrize("sentence", ["you only", "no", "yes please", "run it", "read this", "test it"])
@pytest.mark.parametrize("seconds", [0.0, 0.1], ids=["machine speed", "ten keys a second"])
async def test_a_sentence_goes_to_the_prompt_whole_and_answers_nothing(stage_of, sentence, seconds):
    question = Question()
    async with stage_of(first=question) as stage:
        await live(stage)
        for character in sentence:
            stage.app.post_message(events.Key("space" if character == " " else character, character))
            await asyncio.sleep(seconds)
        await stage.until(lambda: stage.app.main.prompt.text == sentence)
        await asyncio.sleep(QUIET_SECONDS)
        assert question.answers == []


async def test_a_paste_never_answers(stage_of):
    question = Question()
    async with stage_of(first=question) as stage:
        await live(stage)
        stage.app.post_message(events.Paste("y\ny\n"))
        await stage.until(lambda: stage.app.main.prompt.text == "y\ny\n")
        assert question.answers == []


async def test_keys_typed_while_the_program_starts_answer_nothing(stage_of):
    gate, question = asyncio.Event(), Question()
    async with stage_of(first=question, gate=gate) as stage:
        await stage.type("yyy")
        gate.set()
        await stage.until(lambda: stage.app.main.approval.waiting)
        await stage.type("y")
        await asyncio.sleep(QUIET_SECONDS + 0.1)
        assert question.answers == []
        assert stage.app.main.prompt.text == "yyyy"
        assert stage.app.focused is stage.app.main.prompt


async def test_enter_alone_means_nothing_and_the_first_choice_is_not_now(stage_of):
    question = Question()
    async with stage_of(first=question) as stage:
        await live(stage)
        await stage.pilot.press("enter")
        await stage.pilot.pause(0.05)
        assert question.answers == []
        await stage.pilot.press("right", "enter")
        await stage.until(lambda: question.answers == [Deny()])


@pytest.mark.parametrize("key", ["t", "a", "e", "space", "j"])
async def test_answers_of_calls_mean_nothing_here_and_are_typed(stage_of, key):
    question = Question()
    async with stage_of(first=question) as stage:
        await live(stage)
        await stage.press_slowly(key)
        assert question.answers == []
        assert stage.app.main.approval.is_at_question


async def test_the_key_for_this_run_is_a_letter_at_other_questions(stage_of, ask_diff):
    answers = []

    async def turn(emit, approver):
        answers.append(await approver.ask(ask_diff(hunks=1)))

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await live(stage)
        await stage.press_slowly("r")
        assert answers == []
        assert stage.app.main.approval.waiting == 1


async def test_what_was_sent_meanwhile_goes_out_after_the_answer(stage_of):
    question = Question()
    async with stage_of(first=question) as stage:
        await stage.until(lambda: stage.app.main.approval.waiting)
        await stage.type("fix it\n")
        await stage.until(lambda: "fix it" in stage.text)
        await live(stage)
        await stage.press_slowly("n")
        await stage.until(lambda: stage.desks and stage.conversation.sent == ["fix it"])


async def test_leaving_without_an_answer_opens_nothing(stage_of):
    question = Question()
    async with stage_of(first=question) as stage:
        await live(stage)
        await stage.pilot.press("ctrl+c", "ctrl+c")
        await stage.until(lambda: question.answers)
        assert question.answers == [Withdraw(reason="codeagent was closed")]
        assert stage.desks == []
        assert stage.app.return_code in {0, None}


async def test_no_second_session_is_opened_behind_the_question(stage_of):
    question = Question()
    async with stage_of(first=question, size=(100, 40)) as stage:
        await live(stage)
        await stage.type("/new")
        await stage.until(lambda: stage.app.main.prompt.text == "/new")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.main.prompt.is_empty)
        assert stage.app.main.approval.waiting == 1
        assert len(question.openings) == 1
        await live(stage)
        await stage.press_slowly("n")
        await stage.until(lambda: len(question.openings) == 2)


async def test_the_question_takes_the_rows_its_text_needs_but_two(stage_of):
    async with stage_of(
        first=Question(project_request(text="".join(f"row {n}\n" for n in range(12)))), size=(120, 40)
    ) as stage:
        await live(stage)
        assert "row 11" in stage.text
        assert "more of" not in stage.text
    async with stage_of(first=Question(project_request(text="line\n" * 300)), size=(120, 40)) as stage:
        await live(stage)
        assert stage.app.main.transcript.size.height + stage.app.main.greeting.outer_size.height >= 2


async def test_the_question_fits_every_screen_and_survives_a_resize(stage_of):
    question = Question(project_request(text="A long line of instructions that wraps. " * 40))
    async with stage_of(first=question, size=(120, 40)) as stage:
        await live(stage)
        for size in ((60, 15), (200, 60), (40, 12), (80, 24)):
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause()
            await stage.until(lambda: "not now" in stage.text and "trust it" in stage.text)
        await stage.press_slowly("n")
        await stage.until(lambda: question.answers == [Deny()])


async def test_esc_means_not_now(stage_of):
    question = Question()
    async with stage_of(first=question, size=(100, 40)) as stage:
        await live(stage)
        await stage.pilot.press("escape")
        await stage.until(lambda: question.answers == [Deny()])
        await stage.until(stage.opened.is_set)


async def test_the_command_asks_again_for_a_new_session(stage_of):
    question = Question()
    async with stage_of(first=question, size=(100, 40)) as stage:
        await live(stage)
        await stage.press_slowly("n")
        await stage.until(stage.opened.is_set)
        await stage.until(lambda: stage.app.focused is stage.app.main.prompt)
        await stage.type("/trust\n")
        await stage.until(lambda: len(question.openings) == 2)
        assert question.openings[1].asks_trust
        await live(stage)
        await stage.press_slowly("r")
        await stage.until(lambda: question.answers == [Deny(), THIS_RUN])
        await stage.until(lambda: len(stage.desks) == 2)


async def test_a_yes_to_all_calls_is_no_yes_to_a_project(stage_of, ask_diff):
    answers = {}

    async def turn(emit, approver):
        async def ask(request):
            answers[request.call_id] = await approver.ask(request)

        async with asyncio.TaskGroup() as group:
            for request in (ask_diff("c1", hunks=1), project_request()):
                group.create_task(ask(request))

    async with stage_of(turn, size=(100, 50)) as stage:
        await stage.type("go\n")
        await live(stage)
        await stage.press_slowly("right_square_bracket", "left_square_bracket")
        await live(stage)
        await stage.press_slowly("Y")
        await stage.until(lambda: answers)
        assert list(answers) == ["c1"]


async def test_init_sends_the_request_for_instructions(stage_of):
    async with stage_of() as stage:
        await stage.type("/init\n")
        await stage.until(lambda: stage.conversation.sent)
        assert "write AGENTS.md in its top folder" in stage.conversation.sent[0]


async def test_the_window_names_the_instructions_and_what_became_of_them(stage_of):
    async with stage_of(size=(100, 50)) as stage:
        await stage.type("/context\n")
        await stage.until(lambda: "Instructions in the system prompt" in stage.text)
        assert "1,200" in stage.text
        assert "changed since the session began: /new takes it up" in stage.text
