"""The tools there are, and what the model is told of them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from codeagent.core.errors import ConfigError, UnknownTool
from codeagent.core.json_types import JsonObject, JsonValue
from codeagent.core.protocols import AnyTool, ToolSpec

_LONGEST_NAME = 100
"""Characters of a name that a model made up, when it is told back."""


class Registry:
    """A set of tools in the order of their names, which never changes, so that prompt caches hit."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        """Raises ConfigError for two tools of one name."""
        self._tools: dict[str, AnyTool] = {}
        for tool in sorted(tools, key=lambda tool: tool.name):
            if tool.name in self._tools:
                raise ConfigError(f"There are two tools named {tool.name}.")
            self._tools[tool.name] = tool
        self._specs = tuple(
            ToolSpec(name=tool.name, description=tool.description, schema_json=schema_json(tool))
            for tool in self._tools.values()
        )

    def find(self, name: str) -> AnyTool:
        """The tool of that name; raises UnknownTool naming those there are."""
        tool = self._tools.get(name)
        if tool is None:
            shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]} …"
            raise UnknownTool(f"There is no tool named {shown!r}.", hint=f"The tools are: {', '.join(self._tools)}.")
        return tool

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told about them."""
        return self._specs


def schema_json(tool: AnyTool) -> str:
    """The schema of a tool's arguments as short JSON: references written out, titles and nulls left out."""
    schema: JsonObject = json.loads(json.dumps(tool.Arguments.model_json_schema()))
    definitions = schema.pop("$defs", {})
    schema.pop("description", None)
    slim = _slim(schema, definitions if isinstance(definitions, dict) else {})
    return json.dumps(slim, ensure_ascii=False, separators=(",", ":"))


def _slim(value: JsonValue, definitions: JsonObject) -> JsonValue:
    if isinstance(value, list):
        return [_slim(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        named = _slim(definitions[reference.rpartition("/")[2]], definitions)
        if isinstance(named, dict):
            named.pop("description", None)
        return named
    result: JsonObject = {}
    for key, item in value.items():
        if key == "properties" and isinstance(item, dict):
            result[key] = {name: _slim(argument, definitions) for name, argument in item.items()}
        elif key == "anyOf" and isinstance(item, list):
            result.update(_without_null(item, definitions))
        elif key != "title" and not (key == "default" and item in (None, False)):
            result[key] = _slim(item, definitions)
    return result


def _without_null(choices: list[JsonValue], definitions: JsonObject) -> JsonObject:
    """An optional argument is simply left out: the model need not know that null would do as well."""
    slim = [choice for item in choices if (choice := _slim(item, definitions)) != {"type": "null"}]
    only = slim[0] if len(slim) == 1 else None
    return only if isinstance(only, dict) else {"anyOf": slim}
