"""What a model cannot do at all is told in one sentence, and what it is told otherwise is found in many words."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ProviderRejected
from codeagent.providers.error_bodies import is_about_system, offers_developer, tools_refused
from tests.providers.conftest import ask, called, replied, result, results, said
from tests.server.replies import Refuse

VLLM = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
LLAMA = "tools param requires --jinja flag"


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        "`tool calling` is not supported with this model",
        "Function calling is not enabled for models/gemma-3-27b-it",
        "deepseek-reasoner does not support Function Calling",
        "This model doesn't support tool use in streaming mode.",
        "No endpoints found that support tool use. To learn more about provider routing, visit: https://a.test",
        "tools is not supported in this model.",
        "Unsupported parameter: 'tools' is not supported with this model.",
    ],
)
def test_a_model_that_cannot_call_tools_is_named_and_another_proposed(words):
    refusal = tools_refused(words, 400, "m1", "https://acme.test")
    assert str(refusal).startswith("m1 cannot call tools")
    assert refusal.hint == "Choose another model with /model or --model."


@pytest.mark.parametrize(
    "words",
    [
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
        "messages.2.tool_calls is not supported",
        "this model does not support images",
        "Unsupported parameter: 'tools.0.function.strict' is not supported",
        "This model does not support parallel tool calls",
    ],
)
def test_a_refusal_of_one_tool_or_of_a_field_is_not_one_of_tools(words):
    assert tools_refused(words, 400, "m1", "https://acme.test") is None


@pytest.mark.parametrize(("status", "words", "option"), [(400, VLLM, "--tool-call-parser"), (500, LLAMA, "--jinja")])
async def test_a_server_that_was_started_without_tools_is_asked_once_and_how_to_start_it_is_said(
    model_server, chat, status, words, option
):
    model_server.reply(*[Refuse(status=status, message=words)] * 3)
    history = said("hello"), replied(called()), results(result())
    with pytest.raises(ProviderRejected, match="was not started for models that call tools") as caught:
        await ask(chat, *history)
    assert option in caught.value.hint
    assert len(model_server.requests) == 1


def test_a_developer_role_is_offered_by_words_that_do_not_refuse_it():
    assert offers_developer("system role not supported; use the developer role")
    refused = "developer instruction is not enabled for models/gemma-3-27b-it"
    assert is_about_system(refused)
    assert not offers_developer(refused)
