"""An SDK is imported without the part that is never used; what does use that part finds it whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from codeagent.providers.left_aside import import_leaving
from tests.server.replies import Refuse, say
from tests.server.scripted_server import ScriptedServer

SDK = {
    "__init__.py": "from . import kinds\nfrom .kinds.plain import PLAIN\n",
    "kinds/__init__.py": "from .big import Big\n__all__ = ['Big']\n",
    "kinds/plain.py": "PLAIN = 1\n",
    "kinds/big.py": "class Big: pass\n",
}

ASKED = """
import asyncio, sys
from contextlib import suppress
from codeagent.core.errors import ProviderError
from codeagent.core.messages import TextBlock, UserMessage
from codeagent.core.protocols import ModelRequest
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider

async def ask(provider):
    request = ModelRequest(system="", messages=(UserMessage(blocks=(TextBlock(text="hello"),)),), tools=())
    for _ in range(3):
        with suppress(ProviderError):
            print(*[type(event).__name__ async for event in provider.stream(request)])
    await provider.aclose()

async def main():
    await ask(OpenAIProvider("m", "k", sys.argv[1]))
    await ask(OpenAIChatProvider("m", "k", sys.argv[1]))

asyncio.run(main())
print(*sys.modules)
"""


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a small SDK on the disk, of which nothing is loaded after the test."""
    for file, text in SDK.items():
        path = tmp_path / "small_sdk" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield "small_sdk"
    for name in loaded():
        del sys.modules[name]


def loaded() -> set[str]:
    return {name for name in sys.modules if name.split(".")[0] == "small_sdk"}


def test_the_part_that_is_left_aside_is_not_run(sdk):
    import_leaving("small_sdk.kinds", sdk)
    assert loaded() == {"small_sdk", "small_sdk.kinds", "small_sdk.kinds.plain"}


def test_it_is_there_for_whoever_wants_it(sdk):
    import_leaving("small_sdk.kinds", sdk)
    kinds = import_module("small_sdk.kinds")
    assert kinds.Big.__name__ == "Big"
    assert kinds.plain.PLAIN == 1
    assert kinds.__all__ == ["Big"]


def test_all_of_its_names_can_be_asked_for_first(sdk):
    import_leaving("small_sdk.kinds", sdk)
    assert import_module("small_sdk.kinds").__all__ == ["Big"]


def test_what_it_does_not_have_it_does_not_have_then_either(sdk):
    import_leaving("small_sdk.kinds", sdk)
    kinds = import_module("small_sdk.kinds")
    with pytest.raises(AttributeError, match=r"small_sdk\.kinds.*Small"):
        _ = kinds.Small
    with pytest.raises(AttributeError, match=r"small_sdk\.kinds.*Small"):
        _ = kinds.Small


def test_later_imports_go_their_usual_way(sdk):
    before = list(sys.meta_path)
    import_leaving("small_sdk.kinds", sdk)
    assert sys.meta_path == before


def test_an_sdk_that_cannot_be_without_that_part_is_imported_as_a_whole(sdk, tmp_path):
    folder = tmp_path / "small_sdk"
    (folder / "__init__.py").write_text("from . import kinds, client\n")
    (folder / "kinds" / "big.py").write_text("from ..client import Client\nclass Big: pass\n")
    (folder / "client.py").write_text("from . import kinds\nhas_big = hasattr(kinds, 'Big')\nclass Client: pass\n")
    import_leaving("small_sdk.kinds", sdk)
    assert "small_sdk.kinds.big" in loaded()
    assert not import_module("small_sdk.client").has_big


def test_an_sdk_that_is_not_installed_is_said_to_be_missing():
    with pytest.raises(ModuleNotFoundError, match="no_such_sdk"):
        import_leaving("no_such_sdk.kinds", "no_such_sdk")


def test_openais_sdk_describes_no_answer_that_is_read_here(model_server: ScriptedServer):
    for _ in range(2):
        model_server.reply(say("Hello."), Refuse(status=429, message="slow down"), Refuse(status=401, message="no"))
    words = [sys.executable, "-c", ASKED, model_server.openai_url]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    *answers, modules = done.stdout.splitlines()
    assert ["ReplyFinished" in answer for answer in answers] == [True, True]
    described = [name for name in modules.split() if name.startswith("openai.types")]
    assert len(described) < 100
    assert "openai.types.responses.response" not in described
