"""The keys below a question stand in one row, however many questions wait."""

import asyncio
from dataclasses import replace

import pytest

from codeagent.core.approvals import RuleOffer
from codeagent.core.keys import Place, keys_in_words
from codeagent.tui.widgets.answer_choices import View, choices_of, works_in
from codeagent.tui.widgets.answer_keys import AnswerKeys
from codeagent.tui.widgets.open_questions import OpenQuestion
from tests.tui import scenes
from tests.tui.test_typing_at_questions import until_it_listens

NARROW = 80 - 6
KEYS = keys_in_words(Place.QUESTION, {})


def keys_of(question, waiting, view=View.QUESTION):
    shown = AnswerKeys()
    shown.show(choices_of(question, view, waiting, KEYS, side=None), is_live=True)
    return shown


def texts(keys, width=NARROW):
    return [one.text for one in keys._placed(width)]


@pytest.mark.parametrize("left_out", [set(), {0}], ids=["all hunks", "some hunks"])
@pytest.mark.parametrize("view", [View.QUESTION, View.ASKING_WHY])
def test_all_answers_to_several_questions_about_changes_stand_in_one_row_with_a_word_each(ask_diff, left_out, view):
    question = OpenQuestion(ticket=1, request=ask_diff(), left_out=left_out)
    keys = keys_of(question, waiting=3, view=view)
    assert keys.rows(NARROW) == 1
    answers = [choice.key for choice in keys._choices if not choice.is_extra and choice.key != "]"]
    assert [text.split()[0] for text in texts(keys)] == answers
    assert all(len(text.split()) > 1 for text in texts(keys))


def test_all_keys_of_several_questions_about_commands_stand_in_one_row(ask_command):
    request = replace(ask_command("make"), offers=(RuleOffer(rule="bash(make)", covers="exactly this command"),))
    assert keys_of(OpenQuestion(ticket=1, request=request), waiting=12).rows(NARROW) == 1


def test_words_are_left_out_only_where_there_is_no_room_for_them(ask_diff):
    question = OpenQuestion(ticket=1, request=ask_diff())
    assert "y approve" in texts(keys_of(question, waiting=3))
    assert "? why" in texts(keys_of(question, waiting=1))
    assert "? why am I asked" in texts(keys_of(question, waiting=1), width=114)
    assert keys_of(question, waiting=3).rows(114) == 1
    assert "t deny and say why" in texts(keys_of(question, waiting=3), width=114)


def test_a_wide_screen_names_the_keys_that_walk_between_hunks(ask_diff):
    question = OpenQuestion(ticket=1, request=ask_diff())
    assert "j/k next hunk" in texts(keys_of(question, waiting=1), width=134)
    assert "j/k next hunk" not in texts(keys_of(question, waiting=1), width=80)
    own = keys_in_words(Place.QUESTION, {"next-hunk": "w", "previous-hunk": "q"})
    assert "w/q" in [choice.key for choice in choices_of(question, View.QUESTION, 1, own, side=None)]


@pytest.mark.parametrize("columns", [40, 50, 60, 70])
@pytest.mark.parametrize("waiting", [1, 3, 12])
@pytest.mark.parametrize("view", [View.QUESTION, View.ASKING_WHY])
def test_on_a_narrow_screen_what_can_be_spared_is_left_out_of_the_row(ask_diff, ask_command, columns, waiting, view):
    command = replace(ask_command("make"), offers=(RuleOffer(rule="bash(make)", covers="exactly this command"),))
    for request in (ask_diff(), command):
        keys = keys_of(OpenQuestion(ticket=1, request=request, left_out=set()), waiting=waiting, view=view)
        shown = texts(keys, columns - 6)
        assert keys.rows(columns - 6) == 1
        assert {"y", "n", "?"} <= {text.split()[0] for text in shown} | ({"?"} if view is View.ASKING_WHY else set())
        if columns >= 60:
            assert "t" in {text.split()[0] for text in shown}


def test_what_is_of_most_use_stays_in_the_row(ask_diff):
    shown = texts(keys_of(OpenQuestion(ticket=1, request=ask_diff()), waiting=3), 60 - 6)
    assert shown == ["y approve", "n deny", "t deny, why", "e edit", "a rule", "? why"]


async def test_the_arrows_pass_over_what_is_left_out_and_its_key_works(stage_of, ask_diff):
    async def turn(emit, approver):
        async with asyncio.TaskGroup() as tasks:
            for call_id in ("c1", "c2"):
                tasks.create_task(approver.ask(ask_diff(call_id)))

    async with stage_of(turn, size=(60, 24)) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.waiting == 2)
        await until_it_listens(stage)
        assert "] next" not in stage.text
        for _ in range(6):
            await stage.press_slowly("right")
            assert dialog._keys.chosen in {"approve", "deny", "deny_because", "edit", "always", "why"}
        await stage.press_slowly("right_square_bracket")
        await stage.until(lambda: "2 of 2 waiting" in stage.text)


async def test_the_reasons_name_all_keys_in_full_words_where_there_was_no_room(stage_of, ask_diff):
    async def turn(emit, approver):
        async with asyncio.TaskGroup() as tasks:
            for call_id in ("c1", "c2"):
                tasks.create_task(approver.ask(ask_diff(call_id)))

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        dialog = stage.app.main.approval
        await stage.until(lambda: dialog.waiting == 2)
        await until_it_listens(stage)
        await stage.press_slowly("question_mark")
        await stage.until(lambda: "t deny and say why · space hunk" in stage.text)


@pytest.mark.parametrize("view", [View.QUESTION, View.ASKING_WHY])
def test_at_a_limit_one_goes_on_or_stops_and_no_reason_is_asked_for(view):
    question = OpenQuestion(ticket=1, request=scenes.LIMIT)
    assert texts(keys_of(question, 1, view))[:2] == ["y go on", "n stop"]
    assert not any("deny" in text for text in texts(keys_of(question, 1, view)))
    assert works_in("deny_because", view, question, is_live=True) is False


def test_how_many_hunks_a_yes_is_to_reads_unlike_how_many_questions_wait():
    question = OpenQuestion(ticket=1, request=scenes.change())
    question.left_out = {0}
    assert texts(keys_of(question, 2))[0] == "y 1 hunk"
