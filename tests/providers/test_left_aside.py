"""An SDK is imported without the part that is never used; what does use that part finds it whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from codeagent.providers.left_aside import Seldom, import_only
from tests.server.replies import Refuse, say
from tests.server.scripted_server import ScriptedServer

SDK = {
    "__init__.py": "from ._client import Client\nfrom . import extra\n__version__ = '1'\nWHOLE = True\n",
    "extra.py": "",
    "_client.py": "from . import _errors, types\nfrom .types.plain import PLAIN\nclass Client: pass\n",
    "_errors.py": "",
    "types/__init__.py": (
        "from .big import Big\nfrom .plain import (\n    PLAIN as PLAIN,\n    OTHER as OTHER,\n)\n__all__ = ['Big']\n"
    ),
    "types/plain.py": "PLAIN, OTHER = 1, 2\n",
    "types/big.py": "class Big: pass\n",
    "_seldom.py": "from .types.big import Big\ndef fail(of, *, by=1): return Big, of, by\nOTHER = 3\n",
    "room/__init__.py": "from ._used import USED as USED\nfrom ._seldom import end as end\n",
    "room/_used.py": "USED = 4\n",
    "room/_seldom.py": "from ..types.big import Big\ndef end(it): return Big, it\n",
}
CLIENT = ("_client", "Client")

ASKED = """
import asyncio, sys
from contextlib import suppress
from codeagent.core.errors import ProviderError
from codeagent.core.messages import TextBlock, UserMessage
from codeagent.core.protocols import ModelRequest
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider

async def ask(provider):
    request = ModelRequest(system="", messages=(UserMessage(blocks=(TextBlock(text="hello"),)),), tools=())
    for _ in range(3):
        with suppress(ProviderError):
            print(*[type(event).__name__ async for event in provider.stream(request)])
    await provider.aclose()

async def main():
    kinds = {"openai": OpenAIProvider, "chat": OpenAIChatProvider, "anthropic": AnthropicProvider}
    await ask(kinds[sys.argv[1]]("m", "k", sys.argv[2]))

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


def test_what_is_left_aside_is_not_run(sdk):
    import_only(sdk, CLIENT)
    small = import_module(sdk)
    assert small.Client is sys.modules["small_sdk._client"].Client
    assert loaded() == {f"small_sdk{part}" for part in ("", "._client", "._errors", ".types", ".types.plain")}


def test_a_name_that_a_package_hands_on_comes_from_its_module_alone(sdk):
    import_only(sdk, CLIENT)
    assert import_module("small_sdk.types").OTHER == 2
    assert "small_sdk.types.big" not in loaded()


SELDOM = (Seldom("_seldom", "fail"), Seldom("room", "end", is_idle=lambda it: it == "idle"))


def test_what_a_seldom_called_function_stands_in_is_loaded_with_its_first_call(sdk, tmp_path):
    (tmp_path / sdk / "_client.py").write_text(
        "from ._seldom import fail\nfrom .room import USED, end\n"
        "class Client:\n    fail, end = staticmethod(fail), staticmethod(end)\n"
    )
    import_only(sdk, CLIENT, seldom=SELDOM)
    client = import_module(sdk).Client
    assert import_module(f"{sdk}.room").USED == 4
    assert client.end("idle") is None
    assert "small_sdk.types.big" not in loaded()
    for number in (1, 2):
        big, *others = client.fail(number, by=5)
        assert (big.__name__, *others) == ("Big", number, 5)
        assert client.end(number) == (big, number)
    assert import_module(f"{sdk}._seldom").OTHER == 3
    assert import_module(f"{sdk}._seldom").fail(1) == (big, 1, 1)
    assert client.end("idle") is None


def test_it_is_there_for_whoever_wants_it(sdk):
    import_only(sdk, CLIENT)
    small = import_module(sdk)
    assert small.types.Big.__name__ == "Big"
    assert small.types.plain.PLAIN == 1
    assert small.types.__all__ == ["Big"]
    assert small.WHOLE
    assert small.__version__ == "1"
    assert small.Client is sys.modules["small_sdk._client"].Client


def test_all_of_its_names_can_be_asked_for_first(sdk):
    import_only(sdk, CLIENT)
    assert import_module("small_sdk.types").__all__ == ["Big"]


def test_what_it_does_not_have_it_does_not_have_then_either(sdk):
    import_only(sdk, CLIENT)
    types = import_module("small_sdk.types")
    for _ in range(2):
        with pytest.raises(AttributeError, match=r"small_sdk\.types.*Small"):
            _ = types.Small


def test_later_imports_go_their_usual_way(sdk):
    before = list(sys.meta_path)
    import_only(sdk, CLIENT)
    assert sys.meta_path == before


OTHER = "class Client: pass\n"
CIRCLE = "from . import types\nhas_big = hasattr(types, 'Big')\nclass Client: pass\n"


@pytest.mark.parametrize(
    "otherwise",
    [
        {"_client.py": "Clients = None\n", "_other.py": OTHER, "__init__.py": "from ._other import Client\n"},
        {"_client.py": "raise RuntimeError\n", "_other.py": OTHER, "__init__.py": "from ._other import Client\n"},
        {
            "_client.py": CIRCLE,
            "types/big.py": "from .._client import Client\nclass Big: pass\n",
            "__init__.py": "from . import types\nfrom ._client import Client\n",
        },
    ],
    ids=["the name stands elsewhere", "a module fails", "a circle"],
)
def test_an_sdk_that_is_built_otherwise_is_imported_as_a_whole(sdk, tmp_path, otherwise):
    for file, text in otherwise.items():
        (tmp_path / sdk / file).write_text(text)
    before = list(sys.meta_path)
    import_only(sdk, CLIENT)
    assert type(sys.modules[sdk]).__name__ == "module"
    assert sys.modules[sdk].Client.__name__ == "Client"
    assert sys.meta_path == before


def test_an_sdk_that_is_not_installed_is_said_to_be_missing():
    with pytest.raises(ModuleNotFoundError, match="no_such_sdk"):
        import_only("no_such_sdk", CLIENT)


@pytest.mark.parametrize(("service", "most"), [("openai", 150), ("chat", 150), ("anthropic", 400)])
def test_an_sdk_loads_little_that_is_not_used_also_when_a_request_fails(model_server: ScriptedServer, service, most):
    model_server.reply(say("Hello."), Refuse(status=429, message="slow down"), Refuse(status=401, message="no"))
    url = model_server.url if service == "anthropic" else model_server.openai_url
    words = [sys.executable, "-c", ASKED, service, url]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    *answers, modules = done.stdout.splitlines()
    assert ["ReplyFinished" in answer for answer in answers] == [True]
    sdk = "anthropic" if service == "anthropic" else "openai"
    of_sdk = [name for name in modules.split() if name.split(".")[0] == sdk]
    assert len(of_sdk) < most
    assert not [name for name in of_sdk if name.startswith(f"{sdk}.resources")]
