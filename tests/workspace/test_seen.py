"""What the model has seen: nothing unread is changed, and our own writes are known."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.diff import make_diff, split_lines
from codeagent.core.errors import StaleFile, Unread
from codeagent.workspace.seen import SeenFiles

PATH = Path("/w/a.py")
TEN = "".join(f"{number}\n" for number in range(1, 11))


@pytest.fixture
def seen() -> SeenFiles:
    return SeenFiles()


def knows(seen: SeenFiles, text: str, lines: list[int] | None) -> bool:
    try:
        seen.require(PATH, text.encode(), lines, "a.py")
    except Unread:
        return False
    return True


def test_a_file_never_shown_is_unread(seen):
    with pytest.raises(Unread, match=r"^a\.py was not read yet\. Read it first"):
        seen.require(PATH, b"x\n", [1], "a.py")


def test_a_file_shown_whole_is_known_whole(seen):
    seen.shown(PATH, TEN.encode())
    assert knows(seen, TEN, None)
    assert knows(seen, TEN, [1, 10, 99])


def test_only_the_lines_shown_are_known(seen):
    seen.shown(PATH, TEN.encode(), range(3, 6))
    assert knows(seen, TEN, [3, 5])
    assert not knows(seen, TEN, [2, 3])
    assert not knows(seen, TEN, None)


def test_the_refusal_says_which_lines_to_read(seen):
    seen.shown(PATH, TEN.encode(), [1, 2, 6])
    with pytest.raises(Unread, match=r"not read yet: 3-5, 7-10\. Read them first \(offset 3, limit 3\)"):
        seen.require(PATH, TEN.encode(), None, "a.py")


def test_pages_add_up_to_the_whole_file(seen):
    seen.shown(PATH, TEN.encode(), range(6, 11))
    seen.shown(PATH, TEN.encode(), range(1, 6))
    assert knows(seen, TEN, None)


def test_showing_a_page_of_a_file_known_whole_forgets_nothing(seen):
    seen.shown(PATH, TEN.encode())
    seen.shown(PATH, TEN.encode(), [1])
    assert knows(seen, TEN, None)


def test_a_page_of_another_content_replaces_what_was_seen(seen):
    seen.shown(PATH, TEN.encode())
    seen.shown(PATH, b"new\nnew\n", [2])
    assert knows(seen, "new\nnew\n", [2])
    assert not knows(seen, "new\nnew\n", [1])


def test_a_file_that_changed_since_is_stale_and_one_that_changed_back_is_not(seen):
    seen.shown(PATH, TEN.encode())
    with pytest.raises(StaleFile, match=r"^a\.py changed since"):
        seen.require(PATH, TEN.replace("1", "x").encode(), [5], "a.py")
    assert knows(seen, TEN, [5])


def test_an_empty_file_that_was_shown_is_known(seen):
    seen.shown(PATH, b"", [])
    assert knows(seen, "", None)


def test_a_file_in_utf16_counts_its_own_lines(seen):
    data = "a\nb\n".encode("utf-16")
    seen.shown(PATH, data, [1, 2])
    seen.require(PATH, data, None, "a.py")


def test_a_file_the_model_wrote_is_known_whole(seen):
    seen.wrote(PATH, TEN.encode())
    assert knows(seen, TEN, None)


def test_seen_lines_move_along_with_our_own_edit(seen):
    seen.shown(PATH, TEN.encode(), [2, 9])
    after = TEN.replace("2\n", "2\nnew\nnew\n")
    seen.wrote(PATH, after.encode(), make_diff("a.py", TEN, after))
    assert knows(seen, after, [2, 3, 4, 11])
    assert not knows(seen, after, [5])
    assert not knows(seen, after, [9])


@given(
    before=st.lists(st.sampled_from("abc\n"), max_size=12),
    after=st.lists(st.sampled_from("abcx\n"), max_size=12),
    lines=st.sets(st.integers(1, 12)),
)
@settings(max_examples=300)
def test_after_an_edit_exactly_the_seen_and_the_new_lines_are_known(before, after, lines):
    old, new = ("".join(f"{word.strip()}\n" for word in words) for words in (before, after))
    diff = make_diff("a.py", old, new)
    seen = SeenFiles()
    seen.shown(PATH, old.encode(), lines)
    seen.wrote(PATH, new.encode(), diff)
    changed_old = {
        n for hunk in make_diff("a.py", old, new, context=0).hunks for n in numbers(hunk.old_start, hunk.old_lines)
    }
    changed_new = {
        n for hunk in make_diff("a.py", old, new, context=0).hunks for n in numbers(hunk.new_start, hunk.new_lines)
    }
    kept_old = [n for n in range(1, len(split_lines(old)) + 1) if n not in changed_old]
    kept_new = [n for n in range(1, len(split_lines(new)) + 1) if n not in changed_new]
    expected = changed_new | {two for one, two in zip(kept_old, kept_new, strict=True) if one in lines}
    assert {n for n in range(1, len(split_lines(new)) + 1) if knows(seen, new, [n])} == expected


def numbers(start: int, lines: tuple[str, ...]) -> range:
    return range(start, start + len(lines))


def test_files_changed_by_a_command_are_told_once(seen, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for path in (one, two):
        path.write_text("x")
        seen.shown(path, b"x")

    def read(path: Path) -> bytes | None:
        return path.read_bytes() if path.exists() else None

    assert seen.changed(read) == ()
    one.write_text("y")
    two.unlink()
    assert seen.changed(read) == (one, two)
    assert seen.changed(read) == ()
    one.write_text("z")
    assert seen.changed(read) == (one,)
    one.write_text("x")
    assert seen.changed(read) == ()
    one.write_text("z")
    assert seen.changed(read) == (one,)


def test_a_change_that_was_told_is_still_stale(seen):
    seen.shown(PATH, b"x\n")
    seen.changed(lambda _: b"y\n")
    with pytest.raises(StaleFile):
        seen.require(PATH, b"y\n", [1], "a.py")


def test_a_forgotten_file_is_unread(seen):
    seen.shown(PATH, b"x\n")
    assert seen.paths() == (PATH,)
    seen.forget(PATH)
    seen.forget(PATH)
    assert seen.paths() == ()
    assert not knows(seen, "x\n", [1])


def test_a_resumed_session_knows_what_is_still_the_same_and_tells_of_the_rest_once(seen):
    other = Path("/w/b.py")
    seen.shown(PATH, TEN.encode(), [1, 2])
    seen.shown(other, b"x\n")
    resumed = SeenFiles()
    resumed.restore(seen.snapshot())
    assert knows(resumed, TEN, [1, 2])
    assert not knows(resumed, TEN, [3])
    with pytest.raises(StaleFile):
        resumed.require(other, b"y\n", [1], "b.py")
    now = {PATH: TEN.encode(), other: b"y\n"}.get
    assert resumed.changed(now) == (other,)
    assert resumed.changed(now) == ()
    again = SeenFiles()
    again.restore(resumed.snapshot())
    assert again.changed(now) == ()


def test_what_left_the_conversation_is_no_longer_seen(seen):
    seen.shown(PATH, TEN.encode(), [1, 2], call_id="a")
    seen.shown(PATH, TEN.encode(), [5], call_id="b")
    seen.keep_only(calls=(), results={"b"})
    assert knows(seen, TEN, [5])
    with pytest.raises(Unread, match="are not in the conversation, or not any more: 1"):
        seen.require(PATH, TEN.encode(), [1], "a.py")
    seen.keep_only(calls=(), results=())
    with pytest.raises(Unread, match=r"What was read of a\.py was taken out of the conversation since\."):
        seen.require(PATH, TEN.encode(), [5], "a.py")


def test_what_a_call_wrote_stays_seen_as_long_as_the_call_is_there(seen):
    after = TEN.replace("3\n", "three\n")
    seen.shown(PATH, TEN.encode(), call_id="a")
    seen.wrote(PATH, after.encode(), make_diff("a.py", TEN, after), call_id="b")
    seen.keep_only(calls={"b"}, results=())
    assert knows(seen, after, [3])
    assert not knows(seen, after, [4])


def test_many_sightings_of_one_file_are_put_together_and_never_held_too_long(seen):
    for number in range(1, 101):
        seen.shown(PATH, ("x\n" * 100).encode(), [number], call_id=str(number))
    assert knows(seen, "x\n" * 100, None)
    assert len(seen.snapshot()[0].sightings) <= 40
    seen.keep_only(calls=(), results={str(number) for number in range(50, 101)})
    assert knows(seen, "x\n" * 100, [100])
    assert not knows(seen, "x\n" * 100, [49])
