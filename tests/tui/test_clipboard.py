"""Ctrl+V asks the program that knows the clipboard: an image becomes a mark, text is pasted, anything else is said."""

import base64

import pytest

from codeagent.tui.clipboard import read_clipboard
from tests.tui.widgets.test_attached_images import PNG

WL_PASTE = """#!/bin/sh
cd "$(dirname "$0")"
[ "$1" = --list-types ] && exec cat types
exec cat "$(echo "$3" | tr / _)"
"""
XCLIP = """#!/bin/sh
cd "$(dirname "$0")"
[ "$5" = TARGETS ] && exec cat types
exec cat "$(echo "$5" | tr / _)"
"""


@pytest.fixture
def clipboard(tmp_path, monkeypatch):
    """Fills the clipboard of a desktop: its contents by their kinds."""

    def fill(contents, *, program="wl-paste"):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / program).write_text(WL_PASTE if program == "wl-paste" else XCLIP)
        (folder / program).chmod(0o755)
        (folder / "types").write_text("\n".join(contents))
        for kind, data in contents.items():
            (folder / kind.replace("/", "_")).write_bytes(data)
        for name in ("WAYLAND_DISPLAY", "DISPLAY", "SSH_CONNECTION"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("WAYLAND_DISPLAY" if program == "wl-paste" else "DISPLAY", ":9")
        monkeypatch.setenv("PATH", str(folder), prepend=":")

    return fill


async def test_an_image_becomes_a_mark_and_goes_with_the_message(stage_of, clipboard):
    clipboard({"text/html": b"<img>", "image/png": PNG})
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        await stage.type("what is ")
        await stage.pilot.press("ctrl+v")
        await stage.until(lambda: prompt.text == "what is [image #1 · clipboard.png] ")
        await stage.until(lambda: "image attached" in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: [base64.b64decode(one.data) for one in stage.conversation.images] == [PNG])


async def test_text_is_pasted_and_never_sends(stage_of, clipboard):
    clipboard({"text": b"one\r\ntwo\n"})
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+v")
        await stage.until(lambda: stage.app.main.prompt.text == "one\ntwo\n")
        assert stage.conversation.sent == []


async def test_an_empty_clipboard_is_said(stage_of, clipboard):
    clipboard({"text": b""})
    async with stage_of() as stage:
        await stage.pilot.press("ctrl+v")
        await stage.until(lambda: "The clipboard is empty" in stage.text)


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ({"image/png": PNG + b"0" * 4_000_000}, "larger than 3.8 MB"),
        ({"image/bmp": b"BM", "text": b""}, "do not know this kind"),
        ({"image/png": b""}, "could not be read"),
    ],
)
async def test_what_cannot_be_taken_is_said(clipboard, contents, words):
    clipboard(contents)
    assert words in (await read_clipboard()).problem


@pytest.mark.parametrize("rest", ["sleep 1000", "cat /dev/zero"])
async def test_a_program_that_goes_on_writing_an_image_is_not_waited_for(clipboard, tmp_path, rest):
    clipboard({"image/png": PNG + b"0" * 4_000_000})
    goes_on = WL_PASTE.replace('exec cat "$(', 'cat "$(') + f"{rest}\necho\n"
    (tmp_path / "bin/wl-paste").write_text(goes_on)
    assert "larger than 3.8 MB" in (await read_clipboard()).problem


async def test_x_has_a_program_of_its_own(clipboard):
    clipboard({"image/jpeg": b"\xff\xd8\xff", "UTF8_STRING": b"also"}, program="xclip")
    assert (await read_clipboard()).image == b"\xff\xd8\xff"


@pytest.mark.parametrize(
    ("environ", "words"),
    [({"PATH": "/none"}, "drag the image in"), ({"PATH": "/none", "SSH_CONNECTION": "1"}, "other side of ssh")],
)
@pytest.mark.skipif("sys.platform == 'darwin'")
async def test_without_a_program_the_way_out_is_said(environ, words):
    assert words in (await read_clipboard(environ)).problem
