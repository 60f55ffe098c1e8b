"""Keys as terminals really send them: early, at machine speed, Escape with a letter right behind it."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.journeys.terminal import Terminal
from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]


@pytest.mark.parametrize("seconds", [0.0, 0.15, 0.3, 0.6])
def test_keys_that_come_before_an_app_without_an_instant_prompt_are_kept(place, model_server, seconds):
    model_server.reply(Reply(parts=(Say("Heard."),)))
    with place.open(columns=60, lines=15) as terminal:
        terminal.pump(seconds)
        terminal.send("early words\r")
        terminal.wait("Heard", 30)
        assert "Traceback" not in terminal.text
    assert [message["content"][0]["text"] for message in model_server.requests[0].messages] == ["early words"]


def test_what_was_typed_early_is_typed_once_however_often_the_program_is_suspended(place):
    with place.run_script("exec bash --norc -i") as terminal:
        terminal.type(f"PS1='$ '; {sys.executable} -m codeagent\nearly")
        terminal.wait("claude-test", 30)
        terminal.wait("› early$")
        for _ in range(2):
            terminal.press("ctrl+z")
            terminal.wait("Stopped", 20)
            terminal.type("clear; fg\n")
            terminal.wait("› early", 20)
        terminal.type("!")
        terminal.wait("› early!$")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.type("exit\n")


@pytest.mark.parametrize("pieces", [["\x1bhello"], ["\x1b", "hello"], ["\x1b", "h", "ello"]])
def test_escape_stops_the_turn_and_the_letters_right_behind_it_are_typed(place, model_server, pieces):
    model_server.reply(Reply(parts=(Call("bash", {"command": "sleep 71"}),)))
    with place.open("--mode", "auto", "--sandbox", "off") as terminal:
        terminal.wait("claude-test")
        terminal.type("go\r")
        terminal.wait("sleep 71")
        for piece in pieces:
            terminal.send(piece)
            terminal.pump(0.01)
        terminal.wait("[Ss]topped")
        terminal.wait("› hello")


def test_the_terminals_own_cursor_stands_where_one_types(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": "make"}),)))
    with place.open("--mode", "ask", columns=70, lines=20) as terminal:
        terminal.wait("claude-test")
        terminal.pump(0.5)
        assert terminal.before_cursor == " › "
        terminal.type("日本 go")
        terminal.wait("go")
        assert terminal.before_cursor.replace(" ", "") == "›日本go"
        terminal.resize(60, 14)
        terminal.pump(0.5)
        assert terminal.before_cursor.replace(" ", "") == "›日本go"
        terminal.press("enter")
        terminal.wait("y approve")
        terminal.press("t")
        terminal.pump(0.5)
        terminal.type("not now")
        terminal.wait("not now")
        assert terminal.before_cursor.rstrip().endswith("not now")
        terminal.press("escape", "escape")


def with_kitty(text: str) -> str:
    """What a terminal with the kitty protocol sends when text is typed: Shift is told of as well."""
    return "".join(
        f"\x1b[57441;2u\x1b[{ord(one.lower())};2;{ord(one)}u" if one.isupper() else f"\x1b[{ord(one)};;{ord(one)}u"
        for one in text
    )


def test_keys_of_the_kitty_protocol_send_queue_and_stop(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": "sleep 73"}),)))
    with place.open("--mode", "auto", "--sandbox", "off") as terminal:
        terminal.wait("claude-test")
        terminal.send(f"{with_kitty('First')}\x1b[57441;2u\x1b[13;2u{with_kitty('second')}")
        terminal.wait("second")
        terminal.send("\x1b[57442;5u\x1b[45;6u")  # Ctrl+_
        terminal.wait_gone("second")
        terminal.send(f"{with_kitty('two')}\x1b[13u")
        terminal.wait("sleep 73")
        terminal.send(f"{with_kitty('afterwards')}\x1b[57443;3u\x1b[13;3u")  # Alt+Enter
        terminal.wait("later: “afterwards”")
        terminal.send(f"\x1b[27u{with_kitty('hello')}")
        terminal.wait("[Ss]topped")
        terminal.wait("hello")
    assert model_server.requests[0].messages[0]["content"][0]["text"] == "First\ntwo"


@pytest.mark.parametrize("is_early", [True, False])
def test_lines_that_are_pasted_without_marks_stand_in_the_prompt_and_send_nothing(place, model_server, is_early):
    model_server.reply(Reply(parts=(Say("Heard."),)))
    with place.open() as terminal:
        terminal.wait("f1 keys" if is_early else "claude-test")
        terminal.send("one\rtwo\rthree\r")
        terminal.wait("three")
        terminal.wait("claude-test", 30)
        terminal.pump(1)
        assert model_server.requests == []
        terminal.press("enter")
        terminal.wait("Heard")
        terminal.press("ctrl+d")
    assert model_server.requests[0].messages[0]["content"][0]["text"] == "one\ntwo\nthree"


def test_a_key_that_cannot_be_used_is_said_and_the_usual_one_stays(place):
    (place.home / "config").mkdir(parents=True)
    (place.home / "config/config.toml").write_text('[keys]\nhelp = "bogus+key"\nfind = "ctrl+p"\npanels = "f6"\n')
    with place.open() as terminal:
        terminal.wait("there is no key bogus\\+key")
        terminal.wait("f1 keys")
        terminal.press("f1")
        terminal.wait("f6 +open or close all panels")
        assert "ctrl+p" in terminal.text
        terminal.press("esc")
        terminal.wait_gone("open or close all panels")
        terminal.press("ctrl+f")
        terminal.wait("[Ff]ind")
        terminal.press("esc", "ctrl+d")


def test_ctrl_is_known_on_every_layout(place):
    with place.open() as terminal:
        terminal.wait("claude-test")
        terminal.wait_until(lambda: b"\x1b[>25u" in terminal.raw, 20, "no kitty protocol")
        assert b"\x1b[=4;2u" in terminal.raw[terminal.raw.index(b"\x1b[>25u") :]
        terminal.send("word\x1b[1075::117;5uother")
        terminal.wait("› other$")
        terminal.press("ctrl+c", "ctrl+d")


def test_a_yes_right_behind_escape_allows_nothing(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": "touch made"}),)))
    with place.open() as terminal:
        terminal.wait("claude-test")
        terminal.type("go\r")
        terminal.wait_for_answer("y approve")
        terminal.send("\x1by")
        terminal.wait("[Ss]topped")
        assert not (place.root / "made").exists()
    assert [path.name for path in place.root.iterdir()] == ["cart.py"]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_in_tmux_a_window_that_shrinks_and_grows_shows_all_again_and_keys_go_on(place, model_server, tmp_path):
    model_server.reply(Reply(parts=(Call("bash", {"command": "sleep 73"}),)))
    tmux = ["tmux", "-S", str(tmp_path / "tmux")]
    words = [*tmux, "-f", "/dev/null", "new-session", f"{sys.executable} -m codeagent --mode auto --sandbox off"]
    with Terminal(words, cwd=place.root, environ=place.environ, columns=100, lines=30) as terminal:
        terminal.wait("claude-test", 30)
        terminal.type("half a thought")
        for columns, lines in [(20, 5), (60, 15), (100, 30)]:
            terminal.resize(columns, lines)
            subprocess.run([*tmux, "resize-window", "-x", str(columns), "-y", str(lines - 1)], check=True)
            terminal.wait("half a" if columns == 20 else "› half a thought")
        terminal.type(", and on\r")
        terminal.wait("sleep 73")
        terminal.wait("esc stop$")
        terminal.send("\x1bnext")
        terminal.wait("[Ss]topped")
        terminal.wait("› next")
        terminal.press("ctrl+c", "ctrl+d")
        terminal.wait_for_exit(20)
    assert "half a thought, and on" in json.dumps(model_server.requests[0].messages)
