"""``codeagent config``: shows and changes settings, keeps keys, and prints completion scripts for shells."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from codeagent.cli.command_line import WordsParser
from codeagent.cli.completion import SHELLS, script_for
from codeagent.config.changing import with_setting, without_setting
from codeagent.config.key_problems import impossible_key
from codeagent.config.places import Places, find_places, project_config_file
from codeagent.config.settings import Settings
from codeagent.config.sources import load_settings
from codeagent.config.theme_files import AUTO, theme_files
from codeagent.core.desk import KeyProblem
from codeagent.core.errors import CodeagentError, ConfigError
from codeagent.core.text import clean
from codeagent.keys import KEY_VARIABLES, find_keys, key_service, usable_key
from codeagent.known_models import end_at_once_if_asking, known_models
from codeagent.policy.rules import RuleSet
from codeagent.policy.trust import trusted_settings
from codeagent.providers.catalog import ModelName, without_login
from codeagent.workspace.atomic import write_atomic
from codeagent.workspace.private import make_private_folder, way_out, write_private

_LONGEST_KEY = 100_000

CheckKey = Callable[[str, str], KeyProblem | None]
"""Asks a service whether it takes a key."""


def _no_check(_service: str, _key: str) -> None:
    """A key that nobody is asked about."""


def run(words: Sequence[str], check_key: CheckKey = _no_check) -> int:
    """Does what the first word says, or shows everything; returns the exit code, raises ConfigError."""
    found = _parser().parse_args(words)
    places = find_places(os.environ)
    match found.what:
        case "path":
            print(places.config_file)
        case "set":
            _change(places, found.name, found.value)
        case "unset":
            _change(places, found.name, None)
        case "set-key":
            _keep_key(places, found.provider, _no_check if found.unchecked else check_key)
        case "remove-key":
            _remove_key(places, found.provider)
        case "models":
            print("\n".join(known_models(places, Path.cwd(), os.environ)), flush=True)
            end_at_once_if_asking()
        case "completion":
            sys.stdout.write(script_for(found.shell))
        case _:
            _show(places)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = WordsParser(prog="codeagent config", description="Shows the settings in force, or:")
    add = parser.add_subparsers(dest="what", metavar="COMMAND", title="commands").add_parser
    add("path", help="print where your settings file is")
    setting = add("set", help="change a setting in your file, such as: set model.effort high")
    setting.add_argument("name", metavar="TABLE.KEY")
    setting.add_argument("value", metavar="VALUE", help="plain text, a number, or TOML such as '[\"bash(pytest *)\"]'")
    add("unset", help="take a setting out of your file").add_argument("name", metavar="TABLE.KEY")
    services = ", ".join(KEY_VARIABLES)
    key = add("set-key", help="keep a key: it is asked for and not shown, or read from a pipe")
    key.add_argument("--unchecked", action="store_true", help="keep it without asking the service whether it is right")
    for command in (key, add("remove-key", help="forget a key that was kept")):
        command.add_argument("provider", metavar="PROVIDER", help=f"one of {services}")
    add("models", help="print the models that are known, and those that your services list")
    shell = add("completion", help="print a completion script for bash, zsh or fish")
    shell.add_argument("shell", choices=list(SHELLS), metavar="SHELL")
    return parser


def _show(places: Places) -> None:
    root = Path.cwd()
    loaded = load_settings(places, root, os.environ, {}, project=trusted_settings(root, places.trust_file))
    state = "" if places.config_file.is_file() else "  (not there yet)"
    print(clean(f"# yours:   {places.config_file}{state}"))
    project = project_config_file(root)
    if project.is_file():
        print(clean(f"# project: {project}"))
    keys = find_keys(os.environ, places)
    for kind in KEY_VARIABLES:
        key = keys.find(kind)
        nothing = "your keyring does not answer" if keys.store.is_silent else f"none; codeagent config set-key {kind}"
        print(f"# key:     {kind}: {clean(key.place) if key else nothing}")
    for line in settings_lines(loaded.settings, loaded.origins):
        print(clean(line))
    for notice in (*loaded.left_out, *loaded.notices):
        print(f"# {clean(notice)}")


def _shown(name: str, value: str) -> str:
    return without_login(value) if name.endswith("_url") else value


def settings_lines(settings: Settings, origins: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The settings as lines of TOML, with their source where it is not the default."""
    tables: dict[str, dict[str, object]] = settings.model_dump(mode="json")
    for table, values in tables.items():
        yield ""
        yield f"[{table}]"
        for key, value in values.items():
            origin = origins.get((table, key))
            shown = _shown(key, value) if isinstance(value, str) else value
            note = f"  # {origin}" if origin else ""
            yield f"# {key} is not set" if value is None else f"{key} = {json.dumps(shown, ensure_ascii=False)}{note}"


def change_setting(places: Places, name: str, value: str | None) -> None:
    """Writes the settings file anew, whole or not at all; a link to it stays one. Raises ConfigError."""
    path = places.config_file
    try:
        before = path.read_bytes() if path.exists() else None
        text = (before or b"").decode("utf-8-sig")
        is_set = value is not None
        after = with_setting(text, name, value, str(path)) if is_set else without_setting(text, name, str(path))
        if is_set:
            _require_possible(name, Settings.model_validate(tomllib.loads(after)), places)
        make_private_folder(path.parent)
        if before is None and not path.is_symlink():
            write_private(path, after.encode())
        else:
            write_atomic(path.resolve(), after.encode(), expected=before)
    except OSError as error:
        raise ConfigError(f"{path} cannot be changed: {error.strerror}.", hint=way_out(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be changed: it is not UTF-8 text.") from error
    except ConfigError:
        raise
    except CodeagentError as error:
        raise ConfigError(f"{path} cannot be changed: {error}") from error


def _require_possible(name: str, settings: Settings, places: Places) -> None:
    """Raises a CodeagentError where what was set is of the right type and can mean nothing all the same."""
    table, _, key = name.partition(".")
    if name == "model.name":
        ModelName.parse(settings.model.name or "")
    elif key.endswith("_base_url"):
        _require_address(name, settings.model.openai_base_url if "openai" in key else settings.model.anthropic_base_url)
    elif name == "ui.theme":
        _require_theme(settings.ui.theme, places)
    elif table == "permissions":
        asked = settings.permissions
        RuleSet.parse(deny=asked.deny, ask=asked.ask, allow=asked.allow)
    elif table == "keys" and (problem := impossible_key(key, settings.keys[key])):
        raise ConfigError(problem)


def _require_address(name: str, address: str | None) -> None:
    """Raises ConfigError for what is no address of a server; a login in it is not shown."""
    try:
        parts = urlsplit(address or "")
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # brackets that do not match, a port that is no number
        is_one = False
    if not is_one or len((address or "").split()) != 1:
        raise ConfigError(
            f"{name} takes an address such as http://127.0.0.1:8080/v1, not {without_login(address or '')!r}."
        )


def _require_theme(name: str, places: Places) -> None:
    """Raises ConfigError with the names there are, where no theme has this one."""
    themes = theme_files([places.themes])
    if name != AUTO and name not in themes:
        raise ConfigError(f"There is no theme {name}.", hint=f"There are {AUTO}, {', '.join(themes)}.")


def _change(places: Places, name: str, value: str | None) -> None:
    change_setting(places, name, value)
    print(clean(f"{name} is now {_shown(name, value)}." if value is not None else f"{name} is at its default again."))


def _keep_key(places: Places, provider: str, check_key: CheckKey) -> None:
    kind = key_service(provider)
    keys = find_keys(os.environ, places)
    typed = getpass.getpass(f"Key for {kind} (not shown): ") if sys.stdin.isatty() else sys.stdin.read(_LONGEST_KEY)
    if len(typed.split()) > 1:
        raise ConfigError("A key is one word on one line, and this is more.", hint="Give the key alone.")
    typed = usable_key(typed)
    problem = check_key(kind, typed)
    if problem and problem.is_refused:
        raise ConfigError(f"{problem.text} It was not kept.", hint=f"set-key --unchecked {kind} keeps it all the same.")
    place = keys.keep(kind, typed)
    print(" ".join(filter(None, (f"The key for {kind} is kept in {clean(place)}.", keys.store.refusal))))
    if problem:
        print(clean(problem.text))
    if os.environ.get(KEY_VARIABLES[kind]):
        print(f"{KEY_VARIABLES[kind]} is set as well, and goes before it.")


def _remove_key(places: Places, provider: str) -> None:
    kind = key_service(provider)
    removed = find_keys(os.environ, places).store.remove(kind)
    if not removed:
        raise ConfigError(f"No key for {kind} was kept.")
    print(f"The key for {kind} is gone from {clean(' and '.join(removed))}.")
