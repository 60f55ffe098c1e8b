"""What the model reads of a command's output, and what it is told of the files it had seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codeagent.core.text import clean
from codeagent.tools.output import show_name
from codeagent.workspace.paths import PathSandbox

_MOST_NAMED = 10
_SHORTEST_BINARY = 50
_BINARY_SHARE = 0.1


def readable(text: str, total_bytes: int) -> str:
    """The output as the model reads it: no colours, no controls, and nothing of what is plainly no text."""
    odd = text.count("\ufffd") + text.count("\0")
    if odd > _SHORTEST_BINARY and odd > len(text) * _BINARY_SHARE:
        return f"[{total_bytes:,} bytes of binary output are not shown]\n"
    return clean(text)


def changed_note(sandbox: PathSandbox, changed: Sequence[Path]) -> str:
    """Names files that are no longer as the model has seen them."""
    shown = [show_name(sandbox.show(path)) for path in changed[:_MOST_NAMED]]
    more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
    return f"[changed since you read them, read again before editing: {', '.join(shown)}{more}]"
