"""What the first frame does not need: the Markdown parser, the highlighter and the like, loaded when first used.

The one place among the screens where imports stand inside functions, because
the first frame is waited for and these are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Protocol

from rich.style import Style
from textual.events import Key
from textual.widgets import TextArea

from codeagent.tui.themes import Palette


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


class CommandKeys(Protocol):
    """Keys that are not always text in a text field."""

    @property
    def mode(self) -> str:
        """What keys mean now; empty where they are text."""
        ...

    @property
    def has_changed_mode(self) -> bool:
        """Whether the last key made them mean something else."""
        ...

    @property
    def selected_text(self) -> str:
        """What they selected."""
        ...

    def start_inserting(self) -> bool:
        """What comes now is text; whether it was not before."""
        ...

    def takes(self, event: Key) -> bool:
        """Does what the key means; False leaves it to the field."""
        ...


class Clip(Protocol):
    """What lies on the clipboard: an image, or text, or a word on why there is neither."""

    @property
    def image(self) -> bytes:
        """The bytes of an image."""
        ...

    @property
    def text(self) -> str:
        """The text, where there is no image."""
        ...

    @property
    def problem(self) -> str:
        """Why there is neither."""
        ...


def vi_keys(
    field: TextArea, step_through_history: Callable[[int], None], calls_back: Callable[[], bool]
) -> CommandKeys:
    """Vi's keys in a text field; while ``calls_back`` brings something back, Escape in a text is for that alone."""
    from codeagent.tui.widgets.vi_typing import ViTyping

    return ViTyping(field, step_through_history, calls_back)


async def read_clipboard() -> Clip:
    """The image on the clipboard, else its text."""
    from codeagent.tui import clipboard

    return await clipboard.read_clipboard()


async def give_to_tmux(text: str) -> None:
    """Lets tmux have a text that was copied, and the terminal around it."""
    from codeagent.tui import clipboard

    await clipboard.give_to_tmux(text)


@cache
def markdown_parser() -> Callable[[str], Sequence[MarkdownToken]]:
    """Parses CommonMark with tables and strikethrough; HTML is text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    return parser.disable(["html_block", "html_inline"]).enable(["table", "strikethrough"]).parse


def load_what_draws_replies() -> None:
    """Loads the Markdown parser and the highlighter, on a thread: the first reply does not wait for them."""
    markdown_parser()
    code_tokens("text")


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


def in_256(palette: Palette) -> Palette:
    """The theme in the colours that a terminal of 256 has."""
    from codeagent.tui import fewer_colours

    return fewer_colours.in_256(palette)


def readable_on(style: Style, ground: Style) -> Style:
    """The style on a ground, in a colour that can be read there on a terminal of 256 colours."""
    from codeagent.tui import fewer_colours

    return fewer_colours.readable_on(style, ground)


def split_words(text: str) -> list[str]:
    """The words of a command line; raises ValueError for a quote without end."""
    from shlex import split

    return split(text)


def unquote_url(text: str) -> str:
    """The path in an address of a file, its escapes resolved."""
    from urllib.parse import unquote

    return unquote(text)
