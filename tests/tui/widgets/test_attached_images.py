import base64
import os

import pytest

from codeagent.core.messages import Draft, DraftImage
from codeagent.tui.widgets import prompt as prompts
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


@pytest.fixture
def two(tmp_path):
    path = tmp_path / "two.png"
    path.write_bytes(PNG)
    return path


TWO = "[image #1 · two.png]"


def test_the_file_of_an_image_in_a_draft_is_kept_by_its_whole_path(two, monkeypatch):
    monkeypatch.chdir(two.parent)
    images = AttachedImages()
    mark = images.attach("two.png").strip()
    clip = images.take(PNG, "clipboard.png").strip()
    assert images.drafted_in(f"{mark} {clip} {mark}") == (DraftImage(mark=mark, path=str(two)),)


def test_a_path_that_is_no_text_is_not_kept(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.png")
    path.write_bytes(PNG)
    images = AttachedImages()
    assert images.drafted_in(images.attach(str(path))) == ()


def test_an_image_of_a_draft_never_takes_the_place_of_one_attached_now(tmp_path, two):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "two.png"
    other.write_bytes(PNG + b"other")
    images = AttachedImages()
    now = images.attach(str(other))
    again = DraftImage(mark=TWO, path=str(two), image=images.read(two))
    text, lost = images.take_back(Draft(text=f"{TWO} and {TWO}", images=(again,)))
    assert (text, lost) == ("[image #2 · two.png] and [image #2 · two.png]", "")
    assert [base64.b64decode(image.data) for image in images.found_in(now + text)] == [PNG + b"other", PNG]


async def test_an_image_of_a_draft_is_attached_again_and_sent(stage_of, two, monkeypatch):
    monkeypatch.setattr(prompts, "DRAFT_SECONDS", 0.0)
    async with stage_of(draft=f"{TWO} why", images=(DraftImage(mark=TWO, path=str(two)),)) as stage:
        await stage.until(lambda: "draft from before · ctrl+c clears" in stage.text)
        await stage.type("?")
        await stage.until(lambda: stage.bench.images == (DraftImage(mark=TWO, path=str(two)),))
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.conversation.sent == [f"{TWO} why?"])
        assert [image.name for image in stage.conversation.images] == ["two.png"]


@pytest.mark.parametrize("has_path", [True, False])
async def test_an_image_of_a_draft_that_cannot_be_had_is_a_name_and_said_not_to_be_attached(
    stage_of, tmp_path, monkeypatch, has_path
):
    monkeypatch.setattr(prompts, "DRAFT_SECONDS", 0.0)
    images = (DraftImage(mark=TWO, path=str(tmp_path / "two.png")),) if has_path else ()
    async with stage_of(draft=f"{TWO} why", images=images) as stage:
        await stage.until(lambda: "draft from before · two.png is not attached any more · ctrl+c" in stage.text)
        assert stage.app.main.prompt.text == "two.png why"


async def test_an_image_in_the_history_of_an_earlier_run_is_a_name_even_where_its_mark_is_another_one_now(
    stage_of, two
):
    async with stage_of(typed=(f"{TWO} or [image #2 · clipboard.png]",)) as stage:
        prompt = stage.app.main.prompt
        prompt.insert_typed(str(two))
        assert prompt.text == f"{TWO} "
        await stage.pilot.press("up")
        await stage.until(lambda: "two.png and clipboard.png are not attached any more" in stage.text)
        assert prompt.text == "two.png or clipboard.png"
        await stage.pilot.press("down")
        assert prompt.images_in(prompt.text)


async def test_a_mark_from_elsewhere_is_a_name(stage_of):
    async with stage_of() as stage:
        stage.app.main.prompt.insert_typed(f"see {TWO}")
        assert stage.app.main.prompt.text == "see two.png"
        await stage.until(lambda: "two.png is not attached any more" in stage.text)
