"""What a person is told when a model service fails, and whether another try is worth it."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from codeagent.core.errors import ContextOverflow, ProviderError, ProviderRejected, ProviderUnavailable
from codeagent.providers.anthropic import AnthropicProvider
from codeagent.providers.catalog import Limits
from codeagent.providers.failures import Service
from codeagent.providers.openai import OpenAIProvider
from codeagent.providers.openai_chat import OpenAIChatProvider
from codeagent.providers.sse import retry_after
from tests.providers.conftest import ask, called, replied, result, results, said
from tests.server.replies import (
    Call,
    Hangup,
    RawStream,
    Refuse,
    Reply,
    Reset,
    Say,
    StreamError,
    Truncate,
    say,
)
from tests.server.scripted_server import ScriptedServer

KEY = "test-key-123456"
LENGTH = {AnthropicProvider: "max_tokens", OpenAIChatProvider: "length", OpenAIProvider: "max_output_tokens"}
SERVICE = Service(
    name="Acme",
    url="https://user:hunter2@acme.test:8443/v1",
    model="m1",
    key_variable="ACME_KEY",
    url_variable="ACME_URL",
    secret=KEY,
)


async def failure(provider, *messages) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(provider, *messages)
    return caught.value


def test_each_field_that_a_server_does_not_take_is_named():
    body = '{"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}, {"msg": "Odd"}, 5]}'
    assert "body.messages.0: Field required; Odd." in str(SERVICE.refused(422, {}, body))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_busy_service_is_worth_another_try(model_server, provider, status):
    model_server.reply(Refuse(status=status, message="Come back later", retry_after="7"))

    error = await failure(provider)

    assert isinstance(error, ProviderUnavailable)
    assert (error.status, error.retry_after) == (status, 7.0)
    assert "Come back later" in str(error)
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
async def test_a_refusal_is_not_tried_again(model_server, provider, status):
    model_server.reply(Refuse(status=status, message="No such thing"))

    error = await failure(provider)

    assert isinstance(error, ProviderRejected)
    assert error.status == status
    assert "No such thing" in str(error)


async def test_a_refused_size_of_the_reply_names_its_setting(model_server, provider):
    problem = f"Invalid '{'max_tokens' if 'claude' in provider.model else 'max_output_tokens'}': 10 is too small"
    model_server.reply(Refuse(status=400, message=problem))
    error = await failure(provider)
    assert isinstance(error, ProviderRejected)
    assert "model.max_tokens" in error.hint


LIMITS = [
    "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
    "max_tokens is too large: 16384. This model supports at most 8192 completion tokens, whereas you provided 16384.",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the window",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
    "max_output_tokens: 16,384 exceeds the limit of 8,192 for this model.",
]


@pytest.mark.parametrize("refusal", LIMITS)
@pytest.mark.parametrize("make", [AnthropicProvider, OpenAIProvider, OpenAIChatProvider])
async def test_the_most_tokens_that_a_service_allows_are_learnt_from_its_refusal(model_server, make, refusal):
    url = model_server.url if make is AnthropicProvider else model_server.openai_url
    provider = make("new-model", KEY, url, Limits(max_output=16_384))
    model_server.reply(Refuse(status=400, message=refusal), say("Hello."), say("Again."))
    assert (await ask(provider)).text == "Hello."
    assert (await ask(provider)).text == "Again."
    await provider.aclose()
    sizes = [next(v for k, v in one.body.items() if k.startswith("max_")) for one in model_server.requests]
    assert sizes == [16_384, 8_192, 8_192]


async def test_a_size_that_is_refused_again_is_told_with_its_setting_where_it_was_set(model_server):
    for limits, is_set in ((Limits(), False), (Limits().wanted(16_000, None), True)):
        provider = AnthropicProvider("new-model", KEY, model_server.url, limits)
        no = [Refuse(status=400, message=f"max_tokens: 1 > {most}, which is the maximum") for most in (4_096, 8_192)]
        model_server.reply(*no)
        error = await failure(provider)
        await provider.aclose()
        assert isinstance(error, ProviderRejected)
        assert ("leave that setting out" in error.hint) is is_set


async def test_a_wrong_key_names_the_variable_to_check_and_never_the_key():
    with ScriptedServer(key="the-right-one") as server:
        for provider, name in (
            (AnthropicProvider("m", KEY, server.url), "ANTHROPIC_API_KEY"),
            (OpenAIChatProvider("m", KEY, server.openai_url), "OPENAI_API_KEY"),
        ):
            error = await failure(provider)
            await provider.aclose()
            assert isinstance(error, ProviderRejected)
            assert name in str(error)
            assert KEY not in str(error)


async def test_an_unknown_model_is_named():
    with ScriptedServer(models=("known",)) as server:
        provider = AnthropicProvider("clod", KEY, server.url)
        error = await failure(provider)
        await provider.aclose()

    assert "clod" in str(error)
    assert "ANTHROPIC_BASE_URL" in error.hint


async def test_a_wrong_path_in_the_base_url_says_so(model_server):
    provider = OpenAIChatProvider("m", KEY, f"{model_server.url}/nowhere")
    error = await failure(provider)
    await provider.aclose()

    assert isinstance(error, ProviderRejected)
    assert "OPENAI_BASE_URL" in error.hint


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "the request exceeds the available context size, try increasing it",
        "Please reduce the length of the messages or completion.",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
        "Prompt exceeds max length",
        "litellm.ContextWindowExceededError: litellm.BadRequestError: XaiException - x",
        "The prompt length (15000) should not exceed max_num_tokens (9000)",
        "invalid params, context window exceeds limit (2013)",
    ],
)
async def test_a_history_that_is_too_long_is_told_apart(model_server, provider, message):
    model_server.reply(Refuse(status=400, message=message))

    assert isinstance(await failure(provider), ContextOverflow)


@pytest.mark.parametrize("is_in_stream", [False, True])
def test_the_window_that_an_error_names_in_a_field_is_read(is_in_stream):
    said = "the request exceeds the available context size, try increasing it"
    error = {
        "code": 400,
        "message": said,
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 15_000,
        "n_ctx": 9_000,
    }
    service = Service(name="s", url="http://127.0.0.1:1", model="m", key_variable="K", url_variable="U")
    body = json.dumps({"error": error})
    refusal = service.reported(error) if is_in_stream else service.refused(400, {}, body)

    assert isinstance(refusal, ContextOverflow)
    assert refusal.window == 9_000


async def test_a_request_that_is_too_large_is_a_history_that_is_too_long(model_server, provider):
    model_server.reply(Refuse(status=413, message="Request exceeds the maximum size"))

    assert isinstance(await failure(provider), ContextOverflow)


async def test_an_empty_account_is_not_tried_again(model_server, provider):
    model_server.reply(Refuse(status=429, type="insufficient_quota", message="You exceeded your current quota"))

    error = await failure(provider)

    assert isinstance(error, ProviderRejected)
    assert "credit" in error.hint


async def test_an_error_page_of_a_proxy_is_quoted_shortly(model_server, provider):
    page = b"<html>" + b"<p>Bad gateway \x1b[31mred</p>" * 200
    model_server.reply(Refuse(status=502, body=page, headers={"Content-Type": "text/html"}))

    error = await failure(provider)

    assert isinstance(error, ProviderUnavailable)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 250


@pytest.mark.parametrize("status", [403, 404, 502])
async def test_of_an_error_page_its_title_is_told(model_server, provider, status):
    page = b"<!DOCTYPE html><html><head><style>p{}</style><title>Access  denied\n</title></head><body>"
    model_server.reply(Refuse(status=status, body=page + b"<p>Ask your administrator.</p>" * 99))

    told = (await failure(provider)).message

    assert told.endswith(": Access denied.")
    assert "administrator" not in told


async def test_a_web_page_instead_of_a_reply_points_to_the_base_url(model_server, provider):
    model_server.reply(RawStream(chunks=(b"<html>Welcome</html>",), content_type="text/html"))

    error = await failure(provider)

    assert isinstance(error, ProviderRejected)
    assert "BASE_URL" in error.hint


@pytest.mark.parametrize("fault", [Reset(after=3), Reset(after=-1), Truncate(after=3), Truncate(after=0)])
async def test_a_stream_that_breaks_off_is_worth_another_try(model_server, provider, fault):
    model_server.reply(Reply(parts=(Say("one two three", size=2),), fault=fault, pace=0.001))

    error = await failure(provider)

    assert isinstance(error, ProviderUnavailable)
    assert "broke off" in str(error)


async def test_a_break_in_the_middle_of_a_call_gives_no_message(model_server, provider):
    model_server.reply(Reply(parts=(Call("bash", {"command": "rm -rf build/tmp"}),), fault=Truncate(after=3)))

    assert isinstance(await failure(provider), ProviderUnavailable)


async def test_a_connection_closed_without_an_answer_is_worth_another_try(model_server, provider):
    model_server.reply(Hangup())

    assert isinstance(await failure(provider), ProviderUnavailable)


async def test_after_any_failure_the_next_request_works(model_server, provider):
    model_server.reply(
        Hangup(),
        Reply(parts=(Say("a b c d", size=1),), fault=Reset(after=2), pace=0.001),
        Reply(parts=(Say("a b c d", size=1),), fault=Truncate(after=2)),
        Refuse(status=500),
        say("well again"),
    )
    for _ in range(4):
        await failure(provider)

    assert (await ask(provider)).text == "well again"


async def test_an_error_in_mid_stream_is_told_with_its_reason(model_server, provider):
    model_server.reply(Reply(parts=(Say("one two"),), fault=StreamError(after=0)))

    error = await failure(provider)

    assert isinstance(error, ProviderUnavailable)
    assert "overloaded" in str(error).lower()


async def test_a_refusal_in_mid_stream_is_not_tried_again(model_server, provider):
    fault = StreamError(after=0, type="invalid_request_error", message="Bad tool")
    model_server.reply(Reply(parts=(Say("one two"),), fault=fault))

    assert isinstance(await failure(provider), ProviderRejected)


@pytest.mark.parametrize(
    "cut", ['{"path": "a.py", "content": "line1\\nlin', '{"command": "rm -rf build/tm', '{"path": "a.py"}', "{", "[1"]
)
async def test_what_the_model_wrote_as_arguments_is_kept_to_the_letter(model_server, provider, cut):
    model_server.reply(say("", Call("write", cut), stop=LENGTH[type(provider)]))

    message = await ask(provider)

    assert message.calls[0].arguments_json == cut
    assert message.stop == "max_tokens"


@pytest.mark.parametrize("cut", ['{"path": "a.py", "content": "lin', "[1, 2]", '"text"', "NaN", '{"a": NaN}', ""])
async def test_a_history_with_unusable_arguments_is_accepted(model_server, provider, cut):
    await ask(provider, said("go"), replied(called(arguments=cut)), results(result(text="Bad arguments.")))

    assert model_server.refusals == []
    assert not cut or cut in model_server.requests[-1].raw.decode().replace('\\"', '"')


async def test_an_address_where_nobody_listens_is_told_and_tried_a_few_times():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    for provider in (AnthropicProvider("m", KEY, url), OpenAIChatProvider("m", KEY, url)):
        error = await failure(provider)
        await provider.aclose()
        assert isinstance(error, ProviderUnavailable)
        assert str(error).startswith(f"Nothing answers at {url}: the connection was refused.")
        assert "BASE_URL" in error.hint
        assert error.most_retries == 3


@pytest.mark.parametrize("key", ["abc\ndef-secret", "abc\tsecret", "schlüssel-secret"])
@pytest.mark.parametrize("make", [AnthropicProvider, OpenAIChatProvider, OpenAIProvider])
async def test_a_key_that_no_header_can_carry_is_told_at_once_and_never_shown(make, key):
    provider = make("m", key, "http://127.0.0.1:9")
    error = await failure(provider)
    await provider.aclose()
    assert isinstance(error, ProviderRejected)
    assert "cannot be sent: a key is one line of plain characters. Check " in str(error)
    assert "API_KEY" in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("make", "variable", "text"),
    [
        (OpenAIProvider, "OPENAI_ORG_ID", "abc\ndef-secret"),
        (OpenAIChatProvider, "OPENAI_PROJECT_ID", "schlüssel-secret"),
    ],
)
async def test_what_the_environment_adds_is_not_shown_where_it_cannot_be_sent(
    model_server, monkeypatch, make, variable, text
):
    monkeypatch.setenv(variable, text)
    provider = make("m", KEY, model_server.url)
    error = await failure(provider)
    await provider.aclose()
    assert isinstance(error, ProviderRejected)
    assert "secret" not in str(error)


async def test_a_host_that_is_not_found_is_tried_a_few_times():
    for provider in (
        AnthropicProvider("m", KEY, "http://no.invalid"),
        OpenAIChatProvider("m", KEY, "http://no.invalid"),
    ):
        error = await failure(provider)
        await provider.aclose()
        assert str(error).startswith("http://no.invalid cannot be found")
        assert error.most_retries == 3


@pytest.mark.parametrize(
    "url", ["no-scheme.test", "127.0.0.1:8931/v1", "ftp://files.test", "http://", "http://127.0.0.1:99999"]
)
async def test_a_base_url_that_is_none_is_refused_at_once(url):
    for provider in (AnthropicProvider("m", KEY, url), OpenAIChatProvider("m", KEY, url)):
        error = await failure(provider)
        await provider.aclose()
        assert isinstance(error, ProviderRejected)
        assert "base URL" in str(error)


def make_certificate(folder, address="127.0.0.1"):
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 1 -subj /CN=localhost"
    command += f" -addext subjectAltName=IP:{address}"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path):
    with ScriptedServer(tls=make_certificate(tmp_path)) as server:
        provider = AnthropicProvider("m", KEY, server.url)
        error = await failure(provider)
        await provider.aclose()

    assert isinstance(error, ProviderRejected)
    assert "SSL_CERT_FILE" in error.hint


async def test_a_certificate_for_another_host_is_told_apart_from_one_that_nobody_vouches_for(tmp_path, monkeypatch):
    with ScriptedServer(tls=make_certificate(tmp_path, "127.0.0.2")) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        provider = AnthropicProvider("m", KEY, server.url)
        error = await failure(provider)
        await provider.aclose()
    assert "is one for another host" in str(error)
    assert "ANTHROPIC_BASE_URL" in error.hint


async def test_a_company_certificate_is_taken_from_the_environment(tmp_path, monkeypatch):
    with ScriptedServer(say("trusted"), say("trusted"), tls=make_certificate(tmp_path)) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        for provider in (AnthropicProvider("m", KEY, server.url), OpenAIChatProvider("m", KEY, server.openai_url)):
            assert (await ask(provider)).text == "trusted"
            await provider.aclose()


async def test_a_proxy_is_taken_from_the_environment(model_server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", model_server.url)
    provider = AnthropicProvider("m", KEY, "http://far-away.test")

    error = await failure(provider)
    await provider.aclose()

    assert "Not found: http://far-away.test/v1/messages" in str(error)


async def test_too_many_tokens_a_minute_is_no_history_that_is_too_long(model_server, provider):
    model_server.reply(
        Refuse(status=429, message="Too many tokens per minute. Please reduce the length of the messages.")
    )

    assert isinstance(await failure(provider), ProviderUnavailable)


def test_no_secret_gets_into_a_message():
    body = f'{{"error": {{"message": "Incorrect API key provided: {KEY}, or sk-ant-abcdefghijklmnop1234"}}}}'

    text = str(SERVICE.refused(401, {}, body)) + str(SERVICE.unreachable(httpx2.ConnectError(f"failed {KEY}")))

    assert KEY not in text
    assert "sk-ant-abc" not in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(-2, "Name or service not known"), "cannot be found: name or service not known. Check the net"),
        (OSError(101, "Network is unreachable"), "cannot be reached: network is unreachable. Check the network"),
        (OSError("[Errno 113] No route to host"), "cannot be reached: No route to host. Check the network"),
        (UnicodeError("label empty or too long"), "cannot be reached. Check the network"),
        (ssl.SSLError(1, "[SSL] record layer failure (_ssl.c:1006)"), "cannot be reached"),
    ],
)
def test_what_the_system_says_of_the_network_is_told_without_its_numbers(error, told):
    text = str(SERVICE.unreachable(error))
    assert told in text
    assert "Errno" not in text
    assert "_ssl.c" not in text


async def test_a_server_that_speaks_plain_http_at_an_https_address_is_told_at_once(model_server):
    provider = OpenAIChatProvider("m", KEY, model_server.openai_url.replace("http:", "https:"))
    error = await failure(provider)
    await provider.aclose()
    assert isinstance(error, ProviderRejected)
    assert "does not speak HTTPS" in str(error)
    assert "OPENAI_BASE_URL" in error.hint


def test_the_stand_in_for_a_key_is_no_secret():
    service = Service(name="A", url="http://a.test", model="m", key_variable="K", url_variable="U", secret="none")
    assert "none of them" in str(service.refused(400, {}, '{"error": "none of them"}'))


def test_the_place_leaves_out_name_and_password():
    assert SERVICE.place == "https://acme.test:8443"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 +99999999999999999"}, None),
        ({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wanted_wait_is_read_in_seconds(headers, seconds):
    assert retry_after(headers) == seconds


def test_the_wanted_wait_may_be_a_date():
    later = datetime.now(UTC) + timedelta(seconds=90)

    seconds = retry_after({"retry-after": format_datetime(later, usegmt=True)})

    assert seconds is not None
    assert 85 < seconds <= 90


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "plain words",
        '{"error": "words"}',
        '{"message": "words"}',
        '{"error": {"message": 5}}',
        '{"detail": "x"}',
    ],
)
def test_errors_of_any_shape_are_told(body):
    assert str(SERVICE.refused(400, {}, body)).startswith("Acme refused the request (HTTP 400)")


@pytest.mark.parametrize(
    ("status", "told"),
    [(429, "Acme is getting too many requests from this account"), (503, "Acme is overloaded"), (500, "Acme failed")],
)
def test_a_busy_service_that_wants_no_other_try_is_told_as_busy(status, told):
    error = SERVICE.refused(status, {"x-should-retry": "false"}, "")
    assert error.message.startswith(told)
    assert error.hint == "Send the message again later, or choose another model."


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "No such thing.", "code": "model_not_found"}}',
        '{"type": "error", "error": {"type": "not_found_error", "message": "model: m1"}}',
        '{"error": "model \'m1\' not found"}',
    ],
)
def test_an_unknown_model_is_told_as_such_where_the_service_says_so(body):
    error = SERVICE.refused(404, {}, body)
    assert error.message.startswith("https://acme.test:8443 knows no model m1: ")


def test_what_names_no_model_may_be_a_wrong_address():
    error = SERVICE.refused(404, {}, '{"error": "no route for m12"}')
    assert "or no such address" in error.message
    assert "ACME_URL" in error.hint


def test_of_a_long_refusal_the_beginning_is_told_and_the_whole_is_in_the_log(caplog):
    body = f'{{"error": {{"message": "Bad {"word " * 1_000}{KEY} end"}}}}'
    error = SERVICE.refused(400, {}, body)
    assert len(error.message) < 260
    assert len(error.said) > 500
    assert "word [redacted] end" in caplog.text


def test_the_service_may_say_itself_whether_to_try_again():
    assert isinstance(SERVICE.refused(500, {"x-should-retry": "false"}, ""), ProviderRejected)
    assert isinstance(SERVICE.refused(400, {"x-should-retry": "true"}, ""), ProviderUnavailable)


@pytest.mark.parametrize("kind", [AnthropicProvider, OpenAIChatProvider, OpenAIProvider])
@pytest.mark.parametrize("status", [400, 401, 403, 429, 529])
async def test_a_password_in_the_base_url_is_never_told(model_server, kind, status):
    url = model_server.url.replace("//", "//me:pass-word@")
    provider = kind("m1", KEY, url if kind is AnthropicProvider else f"{url}/v1")
    model_server.reply(Refuse(status=status, message="No."))
    told = str(await failure(provider, said("hello")))
    assert model_server.url in told
    assert "pass-word" not in told
    assert ("the name and the password in its address, or the key" in told) is (status == 401)
    await provider.aclose()


@pytest.mark.parametrize("kind", [AnthropicProvider, OpenAIChatProvider, OpenAIProvider])
async def test_a_password_in_an_unusable_base_url_is_not_told_either(kind):
    told = str(await failure(kind("m1", KEY, "http://me:pass-word@[::1"), said("hello")))
    assert "is not a usable base URL" in told
    assert "pass-word" not in told
