"""Reads ignore files the way git does (see gitignore(5)), one decision for each path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from codeagent.tools.pattern import path_regex


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRule:
    """One line: which paths it is about, and whether it takes them out or brings them back."""

    form: str
    brings_back: bool


class IgnoreFile:
    """The rules of one ignore file, for paths relative to its folder; the last one that fits decides."""

    def __init__(self, rules: Iterable[IgnoreRule]) -> None:
        rules = list(rules)
        self._any = re.compile("|".join(f"(?:{rule.form})" for rule in rules) or r"(?!)", re.DOTALL)
        self._last_first = [(re.compile(rule.form, re.DOTALL), rule.brings_back) for rule in reversed(rules)]

    def is_ignored(self, path: str) -> bool | None:
        """Whether the path is ignored, None when nothing is said of it; a folder's path ends with a slash.

        Only rules about the path itself count: what lies in an ignored folder is never asked about.
        """
        if not self._any.fullmatch(path):
            return None
        return next((not brings_back for form, brings_back in self._last_first if form.fullmatch(path)), None)


def read_ignore_file(text: str) -> IgnoreFile:
    """The rules in the text of an ignore file; lines that make no pattern are passed over."""
    rules = (_rule(line) for line in text.removeprefix("\ufeff").split("\n"))
    return IgnoreFile([rule for rule in rules if rule is not None])


def _rule(line: str) -> IgnoreRule | None:
    line = line.rstrip("\r")
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    brings_back = line.startswith("!")
    line = line.removeprefix("!")
    is_for_folders = line.endswith("/")
    line = line.removesuffix("/")
    anchor = "" if "/" in line else "(?:.*/)?"
    line = line.removeprefix("/")
    form = f"{anchor}{path_regex(line)}{'/' if is_for_folders else '/?'}"
    try:
        re.compile(form)
    except re.error:
        return None
    return IgnoreRule(form=form, brings_back=brings_back) if line else None
