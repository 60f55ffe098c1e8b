"""Tells whether a repository's settings name a program that git would start, or make it read elsewhere.

Settings are read line by line in the plain form that git itself writes
(git-config(1), "Syntax"); whatever is written in another way counts as naming one.
"""

from __future__ import annotations

import re
from pathlib import Path

from codeagent.workspace.git_places import is_there

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffd]")
"""Characters that git does not write into its own files."""

_LARGEST_CONFIG = 256 * 1024
_SECTION = re.compile(r"[ \t]*\[([A-Za-z0-9-]+)(?:\.[A-Za-z0-9.-]+)?(?:[ \t]+\"([^\"\\]*)\")?\][ \t]*(?:[#;].*)?")
_SETTING = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)[ \t]*(.*?)[ \t]*)?")
_PLAIN_PATH = re.compile(r"[\w./ @+-]+")
_SWITCH = frozenset({"true", "false", "yes", "no", "on", "off", "0", "1", ""})
_SECTIONS = frozenset({"filter", "include", "includeif", "gpg", "protocol"})
_NAMES = frozenset(
    {"external", "textconv", "showsignature", "program", "command", "alternaterefscommand", "sshcommand"}
    | {"gitproxy", "partialclone", "promisor", "partialclonefilter", "uploadpack", "vcs"}
)
_COMPARES_PARENTS = frozenset(
    {"off", "none", "1", "first-parent", "separate", "m", "on", "combined", "c", "dense-combined", "cc"}
)
"""Ways of showing a merge that do not do it once more, by merge drivers."""

_OUTDATED = frozenset({"whatchanged", "pack-redundant"})
"""Commands that git is about to drop, in the place of which an alias may stand since 2.52."""


def program_in(config: Path, *, is_nested: bool, work_tree: Path | None = None) -> str:
    """Why a file of settings could make git start a program, or an empty string. Raises OSError.

    ``is_nested``: of a repository inside another one, where hooks cannot be switched off from outside.
    ``work_tree``: where the repository's files lie; settings by which git reads other ones count as well.
    """
    if not is_there(config):
        return ""
    with config.open("rb") as file:
        data = file.read(_LARGEST_CONFIG + 1)
    text = data.decode("utf-8", "replace")
    if len(data) > _LARGEST_CONFIG or CONTROL.search(text):
        return f"the repository's settings ({config}) are too large or hold characters that do not belong there"
    section = subsection = ""
    for line in text.split("\n"):
        plain = line.strip(" \t")
        if not plain or (plain.startswith(("#", ";")) and not plain.endswith("\\")):
            continue
        if found := _SECTION.fullmatch(line):
            section, subsection = found[1].lower(), found[2] or ""
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None or line.endswith("\\"):
            return f"the repository's settings ({config}) are written in a way that hides what they say"
        name, value = setting[1].lower(), setting[3] if setting[2] else "true"
        if _runs_programs(section, name, value) or (is_nested and name == "hookspath"):
            where = ".".join(part for part in (section, subsection, name) if part)
            return f"the repository's settings ({config}) name programs that git runs: {where}"
        if work_tree and _reads_elsewhere(section, name, value, config, work_tree):
            return f"the repository's settings ({config}) make git read files elsewhere: {section}.{name}"
    return ""


def work_tree_in(config: Path) -> Path | None:
    """The folder that a repository's settings name as its work tree, as a submodule's do. Raises OSError."""
    section, found = "", None
    for line in config.read_text("utf-8", "replace").split("\n") if config.is_file() else ():
        if head := _SECTION.fullmatch(line):
            section = head[1].lower()
        elif section == "core" and (setting := _SETTING.fullmatch(line)) and setting[1].lower() == "worktree":
            found = (config.parent / (setting[3] or "")).resolve()
    return found


def _reads_elsewhere(section: str, name: str, value: str, config: Path, work_tree: Path) -> bool:
    """Whether git would compare files of another place, or show what a list there holds."""
    if (section, name) == ("blame", "ignorerevsfile"):
        return ".." in value or not _PLAIN_PATH.fullmatch(value) or value.startswith("/")
    if (section, name) != ("core", "worktree"):
        return False
    real, top = (config.parent / value).resolve(), work_tree.resolve()
    is_submodule = "modules" in config.parts and real.is_relative_to(top)
    return not _PLAIN_PATH.fullmatch(value) or not (real == top or is_submodule)


def _runs_programs(section: str, name: str, value: str) -> bool:
    return (
        section in _SECTIONS
        or name in _NAMES
        or (section == "core" and name == "fsmonitor" and value.lower() not in _SWITCH)
        or (section == "alias" and name in _OUTDATED)
        or (section == "merge" and name == "driver" and value.lower() not in _SWITCH)
        or (section == "log" and name == "diffmerges" and value.lower() not in _COMPARES_PARENTS)
        or (section == "diff" and name == "submodule" and value.lower() not in {"log", "short"})
        or (section == "remote" and name in {"url", "pushurl"} and "::" in value.replace('"', ""))
    )
