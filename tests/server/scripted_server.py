"""A model server on 127.0.0.1 that plays scripted replies and refuses what the real services refuse.

It speaks ``/v1/messages``, ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/models``, streams
real server-sent events over real connections, and records every request. In a
test use it as a context manager, or the ``model_server`` fixture; as a program:
``python tests/server/scripted_server.py --script FILE [--port N]`` prints its URL.
"""

from __future__ import annotations

import argparse
import json
import socket
import ssl
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Self

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.server import chat_api, messages_api, responses_api
from tests.server.replies import (
    Answer,
    Bare,
    Hangup,
    RawStream,
    Refuse,
    Reply,
    Reset,
    Say,
    Stall,
    StreamError,
    Truncate,
    from_script,
)

CLOSING_TEXT = "The script is over."
_APIS = {
    "/v1/messages": messages_api,
    "/v1/chat/completions": chat_api,
    "/v1/responses": responses_api,
}
_DEEPEST = 127
_PACKET = 16_384  # bytes; at full speed, events share packets as they do on a real line


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came in; ``refused`` says why the server did not take it, ``received_at`` is monotonic."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, object]
    refused: str = ""
    received_at: float = 0.0

    @property
    def messages(self) -> list[dict[str, object]]:
        """What was said, in whatever form the service has for it."""
        messages = self.body.get("messages", self.body.get("input", []))
        assert isinstance(messages, list)
        return messages


class ScriptedServer:
    """The server; ``url`` is the base URL for Anthropic clients, ``openai_url`` for OpenAI ones.

    ``key`` is the only key it takes (None: any), ``models`` the only models (None: any);
    with ``tls`` it speaks HTTPS.
    """

    def __init__(
        self,
        *answers: Answer,
        key: str | None = None,
        models: tuple[str, ...] | None = None,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.key = key
        self.models = models
        self.will_not_take: dict[bytes, tuple[int, str]] = {}  # status and text for requests that hold such bytes
        self.window: tuple[int, str] | None = None  # tokens, of 3.5 bytes, and the refusal of requests that have more
        self.asides: dict[bytes, Answer] = {}  # answers, outside the script, to requests that hold such bytes
        self.answered_at: list[float] = []  # monotonic times at which answers were sent to their end
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._answers = deque(answers)
        self._changed = threading.Condition()
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.scripted = self
        self._scheme = "https" if tls else "http"
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def refusals(self) -> list[str]:
        """Why requests were answered with 400; a good test ends with this list empty."""
        return [request.refused for request in self.requests if request.refused]

    def reply(self, *answers: Answer) -> None:
        """Adds answers to the end of the script."""
        with self._changed:
            self._answers.extend(answers)

    @property
    def is_played_out(self) -> bool:
        """Whether every answer of the script was given."""
        return not self._answers

    def next_answer(self) -> Answer:
        with self._changed:
            return self._answers.popleft() if self._answers else Reply(parts=(Say(CLOSING_TEXT),))

    def unwanted(self, raw: bytes) -> tuple[int, str]:
        """The status and text that refuse a sound request; 0 and nothing when it is taken."""
        for held, refusal in self.will_not_take.items():
            if held in raw:
                return refusal
        if self.window is not None and len(raw) / 3.5 > self.window[0]:
            return 400, self.window[1].format(sent=int(len(raw) / 3.5))
        return 0, ""

    def record(self, request: Request) -> None:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()

    def wait_for_requests(self, count: int, timeout: float = 10.0) -> None:
        """Waits (in seconds) until so many requests have come in; not for use on an event loop."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, timeout):
                raise TimeoutError(f"{len(self.requests)} of {count} requests came in")

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    scripted: ScriptedServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is nothing to print."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60
    server: _Http

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        if not self.path.startswith("/v1/models"):
            self._send(404, self._error(404, "Not found"))
        elif self.server.scripted.key not in {None, self._key()}:
            self._send(401, self._error(401, f"invalid api key: {self._key()}"))
        else:
            names = self.server.scripted.models or ("scripted-model",)
            models = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in names]
            self._send(200, json.dumps({"object": "list", "data": models, "has_more": False}).encode())

    def do_POST(self) -> None:
        received_at = time.monotonic()
        raw = self._body()
        if len(raw) < int(self.headers.get("Content-Length") or 0):
            self.close_connection = True  # the client went away while it was still asking
            return
        if self.path.partition("?")[0] not in _APIS:
            self._send(404, self._error(404, f"Not found: {self.path}", "not_found_error"))
            return
        scripted = self.server.scripted
        body, status, problem = self._judge(raw)
        scripted.record(
            Request(
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                raw=raw,
                body=body,
                refused=problem,
                received_at=received_at,
            )
        )
        if problem:
            self._send(status, self._error(status, problem))
            return
        aside = next((answer for held, answer in scripted.asides.items() if held in raw), None)
        self._answer(aside or scripted.next_answer(), body)
        scripted.answered_at.append(time.monotonic())

    @property
    def _api(self) -> ModuleType:
        return _APIS.get(self.path.partition("?")[0], chat_api)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("Authorization", "").removeprefix("Bearer ")

    def _judge(self, raw: bytes) -> tuple[dict[str, object], int, str]:
        """The parsed body, and the status and text of a refusal (empty when there is nothing to refuse)."""
        scripted = self.server.scripted
        key = self._key()
        if not key or (scripted.key is not None and key != scripted.key):
            return {}, 401, f"invalid api key: {key}" if key else "x-api-key header is required"
        try:
            body = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
            _check_depth(body)
            json.dumps(body, ensure_ascii=False).encode("utf-8")  # an escaped half of a surrogate pair fails here
            self._api.check(body)
        except messages_api.Refused as refused:
            return body if isinstance(body, dict) else {}, 400, str(refused)
        except ValueError as error:
            return {}, 400, f"The request body is not valid JSON: {error}"
        if scripted.models is not None and body["model"] not in scripted.models:
            return body, 404, f"model: {body['model']}"
        return body, *scripted.unwanted(raw)

    def _error(self, status: int, message: str, kind: str = "") -> bytes:
        return self._api.error_body(status, message, kind)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, answer: Answer, body: dict[str, object]) -> None:
        match answer:
            case Refuse():
                self._sleep(answer.delay)
                headers = dict(answer.headers)
                if answer.retry_after is not None:
                    headers["Retry-After"] = answer.retry_after
                error = self._error(answer.status, answer.message, answer.type)
                self._send(answer.status, error if answer.body is None else answer.body, headers)
            case Hangup():
                self._sleep(answer.delay)
                self.close_connection = True
                if answer.reset:
                    self._reset()
            case RawStream():
                self._open_stream(answer.content_type, answer.headers)
                for chunk in answer.chunks:
                    self._chunk(chunk)
                    self._sleep(answer.pace)
                if answer.stalls:
                    self._break(Stall(after=0))
                else:
                    self._end(answer.trailers)
            case Bare():
                self.close_connection = not answer.stays
                stream = self._events(Reply(parts=answer.parts), body)
                answer.act(self.connection, b"".join(event for event, _ in stream))
            case Reply():
                self._sleep(answer.delay)
                self._open_stream(answer.content_type)
                self._play(answer, body)

    def _events(self, reply: Reply, body: dict[str, object]) -> Iterator[tuple[bytes, bool]]:
        model = str(body["model"])
        if self._api is not chat_api:
            return self._api.stream(reply, model)
        options = body.get("stream_options")
        return chat_api.stream(reply, model, with_usage=isinstance(options, dict) and bool(options["include_usage"]))

    def _play(self, reply: Reply, body: dict[str, object]) -> None:
        if reply.fault is not None and reply.fault.after < 0:
            self._break(reply.fault)
            return
        if reply.wire is not None:
            for chunk in reply.wire(b"".join(event for event, _ in self._events(reply, body))):
                self._chunk(chunk)
            self._end()
            return
        sent = 0
        pending = b""
        for event, is_piece in self._events(reply, body):
            if is_piece and reply.fault is not None and sent >= reply.fault.after:
                self._chunk(pending)
                self._break(reply.fault)
                return
            if reply.pace and is_piece:
                self._chunk(pending)
                pending = b""
                self._sleep(reply.pace if sent else 0)
            pending += event
            sent += is_piece
            if len(pending) > _PACKET:
                self._chunk(pending)
                pending = b""
        self._chunk(pending)
        self._end()

    def _break(self, fault: Reset | Stall | Truncate | StreamError) -> None:
        match fault:
            case Reset():
                self._reset()
            case Stall():
                self.close_connection = True
                self._stall()
            case Truncate():
                self._end()
            case StreamError():
                self._chunk(self._api.stream_error(fault))
                self._end()

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _stall(self) -> None:
        """Silent until the client goes away or the server closes."""
        self.connection.settimeout(0.05)
        while not self.server.scripted.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue

    def _open_stream(self, content_type: str | None, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(200)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if content_type is not None:
            self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _end(self, trailers: bytes = b"") -> None:
        self.wfile.write(b"0\r\n" + trailers + b"\r\n")

    def _sleep(self, seconds: float) -> None:
        if seconds:
            self.server.scripted.closing.wait(seconds)


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def _check_depth(value: object) -> None:
    """Servers written in Rust give up at 128 levels."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            part
            for one in level
            for part in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
    if level:
        raise ValueError("recursion limit exceeded")


def load_script(path: Path) -> list[Answer]:
    """The answers of a script file: JSON lines, blank ones left out."""
    return [from_script(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Plays scripted replies as a model server.")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--record", type=Path, help="append each request's body to this file, one a line")
    arguments = parser.parse_args()
    server = ScriptedServer(*load_script(arguments.script), port=arguments.port)
    if arguments.record:
        record = server.record

        def write(request: Request) -> None:
            record(request)
            with arguments.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"path": request.path, "body": request.body, "refused": request.refused}) + "\n")

        server.record = write
    server.start()
    print(server.url, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
