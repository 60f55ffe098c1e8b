"""No key gets into the log of a command, however its output is cut into pieces."""

import json

import pytest

from codeagent.core.text import Redactor
from codeagent.workspace.output_log import LOG_CAP, OutputLog

KNOWN = "planted-key-12345678"
SHAPED = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4"
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA0Z3\n" * 30 + "-----END RSA PRIVATE KEY-----"
LINES = "first secret line\nsecond secret line"


def logged(path, text, size, secrets=()):
    log = OutputLog(path, secrets)
    data = text if isinstance(text, bytes) else text.encode()
    for start in range(0, len(data), size):
        log.add(data[start : start + size])
    log.close(is_kept=True)
    assert not log.problem
    return path.read_bytes()


@pytest.mark.parametrize("size", [1, 7, 64, 5_000, 1_000_000])
@pytest.mark.parametrize("key", [KNOWN, SHAPED, BLOCK, LINES, json.dumps(LINES), "käse-key-ü-12345"])
def test_a_key_is_taken_out(tmp_path, key, size):
    secrets = (KNOWN, LINES, "käse-key-ü-12345", "short")
    text = f"one {key} two\nkey={key}\n\n{key}\n{key[:7]}"
    found = logged(tmp_path / "log", text, size, secrets)
    assert found.decode() == Redactor(secrets).redact(text)
    assert key.encode() not in found


@pytest.mark.parametrize("size", [700, 5_000, 65_536])
def test_a_known_key_in_a_line_without_an_end_is_taken_out(tmp_path, size):
    text = ("x" * 3_000 + KNOWN) * 20
    assert logged(tmp_path / "log", text, size, (KNOWN,)).decode() == text.replace(KNOWN, "[redacted]")


def test_all_other_bytes_are_kept_as_they_came(tmp_path):
    data = bytes(range(256)) * 200 + b"\xff\r\r\n\0"
    assert logged(tmp_path / "log", data, 999, (KNOWN,)) == data


def test_a_block_without_an_end_holds_nothing_back_for_long(tmp_path):
    path = tmp_path / "log"
    log = OutputLog(path)
    log.add(b"-----BEGIN CERTIFICATE-----\n" + b"AAAA\n" * 10_000)
    assert path.stat().st_size > 40_000
    log.close(is_kept=True)


def test_it_is_there_from_the_first_output_on(tmp_path):
    log = OutputLog(tmp_path / "log")
    log.add(b"no newline yet")
    assert (tmp_path / "log").exists()
    log.close(is_kept=False)
    assert not (tmp_path / "log").exists()


def test_it_ends_at_its_cap(tmp_path):
    log = OutputLog(tmp_path / "log")
    for _ in range(25):
        log.add(b"y\n" * 500_000)
    log.close(is_kept=True)
    assert (tmp_path / "log").stat().st_size == LOG_CAP
    assert "it ends after" in log.problem


@pytest.mark.parametrize("size", [511, 4_093, 65_536])
def test_no_part_of_a_key_in_a_line_without_an_end_is_written(tmp_path, size):
    text = " ".join(f"ghp_{number:05d}{'0aF' * 30}" for number in range(3_000)).encode()
    log = OutputLog(tmp_path / "log")
    for start in range(0, len(text), size):
        log.add(text[start : start + size])
    log.close(is_kept=True)
    assert set((tmp_path / "log").read_text().split(" ")) == {"[redacted]"}
