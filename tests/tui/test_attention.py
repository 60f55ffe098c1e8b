from pathlib import Path

from codeagent.tui.attention import LONG_TURN_SECONDS, WorkState, call_text, title_of


def test_the_title_says_what_is_done_before_where():
    root = Path("/home/me/shop")
    assert [title_of(root, state) for state in WorkState] == [
        "shop · codeagent",
        "working · shop · codeagent",
        "waiting for you · shop · codeagent",
    ]


def test_a_folders_name_cannot_end_the_title():
    title = title_of(Path("/x/a\x1b]2;evil\x07b\u202ec" + "d" * 100), WorkState.IDLE)
    assert title.isprintable()
    assert len(title) < 60


def test_a_question_calls_and_a_long_turn_but_no_short_one():
    root = Path("/shop")
    assert "waits" in call_text(root, None)
    assert "finished" in call_text(root, LONG_TURN_SECONDS)
    assert call_text(root, LONG_TURN_SECONDS - 1) == ""
