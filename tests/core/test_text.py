from __future__ import annotations

import json
import re
import time
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeagent.core.text import (
    _KEY_SHAPES,
    Redactor,
    _keys_in,
    clean,
    counted,
    has_disguised,
    has_invisible,
    secrets_in,
    show_bytes,
    show_command,
    show_disguised,
    show_hidden,
    show_invisible,
    storable,
)
from tests.effort import assert_takes_less

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
NASTY = st.text(st.sampled_from("\x1b[]P\\\x07\x9b\x9d\x9c;0m2Kab\r\n\b\t\x00\ud83d\ude00é"), max_size=60)


def test_plain_text_comes_back_as_the_same_object():
    text = "def f():\n\treturn 1\n"
    assert clean(text) is text
    assert show_invisible(text) is text
    assert storable(text) is text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("x\x1b]0;pwn\x07\x1b[2K.txt", "x.txt"),
        ("\x1b]52;c;ZXZpbA==\x07ok", "ok"),
        ("\x1b]52;c;ZXZpbA==\x1b\\ok", "ok"),
        ("\x9d52;c;x\x9cok", "ok"),
        ("\x1bPq#0;2;0\x1b\\ok", "ok"),
        ("\x1b_payload\x1b\\ok", "ok"),
        ("\x1b[8mhidden\x1b[0m", "hidden"),
        ("\x9b31mred", "red"),
        ("\x1b(0lines\x1b(B", "lines"),
        ("\x1bcreset", "reset"),
        ("\x1b]0;no end\nnext line", "\nnext line"),
        ("bell\x07 null\x00 del\x7f", "bell null del"),
        ("a\x85b\x9ac", "abc"),
    ],
)
def test_escape_sequences_never_reach_the_terminal(raw, shown):
    assert clean(raw) == shown


def test_colours_stay_when_asked_for_and_nothing_else_does():
    raw = "\x1b[1;31mred\x1b[0m \x1b[38:5:9mx\x1b[2J\x1b[?25l\x1b]0;t\x07\x1b[5;5H"
    assert clean(raw, keep_colours=True) == "\x1b[1;31mred\x1b[0m \x1b[38:5:9mx"
    assert clean(raw) == "red x"


def test_a_backspace_cannot_turn_a_colour_into_another_sequence():
    assert clean("\x1b[31m\bJ", keep_colours=True) == "\x1b[31mJ"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("10%\r50%\r", "50%"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("\x1b[2K\r10%\x1b[2K\r20%", "20%"),
        ("ab\bc", "ac"),
        ("\n\b\bx", "\nx"),
    ],
)
def test_overwritten_text_is_folded_to_its_last_state(raw, shown):
    assert clean(raw) == shown


@given(st.one_of(ANY_TEXT, NASTY))
def test_cleaned_text_holds_no_control_character_and_encodes(text):
    result = clean(text)
    assert not [c for c in result if (ord(c) < 32 and c not in "\t\n") or 0x7F <= ord(c) < 0xA0]
    assert clean(result) == result
    result.encode("utf-8")


@given(st.one_of(ANY_TEXT, NASTY))
def test_with_colours_an_escape_only_ever_begins_a_colour(text):
    result = clean(text, keep_colours=True)
    for tail in result.split("\x1b")[1:]:
        assert tail.startswith("[")
        assert tail.lstrip("[0123456789;:").startswith("m")


@pytest.mark.parametrize(
    "character",
    [
        *"\u202e\u2066\u2069\u200b\u200d\u00ad\ufeff\u00a0\u3164\u2800\u180e\u034f\ufe0f\U000e0041\x1b\r\x00\x7f\x9b\ud800\u2028\u3000"
    ],
)
def test_what_cannot_be_seen_is_written_out(character):
    text = f"rm -rf ./{character}txt.a"
    assert show_invisible(text) == f"rm -rf ./<U+{ord(character):04X}>txt.a"
    assert has_invisible(text)


@pytest.mark.parametrize(
    "text",
    [
        *("tab\tand\nline", "Grüße", "日本語", "🙂", "❤️ ok", "👩‍💻", "👩🏽‍💻", "العربية", "e\u0301", "1️⃣ ℹ️ ©️ ↩︎"),
        *("می\u200cخواهم", "क्\u200dष"),  # joiners that are seen: of Persian and of Hindi
    ],
)
def test_what_can_be_seen_stays_as_it_is(text):
    assert show_invisible(text) == show_hidden(text) == text
    assert not has_invisible(text)


def test_style_marks_that_follow_no_symbol_are_written_out():
    assert show_invisible("❤️\ufe0f") == "❤️<U+FE0F>"
    assert show_invisible("\u200d👩") == "<U+200D>👩"


@pytest.mark.parametrize("hidden", ["\u200b", "\ufeff", "\xad", "\u200d", "\u200c", "\u200f", "\ufe0f", "\U000e0041"])
def test_prose_hides_nothing_between_its_letters(hidden):
    assert show_hidden(f"pass{hidden}word") == f"pass<U+{ord(hidden):04X}>word"


@pytest.mark.parametrize("text", ["« oui\u202f»\xa0!", "全角\u3000空白", "שלום\u200f!", "葛\U000e0100"])
def test_in_prose_spaces_are_spaces_and_marks_stay_with_their_script(text):
    assert show_hidden(text) == text


@given(ANY_TEXT)
def test_text_is_said_to_be_invisible_exactly_when_showing_changes_it(text):
    assert has_invisible(text) == (show_invisible(text) != text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("c\u0430t a.txt", "c<U+0430>t a.txt"),
        ("git st\u0430tus && \u0441\u0430\u0442", "git st<U+0430>tus && \u0441\u0430\u0442"),
        ("de\uff46 f", "de<U+FF46> f"),
        ("\u039fpenSSL", "<U+039F>penSSL"),
        ("pa\u13a2", "pa<U+13A2>"),
        ("x\u202ey", "x<U+202E>y"),
        ("ls\uff1b rm x", "ls<U+FF1B> rm x"),
        ("ls\u037e rm x", "ls<U+037E> rm x"),
        ("cat \u2024env", "cat <U+2024>env"),
        ("https://good.com\u2044@evil.com", "https://good.com<U+2044>@evil.com"),
        ("\ufe69(rm x)", "<U+FE69>(rm x)"),
    ],
)
def test_letters_and_signs_that_pass_for_ascii_ones_are_written_out(text, shown):
    assert show_disguised(text) == shown
    assert has_disguised(text) == ("202E" not in shown)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("echo \u201ca; rm x\u201d", "echo <U+201C>a; rm x<U+201D>"),
        ("ls \u2013la", "ls <U+2013>la"),
        ("cat /tmp\u2215x", "cat /tmp<U+2215>x"),
        ("a \u2223 b", "a <U+2223> b"),
        (
            'git commit -m "don\u2019t \u2014 do" \u2018x\u2019',
            'git commit -m "don\u2019t \u2014 do" <U+2018>x<U+2019>',
        ),
        ("echo 'a b\uff1b c'", "echo 'a b<U+FF1B> c'"),
        ("c\u0430t x\u202e", "c<U+0430>t x<U+202E>"),
        ("cat 日本語（テスト）.txt", "cat 日本語（テスト）.txt"),
    ],
)
def test_in_a_command_every_sign_that_passes_for_an_ascii_one_is_written_out(command, shown):
    assert show_command(command) == shown


@given(ANY_TEXT)
def test_showing_a_command_writes_out_no_less_than_showing_a_text(text):
    assert show_invisible(show_command(text)) == show_command(text)
    assert show_command("".join(filter(str.isascii, text)).replace("\x7f", "")) == show_invisible(
        "".join(filter(str.isascii, text)).replace("\x7f", "")
    )


@pytest.mark.parametrize(
    "form", ["'{ é}", '"{ é}', '{"\\ é}', "é'{ a}", 'é{"a\\" }', "{'a\"b }é", "{c\u0430t }"], ids=repr
)
def test_no_quotes_in_a_command_make_it_slow_to_show(form):
    start, again, end = form[: form.index("{")], form[form.index("{") + 1 : -1].split("}")[0], form.partition("}")[2]
    command = start + again * 30_000 + end
    for show in (show_command, show_disguised, has_disguised):
        assert_takes_less(0.5, partial(show, command))


@given(
    st.one_of(
        ANY_TEXT, st.text(st.sampled_from("ab о\u0430\uff1b\u2044日\u200b\u3164\ufe0f\u200d❤'\"\\\n"), max_size=30)
    )
)
def test_a_text_is_disguised_when_something_in_it_is_written_out(text):
    assert has_disguised(text) == (show_disguised(text) != show_invisible(text))


@pytest.mark.parametrize(
    "text",
    [
        "don’t — do “it” … well",
        "日本語（テスト）：，；！",
        "x ∣ y ∗ 2 − 1 ∶ z",
        "привет, мир",
        "Δt = λ_max * 12μs",
        "größer naïve Iğdır",
        "test_имя x2 имя_test",
        "日本語code",
    ],
)
def test_words_of_other_scripts_and_formulas_stay_as_they_are(text):
    assert show_disguised(text) == text
    assert not has_disguised(text)


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("\ud83d", "\ufffd"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("name\udcff.txt", "name\ufffd.txt"),
        ("\ufeffx", "\ufeffx"),
    ],
)
def test_lone_surrogates_are_replaced_before_storing(raw, stored):
    assert storable(raw) == stored


def test_a_byte_of_a_name_that_is_no_text_looks_the_same_wherever_it_is_shown():
    name = "caf\udce9 \udcff.txt"
    shown = {show_bytes(name), clean(name), show_invisible(name), show_disguised(name), show_command(name)}
    assert shown == {r"caf\xe9 \xff.txt"}
    assert json.loads(show_bytes(json.dumps(name, ensure_ascii=False), in_json=True)) == r"caf\xe9 \xff.txt"
    assert show_bytes("\ud83d\ude00") == "\ud83d\ude00"


@given(ANY_TEXT)
def test_stored_text_always_encodes_and_only_surrogates_change(text):
    stored = storable(text)
    stored.encode("utf-8")
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert stored == text


def test_known_secrets_are_taken_out_also_when_written_as_json():
    redactor = Redactor(['pa"ss\\word-é', "hunter2-long"])
    assert redactor.redact('a pa"ss\\word-é b') == "a [redacted] b"
    assert redactor.redact('{"k": "pa\\"ss\\\\word-é"}') == '{"k": "[redacted]"}'
    assert redactor.redact('{"k": "pa\\"ss\\\\word-\\u00e9"}') == '{"k": "[redacted]"}'
    assert redactor.redact("hunter2-long") == "[redacted]"


def test_the_longest_secret_wins_when_one_begins_another():
    assert Redactor(["abcdefgh", "abcdefgh-ijkl"]).redact("x abcdefgh-ijkl") == "x [redacted]"


def test_short_values_are_not_taken_for_secrets():
    assert Redactor(["true", ""]).redact("true story") == "true story"


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-" + "a" * 40,
        "sk-proj-" + "B1_" * 20,
        "sk-" + "c" * 48,
        "ghp_" + "d" * 36,
        "github_pat_" + "e" * 40,
        "xoxb-123456789012-abcdefghij",
        "AKIA" + "A" * 16,
        "AIza" + "f" * 35,
        "hf_" + "g" * 34,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    ],
)
def test_keys_of_a_well_known_shape_are_taken_out(key):
    assert Redactor().redact(f"before {key} after") == "before [redacted] after"


def test_a_password_in_an_address_and_a_bearer_token_are_taken_out():
    redactor = Redactor()
    assert redactor.redact("https://me:s3cret@host/x") == "https://[redacted]@host/x"
    assert redactor.redact("Authorization: Bearer abcdefghijklmnop1234") == "Authorization: Bearer [redacted]"


@pytest.mark.parametrize(
    "secret", ["t", "hunter2", "me:pw", ":pw", "me:p:w", "x" * 5_000, "me:" + "x" * 5_000, "a%40b"]
)
@pytest.mark.parametrize("scheme", ["https://", "http://", "git+https://", "HTTPS://"])
def test_whatever_stands_before_the_host_of_a_web_address_is_taken_out(scheme, secret):
    text = f"url = '{scheme}{secret}@git.example/x.git' # {scheme}{secret}@git.example:8080\n"
    assert Redactor().redact(text) == text.replace(secret + "@", "[redacted]@")


@pytest.mark.parametrize(
    "text",
    [
        *("git@github.com:me/x.git", "ssh://git@github.com/me/x.git", "postgres://shop@db/x", "me@mail.example"),
        *("https://medium.com/@me", "https://x.example?mail=me@mail.example", "https://x.example/a@b"),
        *("https://${TOKEN}@github.com/x", "https://<token>@github.com/x", "https://x.example, me@mail.example"),
        *("mailto:me@mail.example", "see https://x.example#a@b", "https:///a@b", "http://a b@c"),
    ],
)
def test_a_name_for_logging_in_and_a_mail_address_stay(text):
    assert Redactor().redact(text) == text


@pytest.mark.parametrize("text", ["://" * 50_000, "https://a" * 20_000, "https://" + "a" * 200_000, "x://a:" * 30_000])
def test_addresses_without_an_end_take_no_time(text):
    assert_takes_less(0.2, lambda: Redactor().redact(text))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "\textraheader = AUTHORIZATION: basic eDpoZWxsbw==\n[core]",
            "\textraheader = AUTHORIZATION: [redacted]\n[core]",
        ),
        ("git -c http.extraHeader='X-Key: two words' fetch", "git -c http.extraHeader='X-Key: [redacted]' fetch"),
        ("http.extraHeader 'X-Key: abc'", "http.extraHeader 'X-Key: [redacted]'"),
        ("AUTHORIZATION: basic eDpoZWxsbw==", "AUTHORIZATION: basic [redacted]"),
        ('{"Authorization": "Basic eDpoZWxsbw=="}', '{"Authorization": "Basic [redacted]"}'),
        (r'"{\"authorization\": \"Bearer abc.def_1234\"}"', r'"{\"authorization\": \"Bearer [redacted]\"}"'),
        ("Authorization: Bearer ${TOKEN}", "Authorization: Bearer ${TOKEN}"),
        ("authorization is basic knowledge", "authorization is basic knowledge"),
    ],
)
def test_the_value_of_a_header_that_holds_a_key_is_taken_out(text, kept):
    assert Redactor().redact(text) == kept


@pytest.mark.parametrize("text", ["task-list of risk-averse people", "pk-1", "https://host:8080/path", "skip-this-one"])
def test_ordinary_words_are_no_keys(text):
    assert Redactor().redact(text) == text


PARTS = st.sampled_from(
    [mark for marks, _ in _KEY_SHAPES for mark in marks]
    + [
        "PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "sk_live_",
        "rk_test_",
        "b" * 40,
        "A1" * 8,
        "a" * 6,
        ".eyJ",
        ".",
    ]
    + [
        "https://discord.com/api/webhooks/1/",
        "discordapp.com/api/webhooks/1/",
        "services/",
        "Basic ",
        "user:pass@host",
        ":",
        "@",
        "/",
        " ",
        "\n",
        "-",
        "é",
        "0f" * 20,
    ]
)


KEYS = st.sampled_from(
    [
        "xapp-AAAAAAAAAAAA",
        "ghp_" + "0aF" * 12,
        "sk-ant-" + "0aF" * 8,
        "eyJ0aF0aF0aF0aF.eyJ1bG1bG1bG1bG.2cH2cH2cH2cH",
        "Bearer 3dI3dI3dI3dI3dI3",
        "bearer 4eJ4eJ4eJ4eJ4eJ4",
        "Authorization: Basic 5fK5fK5fK5",
        "authorization=token 6gL6gL6gL6gL6gL6gL6",
        "extraHeader = X-Key: 7hM7hM7hM7hM",
        "https://x.discord.com/api/webhooks/123/8iN8iN8iN8iN8iN8iN8i",
        "https://hooks.slack.com/services/9jO9jO9jO9jO",
        "https://me:0kP0kP0kP0kP@host",
        "https://1lQ1lQ1lQ1lQ1lQ@host",
    ]
)
BETWEEN = st.sampled_from(["", "/", ".", "=", "-", "_", " ", "\n", '"', ":", "x"])


@given(st.lists(PARTS | KEYS | BETWEEN, max_size=14).map("".join))
@example("xapp-AAAAAAAAAAAAbearer 4eJ4eJ4eJ4eJ4eJ4")
@example("Authorization: Basic 5fK5fK5fK5/Bearer 3dI3dI3dI3dI3dI3dI3dI")
@example("xapp-eyJ0aF0aF0aF0aF.eyJ1bG1bG1bG1bG.eyJ2cH2cH2cH2cH.3dI3dI3dI3dI")
def test_a_search_where_keys_may_begin_takes_no_less_than_one_through_the_whole_text(text):
    shapes = "|".join(shape for _, shape in _KEY_SHAPES)
    shapes = shapes.replace("([Bb]earer )", "(?<=[Bb]earer )").replace("|(://)", "|(?<=://)")
    ours = {at for found in _keys_in(text) for at in _places(found)}
    assert all(ours.issuperset(_places(found)) for found in re.finditer(shapes, text, re.DOTALL))
    assert sum(map(len, Redactor().redact(text).split("[redacted]"))) == len(text) - len(ours)


def _places(found):
    """Where the characters stand that are taken out."""
    return range(found.end(found.lastindex) if found.lastindex else found.start(), found.end())


def test_a_key_in_the_address_of_any_subdomain_is_taken_out():
    for host in ("discord.com", "discordapp.com", "x.discord.com", "ptb.discord.com", "a-1.b_2.discord.com"):
        assert Redactor().redact(f"post to https://{host}/api/webhooks/123/{'0aF' * 8}!") == "post to [redacted]!"


@pytest.mark.parametrize(("count", "words"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1_200, "1,200 files")])
def test_one_is_told_from_many(count, words):
    assert counted(count, "file") == words
    assert counted(count, "entry", "entries") == words.replace("files", "entries").replace("file", "entry")


def test_secrets_are_known_by_the_names_of_their_variables():
    environ = {
        "ANTHROPIC_API_KEY": "1",
        "GITHUB_TOKEN": "2",
        "DB_PASSWORD": "3",
        "AWS_SECRET_ACCESS_KEY": "4",
        "HOME": "/home/me",
        "PATH": "/bin",
        "MYSQL_PWD": "5",
        "AUTH_HEADER": "Bearer 6-of-these",
        "COOKIE": "7",
        "EXTRA": "sk_live_51HabcdEFGHijklMNOPqrst",
        "PWD": "/home/me",
        "OLDPWD": "/",
        "SSH_AUTH_SOCK": "/run/agent",
        "EMPTY_TOKEN": "",
        "KEYBOARD": "us",
    }
    assert secrets_in(environ) == (
        *("1", "2", "3", "4", "5", "Bearer 6-of-these", "7", "sk_live_51HabcdEFGHijklMNOPqrst"),
        "6-of-these",
    )


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("postgres://shop:hunter2-long@db.example/shop", ("hunter2-long",)),
        ("amqps://u:p%40ss-word1@h", ("p%40ss-word1", "p@ss-word1")),
        ("redis://:only-a-password9@cache:6379/0", ("only-a-password9",)),
        ("Server=db;User Id=sa;Password=Hunter2-Long;Encrypt=true", ("Hunter2-Long",)),
        ("host=db user=me password='Hunter2-Long' sslmode=require", ("Hunter2-Long",)),
        ("host=db user=me password=Hunter2-Long sslmode=require", ("Hunter2-Long",)),
        ("postgres://postgres:postgres@localhost/test", ()),
        ("https://example.org:8080/a@b", ()),
        ("/home/me", ()),
    ],
)
def test_passwords_inside_other_values_are_known_as_well(value, found):
    assert secrets_in({"DATABASE_URL": value}) == found


def test_hostile_text_takes_no_longer_than_its_length_allows():
    started = time.thread_time()
    for piece in (
        "\x1b[",
        "\x1b]",
        "\x1b]a\x1b",
        "\r",
        "a\b",
        "\x1b[0;",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "sk-",
        "sk-a" * 9 + " ",
    ):
        text = piece * (200_000 // len(piece))
        clean(text, keep_colours=True)
        show_invisible(text)
        Redactor().redact(text)
    assert time.thread_time() - started < 10
