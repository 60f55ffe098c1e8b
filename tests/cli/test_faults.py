"""Faults of the program: a private report without secrets, and nothing on the screen."""

import logging
import stat

import keyring
import pytest
from keyring.backend import KeyringBackend

from codeagent.cli.faults import report_fault, start_log
from codeagent.config.places import find_places
from codeagent.keys import find_keys


@pytest.fixture
def environ(tmp_path):
    return {"CODEAGENT_HOME": str(tmp_path / "home"), "ANTHROPIC_API_KEY": "very-secret-key-123"}


def fail():
    raise RuntimeError("it failed with very-secret-key-123")


def test_a_report_is_private_and_holds_no_secret(environ, tmp_path):
    try:
        fail()
    except RuntimeError as fault:
        said = report_fault(fault, environ)
    (report,) = (tmp_path / "home/state").iterdir()
    assert str(report) in said
    assert "\n" not in said
    assert "test_a_report_is_private" in report.read_text()
    assert "very-secret-key" not in report.read_text() + said
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


def test_a_report_holds_no_key_that_the_program_keeps(tmp_path):
    environ = {"CODEAGENT_HOME": str(tmp_path / "home")}
    find_keys(environ, find_places(environ)).keep("openai", "kept-and-secret-0123")
    report_fault(RuntimeError("it failed with kept-and-secret-0123"), environ)
    (report,) = (tmp_path / "home/state").glob("fault-*")
    assert "it failed with [redacted]" in report.read_text()


def test_a_home_that_cannot_be_written_still_gives_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    assert "RuntimeError" in report_fault(RuntimeError("x"), {"CODEAGENT_HOME": str(tmp_path / "file")})


def test_a_log_holds_no_key_that_is_kept_before_or_entered_later(tmp_path, logs):
    environ = {"CODEAGENT_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "of-the-environment-0123"}
    keys = find_keys(environ, find_places(environ))
    keys.keep("openai", "kept-and-secret-0123")
    start_log(environ)
    keys.keep("anthropic", "entered-later-0123")
    for secret in ("kept-and-secret-0123", "entered-later-0123", "of-the-environment-0123"):
        logging.getLogger("codeagent.test").error("the key is %s", secret)
    log = (tmp_path / "home/state/log.txt").read_text()
    assert log.count("the key is [redacted]") == 3


@pytest.fixture
def logs():
    """Takes the handlers away that a test has added."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    for handler in set(root.handlers) - set(before[0]):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(before[1])


@pytest.fixture
def logged(environ, logs):
    """The log as the program starts it."""
    start_log(environ)
    return logging.getLogger("codeagent.test")


def test_a_long_log_begins_anew_and_the_one_before_is_kept(logged, tmp_path):
    for number in range(5):
        logged.error("%d %s", number, "x" * 600_000)
    kept = {path.name: path.read_text() for path in (tmp_path / "home/state").iterdir()}
    assert kept.keys() == {"log.txt", "log.txt.1"}
    assert [" 4 x" in kept["log.txt"], " 3 x" in kept["log.txt.1"], " 2 x" in kept["log.txt.1"]] == [True, True, True]


def test_what_is_logged_goes_to_a_private_file_without_secrets(logged, tmp_path, capfd):
    logged.error("the key is %s", "very-secret-key-123")
    log = tmp_path / "home/state/log.txt"
    assert "the key is" in log.read_text()
    assert "very-secret-key" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert capfd.readouterr().err == ""


class Bytes(KeyringBackend):
    """A keyring that gives what is no text."""

    priority = 1

    def get_password(self, service, username):
        return b"sk-ant-bytes-0123"

    def set_password(self, service, username, password):
        raise NotImplementedError

    delete_password = get_password


def test_a_report_is_written_whatever_a_keyring_gives(tmp_path, monkeypatch):
    for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    before = keyring.get_keyring()
    keyring.set_keyring(Bytes())
    try:
        said = report_fault(RuntimeError("it failed"), {})
    finally:
        keyring.set_keyring(before)
    (report,) = tmp_path.rglob("fault-*")
    assert str(report) in said
