"""The list of rules: what holds, adding with a live check, removing and putting back."""

from codeagent.core.approvals import Decision, Scope


async def opened(stage):
    await stage.type("/permissions")
    await stage.pilot.press("enter")
    await stage.until(lambda: "bash(pytest *)" in stage.text)


def held(stage):
    return [(rule.decision, rule.rule, rule.scope) for rule in stage.bench.stored[1:]]


async def test_a_rule_says_what_it_covers_and_where_it_stands(stage_of):
    async with stage_of() as stage:
        await opened(stage)
        await stage.until(lambda: "It allows all that fits bash(pytest *)." in stage.text)
        assert "It stands in the settings" in stage.text


async def test_a_rule_is_checked_while_it_is_typed_and_added_with_its_scope(stage_of):
    async with stage_of() as stage:
        await opened(stage)
        await stage.pilot.press("a")
        await stage.type("deny read")
        await stage.until(lambda: "is no permission rule" in stage.text)
        await stage.type("(*.log)")
        await stage.until(lambda: "It denies all that fits read(*.log)." in stage.text)
        assert "Holds for this project." in stage.text
        await stage.pilot.press("tab")
        await stage.until(lambda: "Holds for every project." in stage.text)
        await stage.pilot.press("enter")
        await stage.until(lambda: held(stage) == [(Decision.DENY, "read(*.log)", Scope.ALWAYS)])
        await stage.until(lambda: "read(*.log)" in stage.text and "every project" in stage.text)


async def test_what_is_no_rule_is_not_stored(stage_of):
    async with stage_of() as stage:
        await opened(stage)
        await stage.pilot.press("a")
        await stage.type("nonsense")
        await stage.pilot.press("enter")
        await stage.until(lambda: "is no permission rule" in stage.text)
        assert held(stage) == []
        await stage.pilot.press("escape")
        await stage.until(lambda: "a add" in stage.text)
        await stage.pilot.press("escape")
        await stage.until(lambda: "Permissions" not in stage.text)


async def test_a_rule_is_removed_and_put_back(stage_of):
    async with stage_of() as stage:
        await stage.bench.add_rule(Decision.ALLOW, "bash(npm test)", Scope.PROJECT)
        await opened(stage)
        await stage.pilot.press("down", "x")
        await stage.until(lambda: "Removed bash(npm test). u puts it back." in stage.text)
        assert held(stage) == []
        await stage.pilot.press("u")
        await stage.until(lambda: held(stage) == [(Decision.ALLOW, "bash(npm test)", Scope.PROJECT)])


async def test_markup_and_control_characters_in_a_rule_are_text(stage_of):
    async with stage_of() as stage:
        await stage.bench.add_rule(Decision.DENY, "bash([red]x\x1b[2J[/red])", Scope.SESSION)
        await opened(stage)
        await stage.until(lambda: "[red]x<U+001B>[2J[/red]" in stage.text)


async def test_only_keys_that_do_something_are_named_and_each_of_them_whole(stage_of):
    async with stage_of(size=(60, 15)) as stage:
        await opened(stage)
        assert "a add · esc leave" in stage.text  # the only rule stands in the settings
        await stage.bench.add_rule(Decision.ALLOW, "bash(npm test)", Scope.PROJECT)
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.main.is_current)
        await opened(stage)
        await stage.pilot.press("down")
        await stage.until(lambda: "↑ ↓ choose · a add · x remove · esc leave" in stage.text)
        await stage.pilot.press("x")
        await stage.until(lambda: "a add · u put back · esc leave" in stage.text)


async def test_where_there_is_no_rule_that_is_said(stage_of):
    async with stage_of() as stage:
        stage.bench.stored.clear()
        await stage.type("/permissions\n")
        await stage.until(lambda: "There are no rules: the mode alone decides." in stage.text)
        assert "a add · esc leave" in stage.text


async def test_a_rule_that_is_too_long_for_its_row_goes_on_below(stage_of):
    async with stage_of(size=(40, 12)) as stage:
        await opened(stage)
        await stage.pilot.press("a")
        await stage.type("deny read(services/totals/of_discounts.log)\n")
        rule = "read(services/totals/of_discounts.log)"
        await stage.until(lambda: f"deny{rule}" in "".join(stage.text.replace("│", " ").split()))
