"""Finds files that git keeps in another form than they lie in the work tree: its ids are not those of their bytes.

Line ends, ``$Id$``, encodings and filters such as git-lfs do that (gitattributes(5), git-config(1)).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.workspace.git import run_git
from codeagent.workspace.private_git import PrivateGit

_ATTRIBUTES = ".gitattributes"
_LARGEST = 1_000_000
_OTHER_SIZE = re.compile(rb"[\s-](?:text|eol|crlf|ident)\b")
_ANY_SIZE = {"filter": re.compile(rb"\sfilter="), "working-tree-encoding": re.compile(rb"\sworking-tree-encoding=")}
_SECONDS = 60.0


def converted(git: PrivateGit, names: Iterable[str]) -> set[str]:
    """Those of the files in the index (still the person's own) of which it names another content than the bytes here.

    What changes line ends or ``$Id$`` changes the size as well; what filters and
    encodings do is not known, so all of their files count. Raises CheckpointError.
    """
    root = git.root
    folders = {name.rpartition("/")[0] for name in names}
    rules = b"\n".join((*map(_content, _places(git, folders)), b""))
    found: set[str] = set()
    for attribute, pattern in _ANY_SIZE.items():
        if pattern.search(rules):
            words = ("ls-files", "-z", "--", f":(exclude,attr:!{attribute})")
            found |= {name for name in (run_git(root, *words, seconds=_SECONDS) or "").split("\0") if name}
    if git.surroundings.turns_line_ends or _OTHER_SIZE.search(rules):
        found |= _of_other_size(git)
    return found


def _places(git: PrivateGit, folders: Iterable[str]) -> Iterable[Path]:
    """Where attributes may be given."""
    yield from git.surroundings.attributes
    folder = git.root
    while folder not in {git.surroundings.top, folder.parent}:
        folder = folder.parent
        yield folder / _ATTRIBUTES
    for name in folders:
        place = f"{git.root}/{name}/{_ATTRIBUTES}"
        if os.access(place, os.R_OK):
            yield Path(place)
    if "" not in folders:
        yield git.root / _ATTRIBUTES


def _of_other_size(git: PrivateGit) -> set[str]:
    """The files that are not as large as the contents that the index names."""
    blobs: list[str] = []
    names: list[str] = []
    for entry in os.fsdecode(git.run("ls-files", "-z", "-s")).split("\0"):
        about, _, name = entry.partition("\t")
        if name:
            names.append(name)
            blobs.append(about.split(" ")[1])
    given = "".join(f"{blob}\n" for blob in blobs).encode()
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", given=given, borrows=True).split(b"\n")
    found: set[str] = set()
    for name, size in zip(names, sizes, strict=False):
        with suppress(OSError):
            if str(os.lstat(f"{git.root}/{name}").st_size).encode() != size:
                found.add(name)
    return found


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return b" " + file.read(_LARGEST)
    except OSError:
        return b""
