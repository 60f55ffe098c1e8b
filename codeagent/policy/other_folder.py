"""In which other folder a program looks for what its words name: ``make -C DIR``, ``tar --directory=DIR``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from codeagent.policy.options import names
from codeagent.policy.shell_places import moved
from codeagent.policy.shell_script import Places
from codeagent.policy.shell_words import Word

_GOING = names("-C --directory --chdir --cwd --prefix --working-directory --project-directory")


def elsewhere(words: Sequence[Word], places: Places | None) -> Places | None:
    """The places to which an option goes from ``places``; the same where none does."""
    for word, following in pairwise([*words, Word("")]):
        name, equals, value = word.text.partition("=")
        is_stuck = word.text.startswith("-C") and len(word.text) > len("-C")
        if name in _GOING or is_stuck:
            folder = Word(word.text[2:]) if is_stuck else Word(value) if equals else following
            flow = moved((Word("cd"), folder), places)
            places = flow.success if flow and folder.text else places
    return places
