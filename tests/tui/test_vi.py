"""Vi's keys in the prompt of the running app."""


async def test_escape_leaves_the_text_first_and_stops_only_then(stage_of):
    async with stage_of(vi=True) as stage:
        prompt = stage.app.main.prompt
        await stage.type("fix it noww")
        await stage.pilot.press("escape")
        await stage.until(lambda: " normal" in stage.text)
        await stage.type("x0cw")
        assert "normal" not in stage.text
        await stage.type("mend")
        assert prompt.text == "mend it now"
        await stage.pilot.press("escape", "u")
        assert prompt.text == "fix it now"
        await stage.pilot.press("ctrl+r", "enter")
        await stage.until(lambda: stage.conversation.sent == ["mend it now"])
        await stage.until(lambda: "normal" not in stage.text)
        await stage.type("next")
        assert prompt.text == "next"


async def test_escape_closes_a_completion_before_it_leaves_the_text(stage_of):
    async with stage_of(vi=True) as stage:
        await stage.type("@shop")
        await stage.until(lambda: "@shop/cart.py" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "@shop/cart.py" not in stage.text)
        assert " normal" not in stage.text
        await stage.pilot.press("escape")
        await stage.until(lambda: " normal" in stage.text)


async def test_k_and_j_walk_the_history_and_a_slash_searches_it(stage_of):
    async with stage_of(vi=True) as stage:
        prompt = stage.app.main.prompt
        await stage.pilot.press("escape", "k")
        assert prompt.text == "newer"
        await stage.pilot.press("k", "j", "j")
        assert prompt.text == ""
        await stage.pilot.press("slash")
        await stage.until(lambda: "Typed before" in stage.text)


async def test_without_the_setting_letters_are_letters_after_escape(stage_of):
    async with stage_of() as stage:
        await stage.type("a")
        await stage.pilot.press("escape", "x")
        assert stage.app.main.prompt.text == "ax"


async def test_a_paste_is_text_in_any_mode(stage_of):
    async with stage_of(vi=True) as stage:
        await stage.type("ab")
        await stage.pilot.press("escape")
        stage.app.main.prompt.insert_typed("dd\nx")
        await stage.pilot.pause()
        assert stage.app.main.prompt.text == "add\nxb"


async def test_what_is_selected_is_seen_and_the_status_line_says_so(stage_of):
    async with stage_of(vi=True) as stage:
        prompt = stage.app.main.prompt
        await stage.type("mend the totals")
        await stage.pilot.press("escape", "0", "w", "v", "e")
        await stage.until(lambda: " visual " in stage.text)
        assert prompt.selected_text == "the"
        await stage.pilot.press("V")
        await stage.until(lambda: " visual line " in stage.text)
        assert prompt.selected_text == "mend the totals"
        await stage.pilot.press("v", "d")
        await stage.until(lambda: " normal " in stage.text)
        assert prompt.text == "mend  totals"


async def test_escape_gives_up_the_selection_before_it_stops_anything(stage_of):
    async with stage_of(vi=True) as stage:
        await stage.type("one two")
        await stage.pilot.press("escape", "v", "b", "escape")
        await stage.until(lambda: " normal " in stage.text)
        assert stage.app.main.prompt.selection.is_empty
        await stage.type("x")
        assert stage.app.main.prompt.text == "one wo"


async def test_a_paste_at_a_selection_replaces_nothing(stage_of):
    async with stage_of(vi=True) as stage:
        await stage.type("one two")
        await stage.pilot.press("escape", "V")
        stage.app.main.prompt.insert_typed("!")
        assert stage.app.main.prompt.text == "one two!"
