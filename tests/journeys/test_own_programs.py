"""Programs that a repository brings along, or a command has put there: the program starts none of them for itself."""

import os
from pathlib import Path

import pytest

from tests.journeys.conftest import Place
from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]


@pytest.fixture(params=["in the workspace", "not absolute", "empty", "for temporary files", "in the repository around"])
def hostile(request, place, tmp_path) -> Place:
    """A place where PATH first leads to stand-ins for all that there is, which write down that they ran."""
    temporary = tmp_path / "temporary"
    folder, first = {
        "in the workspace": (place.root / ".venv/bin", str(place.root / ".venv/bin")),
        "not absolute": (place.root / "bin", "bin"),
        "empty": (place.root, ""),
        "for temporary files": (temporary / "bin", str(temporary / "bin")),
        "in the repository around": (place.root / "bin", str(place.root / "bin")),
    }[request.param]
    folder.mkdir(parents=True, exist_ok=True)
    for one in os.environ["PATH"].split(":"):
        for program in Path(one).iterdir() if Path(one).is_dir() else ():
            stand_in = folder / program.name
            if not stand_in.exists():
                stand_in.write_text(f'#!/bin/sh\necho "$0" >> {tmp_path}/ran\n')
                stand_in.chmod(0o755)
    temporary.mkdir(exist_ok=True)
    (place.root / ".git/refs").mkdir(parents=True)
    (place.root / ".git/objects").mkdir()
    (place.root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    root = place.root / "sub" if request.param == "in the repository around" else place.root
    root.mkdir(exist_ok=True)
    environ = {**place.environ, "PATH": f"{first}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    return Place(root=root, home=place.home, environ=environ)


def test_no_program_is_taken_from_where_anybody_may_have_put_it(hostile, model_server, tmp_path):
    calls = [
        Call("ls", {"path": "."}),
        Call("grep", {"pattern": "total"}),
        Call("glob", {"pattern": "*.py"}),
        Call("write", {"path": "new.py", "content": "x = 1\n"}),
        Call("bash", {"command": "echo held"}),
    ]
    for call in calls:
        model_server.reply(Reply(parts=(call,)))
    model_server.reply(Reply(parts=(Say("Done."),)))
    events, code = hostile.events("--mode", "edits", "-p", "go")
    ended = [(event["outcome"], event["text"]) for event in events if event["type"] == "tool_ended"]
    assert [outcome for outcome, _ in ended] == ["ok"] * len(calls), ended
    assert code == 0
    assert "held" in ended[-1][1]
    hostile.run("doctor")
    hostile.run("sessions", "undo", "--yes")
    assert not (hostile.root / "new.py").exists()
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
