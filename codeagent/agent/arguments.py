"""From the text a model wrote as arguments to checked arguments, mending only what is unambiguous."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import NoReturn

from pydantic import ValidationError

from codeagent.core.errors import BadArguments
from codeagent.core.json_types import DEEPEST, JsonObject, JsonValue, is_too_deep
from codeagent.core.messages import AssistantMessage, ToolCall, meant_tool
from codeagent.core.protocols import AnyTool, ArgumentsModel, ToolSpec

_LONGEST_QUOTE = 2_000
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_BYTE_OF_A_NAME = re.compile("[\udc80-\udcff]")


def read_arguments(tool: AnyTool, arguments_json: str) -> tuple[ArgumentsModel, JsonObject]:
    """The tool's arguments, checked, and the mended JSON they were made from.

    Raises BadArguments: with the parser's words and the raw text when it is no
    JSON, else with all problems in one message.
    """
    schema = _schema(tool.Arguments)
    mended = mend(parse(arguments_json), schema)
    try:
        return _checked(tool.Arguments, mended), mended
    except ValidationError as error:
        problems = "\n".join(
            f"- {_place(problem['loc'])}: {problem['msg']}" for problem in error.errors(include_url=False)
        )
        raise BadArguments(
            f"The arguments do not fit {tool.name}; nothing was done.\n{problems}\nIt takes: {_outline(schema)}."
        ) from None


def _checked(arguments: type[ArgumentsModel], mended: JsonObject) -> ArgumentsModel:
    """Python writes a byte of a name that is no text as half a surrogate pair, which pydantic takes for broken JSON."""
    written = json.dumps(mended)
    if "\\ud" in written and _BYTE_OF_A_NAME.search(json.dumps(mended, ensure_ascii=False)):
        return arguments.model_validate(mended)
    return arguments.model_validate_json(written, strict=True)


def parse(arguments_json: str) -> JsonObject:
    """The JSON object in the text; blank is an object without entries. Raises BadArguments.

    A JSON string that holds the whole object is unwrapped, once, and so is a fence around
    it; a closing brace too many is left out.
    """
    if not arguments_json.strip():
        return {}
    try:
        value = _strict_loads(arguments_json)
    except (ValueError, RecursionError):
        value = _load(_bare(arguments_json), arguments_json)
    if isinstance(value, str):
        value = _load(value, arguments_json)
    if not isinstance(value, dict):
        raise BadArguments(
            f"The arguments must be one JSON object; nothing was done. Written was: {_quote(arguments_json)}"
        )
    return value


def _bare(text: str) -> str:
    """The text without what weak models write around an object, where that leaves a whole one."""
    fenced = _FENCED.fullmatch(text.strip())
    bare = fenced[1] if fenced is not None else text
    shorter = bare.rstrip().removesuffix("}")
    with suppress(ValueError, RecursionError):
        return shorter if isinstance(_strict_loads(shorter), dict) else bare
    return bare


def with_meant_tools(reply: AssistantMessage, tools: Sequence[ToolSpec]) -> AssistantMessage:
    """The reply with each call under the name of the tool that it means.

    That is the one tool whose name differs in nothing but its case, a namespace before it, or dirt at its edges.
    """
    names = {tool.name for tool in tools}
    if all(call.name in names for call in reply.calls):
        return reply
    blocks = (
        replace(one, name=meant_tool(one.name, names) or one.name) if isinstance(one, ToolCall) else one
        for one in reply.blocks
    )
    return replace(reply, blocks=tuple(blocks))


def is_whole(arguments_json: str) -> bool:
    """Whether the text is a complete JSON object, as it is not when a reply was cut off."""
    if not arguments_json.strip():
        return False
    try:
        parse(arguments_json)
    except BadArguments:
        return False
    return True


def mend(arguments: JsonObject, schema: JsonObject) -> JsonObject:
    """The arguments with strings turned into what the schema wants where they can only mean that.

    A string becomes an integer, number, boolean, array or object when it is exactly
    the JSON for one and the schema has no use for a string there, at any depth; nothing
    else changes its type. An optional null is left out.
    """
    mended = _mend(arguments, schema, schema)
    return mended if isinstance(mended, dict) else arguments


def _mend(value: JsonValue, schema: JsonValue, root: JsonObject) -> JsonValue:
    options = _options(schema, root)
    if isinstance(value, str):
        return _mend_string(value, options, root)
    if isinstance(value, list):
        fitting = [option for option in options if option.get("type") == "array"]
        return [_mend(item, fitting[0].get("items"), root) for item in value] if len(fitting) == 1 else value
    if isinstance(value, dict):
        fitting = [option for option in options if option.get("type") == "object"]
        return _mend_object(value, fitting[0], root) if len(fitting) == 1 else value
    return value


def _mend_object(value: JsonObject, schema: JsonObject, root: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    mended: JsonObject = {}
    for name, item in value.items():
        if name not in known:
            mended[name] = _mend(item, schema.get("additionalProperties"), root)
            continue
        is_needed = name in needed
        or_null: JsonObject = {"anyOf": [known[name], {"type": "null"}]}
        fixed = _mend(item, known[name] if is_needed else or_null, root)
        if is_needed or fixed is not None:
            mended[name] = fixed
    return mended


def _mend_string(text: str, options: list[JsonObject], root: JsonObject) -> JsonValue:
    kinds = {str(option.get("type")) for option in options}
    if not options or not kinds <= {"integer", "number", "boolean", "array", "object", "null"}:
        return text
    try:
        value = _strict_loads(text)
    except (ValueError, RecursionError):
        return text
    fitting = [option for option in options if _is_kind(value, option.get("type"))]
    if not fitting:
        return text
    return _mend(value, fitting[0], root) if isinstance(value, (list, dict)) else value


def _is_kind(value: JsonValue, kind: JsonValue) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    fitting = {"integer": int, "number": (int, float), "array": list, "object": dict, "null": type(None)}
    return isinstance(kind, str) and kind in fitting and isinstance(value, fitting[kind])


def _options(schema: JsonValue, root: JsonObject) -> list[JsonObject]:
    """The alternatives that a schema allows, each with one type; empty when it says nothing."""
    if not isinstance(schema, dict):
        return []
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _options(_definition(reference, root), root)
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list):
            return [option for branch in branches for option in _options(branch, root) or [{}]]
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return [{**schema, "type": kind} for kind in kinds]
    return [schema]


def _definition(reference: str, root: JsonObject) -> JsonValue:
    found: JsonValue = root
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return found


@cache
def _schema(arguments: type[ArgumentsModel]) -> JsonObject:
    loaded: JsonValue = json.loads(json.dumps(arguments.model_json_schema()))
    return loaded if isinstance(loaded, dict) else {}


def _load(text: str, written: str) -> JsonValue:
    try:
        return _strict_loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArguments(
            f"The arguments are not valid JSON ({error}); nothing was done. Written was: {_quote(written)}"
        ) from None


def _strict_loads(text: str) -> JsonValue:
    loaded: JsonValue = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_each_once)
    if is_too_deep(loaded, text):
        raise ValueError(f"nested more than {DEEPEST} levels deep")
    return loaded


def _each_once(entries: list[tuple[str, JsonValue]]) -> JsonObject:
    """Of two values under one name nobody can tell which was meant."""
    found: JsonObject = {}
    for name, value in entries:
        if name in found:
            raise ValueError(f"{json.dumps(name)} is given twice")
        found[name] = value
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _quote(text: str) -> str:
    if len(text) <= _LONGEST_QUOTE:
        return text
    half = _LONGEST_QUOTE // 2
    return f"{text[:half]} … {len(text) - 2 * half} characters left out … {text[-half:]}"


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the arguments, as in ``edits[0].old``."""
    words = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return words.removeprefix(".") or "arguments"


def _outline(schema: JsonObject) -> str:
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, dict):
        return "nothing"
    needed = required if isinstance(required, list) else []
    return ", ".join(name if name in needed else f"{name} (optional)" for name in properties) or "nothing"
