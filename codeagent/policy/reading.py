"""What a harmless command reads."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.policy.shell_words import Word


@dataclass(frozen=True, slots=True)
class Reading:
    """The files that a command names.

    ``is_recursive`` when folders are read with all that is below, ignored and
    hidden files as well; ``only`` are patterns that narrow this down and ``follows_links``
    says that links below are followed. ``base`` is
    a folder the paths start from, if not the one where the command runs.
    """

    paths: tuple[Word, ...] = ()
    is_recursive: bool = False
    only: tuple[str, ...] = ()
    follows_links: bool = False
    base: Word | None = None
    uses_git: bool = False
