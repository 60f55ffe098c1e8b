"""The edit cases: every one is applied to the byte, or refused with the lines that matter."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from codeagent.core.errors import EditRefused
from codeagent.tools.matching import apply_edit

FILES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
CASES = [json.loads(line) for file in FILES for line in file.read_text().splitlines()]


def content_of(case: dict) -> bytes | None:
    if "content_b64" in case:
        return base64.b64decode(case["content_b64"])
    return None if case["content"] is None else case["content"].encode()


def results_of(case: dict) -> list[bytes]:
    result = base64.b64decode(case["result_b64"]) if "result_b64" in case else case["result"].encode()
    return [result, *(other.encode() for other in case.get("alt_results", []))]


def names_line(text: str, line: int) -> bool:
    alone = {int(number) for number in re.findall(r"\d+", text)}
    return line in alone or any(int(a) <= line <= int(b) for a, b in re.findall(r"(\d+)-(\d+)", text))


@pytest.mark.parametrize("case", [case for case in CASES if case["expect"] == "apply"], ids=lambda case: case["id"])
def test_an_edit_whose_place_and_result_are_certain_is_made(case):
    match = apply_edit(content_of(case), case["old"], case["new"], replace_all=case["replace_all"])

    assert match.content in results_of(case)


@pytest.mark.parametrize("case", [case for case in CASES if case["expect"] == "reject"], ids=lambda case: case["id"])
def test_any_other_edit_is_refused_with_the_lines_that_matter(case):
    with pytest.raises(EditRefused) as refusal:
        apply_edit(content_of(case), case["old"], case["new"], replace_all=case["replace_all"])

    assert [line for line in case.get("hint_lines", []) if not names_line(str(refusal.value), line)] == []
    assert len(str(refusal.value).splitlines()) <= 30
