"""Second names for the objects of the person's repository, so that nothing done there makes their contents go.

Objects never change once written: a hard link costs no space, and when git
cleans up, only its own name goes.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_MOST_LOOSE = 7_000
_PACK_ENDS = (".pack", ".idx")


def hold(objects: Path, held: Path) -> None:
    """Links packs and, where git keeps few of them, loose objects into ``held``; what cannot be linked is left.

    Other file systems than that of ``held`` allow no links: there nothing is held.
    """
    wanted = _packs(objects)
    loose = _loose(objects)
    if len(loose) <= _MOST_LOOSE:
        wanted |= loose
    here = {*_packs(held), *_loose(held)}
    folders: set[str] = set()
    with suppress(OSError):
        held.mkdir(mode=0o700, exist_ok=True)
        for name in sorted(wanted - here, reverse=True):  # a pack before its index
            folder = name.rpartition("/")[0]
            if folder not in folders:
                (held / folder).mkdir(mode=0o700, exist_ok=True)
                folders.add(folder)
            with suppress(FileExistsError, FileNotFoundError):
                os.link(f"{objects}/{name}", f"{held}/{name}", follow_symlinks=False)


def let_go(held: Path, *, days: float) -> None:
    """Removes what the person's repository gave up more than ``days`` ago."""
    limit = time.time() - days * 86_400.0
    for path in held.glob("*/*"):
        with suppress(OSError):
            found = path.stat()
            if found.st_nlink == 1 and found.st_ctime < limit:
                path.unlink()


def _packs(objects: Path) -> set[str]:
    with suppress(OSError), os.scandir(objects / "pack") as entries:
        return {f"pack/{entry.name}" for entry in entries if entry.name.endswith(_PACK_ENDS)}
    return set()


def _loose(objects: Path) -> set[str]:
    found: set[str] = set()
    with suppress(OSError):
        for folder in os.listdir(objects):  # noqa: PTH208 - names are all that is needed, thousands of times
            if len(folder) == 2:  # noqa: PLR2004 - two digits of the id
                with suppress(OSError):
                    found |= {f"{folder}/{name}" for name in os.listdir(f"{objects}/{folder}")}  # noqa: PTH208
    return found
