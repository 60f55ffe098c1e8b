"""What there is to read in a session, as it is exported."""

from __future__ import annotations

from codeagent.core.diff import FileDiff
from codeagent.core.values import value


@value
class Said:
    """The person's words."""

    text: str


@value
class Wrote:
    """The agent's words, in Markdown."""

    text: str


@value
class Thought:
    """What the model thought."""

    text: str


@value
class Did:
    """A tool call: what it was about, what the person said to it, how it ended, what it put out and changed."""

    tool: str
    label: str
    outcome: str
    text: str
    diffs: tuple[FileDiff, ...]
    answer: str = ""


@value
class Noted:
    """Something the program said; ``is_trouble`` when it went wrong."""

    text: str
    is_trouble: bool = False


Passage = Said | Wrote | Thought | Did | Noted
