"""Nothing moves by itself when the person wants it so: counted in what the terminal gets."""

import time

import pytest

from codeagent.tui.widgets.tool_panel import SPINNER
from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]
WATCHED_SECONDS = 3.0
MOST_BYTES_A_SECOND = 600  # one row: the heading of the running call with its seconds


@pytest.mark.parametrize("is_reduced", [True, False])
def test_while_a_command_runs(place, model_server, is_reduced):
    place.run("config", "set", "ui.reduced_motion", str(is_reduced).lower())
    waits = "echo up; while [ ! -e done ]; do sleep 0.1; done"
    model_server.reply(Reply(parts=(Call("bash", {"command": waits}),)), Reply(parts=(Say("It is over."),)))
    with place.open("--mode", "auto", "run it") as terminal:
        terminal.wait(r"^ +up", 60)
        terminal.wait(r"\d\.\d s", 60)
        before, began = len(terminal.raw), time.monotonic()
        terminal.pump(WATCHED_SECONDS)
        drawn, seconds = len(terminal.raw) - before, time.monotonic() - began
        (place.root / "done").touch()
        terminal.wait("It is over", 60)
        raw = terminal.raw.decode(errors="replace")
    assert any(sign in raw for sign in SPINNER) == (not is_reduced)
    assert "\x1b[?12h" not in raw  # a cursor that blinks
    assert "\x1b[5m" not in raw  # text that blinks
    assert raw.count("\x1b]2;working") == 1
    if is_reduced:
        assert drawn <= MOST_BYTES_A_SECOND * (seconds + 1)
