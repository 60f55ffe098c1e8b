"""Old and new contents of files, kept by their git object id in the private git directory."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
import zlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import CheckpointError
from codeagent.workspace.private import make_private_folder, way_out
from codeagent.workspace.private_git import PrivateGit

_BATCH = 50


def not_kept(what: str, error: OSError) -> CheckpointError:
    """The system's error in words, with what to do about it."""
    return CheckpointError(f"{what}: {error.strerror}.", hint=way_out(error))


class Blobs:
    """The contents; what is in it does not depend on the person's repository any more."""

    def __init__(self, git: PrivateGit) -> None:
        self._git = git
        self._objects = git.folder / "objects"

    def add(self, data: bytes) -> str:
        """Keeps a content and returns its id; raises CheckpointError."""
        whole = b"blob %d\0" % len(data) + data
        name = hashlib.new(self._git.surroundings.object_format, whole).hexdigest()
        self._keep(name, whole)
        return name

    def _keep(self, name: str, whole: bytes) -> None:
        path = self._path(name)
        if path.exists():
            return
        fresh = path.with_name(f"tmp_obj_{secrets.token_hex(6)}")
        try:
            make_private_folder(path.parent)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.compress(whole, 1))
            fresh.replace(path)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise not_kept("The old content cannot be kept", error) from error

    def read(self, name: str) -> bytes:
        """A content; raises CheckpointError when it is gone."""
        try:
            whole = zlib.decompress(self._path(name).read_bytes())
        except (OSError, zlib.error):
            return self._git.run("cat-file", "blob", name, borrows=True)
        return whole[whole.index(b"\0") + 1 :]

    def adopt(self, names: Iterable[str]) -> None:
        """Copies contents that so far only the person's repository holds, so that nothing done there loses them."""
        missing = [name for name in dict.fromkeys(names) if not self._path(name).exists()]
        for start in range(0, len(missing), _BATCH):
            given = "".join(f"{name}\n" for name in missing[start : start + _BATCH]).encode()
            out = self._git.run("cat-file", "--batch", given=given, borrows=True)
            at = 0
            while at < len(out):
                end = out.index(b"\n", at)
                about = out[at:end].split(b" ")
                if len(about) < 3:  # noqa: PLR2004 - id, kind and size; "missing" comes alone
                    at = end + 1
                    continue
                size = int(about[2])
                self._keep(about[0].decode(), b"blob %d\0" % size + out[end + 1 : end + 1 + size])
                at = end + 2 + size

    def prune(self, kept: Collection[str], older_than: float) -> int:
        """Removes contents that are not ``kept`` and were written ``older_than`` seconds ago; returns how many."""
        limit = time.time() - older_than
        removed = 0
        for path in self._objects.glob("??/*"):
            with suppress(OSError):
                if path.parent.name + path.name not in kept and path.stat().st_mtime < limit:
                    path.unlink()
                    removed += 1
        return removed

    def remove(self, names: Iterable[str]) -> None:
        """Removes these contents; where they are in the person's repository, they stay there."""
        for name in names:
            with suppress(OSError):
                self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._objects / name[:2] / name[2:]
