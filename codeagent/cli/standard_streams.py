"""What becomes of standard input, output and error where the shell closed them or nothing more fits into them."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

_OUTPUT, _ERRORS = 1, 2  # their numbers
_READER_GONE = frozenset({errno.EPIPE, errno.EIO})
_TAKES_NOTHING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO, errno.EAGAIN})


def open_closed_streams() -> None:
    """Where a shell closed standard input nothing is read, and writing to closed output fails; no other file may get
    their numbers.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= _ERRORS:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    if sys.stdout is None:
        unwritable = os.open(os.devnull, os.O_RDONLY)
        os.dup2(unwritable, _OUTPUT)
        os.close(unwritable)
    sys.stdin = sys.stdin or os.fdopen(0, "r")
    sys.stdout = sys.stdout or open(_OUTPUT, "w", closefd=False)  # noqa: PTH123, SIM115 - a descriptor, for the whole run
    sys.stderr = sys.stderr or os.fdopen(_ERRORS, "w")


def let_go_of_output() -> bool:
    """Writes out what is left; False when nobody reads on, or the terminal is gone, which is no fault.

    Raises OSError where the output takes nothing more, which it then need not.
    """
    is_whole = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            is_whole = False
            if stream is sys.stdout and error.errno not in _READER_GONE:
                raise
    return is_whole


def output_problem(error: OSError) -> str:
    """The sentence on output that cannot be written; empty when the error is another: such a one names a file."""
    if error.filename is not None or error.errno not in _TAKES_NOTHING:
        return ""
    why = "standard output is closed" if error.errno == errno.EBADF else error.strerror
    return f"Not all of the output could be written: {why}."


def complain(text: str) -> None:
    """Says on standard error what went wrong, as far as that takes it."""
    with suppress(OSError):
        print(f"codeagent: {text}", file=sys.stderr)
