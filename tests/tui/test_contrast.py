"""Every pair of colours that is really drawn, as the pictures of the screens have it, can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.cells import cell_len

from tests.tui.test_themes import contrast

_ALL = sorted(Path(__file__).with_name("__snapshots__").rglob("*.svg"))
PICTURES = [path for path in _ALL if "[terminal" not in path.name]  # which has whatever colours the terminal has
LEAST = 4.5  # WCAG 2.2, 1.4.3: text
_CELL_WIDE, _CELL_HIGH = 12.2, 24.4
_DRAWN = re.compile(r"[─-╿▀-▟\s]")
_RECT = re.compile(
    r'<rect fill="(#[0-9a-f]{6})" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="[\d.]+" shape-rendering'
)
_TEXT = re.compile(r'<text class="[\w-]+-(r\d+)" x="([\d.]+)"[^>]*clip-path="url\(#[\w-]+-line-(\d+)\)">([^<]*)')
_STYLE = re.compile(r"\.[\w-]+-(r\d+) \{ fill: (#[0-9a-f]{6})")


class Cell(NamedTuple):
    """One character as it is drawn."""

    row: int
    column: int
    text: str
    colour: str
    ground: str


def cells(svg: str) -> Iterator[Cell]:
    """All characters of a picture that are no blanks."""
    colours = dict(_STYLE.findall(svg))
    grounds: dict[tuple[int, int], str] = {}
    for colour, x, y, width in _RECT.findall(svg):
        row, first = round((float(y) - 1.5) / _CELL_HIGH), round(float(x) / _CELL_WIDE)
        for column in range(first, first + round(float(width) / _CELL_WIDE)):
            grounds[row, column] = colour
    for style, x, line, words in _TEXT.findall(svg):
        row, column = int(line), round(float(x) / _CELL_WIDE)
        for character in unescape(words):
            if character.strip("\xa0 "):
                yield Cell(row, column, character, colours[style], grounds.get((row, column), ""))
            column += cell_len(character)


def to_be_read(found: list[Cell]) -> list[Cell]:
    """What stands in the window on top, when all around it is set back; else everything. Rules are no words."""
    corners = [cell for cell in found if cell.text in "╭╯"]
    name = [cell for cell in found if cell.row == 0 and cell.column == 1]
    if corners and name and contrast(name[0].colour, name[0].ground) < LEAST:
        (top, left), (bottom, right) = (corners[0].row, corners[0].column), (corners[-1].row, corners[-1].column)
        found = [cell for cell in found if top <= cell.row <= bottom and left <= cell.column <= right]
    return [cell for cell in found if not _DRAWN.match(cell.text)]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_all_words_in_the_pictures_can_be_read(path):
    found = to_be_read(list(cells(path.read_text(encoding="utf-8"))))
    assert len(found) > 50
    weak = {(cell.colour, cell.ground): cell for cell in found if contrast(cell.colour, cell.ground) < LEAST}
    assert {pair: (round(contrast(*pair), 2), cell.text, cell.row) for pair, cell in weak.items()} == {}
