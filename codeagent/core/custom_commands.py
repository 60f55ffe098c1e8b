"""Commands of the person's or the project's own: a Markdown file whose text is sent when its name is typed."""

from __future__ import annotations

import re
from pathlib import Path

from codeagent.core.seldom import seldom
from codeagent.core.text import clean
from codeagent.core.values import value

_PLACE = seldom(r"\$(ARGUMENTS|[1-9]\d?)(?!\w)")
_WORD = seldom(r"""\"([^\"]*)\"(?=\s|$)|'([^']*)'(?=\s|$)|\S+""")
_LONGEST_SUMMARY = 100


@value
class CustomCommand:
    """One command made from a file: what it is called, what it says, and what may follow it.

    ``body`` is what is sent, with ``$ARGUMENTS`` for all that was typed after the
    name and ``$1``, ``$2`` … for its words.
    """

    name: str
    body: str
    path: Path
    summary: str = ""
    argument: str = ""

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"/{self.name} {self.argument}".rstrip()

    def text(self, arguments: str) -> str:
        """What is sent: the body with the arguments in their places, or below it when it has none.

        What is typed is text and nothing else: a ``$1`` in it stays one.
        """
        words = _words(arguments)

        def fill(found: re.Match[str]) -> str:
            if found[1] == "ARGUMENTS":
                return arguments
            at = int(found[1]) - 1
            return words[at] if at < len(words) else ""

        filled = _PLACE().sub(fill, self.body).strip()
        if arguments and not _PLACE().search(self.body):
            return f"{filled}\n\n{arguments}"
        return filled


@value
class FoundCommands:
    """The commands there are; ``notices`` tell of files that are none, ``folder`` is where the person's own lie.

    ``withheld`` are the names of those that count only once the project is trusted.
    """

    folder: Path
    commands: tuple[CustomCommand, ...] = ()
    notices: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


def read_command(name: str, path: Path, text: str) -> CustomCommand:
    """The command that a file's text makes: a head between two lines ``---``, if there is one, and the body.

    The head may say ``description`` and ``argument-hint``; without a description
    the first line of the body is one.
    """
    head, body = _split(clean(text.replace("\r\n", "\n")))
    first = next((line.strip("# \t") for line in body.splitlines() if line.strip("# \t")), "")
    return CustomCommand(
        name=name,
        body=body.strip(),
        path=path,
        summary=(head.get("description") or first)[:_LONGEST_SUMMARY],
        argument=head.get("argument-hint", ""),
    )


def _split(text: str) -> tuple[dict[str, str], str]:
    lines = text.lstrip("\ufeff").split("\n")
    if lines[0].strip() != "---":
        return {}, text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return {}, text
    pairs = (line.partition(":") for line in lines[1:end] if ":" in line and not line.startswith((" ", "#")))
    head = {name.strip().lower(): _unquoted(words.strip()) for name, _, words in pairs}
    return head, "\n".join(lines[end + 1 :])


def _unquoted(text: str) -> str:
    quote = text[:1]
    return text[1:-1] if len(text) > 1 and quote in {'"', "'"} and text.endswith(quote) else text


def _words(arguments: str) -> list[str]:
    """The words as they are spaced; those between quotes are one."""
    return [found[1] or found[2] or found[0].strip("\"'") for found in _WORD().finditer(arguments)]
