import base64
import os

import pytest

from codeagent.tui.widgets.attached_images import AttachedImages

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def shot(tmp_path):
    path = tmp_path / "my shot [1].png"
    path.write_bytes(PNG)
    return path


@pytest.mark.parametrize(
    "written",
    ["{}", "'{}'", '"{}"', "{} \n", "escaped", "url"],
)
def test_a_path_as_terminals_write_it_becomes_an_image(shot, written):
    text = str(shot)
    pasted = {
        "escaped": text.replace(" ", "\\ ").replace("[", "\\[").replace("]", "\\]"),
        "url": "file://" + text.replace(" ", "%20"),
    }.get(written) or written.format(text)
    images = AttachedImages()
    mark = images.attach(pasted)
    assert mark == "[image #1 · my shot 1 .png] "
    (image,) = images.found_in(f"what is wrong in {mark}?")
    assert (image.media_type, base64.b64decode(image.data)) == ("image/png", PNG)


def test_several_at_once_and_one_twice(shot, tmp_path):
    (tmp_path / "b.png").write_bytes(PNG)
    images = AttachedImages()
    marks = images.attach(f"'{shot}' {tmp_path / 'b.png'}")
    assert marks == "[image #1 · my shot 1 .png] [image #2 · b.png] "
    assert len(images.found_in(marks + marks)) == 2


@pytest.mark.parametrize(
    "pasted", ["see shot.png", "/no/such.png", "{text}", "{pipe}", "{large}", "'half.png", "x.png\n" * 9]
)
def test_any_other_paste_stays_what_it_is(tmp_path, pasted):
    (tmp_path / "text.png").write_text("no image")
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "large.png").write_bytes(PNG + b"0" * 4_000_000)
    names = {name: str(tmp_path / f"{name}.png") for name in ("text", "pipe", "large")}
    assert AttachedImages().attach(pasted.format(**names)) is None


async def test_a_dragged_image_is_sent_with_the_message_and_deleted_as_a_whole(stage_of, shot):
    async with stage_of() as stage:
        prompt = stage.app.main.prompt
        prompt.insert_typed(f"'{shot}'")
        assert prompt.text == "[image #1 · my shot 1 .png] "
        await stage.pilot.press("backspace", "backspace")
        assert prompt.is_empty
        prompt.insert_typed(f"'{shot}'")
        await stage.type("what is it")
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == ["[image #2 · my shot 1 .png] what is it"])
        assert [image.name for image in stage.conversation.images] == ["my shot 1 .png"]


def test_an_image_pasted_as_data_is_taken():
    images = AttachedImages()
    mark = images.attach(f"data:image/png;base64,{base64.b64encode(PNG).decode()}\n")
    assert mark == "[image #1 · pasted.png] "
    assert base64.b64decode(images.found_in(mark)[0].data) == PNG


@pytest.mark.parametrize(
    ("pasted", "words"),
    [
        ("data:image/png;base64,####", "no image that models know"),
        ("data:image/png;base64,QUJD", "no image that models know"),
        ("{text}", "text.png is no image that models know: only its path is here"),
        ("{cut}", "cut.png is cut off or damaged: only its path is here"),
        ("{wide}", "wide.png is 9,000 × 20 pixels (8,000 at most): only its path is here"),
        ("data:image/jpeg;base64,/9j/2Q==", "pasted.jpeg is cut off or damaged"),
        ("{large}", "large.png is larger than 3.8 MB: only its path is here"),
    ],
)
def test_why_an_image_is_not_taken_is_said(tmp_path, pasted, words):
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "large.png").write_bytes(PNG + b"0" * 4_000_000)
    (tmp_path / "cut.png").write_bytes(PNG[:-20])
    (tmp_path / "wide.png").write_bytes(PNG[:16] + (9_000).to_bytes(4, "big") + (20).to_bytes(4, "big") + PNG[24:])
    images = AttachedImages()
    names = {name: tmp_path / f"{name}.png" for name in ("text", "large", "cut", "wide")}
    assert images.attach(pasted.format(**names)) is None
    assert words in images.problem
    assert images.attach("plain words") is None
    assert images.problem == ""
