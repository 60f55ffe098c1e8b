from hypothesis import given
from hypothesis import strategies as st

from codeagent.tui.widgets.heights import Heights

changes = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=40)


def naive_find(heights: list[int], row: int) -> tuple[int, int]:
    for index, height in enumerate(heights):
        if row < height:
            return index, row
        row -= height
    return len(heights), row


@given(st.lists(st.integers(0, 9), max_size=30), st.lists(st.integers(0, 9), max_size=10), changes, st.integers(0, 200))
def test_any_row_finds_its_block_after_any_changes(first, more, changed, row):
    heights, expected = Heights(first), list(first)
    for height in more:
        heights.append(height)
        expected.append(height)
    for index, height in changed:
        if index < len(expected):
            heights.set(index, height)
            expected[index] = height
    assert heights.find(row) == naive_find(expected, row)
    assert heights.total == sum(expected)
    assert [heights.top(index) for index in range(len(expected))] == [sum(expected[:i]) for i in range(len(expected))]
