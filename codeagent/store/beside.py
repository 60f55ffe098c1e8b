"""Large parts of a session's record in files of their own beside it, each named for its content."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.long_texts import json_of
from codeagent.workspace.private import make_private_folder, open_private

LARGE = 16 * 1024
"""Characters of JSON from which on a part is kept beside the record."""

_TEXT, _LIST = "$text", "$list"
# How a reference looks in a line; inside a JSON string it never does, since its quotes are escaped there.
_MARKS = (b'{"$text":', b'{"$list":')

GONE = "[This was kept in a file beside the session's record, and the file is missing or damaged.]"


class Beside:
    """The folder of one session; nothing is made before there is something large.

    Only texts and lists are put into files, so that a record whose file is lost
    still says what it is about.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.missing = 0

    def without_large(self, value: JsonValue) -> JsonValue:
        """The value with its large parts put into files; raises OSError."""
        match value:
            case str():
                return self._referred(_TEXT, value) if len(value) > LARGE else value
            case list():
                small: JsonValue = [self.without_large(item) for item in value]
                return self._referred(_LIST, small) if _size(small) > LARGE else small
            case dict():
                return {key: self.without_large(item) for key, item in value.items()}
            case _:
                return value

    def with_large(self, value: JsonValue) -> JsonValue:
        """The value with its references followed; what is gone is counted, and stands as empty or as said."""
        match value:
            case {"$text": str(name)} if len(value) == 1:
                text = self._read(name)
                return text if isinstance(text, str) else GONE
            case {"$list": str(name)} if len(value) == 1:
                found = self._read(name)
                return self.with_large(found) if isinstance(found, list) else []
            case list():
                return [self.with_large(item) for item in value]
            case dict():
                return {key: self.with_large(item) for key, item in value.items()}
            case _:
                return value

    def names_with(self, needles: Iterable[bytes]) -> set[str]:
        """The names of the parts in which one of the needles (lower case) stands, or a reference to such a part."""
        if not self.folder.is_dir():
            return set()
        parts = {path.stem: path.read_bytes().lower() for path in self.folder.glob("*.json")}
        found: set[str] = set()
        wanted = set(needles)
        while wanted:
            new = {name for name, data in parts.items() if any(needle in data for needle in wanted)} - found
            found |= new
            wanted = {f'"{name}"'.encode() for name in new}
        return found

    def give_to(self, folder: Path) -> None:
        """Lets another session have the same files, without copying them where the disk can do that; raises OSError."""
        if not self.folder.is_dir():
            return
        make_private_folder(folder)
        for path in self.folder.glob("*.json"):
            try:
                (folder / path.name).hardlink_to(path)
            except FileExistsError:
                continue
            except OSError:
                shutil.copyfile(path, folder / path.name)
                (folder / path.name).chmod(0o600)

    def _referred(self, kind: str, value: JsonValue) -> JsonObject:
        """A reference to the value, which is in its file when this returns."""
        text = json_of(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        name = hashlib.sha256(text.encode()).hexdigest()
        path = self._path(name)
        if not path.exists():
            make_private_folder(self.folder)
            fresh = self.folder / f"{secrets.token_hex(8)}.new"
            try:
                with open_private(fresh, os.O_EXCL) as file:
                    file.write(text)
                fresh.replace(path)
            except BaseException:
                with suppress(OSError):
                    fresh.unlink(missing_ok=True)
                raise
        return {kind: name}

    def _read(self, name: str) -> JsonValue:
        try:
            data = self._path(name).read_bytes()
            if hashlib.sha256(data).hexdigest() == name:
                return json.loads(data)
        except (OSError, ValueError):
            pass
        self.missing += 1
        return None

    def _path(self, name: str) -> Path:
        return self.folder / f"{Path(name).name}.json"


def has_references(line: bytes) -> bool:
    """Whether something of the line may lie in a file."""
    return any(mark in line for mark in _MARKS)


def _size(value: JsonValue) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
