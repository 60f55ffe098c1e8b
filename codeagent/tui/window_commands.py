"""The commands about the model's window: what fills it, how room is made, and what stays word for word then."""

from __future__ import annotations

from textual.app import App

from codeagent.core.commands import CommandCall, CommandName, NoSuchCommand, NotReady
from codeagent.core.desk import Conversation, Desk
from codeagent.tui.screens.pages import Page
from codeagent.tui.screens.picker import Item, Picker
from codeagent.tui.screens.reports import context_text


async def run_window_command(app: App[str], desk: Desk, model: str, call: CommandCall) -> None:
    """Carries one of these commands out; raises CodeagentErrors for what cannot be done."""
    conversation = desk.conversation
    match call.name:
        case CommandName.COMPACT:
            await _compact(conversation, call.argument)
        case CommandName.PIN:
            await _pin(app, conversation, call.argument)
        case CommandName.UNPIN:
            await _unpin(app, conversation, call.argument)
        case CommandName.CONTEXT:
            instructions = await desk.workbench.instructions()
            report = conversation.context()
            await app.push_screen(Page("Context", lambda width: context_text(report, model, width, instructions)))
        case _:
            raise NoSuchCommand(f"/{call.name} is no command about the window.")


async def _pin(app: App[str], conversation: Conversation, what: str) -> None:
    if what:
        await conversation.pin(what)
        return
    choices = {pin.label: pin for pin in conversation.pinnable()}
    if not choices:
        raise NotReady("Nothing was said yet.", hint="/pin @FILE:10-40 pins lines of a file.")
    items = [Item(value=label) for label in choices]
    if chosen := await app.push_screen_wait(Picker("Keep this message word for word", items)):
        await conversation.pin(choices[chosen])


async def _unpin(app: App[str], conversation: Conversation, label: str) -> None:
    items = [Item(value=pin.label) for pin in conversation.pinned()]
    if not items:
        raise NotReady("Nothing is pinned.", hint="/pin pins a message, a text or lines of a file.")
    if label := label or await app.push_screen_wait(Picker("Take a pin away", items)) or "":
        conversation.unpin(label)


async def _compact(conversation: Conversation, focus: str) -> None:
    if not any(part.name.startswith("what") and part.tokens for part in conversation.context().parts):
        raise NotReady("Nothing was said yet that could be summed up.")
    await conversation.compact(focus)
