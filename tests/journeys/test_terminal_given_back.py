"""The program dies without a chance to tidy up: the terminal is as before, and what minds that is never left over."""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.journeys.conftest import NAP, PROGRAM, held, sleeping
from tests.journeys.terminal import left_on

START = " ".join(PROGRAM)
WATCH = "import _signal as signal, os, termios"
KILLS = ("SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS")
pytestmark = [
    pytest.mark.journey,
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


def children(pid: int, *choice: str) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid), *choice], capture_output=True, text=True, check=False)
    return [int(number) for number in found.stdout.split()]


def watch_of(program: int) -> int:
    """What minds the terminal for this process."""
    (watch,) = children(program, "-f", WATCH)
    return watch


def wait_until_over(terminal, pid: int) -> None:
    """Waits until there is no such process, and reads what was written until then."""

    def is_over() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    terminal.wait_until(is_over, 15, "it goes on, and")


def opened(terminal) -> tuple[int, int]:
    """The program that the terminal's shell started, and what minds the terminal for it."""
    terminal.wait("claude-test", 30)
    (program,) = children(terminal.pid)
    return program, watch_of(program)


def in_shell(place):
    """A shell to type in, with the program started from it."""
    terminal = place.run_script("exec bash --norc -i")
    terminal.type("PS1='$ '\n")
    terminal.send(f"{START}\n")
    return terminal


@pytest.mark.parametrize("name", KILLS)
def test_a_death_at_once_gives_the_terminal_back_as_it_was(place, name):
    script = f"""
        ulimit -c 0
        before=$(stty -g)
        {START}
        until [ "$before" = "$(stty -g)" ]; do sleep 0.05; done
        echo the same
        read -r
    """  # whose end would hang up what still ends itself
    with place.run_script(script) as terminal:
        program, watch = opened(terminal)
        os.kill(program, getattr(signal, name))
        wait_until_over(terminal, watch)
        terminal.wait("the same")
        assert left_on(terminal.raw) == []


@pytest.mark.parametrize("name", KILLS)
def test_a_death_while_the_app_is_being_loaded_gives_the_terminal_back_too(place, tmp_path, name):
    script = f"""
        ulimit -c 0
        before=$(stty -g)
        {START}
        until [ "$before" = "$(stty -g)" ]; do sleep 0.05; done
        echo the same
        read -r
    """  # whose end would hang up what still ends itself
    with held(place, tmp_path / "held").run_script(script) as terminal:
        terminal.wait("starting…")
        (program,) = children(terminal.pid)
        terminal.wait_until(lambda: bool(children(program, "-f", WATCH)), 15, "nothing minds the terminal, and")
        watch = watch_of(program)
        os.kill(program, getattr(signal, name))
        wait_until_over(terminal, watch)
        terminal.wait("the same")
        assert left_on(terminal.raw) == []


def test_after_a_kill_the_shell_is_typed_in_as_ever(place):
    with in_shell(place) as terminal:
        program, watch = opened(terminal)
        os.kill(program, signal.SIGKILL)
        wait_until_over(terminal, watch)
        terminal.wait("Killed")
        before = len(terminal.raw)
        terminal.type("echo $((6 * 7))\n")
        terminal.wait("^42")
        assert terminal.raw[before:].count(b"6 * 7") == 1


def test_a_shell_that_was_quicker_keeps_its_modes_and_the_person_is_told_how_to_get_the_prompt(place):
    with in_shell(place) as terminal:
        program, watch = opened(terminal)
        os.kill(watch, signal.SIGSTOP)
        before = len(terminal.raw)
        os.kill(program, signal.SIGKILL)
        terminal.wait_until(lambda: b"$ " in terminal.raw[before:], 15, "no prompt")
        os.kill(watch, signal.SIGCONT)
        wait_until_over(terminal, watch)
        terminal.wait("Enter brings the prompt")
        before = len(terminal.raw)
        terminal.type("echo $((6 * 7))\n")
        terminal.wait("^42")
        assert terminal.raw[before:].count(b"6 * 7") == 1


def test_a_terminal_that_the_shell_has_is_left_alone(place):
    with in_shell(place) as terminal:
        program, watch = opened(terminal)
        terminal.press("ctrl+z")
        terminal.wait("Stopped")
        before = len(terminal.raw)
        os.kill(program, signal.SIGKILL)
        wait_until_over(terminal, watch)
        assert b"\x1b[?1049l" not in terminal.raw[before:]


EDITOR = f"""#!/bin/bash
trap 'echo saved >> "$1"; kill $!; exit 1' HUP
echo in the editor
{NAP} &
wait
"""


@pytest.mark.parametrize("is_in_script", [False, True])
def test_an_editor_learns_that_nobody_waits_for_it_and_the_person_where_its_file_is(place, is_in_script):
    editor = place.root / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o700)
    place = replace(place, environ={**place.environ, "EDITOR": str(editor)})
    script = place.run_script(f"{START}; echo and the script goes on; read -r") if is_in_script else in_shell(place)
    with script as terminal:
        program, watch = opened(terminal)
        terminal.type("half a thought")
        terminal.press("ctrl+g")
        terminal.wait("in the editor")
        os.kill(program, signal.SIGKILL)
        wait_until_over(terminal, watch)
        terminal.wait("so was your editor")
        if is_in_script:
            terminal.wait("and the script goes on")
        told = "".join(terminal.text.partition("Its file:")[2].split())
        file = Path(re.match(r"/.*?/prompt\.md", told)[0])
        assert file.read_text() == "half a thoughtsaved\n"
        assert not sleeping(NAP)
        shutil.rmtree(file.parent)


def test_after_ctrl_z_and_fg_it_is_minded_again(place):
    with in_shell(place) as terminal:
        program, watch = opened(terminal)
        terminal.press("ctrl+z")
        terminal.wait("Stopped")
        terminal.send("fg\n")
        terminal.wait_gone("Stopped")
        terminal.type("kept")
        terminal.wait("› kept")
        os.kill(program, signal.SIGKILL)
        wait_until_over(terminal, watch)
        terminal.wait("Killed")
        terminal.send("\n")
        assert left_on(terminal.raw[: terminal.raw.rindex(b"\x1b[?1049l") + 8]) == []


@pytest.mark.parametrize("way", ["quit", "SIGTERM", "SIGHUP", "the window is closed"])
def test_an_end_of_another_kind_leaves_nothing_that_minds_the_terminal(place, way):
    with place.open() as terminal:
        terminal.wait("claude-test")
        watch = watch_of(terminal.pid)
        if way == "quit":
            terminal.press("ctrl+c", "ctrl+c")
        elif way == "the window is closed":
            terminal.hang_up()
        else:
            os.kill(terminal.pid, getattr(signal, way))
        assert terminal.wait_for_exit() != -1
        assert not Path(f"/proc/{watch}").exists()
        assert terminal.raw.count(b"\x1b[23;2t") <= 1


def test_no_command_holds_the_pipe_whose_end_tells_of_a_death(place):
    nap = f"{NAP}71"
    with place.open() as terminal:
        terminal.wait("claude-test")
        watch = watch_of(terminal.pid)
        terminal.type(f"!{nap}\r")
        terminal.wait_until(lambda: bool(sleeping(nap)), 15, "no sleep, and")
        pipe = Path(f"/proc/{watch}/fd/0").readlink()
        holders = set[int]()
        for held in Path("/proc").glob("[0-9]*/fd/*"):
            try:
                if held.readlink() == pipe:
                    holders.add(int(held.parts[2]))
            except OSError:
                continue
        assert holders == {terminal.pid, watch}
        terminal.press("esc")
