"""What holds for every edit of every file, odd bytes included."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.errors import EditRefused
from codeagent.tools.matching import EditMatch, MatchLevel, apply_edit, apply_edits

TEXTS = st.sampled_from(
    ["a", "b", "}", "", "x = 1", "x  = 1", "“x”", '"x"', "e\u0301", "é", "e", "-", "–", "\x0c", "\u2028", "٣", "a\rb"]
)
BLANKS = st.sampled_from(["", "", "", " ", "  ", "    ", "\t", "\t\t", " \t"])
BREAKS = st.sampled_from(["\n", "\n", "\r\n", "\r"])
ODD = st.sampled_from([b"", b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xe9", b"\x80\n", b"\r", b"\0"])


@st.composite
def lines(draw, most: int = 6) -> list[str]:
    return [draw(BLANKS) + text + draw(BLANKS) for text in draw(st.lists(TEXTS, min_size=1, max_size=most))]


@st.composite
def edits(draw) -> tuple[bytes, str, str]:
    """A file, an old text that is a stretch of it more or less, and a new text that is the old one more or less."""
    breaks = draw(st.one_of(BREAKS, st.none()))
    written = draw(lines())
    text = "".join(line + (draw(BREAKS) if breaks is None else breaks) for line in written)
    content = draw(ODD) + text[: draw(st.sampled_from([len(text), -1]))].encode() + draw(ODD)
    first = draw(st.integers(0, len(written) - 1))
    old = written[first : first + draw(st.integers(1, 3))]
    shift = draw(BLANKS)
    if draw(st.booleans()):
        old = [shift + line for line in old]
    else:
        old = [draw(st.sampled_from([line, line, shift + line, line.strip(" \t"), line + " "])) for line in old]
    new = [*old]
    new[draw(st.integers(0, len(new) - 1))] = draw(BLANKS) + draw(TEXTS)
    new += draw(lines(2)) if draw(st.booleans()) else []
    end = draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
    joint = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return content, joint.join(old) + end, draw(st.sampled_from([joint.join(new) + end, joint.join(new), ""]))


def try_edit(content: bytes | None, old: str, new: str, *, replace_all: bool = False) -> EditMatch | None:
    try:
        return apply_edit(content, old, new, replace_all=replace_all)
    except EditRefused:
        return None


def line_bounds(text: str) -> list[int]:
    """Where lines start in a text, and its end."""
    line_break = "\n" if "\n" in text else "\r"
    bounds = [0]
    for line in text.split(line_break)[:-1]:
        bounds.append(bounds[-1] + len(line) + 1)
    return [*bounds, len(text)]


def codec_of(content: bytes) -> tuple[str, bytes]:
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8")):
        if content.startswith(mark):
            return codec, mark
    return "utf-8", b""


def decoded(content: bytes) -> str:
    codec, mark = codec_of(content)
    return content[len(mark) :].decode(codec, "surrogateescape")


def places(text: str, wanted: str) -> int:
    return sum(text.startswith(wanted, at) for at in range(len(text)))


def line_places(text: str, wanted: str, strip) -> int:
    file_lines = [strip(line) for line in text.removesuffix("\n").split("\n")]
    old_lines = [strip(line) for line in wanted.removesuffix("\n").split("\n")]
    return sum(file_lines[at : at + len(old_lines)] == old_lines for at in range(len(file_lines)))


@given(st.binary(max_size=60) | st.none(), st.text(max_size=6), st.text(max_size=6), st.booleans())
@settings(max_examples=300, deadline=None)
def test_nothing_is_raised_but_a_refusal(content, old, new, replace_all):
    try_edit(content, old, new, replace_all=replace_all)


@given(st.text(st.sampled_from("ab \t\r\n\u0301é“\ud800\ufeff\0"), max_size=12), st.data())
@settings(max_examples=300, deadline=None)
def test_nothing_is_raised_but_a_refusal_when_pieces_of_the_file_are_sent(text, data):
    content = text.encode("utf-8", "surrogatepass")
    start = data.draw(st.integers(0, len(text)))
    old = text[start : data.draw(st.integers(start, len(text)))]

    match = try_edit(content, old, data.draw(st.text(st.sampled_from("ab \t\r\n\u0301é”\ud800"), max_size=6)))

    assert match is None or match.content != content


@given(edits())
@settings(max_examples=500, deadline=None)
def test_bytes_outside_the_lines_that_matched_never_change(edit):
    content, old, new = edit
    match = try_edit(content, old, new)
    if match is None or not match.lines:
        return
    codec, mark = codec_of(content)
    text = decoded(content)
    bounds = line_bounds(text)
    ((first, last),) = match.lines

    assert match.content.startswith(mark + text[: bounds[first - 1]].encode(codec, "surrogateescape"))
    assert match.content.endswith(text[bounds[last] :].encode(codec, "surrogateescape"))


@given(edits())
@settings(max_examples=500, deadline=None)
def test_never_more_than_one_place_was_possible(edit):
    content, old, new = edit
    match = try_edit(content, old, new)
    if match is None or not match.lines:
        return
    text = decoded(content)
    old = old.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\n" not in text:
        text, old = text.replace("\r", "\n"), old.replace("\r", "\n")
    text = text.replace("\r\n", "\n")

    if match.level is MatchLevel.EXACT:
        assert places(text, old) >= 1
        assert text.isascii() is False or places(text, old) == 1
    else:
        assert not text.isascii() or places(text, old) == 0 or match.level is MatchLevel.INDENTATION
    if match.level is MatchLevel.TRAILING_BLANKS:
        assert line_places(text, old, lambda line: line.rstrip(" \t")) <= 1
    if match.level in (MatchLevel.INDENTATION, MatchLevel.TABS):
        stripped = [line_places(text, wanted, lambda line: line.strip(" \t")) for wanted in (old, old.strip("\n \t"))]
        assert 1 in stripped


@given(edits())
@settings(max_examples=300, deadline=None)
def test_an_exact_edit_of_a_file_with_one_kind_of_line_break_is_plain_replacement(edit):
    content, old, new = edit
    match = try_edit(content, old, new)
    if (
        match is None
        or match.level is not MatchLevel.EXACT
        or b"\r" in content
        or not match.lines
        or b"\n" not in content
    ):
        return
    codec, mark = codec_of(content)
    text, old, new = decoded(content), old.replace("\r\n", "\n"), new.replace("\r\n", "\n")

    results = [text[:at] + new + text[at + len(old) :] for at in range(len(text)) if text.startswith(old, at)]
    assert match.content in [mark + result.encode(codec, "surrogateescape") for result in results]


@given(edits())
@settings(max_examples=300, deadline=None)
def test_the_same_edit_sent_as_one_of_several_gives_the_same_file(edit):
    content, old, new = edit
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    content += b"\nzz\n"
    match = try_edit(content, old, new)
    if match is None:
        return

    several = apply_edits(content, [("zz", "yy"), (old, new)])

    assert several.content == match.content.replace(b"zz", b"yy")
