"""Which models there are, how much they hold, and what they cost."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from typing import Self

from codeagent.core.errors import ConfigError
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import AssistantMessage, Usage
from codeagent.providers.sse import as_object

_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_MILLION = 1_000_000
DEFAULT_TIMEOUT = 600.0
_LONGEST_REPLY = 64_000


class ProviderKind(StrEnum):
    """The ways to reach a model, as ``--model`` names them."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_CHAT = "openai-chat"
    SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A model as ``--model PROVIDER/NAME`` names it; for a script, ``name`` is its file."""

    provider: ProviderKind
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads PROVIDER/NAME; raises ConfigError. The name itself is not judged: new models come every week."""
        provider, slash, name = text.strip().partition("/")
        if not slash or not name or provider not in set(ProviderKind):
            known = ", ".join(f"{kind}/…" for kind in ProviderKind)
            raise ConfigError(f"{text!r} does not name a model.", hint=f"Models are named {known}.{_guess(text)}")
        return cls(provider=ProviderKind(provider), name=name)


def _guess(text: str) -> str:
    name = text.strip().rpartition("/")[2]
    if name.startswith("claude"):
        return f" Did you mean {ProviderKind.ANTHROPIC}/{name}?"
    if re.match(r"(?:gpt|o\d|chatgpt)", name):
        return f" Did you mean {ProviderKind.OPENAI}/{name}?"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a model is asked for.

    ``max_output`` is in tokens, None leaves it to the provider; ``thinks`` asks for
    thinking where the protocol has to; ``timeout`` is in seconds without a byte.
    """

    max_output: int | None = None
    thinks: bool = False
    timeout: float = DEFAULT_TIMEOUT

    def with_max_output(self, tokens: int) -> Limits:
        """The same but for the longest reply."""
        return replace(self, max_output=tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens; a request of more than ``long_from`` input tokens costs a multiple."""

    input: float
    output: float
    cached: float
    stored: float
    long_from: int | None = None
    long_input: float = 1.0
    long_output: float = 1.0

    def of(self, usage: Usage) -> float:
        """What one request cost, in US dollars."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        is_long = self.long_from is not None and prompt > self.long_from
        read = (
            usage.input_tokens * self.input
            + usage.cache_read_tokens * self.cached
            + usage.cache_write_tokens * self.stored
        )
        written = usage.output_tokens * self.output
        return (read * (self.long_input if is_long else 1) + written * (self.long_output if is_long else 1)) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of a model; sizes in tokens."""

    window: int
    output: int
    thinks: bool = False
    price: Price


class Catalog:
    """The models that are known; all others work too, at an unknown price."""

    @cached_property
    def _cards(self) -> dict[str, dict[str, ModelCard]]:
        """The cards of each service; read when first asked for."""
        text = files("codeagent.providers").joinpath("models.toml").read_text(encoding="utf-8")
        services: JsonObject = tomllib.loads(text)
        return {
            service: {name: _card(as_object(fields)) for name, fields in as_object(models).items()}
            for service, models in services.items()
        }

    def card(self, model: str) -> ModelCard | None:
        """What is known of a model (PROVIDER/NAME), with or without a date in its name; None when nothing is."""
        provider, _, name = model.partition("/")
        cards = self._cards.get("openai" if provider == ProviderKind.OPENAI_CHAT else provider, {})
        return cards.get(name) or cards.get(_DATE.sub("", name))

    def names(self) -> tuple[str, ...]:
        """The known models as ``--model`` takes them; the first of each service is the one for everyday work."""
        return tuple(f"{service}/{name}" for service, cards in self._cards.items() for name in cards)

    def limits(self, model: str, *, timeout: float = DEFAULT_TIMEOUT) -> Limits:
        """How to ask the model; ``timeout`` is in seconds without a byte."""
        card = self.card(model)
        if card is None or not model.startswith(f"{ProviderKind.ANTHROPIC}/"):
            return Limits(timeout=timeout)
        return Limits(max_output=min(card.output, _LONGEST_REPLY), thinks=card.thinks, timeout=timeout)

    def window(self, model: str) -> int | None:
        """The context window in tokens, None when unknown."""
        card = self.card(model)
        return card.window if card else None

    def cost(self, message: AssistantMessage) -> float | None:
        """What the reply cost in US dollars, None when the price is unknown."""
        if message.model.startswith(f"{ProviderKind.SCRIPTED}/"):
            return 0.0
        card = self.card(message.model)
        return card.price.of(message.usage) if card else None


def _card(fields: JsonObject) -> ModelCard:
    price, long = as_object(fields.get("price")), as_object(fields.get("long"))
    paid = _number(price["input"])
    return ModelCard(
        window=int(_number(fields["window"])),
        output=int(_number(fields["output"])),
        thinks=fields.get("thinks") is True,
        price=Price(
            input=paid,
            output=_number(price["output"]),
            cached=_number(price.get("cached", paid)),
            stored=_number(price.get("stored", paid)),
            long_from=int(_number(long["from"])) if long else None,
            long_input=_number(long.get("input", 1.0)),
            long_output=_number(long.get("output", 1.0)),
        ),
    )


def _number(value: JsonValue) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"models.toml holds {value!r} where a number belongs.")
    return value
