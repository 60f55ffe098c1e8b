"""The person's clipboard: what lies on it, asked of the program that knows it, and the way to it through tmux."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress

from codeagent.core.images import LARGEST_IMAGE
from codeagent.core.programs import find_program
from codeagent.core.values import value

_SECONDS = 5
_MOST_TEXT = 5_000_000
_KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
_HEX = re.compile(rb"\xc2\xabdata PNGf([0-9A-F]+)\xc2\xbb")  # as AppleScript writes it, in guillemets


@value
class Clip:
    """What was found: the bytes of an ``image``, else ``text``; ``problem`` says why there is neither."""

    image: bytes = b""
    text: str = ""
    problem: str = ""


async def read_clipboard(environ: Mapping[str, str] | None = None) -> Clip:
    """The image on the clipboard, else its text."""
    environ = os.environ if environ is None else environ
    path = environ.get("PATH")
    if environ.get("WAYLAND_DISPLAY") and (program := find_program("wl-paste", path)):
        return await _typed([program, "--list-types"], [program, "--no-newline", "--type"], text_type="text")
    if environ.get("DISPLAY") and (program := find_program("xclip", path)):
        asks = [program, "-selection", "clipboard", "-o", "-t"]
        return await _typed([*asks, "TARGETS"], asks, text_type="UTF8_STRING")
    if sys.platform == "darwin":
        return await _of_macos(path)
    if environ.get("SSH_CONNECTION"):
        return Clip(problem="The clipboard is on the other side of ssh: paste with the terminal's own key")
    return Clip(problem="No program reads the clipboard here: install wl-clipboard or xclip, or drag the image in")


async def give_to_tmux(text: str) -> None:
    """Puts a text into tmux's own buffer, from where it goes on to the terminal's clipboard; silent where it cannot."""
    tmux = find_program("tmux")
    if tmux is None:
        return
    try:
        program = await asyncio.create_subprocess_exec(
            *(tmux, "load-buffer", "-w", "-"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return
    try:
        async with asyncio.timeout(_SECONDS):
            await program.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        return
    finally:
        if program.returncode is None:
            await _end(program)


async def _typed(lists: list[str], reads: list[str], *, text_type: str) -> Clip:
    """Wayland and X name the kinds that there are, and give one of them."""
    kinds = (await _said(lists, _MOST_TEXT)).decode(errors="replace").split()
    kind = next((kind for kind in _KINDS if kind in kinds), None)
    if kind is not None:
        return _image(await _said([*reads, kind], LARGEST_IMAGE + 1))
    text = await _said([*reads, text_type], _MOST_TEXT)
    return _text(text, is_other=any(kind.startswith("image/") for kind in kinds))


async def _of_macos(path: str | None) -> Clip:
    if program := find_program("pngpaste", path):
        image = await _said([program, "-"], LARGEST_IMAGE + 1)
    else:
        script = await _said(["/usr/bin/osascript", "-e", "get the clipboard as «class PNGf»"], 2 * LARGEST_IMAGE + 100)
        found = _HEX.search(script)
        image = bytes.fromhex(found[1].decode()) if found else b""
    return _image(image) if image else _text(await _said(["/usr/bin/pbpaste"], _MOST_TEXT), is_other=False)


def _image(data: bytes) -> Clip:
    if len(data) > LARGEST_IMAGE:
        return Clip(problem=f"The image is larger than {LARGEST_IMAGE / 1_000_000:.1f} MB, which models refuse")
    return Clip(image=data) if data else Clip(problem="The image on the clipboard could not be read")


def _text(data: bytes, *, is_other: bool) -> Clip:
    text = data.decode("utf-8", "replace")
    if text:
        return Clip(text=text)
    return Clip(
        problem="Models do not know this kind of image: save it as PNG" if is_other else "The clipboard is empty"
    )


async def _said(words: list[str], limit: int) -> bytes:
    """At most ``limit`` bytes of what a program writes; nothing when it fails or does not come to an end."""
    try:
        program = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return b""
    said = bytearray()
    try:
        async with asyncio.timeout(_SECONDS):
            while program.stdout is not None and len(said) < limit and (more := await program.stdout.read(65_536)):
                said += more
            if len(said) < limit and await program.wait():
                return b""
    except TimeoutError:
        return b""
    finally:
        if program.returncode is None:
            await _end(program)
    return bytes(said[:limit])


async def _end(program: asyncio.subprocess.Process) -> None:
    """Ends a program with all it started, and reads what it had written: until then asyncio takes it for running."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    await program.communicate()
