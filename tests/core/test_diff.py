"""Diffs: exact to the character, in parts too, and quick on long files."""

import time
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codeagent.core.comparison import _Search, common_runs
from codeagent.core.diff import (
    ChangeKind,
    DiffLine,
    FileDiff,
    Hunk,
    LineKind,
    apply_hunks,
    line_pairs,
    make_diff,
    split_lines,
    word_spans,
)
from codeagent.core.errors import StaleFile
from tests.effort import assert_takes_less

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "a\r\n", "d", "}\n", "é\n", " "]), max_size=40)
TEXTS = LINES.map("".join) | st.text(alphabet="ab\n\r\u2028\x0c", max_size=40)
CONTEXT = st.integers(0, 4)


def turned_round(diff: FileDiff) -> FileDiff:
    """The change that takes this one back."""
    swap = {LineKind.ADDED: LineKind.REMOVED, LineKind.REMOVED: LineKind.ADDED, LineKind.SAME: LineKind.SAME}
    hunks = tuple(
        Hunk(
            old_start=hunk.new_start,
            new_start=hunk.old_start,
            lines=tuple(replace(line, kind=swap[line.kind]) for line in hunk.lines),
        )
        for hunk in diff.hunks
    )
    return replace(diff, hunks=hunks)


def numbered(count: int) -> list[str]:
    return [f"line {number} of the file\n" for number in range(1, count + 1)]


def cpu_seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@given(TEXTS)
def test_split_lines_lose_nothing(text):
    lines = split_lines(text)
    assert "".join(lines) == text
    assert "" not in lines


def test_lines_end_at_lf_only_unless_a_file_has_nothing_but_cr():
    assert split_lines("a\r\nb\rc\x0cd\u2028e\n") == ["a\r\n", "b\rc\x0cd\u2028e\n"]
    assert split_lines("a\rb") == ["a\r", "b"]


@given(TEXTS, TEXTS, CONTEXT)
@settings(max_examples=400)
@example("a", "a\n", 3)
@example("a\rb\r", "a\nb\n", 3)
@example("", "\n", 0)
@example("a\n" * 9, "a\n" * 10, 1)
def test_all_hunks_lead_to_the_new_text_and_back(before, after, context):
    diff = make_diff("f", before, after, context=context)
    assert apply_hunks(before, diff) == after
    assert apply_hunks(after, turned_round(diff)) == before
    assert bool(diff.hunks) == (before != after)


@given(TEXTS, TEXTS, CONTEXT)
@settings(max_examples=300)
def test_hunks_are_where_they_say_and_never_overlap(before, after, context):
    diff = make_diff("f", before, after, context=context)
    old, new = split_lines(before), split_lines(after)
    end = 0
    for hunk in diff.hunks:
        assert hunk.old_start - 1 >= end
        end = hunk.old_start - 1 + len(hunk.old_lines)
        assert tuple(old[hunk.old_start - 1 : end]) == hunk.old_lines
        assert tuple(new[hunk.new_start - 1 : hunk.new_start - 1 + len(hunk.new_lines)]) == hunk.new_lines


@given(LINES, LINES, CONTEXT)
@settings(max_examples=300)
def test_a_hunk_shows_as_many_unchanged_lines_as_asked_for(before, after, context):
    old = split_lines("".join(before))
    for hunk in make_diff("f", "".join(before), "".join(after), context=context).hunks:
        changed = [at for at, line in enumerate(hunk.lines) if line.kind is not LineKind.SAME]
        lines_before = hunk.old_start - 1 + changed[0]
        lines_after = len(old) - (hunk.old_start - 1 + len(hunk.old_lines)) + len(hunk.lines) - 1 - changed[-1]
        assert changed[0] == min(context, lines_before)
        assert len(hunk.lines) - 1 - changed[-1] == min(context, lines_after)


@given(TEXTS, TEXTS, st.sets(st.integers(0, 8)))
@settings(max_examples=300)
def test_any_choice_of_hunks_equals_taking_the_others_back(before, after, chosen):
    diff = make_diff("f", before, after, context=0)
    others = {index for index in range(len(diff.hunks)) if index not in chosen}
    if "\r" not in before + after:  # else both sides may count lines in different ways
        assert apply_hunks(before, diff, chosen) == apply_hunks(after, turned_round(diff), others)


def test_creating_and_deleting_are_told_apart_from_emptying():
    assert make_diff("f", None, "a\n").change is ChangeKind.CREATED
    assert make_diff("f", "a\n", None).change is ChangeKind.DELETED
    assert make_diff("f", "a\n", "").change is ChangeKind.CHANGED


def test_hunks_do_not_apply_to_a_text_that_changed_there():
    diff = make_diff("f", "a\nb\nc\n", "a\nB\nc\n")
    with pytest.raises(StaleFile):
        apply_hunks("a\nx\nc\n", diff)
    with pytest.raises(StaleFile):
        apply_hunks("a\n", diff)


def only_hunk(before: str, after: str) -> Hunk:
    (hunk,) = make_diff("f", before, after).hunks
    return hunk


def test_the_replaced_range_holds_no_line_that_stays():
    text = "1\n2\n3\n4\n5\n"
    assert only_hunk(text, text.replace("3\n", "x\n")).old_range == (3, 3)
    assert only_hunk(text, text.replace("3\n4\n", "x\n")).old_range == (3, 4)
    assert only_hunk(text, text.replace("3\n", "3\nnew\nnew\n")).old_range == (4, 4)
    assert only_hunk(text, text.replace("2\n3\n", "")).old_range == (2, 3)


def only_added(before: str, after: str) -> str:
    return "".join(line.text for line in only_hunk(before, after).lines if line.kind is LineKind.ADDED)


def test_an_added_function_is_shown_from_its_first_line_on():
    first = "@cache\ndef a():\n    return 1\n\n\n"
    added = "@cache\ndef b():\n    return 2\n\n\n"
    last = "@cache\ndef c():\n    return 3\n"
    assert only_added(first + last, first + added + last) == added


def test_an_added_block_is_shown_from_its_head_to_its_end():
    before = "  for (a) {\n    one();\n  }\n"
    added = "  for (a) {\n    zero();\n  }\n"
    after = f"f() {{\n{added}{before}}}\n"
    assert only_added(f"f() {{\n{before}}}\n", after) == added


def test_a_removed_function_is_shown_from_its_first_line_on():
    one = "def a():\n    return 1\n\n\n"
    two = "def b():\n    return 1\n\n\n"
    lines = only_hunk(one + two + "x\n", one + "x\n").lines
    assert "".join(line.text for line in lines if line.kind is LineKind.REMOVED) == two


def test_a_block_moved_up_by_many_lines_keeps_its_context():
    marks = "".join(f"@mark{number}\n" for number in range(10))
    before = f"1\n2\n3\n4\n\n{marks}def c():\n    return 3\n"
    added = f"{marks}def b():\n    return 2\n\n"
    after = before.replace(marks, added + marks)
    assert only_added(before, after) == added
    assert only_hunk(before, after).old_lines == ("3\n", "4\n", "\n", "@mark0\n", "@mark1\n", "@mark2\n")


def test_a_change_among_equal_lines_stays_small():
    before = ["x\n"] * 3_000
    after = before.copy()
    after[700:700] = ["y\n"]
    after[2_000:2_001] = ["z\n"]
    diff = make_diff("f", "".join(before), "".join(after))
    assert (diff.added, diff.removed) == (2, 1)


@given(LINES, LINES)
def test_what_stayed_the_same_is_the_same_and_in_order(old, new):
    i_end = j_end = 0
    for i, j, count in common_runs(old, new):
        assert count > 0
        assert i >= i_end
        assert j >= j_end
        assert old[i : i + count] == new[j : j + count]
        i_end, j_end = i + count, j + count


@given(st.text("abc", max_size=14), st.text("abc", max_size=14))
@settings(max_examples=300)
def test_between_anchors_the_difference_is_the_shortest_one(old, new):
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old):
        for j, two in enumerate(new):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if one == two else max(lengths[i][j + 1], lengths[i + 1][j])
    search = _Search(old, new)
    assert search._shortest(0, len(old), 0, len(new), len(old) + len(new))
    assert sum(count for _, _, count in search._runs) == lengths[-1][-1]


def test_an_edit_in_a_long_file_costs_less_than_splitting_the_file():
    lines = numbered(50_000)
    before = "".join(lines)
    lines[25_000] = "changed\n"
    after = "".join(lines)
    split = min(cpu_seconds(lambda: before.splitlines(keepends=True)) for _ in range(5))
    edit = min(cpu_seconds(lambda: make_diff("f", before, after)) for _ in range(5))
    assert edit < 2 * split


@pytest.mark.parametrize("variety", [1, 3, 100, 10_000_000])
def test_a_rewrite_costs_in_proportion_to_its_length(variety):
    def rewrite(count: int) -> FileDiff:
        old = "".join(f"old {number * 7919 % variety}\n{'}' * (number % 3)}\n" for number in range(count))
        new = "".join(f"new {number * 7907 % variety}\n{'}' * (number % 2)}\n" for number in range(count))
        return make_diff("f", old, new)

    small = min(cpu_seconds(lambda: rewrite(1_000)) for _ in range(3))
    large = min(cpu_seconds(lambda: rewrite(10_000)) for _ in range(2))
    assert large < 30 * small + 0.05


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=300)
@example("foo(a, b)", "foo(a, c, b)")
@example("  x  y ", "  x  z ")
def test_marked_words_are_all_that_differs(old, new):
    old_spans, new_spans = word_spans(old, new)

    def unmarked(text: str, spans: tuple[tuple[int, int], ...]) -> str:
        kept, at = [], 0
        for start, end in spans:
            assert at <= start < end <= len(text)
            kept.append(text[at:start])
            at = end
        return "".join([*kept, text[at:]])

    if old_spans or new_spans:
        assert unmarked(old, old_spans) == unmarked(new, new_spans)


def test_only_the_word_that_changed_is_marked():
    assert word_spans("total = count + 1\n", "total = amount + 1\n") == (((8, 13),), ((8, 14),))


def test_neighbouring_changed_words_share_one_mark():
    assert word_spans("keep(one two, rest)", "keep(uno due, rest)") == (((5, 12),), ((5, 12),))


def paired(old, new):
    lines = make_diff("a", old, new).hunks[0].lines
    return {
        (lines[at].text.strip(), lines[to].text.strip())
        for at, to in line_pairs(lines).items()
        if lines[at].kind is LineKind.REMOVED
    }


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("t = a + b * 3\n", "t = a - b * 3\nlog(t)\n", {("t = a + b * 3", "t = a - b * 3")}),
        ("t = a + b * 3\n", "log(t)\nt = a - b * 3\n", {("t = a + b * 3", "t = a - b * 3")}),
        ("x = 1\ncall(a, b)\n", "call(a, c)\n", {("call(a, b)", "call(a, c)")}),
        (
            "f(one)\ng(two)\n",
            "f(One)\nh()\ng(Two)\n",
            {("f(one)", "f(One)"), ("g(two)", "g(Two)")},
        ),
        ("alpha\n", "beta\ngamma\n", set()),
        ("  \n", "a\nb\n", set()),
    ],
)
def test_of_unequal_stretches_the_lines_most_alike_are_paired_in_order(old, new, pairs):
    assert paired(old, new) == pairs


@given(st.lists(st.text("ab ("), max_size=6), st.lists(st.text("ab ("), max_size=6))
def test_each_line_has_one_partner_at_most_and_no_pairs_cross(old, new):
    for hunk in make_diff("a", "\n".join(old), "\n".join(new)).hunks:
        pairs = line_pairs(hunk.lines)
        assert all(pairs[to] == at for at, to in pairs.items())
        news = [pairs[at] for at in sorted(pairs) if hunk.lines[at].kind is LineKind.REMOVED]
        assert news == sorted(news)


def test_pairing_a_hunk_of_many_unequal_stretches_costs_little():
    lines = [
        DiffLine(kind=kind, text=f"{kind.name} value_{number} = compute(a, b, {number})\n")
        for number in range(10_000)
        for kind in (LineKind.REMOVED, LineKind.ADDED, LineKind.ADDED, LineKind.SAME)
    ]
    assert_takes_less(0.08, lambda: line_pairs(lines))


def test_lines_with_nothing_in_common_get_no_marks():
    assert word_spans("import os", "x = compute(17)") == ((), ())


@pytest.mark.parametrize(
    ("old", "new"),
    [("(" * 2_000, "[" + "(" * 1_998 + "]"), ("(){}" * 500, "}{)(" * 500), ("a b " * 500, "b c a " * 333)],
)
def test_marking_words_of_a_hard_line_takes_milliseconds(old, new):
    assert_takes_less(0.1, lambda: word_spans(old, new))
