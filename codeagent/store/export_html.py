"""A session as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import assert_never

from markdown_it import MarkdownIt

from codeagent.core.diff import FileDiff, Hunk, LineKind, Spans, line_pairs, word_spans
from codeagent.core.text import show_invisible
from codeagent.store.export_style import STYLE
from codeagent.store.passages import Did, Noted, Passage, Said, Thought, Wrote

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="facts">{facts}</p>
{body}
</body>
</html>
"""
_SIGNS = {LineKind.SAME: ("same", " "), LineKind.ADDED: ("added", "+"), LineKind.REMOVED: ("removed", "−")}


def as_html(title: str, facts: str, passages: Iterable[Passage]) -> str:
    """The whole page; everything in it is escaped, and Markdown cannot bring HTML along."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    body = "\n".join(_drawn(passage, markdown) for passage in passages)
    return _PAGE.format(title=_safe(title), facts=_safe(facts), style=STYLE, body=body)


def _drawn(passage: Passage, markdown: MarkdownIt) -> str:
    match passage:
        case Said(text=text):
            return f'<div class="said">{_safe(text)}</div>'
        case Wrote(text=text):
            return f'<div class="wrote">{markdown.render(show_invisible(text))}</div>'
        case Thought(text=text):
            return f'<div class="thought">{_safe(text.strip())}</div>'
        case Did():
            return _call(passage)
        case Noted(text=text, is_trouble=is_trouble):
            return f'<div class="noted{" bad" if is_trouble else ""}">{_safe(text.strip())}</div>'
        case _:
            assert_never(passage)


def _call(did: Did) -> str:
    is_good = did.outcome == "ok"
    mark = '<span class="good">✓</span>' if is_good else '<span class="bad">✗</span>'
    answer = f'<p class="answer">{_safe(did.answer)}</p>' if did.answer else ""
    label = _safe(" ".join(did.label.split()))
    inner = "".join(map(_diff, did.diffs)) or (f"<pre>{_safe(did.text)}</pre>" if did.text.strip() else "")
    is_open = " open" if did.diffs or did.answer or not is_good else ""
    return (
        f'<details{is_open}><summary>{mark}<span class="tool">{_safe(did.tool)}</span>'
        f'<span class="label">{label}</span>{_end(did)}</summary>{answer}{inner}</details>'
    )


def _end(did: Did) -> str:
    """What stands at the right: how it went wrong, or how much it changed."""
    if did.outcome != "ok":
        return f'<span class="bad">{_safe(did.outcome.replace("_", " "))}</span>'
    if not did.diffs:
        return ""
    added, removed = sum(diff.added for diff in did.diffs), sum(diff.removed for diff in did.diffs)
    return f'<span class="end"><span class="good">+{added:,}</span> <span class="bad">−{removed:,}</span></span>'


def _diff(diff: FileDiff) -> str:
    rows = [f'<span class="name">{_safe(f"{diff.change} {diff.path}")}</span>']
    rows += [f'<span class="name">{_safe(note)}</span>' for note in diff.notes]
    for number, hunk in enumerate(diff.hunks):
        rows += ['<span class="name">⋯</span>'] if number else []
        rows += _rows(hunk)
    return f'<pre class="diff"><span class="rows">{"".join(rows)}</span></pre>'


def _rows(hunk: Hunk) -> Iterable[str]:
    """The lines, each with its number (the old one where it goes), and the words in it that differ."""
    old, new, pairs = hunk.old_start, hunk.new_start, line_pairs(hunk.lines)
    for place, line in enumerate(hunk.lines):
        name, sign = _SIGNS[line.kind]
        number = old if line.kind is LineKind.REMOVED else new
        old += line.kind is not LineKind.ADDED
        new += line.kind is not LineKind.REMOVED
        text, spans = line.text.rstrip("\r\n"), ()
        if (other := pairs.get(place)) is not None:
            others = hunk.lines[other].text.rstrip("\r\n")
            is_old = line.kind is LineKind.REMOVED
            spans = word_spans(text, others)[0] if is_old else word_spans(others, text)[1]
        yield f'<span class="{name}"><i>{number}</i>{sign} {_marked(text, spans)}</span>'


def _marked(text: str, spans: Spans) -> str:
    parts, at = list[str](), 0
    for start, end in spans:
        parts += [_safe(text[at:start]), "<b>", _safe(text[start:end]), "</b>"]
        at = end
    return "".join([*parts, _safe(text[at:])])


def _safe(text: str) -> str:
    return escape(show_invisible(text))
