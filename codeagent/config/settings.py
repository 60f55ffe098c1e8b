"""Every setting, with its type, its default and one sentence on what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.fields import FieldInfo

from codeagent.core.approvals import Mode
from codeagent.core.json_types import JsonObject, JsonValue


def _no_truth_value(given: object) -> object:
    """Raises ValueError for true and false, which Python takes for the numbers 1 and 0."""
    if isinstance(given, bool):
        raise ValueError("This is no number.")  # noqa: TRY004 - pydantic collects ValueErrors alone
    return given


_NUMBER = BeforeValidator(_no_truth_value)
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False), _NUMBER]
_Dollars = Annotated[float, Field(gt=0, allow_inf_nan=False, title="US dollars"), _NUMBER]
_Address = Annotated[str, StringConstraints(strip_whitespace=True)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # checking is prepared when it is needed


class ModelSettings(_Table):
    """``[model]``: which model answers, and how patiently it is waited for."""

    name: str | None = None
    """The model as PROVIDER/NAME: anthropic/…, openai/…, openai-chat/… or scripted/FILE."""
    anthropic_base_url: _Address | None = None
    """Where the Messages API is, when not at Anthropic's own address."""
    openai_base_url: _Address | None = None
    """Where the OpenAI-compatible server is, such as http://127.0.0.1:8080/v1."""
    max_tokens: Annotated[int, Field(gt=0), _NUMBER] | None = None
    """The most tokens that one reply may have; by default, and at most, what the model is known to allow."""
    effort: Literal["low", "medium", "high"] | None = None
    """How hard the model should think, low, medium or high, where it lets itself be told."""
    first_byte_seconds: _Seconds = 600
    """How long to wait for a reply to begin."""
    idle_seconds: _Seconds = 120
    """How long a reply may be silent once it has begun."""
    retries: Annotated[int, Field(ge=0, le=20), _NUMBER] = 6
    """How often a failed request is sent again."""


class PermissionSettings(_Table):
    """``[permissions]``: what may happen without a question."""

    mode: Mode = Mode.ASK
    """ask, edits, auto or plan; Shift+Tab changes it."""
    allow: tuple[str, ...] = ()
    """Rules for calls that need no question, such as "bash(pytest *)" or "edit(docs/**)"."""
    ask: tuple[str, ...] = ()
    """Rules for calls that are always asked about."""
    deny: tuple[str, ...] = ()
    """Rules for calls that never run."""
    add_dirs: tuple[str, ...] = ()
    """Folders outside the workspace that belong to it all the same."""


class SandboxSettings(_Table):
    """``[sandbox]``: what commands may do and see."""

    level: Literal["read-only", "workspace-write", "off"] = "workspace-write"
    """How commands are confined by the operating system."""
    network: bool = True
    """Whether confined commands may use the network."""
    services: bool = False
    """Whether confined commands may use Docker, D-Bus, tmux and other local services, and end other processes."""
    pass_environment: tuple[str, ...] = ()
    """Names of secret-looking environment variables that commands may see all the same."""
    write_dirs: tuple[str, ...] = ()
    """More folders that confined commands may write to, such as package caches."""


class BudgetSettings(_Table):
    """``[budget]``: when a turn has to stop."""

    max_steps: Annotated[int, Field(gt=0), _NUMBER] = 50
    """How many requests one turn may take before the person is asked to go on."""
    max_cost: _Dollars | None = None
    """US dollars a session may cost before the person is asked to go on."""


class ContextSettings(_Table):
    """``[context]``: what happens when the model's window fills up."""

    compact_at: Annotated[float, Field(ge=0.2, le=0.95), _NUMBER] | Literal["off"] = 0.85
    """The part of the model's window at which older messages are summed up, or "off"."""


class UiSettings(_Table):
    """``[ui]``: how it looks."""

    theme: str = "auto"
    """auto (dark or light, as the terminal is), a theme that comes with the program, or one in your themes folder."""
    notices: Literal["auto", "bell", "osc9", "osc777", "off"] = "auto"
    """How you are called while you look elsewhere: auto, bell, osc9, osc777 (bell and desktop notice) or off."""
    reduced_motion: bool = False
    """Draws nothing that moves by itself."""
    vi: bool = False
    """Vi's keys in the prompt: Esc leaves the text for commands, v selects, i goes back to the text."""


class Settings(_Table):
    """All settings after every source was read."""

    model: ModelSettings = ModelSettings.model_construct()
    permissions: PermissionSettings = PermissionSettings.model_construct()
    sandbox: SandboxSettings = SandboxSettings.model_construct()
    context: ContextSettings = ContextSettings.model_construct()
    budget: BudgetSettings = BudgetSettings.model_construct()
    ui: UiSettings = UiSettings.model_construct()
    keys: dict[str, str] = {}
    """Other keys for actions, named as F1 does: ``stop = "ctrl+x"``; what names no key leaves the usual one."""


def checked(tables: Mapping[str, Mapping[str, object]]) -> Settings:
    """The settings that the tables make; raises pydantic's ValidationError.

    Where they hold nothing but plain texts, as most do, there is nothing to check
    and none of the checking is prepared, which takes a while.
    """
    if not all(_is_plain(table, values) for table, values in tables.items()):
        return Settings.model_validate(tables)
    return Settings.model_construct(
        None, **{table: _TABLES[table].model_construct(None, **values) for table, values in tables.items()}
    )


_TABLES: Mapping[str, type[_Table]] = {
    "model": ModelSettings,
    "permissions": PermissionSettings,
    "sandbox": SandboxSettings,
    "context": ContextSettings,
    "budget": BudgetSettings,
    "ui": UiSettings,
}


_ANY_TEXT: tuple[object, ...] = (str, str | None)


def _is_plain(table: str, values: Mapping[str, object]) -> bool:
    """Whether each is a setting that may be any text, and is one."""
    known = _TABLES[table].model_fields if table in _TABLES else {}
    return all(isinstance(set_to, str) and _takes_any_text(known.get(key)) for key, set_to in values.items())


def _takes_any_text(setting: FieldInfo | None) -> bool:
    return setting is not None and setting.annotation in _ANY_TEXT and not setting.metadata


PROJECT_MAY_SET = frozenset(
    {
        ("model", "name"),
        ("model", "max_tokens"),
        ("model", "effort"),
        ("permissions", "ask"),
        ("permissions", "deny"),
        ("budget", "max_steps"),
        ("budget", "max_cost"),
    }
)
"""The harmless settings: a repository can make the program stricter, never laxer, and send nothing elsewhere."""


_KINDS = {
    "boolean": "true or false",
    "array": 'a list of texts in quotes, such as ["…"]',
    "string": "a text in quotes",
    "integer": "a whole number",
    "number": "a number",
}


def what_it_takes(table: str, key: str) -> str:
    """In words, the values that a setting may have."""
    schema: JsonObject = Settings.model_json_schema()
    kinds = [kind for kind in _kinds(_at(schema, "$defs", _table(schema, table), "properties", key), schema) if kind]
    return " or ".join(kinds) or _KINDS["string"]


def words_for(table: str, key: str) -> tuple[str, ...]:
    """The words that a setting can be set to, where it takes few."""
    schema: JsonObject = Settings.model_json_schema()
    return tuple(_words(_at(schema, "$defs", _table(schema, table), "properties", key), schema))


def _words(setting: JsonObject, schema: JsonObject) -> Iterator[str]:
    if reference := setting.get("$ref"):
        setting = _at(schema, *str(reference).removeprefix("#/").split("/"))
    choices, several = setting.get("enum"), setting.get("anyOf")
    if isinstance(choices, list):
        yield from map(str, choices)
    elif "const" in setting:
        yield str(setting["const"])
    elif setting.get("type") == "boolean":
        yield from ("true", "false")
    for one in several if isinstance(several, list) else ():
        yield from _words(one if isinstance(one, dict) else {}, schema)


def _table(schema: JsonObject, table: str) -> str:
    return str(_at(schema, "properties", table).get("$ref", "")).rpartition("/")[2]


def _at(schema: JsonObject, *path: str) -> JsonObject:
    found: JsonValue = schema
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _kinds(setting: JsonObject, schema: JsonObject) -> Iterator[str]:
    """The kinds of values in a JSON schema (https://json-schema.org/understanding-json-schema), in words."""
    if reference := setting.get("$ref"):
        setting = _at(schema, *str(reference).removeprefix("#/").split("/"))
    several = setting.get("anyOf")
    if isinstance(several, list):
        for one in several:
            yield from _kinds(one if isinstance(one, dict) else {}, schema)
        return
    choices = setting.get("enum")
    if isinstance(choices, list):
        *others, last = map(str, choices)
        yield f"{', '.join(others)} or {last}"
    elif "const" in setting:
        yield f'"{setting["const"]}"'
    else:
        yield _KINDS.get(str(setting.get("type")), "") + _bounds(setting)


def _bounds(setting: JsonObject) -> str:
    unit = f" of {setting['title']}" if setting.get("title") == "US dollars" else ""
    if "exclusiveMinimum" in setting:
        return f"{unit} above {setting['exclusiveMinimum']}"
    return f"{unit} from {setting['minimum']} to {setting['maximum']}" if "minimum" in setting else unit
