"""How an exported page looks: on a screen, light or dark as the reader has it, and on paper."""

STYLE = """
:root { color-scheme: light dark; --ground: #fcfbf9; --ink: #23262c; --soft: #515761; --faint: #646a74;
  --line: #e3e0d9; --box: #f5f3ef; --accent: #2a59b8; --good: #256b32; --bad: #ad2b2b; --added: #e4f4e6;
  --removed: #fce8e6; --added-word: #bfe6c6; --removed-word: #f8c9c6; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #14161a; --ink: #d8dbe1; --soft: #a0a6b1;
  --faint: #878e9b; --line: #2b3038; --box: #1a1d22; --accent: #8ab4f8; --good: #8ccf9a; --bad: #f2918c;
  --added: #17271e; --removed: #2c1c1f; --added-word: #1c452d; --removed-word: #582a2e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 3.5rem 1.5rem 5rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.3; letter-spacing: -.01em; margin: 0; }
.facts { color: var(--soft); font-size: .875rem; margin: .4rem 0 2.5rem; padding-bottom: 1.25rem;
  border-bottom: 1px solid var(--line); }
.said { position: relative; margin: 2.5rem 0 1.25rem; padding: .7rem 1rem .7rem 2.2rem; background: var(--box);
  border-radius: 8px; white-space: pre-wrap; font-weight: 600; }
.said::before { content: "\\203A"; position: absolute; left: 1rem; color: var(--accent); }
.said:first-of-type { margin-top: 1rem; }
.wrote { margin: 1.25rem 0; }
.wrote > :first-child { margin-top: 0; } .wrote > :last-child { margin-bottom: 0; }
.wrote h1, .wrote h2, .wrote h3, .wrote h4 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; color: var(--accent); }
.wrote li { margin: .2rem 0; } .wrote ul, .wrote ol { padding-left: 1.6rem; } .wrote li > p { margin: .2rem 0; }
.wrote hr { border: 0; border-top: 1px solid var(--line); margin: 2rem 0; }
.thought, .noted { color: var(--soft); font-size: .9rem; white-space: pre-wrap; margin: 1rem 0; }
.thought { font-style: italic; }
.noted.bad { color: var(--bad); }
pre, code, summary { font: .8125rem/1.6 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; }
code { background: var(--box); padding: .1em .35em; border-radius: 4px; }
pre { background: var(--box); padding: .8rem 1rem; border-radius: 8px; overflow-x: auto; margin: .75rem 0;
  tab-size: 4; }
pre code { background: none; padding: 0; }
details { margin: 0; border-bottom: 1px solid var(--line); }
details[open] { padding-bottom: .5rem; }
summary { display: flex; gap: .75rem; padding: .45rem 0; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "\\203A"; color: var(--faint); width: .5rem; transition: transform .1s; }
details[open] > summary::before { transform: rotate(90deg); }
summary:hover { color: var(--accent); }
summary .tool { min-width: 3rem; font-weight: 700; }
summary .label { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
details[open] > summary .label { white-space: normal; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .end { color: var(--soft); white-space: nowrap; }
.answer { color: var(--soft); font-size: .875rem; margin: .1rem 0 .5rem 1.25rem; white-space: pre-wrap; }
.diff { padding: .6rem 0; }
.diff .rows { display: inline-block; min-width: 100%; }
.diff .rows > span { display: block; padding: 0 1rem; white-space: pre; }
.diff i { display: inline-block; min-width: 2.5rem; padding-right: .75rem; text-align: right; font-style: normal;
  color: var(--faint); user-select: none; }
.diff b { font-weight: inherit; border-radius: 2px; }
.diff .added { background: var(--added); } .diff .removed { background: var(--removed); }
.diff .added b { background: var(--added-word); } .diff .removed b { background: var(--removed-word); }
.diff .name { color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem 1.25rem .35rem 0; text-align: left;
  vertical-align: top; overflow-wrap: normal; }
tr:last-child td { border-bottom: 0; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 2px solid var(--line); color: var(--soft); }
a { color: var(--accent); text-underline-offset: .15em; }
@media (max-width: 40rem) { body { padding: 1.5rem 1rem 3rem; } .diff i { min-width: 1.75rem; } }
@media (prefers-reduced-motion: reduce) { summary::before { transition: none; } }
@media print { :root { font-size: 10pt; --ground: #fff; } body { max-width: none; padding: 0;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  pre, .diff .rows > span { white-space: pre-wrap; overflow-wrap: anywhere; }
  pre { overflow: visible; } .said, summary, h1, h2, h3 { break-after: avoid; } summary::before { display: none; } }
"""
