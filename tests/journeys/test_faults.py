"""A fault of the program itself: one sentence after a clean end, and a report that holds no keys."""

from __future__ import annotations

import re
import sys

import pytest

from tests.journeys.terminal import Terminal

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]

KEY = "planted-key-0f1e2d3c4b5a69788796a5b4c3d2e1f0"
START = """
import sys
{imports}
def broken(*arguments, **named):
    value = "{key}"
    raise RuntimeError("broken with " + value)
{target} = broken
from codeagent.__main__ import main
sys.exit(main())
"""
BROKEN = {
    "a key": ("from codeagent.tui.widgets.prompt import Prompt", "Prompt._submit", "hello\r"),
    "a worker": ("from codeagent.tui.app import CodeagentApp", "CodeagentApp._run_command", "/help\r"),
    "a thread": ("from codeagent.tui.drafts import Drafts", "Drafts._remember", "hello\r"),
    "the picture": ("from codeagent.tui.widgets.status import StatusLine", "StatusLine.render", ""),
}


@pytest.mark.parametrize("where", BROKEN)
def test_a_fault_ends_the_app_with_one_sentence_and_a_report_without_keys(place, where):
    imports, target, typed = BROKEN[where]
    place.environ["ANTHROPIC_API_KEY"] = KEY
    script = START.format(imports=imports, target=target, key=KEY)
    with Terminal([sys.executable, "-c", script], cwd=place.root, environ=place.environ) as terminal:
        if typed:
            terminal.wait("claude-test", 30)
            terminal.type(typed)
        assert terminal.wait_for_exit(30) == 1
        told = terminal.raw.decode(errors="replace").rpartition("\x1b[?1049l")[2]
    said = " ".join(told.split())
    assert re.search(r"A fault of the program ended it: RuntimeError\. The report is in \S+\.txt; the session", said)
    assert "Traceback" not in told
    assert KEY not in told
    (report,) = (place.home / "state").glob("fault-*.txt")
    assert "RuntimeError: broken with [redacted]" in report.read_text()
    assert report.stat().st_mode & 0o077 == 0
