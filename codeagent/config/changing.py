"""Changes one setting in the text of a settings file and leaves all else in it, comments too, as it is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from codeagent.config.settings import Settings
from codeagent.config.sources import Source, check
from codeagent.core.errors import ConfigError


def setting_name(name: str) -> tuple[str, str]:
    """Table and key of a setting written as TABLE.KEY; raises ConfigError with the names there are."""
    table, _, key = name.partition(".")
    tables: Mapping[str, Mapping[str, object]] = Settings().model_dump()
    if table not in tables:
        raise ConfigError(f"There is no setting {name}.", hint=f"There are the tables {', '.join(tables)}.")
    if not key or (table != "keys" and key not in tables[table]):
        known = ", ".join(f"{table}.{one}" for one in sorted(tables[table])) or f"{table}.ACTION"
        raise ConfigError(f"There is no setting {name}.", hint=f"There are {known}.")
    return table, key


def with_setting(text: str, name: str, written: str, place: str) -> str:
    """The file's text with a setting changed; ``written`` is TOML, or plain text. Raises ConfigError."""
    table, key = setting_name(name)
    refusal: ConfigError | None = None
    for meant in _meanings(written):
        try:
            check(Source(name="config set", tables={table: {key: meant}}))
        except ConfigError as error:
            refusal = refusal or error
            continue
        document = _parsed(text, place)
        held = document.get(table)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        if held is None:
            document[table] = held = tomlkit.table()
        if not isinstance(held, Table):
            raise ConfigError(f"{place}: {table} is no table.", hint=f"Write it as [{table}].")
        held[key] = meant
        return tomlkit.dumps(document)
    raise refusal or ConfigError(f"{written!r} is no value for {name}.")


def without_setting(text: str, name: str, place: str) -> str:
    """The file's text without a setting, which is then at its default; raises ConfigError when it is not there."""
    table, key = setting_name(name)
    document = _parsed(text, place)
    held = document.get(table)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    if not isinstance(held, Table) or key not in held:
        raise ConfigError(f"{name} is not set in {place}.")
    del held[key]
    return tomlkit.dumps(document)


def _meanings(written: str) -> Iterator[object]:
    """What a value on the command line may mean: TOML where it is, and the text itself."""
    tables: dict[str, object] = {}
    with suppress(tomllib.TOMLDecodeError):
        tables = tomllib.loads(f"value = {written}")
    if "value" in tables:
        yield tables["value"]
    yield written


def _parsed(text: str, place: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(f"{place} is not valid TOML: {error}.", hint="Mend that line first.") from error
