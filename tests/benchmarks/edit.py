"""Edits of a 50,000-line file: made, and refused with the closest place; a 4,000-line file and a 30 kB line as well."""

from __future__ import annotations

import time

from codeagent.core.errors import EditRefused
from codeagent.tools.matching import apply_edit
from tests.benchmarks.row import Row, row

RUNS = 7


def milliseconds(content: bytes, old: str, new: str) -> float:
    """CPU time of one edit, made or refused."""
    began = time.process_time()
    try:
        apply_edit(content, old, new)
    except EditRefused as refusal:
        str(refusal)
    return (time.process_time() - began) * 1000


def run() -> list[Row]:
    """CPU times in milliseconds, each of several runs."""
    lines = [f"{'    ' * (i % 5)}value_{i} = compute_{i * 7919 % 3001}(value_{i // 2}, {i})\n" for i in range(50_000)]
    text = "".join(lines)
    block = "".join(lines[40_000:40_010])
    wrong = block.replace("compute", "computed", 1)
    line = ",".join(f'{{"id":{i},"name":"n{i}"}}' for i in range(1_250))
    cases = (
        ("edit, 50,000 lines", text, block, 50),
        ("edit, 50,000 lines, CRLF", text.replace("\n", "\r\n"), block, 50),
        ("edit, 50,000 lines, CRLF and LF", text.replace("\n", "\r\n", 25_000), block, 50),
        ("edit at another depth, 50,000 lines", text, "".join(f"  {one}" for one in lines[40_000:40_010]), 50),
        ("refusal, 50,000 lines", text, wrong, 500),
        ("refusal, 50,000 lines, not ASCII", f"# é\n{text}", wrong, 500),
        ("refusal of 4,000 lines, 50,000 lines", text, "".join(lines[1000:5000]).replace("compute", "run"), 500),
        ("refusal, nothing similar, 50,000 lines", text, "nothing like this\nanywhere here\n", 500),
        ("refusal, 4,000 lines", "".join(lines[:4_000]), "".join(lines[100:110]).replace("compute", "run"), 500),
        ("refusal, a line of 30 kB", line, '"id":700,"name":"m700"},{"id":701', 500),
    )
    return [
        row(
            what,
            [milliseconds(content.encode(), old, f"  {old}# new\n") for _ in range(RUNS)],
            "ms",
            bar=f"at most {most} ms",
            at_most=most,
        )
        for what, content, old, most in cases
    ]
