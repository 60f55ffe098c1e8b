"""Each kind of difference that an edit may have, or must not have, in files of several languages."""

from __future__ import annotations

import codecs
import random
import re

import pytest

from codeagent.core.errors import EditRefused, ManyMatches, NoMatch
from codeagent.tools.matching import MatchLevel, apply_edit
from tests.tools.matching_samples import (
    BLOCKS,
    GO,
    INDENTED,
    INI,
    JAVASCRIPT,
    MARKDOWN,
    PYTHON,
    SAMPLES,
    YAML,
    C,
    Sample,
)

ANY = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
BLOCK = pytest.mark.parametrize("sample", BLOCKS, ids=lambda sample: sample.name)
DEEP = pytest.mark.parametrize("sample", INDENTED, ids=lambda sample: sample.name)


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def at_depth(text: str, blanks: str) -> str:
    return re.sub("^(?=.)", blanks, text, flags=re.MULTILINE)


def less_deep(text: str, blanks: str) -> str:
    return re.sub(f"^{blanks}", "", text, flags=re.MULTILINE)


def base(sample: Sample) -> str:
    return re.match(r"[ \t]*", sample.old)[0]


def spaces_for_tabs(text: str, width: int) -> str:
    return re.sub(r"^\t+", lambda found: " " * width * len(found[0]), text, flags=re.MULTILINE)


def tabs_for_spaces(text: str, width: int) -> str:
    return re.sub(r"^ +", lambda found: "\t" * (len(found[0]) // width), text, flags=re.MULTILINE)


@ANY
def test_the_exact_text_is_replaced(sample):
    match = apply_edit(sample.content.encode(), sample.old, sample.new)

    assert (match.content.decode(), match.level) == (sample.result, MatchLevel.EXACT)


@ANY
@pytest.mark.parametrize("in_call", [lambda text: text, crlf], ids=["lf", "crlf"])
@pytest.mark.parametrize("in_file", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_line_breaks_stay_those_of_the_file(sample, in_file, in_call):
    match = apply_edit(sample.content.replace("\n", in_file).encode(), in_call(sample.old), in_call(sample.new))

    assert match.content.decode() == sample.result.replace("\n", in_file)


@ANY
@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
    ids=["utf-8", "utf-16-le", "utf-16-be"],
)
@pytest.mark.parametrize("in_call", ["", "\ufeff"], ids=["without", "with"])
def test_a_byte_order_mark_stays_once(sample, mark, codec, in_call):
    content = mark + crlf(sample.content).encode(codec)

    match = apply_edit(content, in_call + sample.old, in_call + sample.new)

    assert match.content == mark + crlf(sample.result).encode(codec)


@ANY
def test_bytes_of_an_unknown_encoding_stay(sample):
    around = b"# M\xfcller \xa9 \x93quoted\x94\n"

    match = apply_edit(around + sample.content.encode() + around, sample.old, sample.new)

    assert match.content == around + sample.result.encode() + around


@DEEP
@pytest.mark.parametrize("breaks", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_text_sent_without_its_indentation_goes_in_at_the_files_depth(sample, breaks):
    blanks = base(sample)

    match = apply_edit(
        sample.content.replace("\n", breaks).encode(), less_deep(sample.old, blanks), less_deep(sample.new, blanks)
    )

    assert (match.content.decode(), match.level) == (sample.result.replace("\n", breaks), MatchLevel.INDENTATION)


@BLOCK
@pytest.mark.parametrize("blanks", [" ", "  ", "    ", "\t", "      "])
def test_text_sent_too_deep_goes_in_at_the_files_depth(sample, blanks):
    match = apply_edit(sample.content.encode(), at_depth(sample.old, blanks), at_depth(sample.new, blanks))

    assert match.content.decode() == sample.result


@BLOCK
def test_blanks_at_line_ends_of_the_file_stay_on_lines_that_do_not_change(sample):
    content = re.sub("(?<=[^\n])\n", "  \t\n", sample.content)
    changed = set(sample.new.splitlines()) - set(sample.old.splitlines())
    expected = "".join(
        line + "\n" if line in changed or not line else line + "  \t\n" for line in sample.result.splitlines()
    )

    match = apply_edit(content.encode(), sample.old, sample.new)

    assert (match.content.decode(), match.level) == (expected, MatchLevel.TRAILING_BLANKS)


@BLOCK
def test_blanks_at_line_ends_of_the_old_text_do_not_matter(sample):
    match = apply_edit(sample.content.encode(), sample.old.replace("\n", "   \n"), sample.new)

    assert match.content.decode() == sample.result


@BLOCK
@pytest.mark.parametrize("breaks", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_file_that_ends_without_a_line_break_still_does(sample, breaks):
    before = sample.content.split(sample.old, maxsplit=1)[0]
    content = (before + sample.old).removesuffix("\n").replace("\n", breaks)

    match = apply_edit(content.encode(), sample.old, sample.new)

    assert match.content.decode() == (before + sample.new).removesuffix("\n").replace("\n", breaks)


@BLOCK
@pytest.mark.parametrize("around_new", [("", ""), ("\n\n", "\n"), ("\n", ""), ("", "  \n")])
def test_blank_lines_around_the_old_text_are_no_part_of_it(sample, around_new):
    content = sample.content.replace(sample.old, f"# before\n{sample.old}# after\n")
    before, after = around_new

    match = apply_edit(content.encode(), f"\n\n{sample.old}  \n", before + sample.new + after)

    assert match.content.decode() == sample.result.replace(sample.new, f"# before\n{sample.new}# after\n")


@BLOCK
def test_blank_lines_that_only_the_new_text_has_are_written(sample):
    match = apply_edit(sample.content.encode(), f"\n\n\n{sample.old}", f"\n\n\n\n{sample.new}")

    assert match.content.decode() == sample.content.replace(sample.old, f"\n{sample.new}")


@BLOCK
@pytest.mark.parametrize("form", ["{}→", "{}\t", "{:>6}\t", "{:>6}→"])
@pytest.mark.parametrize("in_new", [True, False], ids=["both", "only-old"])
def test_line_numbers_copied_from_read_are_taken_off(sample, form, in_new):
    first = sample.content.split(sample.old, maxsplit=1)[0].count("\n") + 1

    def numbered(text: str) -> str:
        return "".join(form.format(first + i) + line for i, line in enumerate(text.splitlines(keepends=True)))

    match = apply_edit(sample.content.encode(), numbered(sample.old), numbered(sample.new) if in_new else sample.new)

    assert (match.content.decode(), match.level) == (sample.result, MatchLevel.LINE_NUMBERS)


@BLOCK
def test_line_numbers_that_are_not_those_of_the_lines_are_refused(sample):
    first = sample.content.split(sample.old, maxsplit=1)[0].count("\n") + 2
    old = "".join(f"{first + i}→{line}" for i, line in enumerate(sample.old.splitlines(keepends=True)))

    with pytest.raises(EditRefused, match=f"lines {first - 1}-"):
        apply_edit(sample.content.encode(), old, sample.new)


@pytest.mark.parametrize("sample", [PYTHON, C, JAVASCRIPT, YAML], ids=lambda sample: sample.name)
def test_tabs_sent_for_spaces_become_spaces(sample):
    width = 2 if sample in (JAVASCRIPT, YAML) else 4

    match = apply_edit(sample.content.encode(), tabs_for_spaces(sample.old, width), tabs_for_spaces(sample.new, width))

    assert (match.content.decode(), match.level) == (sample.result, MatchLevel.TABS)


@pytest.mark.parametrize("width", [2, 3, 4, 8])
@pytest.mark.parametrize("breaks", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_spaces_sent_for_tabs_become_tabs(width, breaks):
    match = apply_edit(
        GO.content.replace("\n", breaks).encode(), spaces_for_tabs(GO.old, width), spaces_for_tabs(GO.new, width)
    )

    assert (match.content.decode(), match.level) == (GO.result.replace("\n", breaks), MatchLevel.TABS)


@pytest.mark.parametrize("width", [1, 5, 6, 7])
def test_other_widths_of_a_tab_are_refused(width):
    with pytest.raises(EditRefused, match="lines 5-9"):
        apply_edit(GO.content.encode(), spaces_for_tabs(GO.old, width), spaces_for_tabs(GO.new, width))


def test_a_new_line_that_does_not_fit_the_width_of_a_tab_is_refused():
    new = spaces_for_tabs(GO.new, 4).replace("    total++", "      total++")

    with pytest.raises(EditRefused, match=r"lines 5-9(.|\n)*does not fit that"):
        apply_edit(GO.content.encode(), spaces_for_tabs(GO.old, 4), new)


@BLOCK
def test_a_block_that_is_there_twice_is_refused_with_both_lines(sample):
    first = sample.content.split(sample.old, maxsplit=1)[0].count("\n") + 1
    second = first + sample.content.count("\n")

    with pytest.raises(ManyMatches, match=rf"2 places, on lines {first} and {second}"):
        apply_edit((sample.content * 2).encode(), sample.old, sample.new)


@DEEP
def test_a_block_at_two_depths_is_refused_when_sent_at_a_third(sample):
    content = sample.content + at_depth(sample.content, "\t")
    old, new = (at_depth(less_deep(text, base(sample)), "   ") for text in (sample.old, sample.new))

    with pytest.raises(ManyMatches):
        apply_edit(content.encode(), old, new)


@BLOCK
@pytest.mark.parametrize("seed", range(8))
def test_any_changed_missing_or_added_word_is_refused_with_the_place(sample, seed):
    chance = random.Random(seed)
    word = chance.choice(list(re.finditer(r"(?<=\S)\w+|(?<=\S)[^\w\s]", sample.old)))
    other = chance.choice(["", word[0] * 2, "other", f"{word[0]} x"])
    old = sample.old[: word.start()] + other + sample.old[word.end() :]
    first = sample.content.split(sample.old, maxsplit=1)[0].count("\n") + 1

    with pytest.raises(NoMatch) as refusal:
        apply_edit(sample.content.encode(), old, sample.new)

    found = re.search(r"lines? (\d+)(?:-(\d+))?", str(refusal.value))
    assert found is not None
    assert int(found[1]) <= first <= int(found[2] or found[1])


@BLOCK
@pytest.mark.parametrize("which", [0, 1, -2, -1])
def test_a_missing_line_is_refused_unless_what_is_left_is_there_as_it_stands(sample, which):
    lines = sample.old.splitlines(keepends=True)
    del lines[which]
    old = "".join(lines)
    if sample.content.count(old):
        assert apply_edit(sample.content.encode(), old, "x\n").level is MatchLevel.EXACT
        return

    with pytest.raises(EditRefused, match=r"lines \d+-\d+"):
        apply_edit(sample.content.encode(), old, sample.new)


@BLOCK
def test_lines_in_another_order_are_refused(sample):
    lines = sample.old.splitlines(keepends=True)

    with pytest.raises(NoMatch):
        apply_edit(sample.content.encode(), "".join([*lines[1:], lines[0]]), sample.new)


@DEEP
@pytest.mark.parametrize("which", [1, -1])
def test_one_line_at_another_depth_than_the_rest_is_refused_with_its_indentation(sample, which):
    lines = [line for line in sample.old.splitlines(keepends=True) if line.strip()]
    content = sample.content.replace(sample.old, "".join(lines))
    first = content.split("".join(lines), maxsplit=1)[0].count("\n") + 1
    lines[which] = base(sample) + lines[which]

    with pytest.raises(EditRefused, match=f"line {range(first, first + len(lines))[which]}: the file has"):
        apply_edit(content.encode(), "".join(lines), sample.new)


@DEEP
def test_a_new_text_at_another_depth_than_a_shifted_old_one_is_refused(sample):
    with pytest.raises(EditRefused, match="another depth"):
        apply_edit(sample.content.encode(), less_deep(sample.old, base(sample)), sample.new)


@BLOCK
@pytest.mark.parametrize(
    ("wrap", "sign"),
    [
        (lambda text: f"```\n{text}```\n", "code fence"),
        (lambda text: re.sub("^", "-", text, flags=re.MULTILINE)[:-1], "diff markers"),
        (lambda text: text.replace("\n", "\\n"), "escapes"),
        (lambda text: text.replace("\n", "\n...\n", 1), "three dots"),
        (lambda text: re.sub(r"^", "1→", text, count=1), "line number"),
    ],
    ids=["fence", "diff", "escapes", "dots", "numbers"],
)
def test_marks_that_do_not_belong_to_the_file_are_named(sample, wrap, sign):
    first = sample.content.split(sample.old, maxsplit=1)[0].count("\n") + 1

    with pytest.raises(NoMatch, match=sign) as refusal:
        apply_edit(sample.content.encode(), wrap(sample.old), wrap(sample.new))

    assert re.search(rf"line(s)? {first}\b", str(refusal.value))


@BLOCK
def test_an_edit_that_was_made_before_is_refused_with_its_place(sample):
    first = sample.content.split(sample.old, maxsplit=1)[0].count("\n") + 1

    with pytest.raises(EditRefused, match=rf"already there, on lines {first}-"):
        apply_edit(sample.result.encode(), sample.old, sample.new)


@pytest.mark.parametrize("sample", [INI, MARKDOWN, PYTHON], ids=lambda sample: sample.name)
def test_replace_all_is_never_fuzzy(sample):
    with pytest.raises(NoMatch, match="replace_all"):
        apply_edit(sample.content.encode(), at_depth(sample.old, "   "), sample.new, replace_all=True)
