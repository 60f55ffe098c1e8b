"""Which models there are, how much they hold, and what they cost; how an address of theirs is shown."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal, Self

from codeagent.core.errors import ConfigError, reason_of
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.messages import AssistantMessage, Usage
from codeagent.core.seldom import seldom
from codeagent.core.values import value
from codeagent.providers.sse import as_object

_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_MILLION = 1_000_000
DEFAULT_TIMEOUT = 600.0
_LONGEST_REPLY = 64_000
_LOGIN = seldom(r"((?:[a-z][a-z\d+.-]*://)?)(?:[^/?#]*@|[^/?#@:]*:(?!\d*(?:[/?#]|$))[^@]*@)", re.IGNORECASE)
"""What stands before the host; a password may hold a slash that nobody wrote as %2F."""
_FIELDS = {"window", "output", "thinks", "budget", "price", "long"}


class ProviderKind(StrEnum):
    """The ways to reach a model, as ``--model`` names them."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_CHAT = "openai-chat"
    SCRIPTED = "scripted"


_SCRIPTED = f"{ProviderKind.SCRIPTED}/"


def without_login(address: str) -> str:
    """The address without what stands before its host; any other text as it is."""
    found = _LOGIN().match(address)
    return f"{found[1]}{address[found.end() :]}" if found else address


@value
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


Effort = Literal["low", "medium", "high"]
"""How hard a model should think, where it lets itself be told."""
EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")


@value
class Limits:
    """What a model is asked for.

    ``max_output`` is in tokens, None leaves it to the provider, and ``is_output_set``
    says that the person chose it; ``window`` is how many tokens a request and its reply
    can have, None when unknown; ``thinks`` asks for thinking where the protocol has to;
    ``effort`` is how hard it should think, None leaves that to the model, and
    ``has_budget`` says that it is told so as a number of tokens; ``timeout`` is in
    seconds without a byte.
    """

    max_output: int | None = None
    thinks: bool = False
    has_budget: bool = False
    effort: Effort | None = None
    timeout: float = DEFAULT_TIMEOUT
    window: int | None = None
    is_output_set: bool = False

    def wanted(self, max_output: int | None, effort: Effort | None) -> Limits:
        """The same but for what the person set."""
        output, is_set = max_output or self.max_output, max_output is not None
        return replace(self, max_output=output, is_output_set=is_set, effort=effort or self.effort)


@value
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


@value
class ModelCard:
    """What is known of a model; sizes in tokens."""

    window: int | None = None
    output: int | None = None
    thinks: bool = False
    has_budget: bool = False
    price: Price | None = None


class Catalog:
    """The models that are known; all others work too, at an unknown price.

    ``own`` is a file of the person's in the form of ours, which adds models and
    changes what is said of known ones; it need not be there. What is wrong in it
    is raised as a ConfigError by whatever is asked first.
    """

    def __init__(self, own: Path | None = None) -> None:
        self._own = own

    @cached_property
    def _cards(self) -> dict[str, dict[str, ModelCard]]:
        """The cards of each service; read when first asked for."""
        text = files("codeagent.providers").joinpath("models.toml").read_text(encoding="utf-8")
        tables: dict[str, JsonObject] = {
            service: dict(as_object(models)) for service, models in tomllib.loads(text).items()
        }
        for service, models in read_own(self._own).items():
            known = tables.setdefault(service, {})
            for name, fields in models.items():
                known[name] = as_object(known.get(name)) | as_object(fields)
        return {
            service: {name: _card(as_object(fields)) for name, fields in models.items()}
            for service, models in tables.items()
        }

    def card(self, model: str) -> ModelCard | None:
        """What is known of a model (PROVIDER/NAME), with or without a date in its name; None when nothing is."""
        provider, _, name = model.partition("/")
        cards = dict(self._cards.get(provider, {}))
        if provider == ProviderKind.OPENAI_CHAT:
            cards = self._cards.get(ProviderKind.OPENAI, {}) | cards
        return cards.get(name) or cards.get(_DATE.sub("", name))

    def names(self) -> tuple[str, ...]:
        """The known models as ``--model`` takes them; the first of each service is the one for everyday work."""
        return tuple(f"{service}/{name}" for service, cards in self._cards.items() for name in cards)

    def limits(self, model: str, *, timeout: float = DEFAULT_TIMEOUT) -> Limits:
        """How to ask the model; ``timeout`` is in seconds without a byte."""
        card = self.card(model)
        if card is None or not model.startswith(f"{ProviderKind.ANTHROPIC}/"):
            return Limits(timeout=timeout, window=card.window if card else None)
        output = None if card.output is None else min(card.output, _LONGEST_REPLY)
        return Limits(
            max_output=output, thinks=card.thinks, has_budget=card.has_budget, timeout=timeout, window=card.window
        )

    def possible(self, model: str, output: int | None) -> int | None:
        """What a person wants as the most tokens of a reply, held to what the model is known to be able to write."""
        card = self.card(model) if output is not None else None
        return min(output, card.output) if output is not None and card and card.output else output

    def window(self, model: str) -> int | None:
        """The context window in tokens, None when unknown."""
        card = self.card(model)
        return card.window if card else None

    def output(self, model: str) -> int | None:
        """The most tokens that a reply can have, None when unknown."""
        card = self.card(model)
        return card.output if card else None

    def cost(self, message: AssistantMessage) -> float | None:
        """What the reply cost in US dollars, None when the price is unknown."""
        if message.model.startswith(_SCRIPTED):
            return 0.0
        card = self.card(message.model)
        return card.price.of(message.usage) if card and card.price else None

    def is_priced(self, model: str) -> bool:
        """Whether the model's price is known."""
        card = self.card(model)
        return model.startswith(_SCRIPTED) or bool(card and card.price)


def read_own(path: Path | None) -> dict[str, JsonObject]:
    """The person's own table of models, checked; raises ConfigError naming the file and the entry to mend."""
    try:
        text = path.read_text(encoding="utf-8") if path and path.is_file() else ""
        services: JsonObject = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {reason_of(error)}.", hint="Mend that line or remove it.") from error
    tables: dict[str, JsonObject] = {}
    for service, models in services.items():
        if service not in set(ProviderKind) or not isinstance(models, dict):
            known = ", ".join(f"[{kind}]" for kind in ProviderKind if kind is not ProviderKind.SCRIPTED)
            raise ConfigError(f"{path}: {service} is no service.", hint=f"There are {known}.")
        tables[service] = as_object(models)
        for name, fields in tables[service].items():
            try:
                _check(as_object(fields))
            except ConfigError as error:
                raise ConfigError(f"{path}: {service}/{name}: {error.message}", hint=error.hint) from error
    return tables


def _check(fields: JsonObject) -> None:
    shapes = {"": _FIELDS, "price": {"input", "output", "cached", "stored"}, "long": {"from", "input", "output"}}
    for table, known in shapes.items():
        found = as_object(fields.get(table)) if table else fields
        if unknown := sorted(found.keys() - known):
            raise ConfigError(f"{unknown[0]} is not known.", hint=f"Known are {', '.join(sorted(known))}.")
    price = as_object(fields.get("price"))
    if price and not {"input", "output"} <= price.keys():
        raise ConfigError("A price has an input and an output, in US dollars for a million tokens.")
    _card(fields)


def _card(fields: JsonObject) -> ModelCard:
    return ModelCard(
        window=_size(fields.get("window")),
        output=_size(fields.get("output")),
        thinks=fields.get("thinks") is True,
        has_budget=fields.get("budget") is True,
        price=_price(as_object(fields.get("price")), as_object(fields.get("long"))),
    )


def _price(price: JsonObject, long: JsonObject) -> Price | None:
    if not price:
        return None
    paid = _number(price["input"])
    return Price(
        input=paid,
        output=_number(price["output"]),
        cached=_number(price.get("cached", paid)),
        stored=_number(price.get("stored", paid)),
        long_from=_size(long.get("from")),
        long_input=_number(long.get("input", 1.0)),
        long_output=_number(long.get("output", 1.0)),
    )


def _size(value: JsonValue) -> int | None:
    return None if value is None else int(_number(value))


def _number(value: JsonValue) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ConfigError(f"{value!r} stands where a number belongs, 0 or more.")
    return value
