"""Which themes there are: those that come with the program, and the person's own, which replace them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

AUTO = "auto"
"""Dark or light, as the terminal is."""
_PACKAGE = Path(__file__).resolve().parent.parent


def theme_files(folders: Sequence[Path] = ()) -> dict[str, Path]:
    """The file of each theme by its name; ``folders`` are the person's own."""
    return {
        path.stem: path
        for folder in (_bundled(), *folders)
        for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem)
    }


def _bundled() -> Path:
    """The themes of the installed package, or those of the checkout it runs from."""
    inside = _PACKAGE / "themes"
    return inside if inside.is_dir() else _PACKAGE.parent / "themes"
