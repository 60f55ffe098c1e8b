import base64
import os

import pytest

from codeagent.core.errors import FileProblem, PathRefused, StaleFile, Unread
from codeagent.core.messages import ImageBlock, ReadDetails

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_lines_come_with_their_numbers(at):
    at.put("a.txt", "one\n\n  three")
    result = at.run("read", path="a.txt")
    assert result.text == "1→one\n2→\n3→  three"
    assert result.details == ReadDetails(path="a.txt", first_line=1, last_line=3, total_lines=3)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_ends_a_line_and_is_not_shown(at, ending):
    at.put("a.txt", f"one{ending}two{ending}")
    assert at.text("read", path="a.txt") == "1→one\n2→two"


def test_other_separators_are_part_of_a_line(at):
    at.put("a.txt", "a\x0cb\u2028c\x85d\n")
    assert at.text("read", path="a.txt") == "1→a\x0cb\u2028c\x85d"


def test_a_page_says_how_to_go_on_and_the_last_one_that_it_is_the_last(at):
    at.put("a.txt", "".join(f"{n}\n" for n in range(1, 4501)))
    first = at.text("read", path="a.txt")
    assert first.endswith("2000→2000\n[lines 1-2,000 of 4,500; go on with offset 2001]")
    last = at.text("read", path="a.txt", offset=4001)
    assert last.startswith("4001→4001\n")
    assert last.endswith("[lines 4,001-4,500 of 4,500, to the end]")


def test_more_lines_than_a_page_are_never_shown(at):
    at.put("a.txt", "x\n" * 5000)
    assert "go on with offset 2001" in at.text("read", path="a.txt", limit=5000)


def test_a_page_is_never_larger_than_fifty_kibibytes(at):
    at.put("a.txt", ("ä" * 500 + "\n") * 200)
    text = at.text("read", path="a.txt")
    assert len(text.encode()) < 52 * 1024
    assert "[lines 1-51 of 200; go on with offset 52]" in text


def test_long_lines_are_cut_and_do_not_count_as_seen(at):
    path = at.put("a.txt", "short\n" + "x" * 3000 + "\nend\n")
    text = at.text("read", path="a.txt")
    assert "… [1,000 more characters]" in text
    at.seen.require(path, path.read_bytes(), [1, 3], "a.txt")
    with pytest.raises(Unread, match="not read yet: 2"):
        at.seen.require(path, path.read_bytes(), [2], "a.txt")


def test_only_shown_lines_count_as_seen(at):
    path = at.put("a.txt", "1\n2\n3\n4\n")
    at.run("read", path="a.txt", offset=2, limit=2)
    at.seen.require(path, path.read_bytes(), [2, 3], "a.txt")
    with pytest.raises(Unread):
        at.seen.require(path, path.read_bytes(), [4], "a.txt")
    path.write_text("1\n2\n3\n5\n")
    with pytest.raises(StaleFile):
        at.seen.require(path, path.read_bytes(), [2], "a.txt")


def test_an_empty_file_is_named_so(at):
    at.put("a.txt", "")
    assert at.text("read", path="a.txt") == "[the file is empty]"


def test_a_line_behind_the_end_is_an_error_that_says_how_long_the_file_is(at):
    at.put("a.txt", "one\n")
    with pytest.raises(FileProblem, match="has 1 line;"):
        at.run("read", path="a.txt", offset=2)


def test_a_folder_is_listed(at):
    at.put("pkg/b.py", "")
    at.put("pkg/sub/c.py", "")
    assert at.text("read", path="pkg") == "sub/\nb.py  0 B"


@pytest.mark.parametrize(
    ("written", "meant"),
    [("src/Parser.py", "src/parser.py"), ("parser.py", "src/parser.py"), ("src/parsr.py", "src/parser.py")],
)
def test_a_missing_file_names_similar_ones(at, written, meant):
    at.put("src/parser.py", "")
    at.put("src/unlike.txt", "")
    with pytest.raises(FileProblem) as raised:
        at.run("read", path=written)
    assert str(raised.value) == f"{written} does not exist. Similar: {meant}."


def test_at_most_three_similar_files_are_named_nearest_first(at):
    for name in ("a/x.py", "b/x.py", "c/x.py", "d/e/x.py"):
        at.put(name, "")
    with pytest.raises(FileProblem) as raised:
        at.run("read", path="c/xx.py")
    assert str(raised.value).count(",") == 2
    assert "Similar: c/x.py," in str(raised.value)


def test_what_is_outside_is_not_spied_on(at):
    (at.root.parent / "home" / "notes.txt").write_text("")
    with pytest.raises(FileProblem) as raised:
        at.run("read", path="../home/note.txt")
    assert "notes" not in str(raised.value)


def test_binary_files_are_refused_with_their_size(at):
    at.put("a.bin", b"abc\0def")
    with pytest.raises(FileProblem, match=r"a.bin \(7 bytes\): The file is binary"):
        at.run("read", path="a.bin")


def test_images_come_as_images_whatever_their_name(at):
    at.put("picture.dat", PNG)
    block = at.run("read", path="picture.dat").blocks[1]
    assert isinstance(block, ImageBlock)
    assert (block.media_type, base64.b64decode(block.data)) == ("image/png", PNG)


def test_an_image_too_large_for_models_is_an_error(at):
    at.put("a.png", PNG + b"\0" * 4_000_000)
    with pytest.raises(FileProblem, match="too large"):
        at.run("read", path="a.png")


def test_an_image_that_no_model_takes_is_an_error(at):
    at.put("cut.png", PNG[:-20])
    with pytest.raises(FileProblem, match="cut off"):
        at.run("read", path="cut.png")
    at.put("wide.png", PNG[:16] + (9_000).to_bytes(4, "big") * 2 + PNG[24:])
    with pytest.raises(FileProblem, match=r"is 9,000 × 9,000 pixels \(8,000 at most"):
        at.run("read", path="wide.png")


def test_bytes_of_an_unknown_encoding_become_marks_that_every_request_can_carry(at):
    at.put("a.txt", b"Jos\xe9\n")
    assert at.text("read", path="a.txt") == "1→Jos\ufffd"


def test_a_byte_order_mark_is_not_shown(at):
    at.put("a.txt", b"\xef\xbb\xbfa=1\n")
    at.put("b.txt", "a=1\n".encode("utf-16"))
    assert at.text("read", path="a.txt") == at.text("read", path="b.txt") == "1→a=1"


def test_a_path_outside_is_asked_about(at):
    tool = at.tools.find("read")
    touches = tool.touches(tool.Arguments.model_validate({"path": "../home/x"}), None)
    assert touches[0].concern is not None


def test_a_path_with_a_nul_is_refused(at):
    with pytest.raises(PathRefused):
        at.run("read", path="a\0b")


def test_a_pipe_does_not_hang(at):
    os.mkfifo(at.root / "pipe")
    with pytest.raises(FileProblem):
        at.run("read", path="pipe")
