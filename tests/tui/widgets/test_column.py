from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.blocks import Kind, PersonBlock, TextBlock
from codeagent.tui.widgets.column import Column, Place, gap_between
from codeagent.tui.widgets.inks import inks_of
from tests.effort import assert_takes_less

INKS = inks_of(load_themes()["dark"])
WORDS = "several words that take more than a single row when the screen is narrow"


def column_of(*sources: str, width: int = 30) -> Column:
    column = Column(INKS, width)
    for source in sources:
        column.append(TextBlock(source), 1 if len(column) else 0)
    column.settle_end(1_000)
    return column


def shown(column: Column) -> list[str]:
    return [column.line(row).text.strip() for row in range(column.height)]


def test_blocks_stand_below_each_other_with_their_gaps():
    assert shown(column_of("one", "two", "three")) == ["one", "", "two", "", "three"]


def test_a_block_taken_out_leaves_no_row():
    column = column_of("one", "two", "three")
    column.replace(1, None)
    assert shown(column) == ["one", "", "three"]


def test_only_what_is_near_is_drawn_and_kept():
    column = column_of(*[f"block {number}" for number in range(3_000)], width=30)
    column.reshape(INKS, 40)
    column.settle(3_000, 40)
    assert column.drawn_count <= 100


def test_looking_everywhere_keeps_only_some_blocks_drawn():
    column = column_of(*[f"block {number}" for number in range(2_000)])
    assert column.drawn_count <= 128


def test_looking_at_long_blocks_keeps_few_of_them_drawn():
    column = column_of(*["```\n" + "code\n" * 100 + "```" for _ in range(200)])
    assert sum(len(column.lines(index)) for index in range(len(column))) > 20_000
    assert column.drawn_count == 64


def test_looking_at_everything_keeps_only_some_screens_of_rows_ready():
    column = column_of(*[f"block {number}" for number in range(1_000)], "```\n" + "code\n" * 3_000 + "```")
    first = [column.strip(row).text for row in range(column.height)]
    assert column.strip_count <= 240
    assert [column.strip(row).text for row in range(column.height)] == first
    column.reshape(INKS, 40)
    assert column.strip_count == 0


def test_rows_of_a_block_that_changed_are_not_kept_ready():
    column = column_of("one", "two", "three")
    for row in range(column.height):
        column.strip(row)
    kept = column.strip_count
    column.replace(1, TextBlock("other"))
    assert column.strip_count == kept - 1


def test_a_row_keeps_its_text_when_blocks_above_turn_out_higher_than_guessed():
    column = Column(INKS, 30)
    for number in range(200):
        column.append(TextBlock(f"# {number}\n\n```\na\nb\n```"), 1)
    row = column.settle(300, 20)
    assert row == column.settle(row, 20)
    before = column.line(row + 3).text
    assert column.line(column.settle(row, 20) + 3).text == before


def test_the_same_words_are_at_the_top_after_the_width_changed():
    column = column_of(*[WORDS * 3] * 20)
    row = column.settle(77, 10)
    words = column.line(row).text.split()
    anchor = column.anchor(row)
    assert anchor is not None
    column.reshape(INKS, 47)
    assert words[0] in column.line(column.row_of(anchor)).text.split()


def test_copying_over_blocks_gives_words_without_wraps_and_margins():
    column = column_of(WORDS, "- a\n- b", "```\nx = 1\n\ny\n```")
    assert column.text(Place(0, 0, 0), Place(2, 99, 0)) == f"{WORDS}\n\n- a\n- b\n\nx = 1\n\ny"


def test_copying_begins_and_ends_within_a_line():
    column = column_of("one two", "three four")
    assert column.text(Place(0, 0, 3 + 4), Place(1, 0, 3 + 5)) == "two\n\nthree"


def test_what_the_person_said_copies_as_typed():
    column = Column(INKS, 20)
    column.append(PersonBlock("mend  the totals,\nplease, all of them", "seen later"), 0)
    assert column.text(Place(0, 0), Place(0, 99)).startswith("mend  the totals,\nplease, all of them")


def test_marked_characters_are_drawn_on_the_selection():
    column = column_of("one two")
    strip = column.strip(0, (Place(0, 0, 3), Place(0, 0, 6)))
    marked = [
        segment.text
        for segment in strip
        if segment.style is not None and segment.style.bgcolor == INKS.selected.bgcolor
    ]
    assert marked == ["one"]


def test_calls_stand_close_and_words_apart():
    assert (gap_between(Kind.TOOL, Kind.TOOL), gap_between(Kind.TOOL, Kind.TEXT), gap_between(None, Kind.TEXT)) == (
        0,
        1,
        0,
    )


def test_of_megabytes_that_the_person_said_the_beginning_is_shown_and_all_of_them_found():
    block = PersonBlock("word " * 1_000_000 + "end", "seen later")
    assert_takes_less(0.2, lambda: PersonBlock("word " * 1_000_000).lines(80, INKS))
    *_, told, note = block.lines(80, INKS)
    assert told.text.strip() == "… 4,900,003 more characters: all of it is sent"
    assert note.text.strip() == "seen later"
    assert block.words().endswith("word end\nseen later")
