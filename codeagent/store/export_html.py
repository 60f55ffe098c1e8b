"""A session as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import assert_never

from markdown_it import MarkdownIt

from codeagent.core.diff import FileDiff, LineKind
from codeagent.core.text import show_invisible
from codeagent.store.passages import Did, Noted, Passage, Said, Thought, Wrote

_STYLE = """
:root { color-scheme: light dark; --ground: #fbfbfa; --ink: #1f2328; --soft: #66707a; --line: #e3e5e8;
  --box: #f3f4f5; --accent: #2f6f8f; --added: #e3f4e6; --removed: #fae7e6; --good: #2d7d46; --bad: #b3362c; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --ink: #dfe2e6; --soft: #949da7; --line: #2b2f34;
  --box: #1e2125; --accent: #7fb8d4; --added: #16301f; --removed: #3a1e1d; --good: #74c08d; --bad: #e58a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 3rem 1.5rem 6rem; background: var(--ground); color: var(--ink);
  font: 16px/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0; }
.facts { color: var(--soft); font-size: .875rem; margin: .5rem 0 2.5rem; padding-bottom: 1rem;
  border-bottom: 1px solid var(--line); }
.said { margin: 2.5rem 0 1.25rem; padding-left: 1rem; border-left: 3px solid var(--accent); white-space: pre-wrap;
  font-weight: 600; }
.wrote > :first-child { margin-top: 0; }
.thought, .noted { color: var(--soft); font-size: .9rem; white-space: pre-wrap; margin: 1rem 0; }
.thought { font-style: italic; }
pre, code { font: .8125rem/1.55 ui-monospace, monospace; }
code { background: var(--box); padding: .1em .3em; border-radius: 4px; }
pre { background: var(--box); padding: .75rem 1rem; border-radius: 6px; overflow-x: auto; margin: .75rem 0; }
pre code { background: none; padding: 0; }
details { margin: .5rem 0; border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: .35rem 0; font: .8125rem/1.55 ui-monospace, monospace; }
summary .tool { display: inline-block; min-width: 3.5rem; font-weight: 600; }
summary .good { color: var(--good); } summary .bad { color: var(--bad); } summary .end { color: var(--soft); }
.answer { color: var(--soft); font-size: .875rem; margin: .25rem 0 .5rem; white-space: pre-wrap; }
.diff { padding: .75rem 0; } .diff span { display: block; padding: 0 1rem; white-space: pre; }
.diff { overflow-x: auto; } .diff .rows { display: inline-block; min-width: 100%; }
.diff .added { background: var(--added); } .diff .removed { background: var(--removed); }
.diff .name { color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); }
a { color: var(--accent); }
"""
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
_SIGNS = {LineKind.SAME: ("same", " "), LineKind.ADDED: ("added", "+"), LineKind.REMOVED: ("removed", "-")}


def as_html(title: str, facts: str, passages: Iterable[Passage]) -> str:
    """The whole page; everything in it is escaped, and Markdown cannot bring HTML along."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    body = "\n".join(_drawn(passage, markdown) for passage in passages)
    return _PAGE.format(title=_safe(title), facts=_safe(facts), style=_STYLE, body=body)


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
        case Noted(text=text):
            return f'<div class="noted">{_safe(text.strip())}</div>'
        case _:
            assert_never(passage)


def _call(did: Did) -> str:
    is_good = did.outcome == "ok"
    mark = '<span class="good">✓</span>' if is_good else '<span class="bad">✗</span>'
    end = "" if is_good else f' <span class="end">{_safe(did.outcome.replace("_", " "))}</span>'
    answer = f'<p class="answer">{_safe(did.answer)}</p>' if did.answer else ""
    label = _safe(" ".join(did.label.split()))
    inner = "".join(map(_diff, did.diffs)) or (f"<pre>{_safe(did.text)}</pre>" if did.text.strip() else "")
    is_open = " open" if did.diffs or did.answer or not is_good else ""
    return (
        f'<details{is_open}><summary>{mark} <span class="tool">{_safe(did.tool)}</span> {label}{end}</summary>'
        f"{answer}{inner}</details>"
    )


def _diff(diff: FileDiff) -> str:
    rows = [f'<span class="name">{_safe(f"{diff.change} {diff.path}")}</span>']
    rows += [f'<span class="name">{_safe(note)}</span>' for note in diff.notes]
    for number, hunk in enumerate(diff.hunks):
        rows += ['<span class="name">⋯</span>'] if number else []
        for line in hunk.lines:
            name, sign = _SIGNS[line.kind]
            text = _safe(line.text.rstrip("\r\n"))
            rows.append(f'<span class="{name}">{sign} {text}</span>')
    return f'<pre class="diff"><span class="rows">{"".join(rows)}</span></pre>'


def _safe(text: str) -> str:
    return escape(show_invisible(text))
