from __future__ import annotations

import asyncio
import contextlib

import pytest

from codeagent.agent.scope import CalledOff, Scope


async def test_work_that_nobody_calls_off_is_done():
    async with Scope():
        await asyncio.sleep(0)


async def test_calling_off_ends_the_work_but_not_the_task():
    scope = Scope()
    asyncio.get_running_loop().call_later(0.01, scope.call_off)
    with pytest.raises(CalledOff):
        async with scope:
            await asyncio.sleep(30)
    await asyncio.sleep(0)
    assert asyncio.current_task().cancelling() == 0


async def test_work_called_off_before_it_began_never_begins():
    scope = Scope()
    scope.call_off()
    with pytest.raises(CalledOff):
        async with scope:
            raise AssertionError("it began")


async def test_work_may_clean_up_when_it_is_called_off():
    scope = Scope()
    cleaned = []
    asyncio.get_running_loop().call_later(0.01, scope.call_off)

    async def tidy():
        async with scope:
            try:
                await asyncio.sleep(30)
            finally:
                await asyncio.sleep(0.01)
                cleaned.append(True)

    with pytest.raises(CalledOff):
        await tidy()
    assert cleaned == [True]


async def test_what_is_held_is_done_to_its_end():
    scope = Scope()
    asyncio.get_running_loop().call_later(0.01, scope.call_off)
    done = []
    async with scope:
        with scope.held():
            await asyncio.sleep(0.05)
        done.append(True)
    assert done == [True]
    assert scope.is_called_off


async def test_a_real_cancellation_passes_through():
    async def work():
        async with Scope():
            await asyncio.sleep(30)

    task = asyncio.ensure_future(work())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_of_two_scopes_the_outer_one_wins():
    outer, inner = Scope(), Scope()

    def both():
        inner.call_off()
        outer.call_off()

    asyncio.get_running_loop().call_later(0.01, both)

    async def nested():
        async with outer:
            with contextlib.suppress(CalledOff):
                async with inner:
                    await asyncio.sleep(30)
            raise AssertionError("the outer scope was entered on")

    with pytest.raises(CalledOff):
        await nested()


async def test_an_error_of_the_work_is_not_taken_for_a_call_off():
    with pytest.raises(TimeoutError):
        async with Scope():
            raise TimeoutError("the work's own")


async def test_calling_off_twice_or_afterwards_is_harmless():
    scope = Scope()
    async with scope:
        pass
    scope.call_off()
    scope.call_off()
    await asyncio.sleep(0)
