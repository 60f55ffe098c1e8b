"""What is pinned stays word for word when the conversation is summed up, and is counted, limited and remembered."""

from __future__ import annotations

import pytest

from codeagent.agent.pins import PinRefused, parse_pin
from codeagent.config.launch import LATEST, Launch
from codeagent.config.places import find_places
from codeagent.core.errors import FileProblem, PathRefused
from codeagent.core.messages import Origin, UserMessage
from codeagent.providers.scripted import ScriptedProvider
from codeagent.wiring import assemble
from tests.server.replies import Call, Reply, Say, say

RULE = "Never touch the billing tables, and keep the German comments as they are."
LONG = "Go on with the work. " * 60
MODELS = '[anthropic]\n"claude-test" = { window = 8_000 }\n'


@pytest.fixture
def opened(tmp_path, model_server):
    home = tmp_path / "home"
    environ = {"CODEAGENT_HOME": str(home), "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model_server.url}
    (home / "config").mkdir(parents=True)
    (home / "config" / "models.toml").write_text(MODELS)
    root = tmp_path / "work"
    root.mkdir()
    (root / "rules.txt").write_text("".join(f"rule {number}\n" for number in range(1, 41)))
    (root / ".env").write_text("SECRET=1\n")
    parts = []

    def opening(resume=None):
        events = []
        flags = {"model": {"name": "anthropic/claude-test"}, "permissions": {"mode": "edits"}}
        launch = Launch(root=root, places=find_places(environ), environ=environ, flags=flags, resume=resume)
        parts.append(assemble(launch, events.append, None))
        return parts[-1], events

    yield opening
    for one in parts:
        one.close()


async def finish(parts):
    parts.close()
    await parts.session.set_provider(ScriptedProvider([])).aclose()


async def talk(parts, model_server, text):
    model_server.reply(say("Understood. " * 60))
    await parts.session.send(text)


async def compact(parts, model_server):
    model_server.reply(say("## Task\nA summary."))
    await parts.session.compact()
    [summary] = [
        message
        for message in parts.session.messages
        if isinstance(message, UserMessage) and message.origin is Origin.SUMMARY
    ]
    return summary.text


async def test_a_message_a_text_and_lines_of_a_file_stay_word_for_word_each_time_and_after_a_resume(
    opened, model_server
):
    parts, _ = opened()
    await talk(parts, model_server, RULE)
    [_, first] = parts.session.pinnable()
    assert first.label == f"you: {RULE[:69]}…"
    await parts.session.pin(first)
    await parts.session.pin("The port is 8099.")
    await parts.session.pin("@rules.txt:3-4")
    for _ in range(3):
        await talk(parts, model_server, LONG)
    for _ in range(2):
        text = await compact(parts, model_server)
        assert RULE in text
        assert "The port is 8099." in text
        assert "rule 3\nrule 4\n" in text
        assert "rule 5" not in text
        assert text.count("The port is 8099.") == 1
        await talk(parts, model_server, LONG)
    sent = model_server.requests[-1].raw.decode()
    assert "The port is 8099." in sent
    summed_up = [request.raw.decode() for request in model_server.requests if b"<session>" in request.raw]
    assert "The port is 8099." not in summed_up[1]
    await finish(parts)

    parts, _ = opened(LATEST)
    assert [pin.label for pin in parts.session.pinned()][1:] == ["The port is 8099.", "@rules.txt:3-4"]
    parts.session.unpin("The port is 8099.")
    await talk(parts, model_server, LONG)
    text = await compact(parts, model_server)
    assert "8099" not in text
    assert "rule 3\nrule 4\n" in text
    assert model_server.refusals == []
    await finish(parts)


async def test_a_pinned_file_is_kept_as_it_is_now_and_what_is_gone_is_told(opened, model_server, tmp_path):
    parts, _ = opened()
    await parts.session.pin("@rules.txt:1")
    await talk(parts, model_server, "Hi.")
    await talk(parts, model_server, LONG)
    (tmp_path / "work" / "rules.txt").write_text("another rule\n")
    assert "another rule" in await compact(parts, model_server)
    (tmp_path / "work" / "rules.txt").unlink()
    await talk(parts, model_server, LONG)
    assert "it cannot be read: rules.txt does not exist." in await compact(parts, model_server)
    await finish(parts)


async def test_the_output_about_a_pinned_file_is_not_taken_out(opened, model_server):
    parts, _ = opened()
    await parts.session.pin("@rules.txt")
    calls = Reply(
        parts=(Say("So."), Call("read", {"path": "rules.txt"}), Call("read", {"path": "rules.txt", "offset": 9}))
    )
    model_server.reply(calls, Reply(parts=(Call("ls", {}),)), say("Done."))
    await parts.session.send("Read.")
    spared = parts.session.pins.spared(parts.session.messages)
    results = [one for message in parts.session.messages for one in getattr(message, "results", ())]
    assert [result.call_id in spared for result in results] == [True, True, False]
    await finish(parts)


async def test_pins_are_limited_to_a_quarter_of_the_window_and_named_once(opened, model_server):
    parts, _ = opened()
    await parts.session.pin("short")
    with pytest.raises(PinRefused, match="pinned already"):
        await parts.session.pin("short")
    with pytest.raises(PinRefused, match="Pins may have 2,000 tokens, a quarter of the window"):
        await parts.session.pin("word " * 3_000)
    report = parts.session.context()
    assert [part.name for part in report.pins] == ["short"]
    with pytest.raises(PinRefused, match="Nothing called other is pinned"):
        parts.session.unpin("other")
    await finish(parts)


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("@.env", PathRefused),
        ("@missing.txt", FileProblem),
        ("@rules.txt:99", FileProblem),
        ("@rules.txt:9-3", PinRefused),
    ],
)
async def test_what_cannot_be_pinned_is_refused_at_once(opened, what, error):
    parts, _ = opened()
    with pytest.raises(error):
        await parts.session.pin(what)
    assert parts.session.pinned() == ()
    await finish(parts)


def test_a_pin_is_a_file_some_of_its_lines_or_a_text():
    assert parse_pin("@a b.py:10-20").path == "a b.py"
    assert (parse_pin("@a.py:7").first, parse_pin("@a.py:7").last) == (7, 7)
    assert parse_pin("@a.py").first is None
    assert parse_pin("mail me @ home").text == "mail me @ home"
