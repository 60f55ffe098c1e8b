"""``codeagent config``: the settings in force and where each one comes from."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codeagent.config.places import find_places, project_config_file
from codeagent.config.settings import Settings
from codeagent.config.sources import load_settings
from codeagent.core.text import clean
from codeagent.policy.trust import is_trusted


def run(words: Sequence[str]) -> int:
    """Prints the settings file's place and every setting; returns the exit code."""
    parser = argparse.ArgumentParser(prog="codeagent config", description="The settings in force.")
    parser.add_argument("--path", action="store_true", help="print only where your settings file is")
    found = parser.parse_args(words)
    places = find_places(os.environ)
    if found.path:
        print(places.config_file)
        return 0
    root = Path.cwd()
    loaded = load_settings(places, root, os.environ, {}, is_trusted=is_trusted(root, places.trust_file))
    state = "" if places.config_file.is_file() else "  (not there yet)"
    print(f"# yours:   {places.config_file}{state}")
    project = project_config_file(root)
    if project.is_file():
        print(f"# project: {project}")
    for line in settings_lines(loaded.settings, loaded.origins):
        print(clean(line))
    for notice in loaded.notices:
        print(f"# {clean(notice)}")
    return 0


def settings_lines(settings: Settings, origins: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The settings as lines of TOML, with their source where it is not the default."""
    tables: dict[str, dict[str, object]] = settings.model_dump(mode="json")
    for table, values in tables.items():
        yield ""
        yield f"[{table}]"
        for key, value in values.items():
            origin = origins.get((table, key))
            note = f"  # {origin}" if origin else ""
            yield f"# {key} is not set" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}{note}"
