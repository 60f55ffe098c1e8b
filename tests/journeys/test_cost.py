"""The limit on money, from the command line or the settings to the question and the exit code."""

import json

import pytest

from tests.server.replies import Call, Reply, Say, Tokens

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]

PRICED = "anthropic/claude-sonnet-4-5"  # 3 dollars for a million tokens of input
DEAR = Tokens(input=100_000, output=0)


def look(number: int) -> Reply:
    return Reply(parts=(Say(f"Look {number}."), Call("read", {"path": "cart.py", "limit": number})), tokens=DEAR)


def dear(*texts: str) -> tuple[Reply, ...]:
    return tuple(Reply(parts=(Say(text),), tokens=DEAR) for text in texts)


@pytest.fixture
def priced(place):
    place.environ["CODEAGENT_MODEL"] = PRICED
    return place


def test_a_run_without_a_screen_ends_at_the_limit_before_the_next_request(priced, model_server):
    model_server.reply(look(1), look(2), look(3), look(4))
    events, code = priced.events("-p", "look", "--max-cost", "0.5")
    ended = events[-1]
    assert (code, ended["reason"], round(ended["cost"], 2)) == (3, "budget", 0.3)
    assert ended["text"].startswith("Stopped at $0.30: the next request costs about $0.32, and the limit is $0.50.")
    assert len(model_server.requests) == 1
    finished = priced.run("-p", "go on", "--continue", "--max-cost", "0.2")
    assert (finished.returncode, finished.stdout) == (3, "")
    assert "--max-cost" in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
    assert len(model_server.requests) == 1
    assert priced.run("-p", "go on", "--continue", "--max-cost", "2").returncode == 0
    assert model_server.refusals == []


def cut_short(text: str, tokens: int) -> Reply:
    """A reply that used up what it was allowed."""
    return Reply(parts=(Say(text),), tokens=Tokens(input=1_000, output=tokens), stop="max_tokens")


def test_a_first_reply_gets_no_longer_than_the_limit_pays_for(priced, model_server):
    model_server.reply(cut_short("As far as it goes", 5_000))
    events, code = priced.events("-p", "write a book", "--max-cost", "0.1")
    ended = events[-1]
    most = model_server.requests[0].body["max_tokens"]
    assert 5_000 < most < 0.1 / 15 * 1_000_000
    assert (code, ended["reason"], len(model_server.requests)) == (3, "budget", 1)
    assert ended["cost"] < 0.1
    finished = priced.run("-p", "write a book", "--max-cost", "0.01")
    assert finished.returncode == 3
    assert finished.stderr.startswith("codeagent: Stopped at $0.00: the next request costs about $0.0")
    assert len(model_server.requests) == 1


def test_in_the_app_a_reply_that_the_limit_cut_short_goes_on_with_a_yes(priced, model_server):
    model_server.reply(cut_short("As far as it goes", 5_000), Reply(parts=(Say(" and to its end."),)))
    with priced.open("--max-cost", "0.1") as terminal:
        terminal.wait("›")
        terminal.type("write a book")
        terminal.press("enter")
        terminal.wait(r"Go on for \$0\.10 more")
        terminal.wait_for_answer("y go on")
        terminal.type("y")
        terminal.wait("and to its end")
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
    assert model_server.refusals == []


def test_the_setting_holds_as_well(priced, model_server):
    assert priced.run("config", "set", "budget.max_cost", "0.2").returncode == 0
    model_server.reply(look(1))
    finished = priced.run("-p", "look", "--output-format", "json")
    assert (finished.returncode, json.loads(finished.stdout)["reason"]) == (3, "budget")


def test_a_model_whose_price_is_unknown_is_not_asked_until_its_price_is_named(place, model_server):
    finished = place.run("-p", "look", "--max-cost", "1")
    assert finished.returncode == 3
    assert "No price is known for anthropic/claude-test" in finished.stderr
    assert "models.toml" in finished.stderr
    assert model_server.requests == []
    config = place.run("config", "path").stdout.strip()
    models = place.root.parent / config.replace("config.toml", "models.toml")
    models.parent.mkdir(parents=True, exist_ok=True)
    models.write_text('[anthropic]\n"claude-test" = { price = { input = 3.0, output = 15.0 } }\n')
    model_server.reply(Reply(parts=(Say("Cheap."),)))
    assert place.run("-p", "look", "--max-cost", "1").stdout == "Cheap.\n"


def test_a_model_without_a_price_leaves_what_is_known_of_the_cost_known(priced, model_server):
    unpriced = [{"model": "anthropic/claude-test", "tokens": 100_000}]
    unknown = Reply(parts=(Say("Two."),), tokens=Tokens(input=99_990, output=10))
    model_server.reply(*dear("One."), unknown, *dear("Three."))
    events, _ = priced.events("-p", "one")
    assert (round(events[-1]["cost"], 2), events[-1]["unpriced"]) == (0.3, [])
    events, _ = priced.events("-p", "two", "--continue", "--model", "anthropic/claude-test")
    assert (events[-1]["cost"], events[-1]["unpriced"]) == (None, unpriced)
    [reported] = [event for event in events if event["type"] == "usage_reported"]
    assert (round(reported["cost"], 2), reported["unpriced"]) == (0.3, unpriced)
    finished = priced.run("-p", "three", "--continue", "--model", PRICED, "--max-cost", "2")
    assert finished.stdout == "Three.\n"
    assert "The limit of $2.00 cannot count 100,000 tokens of anthropic/claude-test" in finished.stderr
    assert "$0.60+" in priced.run("sessions", "list").stdout


def test_in_the_app_the_turn_waits_at_the_limit_and_goes_on_with_a_yes(priced, model_server):
    model_server.reply(look(1), look(2), *dear("That was dear."))
    with priced.open("--max-cost", "0.5") as terminal:
        terminal.wait("›")
        terminal.type("look")
        terminal.press("enter")
        terminal.wait(r"has cost \$0\.30; the next request costs about \$0\.32, and the limit is \$0\.50")
        assert len(model_server.requests) == 1
        terminal.wait_for_answer("y go on")
        terminal.type("y")
        terminal.wait("That was dear")
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
    assert model_server.refusals == []


def test_in_the_app_the_turn_ends_at_the_limit_with_a_no_and_the_next_message_asks_again(priced, model_server):
    model_server.reply(look(1), look(2))
    with priced.open("--max-cost", "0.5") as terminal:
        terminal.wait("›")
        terminal.type("look")
        terminal.press("enter")
        terminal.wait(r"Go on for \$0\.50 more")
        terminal.wait_for_answer("n stop")
        terminal.type("n")
        terminal.wait(r"Stopped at \$0\.30")
        terminal.type("more")
        terminal.press("enter")
        terminal.wait(r"Go on for \$0\.50 more")
        terminal.press("esc")
        terminal.wait_gone(r"Go on for \$0\.50 more")
        terminal.press("ctrl+d")
        terminal.wait_for_exit()
    assert len(model_server.requests) == 1


def test_in_the_app_a_model_without_a_price_is_asked_about_first(place, model_server):
    model_server.reply(Reply(parts=(Say("Uncounted."),)))
    with place.open("--max-cost", "1") as terminal:
        terminal.wait("›")
        terminal.type("look")
        terminal.press("enter")
        terminal.wait("No price is known for anthropic/claude-test")
        assert model_server.requests == []
        terminal.wait_for_answer("y go on")
        terminal.type("y")
        terminal.wait("Uncounted")
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
