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
    ``is_shallow``: of a folder only the files right in it are read; ``skips_hidden``: hidden ones
    are left out, unless an ignore file brings them back; ``names_only``: files are listed, not read.
    ``shows_tracked``: contents of any file that git knows, in ``limits`` when there are any;
    ``lists_commits``: of commits only names are shown, so that nothing is where only commits are named;
    ``git_words`` is then the git command, its name first, and ``revisions`` what it names before ``--``.
    ``globs`` are all words in whose place the shell puts file names, wherever they stand.
    Files of the names ``steered_by`` choose which program runs. ``shows_addresses``: where other repositories are.
    """

    paths: tuple[Word, ...] = ()
    is_recursive: bool = False
    only: tuple[str, ...] = ()
    follows_links: bool = False
    base: Word | None = None
    uses_git: bool = False
    is_shallow: bool = False
    skips_hidden: bool = False
    names_only: bool = False
    shows_tracked: bool = False
    lists_commits: bool = False
    limits: tuple[Word, ...] = ()
    git_words: tuple[Word, ...] = ()
    revisions: tuple[Word, ...] = ()
    globs: tuple[Word, ...] = ()
    steered_by: tuple[str, ...] = ()
    shows_addresses: bool = False
