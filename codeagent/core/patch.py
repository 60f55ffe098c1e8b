"""A change of a file as plain text, in the form that patch tools read and people know."""

from __future__ import annotations

from codeagent.core.diff import ChangeKind, FileDiff


def as_patch(diff: FileDiff) -> str:
    """The change as a unified diff; what no line can show stands in lines of its own."""
    nothing = "/dev/null"
    old = nothing if diff.change is ChangeKind.CREATED else diff.path
    new = nothing if diff.change is ChangeKind.DELETED else diff.path
    lines = [f"--- {old}", f"+++ {new}", *(f"# {note}" for note in diff.notes)]
    for hunk in diff.hunks:
        lines.append(f"@@ -{hunk.old_start},{len(hunk.old_lines)} +{hunk.new_start},{len(hunk.new_lines)} @@")
        lines += [line.kind.value + line.text.rstrip("\r\n") for line in hunk.lines]
    return "".join(f"{line}\n" for line in lines)
