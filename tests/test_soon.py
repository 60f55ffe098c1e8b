"""What a session works with is made while the model answers, once, and hears all that it has to."""

import asyncio

import pytest

from codeagent.core.errors import ConfigError
from codeagent.core.events import TextStreamed, TurnStarted
from codeagent.soon import Soon

FIRST, SECOND = TurnStarted(turn=1, text="a"), TurnStarted(turn=2, text="b")


class Heard:
    """Equipment that only listens."""

    def __init__(self):
        self.events = []
        self.is_closed = False

    def listen(self, event):
        self.events.append(event)

    def news(self):
        return "news"

    def close(self):
        self.is_closed = True


@pytest.fixture
def made():
    return []


@pytest.fixture
def soon(made):
    def make():
        made.append(Heard())
        return made[-1]

    return Soon((), make)


async def test_it_is_made_once_however_many_wait_for_it(soon, made):
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(soon.ready())
    assert len(made) == 1


async def test_it_hears_of_what_lasts_and_happened_before_it_was_made(soon, made):
    soon.listen(FIRST)
    soon.listen(TextStreamed(text="passing"))
    await soon.ready()
    soon.listen(SECOND)
    assert made[0].events == [FIRST, SECOND]


def test_without_it_there_is_no_news_and_nothing_to_close(soon, made):
    soon.close()
    assert (soon.news(), soon.is_made, made) == ("", False, [])


async def test_closing_it_closes_what_was_made(soon, made):
    await soon.ready()
    soon.close()
    assert made[0].is_closed


async def test_what_cannot_be_made_is_told_to_each_who_asks():
    def make():
        raise ConfigError("This cannot be.")

    soon = Soon((), make)
    for _ in range(2):
        with pytest.raises(ConfigError, match="This cannot be"):
            await soon.ready()
