"""Keys in a keyring and in a file: which goes first, and what happens when the keyring fails."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, KeyringLocked, PasswordDeleteError

from codeagent.core.errors import ConfigError
from codeagent.store import keys
from codeagent.store.keys import IN_KEYRING, KeyStore, system_keyring

STUCK = """
import threading
from keyring.backend import KeyringBackend


class Stuck(KeyringBackend):
    priority = 1

    def get_password(self, service, username):
        threading.Event().wait()

    set_password = delete_password = get_password
"""


class Ring(KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self):
        super().__init__()
        self.held = {}
        self.is_locked = False

    def _open(self):
        if self.is_locked:
            raise KeyringError("locked")
        return self.held

    def get_password(self, service, username):
        return self._open().get((service, username))

    def set_password(self, service, username, password):
        self._open()[service, username] = password

    def delete_password(self, service, username):
        if self._open().pop((service, username), None) is None:
            raise PasswordDeleteError("not there")


@pytest.fixture
def ring():
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def store(tmp_path, ring):
    return KeyStore(tmp_path / "keys.json", system_keyring)


def test_a_keyring_keeps_the_key_and_the_file_stays_away(store, ring, tmp_path):
    assert store.keep("openai", "k") == IN_KEYRING
    assert ring.held == {("codeagent", "openai"): "k"}
    assert not (tmp_path / "keys.json").exists()
    assert store.get("openai").place == IN_KEYRING
    assert store.get("anthropic") is None
    assert store.remove("openai") == (IN_KEYRING,)
    assert store.get("openai") is None


def test_without_a_keyring_the_file_keeps_it(tmp_path):
    store = KeyStore(tmp_path / "new" / "keys.json", lambda: None)
    assert store.keep("openai", "k") == str(tmp_path / "new" / "keys.json")
    assert store.get("openai").secret == "k"


def test_a_key_file_that_others_could_read_is_taken_from_them_and_that_is_said_once(tmp_path):
    file = tmp_path / "keys.json"
    store = KeyStore(file, lambda: None)
    assert store.close_file() == ("", "")
    store.keep("openai", "k")
    assert store.close_file() == ("", "")
    file.chmod(0o644)
    found, remedy = store.close_file()
    assert found == f"{file} could be read by others; now it can be read by you alone."
    assert remedy == "If others use this machine, replace the keys in it."
    assert (stat.S_IMODE(file.stat().st_mode), store.close_file()) == (0o600, ("", ""))
    assert store.get("openai").secret == "k"


def test_a_locked_keyring_is_no_end(store, ring, tmp_path):
    ring.is_locked = True
    assert store.keep("openai", "k") == str(tmp_path / "keys.json")
    assert store.get("openai").secret == "k"
    assert store.remove("openai") == (str(tmp_path / "keys.json"),)


def test_a_key_that_the_keyring_did_not_take_goes_before_the_old_one_that_it_holds(store, ring, tmp_path, monkeypatch):
    ring.held = {("codeagent", "openai"): "old-key-0123"}
    monkeypatch.setattr(ring, "set_password", raising(KeyringError("read only")))
    monkeypatch.setattr(ring, "delete_password", raising(KeyringError("read only")))
    assert store.keep("openai", "new-key-0123") == str(tmp_path / "keys.json")
    assert store.get("openai").secret == "new-key-0123"
    with pytest.raises(ConfigError, match=r"gone from .*keys\.json, but your keyring did not let its key go.*Remove"):
        store.remove("openai")
    assert store.get("openai").secret == "old-key-0123"


@pytest.mark.parametrize("answer", [lambda: b"sk-bytes-0123", lambda: sys.exit(7)])
def test_a_keyring_that_gives_no_text_or_wants_to_end_the_program_has_no_key(store, ring, monkeypatch, answer):
    monkeypatch.setattr(ring, "get_password", lambda *_: answer())
    assert store.get("openai") is None
    assert store.at_hand() == tuple(keys._handed_out)


def test_why_a_key_is_not_in_the_keyring_is_said(store, ring, stuck, monkeypatch):
    monkeypatch.setattr(ring, "set_password", raising(KeyringLocked("locked")))
    store.keep("openai", "k")
    assert store.refusal.startswith("Your keyring is locked; unlock it")
    monkeypatch.setattr(ring, "set_password", raising(KeyringError("of its own")))
    store.keep("openai", "k")
    assert store.refusal == "Your keyring did not take it."
    monkeypatch.undo()
    monkeypatch.setattr(keys, "PATIENCE", 0.01)
    store.keep("openai", "k")
    assert store.refusal.startswith("Your keyring does not answer; unlock it")
    stuck.set()
    monkeypatch.undo()
    store.keep("openai", "k")
    assert store.refusal == ""
    without = KeyStore(store._file, lambda: None)
    without.keep("openai", "k")
    assert without.refusal == ""


def raising(error):
    def fail(*_):
        raise error

    return fail


def test_a_key_that_moves_into_the_keyring_leaves_the_file(store, ring, tmp_path):
    KeyStore(tmp_path / "keys.json", lambda: None).keep("openai", "old")
    store.keep("openai", "new")
    assert "old" not in (tmp_path / "keys.json").read_text()
    assert store.get("openai").secret == "new"


def test_a_keyring_that_cannot_work_here_is_none(ring):
    ring.__class__.priority = 0
    try:
        assert system_keyring() is None
    finally:
        ring.__class__.priority = 1


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    store = KeyStore(tmp_path / "file" / "keys.json", lambda: None)
    with pytest.raises(ConfigError, match=r"cannot be kept in .*keys\.json"):
        store.keep("openai", "k")


def test_what_a_keyring_gave_can_be_taken_out_of_what_is_written(store, ring, tmp_path):
    store.keep("openai", "in-the-ring-0123")
    (tmp_path / "keys.json").write_text('{"anthropic": "in-the-file-0123"}')
    assert "in-the-file-0123" in store.at_hand()
    assert store.get("openai").secret in store.at_hand()
    ring.is_locked = True
    assert "in-the-ring-0123" in store.at_hand()


def test_a_keyring_that_says_yes_and_keeps_nothing_is_passed_over(store, ring, tmp_path, monkeypatch):
    monkeypatch.setattr(ring, "set_password", lambda *_: None)
    assert store.keep("openai", "a-key-of-some-length") == str(tmp_path / "keys.json")
    assert store.refusal == "Your keyring did not keep it."
    assert store.get("openai").secret == "a-key-of-some-length"


@pytest.fixture
def stuck(ring):
    """Lets the keyring answer; until it is set, nothing comes."""
    may_answer, before = threading.Event(), ring.get_password
    ring.get_password = lambda *asked: before(*asked) if may_answer.wait(60) else None
    yield may_answer
    may_answer.set()
    for asked in keys._asked.values():
        asked.exception(60)
    keys._asked.clear()
    keys._silence.clear()


def test_a_keyring_that_does_not_answer_is_passed_over_and_its_late_answer_counts(store, ring, stuck, monkeypatch):
    monkeypatch.setattr(keys, "PATIENCE", 0.01)
    ring.held = {("codeagent", "openai"): "late-key-0123"}
    assert store.get("openai", 0) is None
    assert not store.is_silent  # nobody needed it yet
    assert store.get("openai", keys.PATIENCE) is None
    assert store.is_silent
    asked = keys._asked["openai"]
    stuck.set()
    assert asked.result(60) == "late-key-0123"
    assert not store.is_silent
    assert store.get("openai", 0).secret == "late-key-0123"


def test_while_the_keyring_is_silent_the_file_takes_the_key_and_nothing_is_said_to_be_removed(
    store, ring, stuck, tmp_path, monkeypatch
):
    monkeypatch.setattr(keys, "PATIENCE", 0.01)
    assert store.keep("openai", "a-key-of-some-length") == str(tmp_path / "keys.json")
    assert store.get("openai", keys.PATIENCE).place == str(tmp_path / "keys.json")
    assert store.remove("openai") == (str(tmp_path / "keys.json"),)
    with pytest.raises(ConfigError, match="does not answer"):
        store.remove("openai")


def test_a_program_whose_keyring_never_answers_ends_and_says_what_to_do(tmp_path):
    (tmp_path / "stuck.py").write_text(STUCK)
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHON_KEYRING_BACKEND": "stuck.Stuck"}
    environ = {**home, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])}
    words = [sys.executable, "-m", "codeagent", "-p", "hi", "--model", "anthropic/test"]
    done = subprocess.run(words, check=False, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "anthropic/test needs a key, and your keyring does not answer. Unlock it and try again" in done.stderr
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert "config set-key anthropic keeps a key in a file" in done.stderr
