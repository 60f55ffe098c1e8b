"""The instant prompt: typed in before the app is there, taken over by it unseen, left clean whatever ends it."""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import replace

import pytest

from tests.journeys.conftest import held
from tests.journeys.terminal import Terminal, cells_after, left_on
from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]

STANDS = "f1 keys"
APP_STANDS = b"\x1b[?1003h"  # the mouse is the app's alone
APP_FRAME = re.compile(rb"\x1b\[\?2026h.*?\x1b\[\?1003h.*?\x1b\[\?2026l", re.DOTALL)  # drawn as one


def wait_for_app(terminal):
    terminal.wait_until(lambda: APP_STANDS in terminal.raw, 30, "no app")
    terminal.pump(0.2)


def seen(terminal: Terminal, output: bytes):
    """What a person sees after so much of the output: characters with their colours, blanks with their ground."""
    rows = cells_after(output, terminal.columns, terminal.lines)
    return [[one._replace(fg="", bold=False) if one.data == " " else one for one in row] for row in rows]


@pytest.mark.parametrize(
    ("columns", "lines", "typed"),
    [(80, 24, ""), (80, 24, "hellp"), (120, 40, "größer"), (200, 60, ""), (80, 15, "x"), (100, 19, "")],
)
def test_the_app_takes_over_unseen(place, tmp_path, columns, lines, typed):
    with held(place, tmp_path / "held").open(columns=columns, lines=lines) as terminal:
        terminal.wait(STANDS)
        terminal.send(typed)
        if typed:
            terminal.wait(f"› {typed}")
        (tmp_path / "held/go").touch()
        terminal.wait_until(lambda: APP_FRAME.search(terminal.raw), 30, "no app")
        frame = APP_FRAME.search(terminal.raw)
        assert frame
        first = terminal.raw[: frame.start()]
        assert first.count(b"\x1b[?1049h") == 1
        assert b"\x1b[?1049h" not in terminal.raw[len(first) : frame.end()]
        assert len(frame[0]) > columns * lines
        assert seen(terminal, terminal.raw[: frame.end()]) == seen(terminal, first)


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"COLORTERM": ""}, {"COLORTERM": "", "TERM": "xterm"}])
def test_the_app_takes_over_unseen_in_any_number_of_colours(place, tmp_path, environ):
    coloured = replace(place, environ={**place.environ, **environ})
    test_the_app_takes_over_unseen(coloured, tmp_path, 80, 24, "with few colours")


def test_all_letters_arrive_in_order_and_enter_sends_once(place, model_server):
    model_server.reply(Reply(parts=(Say("Heard."),)))
    with place.open() as terminal:
        terminal.wait(STANDS)
        text = "the quick brown fox jumps over the lazy dog"
        terminal.send(text[:20])
        for character in text[20:] + "\r":
            terminal.send(character)
            terminal.pump(0.005)
        terminal.send("\x1b[A\x1b[B\x1b[5~next")
        terminal.wait("Heard")
        terminal.wait("› next")
    (request,) = model_server.requests
    assert json.dumps(request.messages).count(text) == 1


@pytest.mark.parametrize("vi", ["false", "true"])
def test_what_was_sent_early_can_be_called_back_and_sent_with_more(place, model_server, tmp_path, vi):
    assert place.run("config", "set", "ui.vi", vi).returncode == 0
    model_server.reply(Reply(parts=(Say("Heard."),)))
    with held(place, tmp_path / "held").open() as terminal:
        terminal.wait(STANDS)
        terminal.send("be quick\r")
        terminal.wait("queued: “be quick”")
        terminal.send("\x1b")
        terminal.wait("› be quick")
        terminal.wait_until(lambda: "queued" not in terminal.text, 10, "still queued")
        (tmp_path / "held/go").touch()
        wait_for_app(terminal)
        assert "› be quick" in terminal.text
        terminal.wait("enter send")
        assert model_server.requests == []
        terminal.send(" and careful\r")
        terminal.wait("Heard")
    (request,) = model_server.requests
    assert "be quick and careful" in json.dumps(request.messages)


def test_backspace_works_as_fast_as_it_is_typed(place):
    with place.open() as terminal:
        terminal.wait(STANDS)
        terminal.send("one twx\x7fo three\x17\x17\x1b[Hzero \x1b[F2")
        wait_for_app(terminal)
        terminal.wait("› zero one 2")


def test_a_paste_of_many_lines_is_kept_whole_and_not_sent(place):
    with place.open() as terminal:
        terminal.wait(STANDS)
        terminal.paste("first\nsecond\r\nthird")
        terminal.wait("third")
        wait_for_app(terminal)
        terminal.wait("› first\n +second\n +third")


def test_all_that_came_back_is_seen_and_what_is_typed_behind_it_is_a_line_of_its_own(place, tmp_path):
    with held(place, tmp_path / "held").open(columns=80, lines=24) as terminal:
        terminal.wait(STANDS)
        for word in ("first", "second"):
            terminal.send(f"{word}\r")
            terminal.wait(f"queued: “{word}”")
        terminal.send("\x1b")
        terminal.wait(r"› first\n\n   second$")
        terminal.send("next")
        terminal.wait(r"› first\n\n   second\n   next$")
        assert "queued" not in terminal.text
        instant = terminal.text.splitlines()[:-1]
        (tmp_path / "held/go").touch()
        wait_for_app(terminal)
        terminal.wait("enter send")
        assert terminal.text.splitlines()[:-1] == instant
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_for_exit()


def test_ctrl_c_takes_back_nothing_that_was_sent_and_asks(place, model_server, tmp_path):
    model_server.reply(Reply(parts=(Say("Heard."),)))
    with held(place, tmp_path / "held").open() as terminal:
        terminal.wait(STANDS)
        terminal.send("be quick\r")
        terminal.wait("queued: “be quick”")
        terminal.send("or")
        terminal.wait("› or")
        terminal.send("\x03")
        terminal.wait("› Ask")
        assert "queued: “be quick”" in terminal.text
        terminal.send("\x03")
        terminal.wait("ctrl\\+c again quits$")
        (tmp_path / "held/go").touch()
        terminal.wait("Heard")
    assert "be quick" in json.dumps(model_server.requests[0].messages)


def test_ctrl_c_again_quits_while_a_message_waits(place, tmp_path):
    with held(place, tmp_path / "held").open() as terminal:
        terminal.wait(STANDS)
        terminal.send("be quick\r\x03")
        terminal.wait("again quits")
        terminal.send("\x03")
        assert terminal.wait_for_exit() == 130
        assert left_on(terminal.raw) == []


def test_where_there_is_no_shell_to_go_back_to_the_first_picture_says_so(place, tmp_path):
    with held(place, tmp_path / "held").open() as terminal:
        terminal.wait(STANDS)
        terminal.send("kept\x1a")
        terminal.wait("no shell to go back to$")
        assert "› kept" in terminal.text


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0)])
def test_interrupt_and_end_quit_at_once(place, tmp_path, key, code):
    with held(place, tmp_path / "held").open() as terminal:
        terminal.wait(STANDS)
        terminal.send(key)
        assert terminal.wait_for_exit() == code
        assert left_on(terminal.raw) == []
        assert APP_STANDS not in terminal.raw


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
@pytest.mark.parametrize("moment", ["first", "app", "session"])
def test_a_signal_leaves_the_terminal_clean_at_each_moment(place, moment, name):
    number = getattr(signal, name)
    with place.open() as terminal:
        terminal.wait(STANDS)
        if moment != "first":
            wait_for_app(terminal)
        if moment == "session":
            terminal.wait("claude-test")
        os.kill(terminal.pid, number)
        assert terminal.wait_for_exit() == 128 + number
        assert left_on(terminal.raw) == []
        assert b"Traceback" not in terminal.raw


def test_the_first_picture_follows_the_size(place):
    with place.open(columns=80, lines=24) as terminal:
        terminal.wait(STANDS)
        terminal.resize(120, 40)
        terminal.wait(rf"{STANDS}\Z")
        wait_for_app(terminal)
        terminal.resize(20, 5)
        terminal.wait("›")
        terminal.resize(100, 30)
        terminal.wait(rf"{STANDS}\Z")


def test_suspended_and_continued_it_gives_the_terminal_back_and_takes_it_again(place):
    with place.run_script("exec bash --norc -i") as terminal:
        terminal.type(f"PS1='$ '; {os.sys.executable} -m codeagent\n")
        terminal.wait(STANDS)
        wait_for_app(terminal)
        terminal.type("kept")
        terminal.press("ctrl+z")
        terminal.wait("Stopped", 20)
        assert left_on(terminal.raw[: terminal.raw.rindex(b"Stopped")]) == []
        terminal.type("fg\n")
        terminal.wait("› kept", 20)
        terminal.press("ctrl+c", "ctrl+d")
        terminal.type("exit\n")


def test_ctrl_z_stops_at_once_while_the_app_is_still_loaded_and_what_follows_is_the_shells(place, tmp_path):
    with held(place, tmp_path / "held").run_script("exec bash --norc -i") as terminal:
        terminal.type(f"PS1='$ '; {os.sys.executable} -m codeagent\n")
        terminal.wait(STANDS)
        terminal.type("kept")
        terminal.wait("› kept")
        terminal.press("ctrl+z")
        terminal.type("clear; echo for the $((6 * 7))nd shell\n")
        terminal.wait("for the 42nd shell", 20)
        assert left_on(terminal.raw[: terminal.raw.rindex(b"Stopped")]) == []
        terminal.type("fg\n")
        terminal.wait("› kept$", 20)
        (tmp_path / "held/go").touch()
        wait_for_app(terminal)
        terminal.type("!")
        terminal.wait("› kept!$")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.type("exit\n")


@pytest.mark.parametrize("told", ["\x1b[?1u", "\x1b[?997;1n", "\x1bP>|xterm(370)\x1b\\", "\x1b]52;c;YWJj\x07"])
def test_what_the_terminal_tells_meanwhile_is_not_typed_and_moves_no_letter(place, tmp_path, told):
    with held(place, tmp_path / "held").open() as terminal:
        terminal.wait(STANDS)
        terminal.send("ab")
        terminal.send(told)
        terminal.type("cdefgh")
        terminal.wait("› abcdefgh$")
        (tmp_path / "held/go").touch()
        wait_for_app(terminal)
        terminal.send(f"i{told}j")
        terminal.wait("› abcdefghij$")
        terminal.press("ctrl+c", "ctrl+d")


def test_an_input_method_finds_the_terminals_cursor_behind_what_is_typed(place):
    with place.open() as terminal:
        terminal.wait("Ask for a change")
        assert terminal.before_cursor == " › "
        terminal.type("日本")
        terminal.wait("本")
        assert terminal.before_cursor.replace(" ", "") == "›日本"


def test_an_error_of_the_start_leaves_the_terminal_clean(place):
    (place.home / "config").mkdir(parents=True)
    (place.home / "config/config.toml").write_text("[ui]\ntheme = 5\n")
    with place.open() as terminal:
        assert terminal.wait_for_exit() == 2
        assert left_on(terminal.raw) == []


def test_a_late_answer_about_the_background_is_not_typed_and_makes_it_light(place):
    with place.open() as terminal:
        terminal.wait(STANDS)
        assert b"\x1b]11;?\x1b\\\x1b[c" in terminal.raw
        wait_for_app(terminal)
        terminal.send("ab\x1b]11;rgb:ffff/ffff/")
        terminal.pump(0.3)
        terminal.send("ffff\x1b\\\x1b[?62;22ccd")
        terminal.wait("› abcd$")
        terminal.wait_until(lambda: b"48;2;252;251;249m" in terminal.raw, 10, "not light")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_for_exit()
    assert (place.home / "state/background").read_text() == "light"
    with place.open() as terminal:
        terminal.wait(STANDS)
        assert b"48;2;20;22;26m" not in terminal.raw


def test_a_light_terminal_with_16_colours_gets_those_that_can_be_read_there(place):
    few = {"TERM": "xterm", "COLORTERM": ""}
    with place.open(environ=few) as terminal:
        terminal.wait(STANDS)
        wait_for_app(terminal)
        assert b"\x1b[1;36;49m" in terminal.raw  # the name, in cyan
        terminal.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c")
        terminal.wait_until(lambda: b"\x1b[1;34;49m" in terminal.raw, 10, "not light")
        terminal.press("ctrl+d")
        terminal.wait_for_exit()
    with place.open(environ=few) as terminal:
        terminal.wait(STANDS)
        wait_for_app(terminal)
        assert b"36;49m" not in terminal.raw


def test_all_colours_are_drawn_where_the_terminals_name_alone_says_that_it_shows_them(place):
    with place.open(environ={"TERM": "xterm-kitty", "COLORTERM": ""}) as terminal:
        terminal.wait(STANDS)
        wait_for_app(terminal)
        terminal.press("f1")
        terminal.wait("all commands")
        assert b"38;5;" not in terminal.raw
        assert b"38;2;" in terminal.raw


def test_inside_of_screen_nothing_is_drawn_in_colours_that_it_does_not_know(place):
    with place.open(environ={"TERM": "screen-256color", "STY": "1.pts-0.x", "TMUX": ""}) as terminal:
        terminal.wait(STANDS)
        wait_for_app(terminal)
        terminal.press("f1")
        terminal.wait("all commands")
        assert b"8;2;" not in terminal.raw


def test_a_chosen_theme_is_previewed_and_kept_and_auto_suits_the_terminal(place):
    with place.open(environ={"COLORFGBG": "0;15"}) as terminal:
        terminal.wait("claude-test")
        terminal.type("/theme\r")
        terminal.wait("dark-contrast")
        terminal.pump(0.5)
        assert b"48;2;20;22;26m" not in terminal.raw
        terminal.type("dark-con\r")
        terminal.wait_gone("Theme")
        terminal.press("ctrl+d")
        terminal.wait_for_exit()
    assert 'theme = "dark-contrast"' in (place.home / "config/config.toml").read_text()


@pytest.mark.parametrize(
    ("environ", "columns", "lines"),
    [({"LANG": "C", "LC_ALL": "POSIX"}, 80, 24), ({}, 60, 15), ({}, 80, 10), ({"TEXTUAL_COLOR_SYSTEM": "256"}, 80, 24)],
)
def test_where_anything_is_odd_the_app_starts_by_itself(place, environ, columns, lines):
    with place.open(columns=columns, lines=lines, environ=environ) as terminal:
        terminal.wait_until(lambda: APP_STANDS in terminal.raw, 30, "no app")
        assert terminal.raw.startswith(b"\x1b[?1049h\x1b[?1000h")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_in_tmux_what_is_typed_early_arrives_and_nothing_else(place, model_server, tmp_path):
    model_server.reply(Reply(parts=(Say("Heard in tmux."),)))
    socket = tmp_path / "tmux"
    words = ["tmux", "-S", str(socket), "-f", "/dev/null", "new-session", f"{os.sys.executable} -m codeagent"]
    with Terminal(words, cwd=place.root, environ=place.environ, columns=100, lines=30) as terminal:
        terminal.wait(STANDS, 30)
        terminal.type("early words")
        terminal.press("enter")
        terminal.wait("Heard in tmux", 30)
        terminal.type("later")
        terminal.wait("› later")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_for_exit(20)
    assert "early words" in json.dumps(model_server.requests[0].messages)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_in_tmux_what_is_copied_reaches_its_buffer_and_the_mouse_works(place, model_server, tmp_path):
    said = "\n\n".join(f"Line {number} of the answer." for number in range(40))
    model_server.reply(Reply(parts=(Say(said),)))
    socket = tmp_path / "tmux"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    words = [*tmux, "new-session", f"{os.sys.executable} -m codeagent"]
    with Terminal(words, cwd=place.root, environ=place.environ, columns=100, lines=30) as terminal:
        terminal.wait(STANDS, 30)
        terminal.type("tell\r")
        terminal.wait("Line 39 of the answer", 30)
        terminal.send("\x1b[<64;20;8M" * 4)  # the wheel, up
        terminal.wait_gone("Line 39 of the answer")
        terminal.type("/copy\r")
        terminal.wait("copied")
        terminal.wait_until(lambda: said.encode() in shown_by(*tmux, "show-buffer"), 15, "nothing in the buffer")
        terminal.press("ctrl+d")
        terminal.wait_for_exit(20)


@pytest.mark.parametrize(("background", "tint"), [("15;0", b"48;5;22"), ("0;15", b"48;5;194")])
def test_with_256_colours_an_added_line_is_tinted(place, model_server, background, tint):
    model_server.reply(Reply(parts=(Call("write", {"path": "new.py", "content": "total = 1\n"}),)))
    with place.open(environ={"COLORTERM": "", "COLORFGBG": background}) as terminal:
        terminal.wait(STANDS)
        terminal.type("write it\r")
        terminal.wait("total = 1")
        assert tint in terminal.raw


def shown_by(*words: str) -> bytes:
    return subprocess.run(words, capture_output=True, check=False).stdout


@pytest.mark.parametrize(("focus", "is_called"), [("\x1b[O", True), ("\x1b[O\x1b[I", False), ("", False)])
def test_the_title_follows_the_work_and_a_question_calls_who_looks_elsewhere(place, model_server, focus, is_called):
    model_server.reply(Reply(parts=(Call("bash", {"command": "rm cart.py"}),)), Reply(parts=(Say("Kept."),)))
    with place.open(environ={"TERM_PROGRAM": "WezTerm", "TMUX": ""}) as terminal:
        terminal.wait("claude-test")
        terminal.type("clean up\r")
        terminal.send(focus)
        terminal.wait("rm cart.py")
        terminal.wait_until(
            lambda: b"\x1b]2;waiting for you \xc2\xb7 shop \xc2\xb7 codeagent\a" in terminal.raw, 20, "no title"
        )
        terminal.wait_for_answer("n deny")
        called = b"\a\x1b]9;shop: codeagent waits for your answer\a" in terminal.raw
        terminal.type("n")
        terminal.wait("Kept")
        terminal.wait_until(lambda: terminal.raw.count(b"\x1b]2;shop \xc2\xb7 codeagent\a") == 2, 20, "no title")
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
    assert called is is_called
    assert terminal.raw.count(b"\x1b[22;2t") == terminal.raw.count(b"\x1b[23;2t") == 1
