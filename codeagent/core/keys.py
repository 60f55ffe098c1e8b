"""Every key the screens understand, in one table: bindings, the help screen and the config are made from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from codeagent.core.values import value


class Place(StrEnum):
    """Where a key means something."""

    ANYWHERE = "Anywhere"
    PROMPT = "Prompt"
    QUESTION = "Approval"
    TRANSCRIPT = "Transcript"
    FIND = "Find"


@value
class KeyAction:
    """One thing a key does; ``name`` is what the config calls it, ``keys`` are separated by commas.

    Other keys stand in ``what`` by their names, in braces: ``key_rows`` says how the person has them.

    Without an ``action`` the key is handled where it is typed and is here for the help screen.
    """

    name: str
    keys: str
    what: str
    place: Place
    action: str = ""
    goes_first: bool = False


def _anywhere(name: str, keys: str, what: str, action: str, *, goes_first: bool = False) -> KeyAction:
    return KeyAction(name=name, keys=keys, what=what, place=Place.ANYWHERE, action=action, goes_first=goes_first)


def _prompt(name: str, keys: str, what: str, action: str = "", *, goes_first: bool = False) -> KeyAction:
    return KeyAction(name=name, keys=keys, what=what, place=Place.PROMPT, action=action, goes_first=goes_first)


def _question(name: str, keys: str, what: str, action: str) -> KeyAction:
    return KeyAction(name=name, keys=keys, what=what, place=Place.QUESTION, action=action)


def _transcript(name: str, keys: str, what: str, action: str) -> KeyAction:
    return KeyAction(name=name, keys=keys, what=what, place=Place.TRANSCRIPT, action=action)


def _find(name: str, keys: str, what: str, action: str) -> KeyAction:
    return KeyAction(name=name, keys=keys, what=what, place=Place.FIND, action=action)


KEYS: tuple[KeyAction, ...] = (
    _anywhere("stop", "escape", "close what is open, else stop the turn; twice on an empty prompt: rewind", "app.stop"),
    _anywhere("next-pane", "tab", "prompt → question → transcript", "screen.next_pane"),
    _anywhere("mode", "shift+tab", "next permission mode", "app.next_mode"),
    _anywhere(
        "copy-or-quit", "ctrl+c", "copy the selection, clear the prompt, or quit", "app.interrupt", goes_first=True
    ),
    _anywhere("palette", "ctrl+p", "all commands", "app.all_commands"),
    _anywhere("panels", "ctrl+o", "open or close all panels", "screen.toggle_panels"),
    _anywhere("jobs", "ctrl+t", "what runs, with a stop for each", "app.command('jobs')"),
    _anywhere("page-up", "pageup", "scroll the transcript up", "screen.scroll_page(-1)"),
    _anywhere("page-down", "pagedown", "scroll the transcript down", "screen.scroll_page(1)"),
    _anywhere("top", "ctrl+home", "first line of the transcript", "screen.scroll_to(-1)"),
    _anywhere("bottom", "ctrl+end", "last line of the transcript", "screen.scroll_to(1)"),
    _anywhere("find", "ctrl+f", "find in the transcript", "screen.find"),
    _anywhere("times", "f2", "when each thing happened, shown or not", "screen.toggle_times"),
    _anywhere("take-back", "alt+up", "take the last queued message back into the prompt", "app.take_back"),
    _anywhere("redraw", "ctrl+l", "draw the screen anew", "app.redraw"),
    _anywhere("suspend", "ctrl+z", "back to the shell; fg returns", "app.suspend_process", goes_first=True),
    _anywhere("help", "f1", "this list; ? on an empty prompt", "app.show_help"),
    _prompt("send", "enter", "send; while the agent works, say it now", "submit", goes_first=True),
    _prompt("send-later", "alt+enter", "say it when the agent has finished", "submit_later", goes_first=True),
    _prompt("newline", "shift+enter,ctrl+j", "new line; so does a backslash before {send}", "newline", goes_first=True),
    _prompt("complete", "tab", "complete /command or @file, open a folded paste", "complete"),
    _prompt("paste", "ctrl+v", "paste the image on the clipboard, else its text", "paste_clipboard"),
    _prompt("older", "up", "older message, from the first line"),
    _prompt("newer", "down", "newer message, from the last line"),
    _prompt("search-history", "ctrl+r", "search what was typed before", "app.search_history"),
    _prompt("editor", "ctrl+g", "write in $EDITOR", "app.command('editor')"),
    _prompt("undo", "ctrl+underscore", "undo typing", "undo"),
    _prompt("quit", "ctrl+d", "quit, where nothing is typed; open questions are denied", "quit_or_delete"),
    _question("approve", "y", "approve; only the chosen hunks of a diff", "approve"),
    _question("deny", "n", "deny", "deny"),
    _question("deny-because", "t", "deny and tell the model why", "deny_because"),
    _question("approve-for-run", "r", "trust what the project brings along, in this run only", "approve_for_run"),
    _question("always", "a", "approve, and store the rule", "always"),
    _question("edit", "e", "change the text or command first", "edit"),
    _question("approve-edited", "ctrl+s", "after e: the text as it is edited", "approve_edited"),
    _question("why", "question_mark", "why this is asked", "why"),
    _question("approve-all", "Y", "approve all waiting that were looked at", "approve_all"),
    _question("store-session", "1", "after {always}: for this session; {give-choice} too", "store('1')"),
    _question("store-project", "2", "after {always}: in this project", "store('2')"),
    _question("store-always", "3", "after {always}: always", "store('3')"),
    _question("next-hunk", "j", "next hunk", "hunk(1)"),
    _question("previous-hunk", "k", "previous hunk", "hunk(-1)"),
    _question("toggle-hunk", "space", "take the hunk out, or put it back", "toggle_hunk"),
    _question("side-by-side", "s", "old and new side by side, or one below the other", "other_side"),
    _question("open-fold", "o", "more of the unchanged lines around the hunk", "open_fold"),
    _question("next-question", "right_square_bracket", "next of several waiting", "switch(1)"),
    _question("previous-question", "left_square_bracket", "the one before", "switch(-1)"),
    _question("next-choice", "right", "choose an answer; {give-choice} gives it", "choose(1)"),
    _question("previous-choice", "left", "choose an answer; {give-choice} gives it", "choose(-1)"),
    _question("give-choice", "enter", "give the chosen answer", "give_choice"),
    _question("line-down", "down", "scroll down", "scroll(1, 'line')"),
    _question("line-up", "up", "scroll up", "scroll(-1, 'line')"),
    _question(
        "screen-down",
        "pagedown",
        "a page down; the transcript's when all is in view",
        "scroll(1, 'page')",
    ),
    _question("screen-up", "pageup", "a page up; the transcript's when all is in view", "scroll(-1, 'page')"),
    _question("to-end", "end", "last line", "scroll(1, 'all')"),
    _question("to-start", "home", "first line", "scroll(-1, 'all')"),
    _transcript("panel-up", "up", "panel above", "screen.choose_panel('previous')"),
    _transcript("panel-down", "down", "panel below", "screen.choose_panel('next')"),
    _transcript("open-panel", "enter", "open or close it", "screen.toggle_panel"),
    _transcript("keep-open", "p", "keep it open, also when all are closed, or let it go", "screen.pin_panel"),
    _transcript("copy-panel", "c", "copy what it holds", "app.copy_panel"),
    _transcript("leave", "escape", "back to the prompt", "screen.focus_prompt"),
    _find("find-older", "enter,up", "the place above", "screen.find_next(-1)"),
    _find("find-newer", "down,shift+enter", "the place below", "screen.find_next(1)"),
    _find("find-stay", "tab", "stay there, with the panel it is in", "screen.end_find(True)"),
    _find("find-leave", "escape", "back to where you were", "screen.end_find(False)"),
)

CHANGEABLE = frozenset(key.name for key in KEYS if key.action)
"""The names of the keys that the config can change."""


_SHORT = {
    "question_mark": "?",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "ctrl+underscore": "ctrl+_",
    "escape": "esc",
}
_ARROWS = {"up": "↑", "down": "↓"}


def key_names(keymap: Mapping[str, str]) -> dict[str, str]:
    """The first key of each thing that keys do, in plain words, by the names that the config and ``keymap`` use."""
    firsts = ((key.name, keymap.get(key.name, key.keys).split(",")[0].strip()) for key in KEYS)
    return {name: _SHORT.get(first, first) for name, first in firsts}


def key_hints(keymap: Mapping[str, str]) -> dict[str, str]:
    """The same as hints have it, with arrows for up and down."""
    return {name: _with_arrow(key) for name, key in key_names(keymap).items()}


def _with_arrow(key: str) -> str:
    held, plus, last = key.rpartition("+")
    return held + plus + _ARROWS.get(last, last)


def keys_in_words(place: Place, keymap: Mapping[str, str]) -> dict[str, str]:
    """The first key of each action of a place, in plain words; ``keymap`` holds the person's own keys by name."""
    names = key_names(keymap)
    return {key.action: names[key.name] for key in KEYS if key.place is place}


def key_rows(keymap: Mapping[str, str]) -> Iterator[tuple[Place, str, str]]:
    """Place, keys in plain words, and what they do; ``keymap`` holds the person's own keys by name."""
    names = key_names(keymap)
    for key in KEYS:
        keys = keymap.get(key.name, key.keys).split(",")
        yield key.place, ", ".join(_SHORT.get(one.strip(), one.strip()) for one in keys), key.what.format_map(names)
