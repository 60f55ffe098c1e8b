"""A session as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from codeagent.core.patch import as_patch
from codeagent.core.text import show_invisible
from codeagent.store.passages import Did, Noted, Passage, Said, Thought, Wrote

_TICKS = re.compile("`+")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|])")


def as_markdown(title: str, facts: str, passages: Iterable[Passage]) -> str:
    """The whole text; what was not written as Markdown is escaped or fenced."""
    parts = [f"# {_escaped(title)}", _escaped(facts)]
    for passage in passages:
        parts += _parts(passage)
    return show_invisible("\n\n".join(part.strip("\n") for part in parts) + "\n")


def _parts(passage: Passage) -> Iterator[str]:
    match passage:
        case Said(text=text):
            yield "## You"
            yield "\n".join(f"> {line}".rstrip() for line in _escaped(text).splitlines())
        case Wrote(text=text):
            yield text
        case Thought(text=text):
            yield "\n".join(f"> *{_escaped(line)}*" if line.strip() else ">" for line in text.strip().splitlines())
        case Did():
            outcome = "" if passage.outcome == "ok" else f" ({passage.outcome.replace('_', ' ')})"
            yield f"**{_escaped(passage.tool)}** {_code(passage.label)}{outcome}".replace("  ", " ")
            if passage.answer:
                yield f"*{_escaped(' '.join(passage.answer.split()))}*"
            if passage.diffs:
                yield fenced("".join(as_patch(diff) for diff in passage.diffs), "diff")
            elif passage.text.strip():
                yield fenced(passage.text)
        case Noted(text=text):
            yield "\n".join(f"*{_escaped(line)}*" if line.strip() else "" for line in text.strip().splitlines())
        case _:
            assert_never(passage)


def fenced(text: str, language: str = "") -> str:
    """The text as a code block, inside a fence that is longer than any in it."""
    longest = max((len(found[0]) for found in _TICKS.finditer(text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = text.strip("\n")
    return f"{fence}{language}\n{body}\n{fence}"


def _code(text: str) -> str:
    line = " ".join(text.split())
    if not line:
        return ""
    longest = max((len(found[0]) for found in _TICKS.finditer(line)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {line} {ticks}" if longest else f"`{line}`"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
