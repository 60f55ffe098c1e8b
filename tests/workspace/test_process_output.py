import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeagent.core.text import Redactor
from codeagent.workspace.process_output import Captured


@given(st.lists(st.binary(max_size=50), max_size=30))
@example([b"\n", b""])
def test_the_counts_are_those_of_all_bytes_however_they_come(pieces):
    captured = Captured(limit=60)
    for piece in pieces:
        captured.add(piece)
    data = b"".join(pieces)
    assert captured.total_bytes == len(data)
    assert captured.total_lines == data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))


@given(st.text(alphabet="ab\nä😀", max_size=400), st.integers(1, 7))
def test_what_is_kept_does_not_depend_on_how_it_was_cut_into_pieces(text, size):
    data = text.encode()
    at_once, in_pieces = Captured(limit=90), Captured(limit=90)
    at_once.add(data)
    for start in range(0, len(data), size):
        in_pieces.add(data[start : start + size])
    kept, is_cut = in_pieces.kept()
    assert is_cut == at_once.kept()[1] == (len(text) > 90)
    assert is_cut or kept == text


@given(st.lists(st.sampled_from([b"1%\r", b"99%\r", b"done\r\n", b"x", b"\n"]), max_size=30))
def test_a_line_shows_only_what_a_terminal_would_still_show(pieces):
    captured = Captured(limit=10_000)
    for piece in pieces:
        captured.add(piece)
    whole = Captured(limit=10_000)
    whole.add(b"".join(pieces))
    assert captured.kept() == whole.kept()
    assert b"\r" not in captured.kept()[0].encode()


def test_a_flood_shows_only_its_end_and_says_so():
    captured = Captured(limit=100)
    captured.add("ä".encode() * 100_000 + b"end\n")
    shown = captured.take_live()
    assert shown.startswith("\n…\nä")
    assert shown.endswith("end\n")
    assert len(shown) < 9_000
    assert captured.take_live() == ""


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_key_is_not_logged_however_it_is_cut(tmp_path, size):
    key, log = "planted-key-12345678", tmp_path / "log"
    data = f"a {key} b plant planted-key-1234567 {key}{key}\nplanted-".encode()
    captured = Captured(limit=10, log=log, secrets=(key, "short"))
    for start in range(0, len(data), size):
        captured.add(data[start : start + size])
    captured.close(keep_log=True)
    assert log.read_bytes() == data.replace(key.encode(), b"[redacted]")


KEYS = [f"ghp_{number:05d}{'0aF' * 10}" for number in range(400)]


@pytest.mark.parametrize("limit", [600, 650, 700, 1_001, 2_003])
@pytest.mark.parametrize("gap", [" ", "=", "\n", " \n"])
def test_no_part_of_a_key_stays_where_the_middle_is_left_out(gap, limit):
    text = f"{'x ' * 73}{gap.join(KEYS)}"
    captured = Captured(limit=limit)
    for start in range(0, len(text), 997):
        captured.add(text[start : start + 997].encode())
    kept, is_cut = captured.kept()
    assert is_cut
    assert "0aF" in kept
    assert "0aF" not in Redactor().redact(kept)


def test_no_part_of_a_block_or_of_a_known_secret_stays_where_the_middle_is_left_out():
    block = "-----BEGIN RSA PRIVATE KEY-----\n" + "0aF0aF0aF\n" * 100 + "-----END RSA PRIVATE KEY-----\n"
    secret = "correct horse battery staple"
    for limit in range(600, 900, 7):
        for text in ("words of mine\n" + block * 20 + "the end\n", f"mine {secret} " * 300):
            captured = Captured(limit=limit, secrets=(secret,))
            captured.add(text.encode())
            kept = Redactor((secret,)).redact(captured.kept()[0])
            assert "0aF" not in kept
            assert not {"correct", "horse", "battery", "staple"}.intersection(kept.split())


def test_no_part_of_a_key_is_shown_where_a_flood_is_cut():
    captured = Captured(limit=100)
    for start in range(0, 400, 37):
        captured.add((" ".join(KEYS * 3) + " " * start).encode())
        assert "0aF" not in Redactor().redact(captured.take_live())
