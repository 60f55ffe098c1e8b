from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from codeagent.tui.widgets.markdown_stream import MarkdownStream, Part

SAMPLE = """\
# Title
Some words
on two lines.

- one
- two

  still two
- three
```python
def f():

    return 1
```
1. first
   - inner

   ```
   - not an item
   ```
2. second

3. third
> quote
> goes on

| a | b |
| - | - |
| 1 | 2 |

***
end"""


def parts_of(text: str, cuts: list[int] | None = None) -> list[Part]:
    stream = MarkdownStream()
    edges = [0, *sorted(cuts or []), len(text)]
    parts = [part for start, end in pairwise(edges) for part in stream.feed(text[start:end])]
    return parts + stream.finish()


def test_paragraphs_items_fences_and_tables_are_parts_of_their_own():
    assert [part.source.split("\n")[0] for part in parts_of(SAMPLE)] == [
        "# Title",
        "Some words",
        "- one",
        "- two",
        "- three",
        "```python",
        "1. first",
        "2. second",
        "3. third",
        "> quote",
        "| a | b |",
        "***",
        "end",
    ]


@given(st.lists(st.integers(0, len(SAMPLE)), max_size=20))
def test_it_does_not_matter_how_the_text_arrives(cuts):
    assert parts_of(SAMPLE, cuts) == parts_of(SAMPLE)


@given(st.text(st.sampled_from("-*`~#>|1. \nab"), max_size=80))
def test_no_line_that_says_something_is_lost(text):
    kept = "\n".join(part.source for part in parts_of(text))
    assert [line.rstrip("\r") for line in kept.split("\n") if line.strip()] == [
        line for line in text.split("\n") if line.strip()
    ]


def test_items_without_an_empty_line_between_stand_close():
    assert [part.is_close for part in parts_of("- a\n- b\n\n- c\n\nwords")] == [False, True, False, False]


def test_a_numbered_list_counts_on_whatever_the_source_says():
    assert [part.number for part in parts_of("1. a\n1. b\n1. c\n\nwords\n\n7. d")] == [1, 2, 3, None, 7]


def test_a_fence_keeps_its_empty_lines_and_looks_like_lists():
    source = "````\n- a\n\n```\n# b\n````"
    assert [part.source for part in parts_of(source)] == [source]


def test_only_the_unfinished_part_is_the_tail():
    stream = MarkdownStream()
    done = stream.feed("first\n\nsecond goes")
    assert ([part.source for part in done], stream.tail.source) == (["first"], "second goes")


def test_a_fence_being_written_gives_its_whole_lines():
    stream = MarkdownStream()
    stream.feed("```python\na = 1\nb = 2\nc =")
    assert (stream.code, stream.code_lines(1, 2), stream.partial) == (("python", 2), "b = 2", "c =")


def test_a_paragraph_after_a_list_is_told_apart_before_its_line_ends():
    stream = MarkdownStream()
    done = stream.feed("- a\n\nwor")
    assert ([part.source for part in done], stream.tail.source) == (["- a"], "wor")


def test_code_between_triple_backticks_within_a_line_is_no_fence():
    assert [part.source for part in parts_of("```x``` is\n\nwords")] == ["```x``` is", "words"]
