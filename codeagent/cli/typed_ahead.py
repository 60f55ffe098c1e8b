"""Keys that are typed before the app is there: every byte is kept for it, and what they make of the prompt is told."""

import os
import select
from _collections_abc import Callable  # collections.abc would load all of collections
from _thread import allocate_lock, start_new_thread  # so would threading

from codeagent.core.first_words import GOES_ON
from codeagent.core.sequences import (
    ESCAPE,
    PASTE,
    PASTE_END,
    UNFINISHED,
    are_lines,
    is_enter,
    is_surely_told,
    sequence_end,
)

_WITH_ALT = "bfd\r\t\x7f"  # what means something with Alt held down; other letters follow the Escape key
_SUSPEND = b"\x1a"  # ctrl+z
_MOST_BYTES = 65_536
_SILENCE = 0.1  # seconds without which lines belong to those before
_REST = 0.5  # seconds within which the program stops at Ctrl+Z, however busy the machine is


class Typed:
    """What was typed: the ``text`` in the prompt, the messages ``sent``, the key it ``quits_with``, if any.

    ``asks_to_quit``: the last key would quit, if something that was sent did not wait; once more it does.
    """

    def __init__(self) -> None:
        self.text = self.quits_with = ""
        self.sent: list[str] = []
        self.asks_to_quit = False
        self._returned = ""

    def call_back(self) -> None:
        """What was sent is in the prompt again, before what is typed there."""
        returned, self.sent = "\n\n".join(self.sent), []
        self._returned = "" if self.text else returned
        self.text = "\n".join(filter(None, (returned, self.text)))

    def add(self, text: str) -> None:
        """Puts it at the end; right behind a text that came back on a line of its own, unless it goes on with that."""
        if self._returned and self.text == self._returned and text[:1] not in GOES_ON:
            self.text += "\n"
        self.text += text


def read_typed(keys: bytes) -> Typed:
    """What the prompt holds after these bytes; keys that have no plain meaning here are passed over whole."""
    typed = Typed()
    text = keys.decode("utf-8", "ignore")
    at = 0
    while at < len(text) and not typed.quits_with:
        is_asked, typed.asks_to_quit = typed.asks_to_quit, False
        if text.startswith(PASTE, at):
            end = text.find(PASTE_END, at)
            end = len(text) if end < 0 else end
            typed.add("".join(map(_pasted, text[at + len(PASTE) : end].replace("\r\n", "\n"))))
            at = end + len(PASTE_END)
        elif text.startswith("\x1b\r", at):
            _press(typed, "\r")
            at += 2
        elif text[at] == ESCAPE:
            end = _end_of_sequence(text, at)
            if end == at + 1:  # the key by itself
                typed.call_back()
            at = end
        elif text[at] in "\x03\x04":
            _leave(typed, text[at], is_asked=is_asked)
            at += 1
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
        typed.add(key)
    elif key in "\x7f\x08":
        typed.text = typed.text[:-1]
    elif key == "\x15":  # ctrl+u
        typed.text = typed.text[:line]
    elif key == "\x17":  # ctrl+w
        word = typed.text[line:].rstrip()
        typed.text = typed.text[:line] + word[: word.rfind(" ") + 1]


def _leave(typed: Typed, key: str, *, is_asked: bool) -> None:
    """Either key quits where nothing waits; ctrl+c clears the prompt, and where a message waits it asks first."""
    if typed.text:
        typed.text = "" if key == "\x03" else typed.text
    elif not typed.sent or (key == "\x03" and is_asked):
        typed.quits_with = key
    else:
        typed.asks_to_quit = key == "\x03"


def _end_of_sequence(text: str, at: int) -> int:
    """Where the escape sequence that begins there is over; right behind the Escape where that is the key."""
    end = sequence_end(text, at)
    if end == UNFINISHED and is_surely_told(text[at:]):
        return len(text)
    if end > 0:
        return end
    kind = text[at + 1 : at + 2]
    is_with_alt = kind and kind in _WITH_ALT and not text[at + 2 : at + 3].isprintable()
    return at + 2 if is_with_alt else at + 1


class Keyboard:
    """Reads the terminal on a thread of its own until it is told to stop; no byte is lost."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = bytearray()
        self._done = allocate_lock()
        self._wake = os.pipe()
        self._is_stopped = False
        self._are_lines_coming: bool = False

    def read_waiting(self) -> bytes:
        """What is there already, typed while the terminal still made a newline of Enter; all bytes so far."""
        while select.select([self._descriptor], [], [], 0)[0]:
            more = os.read(self._descriptor, _MOST_BYTES)
            if not more:
                break
            self._kept += more
        if is_enter(self._kept):
            self._kept = self._kept.replace(b"\n", b"\r")
        return bytes(self._kept)

    def start(self, on_typed: Callable[[bytes], None], suspend: Callable[[], bool]) -> None:
        """Reads on; both are called on the thread: ``on_typed`` each time with all bytes so far.

        ``suspend`` at Ctrl+Z; that key is kept for the app where it answers with False.
        """
        self._done.acquire()
        start_new_thread(self._read, (on_typed, suspend))

    def take(self) -> bytes:
        """Stops reading and gives all bytes that were typed; later calls give none."""
        if self._is_stopped:
            return b""
        self._is_stopped = True
        os.write(self._wake[1], b".")
        self._done.acquire()
        for descriptor in self._wake:
            os.close(descriptor)
        self._mark_lines(are_coming=False)
        return bytes(self._kept)

    def _read(self, on_typed: Callable[[bytes], None], suspend: Callable[[], bool]) -> None:
        try:
            while not self._is_woken(found := self._wait()):
                if not found:
                    self._mark_lines(are_coming=False)
                    continue
                more = os.read(self._descriptor, _MOST_BYTES)
                if not more:
                    return
                self._keep(more)
                on_typed(bytes(self._kept))
                if self._kept.endswith(_SUSPEND) and not self._is_in_paste() and suspend():
                    self._kept = self._kept[: -len(_SUSPEND)]
                    if self._is_woken(
                        select.select([self._wake[0]], [], [], _REST)[0]
                    ):  # the shell's keys are not ours
                        return
        except OSError:
            return  # the terminal went away: a signal says so as well
        finally:
            self._done.release()

    def _wait(self) -> list[int]:
        """What can be read; nothing when a paste that is not marked is over."""
        silence = _SILENCE if self._are_lines_coming else None
        return select.select([self._descriptor, self._wake[0]], [], [], silence)[0]

    def _is_woken(self, found: list[int]) -> bool:
        return self._wake[0] in found

    def _keep(self, more: bytes) -> None:
        """Lines that came all at once are a paste, and marked as such where the terminal did not."""
        if self._are_lines_coming or not self._is_in_paste():
            least = 1 if self._are_lines_coming else 2
            self._mark_lines(are_coming=are_lines(more.decode("utf-8", "ignore"), least=least))
        self._kept += more

    def _mark_lines(self, *, are_coming: bool) -> None:
        if are_coming is not self._are_lines_coming:
            self._are_lines_coming = are_coming
            self._kept += (PASTE if are_coming else PASTE_END).encode()

    def _is_in_paste(self) -> bool:
        return self._kept.rfind(PASTE.encode()) > self._kept.rfind(PASTE_END.encode())
