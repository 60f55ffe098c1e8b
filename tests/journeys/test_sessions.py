"""Sessions from the command line, and what happens where nothing can be kept."""

import json
import os
import stat
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from tests.server.replies import Call, Reply, Say

pytestmark = pytest.mark.journey


def replies(server, *texts):
    server.reply(*[Reply(parts=(Say(text),)) for text in texts])


def listed(place):
    return [json.loads(line) for line in place.run("sessions", "list", "--json").stdout.splitlines()]


def busy(server):
    server.reply(
        Reply(parts=(Call("bash", {"command": "seq 1 20000; echo x > made.txt"}),)),
        Reply(parts=(Call("write", {"path": "new.txt", "content": "hello\n"}),)),
        Reply(parts=(Say("All is done."),)),
    )


@pytest.fixture
def nowhere(place):
    """A home that no folder can be made in."""
    (place.home.parent / "file").write_text("")
    place.environ["CODEAGENT_HOME"] = str(place.home.parent / "file" / "home")
    return place


def test_without_a_place_to_keep_it_a_run_goes_on_and_says_so_once(nowhere, model_server):
    busy(model_server)
    finished = nowhere.run("--mode", "auto", "-p", "do it")
    assert (finished.returncode, finished.stdout) == (0, "All is done.\n")
    assert finished.stderr.count("not recorded") == 1
    assert (nowhere.root / "new.txt").read_text() == "hello\n"
    assert (nowhere.root / "made.txt").read_text() == "x\n"


def test_without_a_place_to_keep_it_the_app_goes_on_and_says_so_once(nowhere, model_server):
    busy(model_server)
    replies(model_server, "And once more.")
    with nowhere.open("--mode", "auto", lines=50) as terminal:
        terminal.wait("auto")
        terminal.type("do it")
        terminal.press("enter")
        terminal.wait("All is done")
        terminal.type("again")
        terminal.press("enter")
        terminal.wait("And once more")
        terminal.wait("not recorded")
        assert terminal.text.count("not recorded") == 1
    assert (nowhere.root / "made.txt").read_text() == "x\n"


def test_sessions_are_listed_and_searched(place, model_server):
    replies(model_server, "One, with a needle.", "Two.")
    place.run("-p", "mend the totals")
    place.run("-p", "write the readme")
    newer, older = listed(place)
    assert (older["title"], older["turns"], newer["last_words"]) == ("mend the totals", 1, "Two.")
    found = json.loads(place.run("sessions", "search", "--json", "NEEDLE").stdout)
    assert (found["session_id"], found["speaker"]) == (older["session_id"], "agent")
    assert place.run("sessions", "search", "haystack").returncode == 1


def test_a_session_is_named_and_copied_and_the_copy_removed(place, model_server):
    replies(model_server, "One.")
    place.run("-p", "mend the totals")
    place.run("sessions", "rename", "latest", "A", "title")
    copy = place.run("sessions", "fork", "latest", "--before", "1").stdout.strip()
    titles = {one["session_id"]: one["title"] for one in listed(place)}
    assert (titles.pop(copy), list(titles.values())) == ("", ["A title"])
    kept = place.run("sessions", "delete", copy)
    assert kept.returncode == 1
    assert "--yes" in kept.stderr
    place.run("sessions", "delete", copy, "--yes")
    assert [one["session_id"] for one in listed(place)] == list(titles)


@pytest.mark.parametrize("ending", ["md", "html", "json"])
def test_an_export_has_what_was_said_and_no_key(place, model_server, ending):
    replies(model_server, "It is one.")
    place.run("-p", "my key is test-key-0123456789, what is it?")
    target = place.root / f"out.{ending}"
    assert place.run("sessions", "export", "latest", str(target)).returncode == 0
    assert "It is one." in target.read_text()
    assert "test-key-0123456789" not in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    again = place.run("sessions", "export", "latest", str(target))
    assert again.returncode == 1
    assert "already" in again.stderr


def test_a_session_follows_its_directory(place, model_server):
    replies(model_server, "One.", "Two.")
    place.run("-p", "first words")
    moved = place.root.with_name("moved")
    place.root.rename(moved)
    place.root.mkdir()
    finished = place.run("-C", str(moved), "-c", "-p", "second words")
    assert finished.stdout == "Two.\n"
    assert "first words" in json.dumps(model_server.requests[-1].messages)


def test_a_session_is_played_again(place, model_server):
    replies(model_server, "The answer is **seven**.")
    place.run("-p", "what is it?")
    with place.open("sessions", "replay", "latest", "--speed", "50") as terminal:
        terminal.wait("the end")
        assert "what is it?" in terminal.text
        assert "The answer is seven." in terminal.text
        terminal.press("q")
        assert terminal.wait_for_exit() == 0
    wrong = place.run("sessions", "replay", "latest", "--speed", "0")
    assert wrong.returncode == 2


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_all_that_the_program_keeps_is_for_its_owner_alone_whatever_the_umask(place, model_server, umask):
    busy(model_server)
    replies(model_server, "Typed.")
    before = os.umask(umask)
    try:
        place.run("--mode", "auto", "-p", "do it")
        with place.open("-c") as terminal:
            terminal.wait("All is done")
            terminal.type("and on")
            terminal.press("enter")
            terminal.wait("Typed")
            terminal.type("a draft")
            terminal.press("ctrl+c", "ctrl+c", "ctrl+c")
            terminal.wait_for_exit()
        place.run("sessions", "fork", "latest")
    finally:
        os.umask(before)
    kept = [path for path in place.home.rglob("*") if not path.is_symlink()]
    assert any(path.suffix == ".jsonl" for path in kept)
    open_to_others = [path for path in kept if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert [path for path in open_to_others if "objects" not in path.parts] == []


def test_without_a_command_sessions_are_listed_with_the_time_of_this_place(place, model_server):
    replies(model_server, "One.")
    place.run("-p", "mend the totals")
    (session,) = listed(place)
    here = replace(place, environ={**place.environ, "TZ": "HERE-14"})
    there = datetime.fromisoformat(session["updated_at"]).astimezone(timezone(timedelta(hours=14)))
    shown = here.run("sessions").stdout
    assert f"  {there:%Y-%m-%d %H:%M}  " in shown
    assert "mend the totals" in shown
