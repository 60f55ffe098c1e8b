"""What the model has seen of the files, kept beside a session's record so that a resumed session knows it."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from codeagent.workspace.private import open_private
from codeagent.workspace.seen import SeenFile


@cache
def _files() -> TypeAdapter[tuple[SeenFile, ...]]:
    """What turns them into JSON and back; made when first needed, which takes a while."""
    return TypeAdapter(tuple[SeenFile, ...])


def save_seen(path: Path, files: tuple[SeenFile, ...]) -> None:
    """Writes it anew; where the disk refuses, a resumed session just has to read again."""
    fresh = path.with_suffix(".new")
    with suppress(OSError, ValueError):
        with open_private(fresh, os.O_TRUNC) as file:
            file.write(_files().dump_json(files).decode())
        fresh.replace(path)


def load_seen(path: Path) -> tuple[SeenFile, ...]:
    """What was kept, nothing when there is nothing or it is damaged."""
    try:
        return _files().validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return ()
