"""The rows of queued messages: what was said comes first, what it waits for where there is room for that."""

import pytest

from codeagent.core.events import Delivery
from codeagent.tui.widgets.queue import Queued

MESSAGE = Queued(
    message_id="m-1",
    text="also negative discounts",
    delivery=Delivery.STEER,
    waits_for="bash python3 long_check.py",
)


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (60, "queued: “also negative discounts”"),
        (80, "queued: “also negative discounts”  waits for bash python3"),
        (100, "queued: “also negative discounts”  waits for bash python3 long_check.py  "),
    ],
)
async def test_a_message_stands_whole_before_it_is_said_what_it_waits_for(stage_of, columns, row):
    async with stage_of(size=(columns, 15)) as stage:
        stage.app.main.queue_lines.add(MESSAGE)
        await stage.until(lambda: "take back" in stage.text)
        assert row in stage.text
        assert ("waits" in stage.text) is ("waits" in row)
