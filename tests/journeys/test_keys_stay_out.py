"""Keys that the program knows are in nothing that it keeps, wherever they come from."""

from __future__ import annotations

import json

import pytest

from tests.server.replies import Call, Refuse, Reply, Say

pytestmark = pytest.mark.journey

KEYS_FILE = "config/keys.json"
SHAPED = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4"
KEY = "planted-key-0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def kept(place):
    """Every file that was written, but for the copies of the person's files, which must come back exactly."""
    return {
        str(path.relative_to(place.home)): path.read_bytes()
        for path in place.home.rglob("*")
        if path.is_file() and "checkpoints" not in path.parts and "changes" not in path.parts
    }


def holders(place, secret=KEY):
    forms = (secret.encode(), json.dumps(secret).encode(), secret[::-1].encode())
    return [name for name, data in kept(place).items() if any(form in data for form in forms)]


@pytest.fixture
def keyed(place):
    place.environ.update({"ANTHROPIC_API_KEY": KEY, "MY_SERVICE_TOKEN": KEY + "-token"})
    return place


def test_a_key_in_prompt_reply_arguments_and_output_is_not_kept(keyed, model_server):
    (keyed.root / "notes.txt").write_text(f"the key is {KEY}\n" + "filler line\n" * 9_000 + f"{KEY}\n")
    model_server.reply(
        Reply(parts=(Say(f"I saw {KEY}."), Call("bash", {"command": "cat notes.txt"}))),
        Reply(parts=(Call("bash", {"command": f"echo {KEY}; false"}),)),
        Reply(parts=(Call("write", {"path": "new.txt", "content": f"{KEY}\n"}),)),
        Reply(parts=(Say(f"Done with {KEY}."),)),
    )
    finished = keyed.run("-p", f"use {KEY} please", "--mode", "edits", "--allow", f"bash(echo {KEY})")
    assert finished.returncode == 0, finished.stderr
    assert (keyed.root / "new.txt").read_text() == f"{KEY}\n"
    assert kept(keyed)
    assert holders(keyed) == []
    assert any(b"[redacted]" in data for name, data in kept(keyed).items() if name.endswith(".log"))


def test_a_key_that_the_service_repeats_in_an_error_is_not_shown_and_not_kept(keyed, model_server):
    model_server.reply(Refuse(status=401, message=f"invalid x-api-key {KEY}"))
    finished = keyed.run("-p", "go")
    assert finished.returncode == 1
    assert KEY not in finished.stdout + finished.stderr
    assert holders(keyed) == []


def test_keys_that_the_program_keeps_are_in_nothing_else(place, model_server):
    """Two keys in its file: the one in use, and one beside the key of the environment."""
    in_use, beside = KEY + "-in-use", KEY + "-beside"
    model_server.key = in_use
    place.environ.update({"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": KEY + "-of-the-environment"})
    for service, key in (("anthropic", in_use), ("openai", beside)):
        kept_it = place.run("config", "set-key", service, piped=key + "\n")
        assert kept_it.returncode == 0, kept_it.stderr
        assert key not in kept_it.stdout + kept_it.stderr
    both = f"{in_use} and {beside}"
    (place.root / "notes.txt").write_text(f"{both}\n" + "filler line\n" * 9_000 + f"{both}\n{SHAPED}\n")
    model_server.reply(
        Reply(parts=(Say(f"I saw {both}."), Call("bash", {"command": "cat notes.txt"}))),
        Reply(parts=(Call("bash", {"command": f"echo {both}; false"}),)),
        Reply(parts=(Call("write", {"path": "new.txt", "content": f"{both}\n"}),)),
        Refuse(status=400, message=f"invalid request by {both}"),
    )
    with place.open("--mode", "edits", columns=100, lines=30) as terminal:
        terminal.wait("Ask for a change")
        terminal.type("go on")
        terminal.press("enter")
        terminal.wait("invalid request by \\[redacted\\]")
        terminal.press("ctrl+d")
        terminal.wait_for_exit()
    for target in ("told.md", "told.html", "told.json"):
        assert place.run("sessions", "export", "latest", str(place.home / target)).returncode == 0
    assert place.run("config").stdout.count(KEY) == 0
    assert place.run("doctor").stdout.count(KEY) == 0
    assert sorted({*holders(place, in_use), *holders(place, beside)}) == [KEYS_FILE]
    assert any(b"[redacted]" in data for name, data in kept(place).items() if name.endswith(".log"))
    assert holders(place, SHAPED) == []


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_key_of_a_model_service_is_not_printed_without_a_screen(keyed, model_server, form):
    (keyed.root / "notes.txt").write_text(f"the key is {KEY}\n")
    model_server.reply(
        Reply(parts=(Say(f"I saw {KEY}."), Call("bash", {"command": f"cat notes.txt # {KEY}"}))),
        Reply(parts=(Say(f"Done with {KEY}, not with {SHAPED}."),)),
    )
    finished = keyed.run("-p", f"use {KEY} please", "--output-format", form)
    assert finished.returncode == 0, finished.stderr
    assert KEY not in finished.stdout + finished.stderr
    assert f"Done with [redacted], not with {SHAPED}." in finished.stdout


def test_commands_do_not_get_the_keys(keyed, model_server):
    (keyed.root / "show.sh").write_text('echo "a${ANTHROPIC_API_KEY}b${MY_SERVICE_TOKEN}c"\n')
    model_server.reply(Reply(parts=(Call("bash", {"command": "bash show.sh"}),)), Reply(parts=(Say("Done."),)))
    events, code = keyed.events("--allow", "bash(bash show.sh)", "-p", "go")
    assert code == 0
    assert [event["text"].strip() for event in events if event["type"] == "tool_ended"] == ["abc"]
    assert holders(keyed) == []


def test_a_wrong_key_is_told_in_the_welcome_and_kept_only_when_it_is_entered_again(place, model_server):
    model_server.key = "the-right-one-0123"
    place.environ.update({"ANTHROPIC_API_KEY": "", "CODEAGENT_MODEL": ""})
    model_server.reply(Reply(parts=(Say("Welcome."),)))
    with place.open(columns=80, lines=24) as terminal:
        terminal.wait("Anthropic key")
        terminal.type("a")
        terminal.wait("paste it here")
        terminal.paste("mistyped-key-0123")
        terminal.press("enter")
        terminal.wait("does not accept the key")
        terminal.wait("Enter keeps it all the same")
        assert "mistyped" not in terminal.text
        assert not holders(place, "mistyped-key-0123")
        terminal.press("ctrl+u")
        terminal.paste("the-right-one-0123")
        terminal.press("enter")
        terminal.wait("Ask for a change")
        terminal.type("hello")
        terminal.press("enter")
        terminal.wait("Welcome")
        terminal.press("ctrl+d")
        terminal.wait_for_exit()
    assert len(holders(place, "the-right-one-0123")) == 1
