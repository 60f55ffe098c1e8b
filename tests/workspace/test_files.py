"""Files as bytes and text: nothing is lost on the way there and back, nothing hangs."""

import codecs
import os
import socket
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeagent.core.errors import FileProblem
from codeagent.workspace.files import UTF8, Encoding, decode, encode, is_binary, read_bytes


def test_a_file_s_bytes_come_whole(tmp_path):
    path = tmp_path.resolve() / "a.bin"
    data = bytes(range(256)) * 10_000
    path.write_bytes(data)
    assert read_bytes(path) == data


def test_an_empty_file_is_empty(tmp_path):
    path = tmp_path.resolve() / "a"
    path.touch()
    assert read_bytes(path) == b""


def test_a_file_over_the_limit_is_refused_and_one_at_it_is_not(tmp_path):
    path = tmp_path.resolve() / "a"
    path.write_bytes(b"x" * 1_000)
    assert len(read_bytes(path, limit=1_000)) == 1_000
    with pytest.raises(FileProblem, match="too large: 1,000 bytes; at most 999"):
        read_bytes(path, limit=999)


def test_more_than_fifty_million_bytes_are_refused_without_reading_them(tmp_path):
    path = tmp_path.resolve() / "a"
    with path.open("wb") as file:
        file.truncate(50_000_001)
    with pytest.raises(FileProblem, match="too large"):
        read_bytes(path)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs /proc")
def test_a_file_that_hides_its_size_comes_whole():
    assert read_bytes(Path("/proc/version")) == Path("/proc/version").read_bytes()


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link", "missing", "device"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path.resolve() / "it"
    with socket.socket(socket.AF_UNIX) as server:
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "socket":
                server.bind(str(path))
            case "folder":
                path.mkdir()
            case "link":
                path.symlink_to(__file__)
            case "device":
                path = Path("/dev/zero")
            case _:
                pass
        with pytest.raises(FileProblem, match="does not exist" if kind == "missing" else f"is a {kind}"):
            read_bytes(path)


def test_a_link_put_in_the_place_of_a_folder_is_not_followed(tmp_path):
    folder = tmp_path.resolve()
    (folder / "real").mkdir()
    (folder / "real/a").write_text("x")
    (folder / "link").symlink_to("real")
    with pytest.raises(FileProblem):
        read_bytes(folder / "link/a")


def test_a_file_that_may_not_be_read_is_a_clear_problem(shared_folder, as_ordinary_user):
    (shared_folder / "a").touch(mode=0o600)
    (shared_folder / "a").chmod(0o000)

    def work() -> None:
        with pytest.raises(FileProblem, match="permissions"):
            read_bytes(shared_folder / "a")

    as_ordinary_user(work)


def test_a_folder_that_may_only_be_passed_through_is_no_hindrance(shared_folder, as_ordinary_user):
    (shared_folder / "a").write_text("x")
    shared_folder.chmod(0o711)

    def work() -> None:
        assert read_bytes(shared_folder / "a") == b"x"

    as_ordinary_user(work)


def test_no_descriptor_stays_open(tmp_path):
    path = tmp_path.resolve() / "a"
    path.write_text("x")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        read_bytes(path)
        with pytest.raises(FileProblem):
            read_bytes(path / "x" / "y")
        with pytest.raises(FileProblem):
            read_bytes(path.parent)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_plain_text_is_utf8_without_a_mark():
    file = decode("größe\r\n".encode())
    assert (file.text, file.encoding) == ("größe\r\n", UTF8)


def test_a_byte_order_mark_is_set_aside_and_comes_back():
    data = codecs.BOM_UTF8 + "a=1\n\ufeff".encode()
    file = decode(data)
    assert file.text == "a=1\n\ufeff"
    assert encode("a=2\n", file.encoding) == codecs.BOM_UTF8 + b"a=2\n"


@pytest.mark.parametrize("bom", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_utf16_with_a_mark_is_text_and_is_stored_as_it_was(bom):
    codec = "utf-16-le" if bom == codecs.BOM_UTF16_LE else "utf-16-be"
    data = bom + "größe 😀\r\n".encode(codec)
    file = decode(data)
    assert file.text == "größe 😀\r\n"
    assert encode(file.text, file.encoding) == data


@pytest.mark.parametrize(
    "data",
    [
        b"a\0b",
        b"\x7fELF\0\0",
        codecs.BOM_UTF16_LE + b"odd",
        codecs.BOM_UTF16_LE + b"\x00\xd8",
        codecs.BOM_UTF32_LE + "text".encode("utf-32-le"),
        codecs.BOM_UTF16_BE + b"\0\0",
    ],
)
def test_binary_files_are_refused(data):
    assert is_binary(data)
    with pytest.raises(FileProblem, match="binary"):
        decode(data)


def test_bytes_of_an_unknown_encoding_survive_an_edit():
    data = b"# Autor: Jos\xe9 Mu\xf1oz\nrate = 3\n"
    file = decode(data)
    assert file.encoding.has_unknown_bytes
    edited = encode(file.text.replace("rate = 3", "rate = 4"), file.encoding)
    assert edited == data.replace(b"3", b"4")


def test_half_a_character_cannot_be_stored():
    with pytest.raises(FileProblem, match=r"Line 2 holds half a character \(U\+D83D\)"):
        encode("a\n\ud83d", UTF8)
    with pytest.raises(FileProblem, match="U\\+D83D"):
        encode("\ud83d", Encoding(has_unknown_bytes=True))
    with pytest.raises(FileProblem, match="U\\+D83D"):
        encode("\ud83d", Encoding(codec="utf-16-le", bom=codecs.BOM_UTF16_LE))


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda text: text.encode("utf-16")))
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf\xef\xbb\xbf")
@example(b"\xef\xbb\xbf\xff")
@example(b"\xed\xa0\x80")
def test_whatever_is_text_comes_back_byte_for_byte(data):
    if not is_binary(data):
        file = decode(data)
        assert encode(file.text, file.encoding) == data
        assert file.encoding.has_unknown_bytes == any("\ud800" <= character <= "\udfff" for character in file.text)
