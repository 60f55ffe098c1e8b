"""Where a terminal's control sequences and strings (ECMA-48) begin and end, and which lines nobody types.

The instant prompt reads keys with this as well, so that nothing is imported.
"""

ESCAPE = "\x1b"
PASTE, PASTE_END = "\x1b[200~", "\x1b[201~"
NONE, UNFINISHED = 0, -1
"""No sequence begins there; one begins that is not over yet."""

STRINGS = "]P_^X"
"""What begins a control string behind an Escape: OSC, DCS, APC, PM and SOS."""

_DIGITS = "0123456789"
_DEVICE_ANSWERS = ("!|", ">|", "$r", "+r")  # what terminals say in a DCS string
_FUNCTION_KEYS = "ABCDFHMPQRS"  # behind ESC O
_SELDOM_KEYS = "abcdjklmnopqrstuvwxy"  # arrows with Ctrl, as rxvt has them, and the keypad; words begin so as well
_CODES_OF_MOUSE = 3
_LONGEST_STRING = 4_096


def sequence_end(text: str, at: int) -> int:
    """Where the sequence is over that begins with the Escape at ``at``; ``NONE`` where that is a key by itself.

    A sequence that something else breaks into is over there. ``UNFINISHED`` where more has to come.
    """
    kind = text[at + 1 : at + 2]
    if kind == "[":
        return _control_end(text, at + 2)
    if kind and kind in STRINGS:
        return _string_end(text, at)
    if kind == "O":
        return _function_key_end(text, at + 2)
    return NONE if kind else UNFINISHED


def is_surely_told(text: str) -> bool:
    """Whether what begins like this, with an Escape, was sent by a terminal and not typed as an Escape and letters."""
    kind, told = text[1:2], text[2:]
    if kind == "[":
        return told != ""
    if kind == "]":
        number, semicolon, _ = told.partition(";")
        return number.isdecimal() and bool(semicolon)
    if kind == "P":
        return told.lstrip(_DIGITS).startswith(_DEVICE_ANSWERS)
    return kind == "_" and told[:1] == "G" and told[2:3] == "="  # kitty's graphics protocol


def may_be_told(text: str) -> bool:
    """Whether it is such a beginning, or the beginning of one."""
    kind, told = text[1:2], text[2:]
    if kind == "P":
        told = told.lstrip(_DIGITS)
        is_begun = any(answer.startswith(told) for answer in _DEVICE_ANSWERS)
    elif kind == "_":
        is_begun = told[:1] in {"", "G"} and len(told) <= len("Gi")
    else:
        is_begun = not told.lstrip(_DIGITS)
    return is_begun or is_surely_told(text)


def shortened(text: str) -> str:
    """An unfinished sequence without most of a long content, which no answer that counts has."""
    return text[:16] if len(text) > _LONGEST_STRING else text


def are_lines(text: str, *, least: int = 2) -> bool:
    """Whether what arrived at once are so many lines of text or more, as a paste has them: nobody types so fast.

    One line with Enter behind it may come from a program that types. Other control
    characters are keys, so that all of it is.
    """
    lines = [line for line in text.replace("\r", "\n").split("\n") if line]
    return len(lines) >= least and not any(map(_is_control, "".join(lines)))


def is_enter(waiting: bytes | bytearray) -> bool:
    """Whether the newline in what came before the program minded the terminal is Enter; in lines of text none is."""
    return waiting.count(b"\n") == 1 and not are_lines(waiting.decode("utf-8", "replace"))


def _is_control(character: str) -> bool:
    return (character < " " and character != "\t") or "\x7f" <= character <= "\x9f"


def _control_end(text: str, at: int) -> int:
    if text.startswith("[", at):  # a function key of the Linux console
        return at + 2 if len(text) > at + 1 else UNFINISHED
    if text.startswith("M", at):  # the mouse, as X10 has it
        return at + 1 + _CODES_OF_MOUSE if len(text) > at + _CODES_OF_MOUSE else UNFINISHED
    end = at
    while end < len(text) and " " <= text[end] <= "?":
        if text[end] == "$" and text[at:end].isdecimal():  # a key with Shift, as rxvt has it
            return end + 1
        end += 1
    if end == len(text):
        return UNFINISHED
    if "@" <= text[end] <= "~":
        return end + 1
    return end if end > at else NONE


def _function_key_end(text: str, at: int) -> int:
    key = text[at : at + 1]
    if not key:
        return UNFINISHED
    stands_alone = at + 1 == len(text) or not text[at + 1].isprintable()
    return at + 1 if key in _FUNCTION_KEYS or (key in _SELDOM_KEYS and stands_alone) else NONE


def _string_end(text: str, at: int) -> int:
    end = at + 2
    while end < len(text) and text[end] >= " " and text[end] not in "\x7f\x9c":
        end += 1
    if end == len(text) or text[end:] == ESCAPE:
        return UNFINISHED
    if text[end] in "\x07\x9c":
        return end + 1
    if text.startswith("\x1b\\", end):
        return end + 2
    return end if is_surely_told(text[at:end]) else NONE
