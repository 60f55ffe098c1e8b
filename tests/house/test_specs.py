"""What requests say of the tools is what the tools say of themselves; run as a program this file writes it."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from codeagent.toolbox import make_tools
from codeagent.tools.prepared import FILE, prepared_specs
from codeagent.workspace.jobs import Jobs
from codeagent.workspace.paths import PathSandbox
from codeagent.workspace.seen import SeenFiles


def specs(folder):
    tools = make_tools(
        PathSandbox(folder),
        SeenFiles(),
        Jobs(lambda job: None),
        logs=folder,
        is_read_only=lambda command, cwd: False,
        environ={},
        confinement=None,
        keep=(),
        secrets=(),
        emit=lambda event: None,
        puts_git_back=lambda: False,
        rule_against=lambda path: "",
    )
    return tools.specs()


def test_what_requests_say_of_the_tools_is_what_they_say_themselves(tmp_path):
    assert prepared_specs() == specs(tmp_path), "python -m tests.house.test_specs writes it anew"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        FILE.write_text(json.dumps([asdict(one) for one in specs(Path(folder))], indent=2, ensure_ascii=False) + "\n")
