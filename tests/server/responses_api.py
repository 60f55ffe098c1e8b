"""The Responses side of the scripted model server: what it refuses, and what it streams."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

from tests.server.chat_api import error_body
from tests.server.messages_api import Refused
from tests.server.replies import Call, Part, Redacted, Reply, Say, StreamError, Think, Tokens, pieces

__all__ = ["check", "error_body", "stream", "stream_error"]

_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_LONGEST_ID = 64
_OF_THE_SERVICE = {"web_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools", "compaction"}
_PARTS = {
    "input_text": {"text"},
    "output_text": {"text", "annotations", "logprobs"},
    "input_image": {"image_url", "detail"},
    "refusal": {"refusal"},
}
_FIELDS = {
    "model", "input", "instructions", "stream", "store", "include", "tools", "reasoning", "max_output_tokens",
    "tool_choice", "parallel_tool_calls", "prompt_cache_key", "text", "metadata",
}  # fmt: skip


# --- what is refused ---------------------------------------------------------------------------


def check(body: object) -> None:
    """Raises Refused for what the service would not take."""
    if not isinstance(body, dict):
        raise Refused("We could not parse the JSON body of your request.")
    for key in ("model", "input"):
        if key not in body:
            raise Refused(f"Missing required parameter: '{key}'.")
    if unknown := sorted(set(body) - _FIELDS):
        raise Refused(f"Unknown parameter: '{unknown[0]}'.")
    effort = body.get("reasoning", {}).get("effort", "low")
    if effort not in {"none", "minimal", "low", "medium", "high", "xhigh"}:
        raise Refused(f"Invalid value: '{effort}' for 'reasoning.effort'.")
    for at, tool in enumerate(body.get("tools", ())):
        if tool.get("type") != "function" or not _TOOL_NAME.match(str(tool.get("name", ""))):
            raise Refused(f"Invalid 'tools[{at}].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.")
        if not isinstance(tool.get("parameters"), dict) or tool["parameters"].get("type") != "object":
            raise Refused(f"Invalid schema for function '{tool['name']}': schema must be of type 'object'.")
    if not isinstance(body["input"], list) or not body["input"]:
        raise Refused("Invalid 'input': empty array.")
    _check_items(body["input"], stores=body.get("store", True))


def _check_items(items: list[dict[str, object]], *, stores: bool) -> None:
    waiting: list[str] = []
    used: set[str] = set()
    for at, item in enumerate(items):
        where = f"input[{at}]"
        kind = item.get("type", "message")
        match kind:
            case "message":
                _check_message(item, where)
            case "function_call":
                waiting.append(_check_call(item, where, used))
            case "function_call_output":
                identity = str(item.get("call_id"))
                if identity not in waiting:
                    raise Refused(f"No tool call found for function call output with call_id {identity}.")
                waiting.remove(identity)
                _check_output(item.get("output"), where)
            case "reasoning":
                _check_reasoning(item, where, items[at + 1 :], stores=stores)
            case _:
                _check_of_the_service(item, where)
        if kind == "message" and waiting and item.get("role") == "user":
            raise Refused(f"No tool output found for function call {waiting[0]}.")
    if waiting:
        raise Refused(f"No tool output found for function call {waiting[0]}.")
    if items[-1].get("role") == "assistant":
        raise Refused("The input must end with something for the model to answer.")


def _check_of_the_service(item: dict[str, object], where: str) -> None:
    if item["type"] not in _OF_THE_SERVICE:
        raise Refused(f"Invalid value: '{item['type']}' for '{where}.type'.")
    if item.get("status") not in {None, "completed", "failed"}:
        raise Refused(f"Invalid value for '{where}.status'.")


def _check_message(item: dict[str, object], where: str) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in {"user", "assistant", "system", "developer"}:
        raise Refused(f"Invalid value: '{role}' for '{where}.role'.")
    if item.get("phase") not in {None, "commentary", "final_answer"}:
        raise Refused(f"Invalid value for '{where}.phase'.")
    if unknown := sorted(set(item) - {"type", "id", "role", "content", "status", "phase"}):
        raise Refused(f"Unknown parameter: '{where}.{unknown[0]}'.")
    if isinstance(content, str):
        if not content.strip():
            raise Refused(f"Invalid '{where}.content': empty text.")
        return
    if not isinstance(content, list) or not content:
        raise Refused(f"Invalid type for '{where}.content'.")
    _check_parts(content, where, text="input_text" if role == "user" else "output_text")


def _check_parts(parts: list[dict[str, object]], where: str, *, text: str) -> None:
    for at, part in enumerate(parts):
        kind = part.get("type")
        known = {"type", *_PARTS.get(str(kind), ())}
        if unknown := sorted(set(part) - known):
            raise Refused(f"Unknown parameter: '{where}.content[{at}].{unknown[0]}'.")
        if not all(isinstance(note, dict) and note.get("type") for note in part.get("annotations", ())):
            raise Refused(f"Invalid type for '{where}.content[{at}].annotations'.")
        if kind == "refusal" and text == "output_text" and part.get("refusal"):
            continue
        if kind == text and str(part.get("text", "")).strip():
            continue
        if kind == "input_image" and str(part.get("image_url", "")).startswith("data:image/"):
            continue
        raise Refused(f"Invalid value: '{kind}' for '{where}.content[{at}]'.")


def _check_call(item: dict[str, object], where: str, used: set[str]) -> str:
    identity = str(item.get("call_id", ""))
    if not 0 < len(identity) <= _LONGEST_ID or identity in used:
        raise Refused(f"Invalid '{where}.call_id': {identity!r}.")
    used.add(identity)
    if not _TOOL_NAME.match(str(item.get("name", ""))):
        raise Refused(f"Invalid '{where}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.")
    if unknown := sorted(set(item) - {"type", "id", "call_id", "name", "arguments", "status", "namespace"}):
        raise Refused(f"Unknown parameter: '{where}.{unknown[0]}'.")
    if not isinstance(item.get("arguments"), str):
        raise Refused(f"Invalid type for '{where}.arguments': expected a string.")
    return identity


def _check_output(output: object, where: str) -> None:
    if isinstance(output, list) and output:
        _check_parts(output, where, text="input_text")
    elif not isinstance(output, str):
        raise Refused(f"Invalid type for '{where}.output': expected a string or a list.")


def _check_reasoning(item: dict[str, object], where: str, rest: list[dict[str, object]], *, stores: bool) -> None:
    if not item.get("id") or not isinstance(item.get("summary"), list):
        raise Refused(f"Missing required parameter: '{where}.summary'.")
    if not stores and not item.get("encrypted_content"):
        raise Refused(f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false.")
    following = next(iter(rest), {})
    is_own = (
        following.get("type") in {"function_call", "reasoning", *_OF_THE_SERVICE}
        or following.get("role") == "assistant"
    )
    if not is_own:
        raise Refused(f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.")


# --- what is streamed --------------------------------------------------------------------------


def stream(reply: Reply, model: str) -> Iterator[tuple[bytes, bool]]:
    """The events of one reply; the flag marks the pieces that faults count."""
    numbers = itertools.count()

    def event(kind: str, **fields: object) -> bytes:
        payload = {"type": kind, "sequence_number": next(numbers), **fields}
        return f"event: {kind}\ndata: {json.dumps(payload, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")

    response = {"id": "resp_scripted", "object": "response", "model": model, "status": "in_progress", "output": []}
    yield event("response.created", response=response), False
    for index, part in enumerate(reply.parts):
        item = _item(part, index)
        kind, texts = _deltas(part)
        yield event("response.output_item.added", output_index=index, item=item | _opening(part)), False
        for text in texts:
            yield event(kind, output_index=index, item_id=item["id"], delta=text), True
        yield event("response.output_item.done", output_index=index, item=item), False
    reason = None if reply.stop in {None, "", "stop", "end_turn", "tool_calls"} else reply.stop
    status = "incomplete" if reason else "completed"
    details = {"reason": reason} if reason else None
    usage = _usage(reply.tokens) if reply.tokens else None
    final = {**response, "status": status, "incomplete_details": details, "usage": usage}
    if reply.stop != "":
        yield event(f"response.{status}", response=final), False


def stream_error(fault: StreamError) -> bytes:
    """An error reported in the middle of a stream."""
    error = {"type": "error", "code": fault.type, "message": fault.message, "param": None, "sequence_number": 9}
    return f"event: error\ndata: {json.dumps(error)}\n\n".encode()


def _usage(tokens: Tokens) -> dict[str, object]:
    total = tokens.input + tokens.cache_read + tokens.cache_write
    details = {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write}
    return {"input_tokens": total, "input_tokens_details": details, "output_tokens": tokens.output}


def _item(part: Part, index: int) -> dict[str, object]:
    match part:
        case Say():
            content = [{"type": "output_text", "text": part.text, "annotations": []}]
            return {"type": "message", "id": f"msg_{index}", "role": "assistant", "content": content}
        case Think():
            summary = [{"type": "summary_text", "text": part.text}]
            return {"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": part.signature}
        case Redacted():
            return {"type": "reasoning", "id": f"rs_{index}", "summary": [], "encrypted_content": part.data}
        case Call():
            call = {"type": "function_call", "id": f"fc_{index}", "call_id": part.id, "name": part.name}
            return call | {"arguments": part.json}


def _opening(part: Part) -> dict[str, object]:
    """What an item still lacks when it begins."""
    match part:
        case Say():
            return {"content": []}
        case Think() | Redacted():
            return {"summary": [], "encrypted_content": "not whole yet"}
        case Call():
            return {"arguments": ""}


def _deltas(part: Part) -> tuple[str, list[str]]:
    match part:
        case Say():
            return "response.output_text.delta", pieces(part.text, part.size)
        case Think():
            return "response.reasoning_summary_text.delta", pieces(part.text, part.size)
        case Redacted():
            return "", []
        case Call():
            return "response.function_call_arguments.delta", pieces(part.json, part.size)
