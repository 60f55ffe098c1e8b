"""Questions that are open in a real terminal: what is pasted, a signal, another program. None of it is a yes."""

import json
import os
import random
import signal
import termios

import pytest

from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]

PASTES = {
    "a letter": "y",
    "lines": "y\ny\n",
    "keys that choose": "\x1b[C\r",
    "an escape and a letter": "\x1by",
    "escapes": "\x1b\x1b",
    "the end of a paste with an answer of the terminal in it": "x\x1b[20\x1b]11;rgb:0000/0000/0000\x071~y",
    "the end of a paste with another answer in it": "x\x1b[20\x1b[?62c1~y",
    "a long sequence": "\x1b[" + "1;" * 40 + "\ry\r",
}


def ask(terminal, *waits):
    terminal.wait("sandbox")
    terminal.type("go")
    terminal.press("enter")
    for pattern in waits:
        terminal.wait(pattern)
    terminal.wait("esc stop")
    terminal.wait_for_answer("y approve")


def touch(place, name="touched.txt"):
    return Call("write", {"path": name, "content": "x\n"})


def test_whatever_is_pasted_answers_nothing_and_is_not_sent(place, model_server):
    model_server.reply(Reply(parts=(touch(place),)), Reply(parts=(Say("Over."),)))
    with place.open() as terminal:
        ask(terminal, "y approve")
        for kind, text in PASTES.items():
            terminal.paste(text)
            terminal.pump(0.6)
            assert "y approve" in terminal.text, kind
            assert "queued" not in terminal.text, kind
            assert not (place.root / "touched.txt").exists(), kind
            assert len(model_server.requests) == 1, kind
            if "Ask for a change" not in terminal.text:  # which an empty prompt says
                terminal.press("ctrl+c")
                terminal.wait("Ask for a change")
            terminal.wait_for_answer("y approve")


LEAVING = {"SIGTERM": 143, "SIGHUP": 129, "SIGINT": 130, "ctrl+c twice": 0, "the window is closed": 129}


@pytest.mark.parametrize("way", LEAVING)
def test_leaving_allows_nothing_gives_the_terminal_back_and_the_session_goes_on(place, model_server, way):
    calls = tuple(touch(place, name) for name in ("one.txt", "two.txt", "three.txt"))
    model_server.reply(Reply(parts=calls), Reply(parts=(Say("Over."),)))
    with place.open() as terminal:
        ask(terminal, "of 3 waiting")
        if way == "ctrl+c twice":
            terminal.press("ctrl+c", "ctrl+c")
        elif way == "the window is closed":
            terminal.hang_up()
        else:
            os.kill(terminal.pid, getattr(signal, way))
        assert terminal.wait_for_exit() == LEAVING[way]
        if way != "the window is closed":
            assert terminal.raw.rstrip().endswith((b"\x1b[?1006l", b"\x1b[?1049l"))
            assert terminal.flags & (termios.ECHO | termios.ICANON | termios.ISIG)
    assert [path.name for path in place.root.iterdir()] == ["cart.py"]
    model_server.reply(Reply(parts=(Say("Here again."),)))
    resumed = place.run("-c", "-p", "go on")
    assert (resumed.returncode, model_server.refusals) == (0, [])
    assert "one.txt" in json.dumps(model_server.requests[-1].messages)


def test_three_questions_are_answered_in_any_order(place, model_server):
    calls = tuple(touch(place, name) for name in ("one.txt", "two.txt", "three.txt"))
    model_server.reply(Reply(parts=calls), Reply(parts=(Say("Over now."),)))
    with place.open() as terminal:
        ask(terminal, "of 3 waiting")
        for at in ("1 of 3 waiting", "2 of 3 waiting"):  # the one that came first is in view, which may be any
            if at in terminal.text:
                terminal.send("]")
                terminal.wait_gone(at)
        terminal.wait("3 of 3 waiting")
        terminal.wait_for_answer("y approve")
        terminal.send("yyy")  # held down: the first answers this question, the others answer nothing
        terminal.wait("2 of 2 waiting")
        terminal.wait_for_answer("y approve")
        terminal.send("n")
        terminal.wait_gone("of 2 waiting")
        terminal.wait_for_answer("y approve")
        terminal.send("y")
        terminal.wait("Over now")
    assert sorted(path.name for path in place.root.glob("*.txt")) == ["one.txt", "three.txt"]
    results = model_server.requests[-1].messages[-1]["content"]
    assert ["said no" in json.dumps(result) for result in results] == [False, True, False]


def test_three_commands_are_one_list_answered_in_any_order_and_run_in_call_order(place, model_server):
    calls = tuple(Call("bash", {"command": f"echo {word} >> said.txt"}) for word in ("one", "two", "three"))
    model_server.reply(Reply(parts=calls), Reply(parts=(Say("Over now."),)))
    with place.open() as terminal:
        ask(terminal, "1 of 3 waiting")
        terminal.send("]")
        terminal.wait("2 of 3 waiting")
        terminal.wait("echo two")
        terminal.wait_for_answer("y approve")
        terminal.send("n")
        terminal.wait("2 of 2 waiting")
        terminal.wait_for_answer("y approve")
        terminal.send("y")
        terminal.wait_gone("of 2 waiting")
        assert not (place.root / "said.txt").exists()
        terminal.wait_for_answer("y approve")
        terminal.send("y")
        terminal.wait("Over now")
    assert (place.root / "said.txt").read_text() == "one\nthree\n"
    results = model_server.requests[-1].messages[-1]["content"]
    assert ["said no" in json.dumps(result) for result in results] == [False, True, False]


@pytest.mark.parametrize("kind", ["edit", "write"])
@pytest.mark.parametrize("seed", range(3))
def test_a_yes_to_the_old_diff_is_none_to_what_the_file_holds_now(place, model_server, kind, seed):
    """The key comes right behind the save of another program, sooner or later than that was noticed."""
    cart = place.root / "cart.py"
    old, own = cart.read_text(), "# the person's own line\n"
    new = old.replace("full / (1 + discount)", "full * (1 - discount)")
    calls = {
        "edit": Call("edit", {"path": "cart.py", "old": "full / (1 + discount)", "new": "full * (1 - discount)"}),
        "write": Call("write", {"path": "cart.py", "content": new}),
    }
    model_server.reply(
        Reply(parts=(Call("read", {"path": "cart.py"}),)), Reply(parts=(calls[kind],)), Reply(parts=(Say("Over."),))
    )
    with place.open() as terminal:
        ask(terminal, r"\+ +return full \*")
        cart.write_text(own + old)
        terminal.pump(random.Random(seed).uniform(0, 0.6))
        terminal.send("y")
        terminal.wait("own line" if kind == "edit" else "Over")
        terminal.pump(0.5)
    assert cart.read_text() == own + old
