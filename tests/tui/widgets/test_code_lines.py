import pytest

from codeagent.tui.later import language_of
from codeagent.tui.themes import load_themes
from codeagent.tui.widgets.code_lines import highlight

DARK = load_themes()["dark"]


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
