"""Sentences on a terminal break between words; elsewhere they stay as they are."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios

import pytest

from codeagent.cli.wrapping import wrapped

TEXT = (
    "✓ sandbox    it writes to the workspace and ~/.cache/some-tool, well-known places, and to /tmp (temporary files)"
)


@pytest.fixture
def terminal():
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 50, 0, 0))
    with os.fdopen(theirs, "w") as stream:
        yield stream
    os.close(ours)


def test_lines_fit_the_terminal_and_hang_under_their_beginning(terminal):
    lines = wrapped(TEXT, terminal, hang=13).splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 50 for line in lines)
    assert all(line.startswith(" " * 13) for line in lines[1:])
    assert [word for line in lines for word in line.split()] == TEXT.split()


def test_a_name_longer_than_a_line_stays_whole(terminal):
    name = "/a/long" * 20
    assert name in wrapped(f"codeagent: {name} cannot be opened.", terminal)


def test_what_reads_a_file_or_a_pipe_gets_whole_lines(tmp_path):
    with (tmp_path / "out").open("w") as stream:
        assert wrapped(TEXT, stream, hang=13) == TEXT
