"""Fixtures for every room: a model server, work done as an ordinary user, and small file systems."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import pytest
from hypothesis import HealthCheck, settings

from tests.server.scripted_server import ScriptedServer

ORDINARY_USER = 65534
settings.register_profile(
    "whatever the machine does meanwhile",
    parent=settings.default,
    deadline=None,
    suppress_health_check=(*settings.default.suppress_health_check, HealthCheck.too_slow),
)
settings.load_profile("whatever the machine does meanwhile")


def pytest_xdist_auto_num_workers() -> int:
    """Four for each core: most of the time what is tested waits for a terminal, a process or a clock."""
    return 4 * (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leaves what is collected, which stays until the end, out of each later look for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Reports a test that ran out of time also where the signal came between two lines, which pytest cannot show."""
    if call.excinfo:
        error, seen = call.excinfo.value, set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            error.__traceback__ = with_lines(error.__traceback__)
            error = error.__cause__ or error.__context__
        call.excinfo = pytest.ExceptionInfo.from_exception(call.excinfo.value)
    return (yield)


def with_lines(trace: TracebackType | None) -> TracebackType | None:
    """The same places; one that belongs to no line has the first line of its function."""
    places: list[TracebackType] = []
    while trace is not None:
        places.append(trace)
        trace = trace.tb_next
    for place in reversed(places):
        line = place.tb_lineno or place.tb_frame.f_code.co_firstlineno
        trace = TracebackType(trace, place.tb_frame, place.tb_lasti, line)
    return trace


@pytest.fixture(autouse=True)
def programs_from_the_temporary_folder(monkeypatch) -> None:
    """Stand-ins for programs lie there; what an earlier test said of where programs come from is forgotten."""
    reachable: set[Path] = set()
    monkeypatch.setattr("codeagent.core.programs._reachable", reachable)
    monkeypatch.setattr("codeagent.core.programs._open_to_commands", lambda: list(reachable))


@pytest.fixture
def model_server() -> Iterator[ScriptedServer]:
    """A strict model server on 127.0.0.1; give it replies with ``model_server.reply(...)``."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that any user may enter and write to; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="codeagent-test-")).resolve()
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def in_child() -> Callable[..., None]:
    """Runs work in a child process, so that what it does to the process is gone afterwards."""

    def run(work: Callable[[], None]) -> None:
        child = os.fork()
        if child == 0:
            try:
                work()
            except BaseException:  # noqa: BLE001 - the child must not go on with the parent's tests
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "see the traceback of the child"

    return run


@pytest.fixture
def as_ordinary_user(in_child) -> Callable[[Callable[[], None]], None]:
    """Runs work as somebody whom permissions bind, also where the tests run as root."""

    def run(work: Callable[[], None]) -> None:
        def without_rights() -> None:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(ORDINARY_USER)
                os.setuid(ORDINARY_USER)
            work()

        in_child(without_rights)

    return run


@pytest.fixture
def mount(tmp_path) -> Iterator[Callable[..., Path]]:
    """Mounts for the length of a test; skips it where that is not allowed."""
    mounted: list[Path] = []

    def run(target: Path, *words: str) -> Path:
        done = subprocess.run(["mount", *words, str(target)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")
        mounted.append(target)
        return target

    yield run
    for target in reversed(mounted):
        subprocess.run(["umount", str(target)], check=True)
