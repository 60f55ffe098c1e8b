import pytest

from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.column import Column
from codeagent.tui.widgets.inks import inks_of
from codeagent.tui.widgets.live_reply import LiveReply
from tests.effort import assert_takes_less

INKS = inks_of(load_themes()["dark"])
SAMPLE = """\
# Title

Some *words* that go on and on until the line is full.

- one
- two

```python
def f():
    return 1

x = 2
```

| a | b |
| - | - |
| 1 | 2 |

end"""


def shown(column: Column) -> list[str]:
    column.settle_end(10_000)
    return [column.line(row).text.rstrip() for row in range(column.height)]


def streamed(text: str, step: int) -> Column:
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    for start in range(0, len(text), step):
        reply.write(text[start : start + step])
        reply.flush()
        column.settle_end(100)
    reply.end()
    return column


def test_what_is_long_becomes_blocks_at_once_so_that_the_end_of_megabytes_has_no_more_to_do_than_any_end():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    assert reply.write("word\n\n" * 100) is None
    assert len(column) == 0
    assert reply.write("word\n\n" * 20_000) == 0
    assert len(column) == 20_100


@pytest.mark.parametrize("step", [1, 7, 50])
def test_however_it_streams_it_ends_the_same(step):
    assert shown(streamed(SAMPLE, step)) == shown(streamed(SAMPLE, len(SAMPLE)))


def test_the_height_never_jumps_back_while_code_streams():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    heights: list[int] = []
    for character in "```python\n" + "x = 1\n" * 60 + "```\n":
        reply.write(character)
        reply.flush()
        column.settle_end(100)
        heights.append(column.height)
    assert heights[10:] == sorted(heights[10:])


def test_code_being_written_looks_as_it_will_when_it_is_finished():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    reply.write("```python\n" + "x = 1\n" * 30)
    reply.flush()
    live = shown(column)
    reply.write("```\n")
    reply.end()
    assert shown(column) == live


def test_finished_blocks_are_never_touched_again():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    reply.write("first\n\nsecond")
    reply.flush()
    first = column.block(0)
    reply.write(" goes on\n\nthird")
    assert reply.flush() == 1
    assert column.block(0) is first


def test_a_discarded_reply_leaves_nothing():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    reply.think("hm")
    reply.write("first\n\nsecond")
    reply.flush()
    reply.discard()
    assert column.height == 0


def test_thinking_and_words_keep_their_order():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    reply.write("before")
    reply.think("let me see")
    reply.write("after")
    reply.end()
    assert [line.strip() for line in shown(column) if line] == ["before", "Thought  let me see", "after"]


def test_the_heading_of_thinking_is_painted_anew_when_words_follow():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    thinking = reply.think("let me see")
    reply.write("the answer")
    assert reply.flush() == thinking
    reply.write(" goes on")
    assert reply.flush() == thinking + 1


def test_text_that_was_held_back_is_told_of_when_the_reply_ends():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    reply.write("``")
    reply.flush()
    assert (len(column), reply.end(), len(column)) == (0, 0, 1)


@pytest.mark.parametrize("step", [1, 3])
def test_a_table_is_never_shown_as_it_is_written(step):
    text = "Before.\n\n| name | size |\n| :-- | --: |\n| one | 12 |\n"
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    for start in range(0, len(text), step):
        reply.write(text[start : start + step])
        reply.flush()
        rows = shown(column)
        assert not any("| name" in row or "--" in row for row in rows), rows
    assert rows[0].strip() == "Before."
    assert rows[-3].split() == ["name", "size"]


@pytest.mark.parametrize("text", ["| no table", "| no table\nsince this is none", "| no | table |\n--- so", "| a |\n"])
def test_what_only_begins_like_a_table_is_shown_in_the_end(text):
    column = streamed(text, 1)
    assert " ".join(shown(column)).split() == text.split()


def test_a_long_line_that_begins_like_a_table_is_shown_as_it_comes():
    column = Column(INKS, 40)
    reply = LiveReply(column, None)
    reply.write("| " + "word " * 300)
    reply.flush()
    assert shown(column)


@pytest.mark.parametrize(
    ("begins", "goes_on", "most"),
    [
        ("", "and so on, ", 100_000),
        ("- ", "一二三 ", 40_000),
        ("", "one line of many\n", 100_000),
        ("```python\n", "x = f(1)\n", 200_000),
    ],
    ids=["one line", "wide signs", "many lines", "code"],
)
def test_of_megabytes_that_are_being_written_the_beginning_is_shown_and_the_rest_counted(begins, goes_on, most):
    pieces = [begins, *[goes_on * (8_000 // len(goes_on))] * 200]
    column = Column(INKS, 90)

    def write() -> None:
        nonlocal column
        column = Column(INKS, 90)
        reply = LiveReply(column, None)
        for piece in pieces:
            reply.write(piece)
            reply.flush()
            column.settle_end(40)

    assert_takes_less(2.0, write)
    told = column.line(column.height - 1).text.strip()
    assert told.endswith("more characters: /copy takes them too")
    shown = sum(map(len, pieces)) - int(told.removeprefix("… ").partition(" ")[0].replace(",", ""))
    assert abs(shown - most) < 100
