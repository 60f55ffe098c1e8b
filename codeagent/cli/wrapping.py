"""Sentences on a terminal: broken between words, and hung under where they begin."""

from __future__ import annotations

import os
import textwrap
from typing import TextIO

_NARROWEST = 40


def wrapped(text: str, stream: TextIO, *, hang: int = 0) -> str:
    """The text as lines that fit the terminal behind ``stream``, the further ones ``hang`` cells in.

    Where it is no terminal the text stays as it is, as what reads it may look for whole lines.
    """
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return text
    return "\n".join(
        textwrap.fill(
            line,
            max(width, _NARROWEST),
            subsequent_indent=" " * hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.split("\n")
    )
