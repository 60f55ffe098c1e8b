"""Which instructions the model is given, and how much of each: the person's own, then the project's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from codeagent.core.project import Brings, ProjectFile
from codeagent.core.text import clean
from codeagent.core.values import value

LONGEST = 32 * 1024
"""Bytes of one file that are used."""

MOST = 64 * 1024
"""Bytes of all the project's files together that are used; those nearest to the workspace come first."""

_REFERENCES = frozenset({"@AGENTS.md", "@./AGENTS.md", "@CLAUDE.md", "@./CLAUDE.md"})


@value
class Instructions:
    """Instructions of the person or of the project; ``source`` says where they were found.

    ``note`` says what of them was left out, and is empty when they are whole.
    """

    source: str
    text: str
    note: str = ""


def own_instructions(source: str, text: str) -> Instructions:
    """The person's own, as far as they are used."""
    return _cut(source, text, LONGEST)


def project_instructions(files: Sequence[ProjectFile]) -> tuple[Instructions, ...]:
    """Those of the project, in the order of ``files``, the nearest to the workspace last.

    Two files of one folder that say the same, or of which one only names the other, are one.
    """
    left = MOST
    chosen: list[Instructions] = []
    for file in reversed(list(_different(files))):
        cut = _cut(file.name, file.text, min(LONGEST, left))
        left -= len(cut.text.encode())
        chosen.append(cut)
    return tuple(reversed(chosen))


def _different(files: Sequence[ProjectFile]) -> Iterator[ProjectFile]:
    """The files with instructions that say something of their own."""
    usable = [file for file in files if file.brings is Brings.INSTRUCTIONS and not file.problem and file.text.strip()]
    said: set[tuple[str, str]] = set()
    for file in usable:
        folder = str(PurePosixPath(file.name).parent)
        text = file.text.strip()
        has_sibling = any(other is not file and _is_beside(other, folder) for other in usable)
        if (folder, text) not in said and not (has_sibling and text in _REFERENCES):
            said.add((folder, text))
            yield file


def _is_beside(file: ProjectFile, folder: str) -> bool:
    return str(PurePosixPath(file.name).parent) == folder and file.text.strip() not in _REFERENCES


def _cut(source: str, text: str, room: int) -> Instructions:
    """Whole lines of a text, as many as there is room for in bytes."""
    text = clean(text).strip("\n")
    if len(text.encode("utf-8", "replace")) <= room:
        return Instructions(source=source, text=text)
    kept: list[str] = []
    lines = text.split("\n")
    for line in lines:
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        kept.append(line)
    note = f"only the first {len(kept):,} of {len(lines):,} lines fit" if kept else "too long to be used"
    return Instructions(source=source, text="\n".join([*kept, f"[cut here: {note}]"]), note=note)
