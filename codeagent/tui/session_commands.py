"""The commands that are about the session: its mode, rules, window and cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from pathlib import PurePath

from textual.app import App

from codeagent.core.approvals import Mode
from codeagent.core.commands import CommandCall, CommandName, NoSuchCommand
from codeagent.core.desk import Desk, Workbench
from codeagent.tui.costs import CostBook
from codeagent.tui.modes import MODE_WORDS
from codeagent.tui.screens.pages import Page, doctor_text, verdict_text
from codeagent.tui.screens.picker import Item, Picker
from codeagent.tui.screens.reports import cost_text, tools_text
from codeagent.tui.screens.rules import RulesScreen
from codeagent.tui.window_commands import run_window_command

_AS_IT_LIKES = "default"
EFFORT_WORDS = {
    _AS_IT_LIKES: "as the model does by itself",
    "low": "quick answers, little thinking",
    "medium": "some thinking",
    "high": "thinks long, for hard problems; costs more",
}
"""How hard a model can be asked to think, in words."""


async def run_session_command(app: App[str], desk: Desk, costs: CostBook, call: CommandCall) -> None:
    """Carries one of these commands out; raises CodeagentErrors for what cannot be done."""
    match call.name:
        case CommandName.MODE:
            await _choose_mode(app, desk.workbench, call.argument)
        case CommandName.PERMISSIONS:
            await _permissions(app, desk.workbench, call.argument)
        case CommandName.DOCTOR:
            await app.push_screen(Page("Doctor", partial(doctor_text, await desk.workbench.doctor())))
        case CommandName.MODEL:
            await _choose_model(app, desk.workbench, call.argument)
        case CommandName.EFFORT:
            await _choose_effort(app, desk.workbench, call.argument)
        case CommandName.COMPACT | CommandName.PIN | CommandName.UNPIN | CommandName.CONTEXT:
            await run_window_command(app, desk, costs.model, call)
        case CommandName.TOOLS:
            await app.push_screen(Page("Tools", partial(tools_text, desk.workbench.tools())))
        case CommandName.COST:
            await app.push_screen(Page("Cost", lambda width: cost_text(costs, width)))
        case _:
            raise NoSuchCommand(f"/{call.name} is no command of the session.")


async def _choose_mode(app: App[str], bench: Workbench, name: str) -> None:
    names = [str(mode) for mode in Mode]
    if not name:
        items = [Item(value=str(mode), detail=MODE_WORDS[mode]) for mode in Mode]
        name = await app.push_screen_wait(Picker("Mode", items, current=str(bench.mode()))) or ""
    elif name not in names:
        raise NoSuchCommand(f"There is no mode {name}; there are {', '.join(names)}.")
    if name:
        bench.set_mode(Mode(name))


async def _permissions(app: App[str], bench: Workbench, command: str) -> None:
    """The list of rules; with a command what they say to it."""
    if not command:
        await app.push_screen(RulesScreen(bench))
        return
    verdict = await asyncio.to_thread(bench.explain, command)
    await app.push_screen(Page("Permissions", partial(verdict_text, command, verdict)))


async def _choose_model(app: App[str], bench: Workbench, name: str) -> None:
    current = bench.model()
    if not name:
        lists = _model_lists(bench, current)
        picker = Picker("Model", await anext(lists), current=current, takes_any=True, grows=lists)
        name = await app.push_screen_wait(picker) or ""
    if name and name != current:
        await bench.set_model(name)


async def _model_lists(bench: Workbench, current: str) -> AsyncGenerator[list[Item]]:
    """The models, as soon as they are known; what is wrong with a list then leaves the one before.

    The one in use is among them, whoever knows it.
    """
    async with aclosing(bench.models()) as lists:
        async for choices in lists:
            items = [Item(value=choice.name, detail=choice.detail) for choice in choices]
            is_known = not current or any(item.value == current for item in items)
            yield items if is_known else [Item(value=current, shown=_named(current), detail="in use"), *items]


def _named(model: str) -> str:
    """A model as it is shown: one that plays a script by the script's name, wherever that lies."""
    return f"scripted/{PurePath(model).stem}" if model.startswith("scripted/") else model


async def _choose_effort(app: App[str], bench: Workbench, level: str) -> None:
    now = bench.effort() or _AS_IT_LIKES
    if not level:
        items = [Item(value=name, detail=what) for name, what in EFFORT_WORDS.items()]
        level = await app.push_screen_wait(Picker("Effort", items, current=now)) or now
    if level != now:
        await bench.set_effort("" if level == _AS_IT_LIKES else level)
