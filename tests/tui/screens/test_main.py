"""The main screen paints what is typed at once, and no more of itself than a key changed."""


async def test_a_key_is_painted_without_waiting_for_the_clock(stage_of):
    async with stage_of() as stage:
        painted = counted_paints(stage.app)
        stage.app.main._update_timer.stop()  # Textual's clock stands still
        await stage.type("ab")
        assert "› ab" in stage.text
        assert len(painted) == 2


async def test_a_key_leaves_the_layout_as_it_is(stage_of):
    async with stage_of() as stage:
        await stage.type("a")
        layouts = counted_layouts(stage.app)
        await stage.type("bcd")
        assert layouts == []


async def test_a_key_that_needs_another_row_is_not_painted_without_it(stage_of):
    async with stage_of() as stage:
        await stage.type("a")
        heights = counted_paints(stage.app, lambda: stage.app.main.prompt.size.height)
        await stage.pilot.press("ctrl+j")
        assert set(heights) == {2}


def counted_paints(app, look=lambda: None) -> list[object]:
    painted: list[object] = []
    display = app._display

    def counting(screen, renderable):
        if renderable is not None:
            painted.append(look())
        display(screen, renderable)

    app._display = counting
    return painted


def counted_layouts(app) -> list[object]:
    layouts: list[object] = []
    app.main.screen_layout_refresh_signal.subscribe(app.main, layouts.append, immediate=True)
    return layouts
