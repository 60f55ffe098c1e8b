"""A theme of the person's own that cannot be drawn is named, and takes nothing else away."""

import pytest

HALF = 'shine = "#ffffff"\n'


@pytest.fixture
def broken(tmp_path):
    """A folder with one theme that is none."""

    def make(name: str, text: str = HALF):
        (tmp_path / f"{name}.toml").write_text(text)
        return (tmp_path,)

    return make


def unbroken(text: str) -> str:
    """As it is said, wherever the window breaks its lines: the folder's name is of any length."""
    return " ".join(text.replace("│", " ").split())


async def test_the_picker_offers_the_good_ones_and_names_the_bad_one(stage_of, broken):
    async with stage_of(theme_folders=broken("half")) as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: "╭─ Theme" in stage.text and "names of its colours" in unbroken(stage.text))
        await stage.type("light")
        await stage.until(lambda: stage.app.theme == "light")


async def test_themes_are_completed(stage_of, broken):
    async with stage_of(theme_folders=broken("darkest")) as stage:
        await stage.type("/theme da")
        await stage.until(lambda: "quiet greys with one blue" in stage.text)
        assert "darkest" not in stage.text


async def test_one_that_is_broken_cannot_be_chosen(stage_of, broken):
    async with stage_of(theme_folders=broken("half")) as stage:
        await stage.type("/theme half\n")
        await stage.until(lambda: "names of its colours" in stage.text)
        assert stage.app.theme == "dark"


@pytest.mark.parametrize("name", ["half", "dark", "gone"])
async def test_the_program_starts_in_another_and_says_why(stage_of, broken, name):
    folders = broken(name, 'accent = "red"\n') if name != "gone" else ()
    async with stage_of(theme=name, theme_folders=folders) as stage:
        await stage.until(
            lambda: ("There is no theme gone" if name == "gone" else "names of its colours") in stage.text
        )
        assert stage.app.theme == "dark"


async def test_in_a_small_window_the_note_leaves_the_list_its_rows(stage_of, broken):
    async with stage_of(theme_folders=broken("half"), size=(60, 15)) as stage:
        await stage.type("/theme\n")
        await stage.until(lambda: "╭─ Theme" in stage.text and "half" in stage.text)
        await stage.pilot.pause()
        assert stage.app.screen._list.size.height == 4
