"""The app in a real terminal: what it leaves behind there, whichever way it ends."""

import os
import pty
import select
import signal
import sys
import termios
import time

import pytest

SCRIPT = """
import asyncio
from pathlib import Path
from codeagent.tui.app import CodeagentApp

async def connect(emit, approver, opening):
    await asyncio.Event().wait()

app = CodeagentApp(connect=connect, root=Path.cwd(), theme="dark", reduced_motion=True)
app.run()
raise SystemExit(app.return_code)
"""


APP = [sys.executable, "-c", SCRIPT]
SHELL = ["bash", "--norc", "--noprofile", "-i"]


class Terminal:
    def __init__(self, words=APP):
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8", PYTHONWARNINGS="error", PS1="shell> ")
            os.execvp(words[0], words)
        self.before = termios.tcgetattr(self.end)
        self.seen = b""

    def until(self, wanted, seconds=20):
        end = time.monotonic() + seconds
        while wanted not in self.seen:
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.end, 65536)
                except OSError:
                    break
        return wanted in self.seen

    def send(self, keys):
        os.write(self.end, keys)

    def exit_code(self):
        self.until(b"never comes")
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@pytest.fixture
def terminal():
    terminal = Terminal()
    assert terminal.until(b"What shall we do?")
    yield terminal
    os.close(terminal.end)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_gives_the_terminal_back_and_ends_with_its_code(terminal, number, code):
    assert terminal.until(b"\x1b[?1049h")
    os.kill(terminal.process, number)
    assert terminal.until(b"\x1b[?1049l")
    assert termios.tcgetattr(terminal.end)[3] == terminal.before[3]
    assert terminal.exit_code() == code


def test_ctrl_d_leaves_with_success(terminal):
    terminal.send(b"\x04")
    assert terminal.until(b"\x1b[?1049l")
    assert terminal.exit_code() == 0


@pytest.fixture
def shell():
    shell = Terminal(SHELL)
    yield shell
    os.close(shell.end)
    os.waitpid(shell.process, 0)


@pytest.mark.parametrize("command", ["{app}", "bash -c '{app}; exit $?'"])
def test_ctrl_z_goes_back_to_the_shell_and_the_whole_screen_is_drawn_again_by_fg(shell, tmp_path, command):
    (tmp_path / "app.py").write_text(SCRIPT)
    shell.send(command.format(app=f"{sys.executable} {tmp_path}/app.py").encode() + b"\r")
    assert shell.until(b"What shall we do?")
    shell.seen = b""
    shell.send(b"\x1a")
    assert shell.until(b"\x1b[?1049l")
    assert shell.until(b"Stopped")
    assert shell.until(b"shell> ")
    shell.seen = b""
    shell.send(b"fg\r")
    assert shell.until(b"\x1b[?1049h")
    assert shell.until(b"What shall we do?")
    assert shell.until(b"starting")
    shell.send(b"x\x7f\x04")
    assert shell.until(b"shell> ")
    shell.send(b"echo code=$?; exit\r")
    assert shell.until(b"code=0")


def test_ctrl_z_goes_on_at_once_and_says_so_where_no_shell_could_bring_the_app_back(terminal):
    terminal.seen = b""
    terminal.send(b"\x1a")
    assert terminal.until(b"\x1b[?1049h")
    assert terminal.until(b"no shell to go back to")
    terminal.send(b"x\x7f\x04")
    assert terminal.exit_code() == 0


def test_at_rest_nothing_is_written_to_the_terminal(terminal):
    settled = time.monotonic() + 1
    while time.monotonic() < settled:
        if select.select([terminal.end], [], [], 0.1)[0]:
            os.read(terminal.end, 65536)
    assert not select.select([terminal.end], [], [], 2)[0]
    terminal.send(b"\x04")
    assert terminal.exit_code() == 0
