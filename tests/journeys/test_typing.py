"""Keys as terminals really send them: early, at machine speed, Escape with a letter right behind it."""

import sys

import pytest

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


def test_a_yes_right_behind_escape_allows_nothing(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": "touch made"}),)))
    with place.open() as terminal:
        terminal.wait("claude-test")
        terminal.type("go\r")
        terminal.wait("y approve")
        terminal.pump(1)
        terminal.send("\x1by")
        terminal.wait("[Ss]topped")
        assert not (place.root / "made").exists()
    assert [path.name for path in place.root.iterdir()] == ["cart.py"]
