"""What ``/init`` asks the model for: a short AGENTS.md that says what a newcomer could not guess."""

from __future__ import annotations

from codeagent.core.commands import NotReady

_REQUEST = """\
Look at this project and write AGENTS.md in its top folder: what a coding agent has to know to work here well.

First look: README, build and package files, CI, configuration of linters and tests, the folders, a few files that \
show how code is written here. If there are AGENTS.md, CLAUDE.md, .cursorrules or the like, read them.

Then write it:
- How to install, build, run, check and test, also a single test. Try commands that are quick; name none that you \
have not seen in the project.
- What lies where, and what to read first.
- The conventions that count and that the code alone does not tell.
- What goes wrong easily here.

Under 60 lines, no praise, nothing that any agent knows anyway or that one look at a file tells. If AGENTS.md is \
there already, keep what is right and mend what is wrong or missing, with edits instead of a new file. If only \
another file of instructions is there, take over what holds. In the end say in a few sentences what you were unsure \
about."""


def init_request(model: str) -> str:
    """The message for the model; raises NotReady for a model that only plays a script."""
    if model.startswith("scripted/"):
        raise NotReady(
            "This model plays a script and cannot look at a project.",
            hint="/model takes another one; after the demo, start codeagent in a project of yours.",
        )
    return _REQUEST
