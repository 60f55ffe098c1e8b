"""Makes the README's pictures from the real program: ``python -m tests.pictures``.

The demo is played in a terminal, and what a person sees is kept as SVG: one file a
moment, and one that plays all moments in turn.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from tests.journeys.terminal import Cell, Terminal

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".github"
COLUMNS, LINES = 100, 30
_WIDE, _HIGH, _MARGIN, _SIZE = 8.4, 18, 14, 14
_FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_WITHOUT_FRAMES = str.maketrans("─│╭╮╰╯", " " * 6)
_FOREGROUND, _BACKGROUND = "#d8dee9", "#16181d"


@dataclass(frozen=True)
class Frame:
    """What is seen for ``seconds``; ``cells`` by line."""

    cells: tuple[tuple[Cell, ...], ...]
    seconds: float


def play() -> tuple[list[Frame], Mapping[str, Frame]]:
    """Goes through the demo as a person would: all frames in turn, and those that are pictures of their own."""
    frames: list[Frame] = []
    kept: dict[str, Frame] = {}
    with tempfile.TemporaryDirectory() as home:
        environ = {"CODEAGENT_HOME": f"{home}/.codeagent", "HOME": home, "TMPDIR": home, "PYTHONPATH": str(ROOT)}
        words = [sys.executable, "-m", "codeagent", "demo"]
        with Terminal(words, cwd=Path(home), environ=environ, columns=COLUMNS, lines=LINES) as terminal:

            def see(seconds: float, name: str = "") -> None:
                terminal.pump(0.8)
                frames.append(Frame(cells=terminal.cells, seconds=seconds))
                if name:
                    kept[name] = frames[-1]

            terminal.wait("y approve")
            see(2.5)
            terminal.press("y")
            terminal.wait("1 \\+ self.discount")
            terminal.wait("y approve")
            see(4.0, "approval")
            terminal.press("y")
            terminal.wait("test_everything_off")
            terminal.wait("y approve")
            see(2.0)
            terminal.press("t")
            terminal.pump(0.8)
            terminal.type("fix the code, keep the test")
            see(2.5)
            terminal.press("enter")
            terminal.wait("long_check.py")
            terminal.wait("y approve")
            see(1.5)
            terminal.press("y")
            terminal.wait("running|waiting")
            terminal.pump(1.5)
            terminal.type("also cover negative discounts")
            see(2.0)
            terminal.press("enter")
            see(3.0, "steering")
            terminal.wait("y approve", 30)
            see(1.5)
            terminal.press("y")
            terminal.wait("F1", 30)
            see(4.0)
    return frames, kept


def drawing(frames: Sequence[Frame]) -> str:
    """One SVG of all frames, one after the other without end; a line that stays the same is drawn once."""
    length = sum(frame.seconds for frame in frames)
    starts = [sum(frame.seconds for frame in frames[:number]) for number in range(len(frames))]
    seen: dict[tuple[int, tuple[Cell, ...]], list[int]] = {}
    for number, frame in enumerate(frames):
        for line, cells in enumerate(frame.cells):
            seen.setdefault((line, cells), []).append(number)
    styles: dict[tuple[int, ...], str] = {}
    body: list[str] = []
    for (line, cells), numbers in seen.items():
        drawn = "".join(_line(cells))
        if not drawn:
            continue
        name = ""
        if len(numbers) < len(frames):
            name = f' class="{styles.setdefault(tuple(numbers), f"f{len(styles)}")}"'
        body.append(f'<g{name} transform="translate({_MARGIN},{_MARGIN + line * _HIGH})">{drawn}</g>')
    rules = [f"text{{font:{_SIZE}px {_FONT}}}.b{{font-weight:bold}}.i{{font-style:italic}}.l{{fill:none}}"]
    for numbers, name in styles.items():
        steps = [f"{100 * starts[n] / length:.2f}%{{opacity:{int(n in numbers)}}}" for n in range(len(frames))]
        rules.append(f"@keyframes {name}{{{''.join(steps)}}}")
        rules.append(f".{name}{{opacity:{int(0 in numbers)};animation:{name} {length:g}s step-end infinite}}")
    wide, high = 2 * _MARGIN + COLUMNS * _WIDE, 2 * _MARGIN + LINES * _HIGH
    size = f'viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
    ground = f'<rect width="100%" height="100%" rx="8" fill="{_BACKGROUND}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} fill="{_FOREGROUND}"><style>{"".join(rules)}</style>'
    return f"{head}{ground}{''.join(body)}</svg>\n"


def _line(cells: Sequence[Cell]) -> Iterator[str]:
    """The backgrounds of a line, then its text in runs of one look; each run stands where its first cell does."""
    columns = list(enumerate(cells))
    for background, run in groupby(columns, key=lambda cell: cell[1].background):
        if background:
            ((first, _), *rest) = run
            place = f'x="{first * _WIDE:.1f}" width="{(len(rest) + 1) * _WIDE:.1f}" height="{_HIGH}"'
            yield f'<rect {place} fill="{background}"/>'
    for (foreground, classes), run in groupby(columns, key=lambda cell: (cell[1].foreground, _classes(cell[1]))):
        found = list(run)
        text = "".join(cell.text for _, cell in found)
        if frame := _frame(text, found[0][0]):
            yield f'<path class="l" stroke="{foreground or _FOREGROUND}" d="{frame}"/>'
        look = (f' fill="{foreground}"' if foreground else "") + (f' class="{classes}"' if classes else "")
        for words in re.finditer(r"\S+(?: \S+)*", text.translate(_WITHOUT_FRAMES)):
            left, width = (found[0][0] + words.start()) * _WIDE, len(words[0]) * _WIDE
            place = f'x="{left:.1f}" y="{_HIGH - 5}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
            yield f"<text {place}{look}>{escape(words[0])}</text>"


def _classes(cell: Cell) -> str:
    return " ".join(["b"] * cell.is_bold + ["i"] * cell.is_italic)


def _frame(text: str, column: int) -> str:
    """Rules and corners as lines from edge to edge, which no font draws without gaps; a path, empty for none."""
    drawn: list[str] = []
    for found in re.finditer("─+|[│╭╮╰╯]", text):
        left, middle = (column + found.start()) * _WIDE, _HIGH / 2
        x = left + _WIDE / 2
        drawn.append(
            {
                "─": f"M{left:.1f} {middle:g}h{len(found[0]) * _WIDE:.1f}",
                "│": f"M{x:.1f} 0v{_HIGH}",
                "╭": f"M{x:.1f} {_HIGH}v-{middle - 4:g}q0 -4 4 -4h{_WIDE / 2 - 4:.1f}",
                "╮": f"M{x:.1f} {_HIGH}v-{middle - 4:g}q0 -4 -4 -4h-{_WIDE / 2 - 4:.1f}",
                "╰": f"M{x:.1f} 0v{middle - 4:g}q0 4 4 4h{_WIDE / 2 - 4:.1f}",
                "╯": f"M{x:.1f} 0v{middle - 4:g}q0 4 -4 4h-{_WIDE / 2 - 4:.1f}",
            }[found[0][0]]
        )
    return "".join(drawn)


def main() -> None:
    """Writes the pictures into ``.github``."""
    frames, kept = play()
    (PLACE / "demo.svg").write_text(drawing(frames))
    for name, frame in kept.items():
        (PLACE / f"{name}.svg").write_text(drawing([frame]))


if __name__ == "__main__":
    main()
