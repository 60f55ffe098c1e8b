"""The top line: program, folder and branch on the left, model, mode and sandbox on the right."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content
from textual.widget import Widget

from codeagent.core.approvals import Mode
from codeagent.core.first_words import NAME, end_of_path
from codeagent.core.text import show_invisible
from codeagent.core.values import value
from codeagent.tui.widgets.status import mode_word

_SHORTEST_FOLDER = 8
_SHORTEST_MODEL = 5


@value
class Heading:
    """All that the top line shows; ``sandbox`` is None until it is known, empty when commands are held as they should.

    ``held`` says how they are.
    """

    root: Path
    branch: str = ""
    is_dirty: bool = False
    model: str = ""
    effort: str = ""
    mode: Mode | None = None
    sandbox: str | None = None
    held: str = "sandboxed"


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
        """Both sides; what does not fit goes: model and folder are shortened, what is usual is left out."""
        heading, width = self.heading, self.size.width
        name = Content.styled(NAME, "bold $accent")
        branch = show_invisible(heading.branch)
        branch = branch if len(branch) <= width // 3 else f"{branch[: width // 3 - 1]}…"
        branch = Content(branch + ("*" if heading.is_dirty else ""))
        fixed = self._fixed()
        left_over = width - name.cell_length - branch.cell_length - 6
        while len(fixed) > 1 and sum(part.cell_length + 3 for part in fixed) > left_over - _SHORTEST_FOLDER:
            del fixed[-1 if not heading.sandbox else 0]
        room = left_over - sum(part.cell_length + 3 for part in fixed)
        model = show_invisible(heading.model.rstrip("/").rpartition("/")[2])
        folder = show_invisible(from_home(heading.root))
        most = max(room - min(len(folder), _SHORTEST_FOLDER), 0)
        if len(model) > most:
            model = f"{model[: most - 1]}…" if most >= _SHORTEST_MODEL else ""
        shown_folder = Content.styled(end_of_path(folder, max(room - len(model), _SHORTEST_FOLDER)), "$text")
        right = Content(" · ").stylize("$text-faint").join([part for part in (Content(model), *fixed) if part])
        places = [part for part in (shown_folder, branch) if part]
        while (left := Content("  ").join([name, *places])).cell_length + 2 + right.cell_length > width and places:
            places.pop()  # rather than cut once more
        gap = max(width - left.cell_length - right.cell_length, 2)
        return Content.assemble(left, " " * gap, right).truncate(width, ellipsis=True)

    def _fixed(self) -> list[Content]:
        """Effort, mode and sandbox, which are never shortened."""
        heading = self.heading
        parts: list[Content] = []
        if heading.effort:
            parts.append(Content(f"{show_invisible(heading.effort)} effort"))
        if heading.mode is not None:
            parts.append(mode_word(heading.mode))
        if heading.sandbox is not None:
            parts.append(Content.styled(heading.held, "$warning" if heading.sandbox else ""))
        return parts


def from_home(path: Path) -> str:
    """The path with ~ for the home folder."""
    home = Path.home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
