"""The welcome when there is no model yet."""

from codeagent.core.desk import LocalServer
from codeagent.core.errors import NoModel

SERVERS = (
    LocalServer(name="Ollama", url="http://127.0.0.1:11434/v1", models=("qwen[3]", "other")),
    LocalServer(name="vLLM", url="http://127.0.0.1:8000/v1", models=("llama",)),
)


async def test_servers_on_this_machine_are_offered_and_a_number_goes_on_with_one(stage_of):
    async with stage_of(error=NoModel("There is no model."), servers=SERVERS, size=(80, 24)) as stage:
        await stage.until(lambda: "1  Ollama on this machine   qwen[3] and 1 more" in stage.text)
        assert "q  Leave" in stage.text
        await stage.pilot.press("2")
        await stage.until(lambda: stage.desks)
        opening = stage.conversation.opening
        assert (opening.model, opening.base_url) == ("openai-chat/llama", "http://127.0.0.1:8000/v1")
        await stage.until(lambda: "claude-test · ask" in stage.text)


async def test_without_such_servers_the_numbers_do_nothing(stage_of):
    async with stage_of(error=NoModel("There is no model.")) as stage:
        await stage.until(lambda: "There is no model." in stage.text)
        await stage.pilot.press("1")
        await stage.pilot.pause(0.1)
        assert "on this machine" not in stage.text
        assert stage.desks == []


async def test_a_key_is_entered_without_being_shown_and_the_session_opens(stage_of):
    kept = []
    async with stage_of(error=NoModel("There is no model."), kept_keys=kept) as stage:
        await stage.until(lambda: "Anthropic key" in stage.text)
        await stage.pilot.press("a")
        await stage.type("a key")
        await stage.pilot.press("enter")
        await stage.until(lambda: "That is no key." in stage.text)
        assert "a key" not in stage.text
        await stage.pilot.press("escape", "o")
        await stage.type("key-1q")
        assert "key-1q" not in stage.text
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.desks)
        assert kept == [("openai", "key-1q")]
        await stage.until(lambda: "claude-test · ask" in stage.text)


async def test_a_key_that_is_not_accepted_is_kept_only_when_it_is_entered_again(stage_of):
    kept = []
    async with stage_of(error=NoModel("There is no model."), kept_keys=kept, size=(80, 24)) as stage:
        await stage.until(lambda: "Anthropic key" in stage.text)
        await stage.pilot.press("a")
        await stage.type("wrong")
        await stage.pilot.press("enter")
        await stage.until(lambda: "does not accept the key" in stage.text)
        assert "wrong" not in stage.text
        assert kept == []
        await stage.type("-2")
        await stage.pilot.press("enter")
        await stage.until(lambda: "asking" not in stage.text and "does not accept" in stage.text)
        assert kept == []
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.desks)
        assert kept == [("anthropic", "wrong-2")]


async def test_every_choice_is_seen_without_scrolling_on_a_small_screen(stage_of):
    async with stage_of(error=NoModel("There is no model."), servers=SERVERS * 2, size=(60, 15)) as stage:
        await stage.until(lambda: "4  vLLM on this machine" in stage.text)
        for line in ("1  Ollama", "a  Anthropic key", "o  OpenAI key", "d  The demo", "q  Leave"):
            assert line in stage.text


async def test_arrows_and_enter_choose_and_what_was_found_stands_first(stage_of):
    async with stage_of(error=NoModel("There is no model."), servers=SERVERS) as stage:
        await stage.until(lambda: "› 1  Ollama" in stage.text)
        await stage.pilot.press("down", "enter")
        await stage.until(lambda: stage.desks)
        assert stage.conversation.opening.model == "openai-chat/llama"


async def test_escape_goes_back_from_a_key_and_then_leaves(stage_of):
    async with stage_of(error=NoModel("There is no model.")) as stage:
        await stage.until(lambda: "› a  Anthropic key" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: "paste it here" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "q  Leave" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.app.is_running)
    assert stage.app.return_value is None


async def test_on_the_smallest_screen_what_can_be_chosen_is_in_view(stage_of):
    async with stage_of(error=NoModel("There is no model."), size=(20, 5)) as stage:
        await stage.until(lambda: "› a  Anthropic" in stage.text)
        await stage.pilot.press("down", "down", "down")
        await stage.until(lambda: "› q  Leave" in stage.text)
