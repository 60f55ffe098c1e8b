"""The top line: program, folder and branch on the left, model, mode and sandbox on the right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.widget import Widget

from codeagent.core.approvals import Mode
from codeagent.core.text import show_invisible
from codeagent.tui.widgets.status import mode_word


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """All that the top line shows; ``sandbox`` is None until it is known, empty when commands are confined."""

    root: Path
    branch: str = ""
    is_dirty: bool = False
    model: str = ""
    mode: Mode | None = None
    sandbox: str | None = None


class Header(Widget):
    """The top line with the rule below it."""

    DEFAULT_CSS = """
    Header { height: 2; padding: 0 1; border-bottom: solid $rule; color: $text-muted; }
    """

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.heading = Heading(root=root)

    def show(self, heading: Heading) -> None:
        """Shows another state."""
        if heading != self.heading:
            self.heading = heading
            self.refresh()

    def render(self) -> Content:
        """Both sides; the folder loses its beginning first when the line is too short."""
        heading, width = self.heading, self.size.width
        right = Content(" · ").stylize("$text-faint").join(self._right())
        name = Content.styled("codeagent", "bold $accent")
        branch = Content(show_invisible(heading.branch) + ("*" if heading.is_dirty else ""))
        room = width - name.cell_length - branch.cell_length - right.cell_length - 6
        folder = Content.styled(_shortened(show_invisible(from_home(heading.root)), max(room, 8)), "$text")
        left = Content("  ").join([part for part in (name, folder, branch) if part])
        gap = width - left.cell_length - right.cell_length
        if gap < 2:  # noqa: PLR2004 - two cells keep the sides apart
            right = right.truncate(max(width - left.cell_length - 2, 0), ellipsis=True)
            gap = max(width - left.cell_length - right.cell_length, 0)
        return Content.assemble(left, " " * gap, right).truncate(width, ellipsis=True)

    def _right(self) -> list[Content]:
        heading = self.heading
        parts: list[Content] = []
        if heading.model:
            parts.append(Content(show_invisible(heading.model.partition("/")[2] or heading.model)))
        if heading.mode is not None:
            parts.append(mode_word(heading.mode))
        if heading.sandbox is not None:
            parts.append(Content.styled("not sandboxed", "$warning") if heading.sandbox else Content("sandboxed"))
        return parts


def from_home(path: Path) -> str:
    """The path with ~ for the home folder."""
    home = Path.home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _shortened(path: str, width: int) -> str:
    """Keeps the end of a path, which says more than its beginning."""
    return path if len(path) <= width else f"…{path[-(width - 1) :]}"
