"""How the person is called: the bell, and a desktop notice in the form that the terminal knows."""

from __future__ import annotations

from collections.abc import Mapping

from codeagent.core.text import clean, show_invisible

BELL = "\a"
_LONGEST = 200
_SHOW_OSC_9 = frozenset({"iTerm.app", "WezTerm", "ghostty"})
_SIGNS_OF_OSC_9 = ("KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR")  # they outlive a tmux in between
_SHOW_OSC_777 = ("foot", "rxvt")


def notice(wanted: str, environ: Mapping[str, str], text: str) -> str:
    """The codes that ring, and show the text where that is known to work; empty when ``wanted`` is off."""
    if wanted == "off":
        return ""
    form = _form_of(environ) if wanted == "auto" else wanted
    body = one_line(text, _LONGEST)
    match form:
        case "osc9":
            return BELL + _through(environ, f"\x1b]9;{body}\a")
        case "osc777":
            return BELL + _through(environ, f"\x1b]777;notify;codeagent;{body.replace(';', ',')}\a")
        case _:
            return BELL


def one_line(text: str, longest: int) -> str:
    """The text as it may stand inside a control string: nothing in it can end that, or be hidden."""
    line = " ".join(show_invisible(clean(text)).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _form_of(environ: Mapping[str, str]) -> str:
    term = environ.get("TERM", "")
    is_iterm = environ.get("TERM_PROGRAM") in _SHOW_OSC_9 or environ.get("LC_TERMINAL") == "iTerm2"
    if is_iterm or "kitty" in term or any(environ.get(sign) for sign in _SIGNS_OF_OSC_9):
        return "osc9"
    return "osc777" if term.startswith(_SHOW_OSC_777) or environ.get("VTE_VERSION") else "bell"


def _through(environ: Mapping[str, str], code: str) -> str:
    """What stands between the program and the terminal, tmux or screen, is asked to pass it on."""
    if environ.get("TMUX"):
        return f"\x1bPtmux;{code.replace(chr(27), chr(27) * 2)}\x1b\\"
    return f"\x1bP{code}\x1b\\" if environ.get("STY") else code
