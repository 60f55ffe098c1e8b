"""Which models are known, and what they cost."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ConfigError
from codeagent.core.messages import AssistantMessage, StopReason, Usage
from codeagent.providers.catalog import Catalog, ModelName, ProviderKind, without_login


def reply(model: str, **tokens: int) -> AssistantMessage:
    return AssistantMessage(blocks=(), stop=StopReason.END_TURN, model=model, usage=Usage(**tokens))


def test_a_model_is_named_by_provider_and_name():
    assert ModelName.parse("anthropic/claude-opus-5-5") == ModelName(
        provider=ProviderKind.ANTHROPIC, name="claude-opus-5-5"
    )


def test_the_name_may_hold_slashes_and_be_unknown():
    name = ModelName.parse("openai-chat/meta-llama/Llama-9:free")

    assert (name.provider, name.name) == (ProviderKind.OPENAI_CHAT, "meta-llama/Llama-9:free")
    assert str(name) == "openai-chat/meta-llama/Llama-9:free"


def test_a_script_may_be_an_absolute_path():
    assert ModelName.parse("scripted//tmp/demo.jsonl").name == "/tmp/demo.jsonl"


@pytest.mark.parametrize("text", ["", "gpt-6-sol", "acme/x", "anthropic/", "/x", "anthropic"])
def test_anything_else_is_refused_with_the_forms_there_are(text):
    with pytest.raises(ConfigError) as caught:
        ModelName.parse(text)

    assert "openai-chat/…" in caught.value.hint


def test_a_bare_well_known_name_gets_a_suggestion():
    with pytest.raises(ConfigError, match="Did you mean anthropic/claude-sonnet-5-5"):
        ModelName.parse("claude-sonnet-5-5")


def test_windows_are_known_with_and_without_a_date():
    catalog = Catalog()

    assert catalog.window("anthropic/claude-haiku-4-5") == 200_000
    assert catalog.window("anthropic/claude-haiku-4-5-20251001") == 200_000
    assert catalog.window("openai-chat/gpt-5-2025-08-07") == 400_000


def test_an_unknown_model_has_no_window_and_no_price():
    catalog = Catalog()

    for model in ("anthropic/claude-opus-5-5-turbo", "openai-chat/qwen", "acme/gpt-5", "", "gpt-5"):
        assert catalog.window(model) is None
        assert catalog.cost(reply(model, input_tokens=5)) is None


def test_each_kind_of_token_has_its_price():
    catalog, million = Catalog(), 1_000_000
    model = "anthropic/claude-opus-5-5"

    assert catalog.cost(reply(model, input_tokens=million)) == pytest.approx(4.0)
    assert catalog.cost(reply(model, output_tokens=million)) == pytest.approx(20.0)
    assert catalog.cost(reply(model, cache_read_tokens=million)) == pytest.approx(0.4)
    assert catalog.cost(reply(model, cache_write_tokens=million)) == pytest.approx(5.0)


def test_a_long_request_costs_a_multiple():
    catalog = Catalog()
    model = "anthropic/claude-haiku-5-5"

    short = catalog.cost(reply(model, input_tokens=50_000, cache_read_tokens=50_000))
    long = catalog.cost(reply(model, input_tokens=50_000, cache_read_tokens=50_001))

    assert long == pytest.approx(short * 5, rel=1e-4)


def test_a_script_costs_nothing():
    assert Catalog().cost(reply("scripted/demo", output_tokens=100)) == 0.0


def test_limits_ask_for_thinking_only_where_the_model_takes_it():
    catalog = Catalog()

    assert catalog.limits("anthropic/claude-opus-5-5").thinks
    assert not catalog.limits("anthropic/claude-haiku-4-5").thinks
    assert catalog.limits("openai-chat/gpt-6-sol", timeout=5).max_output is None


def test_every_listed_model_has_sound_numbers():
    catalog = Catalog()

    for name in catalog.names():
        card = catalog.card(name)
        assert card is not None
        assert 0 < card.output < card.window
        assert 0 < card.price.cached <= card.price.input < card.price.output
        assert card.price.stored >= card.price.input


@pytest.fixture
def own(tmp_path):
    """Writes a person's own table and gives the catalog with it."""

    def write(text: str) -> Catalog:
        (tmp_path / "models.toml").write_text(text)
        return Catalog(tmp_path / "models.toml")

    return write


def test_an_own_table_adds_windows_and_prices(own):
    catalog = own('[openai-chat]\n"qwen3" = { window = 32_768, price = { input = 1.0, output = 2.0 } }\n')

    assert catalog.window("openai-chat/qwen3") == 32_768
    assert catalog.cost(reply("openai-chat/qwen3", input_tokens=1_000_000)) == 1.0
    assert "openai-chat/qwen3" in catalog.names()


def test_an_own_table_changes_only_what_it_names(own):
    catalog = own('[anthropic]\n"claude-haiku-4-5" = { window = 100_000 }\n')

    assert catalog.window("anthropic/claude-haiku-4-5") == 100_000
    assert catalog.cost(reply("anthropic/claude-haiku-4-5", input_tokens=1_000_000)) == 1.0


def test_a_window_alone_leaves_the_price_unknown(own):
    catalog = own('[openai-chat]\n"qwen3" = { window = 32_768 }\n')

    assert catalog.cost(reply("openai-chat/qwen3", input_tokens=1)) is None
    assert catalog.window("openai-chat/gpt-5") == 400_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[openai-chat\n", "cannot be read"),
        ('[acme]\n"x" = { window = 5 }\n', "acme is no service"),
        ('[openai]\n"x" = { windwo = 5 }\n', "openai/x: windwo is not known"),
        ('[openai]\n"x" = { window = "big" }\n', "where a number belongs"),
        ('[openai]\n"x" = { window = nan }\n', "where a number belongs, 0 or more"),
        ('[openai]\n"x" = { price = { input = 1.0 } }\n', "an input and an output"),
        ('[openai]\n"x" = { price = { input = -1.0, output = 1.0 } }\n', "where a number belongs"),
    ],
)
def test_what_is_wrong_in_an_own_table_is_named_with_its_file(own, text, told):
    with pytest.raises(ConfigError, match=r"models\.toml") as caught:
        own(text).names()

    assert told in str(caught.value)


def test_a_wanted_size_of_the_reply_is_held_to_what_the_model_can_write():
    catalog, model = Catalog(), "anthropic/claude-sonnet-4-5"
    card = catalog.card(model)
    assert card is not None
    assert catalog.possible(model, 999_999_999) == card.output
    assert catalog.possible(model, 10) == 10
    assert catalog.possible("openai-chat/nobody-knows-it", 999_999_999) == 999_999_999
    assert catalog.possible(model, None) is None


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:pass-word@host:8080/v1", "http://host:8080/v1"),
        ("HTTPS://token@host", "HTTPS://host"),
        ("http://me:pass/word@host/v1", "http://host/v1"),
        ("http://me:p@ss@host/v1", "http://host/v1"),
        ("me:pass-word@host:1/v1", "host:1/v1"),
        ("http://me:pass-word@[::1", "http://[::1"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("http://host/a@b:c", "http://host/a@b:c"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
        ("nonsense", "nonsense"),
        ("", ""),
    ],
)
def test_a_login_is_taken_out_of_an_address_and_nothing_else(address, shown):
    assert without_login(address) == shown
