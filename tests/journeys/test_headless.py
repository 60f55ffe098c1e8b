"""The program without a screen, from the command line to the model server and back."""

import json
import os
import signal
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.events import REFUSED
from tests.journeys.conftest import NAP, PROGRAM, sleeping, wait_for
from tests.server.replies import Call, Refuse, Reply, Say, Stall

pytestmark = pytest.mark.journey

FIX = Call("edit", {"path": "cart.py", "old": "full / (1 + discount)", "new": "full * (1 - discount)"})


def fix_replies(server):
    server.reply(
        Reply(parts=(Say("I'll look."), Call("read", {"path": "cart.py"}))),
        Reply(parts=(Say("Fixing."), FIX)),
        Reply(parts=(Say("Fixed the total."),)),
    )


def of_kind(events, kind):
    return [event for event in events if event["type"] == kind]


def test_text_prints_the_answer_and_nothing_else(place, model_server):
    model_server.reply(Reply(parts=(Say("It is **fine**."),)))
    finished = place.run("-p", "how is it?")
    assert (finished.stdout, finished.stderr, finished.returncode) == ("It is **fine**.\n", "", 0)


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_an_answer_that_cannot_be_printed_is_no_success(place, model_server, form):
    model_server.reply(Reply(parts=(Say("It is fine."),)))
    words = [*PROGRAM, "-p", "how is it?", "--output-format", form]
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(
            words,
            cwd=place.root,
            env={**os.environ, **place.environ},
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert finished.stderr == "codeagent: Not all of the answer could be printed: No space left on device.\n"
    assert finished.returncode == 1


@pytest.mark.parametrize("words", ["I'd rather not.", ""])
def test_a_refusal_prints_what_the_model_said_and_what_to_do(place, model_server, words):
    model_server.reply(Reply(parts=(Say(words),) if words else (), stop="refusal"))
    finished = place.run("-p", "how is it?")
    assert (finished.stdout, finished.returncode) == (f"{words}\n" if words else "", 1)
    assert finished.stderr == f"codeagent: {REFUSED}\n"


def test_an_edit_is_denied_without_a_person_and_the_denial_names_the_remedy(place, model_server):
    fix_replies(model_server)
    events, code = place.events("-p", "fix the total")
    (ended,) = [event for event in of_kind(events, "tool_ended") if event["outcome"] != "ok"]
    assert (ended["outcome"], ended["code"]) == ("denied", "DENIED")
    assert "--mode edits" in ended["text"] or "--allow" in ended["text"]
    assert code == 0
    assert "1 + discount" in (place.root / "cart.py").read_text()
    assert of_kind(events, "turn_ended")[0]["denials"]


def test_an_edit_is_made_where_the_mode_allows_it(place, model_server):
    fix_replies(model_server)
    events, code = place.events("-p", "fix the total", "--mode", "edits")
    assert code == 0
    assert (place.root / "cart.py").read_text().endswith("return full * (1 - discount)\n")
    kinds = [event["type"] for event in events]
    assert kinds[0] == "session_started"
    assert kinds[-1] == "turn_ended"
    started, ended = of_kind(events, "tool_started"), of_kind(events, "tool_ended")
    assert [event["name"] for event in started] == ["read", "edit"]
    assert [event["call_id"] for event in started] == [event["call_id"] for event in ended]
    assert started[1]["arguments"]["new"] == "full * (1 - discount)"
    assert of_kind(events, "turn_ended")[0]["text"] == "Fixed the total."
    assert "".join(event["text"] for event in of_kind(events, "text_delta")) == "I'll look.Fixing.Fixed the total."


def test_the_same_through_chat_completions(chat_place, model_server):
    fix_replies(model_server)
    events, code = chat_place.events("-p", "fix the total", "--allow", "edit(**)")
    assert code == 0
    assert of_kind(events, "session_started")[0]["model"] == "openai-chat/test"
    assert "1 - discount" in (chat_place.root / "cart.py").read_text()
    assert model_server.refusals == []


def test_json_prints_the_end_alone(place, model_server):
    model_server.reply(Reply(parts=(Say("Done."),)))
    finished = place.run("-p", "go", "--output-format", "json")
    (line,) = finished.stdout.splitlines()
    ended = json.loads(line)
    assert (ended["type"], ended["reason"], ended["text"]) == ("turn_ended", "done", "Done.")
    assert ended["usage"]["output_tokens"] > 0


def test_piped_text_reaches_the_model_below_the_prompt(place, model_server):
    model_server.reply(Reply(parts=(Say("A diff."),)))
    assert place.run("-p", "what is this?", piped="- old\n+ new\n").returncode == 0
    (message,) = model_server.requests[0].messages
    assert "what is this?" in json.dumps(message)
    assert "+ new" in json.dumps(message)


def test_piped_text_that_is_longer_than_the_window_bricks_no_session(place, model_server):
    model_server.window = (9_000, "prompt is too long: {sent} tokens > 9000 maximum")
    model_server.reply(Reply(parts=(Say("I read its ends."),)))
    finished = place.run("-p", "review this", piped="+ new line\n" * 20_000)
    assert (finished.stdout, finished.returncode) == ("I read its ends.\n", 0)
    assert "characters of its middle are left out for the model" in finished.stderr
    model_server.reply(Reply(parts=(Say("Still here."),)))
    after = place.run("-c", "-p", "and now?")
    assert (after.stdout, after.stderr, after.returncode) == ("Still here.\n", "", 0)


def test_c_goes_on_with_the_history_and_what_was_read(place, model_server):
    model_server.reply(Reply(parts=(Call("read", {"path": "cart.py"}),)), Reply(parts=(Say("Read it."),)))
    assert place.run("-p", "read the cart").returncode == 0
    model_server.reply(Reply(parts=(FIX,)), Reply(parts=(Say("Fixed."),)))
    _, code = place.events("-c", "-p", "now fix it", "--mode", "edits")
    assert code == 0
    assert "1 - discount" in (place.root / "cart.py").read_text()
    said = json.dumps(model_server.requests[-1].messages)
    assert "read the cart" in said
    assert "now fix it" in said
    assert model_server.refusals == []


def test_everything_kept_is_private_and_holds_no_key(place, model_server):
    model_server.reply(
        Reply(parts=(Call("bash", {"command": "echo $ANTHROPIC_API_KEY; echo key=test-key-0123456789"}),)),
        Reply(parts=(Say("My key is test-key-0123456789."),)),
    )
    before = os.umask(0)
    try:
        place.run("-p", "show the key", "--allow", "bash(echo *)")
    finally:
        os.umask(before)
    kept = [path for path in place.home.rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert b"test-key-0123456789" not in path.read_bytes(), path
    for path in place.home.rglob("*"):
        assert not path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o700, path


def test_a_reader_that_goes_away_is_no_fault(place):
    command = f"{' '.join(PROGRAM)} config | true; echo ${{PIPESTATUS[0]}}"
    finished = subprocess.run(
        ["bash", "-c", command],
        cwd=place.root,
        env={**os.environ, **place.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stderr == ""
    assert not list(place.home.rglob("fault-*"))


@pytest.mark.parametrize("closing", [">&-", "<&-", "> /dev/full"])
def test_closed_or_full_streams_are_no_fault(place, model_server, closing):
    model_server.reply(Reply(parts=(Say("Done."),)))
    command = f"{' '.join(PROGRAM)} -p go {closing}"
    finished = subprocess.run(
        ["bash", "-c", command],
        cwd=place.root,
        env={**os.environ, **place.environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in finished.stderr
    assert not list(place.home.rglob("fault-*"))
    assert len(model_server.requests) == 1


def test_a_folder_whose_name_is_no_text_can_be_worked_in(place, model_server, tmp_path):
    odd = tmp_path / "odd\udcff"
    odd.mkdir()
    model_server.reply(Reply(parts=(Call("ls"),)), Reply(parts=(Say("Empty."),)))
    finished = place.run("-C", str(odd), "-p", "look \udcfe around", "--output-format", "json")
    assert json.loads(finished.stdout)["text"] == "Empty."
    assert model_server.refusals == []


def test_no_session_leaves_nothing(place, model_server):
    model_server.reply(Reply(parts=(Say("Done."),)))
    assert place.run("-p", "go", "--no-session").returncode == 0
    assert list(place.home.rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--mode", "edits"), "no terminal", 2),
        (("-p", "x", "--model", "nonsense"), "does not name a model", 2),
        (("-p", "x", "--model", "scripted/nowhere"), "no script", 2),
        (("-p", "x", "--allow", "bash(("), "bash((", 2),
        (("-p", "x", "-C", "nowhere"), "nowhere", 2),
        (("-p", "x", "-c"), "no session", 2),
        (("-p", "x", "-r", "nosuch"), "has the id nosuch", 2),
        (("sessions", "show", "nosuch"), "has the id nosuch", 2),
        (("-p",), "no prompt", 2),
    ],
)
def test_what_cannot_work_is_one_clear_sentence(place, words, said, code):
    finished = place.run(*words)
    assert said in finished.stderr
    assert "Traceback" not in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
    assert (finished.stdout, finished.returncode) == ("", code)


def test_without_key_the_error_says_what_to_set(place):
    place.environ.pop("ANTHROPIC_API_KEY")
    place.environ.pop("ANTHROPIC_BASE_URL")
    finished = place.run("-p", "x")
    assert "set ANTHROPIC_API_KEY" in finished.stderr
    assert finished.returncode == 2


def test_a_wrong_key_is_said_and_fails(place, model_server):
    model_server.reply(Refuse(status=401, type="authentication_error", message="invalid x-api-key"))
    finished = place.run("-p", "x")
    assert "ANTHROPIC_API_KEY" in finished.stderr
    assert finished.returncode == 1


def test_the_step_limit_ends_with_its_own_exit_code(place, model_server):
    model_server.reply(Reply(parts=(Call("ls"),)), Reply(parts=(Call("ls"),)))
    events, code = place.events("-p", "look around", "--max-steps", "1")
    assert of_kind(events, "turn_ended")[0]["reason"] == "step_limit"
    assert code == 3


def start(place, *words):
    return subprocess.Popen(
        [*PROGRAM, *words],
        cwd=place.root,
        env={**os.environ, **place.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_interrupt_stops_the_command_and_leaves_no_process(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": f"echo $$ > pid; {NAP}61 & {NAP}62; touch late"}),)))
    running = start(place, "-p", "wait", "--allow", "bash(*)", "--mode", "auto", "--sandbox", "off")
    wait_for(place.root / "pid")
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert sleeping(f"{NAP}6[12]") == []
    assert not (place.root / "late").exists()


def test_a_session_killed_in_mid_turn_goes_on(place, model_server):
    model_server.reply(Reply(parts=(Call("read", {"path": "cart.py"}), Call("bash", {"command": "sleep 30"}))))
    running = start(place, "-p", "first words", "--mode", "auto", "--sandbox", "off", "--output-format", "stream-json")
    for line in running.stdout:
        if json.loads(line)["type"] == "tool_ended":
            break
    running.kill()
    running.communicate()
    (record,) = place.home.rglob("*.jsonl")
    with record.open("ab") as file:
        file.write(b'{"v":1,"at":"2026-01-01","ev')  # a line that the kill cut off
    model_server.reply(Reply(parts=(Say("Going on."),)))
    events, code = place.events("-c", "-p", "second words")
    assert code == 0
    assert any("cut off" in event["text"] for event in of_kind(events, "notice"))
    assert model_server.refusals == []
    said = json.dumps(model_server.requests[-1].messages)
    assert "first words" in said
    assert "return full" in said  # the result of the call that had ended


def test_a_stalled_stream_can_be_interrupted_at_once(place, model_server):
    model_server.reply(Reply(parts=(Say("Well, " * 20),), fault=Stall(after=2)))
    running = start(place, "-p", "x", "--output-format", "stream-json")
    for line in running.stdout:
        if json.loads(line)["type"] == "text_delta":
            break
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)  # the stream stays silent for as long as the server lives
    assert running.returncode == 130


def test_a_command_of_ones_own_is_sent_with_its_arguments_and_what_was_piped(place, model_server):
    folder = place.home / "config" / "commands"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("---\ndescription: Look hard\n---\nReview $1 closely.")
    model_server.reply(Reply(parts=(Say("Fine."),)))
    finished = place.run("-p", "/review cart.py", piped="a diff\n")
    assert (finished.stdout, finished.stderr) == ("Fine.\n", "")
    assert "Review cart.py closely.\n\na diff" in json.dumps(model_server.requests[0].body).replace("\\n", "\n")


@pytest.mark.parametrize(
    ("name", "hint"), [("nope", "would make one"), ("deploy", "codeagent trust"), ("quit", "would make one")]
)
def test_a_command_that_does_not_exist_is_refused_before_any_request(place, model_server, name, hint):
    bring_deploy(place)
    finished = place.run("-p", f"/{name}")
    assert finished.returncode == 2
    assert f"There is no command /{name} without a screen." in finished.stderr
    assert hint in finished.stderr
    assert model_server.requests == []


def test_a_command_of_a_project_runs_once_it_is_trusted(place, model_server):
    bring_deploy(place)
    model_server.reply(Reply(parts=(Say("Deployed."),)))
    assert place.run("-p", "/deploy", "--trust").stdout == "Deployed.\n"


def bring_deploy(place):
    folder = place.root / ".codeagent" / "commands"
    folder.mkdir(parents=True)
    (folder / "deploy.md").write_text("Deploy it.")


def test_a_folder_that_was_named_and_is_not_there_is_told(place, model_server):
    model_server.reply(Reply(parts=(Say("Fine."),)))
    finished = place.run("-p", "hi", "--add-dir", "/no/such/folder")
    assert finished.stdout == "Fine.\n"
    assert "There is no directory /no/such/folder" in finished.stderr


def test_without_a_model_it_says_how_to_get_one(place):
    environ = {name: text for name, text in place.environ.items() if name in {"CODEAGENT_HOME", "PYTHONPATH"}}
    finished = replace(place, environ={**environ, "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""}).run("-p", "hi")
    assert finished.returncode == 2
    assert "No model yet" in finished.stderr
    assert "codeagent config set-key anthropic" in finished.stderr
