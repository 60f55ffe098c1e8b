import asyncio
import re

import pytest
from textual import events

from codeagent.core.commands import COMMANDS
from codeagent.tui.driver import TypedText


async def paste(stage, text):
    stage.app.post_message(events.Paste(text))
    await stage.pilot.pause()


async def test_a_paste_with_newlines_never_sends(stage_of):
    async with stage_of() as stage:
        await paste(stage, "one\r\ntwo\rthree\n")
        assert stage.app.main.prompt.text == "one\ntwo\nthree\n"
        assert stage.conversation.sent == []


async def test_a_long_paste_is_folded_and_sent_in_full(stage_of):
    text = "\n".join(f"line {number}" for number in range(45))
    async with stage_of() as stage:
        await stage.type("look ")
        await paste(stage, text)
        assert "look [pasted text #1 · 45 lines]" in stage.text
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == [f"look {text}"])


@pytest.mark.parametrize("end", ["", "\n"])
async def test_what_is_typed_behind_a_folded_paste_begins_a_line_of_its_own(stage_of, end):
    text = "\n".join(f"line {number}" for number in range(45)) + end
    async with stage_of() as stage:
        await paste(stage, text)
        await stage.type("why")
        assert stage.app.main.prompt.text.splitlines() == [stage.app.main.prompt.text.splitlines()[0], "why"]
        await paste(stage, text)
        assert stage.app.main.prompt.text.count("lines]") == 2
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == [f"{text.rstrip()}\nwhy{text}".strip()])


async def test_a_blank_parts_a_folded_line_from_what_is_typed_behind_it(stage_of):
    async with stage_of() as stage:
        await paste(stage, "x" * 5_000)
        await stage.type("why")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == [f"{'x' * 5_000} why"])


@pytest.mark.parametrize("end", ["", "\n"])
async def test_a_folded_paste_with_words_behind_it_opens_as_it_would_be_sent(stage_of, end):
    text = "\n".join(f"line {number}" for number in range(45)) + end
    async with stage_of() as stage:
        await paste(stage, text)
        await stage.type("why")
        prompt = stage.app.main.prompt
        whole = prompt.full_text
        prompt.move_cursor((0, 5))
        prompt.unfold()
        assert prompt.text == whole == f"{text.rstrip()}\nwhy"


async def test_a_folded_paste_is_opened_with_tab_and_deleted_as_a_whole(stage_of):
    text = "\n".join(f"line {number}" for number in range(25))
    async with stage_of() as stage:
        await paste(stage, text)
        await stage.pilot.press("tab")
        assert stage.app.main.prompt.text == text
        await stage.pilot.press("ctrl+c")
        await paste(stage, text)
        await stage.pilot.press("backspace")
        assert stage.app.main.prompt.is_empty


async def test_tab_opens_a_folded_paste_from_its_left_side_too(stage_of):
    text = "\n".join(f"line {number}" for number in range(25))
    async with stage_of() as stage:
        await paste(stage, text)
        await stage.pilot.press("home", "tab")
        assert stage.app.main.prompt.text == text
        assert stage.app.focused is stage.app.main.prompt


@pytest.mark.parametrize("end", ["", "\n"])
async def test_a_text_written_in_the_editor_keeps_the_pastes_that_are_whole_folded(stage_of, end):
    first, second = ("\n".join(f"{name} {number}" for number in range(25)) + end for name in ("one", "two"))
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        await paste(stage, first)
        await stage.type("between")
        prompt.insert_typed("\n" + second)
        shown, whole = prompt.text, prompt.full_text
        prompt.put_folded(whole)
        assert (prompt.text, prompt.full_text) == (shown, whole)
        changed = whole.replace("one 7", "1 7").replace("between", "in the middle")
        prompt.put_folded(changed)
        assert prompt.full_text == changed
        assert prompt.text.count("[pasted text #") == 1
        prompt.put_folded("none of it")
        assert prompt.text == "none of it"


@pytest.mark.parametrize("end", ["", "\n"])
async def test_a_draft_that_comes_back_has_its_pastes_folded(stage_of, end):
    text = "\n".join(f"line {number}" for number in range(45)) + end
    async with stage_of(draft=f"look {text}\nwhy", pasted=(text,)) as stage:
        prompt = stage.app.main.prompt
        await stage.until(lambda: "look [pasted text #1 · " in stage.text)
        assert prompt.text.endswith("]\n\nwhy" if end else "]\nwhy")
        assert prompt.full_text == f"look {text}\nwhy"
        await stage.type("?")
        await stage.until(lambda: stage.bench.pasted == (text,))


@pytest.mark.parametrize(("before", "end"), [("look ", ""), ("", "and go on"), ("look ", "why")])
async def test_a_paste_that_an_earlier_run_sent_is_folded_in_the_history(stage_of, before, end):
    text = "".join(f"line {number}\n" for number in range(45))
    whole = f"{before}{text}{end}".strip()
    kept = text if end else text.strip()
    async with stage_of(typed=("older", whole, "newer"), pasted=(kept,)) as stage:
        prompt = stage.app.main.prompt
        await stage.pilot.press("up", "up")
        await stage.until(lambda: f"{before}[pasted text #1 · 45 lines]" in stage.text.replace("46", "45"))
        assert prompt.full_text == whole
        await stage.pilot.press("up", "up", "up")
        assert prompt.text == "older"
        await stage.pilot.press("ctrl+c")
        await paste(stage, text + "more")
        assert prompt.text.startswith("[pasted text #2 · ")


@pytest.mark.parametrize(("before", "end"), [("look ", "\n"), ("", " and go on"), ("\n", "\n")])
async def test_a_paste_that_was_sent_is_folded_again_in_the_history(stage_of, before, end):
    text = "\n".join(f"line {number}" for number in range(45)) + "\n"
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.insert_typed(before)
        await paste(stage, text)
        prompt.insert_typed(end)
        whole = prompt.full_text.strip()
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == [whole])
        await stage.pilot.press("up")
        assert prompt.text.count("[pasted text #1") == 1
        assert prompt.full_text.strip() == whole


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (120, 40)])
@pytest.mark.parametrize(("count", "told"), [(8, ""), (9, "↓ 1 more"), (30, "↓ 22 more"), (31, "↓ 22+ more")])
async def test_of_files_that_fit_it_is_said_how_many_follow(stage_of, size, count, told):
    async with stage_of(size=size) as stage:
        stage.bench.paths = tuple(f"shop/number/{number}.py" for number in range(count))
        await stage.type("@shop")
        await stage.until(lambda: "@shop/number/7.py" in stage.text)
        shown = [line for line in stage.text.splitlines() if "@shop/number/7.py" in line]
        assert re.findall(r"↓ \S+ more", shown[0]) == ([told] if told else [])
        await stage.pilot.press("up")
        await stage.until(lambda: f"@shop/number/{min(count, 30) - 1}.py" in stage.text)
        assert ("… more" in stage.text) is (count > 30)
        assert "↓" not in stage.text


async def test_a_paste_of_nothing_but_empty_lines_is_found_in_no_other_text(stage_of):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        await paste(stage, "\n" * 30)
        assert prompt.text.startswith("[pasted text #1")
        for text in ("", "x", "x\n\ny"):
            prompt.put(text)
            assert prompt.text == text


async def test_of_a_list_that_goes_on_it_is_said_how_far(stage_of):
    async with stage_of() as stage:
        await stage.type("/")
        await stage.until(lambda: f"↓ {len(COMMANDS) - 8} more" in stage.text)
        await stage.pilot.press("up")
        await stage.until(lambda: "↓" not in stage.text)
        await stage.pilot.press("down")
        await stage.type("th")
        await stage.until(lambda: "/theme" in stage.text and "↓" not in stage.text)


async def test_a_paste_of_control_characters_is_cleaned(stage_of):
    async with stage_of() as stage:
        await paste(stage, "a\x1b]0;pwn\x07b\x00c")
        assert stage.app.main.prompt.text == "abc"


async def test_the_prompt_grows_to_a_third_of_the_screen(stage_of):
    async with stage_of() as stage:
        assert stage.app.main.prompt.size.height == 1
        await paste(stage, "\n".join("abc"))
        assert stage.app.main.prompt.size.height == 3
        await paste(stage, "\n".join("x" * 15))
        assert stage.app.main.prompt.size.height == 24 // 3


async def test_three_ways_to_a_new_line(stage_of):
    async with stage_of() as stage:
        await stage.type("a")
        await stage.pilot.press("shift+enter")
        await stage.type("b")
        await stage.pilot.press("ctrl+j")
        await stage.type("c\\")
        await stage.pilot.press("enter")
        await stage.type("d")
        assert stage.app.main.prompt.text == "a\nb\nc\nd"
        assert stage.conversation.sent == []


async def test_up_and_down_walk_the_history_and_return_to_the_draft(stage_of):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        await stage.type("draft")
        await stage.pilot.press("up")
        assert prompt.text == "newer"
        await stage.pilot.press("up", "up")
        assert prompt.text == "older"
        await stage.pilot.press("down", "down")
        assert prompt.text == "draft"


async def test_up_moves_within_a_text_of_several_lines_first(stage_of):
    async with stage_of() as stage:
        await paste(stage, "one\ntwo")
        await stage.pilot.press("up")
        assert stage.app.main.prompt.text == "one\ntwo"
        await stage.pilot.press("up")
        assert stage.app.main.prompt.text == "newer"


async def test_ctrl_r_searches_the_history(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: "Typed before" in stage.text)
        await stage.type("old")
        await stage.until(lambda: "newer" not in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.main.prompt.text == "older")


async def test_a_slash_completes_commands(stage_of):
    async with stage_of() as stage:
        await stage.type("/")
        await stage.until(lambda: "Colours; without a name a list shows each live" in stage.text)
        await stage.type("do")
        await stage.until(lambda: "Colours" not in stage.text)
        await stage.pilot.press("tab")
        assert stage.app.main.prompt.text == "/doctor "
        assert "Check terminal" not in stage.text


@pytest.mark.parametrize(
    ("typed", "said"),
    [("see @nowhere", "No file matches @nowhere"), ("/nosuch", "No command begins with /nosuch")],
)
async def test_tab_stays_where_nothing_completes_the_word_and_says_so(stage_of, typed, said):
    async with stage_of() as stage:
        await stage.type(typed)
        await stage.pilot.press("tab")
        await stage.until(lambda: said in stage.text)
        await stage.type("x")
        assert stage.app.main.prompt.text == f"{typed}x"


@pytest.mark.parametrize("typed", ["see @shop/cart.py", "/effort high"])
async def test_tab_goes_on_behind_a_word_that_is_whole(stage_of, typed):
    async with stage_of() as stage:
        await stage.type(typed)
        await stage.pilot.press("tab")
        await stage.until(lambda: stage.app.main.prompt.text == f"{typed} ")
        assert stage.app.focused is stage.app.main.prompt


async def test_tab_leaves_a_word_whose_list_was_closed(stage_of):
    async with stage_of() as stage:
        await stage.type("@shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.press("escape", "tab")
        await stage.until(lambda: stage.app.focused is not stage.app.main.prompt)


async def test_an_at_sign_completes_files_anywhere_in_the_text(stage_of):
    async with stage_of() as stage:
        await stage.type("look at @mon")
        await stage.until(lambda: "@shop/money.py" in stage.text)
        await stage.pilot.press("tab")
        assert stage.app.main.prompt.text == "look at @shop/money.py "


async def test_arrows_choose_a_completion_and_enter_takes_it(stage_of):
    async with stage_of() as stage:
        await stage.type("@shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.press("down", "enter")
        assert stage.app.main.prompt.text == "@shop/money.py "
        assert stage.conversation.sent == []


async def test_enter_sends_what_was_typed_when_no_completion_was_chosen(stage_of):
    async with stage_of() as stage:
        await stage.type("see @shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == ["see @shop"])


async def test_escape_closes_the_completions_and_nothing_else(stage_of):
    async with stage_of() as stage:
        await stage.type("@shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.press("escape")
        assert "@shop/cart.py" not in stage.text
        assert stage.app.main.prompt.text == "@shop"
        await stage.type("/")
        await stage.pilot.pause(0.05)
        assert "@shop/cart.py" not in stage.text


async def test_the_models_are_completed_behind_their_command_wherever_their_name_is_typed(stage_of):
    async with stage_of() as stage:
        await stage.type("/model ")
        await stage.until(lambda: "anthropic/claude-test" in stage.text and "openai-chat/qwen[3]" in stage.text)
        assert "200,000 tokens" in stage.text
        await stage.type("qw")
        await stage.until(lambda: "anthropic/claude-test " not in stage.text)
        await stage.pilot.press("tab")
        assert stage.app.main.prompt.text == "/model openai-chat/qwen[3] "
        await stage.pilot.press("enter")
        await stage.until(lambda: "qwen[3] · ask" in stage.text)


async def test_levels_and_modes_are_completed_and_what_is_typed_whole_needs_no_list(stage_of):
    async with stage_of() as stage:
        await stage.type("/effort ")
        await stage.until(lambda: "as the model likes" in stage.text)
        await stage.type("h")
        await stage.until(lambda: "for hard problems" in stage.text and "quick and cheap" not in stage.text)
        await stage.type("igh")
        await stage.until(lambda: "for hard problems" not in stage.text)
        await stage.pilot.press("ctrl+u")
        await stage.type("/mode e")
        await stage.until(lambda: "edits" in stage.text)
        await stage.pilot.press("tab")
        assert stage.app.main.prompt.text == "/mode edits "


async def test_a_clicked_completion_is_taken(stage_of):
    async with stage_of() as stage:
        await stage.type("@shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.click("CompletionList", offset=(4, 1))
        assert stage.app.main.prompt.text == "@shop/money.py "


async def test_file_names_in_square_brackets_are_shown_as_they_are(stage_of):
    async with stage_of() as stage:
        await stage.type("@a")
        await stage.until(lambda: "@a[b].py" in stage.text)


async def test_tab_walks_from_prompt_to_transcript_and_back(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("tab")
        assert stage.app.focused is stage.app.main.transcript
        await stage.pilot.press("tab")
        assert stage.app.focused is stage.app.main.prompt
        await stage.pilot.press("tab", "escape")
        assert stage.app.focused is stage.app.main.prompt


async def test_undo_brings_back_what_ctrl_c_cleared(stage_of):
    async with stage_of() as stage:
        await stage.type("precious")
        await stage.pilot.press("ctrl+c", "ctrl+underscore")
        assert stage.app.main.prompt.text == "precious"


async def test_the_editor_without_a_terminal_of_its_own_is_refused_in_words(stage_of, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: "The editor needs a terminal of its own." in stage.text)


async def test_enter_never_overtakes_what_was_typed_before_it_at_machine_speed(stage_of):
    async with stage_of() as stage:
        for key in [*"fix", "shift+enter", *"it", "enter", *"next"]:
            stage.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await stage.until(lambda: stage.app.main.prompt.text == "next")
        await stage.until(lambda: stage.conversation.sent == ["fix\nit"])


async def test_one_long_line_is_folded_too_and_a_very_long_text_never_enters_the_field(stage_of):
    huge = "word " * 200_000
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        await paste(stage, huge)
        assert prompt.text == "[pasted text #1 · 1,000,000 characters]"
        await stage.pilot.press("tab")
        await stage.until(lambda: "Too long to be opened here" in stage.text)
        prompt.give_back("and before")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == [f"and before\n{huge}".strip()])
        await stage.pilot.press("up")
        assert len(prompt.text) < 100
        assert prompt.full_text.strip() == f"and before\n{huge}".strip()


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("你好", 4),
        ("e\u0301e\u0301", 2),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", 2),
        ("\U0001f1e9\U0001f1ea", 2),
        ("\U0001f44d\U0001f3fd", 2),
        ("\u2764\ufe0f", 2),
    ],
)
async def test_the_cursor_stands_right_behind_what_was_typed_whatever_its_width(stage_of, text, columns):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.put(text)
        await stage.pilot.pause()
        assert prompt.cursor_screen_offset.x - prompt.content_region.x == columns
        prompt.put(f"{text}x")
        prompt.action_cursor_left()
        await stage.pilot.pause()
        assert prompt.cursor_screen_offset.x - prompt.content_region.x == columns


FAMILY, FLAG = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"


@pytest.mark.parametrize("character", ["a", "한", "e\u0301", FAMILY, FLAG, "\U0001f44d\U0001f3fd", "\u2764\ufe0f"])
async def test_a_character_is_stepped_over_and_deleted_whole_whatever_it_is_made_of(stage_of, character):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.put(f"x{character}{character}y")
        await stage.pilot.press("left", "left")
        assert prompt.cursor_location == (0, 1 + len(character))
        await stage.pilot.press("delete")
        assert prompt.text == f"x{character}y"
        await stage.pilot.press("left", "right", "backspace")
        assert prompt.text == "xy"


async def test_a_folded_paste_is_stepped_over_and_deleted_as_one_also_by_words(stage_of):
    text = "\n".join(f"line {number}" for number in range(25))
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        await stage.type("a ")
        await paste(stage, text)
        await stage.pilot.press("left")
        assert prompt.cursor_location == (0, 2)
        await stage.pilot.press("right", "ctrl+w")
        assert prompt.text == "a "
        await paste(stage, text)
        await stage.pilot.press("left", "delete")
        assert prompt.text == "a "
        await paste(stage, text)
        await stage.pilot.press("ctrl+left", "alt+d", "alt+d")
        assert prompt.text == "a "


async def test_beside_the_files_stands_how_the_chosen_one_begins(stage_of):
    async with stage_of() as stage:
        await stage.type("see @shop")
        await stage.until(lambda: "# shop/cart.py" in stage.text)
        await stage.pilot.press("down")
        await stage.until(lambda: "# shop/money.py" in stage.text)
        assert "1.2 KB" in stage.text
        await stage.pilot.press("tab")
        await stage.until(lambda: "# shop/money.py" not in stage.text)


async def test_on_a_small_screen_the_files_have_all_the_room(stage_of):
    async with stage_of(size=(60, 15)) as stage:
        await stage.type("see @shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.pause()
        assert "# shop" not in stage.text
        assert "│" not in stage.text


def post(stage, *keys):
    """All of them at once, as fast as a machine can."""
    for key in keys:
        name = {" ": "space", "@": "at", "/": "slash"}.get(key, key)
        stage.app.post_message(events.Key(name, key if len(key) == 1 else None))


async def test_tab_completes_what_was_typed_before_it_at_machine_speed(stage_of):
    async with stage_of() as stage:
        post(stage, *"see @mon", "tab", *"and @ca", "tab", *"too")
        await stage.until(lambda: stage.app.main.prompt.text == "see @shop/money.py and @shop/cart.py too")
        assert stage.app.focused is stage.app.main.prompt
        post(stage, "enter")
        await stage.until(lambda: stage.conversation.sent == ["see @shop/money.py and @shop/cart.py too"])


async def test_tab_completes_the_word_as_it_is_not_as_the_list_was(stage_of):
    async with stage_of() as stage:
        await stage.type("@shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        post(stage, *"/m", "tab")
        await stage.until(lambda: stage.app.main.prompt.text == "@shop/money.py ")


async def test_tab_moves_the_keyboard_where_no_word_is_to_be_completed(stage_of):
    async with stage_of() as stage:
        post(stage, *"nothing", "tab")
        await stage.until(lambda: stage.app.focused is stage.app.main.transcript)
        assert stage.app.main.prompt.text == "nothing"


async def test_escape_right_behind_a_word_that_is_being_completed_stops_nothing(stage_of):
    async def turn(emit, approver):
        await asyncio.Event().wait()

    async with stage_of(turn) as stage:
        await stage.type("go\n")
        await stage.until(lambda: stage.conversation.is_running)
        post(stage, *"@sh", "escape", *"ip")
        await stage.until(lambda: stage.app.main.prompt.text == "@ship")
        await stage.pilot.pause()
        assert stage.conversation.is_running
        assert "@shop/cart.py" not in stage.text


async def test_text_typed_ahead_stands_where_the_keys_around_it_put_it(stage_of):
    async with stage_of() as stage:
        await stage.pilot.press("a")
        stage.app.post_message(TypedText("lpha beta"))
        await stage.until(lambda: stage.app.main.prompt.text == "a" + "lpha beta")
        await stage.pilot.press("home", "x")
        assert stage.app.main.prompt.text == "xalpha beta"


@pytest.mark.parametrize(
    ("left", "right"), [("alt+left", "alt+right"), ("ctrl+left", "ctrl+right"), ("alt+b", "alt+f")]
)
async def test_these_keys_go_by_words(stage_of, left, right):
    async with stage_of() as stage:
        await stage.type("one two")
        await stage.pilot.press(left, "x", left, left, right, "y")
        assert stage.app.main.prompt.text == "oney xtwo"


async def test_while_a_list_is_open_its_keys_are_named(stage_of):
    async with stage_of() as stage:
        await stage.type("/re")
        await stage.until(lambda: "tab complete · enter send · esc close" in stage.text)
        await stage.pilot.press("down")
        await stage.until(lambda: "enter take · esc close" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "enter send · ctrl+p commands" in stage.text)
