"""The finer rules of edit matching, one by one."""

from __future__ import annotations

import pytest

from codeagent.core.errors import EditRefused, ManyMatches, NoMatch
from codeagent.tools.matching import MatchLevel, apply_edit, apply_edits


def edited(content: str, old: str, new: str, *, replace_all: bool = False) -> str:
    return apply_edit(content.encode(), old, new, replace_all=replace_all).content.decode()


def refused(content: str | bytes, old: str, new: str, *, replace_all: bool = False) -> str:
    data = content if isinstance(content, bytes) else content.encode()
    with pytest.raises(EditRefused) as refusal:
        apply_edit(data, old, new, replace_all=replace_all)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("content", "old", "new", "result"),
    [
        ("say(“hi”)\n", 'say("hi")', 'say("ho")', "say(“ho”)\n"),
        ('say("hi")\n', "say(“hi”)", "say(“ho”)", 'say("ho")\n'),
        ("it’s 5 – 6\n", "it's 5 - 6", "it's 5 - 7", "it’s 5 – 7\n"),
        ("a\u00a0b\u2009c = 1\n", "a b c = 1", "a b c = 2", "a\u00a0b\u2009c = 2\n"),
        ("f（x，y）＝1\n", "f(x,y)=1", "f(x,y)=2", "f（x，y）＝2\n"),
        ("x = −1\r\ny = 2\r\n", "x = -1\ny = 2", "x = -1\ny = 3\nz = 4", "x = −1\r\ny = 3\r\nz = 4\r\n"),
        ("caf\u00e9 = 1\n", "cafe\u0301 = 1", "cafe\u0301 = 2", "caf\u00e9 = 2\n"),
        ("cafe\u0301 = 1 # e\u0301\n", "caf\u00e9 = 1 #", "the\u0301 = 1 #", "the\u0301 = 1 # e\u0301\n"),
        ("\u1112\u1161\u11ab = 1\n", "\ud55c = 1", "\ud55c = 2", "\u1112\u1161\u11ab = 2\n"),
        ("10 k\u2126\n", "10 k\u03a9", "12 k\u03a9", "12 k\u2126\n"),
    ],
)
def test_typographic_characters_and_split_accents_stay_as_the_file_has_them(content, old, new, result):
    match = apply_edit(content.encode(), old, new)

    assert (match.content.decode(), match.level) == (result, MatchLevel.TYPOGRAPHY)


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("Name = 1\n", "name = 1"),
        ("say('x')\n", 'say("x")'),
        ("say(`x`)\n", "say('x')"),
        ("wait…\n", "wait..."),
        ("ﬁle = 1\n", "file = 1"),
        ("ｎａｍｅ = 1\n", "name = 1"),
        ("v = １\n", "v = 1"),
        ("na\u200bme = 1\n", "name = 1"),
        ("na\u00adme = 1\n", "name = 1"),
        ("n\u0430me = 1\n", "name = 1"),
        ("name = 1\n", "n\u0430me = 1"),
        ("\u212a = 1\n", "K = 1"),
        ("a = 1\u037e\n", "a = 1;"),
        ("name = 1\n", "\ufeffname = 1"),
        ("cafe\u0301 = 1\n", "cafe"),
        ("I \u2764\ufe0f it\n", "I \u2764"),
    ],
)
def test_characters_that_only_look_alike_are_refused_with_their_line(content, old):
    assert "line 1" in refused(content, old, "other")


@pytest.mark.parametrize(
    ("content", "old", "code", "column"),
    [
        ("ok\nna\u200bme = 1\n", "name = 1", "U+200B", 3),
        ("ok\nx = n\u0430me\n", "x = name", "U+0430", 6),
        ("ok\nx = name\n", "x = na\u00adme", "U+00AD", 7),
        ("ok\nrun(cafe\u0301)\n", "run(cafe", "U+0301", 9),
    ],
)
def test_an_invisible_or_look_alike_character_is_named_with_its_column(content, old, code, column):
    text = refused(content, old, "x")

    assert (code in text, f"in column {column}" in text, "line 2" in text) == (True, True, True)


@pytest.mark.parametrize(
    ("content", "old", "new", "result"),
    [
        ("a:\n      b: 1\n", "  b: 1", "  b: 1\n  c: 2", "a:\n      b: 1\n      c: 2\n"),
        ("a:\n      b: 1\n", "  b: 1", "  b: 2", "a:\n      b: 2\n"),
        ("    if a:\n        b()\n", "  if a:\n        b()", "  if c:\n        b()\n        d()", None),
        ("x =  1\n", " 1", " 1\n", "x =  1\n\n"),
        ("    a\n    b\n", "  a\n    b\n", "a\n    b\n    c\n", "refused"),
        ("    a(1)\n", "  a(", "  a(\n  2,", "refused"),
        ("    a\n    b\n", "a\n    b\n", "    a\n    c\n", "refused"),
        ("    a\nb\n", "a\n", "", "refused"),
        ("    a\n    b\n", "a\n    b\n", "note\na\n    b\n", "refused"),
        ("    a \n    b\n", "a\n    b\n", "note\na\n    b\n", "refused"),
        ("    a\n    b\n", "a\n    b\n", "note\n    a\n    b\n", "    note\n    a\n    b\n"),
        ("    }\n}\n", "}\n}\n", "}\n\n}\n", "    }\n\n}\n"),
        ("    a\nb\n", "    a\n", "", "b\n"),
        ("        a\n    a\n", "    a\n", "    a\n    b\n", "        a\n    a\n    b\n"),
    ],
)
def test_text_that_begins_inside_an_indentation_keeps_its_depth_or_is_refused(content, old, new, result):
    if result == "refused":
        assert "indentation" in refused(content, old, new)
        return

    assert edited(content, old, new) == (result or "    if c:\n        b()\n        d()\n")


@pytest.mark.parametrize(
    ("content", "old", "new", "result"),
    [
        ("a\r\nb\nc\r\n", "b\nc", "b\nx\nc", "a\r\nb\nx\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "A\nB\nC\n", "A\r\nB\nC\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "A\nb\nC\nd\n", "A\r\nb\nC\r\nd\r\n"),
        ("a\r\nb\nc\r\n", "b", "b\nb2", "a\r\nb\nb2\nc\r\n"),
        ("a\nb\r\nc", "c", "c\nd", "a\nb\r\nc\r\nd"),
        ("a  \r\nb \nc\r\n", "a\nb\nc\n", "A\nb\nC\n", "A\r\nb \nC\r\n"),
        ("abc", "abc", "abc\r\ndef\n", "abc\r\ndef\n"),
        ("abc  ", "abc\n", "abc\r\ndef\r\n", "abc  \r\ndef"),
        ("a\rb\rc", "b", "b\nx", "a\rb\rx\rc"),
        ("a\rb\n", "a\rb", "a\rc", "a\rc\n"),
        ("a\r\nb", "a\nb", "a\r\nc\n", "a\r\nc\r\n"),
    ],
)
def test_each_line_keeps_its_break_and_new_ones_take_that_of_the_place(content, old, new, result):
    assert edited(content, old, new) == result


@pytest.mark.parametrize(
    ("content", "old", "new", "result"),
    [
        ("a\nb", "b\n", "c\n", "a\nc"),
        ("a\nb", "b\n", "b\nc\n", "a\nb\nc"),
        ("a\nb", "a\nb\n", "a\n", "a"),
        ("a\nb\n", "b\n", "b", "a\nb"),
        ("a\nb", "b", "b\n", "a\nb\n"),
        ("a\nb", "\nb", "", "a"),
        ("a  \nb", "a\nb\n", "", ""),
    ],
)
def test_the_end_of_the_file_keeps_its_break_unless_the_exact_text_says_otherwise(content, old, new, result):
    assert edited(content, old, new) == result


@pytest.mark.parametrize(("content", "old"), [("a\nb", "b\n"), ("a  \nb  \nc\n", "a\nb")])
def test_removing_lines_is_refused_where_it_is_unclear_which_break_goes(content, old):
    assert "line" in refused(content, old, "")


@pytest.mark.parametrize(
    ("content", "old", "new"),
    [
        ("        a\n", "    a\n", "    a\n\tb\n"),
        ("a\n  b\n", "    a\n      b\n", "    a\n  c\n"),
        ("\tif a:\n\t    b\n", "    if a:\n        b\n", "    if a:\n        c\n"),
        ("\ta\n\t\tb\n", "    a\n    b\n", "    a\n    c\n"),
    ],
)
def test_a_new_text_that_cannot_be_brought_to_the_files_depth_is_refused(content, old, new):
    assert "Nothing was changed" in refused(content, old, new)


@pytest.mark.parametrize("text", [" ", "\t", "\n\n", "  \n", "\u00a0", "\u2028"])
def test_white_space_is_matched_exactly_or_not_at_all(text):
    assert "White space" in refused("a\nb\n", text, "x")
    assert edited(f"a{text}b\n", text, "-") == "a-b\n"


@pytest.mark.parametrize(
    ("content", "old", "new", "result"),
    [
        ("aaa", "a", "aa", "aaaaaa"),
        ("aaa\n", "aa", "b", "ba\n"),
        ("a\r\nb\r\na\r\nb\r\n", "a\nb\n", "a\nx\nb\n", "a\r\nx\r\nb\r\na\r\nx\r\nb\r\n"),
        ("e e\u0301 e\n", "e", "i", "i e\u0301 i\n"),
        ("a$1 a$1", "a$1", r"\1 $& {} %s", r"\1 $& {} %s \1 $& {} %s"),
    ],
)
def test_replace_all_changes_every_hit_from_left_to_right_once(content, old, new, result):
    assert edited(content, old, new, replace_all=True) == result


def test_replace_all_is_refused_where_a_hit_lies_deeper_than_it_was_sent():
    assert "line 2" in refused("  a\n    a\n", "  a\n", "  a\n  b\n", replace_all=True)


@pytest.mark.parametrize(
    ("content", "old"),
    [(b"a\0b\n", "a"), (b"\xff\xfea\0b", "a"), (b"\x00\x00\xfe\xff\x00\x00\x00a", "a"), (b"caf\xe9 = 1\n", "café")],
)
def test_binary_files_and_unknown_characters_are_refused(content, old):
    assert "Nothing was changed" in refused(content, old, "x")


def test_a_hit_that_may_be_half_a_character_is_none():
    assert "Nothing was changed" in refused(b"\x95\\ = 1\n", "\\ = 1", "x")


def test_typographic_bytes_in_an_unknown_encoding_are_not_read_as_utf_8():
    assert "Nothing was changed" in refused(b"\xe9 \xe2\x80\x9cx\xe2\x80\x9d\n", '"x"', '"y"')


@pytest.mark.parametrize(("old", "new"), [("a\ud800", "b"), ("a", "b\udc80"), ("a", "b\0")])
def test_what_no_text_file_can_hold_is_refused(old, new):
    assert "Nothing was changed" in refused("a\n", old, new)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_old_text_fills_an_empty_file(content):
    codec = "utf-16-le" if content == b"\xff\xfe" else "utf-8"

    assert apply_edit(content, "", "a\r\nb\n").content == content + "a\r\nb\n".encode(codec)


@pytest.mark.parametrize("new", ["a\r\nb\rc", ""])
def test_an_empty_old_text_makes_a_new_file_as_given(new):
    match = apply_edit(None, "", new)

    assert (match.content, match.lines) == (new.encode(), ())


@pytest.mark.parametrize(("content", "old"), [("Total\n", "total"), ("x\nretries = 3\n", "retrys: 3")])
def test_a_line_of_other_letters_is_still_the_closest(content, old):
    assert "+ " + content.splitlines()[-1] in refused(content, old, "z")


@pytest.mark.parametrize(("content", "old", "new"), [("\n", "", "x"), ("a", "", "x"), ("a\n", "a\r\n", "a\n")])
def test_an_empty_old_text_on_content_and_an_unchanged_text_are_refused(content, old, new):
    assert "Nothing was changed" in refused(content, old, new)
    assert "Nothing was changed" in refused(content, old, new, replace_all=True)


def test_a_missing_file_is_no_place_for_an_old_text():
    with pytest.raises(NoMatch, match="no such file"):
        apply_edit(None, "a", "b")


def test_a_result_that_is_the_file_itself_is_refused():
    assert "already reads like this on line 1" in refused("a\n", "a  ", "a")


def test_the_lines_that_matched_are_those_of_the_old_file():
    assert apply_edit(b"a\nb\nc\nd\n", "b\nc\n", "x\n").lines == ((2, 3),)
    assert apply_edit(b"a b\na\n", "a", "x", replace_all=True).lines == ((1, 1), (2, 2))


def test_several_edits_are_matched_against_the_file_as_it_is():
    match = apply_edits(b"a\r\nb  \r\n    c\r\nd\r\n", [("c\n", "C\nC2\n"), ("b", "B"), ("a", "b")])

    assert match.content == b"b\r\nB  \r\n    C\r\nC2\r\nd\r\n"
    assert (match.lines, match.level) == (((1, 1), (2, 2), (3, 3)), MatchLevel.EXACT)


def test_of_several_edits_the_loosest_level_is_told():
    match = apply_edits(b"a\n    b\n    c\n", [("a", "A"), ("b\nc\n", "b\nC\n")])

    assert (match.content, match.level) == (b"A\n    b\n    C\n", MatchLevel.INDENTATION)


@pytest.mark.parametrize(
    ("edits", "error", "text"),
    [
        ([("a", "x"), ("b\nq", "y")], NoMatch, "Edit 2 of 2"),
        ([("c", "x"), ("a", "y")], ManyMatches, "Edit 1 of 2"),
        ([("a", "x"), ("x", "y")], NoMatch, "join this one with the earlier one"),
        ([("a\nb", "x"), ("b\nc\n", "y\n")], EditRefused, "edits 1 and 2 overlap on line 2"),
        ([("a\n", "x\n"), ("a", "y")], EditRefused, "edits 1 and 2 overlap on line 1"),
        ([("a", "x"), ("b", "b")], EditRefused, "Edit 2 of 2.*same text"),
        ([], EditRefused, "no edits"),
    ],
)
def test_several_edits_are_refused_as_one_and_the_text_says_which_failed(edits, error, text):
    with pytest.raises(error, match=text):
        apply_edits(b"a\nb\nc\nc\n", edits)


def test_a_refusal_in_a_long_file_shows_few_lines():
    content = "".join(f"value_{i} = compute({i})\n" for i in range(3000))
    old = "".join(f"value_{i} = compute({i + 1})\n" for i in range(100, 200))

    text = refused(content, old, "x")

    assert "lines 101-200" in text
    assert len(text.splitlines()) <= 30


def test_a_refusal_in_a_very_long_line_shows_the_surroundings_of_the_difference():
    content = ",".join(f'{{"id":{i},"name":"n{i}"}}' for i in range(2000))

    text = refused(content, '{"id":1500,"name":"m1500"},{"id":1501', "x")

    assert '"name":"n1500"' in text
    assert max(map(len, text.splitlines())) < 250
