import pytest

from codeagent.core.errors import EditRefused, FileProblem, PathRefused, StaleFile, Unread
from codeagent.core.messages import ChangeDetails

TEN = "".join(f"line {n}\n" for n in range(1, 31))


def test_a_new_file_is_written_with_its_folders_as_given(at):
    result = at.run("write", path="a/b/c.txt", content="x\r\ny\n")
    assert (at.root / "a/b/c.txt").read_bytes() == b"x\r\ny\n"
    assert result.text == "Created a/b/c.txt (2 lines)."
    assert isinstance(result.details, ChangeDetails)


def test_planning_writes_nothing(at):
    at.plan("write", path="a/b.txt", content="x")
    assert list(at.root.iterdir()) == []


def test_a_file_is_replaced_only_when_all_of_it_was_seen(at):
    path = at.put("a.txt", TEN)
    with pytest.raises(Unread):
        at.plan("write", path="a.txt", content="new")
    at.run("read", path="a.txt", limit=29)
    with pytest.raises(Unread, match="30"):
        at.plan("write", path="a.txt", content="new")
    at.run("read", path="a.txt", offset=30)
    at.run("write", path="a.txt", content="new")
    assert path.read_text() == "new"


def test_an_empty_file_may_be_filled_unread(at):
    path = at.put("a.txt", "")
    at.run("write", path="a.txt", content="x\n")
    assert path.read_text() == "x\n"


def test_what_was_written_is_known_and_may_be_edited_at_once(at):
    at.run("write", path="a.txt", content="one\ntwo\n")
    at.run("edit", path="a.txt", old="two", new="2")
    at.run("write", path="a.txt", content="three\n")
    assert (at.root / "a.txt").read_text() == "three\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", b"\xef\xbb\xbfx\r\ny\r\n"),
        (b"a\rb\r", b"x\ry\r"),
        (b"a\r\nb\r\nc\n", b"x\r\ny\r\n"),
        (b"a\nb\nc\r\n", b"x\ny\n"),
        ("a\r\nb\r\n".encode("utf-16"), "x\r\ny\r\n".encode("utf-16")),
        (b"a", b"x\ny\n"),
    ],
)
def test_an_existing_file_keeps_its_form(at, before, after):
    path = at.known("a.txt", before)
    plan = at.plan("write", path="a.txt", content="x\ny\n")
    at.go(plan)
    assert path.read_bytes() == after


def test_the_diff_says_what_no_line_can_show(at):
    at.known("a.txt", b"\xef\xbb\xbfa\r\nb\r\n")
    kept = at.plan("write", path="a.txt", content="x\n").preview.diff.notes
    assert kept == ("The byte order mark is kept.", "Line endings stay CRLF.")
    at.known("b.txt", "a\nb\n")
    changed = at.plan("write", path="b.txt", content="a\r\nb\r\n").preview.diff.notes
    assert changed == ("Line endings change from LF.",)


def test_the_model_is_told_what_was_kept(at):
    at.known("a.txt", b"a\r\n")
    assert at.text("write", path="a.txt", content="x\n") == "Replaced a.txt.\nLine endings stay CRLF."


def test_a_byte_order_mark_is_not_doubled(at):
    path = at.known("a.txt", b"\xef\xbb\xbfa\n")
    at.run("write", path="a.txt", content="\ufeffb\n")
    assert path.read_bytes() == b"\xef\xbb\xbfb\n"


def test_the_same_text_again_is_refused(at):
    at.known("a.txt", "a\r\n")
    with pytest.raises(EditRefused, match="already holds exactly this text"):
        at.plan("write", path="a.txt", content="a\n")


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/", ".", "..", "sub"])
def test_places_that_cannot_be_written_are_refused(at, path):
    (at.root / "sub").mkdir()
    with pytest.raises((PathRefused, FileProblem)):
        at.plan("write", path=path, content="x")


def test_half_a_character_is_refused_before_anything_happens(at):
    with pytest.raises(FileProblem, match="half a character"):
        at.plan("write", path="a.txt", content="x\ud83d")
    assert not (at.root / "a.txt").exists()


def test_a_file_that_appeared_meanwhile_is_not_overwritten(at):
    plan = at.plan("write", path="a.txt", content="model")
    at.put("a.txt", "person")
    with pytest.raises(StaleFile):
        at.go(plan)
    assert (at.root / "a.txt").read_text() == "person"


def test_a_link_stays_a_link_and_the_diff_names_the_real_file(at):
    at.known("real.txt", "a\n")
    (at.root / "link.txt").symlink_to("real.txt")
    plan = at.plan("write", path="link.txt", content="b\n")
    at.go(plan)
    assert (at.root / "link.txt").is_symlink()
    assert (at.root / "real.txt").read_text() == "b\n"
    assert plan.preview.diff.path == "real.txt"
