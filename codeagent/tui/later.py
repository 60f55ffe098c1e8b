"""What the first frame does not need: the Markdown parser, the highlighter and the like, loaded when first used.

The one place among the screens where imports stand inside functions, because
the first frame is waited for and these are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Protocol


class MarkdownToken(Protocol):
    """A token of markdown-it, as far as it is drawn."""

    @property
    def type(self) -> str:
        """What it is, such as ``paragraph_open``."""
        ...

    @property
    def tag(self) -> str:
        """The HTML tag it stands for."""
        ...

    @property
    def nesting(self) -> int:
        """1 opens, -1 closes, 0 is by itself."""
        ...

    @property
    def content(self) -> str:
        """Its text."""
        ...

    @property
    def info(self) -> str:
        """The language of a fence."""
        ...

    @property
    def hidden(self) -> bool:
        """Whether its paragraph is not to be set off."""
        ...

    @property
    def attrs(self) -> Mapping[str, str | int | float]:
        """Addresses and alignment."""
        ...

    @property
    def children(self) -> Sequence[MarkdownToken] | None:
        """The tokens of inline text."""
        ...


class CodeToken(Protocol):
    """Pygments' kind of a token: a tree, by ``parent``, that writes itself as ``Token.Name.Class``."""

    @property
    def parent(self) -> CodeToken | None:
        """The more general kind; None above all."""
        ...


@cache
def markdown_parser() -> Callable[[str], Sequence[MarkdownToken]]:
    """Parses CommonMark with tables and strikethrough; HTML is text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    return parser.disable(["html_block", "html_inline"]).enable(["table", "strikethrough"]).parse


@lru_cache(maxsize=256)
def language_of(path: str) -> str:
    """The language of a file by its name, empty when unknown."""
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(path.rsplit("/", maxsplit=1)[-1])
    return found.aliases[0] if found is not None and found.aliases else ""


@lru_cache(maxsize=64)
def code_tokens(language: str) -> Callable[[str], Iterable[tuple[CodeToken, str]]] | None:
    """Splits code of a language, by a name that Pygments knows; None when it knows none such."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return find_lexer_class_by_name(language)(stripnl=False, ensurenl=True).get_tokens
    except ClassNotFound:
        return None


def split_words(text: str) -> list[str]:
    """The words of a command line; raises ValueError for a quote without end."""
    from shlex import split

    return split(text)


def unquote_url(text: str) -> str:
    """The path in an address of a file, its escapes resolved."""
    from urllib.parse import unquote

    return unquote(text)
