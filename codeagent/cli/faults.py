"""What happens to faults of the program: a report in a private file, and one sentence for the person."""

from __future__ import annotations

import errno
import logging
import os
import traceback
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from codeagent import __version__
from codeagent.config.places import find_places
from codeagent.core.text import Redactor, secrets_in
from codeagent.keys import find_keys
from codeagent.workspace.private import make_private_folder, open_private

_LOG_BYTES = 1_000_000
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


def report_fault(fault: BaseException, environ: Mapping[str, str]) -> str:
    """Writes what is needed to mend the fault, without secrets, and returns the sentence for the person."""
    lines = "".join(traceback.format_exception(fault))
    text = f"codeagent {__version__}, {datetime.now(UTC).isoformat(timespec='seconds')}\n\n{lines}"
    path = find_places(environ).state / f"fault-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    said = f"A fault of the program ended it: {type(fault).__name__}."
    if isinstance(fault, OSError) and fault.errno in _NO_ROOM:
        return f"Nothing more can be written: {fault.strerror}. Free some room; codeagent -c goes on with the session."
    with suppress(Exception):  # a report that fails would hide the fault
        make_private_folder(path.parent)
        try:
            with open_private(path, os.O_EXCL) as file:
                file.write(Redactor((*secrets_in(environ), *_kept_keys(environ))).redact(text))
        except Exception:
            path.unlink(missing_ok=True)
            raise
        said += f" The report is in {path}; the session is saved, codeagent -c goes on with it."
    return said


def _kept_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The keys that the program keeps; none where they cannot be read."""
    try:
        return find_keys(environ, find_places(environ)).secrets()
    except Exception:  # noqa: BLE001 - a keyring is somebody else's program
        return ()


def start_log(environ: Mapping[str, str]) -> None:
    """Sends what the rooms log to a private file, never to the screen; secrets are taken out."""
    handler = _PrivateLog(find_places(environ).state / "log.txt")
    handler.setFormatter(_Redacting(environ))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)


class _PrivateLog(logging.Handler):
    """A log that is made when the first line is written, begun anew when it is long, and cannot stop the program."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: TextIOWrapper | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one line; one that cannot be written is lost: there is no place left to say so."""
        with suppress(Exception):
            file = self._file = self._file or self._opened()
            file.write(self.format(record) + "\n")
            file.flush()
            if file.tell() > _LOG_BYTES:
                self.close()
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))

    def close(self) -> None:
        """Closes the file; another line opens it again."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
        super().close()

    def _opened(self) -> TextIOWrapper:
        make_private_folder(self._path.parent)
        return open_private(self._path, os.O_APPEND)


class _Redacting(logging.Formatter):
    """Takes out the keys that there are when a line is written, also those that were entered since the start."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._in_environment = secrets_in(environ)
        self._store = find_keys(environ, find_places(environ)).store

    def format(self, record: logging.LogRecord) -> str:
        return Redactor((*self._in_environment, *self._store.at_hand())).redact(super().format(record))
