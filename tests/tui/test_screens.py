"""Pictures of every screen, in a narrow dark terminal and a wide light one; somebody looks at each when it changes."""

import pytest

from codeagent.core.desk import LocalServer
from codeagent.core.errors import NoModel
from codeagent.tui.themes import load_themes
from tests.tui import scenes
from tests.tui.scenes import NARROW, SIZES, SMALLEST, WIDE, asked, asking, change, filled, parted, shows, typed

NO_MODEL = NoModel("No model is set, and no key was found.", hint="Ollama answers at 127.0.0.1:11434.")
SERVERS = (LocalServer(name="Ollama", url="http://127.0.0.1:11434/v1", models=("qwen3", "other")),)


@SIZES
def test_the_first_screen(picture, size, theme):
    ready = shows("~/src/shop", "main*", "What shall we do?", "f1 keys")
    assert picture(ready, size, theme=theme)


@SIZES
def test_the_welcome(picture, size, theme):
    assert picture(
        shows("No model is set", "Ollama on this machine"), size, theme=theme, error=NO_MODEL, servers=SERVERS
    )


TURNS = {
    "tools in every state": (scenes.tools_in_every_state, ("4,000 carts", "edit", "1 running", "esc stop")),
    "streaming": (scenes.streaming, ("still let through", "esc stop")),
    "done": (scenes.done, ("still let through", "f1 keys")),
    "notices": (scenes.noticed, ("disk is full", "f1 keys")),
}


@SIZES
@pytest.mark.parametrize("name", TURNS)
def test_a_turn(picture, name, size, theme):
    turn, words = TURNS[name]
    assert picture(typed("the totals are wrong\n", until=words), size, turn=turn, theme=theme)


async def refused(stage):
    await asked("t", until=("why not, for the model",))(stage)
    await stage.type("keep the test")
    await shows("keep the test")(stage)


QUESTIONS = {
    "change": ([change(), change(call_id="c2")], asked("j", "space", until=("left out", "1 of 2"))),
    "new file": ([change(before="", after=scenes.OLD)], asked()),
    "rules": ([change()], asked("end", "a", until=("edit(shop/**)",))),
    "deny and say why": ([change()], refused),
    "editing": ([change()], asked("e", until=("discount",))),
    "summary": ([scenes.SUMMARY], asked(is_call=False, until=("42 messages",))),
    "limit": ([scenes.LIMIT], asked(is_call=False, until=("limit",))),
}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_old_and_new_side_by_side(picture, theme):
    assert picture(asked("s", until=("one column",)), WIDE, turn=asking(change()), theme=theme)


@SIZES
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question(picture, name, size, theme):
    requests, steps = QUESTIONS[name]
    assert picture(steps, size, turn=asking(*requests), theme=theme)


COMMANDS = {
    "plain": asked(),
    "why": asked("question_mark", until=("it deletes what it names",)),
    "rules": asked("a", until=("exactly this command",)),
    "editing": asked("e", until=("rm -rf",)),
}


@SIZES
@pytest.mark.parametrize("name", COMMANDS)
def test_a_question_about_a_command(picture, ask_command, name, size, theme):
    request = ask_command("rm -rf build && pytest -q", warnings=("rm -rf deletes build/ with all that is in it.",))
    assert picture(COMMANDS[name], size, turn=asking(parted(request)), theme=theme)


@SIZES
def test_three_questions_at_once(picture, ask_command, size, theme):
    command = ask_command("make check", "c3")
    three = (change(), change(before="", after=scenes.OLD, call_id="c2", path="shop/basket.py"), command)
    assert picture(asked(until=("1 of 3",)), size, turn=asking(*three), theme=theme)


@SIZES
def test_a_question_and_a_message_in_the_queue(picture, size, theme):
    async def steps(stage):
        await asked()(stage)
        await stage.pilot.press("tab", "tab")
        stage.app.main.prompt.focus()
        await stage.type("also cover negative discounts\nand then")
        await shows("alt+↑", "and then", "tab answer")(stage)

    assert picture(steps, size, turn=asking(change()), theme=theme)


@SIZES
def test_the_question_whether_a_project_is_trusted(picture, size, theme):
    async def ask(approver, opening):
        await approver.ask(scenes.PROJECT)

    assert picture(shows("AGENTS.md", "trust", "tab transcript"), size, first=ask, theme=theme)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_question_on_the_smallest_screen(picture, theme):
    assert picture(asked(), SMALLEST, turn=asking(change()), theme=theme)


WINDOWS = {
    "help": typed("", "f1", until=("all commands",)),
    "palette": typed("", "ctrl+p", until=("/rewind",)),
    "completion of commands": typed("/re", until=("/resume", "/rewind")),
    "completion of files": typed("look at @shop", until=("shop/cart.py",)),
    "history": typed("", "ctrl+r", *"er", until=("older", "newer")),
    "jobs": typed("", "ctrl+t", until=("npm run dev", "port 3000")),
    "models": typed("/model\n", until=("qwen",)),
    "themes": typed("/theme\n", until=("colour-blind",)),
    "permissions": typed("/permissions\n", until=("pytest", "It allows all")),
    "context": typed("/context\n", until=("tool results", "AGENTS.md")),
    "cost": typed("the totals are wrong\n/cost\n", until=("This session", "still let through")),
    "sessions": typed("/resume\n", until=("receipts as PDF",)),
    "sessions found": typed("/resume\n", *"total", until=("round each total",)),
    "doctor": typed("/doctor\n", until=("ripgrep",)),
    "diff": typed("/diff\n", until=("cart.py",)),
    "undo": typed("/undo\n", until=("Take back",)),
    "rewind": typed("/rewind\n", until=("negative discounts",)),
    "find": typed("the totals are wrong\n", "ctrl+f", *"disc", until=("7 of 7", "disc", "esc back")),
}


@SIZES
@pytest.mark.parametrize("name", WINDOWS)
def test_a_window(picture, timeline, name, size, theme):
    async def steps(stage):
        await filled(stage)
        await WINDOWS[name](stage)

    assert picture(steps, size, turn=scenes.done, timeline=timeline, theme=theme)


@pytest.mark.parametrize("theme", load_themes())
def test_a_busy_screen_in_each_theme(picture, theme):
    assert picture(asked("j"), (100, 32), turn=asking(change(), change(call_id="c2")), theme=theme)


@pytest.mark.parametrize("theme", load_themes())
def test_a_chosen_line_in_each_theme(picture, theme):
    assert picture(typed("", "ctrl+p", "down", until=("/rewind",)), NARROW, theme=theme)
