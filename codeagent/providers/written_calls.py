"""Tool calls that a model wrote into its text because its server does not know the form it was taught.

The forms are those of the models' own chat templates: Hermes and Qwen
(``<tool_call>{…}``), Qwen-Coder (``<function=…><parameter=…>``), GLM
(``<arg_key>``), Mistral (``[TOOL_CALLS]``), Llama (``<|python_tag|>``, and
``[name(key="…")]`` as Gemma writes it too), Phi (``functools[…]``), Command R
(``tool_name``), DeepSeek, Kimi, MiniMax, Seed, gpt-oss. A tool's name is understood as it is in a call that the server
found, and a whole call of a tool that there is not is one too: the model is told so.
What was written as arguments is kept to the letter: whether it
is sound is judged where every call is judged.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from codeagent.core.messages import meant_tool

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][\w.:-]*")
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,63}")
_HARMONY = re.compile(
    r"(?:<\|channel\|>)?\s*(?:to=(?P<first>[\w.:-]+)\s*)?(?:<\|channel\|>)?\s*(?P<channel>analysis|commentary|final)?"
    r"\s*(?:to=(?P<last>[\w.:-]+)\s*)?(?:<\|constrain\|>)?\s*(?:json)?\s*<\|message\|>"
)
"""What stands before a message of gpt-oss: its channel, and whom it is to. https://cookbook.openai.com/articles/openai-harmony"""
_MARKS = re.compile(
    r"(?:\[TOOL_CALLS\]|\[ARGS\]|\[CALL_ID\]\w+|[\s,;\[\]]|```(?:json)?|function<｜tool▁sep｜>"
    r"|<｜tool▁(?:call▁begin|call▁end|sep)｜>|<\|tool_call_(?:begin|argument_begin|end)\|>|<\|eo[mt]_id\|>|</s>)*"
)
"""What stands between the names and the JSON objects of calls in one of the forms."""
_OPEN = re.compile(r'<(?:｜DSML｜)?(?:function=|invoke name=)"?([\w.:-]+)"?\s*>')
_CLOSE = re.compile(r"</(?:｜DSML｜)?(?:function|invoke)>(?=\s*(?:<(?:｜DSML｜)?(?:function=|invoke )|\Z))")
_PARAMETER = re.compile(
    r'<(?:｜DSML｜)?parameter(?:=| name=)"?([^">\n]+)"?[^>\n]*>(.*?)</(?:｜DSML｜)?parameter>'
    r"(?=\s*(?:<(?:｜DSML｜)?parameter|\Z))",
    re.DOTALL,
)
_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>(?=\s*(?:<arg_key>|\Z))", re.DOTALL)
_PYTHON = re.compile(r"\[?\s*[A-Za-z_][\w.]*\s*\(")
_ARGUMENTS = ("arguments", "parameters")
_BARE_KEYS = frozenset({"name", "tool_name", "type", "id", "function", *_ARGUMENTS})


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as it was written; ``arguments_json`` is no JSON where the writing broke off."""

    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Found:
    """The calls in a text; ``is_whole`` says that none of them breaks off."""

    calls: tuple[WrittenCall, ...]
    is_whole: bool = True


class _Object(NamedTuple):
    """A JSON object: its values as they were written, and where it ends; None when it breaks off."""

    fields: dict[str, str]
    end: int | None


def find_calls(text: str, tools: AbstractSet[str], *, is_bare: bool = False) -> Found | None:
    """The calls of which a text consists; None when it is anything else.

    ``is_bare`` text has no tags around it, so it must hold nothing but calls in
    their plainest form, of tools that are offered.
    """
    text = text.strip()
    if not text:
        return None
    if _OPEN.match(text):
        return _functions(text, tools)
    if "<arg_key>" in text and (named := _NAME.match(text)) is not None:
        pairs = text[named.end() :]
        name = _called(named[0], tools, is_whole=_is_paired(pairs))
        return Found((_pairs(name, pairs),), is_whole=_is_paired(pairs)) if name else None
    if _PYTHON.match(text):
        return _python(text, tools)
    return _sequence(text, tools, is_bare=is_bare)


def find_addressed(text: str, tools: AbstractSet[str]) -> Found | None:
    """The call that a message of gpt-oss is; None when it is to nobody, or its head is none."""
    head = harmony_head(text)
    if head is None or not head.tool:
        return None
    inner = text[head.end :].strip()
    is_whole = inner.startswith("{") and _object(inner, 0).end == len(inner)
    name = _called(head.tool, tools, is_whole=is_whole)
    return Found((WrittenCall(name, inner),), is_whole=is_whole) if name else None


class HarmonyHead(NamedTuple):
    """Which channel a message of gpt-oss is on, which tool it is to, and where its content begins."""

    channel: str
    tool: str
    end: int


def harmony_head(text: str) -> HarmonyHead | None:
    """The head that a message of gpt-oss begins with; None when it has none, or not all of it yet."""
    found = _HARMONY.match(text)
    if found is None:
        return None
    return HarmonyHead(found["channel"] or "", found["first"] or found["last"] or "", found.end())


def _called(written: str, tools: AbstractSet[str], *, is_whole: bool) -> str:
    """The tool that a name means; in a call that is whole, the name of one that there is not; else nothing."""
    unknown = written if is_whole and _PLAIN_NAME.fullmatch(written) else ""
    return meant_tool(written, tools) or unknown


def _sequence(text: str, tools: AbstractSet[str], *, is_bare: bool) -> Found | None:
    """JSON objects that hold name and arguments, or names each followed by an object of arguments."""
    calls: list[WrittenCall] = []
    at = _skip(_MARKS, text, 0)
    while at < len(text):
        start, name = at, ""
        if text[at] != "{":
            named = None if is_bare else _NAME.match(text, at)
            if named is None:
                return None
            at = _skip(_MARKS, text, named.end())
            is_sure = text[at : at + 1] == "{" and text[named.end()] != " " and _object(text, at).end is not None
            name = _called(named[0], tools, is_whole=is_sure)
            if not name or text[at : at + 1] not in {"", "{"}:
                return None
        read = _object(text, at) if at < len(text) else _Object({}, None)
        written = text[at if at < len(text) else start : read.end]
        call = WrittenCall(name, written) if name else _call(read, written, tools, is_bare=is_bare)
        if call is None:
            return None
        calls.append(call)
        if read.end is None:
            return Found(tuple(calls), is_whole=False)
        at = _skip(_MARKS, text, read.end)
    return Found(tuple(calls)) if calls else None


def _call(read: _Object, written: str, tools: AbstractSet[str], *, is_bare: bool) -> WrittenCall | None:
    """The call that an object with name and arguments describes."""
    fields = read.fields
    if is_bare and set(fields) - _BARE_KEYS:
        return None
    if fields.get("function", "").startswith("{"):
        return _call(_object(fields["function"], 0), fields["function"], tools, is_bare=is_bare)
    given = [fields[key] for key in _ARGUMENTS if key in fields]
    is_sure = not is_bare and read.end is not None and len(given) == 1 and not set(fields) - _BARE_KEYS
    written_name = fields.get("name", fields.get("tool_name", fields.get("function", "")))
    name = _called(_string(written_name) or "", tools, is_whole=is_sure)
    if not name or len(given) > 1:
        return None
    if not given:
        if is_bare:
            return None
        return WrittenCall(name, written if read.end is None else "{}")
    inner = _string(given[0])
    return WrittenCall(name, given[0] if inner is None else inner)


def _python(text: str, tools: AbstractSet[str]) -> Found | None:
    """Calls as Python writes them, in a list or one a line: of tools that are offered, with nothing but literals."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            statements = ast.parse(text).body
        written = [one.value for one in statements if isinstance(one, ast.Expr)]
        if len(written) != len(statements):
            return None
        nodes = written[0].elts if len(written) == 1 and isinstance(written[0], ast.List) else written
        calls = [_python_call(node, tools) for node in nodes]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    found = tuple(call for call in calls if call is not None)
    return Found(found) if found and len(found) == len(calls) else None


def _python_call(node: ast.expr, tools: AbstractSet[str]) -> WrittenCall | None:
    """One such call; raises ValueError or TypeError where an argument is no literal that JSON knows."""
    if not isinstance(node, ast.Call) or node.args:
        return None
    name = meant_tool(ast.unparse(node.func), tools) if isinstance(node.func, ast.Name | ast.Attribute) else None
    given = [(one.arg, ast.literal_eval(one.value)) for one in node.keywords if one.arg is not None]
    if name is None or len(given) != len(node.keywords):
        return None
    return WrittenCall(name, json.dumps(dict(given), ensure_ascii=False, allow_nan=False))


def _object(text: str, at: int) -> _Object:
    """Reads the object that begins there; a value that breaks off or is no JSON goes to the end of the text."""
    fields: dict[str, str] = {}
    at += 1
    while True:
        at = _skip(_SPACE, text, at)
        if text[at : at + 1] == "}":
            return _Object(fields, at + 1)
        if fields and text[at : at + 1] == ",":
            at = _skip(_SPACE, text, at + 1)
        try:
            key, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return _Object(fields, None)
        at = _skip(_SPACE, text, at)
        if not isinstance(key, str) or text[at : at + 1] != ":":
            return _Object(fields, None)
        start = at = _skip(_SPACE, text, at + 1)
        if key in fields:
            key = f"{key} again"  # an object of arguments may do that and is judged later; one with a name may not
        try:
            _, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return _Object({**fields, key: text[start:]}, None)
        fields[key] = text[start:at]


def _functions(text: str, tools: AbstractSet[str]) -> Found | None:
    """Functions in tags, each with its parameters in tags or one JSON object."""
    calls: list[WrittenCall] = []
    at = 0
    while at < len(text):
        opened = _OPEN.match(text, at)
        closed = _CLOSE.search(text, opened.end()) if opened is not None else None
        name = _called(opened[1], tools, is_whole=closed is not None) if opened is not None else ""
        if opened is None or not name:
            return None
        if closed is None:
            return Found((*calls, WrittenCall(name, text[at:])), is_whole=False)
        inner = text[opened.end() : closed.start()].strip()
        if not (
            _object(inner, 0).end == len(inner) if inner.startswith("{") else not _PARAMETER.sub("", inner).strip()
        ):
            return Found((*calls, WrittenCall(name, text[at : closed.end()])), is_whole=False)
        calls.append(WrittenCall(name, inner if inner.startswith("{") else _as_json(_PARAMETER.findall(inner))))
        at = _skip(_SPACE, text, closed.end())
    return Found(tuple(calls))


def _pairs(name: str, text: str) -> WrittenCall:
    return WrittenCall(name, _as_json(_PAIR.findall(text)) if _is_paired(text) else text)


def _is_paired(text: str) -> bool:
    return not _PAIR.sub("", text).strip()


def _as_json(parameters: list[tuple[str, str]]) -> str:
    """The parameters as a JSON object of strings; one that is given twice stays so, for whoever judges it."""
    pairs = (
        f"{json.dumps(key.strip(), ensure_ascii=False)}: {json.dumps(_unwrapped(value), ensure_ascii=False)}"
        for key, value in parameters
    )
    return "{" + ", ".join(pairs) + "}"


def _unwrapped(value: str) -> str:
    """The value without the line breaks that set it off from its tags."""
    return value.removeprefix("\n").removesuffix("\n")


def _string(written: str) -> str | None:
    """The string that JSON text stands for, None when it stands for anything else."""
    try:
        value = _DECODER.decode(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
