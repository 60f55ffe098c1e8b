import pytest

from codeagent.tui.later import language_of
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.code_lines import CodeRows, code_block_lines, highlight
from codeagent.tui.widgets.inks import inks_of
from tests.effort import assert_takes_less

DARK = load_themes()["dark"]
INKS = inks_of(DARK)


def texts(code: str, language: str) -> list[str]:
    return ["".join(piece.text for piece in line) for line in highlight(code, language, DARK)]


@pytest.mark.parametrize("language", ["python", "bash", "json", "html", "no-such-language", ""])
def test_no_language_changes_what_is_written(language):
    code = "\n  if x:\n\n    'a' # b\n"
    assert texts(code, language) == code.split("\n")


def test_words_of_the_language_have_their_colours():
    (line,) = highlight("def total(): return 'x'  # why", "python", DARK)
    colours = {piece.text: piece.style.color.name for piece in line if piece.style.color is not None}
    assert (colours["def"], colours["total"], colours["# why"]) == (
        DARK.code.keyword,
        DARK.code.function,
        DARK.code.comment,
    )


def test_tabs_become_blanks_and_escapes_go():
    assert texts("\ta\x1b[31mb", "python") == ["    ab"]


def test_a_file_name_tells_the_language():
    assert [language_of(name) for name in ("a/b.py", "Dockerfile", "x.unknown")] == ["python", "docker", ""]


def test_endless_lines_are_left_plain():
    (line,) = highlight("x = 1; " * 2_000, "python", DARK)
    assert len(line) == 1


@pytest.mark.parametrize("width", [9, 20, 60])
@pytest.mark.parametrize(
    "code",
    [
        "",
        "x = 1",
        "\n\n",
        "\tif a:\n\t\treturn b",
        "a" * 70,
        "  f(one, two, three)  # four " * 4,
        "一二三四五六七" * 4,
        "a\u202eb" * 9,
    ],
)
def test_how_many_rows_code_has_is_known_before_it_is_coloured(code, width):
    rows = CodeRows(code, "python", width, INKS)
    assert len(rows) == len([rows[row] for row in range(len(rows))])
    assert [line.text for line in rows] == [line.text for line in code_block_lines(code, "python", width, INKS)[1:-1]]


def test_long_code_is_coloured_where_it_is_looked_at():
    code = "def total(a): return 'x'  # why\n" * 6_000

    def look() -> None:
        rows = code_block_lines(code, "python", 90, INKS)
        assert rows[4_000].text.strip() == "def total(a): return 'x'  # why"
        assert len({piece.style for piece in rows[4_000].pieces}) > 3

    assert_takes_less(0.1, look)
