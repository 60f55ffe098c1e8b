"""Letters that only look like Latin ones are written out wherever a person decides about them."""

from dataclasses import replace

import pytest

from codeagent.core.diff import make_diff
from tests.tui.test_typing_at_questions import Asking


async def looked_at(stage_of, request, wanted):
    async with stage_of(Asking(request)) as stage:
        await stage.type("go\n")
        await stage.until(lambda: wanted in stage.text)
        assert "\u0430" not in stage.text


async def test_in_a_command(stage_of, ask_command):
    await looked_at(stage_of, ask_command("c\u0430t notes"), "c<U+0430>t notes")


async def test_in_a_change_and_the_name_of_its_file(stage_of, ask_diff):
    request = ask_diff(hunks=1)
    diff = make_diff("c\u0430rt.py", "", "def p\u0430y(): ...\n")
    request = replace(request, preview=replace(request.preview, diff=diff))
    await looked_at(stage_of, request, "def p<U+0430>y")
    await looked_at(stage_of, request, "c<U+0430>rt.py")


@pytest.mark.parametrize("text", ["echo привет", "awk '{print λ}'"])
async def test_words_of_other_scripts_stay(stage_of, ask_command, text):
    async with stage_of(Asking(ask_command(text))) as stage:
        await stage.type("go\n")
        await stage.until(lambda: text in stage.text)
