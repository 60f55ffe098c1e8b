"""The Chat Completions side of the scripted model server: what it refuses, and what it streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.server.messages_api import Refused
from tests.server.replies import Call, Redacted, Reply, Say, StreamError, Think, Tokens, pieces

_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_LONGEST_ID = 40
_MOST_CALLS = 128
_OF_A_REPLY = {
    "role", "content", "tool_calls", "refusal", "annotations", "reasoning_content", "reasoning", "reasoning_details",
}  # fmt: skip
_ERROR_TYPES = {401: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_exceeded"}
_ERROR_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def error_body(status: int, message: str, kind: str = "") -> bytes:
    """An error as the service writes it; ``kind`` is its code."""
    default = "server_error" if status >= 500 else "invalid_request_error"
    error = {
        "message": message,
        "type": _ERROR_TYPES.get(status, default),
        "param": None,
        "code": kind or _ERROR_CODES.get(status),
    }
    return json.dumps({"error": error}).encode()


# --- what is refused ---------------------------------------------------------------------------


def check(body: object) -> None:
    """Raises Refused for what the service would not take, or strict compatible servers would not."""
    if not isinstance(body, dict):
        raise Refused("We could not parse the JSON body of your request.")
    for key in ("model", "messages"):
        if key not in body:
            raise Refused(f"Missing required parameter: '{key}'.")
    if body.get("reasoning_effort", "none") not in {"none", "minimal", "low", "medium", "high", "xhigh"}:
        raise Refused(f"Invalid value: '{body['reasoning_effort']}' for 'reasoning_effort'.")
    _check_tools(body.get("tools"))
    if not isinstance(body["messages"], list) or not body["messages"]:
        raise Refused("Invalid 'messages': empty array. Expected an array with minimum length 1.")
    _check_messages(body["messages"])


def _check_tools(tools: object) -> None:
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        raise Refused("Invalid 'tools': empty array. Expected an array with minimum length 1.")
    names: set[str] = set()
    for at, tool in enumerate(tools):
        function = tool.get("function")
        if tool.get("type") != "function" or not isinstance(function, dict):
            raise Refused(f"Missing required parameter: 'tools[{at}].function'.")
        if not _TOOL_NAME.match(str(function.get("name", ""))) or function["name"] in names:
            raise Refused(f"Invalid 'tools[{at}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.")
        names.add(function["name"])
        schema = function.get("parameters")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise Refused(f"Invalid schema for function '{function['name']}': schema must be of type 'object'.")


def _check_messages(messages: list[dict[str, object]]) -> None:
    waiting: list[str] = []
    used: set[str] = set()
    role_before = ""
    for at, message in enumerate(messages):
        role = str(message.get("role"))
        where = f"messages[{at}]"
        if waiting and role != "tool":
            raise Refused(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            )
        if role in {"user", "assistant"} and role == role_before:
            raise Refused("Conversation roles must alternate user/assistant/user/assistant/...")
        if role == "assistant":
            waiting = _check_assistant(message, where, used)
        elif role == "tool":
            _check_result(message, where, waiting)
            waiting = waiting[1:]
        else:
            _check_said(message, role, where, at)
        role_before = role
    if waiting:
        raise Refused(f"The following tool_call_ids did not have response messages: {', '.join(waiting)}")
    if role_before == "assistant":
        raise Refused("Cannot have an assistant message at the end of the list.")


def _check_said(message: dict[str, object], role: str, where: str, at: int) -> None:
    if role not in {"user", "system", "developer"}:
        raise Refused(f"Invalid value: '{role}'. Supported values are 'system', 'assistant', 'user', 'tool'.")
    if role != "user" and at:
        raise Refused(f"Invalid '{where}': a system message must come first.")
    _check_content(message.get("content"), where)


def _check_result(message: dict[str, object], where: str, waiting: list[str]) -> None:
    if not waiting or message.get("tool_call_id") != waiting[0]:
        raise Refused(
            f"Invalid '{where}': messages with role 'tool' must be a response to a preceding message "
            "with 'tool_calls', in its order."
        )
    if not isinstance(message.get("content"), str):
        raise Refused(f"Invalid type for '{where}.content': expected a string.")


def _check_length(calls: object, where: str) -> None:
    if calls is not None and (not isinstance(calls, list) or not calls):
        raise Refused(f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum length 1.")
    if isinstance(calls, list) and len(calls) > _MOST_CALLS:
        raise Refused(
            f"Invalid '{where}.tool_calls': array too long. Expected an array with maximum length {_MOST_CALLS}, "
            f"but got an array with length {len(calls)} instead."
        )


def _check_assistant(message: dict[str, object], where: str, used: set[str]) -> list[str]:
    _check_fields(message, where)
    calls = message.get("tool_calls")
    content = message.get("content")
    _check_length(calls, where)
    if not calls and not content:
        raise Refused(f"Invalid value for '{where}.content': expected a string, got null.")
    if isinstance(content, list):
        _check_parts(content, where)
    elif content is not None and (not isinstance(content, str) or not content.strip()):
        raise Refused(f"Invalid '{where}.content': expected a non-empty string or null.")
    ids: list[str] = []
    for at, call in enumerate(calls or ()):
        identity, function = call.get("id"), call.get("function")
        place = f"{where}.tool_calls[{at}]"
        if not isinstance(identity, str) or not 0 < len(identity) <= _LONGEST_ID:
            raise Refused(f"Invalid '{place}.id': string too long. Expected a string with maximum length 40.")
        if identity in used:
            raise Refused(f"Duplicate value for 'tool_call_id' of '{identity}' in {place}")
        used.add(identity)
        if call.get("type") != "function" or not isinstance(function, dict):
            raise Refused(f"Missing required parameter: '{place}.type'.")
        if not _TOOL_NAME.match(str(function.get("name", ""))):
            raise Refused(f"Invalid '{place}.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.")
        _check_arguments(function.get("arguments"), place)
        ids.append(identity)
    return ids


def _check_parts(parts: list[object], where: str) -> None:
    """The parts that Mistral's service knows: https://docs.mistral.ai/api/#tag/chat."""
    for at, part in enumerate(parts):
        known = isinstance(part, dict) and {"text": str, "thinking": list, "reference": list}.get(part.get("type"))
        value = known and part.get("reference_ids" if part["type"] == "reference" else part["type"])
        if not known or not isinstance(value, known) or not value:
            raise Refused(f"Invalid value for '{where}.content[{at}]': unknown or empty part.")


def _check_fields(message: dict[str, object], where: str) -> None:
    if unknown := sorted(set(message) - _OF_A_REPLY):
        raise Refused(f"Unknown parameter: '{where}.{unknown[0]}'.")
    if not all(isinstance(note, dict) and note.get("type") for note in message.get("annotations", ())):
        raise Refused(f"Invalid type for '{where}.annotations': expected a list of objects.")


def _check_arguments(arguments: object, place: str) -> None:
    """Servers that fill a chat template parse the arguments and fail on anything but an object."""
    try:
        if not isinstance(json.loads(str(arguments)), dict):
            raise Refused(f"Invalid '{place}.function.arguments': not an object.")
    except ValueError as error:
        raise Refused(f"Invalid '{place}.function.arguments': {error}") from error


def _check_content(content: object, where: str) -> None:
    if isinstance(content, str):
        if not content.strip():
            raise Refused(f"Invalid '{where}.content': empty text.")
        return
    if not isinstance(content, list) or not content:
        raise Refused(f"Invalid type for '{where}.content': expected a string or a list of parts.")
    for at, part in enumerate(content):
        match part.get("type"):
            case "text":
                if not str(part.get("text", "")).strip():
                    raise Refused(f"Invalid '{where}.content[{at}].text': empty text.")
            case "image_url":
                if not str(part.get("image_url", {}).get("url", "")).startswith("data:image/"):
                    raise Refused(f"Invalid '{where}.content[{at}].image_url.url'.")
            case kind:
                raise Refused(f"Invalid value: '{kind}'. Supported values are: 'text', 'image_url'.")


# --- what is streamed --------------------------------------------------------------------------


def stream(reply: Reply, model: str, *, with_usage: bool) -> Iterator[tuple[bytes, bool]]:
    """The chunks of one reply; the flag marks the pieces that faults count."""
    yield _chunk(model, {"role": "assistant", "content": ""}), False
    for delta in _deltas(reply):
        yield _chunk(model, delta), True
    stop = ("tool_calls" if reply.has_calls else "stop") if reply.stop is None else reply.stop
    if stop:
        yield _chunk(model, {}, finish=stop), False
    if with_usage and reply.tokens:
        yield _line({**_frame(model), "choices": [], "usage": _usage(reply.tokens)}), False
    yield b"data: [DONE]\n\n", False


def _deltas(reply: Reply) -> Iterator[dict[str, object]]:
    calls = 0
    for part in reply.parts:
        match part:
            case Say():
                yield from ({"content": piece} for piece in pieces(part.text, part.size))
            case Think():
                yield from ({"reasoning_content": piece} for piece in pieces(part.text, part.size))
            case Redacted():
                pass
            case Call():
                head = {"index": calls, "id": part.id, "type": "function"}
                yield {"tool_calls": [{**head, "function": {"name": part.name, "arguments": ""}}]}
                for piece in pieces(part.json, part.size):
                    yield {"tool_calls": [{"index": calls, "function": {"arguments": piece}}]}
                calls += 1


def stream_error(fault: StreamError) -> bytes:
    """An error reported in the middle of a stream."""
    return _line({"error": {"type": fault.type, "message": fault.message, "code": fault.type}})


def _usage(tokens: Tokens) -> dict[str, object]:
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
    }


def _frame(model: str) -> dict[str, object]:
    return {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": model}


def _chunk(model: str, delta: dict[str, object], finish: str | None = None) -> bytes:
    return _line({**_frame(model), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _line(payload: dict[str, object]) -> bytes:
    return f"data: {json.dumps(payload, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")
