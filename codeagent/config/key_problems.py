"""What is wrong with the person's own keys: unknown names, keys that mean two things, keys that cannot arrive."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from codeagent.core.keys import CHANGEABLE, KEYS, KeyAction, Place, key_names

_NAMED = frozenset(
    [
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pageup",
        "pagedown",
        "insert",
        "delete",
        "backspace",
        "tab",
        "enter",
        "escape",
        "space",
    ]
) | {f"f{number}" for number in range(1, 25)}
_SHORT_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""What Textual calls a character instead of its Unicode name."""
_MODIFIERS = re.compile(r"(?:(?:ctrl|alt|shift|super|hyper|meta)\+)*")
_SAME_ON_PLAIN_TERMINALS = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
    "ctrl+slash": "ctrl+underscore",
}
"""Pairs that a terminal without the kitty protocol cannot tell apart: both are one control character (ECMA-48).

With that protocol the first means the second all the same.
"""


def key_problems(keymap: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence a problem, each naming the setting to change; empty when all is well."""
    wanted = _wanted(keymap)
    lists = key_names(keys_in_force(keymap))["help"]
    problems = [
        f"[keys] names {name}, which is no key that can be changed; {lists} lists them."
        for name in sorted(keymap.keys() - CHANGEABLE)
    ]
    for action in KEYS:
        if action.action and action.name in keymap:
            problems += _wrong_words(action, wanted[action.name])
            problems += [_told(action, other, shared, keymap) for other, shared in _clashes(action, wanted)]
    return tuple(dict.fromkeys(problems))


def impossible_key(name: str, keys: str) -> str:
    """Why these keys can never be those of that action, whatever the others are; empty when they can."""
    action = next((one for one in KEYS if one.action and one.name == name), None)
    if action is None or name not in CHANGEABLE:
        return f"keys.{name} is no key that can be changed. There are {', '.join(sorted(CHANGEABLE))}."
    return next(_wrong_words(action, keys_of(action, {name: keys})), "")


def keys_in_force(keymap: Mapping[str, str]) -> dict[str, str]:
    """The person's own keys without those that have a problem: in their place stays what is usual."""
    kept = {
        action.name: [key for key in keys_of(action, keymap) if not any(_wrong_words(action, (key,)))]
        for action in KEYS
        if action.action and action.name in keymap
    }
    while True:
        own = {name: ",".join(keys) for name, keys in kept.items() if keys}
        wanted = _wanted(own)
        clashing = {
            action.name: {key for _, shared in _clashes(action, wanted) for key in shared}
            for action in KEYS
            if action.name in own
        }
        if not any(clashing.values()):
            return own
        kept = {name: [key for key in keys.split(",") if key not in clashing[name]] for name, keys in own.items()}


def _wanted(keymap: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {key.name: keys_of(key, keymap) for key in KEYS}


def keys_of(action: KeyAction, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of an action, the person's own where there are some."""
    return tuple(key.strip() for key in keymap.get(action.name, action.keys).split(","))


def _wrong_words(action: KeyAction, keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        modifiers = _MODIFIERS.match(key)
        bare = key[modifiers.end() :] if modifiers else key
        held = key[: -len(bare)].split("+")[:-1] if bare else []
        written = "+".join([*sorted(set(held)), _name_of(bare) if held else bare])
        if not _is_known(bare):
            yield f"[keys] {action.name}: there is no key {key}; write it like ctrl+x, alt+up, f5 or question_mark."
        elif held == ["shift"] and len(bare) == 1:
            yield f"[keys] {action.name}: {key} arrives as {bare.upper()}; write it so."
        elif written != key:
            yield f"[keys] {action.name}: {key} is written {written}."
        elif key in _SAME_ON_PLAIN_TERMINALS:
            yield (
                f"[keys] {action.name}: many terminals cannot tell {key} from {_SAME_ON_PLAIN_TERMINALS[key]}; "
                "choose another key."
            )
        elif bare == key and _is_typed(key) and action.place in {Place.ANYWHERE, Place.PROMPT}:
            yield f"[keys] {action.name}: {key} could not be typed any more; choose a key such as ctrl+{key} or f5."


def _is_known(bare: str) -> bool:
    return bare in _NAMED or len(bare) == 1 or _is_character_name(bare)


def _is_character_name(bare: str) -> bool:
    """Whether it is a character's Unicode name as Textual writes it, such as ``question_mark``."""
    if bare in _SHORT_NAMES.values():
        return True
    try:
        unicodedata.lookup(bare.replace("_", " "))
    except KeyError:
        return bare in _SHORT_NAMES
    return True


def _name_of(bare: str) -> str:
    """What a key is called that is held down with others: a sign by its name, letters and digits by themselves."""
    is_sign = len(bare) == 1 and not bare.isalnum()
    name = unicodedata.name(bare, bare).lower().replace("-", "_").replace(" ", "_") if is_sign else bare
    return _SHORT_NAMES.get(name, name)


def _is_typed(key: str) -> bool:
    return len(key) == 1 or key == "space" or (key not in _NAMED and _is_character_name(key))


def _clashes(action: KeyAction, wanted: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[KeyAction, set[str]]]:
    """Other actions of the same place, and the keys they have in common, but for those that they share by default."""
    for other in KEYS:
        if other is action or not _meet(action.place, other.place):
            continue
        shared = set(wanted[action.name]) & set(wanted[other.name])
        shared -= set(keys_of(action, {})) & set(keys_of(other, {}))
        if shared:
            yield other, shared


def _told(action: KeyAction, other: KeyAction, shared: set[str], keymap: Mapping[str, str]) -> str:
    first, second = sorted((action, other), key=lambda one: (one.name not in keymap, one.name))
    keys = ", ".join(sorted(shared))
    return f"[keys] {first.name}: {keys} is the key of {second.name} as well; give one of them another."


def _meet(one: Place, other: Place) -> bool:
    return one is other or Place.ANYWHERE in {one, other}
