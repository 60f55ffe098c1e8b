"""Keys that are typed before the app is there: every byte is kept for it, and what they make of the prompt is told."""

import os
import select
from _collections_abc import Callable  # collections.abc would load all of collections
from _thread import allocate_lock, start_new_thread  # so would threading

_ESCAPE = "\x1b"
_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_STRING = "]"  # begins a control string after an escape (ECMA-48); terminals answer with no other kind
_WITH_ALT = "bfd\r\t\x7f"  # what means something with Alt held down; other letters follow the Escape key
_MOST_BYTES = 65_536


class Typed:
    """What was typed: the ``text`` in the prompt, the messages ``sent``, the key it ``quits_with``, if any."""

    def __init__(self) -> None:
        self.text = self.quits_with = ""
        self.sent: list[str] = []

    def call_back(self) -> None:
        """What was sent is in the prompt again, before what is typed there."""
        returned, self.sent = "\n\n".join(self.sent), []
        self.text = "\n".join(filter(None, (returned, self.text)))


def read_typed(keys: bytes) -> Typed:
    """What the prompt holds after these bytes; keys that have no plain meaning here are passed over whole."""
    typed = Typed()
    text = keys.decode("utf-8", "ignore")
    at = 0
    while at < len(text) and not typed.quits_with:
        if text.startswith(_PASTE, at):
            end = text.find(_PASTE_END, at)
            end = len(text) if end < 0 else end
            typed.text += "".join(map(_pasted, text[at + len(_PASTE) : end].replace("\r\n", "\n")))
            at = end + len(_PASTE_END)
        elif text.startswith("\x1b\r", at):
            _press(typed, "\r")
            at += 2
        elif text[at] == _ESCAPE:
            end = _end_of_sequence(text, at)
            if end == at + 1:  # the key by itself
                typed.call_back()
            at = end
        else:
            _press(typed, text[at])
            at += 1
    return typed


def _pasted(character: str) -> str:
    return "\n" if character in "\r\n" else character if character.isprintable() or character == "\t" else ""


def _press(typed: Typed, key: str) -> None:
    line = typed.text.rfind("\n") + 1
    if key == "\r" and typed.text.endswith("\\"):
        typed.text = typed.text[:-1] + "\n"
    elif key == "\r":
        if message := typed.text.strip():
            typed.sent.append(message)
            typed.text = ""
    elif key == "\n" or key.isprintable():
        typed.text += key
    elif key in "\x7f\x08":
        typed.text = typed.text[:-1]
    elif key == "\x15":  # ctrl+u
        typed.text = typed.text[:line]
    elif key == "\x17":  # ctrl+w
        word = typed.text[line:].rstrip()
        typed.text = typed.text[:line] + word[: word.rfind(" ") + 1]
    elif key in "\x03\x04":
        _leave(typed, key)


def _leave(typed: Typed, key: str) -> None:
    """Ctrl+c clears the prompt, or calls back what was sent; either key quits where nothing of that kind is left."""
    if not (typed.text or typed.sent):
        typed.quits_with = key
    elif key == "\x03" and typed.text:
        typed.text = ""
    elif key == "\x03":
        typed.call_back()


def _end_of_sequence(text: str, at: int) -> int:
    """Where the escape sequence that begins there is over."""
    kind = text[at + 1 : at + 2]
    end = at + 2
    if kind == "[":
        while end < len(text) and not "@" <= text[end] <= "~":
            end += 1
        return end + 1
    if kind == _STRING:
        while end < len(text) and text[end] != "\x07":
            if text[end] == _ESCAPE:
                return end + 2
            end += 1
        return end + 1
    if kind == "O":
        return end + 1
    return end if kind and kind in _WITH_ALT and not text[end : end + 1].isprintable() else at + 1


class Keyboard:
    """Reads the terminal on a thread of its own until it is told to stop; no byte is lost."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = bytearray()
        self._done = allocate_lock()
        self._wake = os.pipe()
        self._is_stopped = False

    def read_waiting(self) -> bytes:
        """What is there already, typed while the terminal still made a newline of Enter; all bytes so far."""
        while select.select([self._descriptor], [], [], 0)[0]:
            more = os.read(self._descriptor, _MOST_BYTES)
            if not more:
                break
            self._kept += more
        if self._kept.count(b"\n") == 1:  # more than one is a text of several lines, which is never sent by itself
            self._kept = self._kept.replace(b"\n", b"\r")
        return bytes(self._kept)

    def start(self, on_typed: Callable[[bytes], None]) -> None:
        """Reads on; ``on_typed`` is called on the thread, each time with all bytes so far."""
        self._done.acquire()
        start_new_thread(self._read, (on_typed,))

    def take(self) -> bytes:
        """Stops reading and gives all bytes that were typed; later calls give none."""
        if self._is_stopped:
            return b""
        self._is_stopped = True
        os.write(self._wake[1], b".")
        self._done.acquire()
        for descriptor in self._wake:
            os.close(descriptor)
        return bytes(self._kept)

    def _read(self, on_typed: Callable[[bytes], None]) -> None:
        try:
            while self._wake[0] not in select.select([self._descriptor, self._wake[0]], [], [])[0]:
                more = os.read(self._descriptor, _MOST_BYTES)
                if not more:
                    return
                self._kept += more
                on_typed(bytes(self._kept))
        except OSError:
            return  # the terminal went away: a signal says so as well
        finally:
            self._done.release()
