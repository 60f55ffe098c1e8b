"""Folders outside the workspace that the settings name."""

from __future__ import annotations

from pathlib import Path

from codeagent.config.settings import Settings


def write_folders(settings: Settings) -> list[Path]:
    """Folders outside the workspace that confined commands may write to, by the settings."""
    return [Path(folder).expanduser() for folder in (*settings.sandbox.write_dirs, *settings.permissions.add_dirs)]


def missing_folders(settings: Settings) -> tuple[str, ...]:
    """A notice for each folder outside the workspace that was named and is none."""
    return tuple(
        f"There is no directory {folder}, so nothing there belongs to the workspace; --add-dir or add_dirs names it."
        for folder in settings.permissions.add_dirs
        if not Path(folder).expanduser().is_dir()
    )
