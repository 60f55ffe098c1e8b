"""The Anthropic Messages side of the scripted model server: what it refuses, and what it streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.server.replies import Call, Redacted, Reply, Say, StreamError, Think, Tokens, pieces

_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_OF_THE_SERVICE = {"server_tool_use", "web_search_tool_result", "mcp_tool_use", "mcp_tool_result", "container_upload",
                   "compaction"}  # fmt: skip
_MOST_CACHE_MARKERS = 4
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Refused(Exception):
    """The request is one that the service answers with 400."""


def error_body(status: int, message: str, kind: str = "") -> bytes:
    """An error as the service writes it."""
    error = {"type": kind or _ERROR_TYPES.get(status, "api_error"), "message": message}
    return json.dumps({"type": "error", "error": error, "request_id": "req_scripted"}).encode()


# --- what is refused ---------------------------------------------------------------------------


def check(body: object) -> None:
    """Raises Refused for what the service would not take."""
    if not isinstance(body, dict):
        raise Refused("body: Input should be an object")
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            raise Refused(f"{key}: Field required")
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 1:
        raise Refused("max_tokens: Input should be greater than or equal to 1")
    known = {
        "model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "thinking", "metadata",
        "stop_sequences", "cache_control", "output_config", "service_tier",
    }  # fmt: skip
    if unknown := sorted(set(body) - known):
        raise Refused(f"{unknown[0]}: Extra inputs are not permitted")
    effort = body.get("output_config", {}).get("effort", "high")
    if effort not in {"low", "medium", "high", "max"}:
        raise Refused(f"output_config.effort: Input should be 'low', 'medium', 'high' or 'max', not {effort!r}")
    _check_system(body.get("system", ""))
    _check_tools(body.get("tools", []))
    _check_messages(body["messages"])
    if body.get("thinking", {}).get("type") == "enabled":
        _check_turn_began_in_thought(body["messages"])
    if not body.get("tools") and '"tool_use"' in json.dumps(body["messages"]):
        raise Refused("Requests which include `tool_use` or `tool_result` blocks must define tools")
    if json.dumps(body).count('"cache_control"') > _MOST_CACHE_MARKERS:
        raise Refused("A maximum of 4 blocks with cache_control may be provided.")


def _check_system(system: object) -> None:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        raise Refused("system: Input should be a valid list")
    for at, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise Refused(f"system.{at}: only text blocks are allowed")
        _check_text(block, f"system.{at}")


def _check_tools(tools: object) -> None:
    if not isinstance(tools, list):
        raise Refused("tools: Input should be a valid list")
    names: set[str] = set()
    for at, tool in enumerate(tools):
        if not _TOOL_NAME.match(str(tool.get("name", ""))):
            raise Refused(f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if tool["name"] in names:
            raise Refused("tools: Tool names must be unique.")
        names.add(tool["name"])
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise Refused(f"tools.{at}.custom.input_schema.type: Field required")
        if any(key in schema for key in ("oneOf", "allOf", "anyOf")):
            raise Refused(
                f"tools.{at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            )


def _check_messages(messages: object) -> None:
    if not isinstance(messages, list) or not messages:
        raise Refused("messages: at least one message is required")
    waiting: list[str] = []
    used: set[str] = set()
    role_before = ""
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in {"user", "assistant"}:
            raise Refused(f"messages.{at}.role: unexpected role {role!r}")
        if role == role_before:
            raise Refused(f"messages.{at}: roles must alternate, but found multiple {role!r} roles in a row")
        if at == 0 and role != "user":
            raise Refused("messages: first message must use the user role")
        role_before = role
        blocks = _blocks(message.get("content"), f"messages.{at}")
        if role == "assistant":
            waiting = _check_assistant(blocks, f"messages.{at}", used)
            if (last := blocks[-1].get("type")) in {"thinking", "redacted_thinking"}:
                raise Refused(f"messages.{at}: The final block in an assistant message cannot be `{last}`.")
        else:
            _check_user(blocks, f"messages.{at}", waiting)
            waiting = []
    if role_before == "assistant":
        _check_last(blocks)


def _check_turn_began_in_thought(messages: list[dict[str, object]]) -> None:
    """A loop of calls is one turn: it is thought about from its first message on, or not at all."""
    spoken = [
        at for at, message in enumerate(messages)
        if message["role"] == "user" and '"tool_result"' not in json.dumps(message["content"])
    ]  # fmt: skip
    for at, message in list(enumerate(messages))[spoken[-1] :]:
        if message["role"] == "assistant":
            found = _blocks(message["content"], f"messages.{at}")[0].get("type")
            if found not in {"thinking", "redacted_thinking"}:
                raise Refused(
                    f"messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. "
                    "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
                )
            return


def _check_last(blocks: list[dict[str, object]]) -> None:
    if blocks[-1].get("type") == "tool_use":
        raise Refused("messages: `tool_use` ids were found without `tool_result` blocks immediately after")
    text = str(blocks[-1].get("text", ""))
    if text != text.rstrip():
        raise Refused("messages: final assistant content cannot end with trailing whitespace")
    raise Refused(
        "This model does not support assistant message prefill. The conversation must end with a user message."
    )


def _blocks(content: object, where: str) -> list[dict[str, object]]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise Refused(f"{where}: all messages must have non-empty content")
    if not all(isinstance(block, dict) for block in content):
        raise Refused(f"{where}.content: Input should be an object")
    return content


def _check_assistant(blocks: list[dict[str, object]], where: str, used: set[str]) -> list[str]:
    """Returns the ids of the calls that need results now."""
    calls: list[str] = []
    for at, block in enumerate(blocks):
        place = f"{where}.content.{at}"
        match block.get("type"):
            case "text":
                _check_text(block, place)
            case "thinking":
                if not block.get("signature") or not isinstance(block.get("thinking"), str):
                    raise Refused(f"{place}.thinking.signature: Field required")
                _refuse_unknown(block, place, "thinking", "signature")
            case "redacted_thinking":
                if not block.get("data"):
                    raise Refused(f"{place}.redacted_thinking.data: Field required")
            case "tool_use":
                calls.append(_check_call(block, place, used))
            case kind if kind in _OF_THE_SERVICE:
                if kind == "compaction" and not isinstance(block.get("content"), str):
                    raise Refused(f"{place}.compaction.content: Input should be a valid string")
            case kind:
                raise Refused(f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    return calls


def _check_call(block: dict[str, object], place: str, used: set[str]) -> str:
    identity = str(block.get("id", ""))
    if not _ID.match(identity):
        raise Refused(f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if identity in used:
        raise Refused("messages: `tool_use` ids must be unique")
    used.add(identity)
    if not _TOOL_NAME.match(str(block.get("name", ""))):
        raise Refused(f"{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    _refuse_unknown(block, place, "id", "name", "input", "cache_control", "caller")
    if not isinstance(block.get("input"), dict):
        raise Refused(f"{place}.tool_use.input: Input should be a valid dictionary")
    return identity


def _refuse_unknown(block: dict[str, object], place: str, *known: str) -> None:
    if unknown := sorted(set(block) - {"type", *known}):
        raise Refused(f"{place}.{block['type']}.{unknown[0]}: Extra inputs are not permitted")


def _check_user(blocks: list[dict[str, object]], where: str, waiting: list[str]) -> None:
    results: list[str] = []
    for at, block in enumerate(blocks):
        place = f"{where}.content.{at}"
        match block.get("type"):
            case "text":
                _check_text(block, place)
            case "image":
                _check_image(block, place)
            case "tool_result":
                if at != len(results):
                    raise Refused(f"{place}: `tool_result` blocks must come first in the content")
                results.append(_check_result(block, place, waiting))
            case kind:
                raise Refused(f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    if len(results) != len(set(results)):
        raise Refused(f"{where}: each tool_use must have a single result")
    if missing := [identity for identity in waiting if identity not in results]:
        raise Refused(
            f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}"
        )
    if results != waiting:
        raise Refused(f"{where}: `tool_result` blocks are not in the order of their `tool_use` blocks")


def _check_result(block: dict[str, object], place: str, waiting: list[str]) -> str:
    identity = str(block.get("tool_use_id", ""))
    if identity not in waiting:
        raise Refused(f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: {identity}")
    content = block.get("content", "")
    for at, inner in enumerate(content if isinstance(content, list) else ()):
        if inner.get("type") == "text":
            _check_text(inner, f"{place}.content.{at}")
        elif block.get("is_error"):
            raise Refused(f"{place}: all content must be type `text` if `is_error` is true")
        elif inner.get("type") == "image":
            _check_image(inner, f"{place}.content.{at}")
        else:
            raise Refused(f"{place}.content.{at}: Input tag '{inner.get('type')}' does not match")
    return identity


def _check_text(block: dict[str, object], place: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise Refused(f"{place}.text.text: Field required")
    if not text:
        raise Refused(f"{place}: text content blocks must be non-empty")
    if not text.strip():
        raise Refused(f"{place}: text content blocks must contain non-whitespace text")
    if not all(isinstance(cited, dict) and cited.get("type") for cited in block.get("citations", ())):
        raise Refused(f"{place}.text.citations: Input should be a valid dictionary")
    _refuse_unknown(block, place, "text", "cache_control", "citations")


def _check_image(block: dict[str, object], place: str) -> None:
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") != "base64" or not source.get("data"):
        raise Refused(f"{place}.image.source: Field required")
    if source.get("media_type") not in {"image/png", "image/jpeg", "image/gif", "image/webp"}:
        raise Refused(f"{place}.image.source.base64.media_type: Input should be a supported image type")


# --- what is streamed --------------------------------------------------------------------------


def stream(reply: Reply, model: str) -> Iterator[tuple[bytes, bool]]:
    """The events of one reply; the flag marks the pieces that faults count."""
    usage = _usage(reply.tokens) if reply.tokens else {}
    start = {"id": "msg_scripted", "type": "message", "role": "assistant", "model": model, "content": [],
             "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}  # fmt: skip
    yield _event("message_start", message=start), False
    yield _event("ping"), False
    for index, part in enumerate(reply.parts):
        yield _event("content_block_start", index=index, content_block=_opening(part)), False
        for delta in _deltas(part):
            yield _event("content_block_delta", index=index, delta=delta), True
        yield _event("content_block_stop", index=index), False
    stop = ("tool_use" if reply.has_calls else "end_turn") if reply.stop is None else reply.stop
    if stop:
        final = {"output_tokens": reply.tokens.output} if reply.tokens else {}
        delta = {"stop_reason": stop, "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage=final), False
    yield _event("message_stop"), False


def stream_error(fault: StreamError) -> bytes:
    """An error reported in the middle of a stream."""
    return _event("error", error={"type": fault.type, "message": fault.message})


def _usage(tokens: Tokens) -> dict[str, int]:
    return {
        "input_tokens": tokens.input,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
    }


def _opening(part: Say | Think | Redacted | Call) -> dict[str, object]:
    match part:
        case Say():
            return {"type": "text", "text": ""}
        case Think():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Redacted():
            return {"type": "redacted_thinking", "data": part.data}
        case Call():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}


def _deltas(part: Say | Think | Redacted | Call) -> Iterator[dict[str, str]]:
    match part:
        case Say():
            yield from ({"type": "text_delta", "text": piece} for piece in pieces(part.text, part.size))
        case Think():
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(part.text, part.size))
            if part.signature:
                yield {"type": "signature_delta", "signature": part.signature}
        case Redacted():
            return
        case Call():
            for piece in ["", *pieces(part.json, part.size)]:
                yield {"type": "input_json_delta", "partial_json": piece}


def _event(kind: str, **fields: object) -> bytes:
    payload = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {payload}\n\n".encode("utf-8", "surrogatepass")
