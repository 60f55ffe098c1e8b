"""Where settings come from, and which source wins: flag, environment, project, person, default."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationError

from codeagent.config.key_problems import key_problems
from codeagent.config.launch import Tables
from codeagent.config.places import Places, project_config_file
from codeagent.config.settings import PROJECT_MAY_SET, BudgetSettings, Settings, checked, what_it_takes
from codeagent.core.errors import ConfigError
from codeagent.core.values import value

_LONGEST_SHOWN = 60
_FLAGS = {("budget", "max_steps"): "--max-steps", ("budget", "max_cost"): "--max-cost"}
"""The flags whose values are checked here; all others are words to choose from, or read by those whom they concern."""

ADDED_UP = frozenset(
    {("permissions", "allow"), ("permissions", "ask"), ("permissions", "deny"), ("permissions", "add_dirs")}
)
"""Lists to which each source adds; everywhere else the stronger source replaces the weaker one."""


@value
class Source:
    """One place settings come from, with its name as people are told it, and its ``text`` if that is a file.

    ``names`` are those of settings that have other names there.
    """

    name: str
    tables: Tables
    text: str = ""
    names: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def place(self, table: str, key: str, written: str = "") -> str:
        """Its name, and the line where a setting stands, or where ``written`` stands in it, as far as that is found."""
        line = _line(self.text, table, key, written)
        return f"{self.name}, line {line}" if line else self.name


@value
class LoadedSettings:
    """The settings in force, which source gave each one that is not a default, and what is wrong with them.

    ``sources`` are all of them, the weakest first, and ``project`` is the name of the project's own.
    ``left_out`` says what the project's file sets though no project may: told when the
    project is asked about and where settings are listed, not at each start.
    """

    settings: Settings
    origins: Mapping[tuple[str, str], str]
    notices: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    project: str = ""


def load_settings(
    places: Places, root: Path, environ: Mapping[str, str], flags: Tables, *, project: str | None
) -> LoadedSettings:
    """Reads every source and checks the result; raises ConfigError naming the file or flag to mend.

    ``project`` is the text of the settings that the workspace ``root`` brings along,
    None when there are none or they are not trusted.
    """
    sources: list[Source] = []
    left_out: tuple[str, ...] = ()
    if places.config_file.exists():
        sources.append(file_source(places.config_file))
    if project is not None:
        file = project_config_file(root)
        harmless, refused = project_settings(file, project)
        own: Tables = sources[0].tables if sources else {}
        harmless, raised = without_raised_limits(harmless, own)
        sources.append(Source(name=str(file), tables=harmless, text=project))
        left_out = (
            *(f"{file}: a project may not set {name}; it was left out." for name in refused),
            *(f"{file}: a project may not raise {name} above yours; it was left out." for name in raised),
        )
    sources.append(Source(name="the environment", tables=from_environment(environ)))
    sources.append(Source(name="the command line", tables=flags, names=_FLAGS))
    for source in sources:
        check(source)
    merged, origins = merge(sources)
    settings = checked(merged)
    notices = tuple(key_problems(settings.keys))
    return LoadedSettings(
        settings=settings,
        origins=origins,
        notices=notices,
        left_out=left_out,
        sources=tuple(sources),
        project="" if project is None else str(project_config_file(root)),
    )


def file_source(path: Path) -> Source:
    """A settings file as a source; raises ConfigError when it is not valid TOML."""
    try:
        if not path.is_file():
            raise ConfigError(f"{path} is not a file.", hint="Move it out of the way.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.", hint="Mend that line or remove it.") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    return Source(name=str(path), tables=parse(path, text), text=text)


def project_settings(file: Path, text: str) -> tuple[Tables, tuple[str, ...]]:
    """What a project's settings file sets, and the names of what it may not set; raises ConfigError."""
    return split_harmless(parse(file, text))


def parse(path: Path, text: str) -> Tables:
    """The tables in the ``text`` of a settings file; raises ConfigError naming ``path`` when it is not TOML."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLDecodeError
        raise ConfigError(f"{path} is not valid TOML: {error}.", hint="Mend that line or remove it.") from error
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: {name} stands outside of a table.", hint="Put it below a line such as [model].")
    return tables


def split_harmless(tables: Tables) -> tuple[Tables, tuple[str, ...]]:
    """The settings that a repository may bring along, and the names of the others."""
    harmless: dict[str, dict[str, object]] = {}
    refused: list[str] = []
    for table, values in tables.items():
        for key, given in values.items():
            if (table, key) in PROJECT_MAY_SET:
                harmless.setdefault(table, {})[key] = given
            else:
                refused.append(f"{table}.{key}")
    return harmless, tuple(refused)


def unknown_settings(source: Source) -> tuple[tuple[str, bool], ...]:
    """A sentence for each setting that does not exist, and whether a limit of ``[permissions]`` was meant by it."""
    names = [f"{table}.{key}" for table, values in Settings().model_dump().items() for key in values]
    found: list[tuple[str, bool]] = []
    for table, key in ((table, key) for table, values in source.tables.items() for key in values):
        name = f"{table}.{key}"
        if name in names or table == "keys":
            continue
        near = "".join(get_close_matches(name.lower(), names, n=1, cutoff=0.8))
        says = f"there is no setting {name}" + (f": did you mean {near}?" if near else ".")
        found.append((f"{source.place(table, key)}: {says}", (near or name.lower()).startswith("permissions.")))
    return tuple(found)


def without_raised_limits(tables: Tables, own: Tables) -> tuple[Tables, tuple[str, ...]]:
    """A project's settings without those of ``budget`` that exceed the person's ``own``, and the names of these.

    Where the person set no limit, the one that holds by default is theirs.
    """
    limits = {"max_steps": BudgetSettings.model_fields["max_steps"].default, **own.get("budget", {})}
    wanted = tables.get("budget", {})
    raised = [key for key, given in wanted.items() if key in limits and _is_more(given, limits[key])]
    kept = {key: given for key, given in wanted.items() if key not in raised}
    return {**tables, "budget": kept} if raised else tables, tuple(f"budget.{key}" for key in raised)


def _is_more(given: object, limit: object) -> bool:
    """Whether a limit is higher; what is no number is complained of elsewhere."""
    return isinstance(given, int | float) and isinstance(limit, int | float) and given > limit


def from_environment(environ: Mapping[str, str]) -> Tables:
    """The settings that environment variables carry."""
    names = {
        "name": "CODEAGENT_MODEL",
        "anthropic_base_url": "ANTHROPIC_BASE_URL",
        "openai_base_url": "OPENAI_BASE_URL",
    }
    found = {key: environ[name] for key, name in names.items() if environ.get(name)}
    return {"model": found} if found else {}


def check(source: Source) -> None:
    """Checks one source by itself, so that the error can name it; raises ConfigError."""
    try:
        checked(source.tables)
    except ValidationError as error:
        names = [str(part) for part in error.errors()[0]["loc"]]
        place = source.place(names[0], names[1]) if len(names) > 1 else source.name
        said = "; ".join(_problems(error, source.names))
        raise ConfigError(f"{said}." if source.names else f"{place}: {said}.", hint=_hint(error)) from error


def merge(sources: Sequence[Source]) -> tuple[dict[str, dict[str, object]], dict[tuple[str, str], str]]:
    """All sources as one, the later ones stronger, and which source each value came from."""
    merged: dict[str, dict[str, object]] = {}
    origins: dict[tuple[str, str], str] = {}
    for source in sources:
        for table, values in source.tables.items():
            for key, given in values.items():
                before = merged.setdefault(table, {}).get(key)
                if (table, key) in ADDED_UP and isinstance(before, list | tuple) and isinstance(given, list | tuple):
                    merged[table][key] = (*before, *given)
                    origins[table, key] = f"{origins[table, key]}, {source.name}"
                else:
                    merged[table][key] = given
                    origins[table, key] = source.name
    return merged, origins


def _problems(error: ValidationError, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """A sentence without its full stop for each setting that pydantic refused."""
    told = set[str]()
    for problem in error.errors():
        table, *rest = [str(part) for part in problem["loc"]]
        key = rest[0] if rest else ""
        name = names.get((table, key)) or ".".join(filter(None, (table, key)))
        if name in told:
            continue  # one that takes several kinds of values is refused once for each
        told.add(name)
        if problem["type"] == "extra_forbidden":
            yield f"{name}: no such setting"
        elif problem["type"] == "string_type" and len(rest) > 1:
            yield f"{name} holds {_shown(problem['input'])}, which is no text in quotes"
        else:
            yield f"{name} takes {what_it_takes(table, key)}, not {_shown(problem['input'])}"


def _shown(given: object) -> str:
    shown = str(given).lower() if isinstance(given, bool) else repr(given)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _line(text: str, table: str, key: str, written: str) -> int:
    """The number of the line in a settings file, found by its words, as TOML's reader tells none; 0 if it is not."""
    name, dotted = rf"[\"']?{re.escape(table)}[\"']?", rf"[\"']?{re.escape(key)}[\"']?\s*="
    heading, here = re.compile(rf"\s*\[\s*{name}\s*\]"), re.compile(rf"\s*{dotted}")
    anywhere = re.compile(rf"\s*{name}\s*(?:\.\s*{dotted}|=.*{dotted})")
    lines, first, is_below = text.splitlines(), 0, False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("["):
            is_below = heading.match(line) is not None
        elif (is_below and here.match(line)) or anywhere.match(line):
            first = number
            break
    forms = (json.dumps(written, ensure_ascii=False), f"'{written}'") if first and written else ()
    numbered = enumerate(lines[first - 1 :], first)
    return next((number for number, line in numbered if any(form in line for form in forms)), first)


def _hint(error: ValidationError) -> str:
    tables: dict[str, dict[str, object]] = Settings().model_dump()
    for problem in error.errors():
        if problem["type"] == "extra_forbidden" and problem["loc"]:
            table = str(problem["loc"][0])
            if table in tables:
                return f"[{table}] knows {', '.join(sorted(tables[table]))}."
            return f"There are the tables {', '.join(tables)}."
    return ""
