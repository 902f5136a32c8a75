"""A run that would not end is ended, and says what went round in circles."""

import pytest

from tests.sim.world import DEEDS_AT_ONCE_MAX, Endless, Promise, World


def settled() -> Promise:
    promise = Promise()
    promise.settle()
    return promise


def test_acts_that_ask_for_themselves_at_one_instant_are_ended_by_name() -> None:
    world = World(1)

    def chase() -> None:
        world.note("dog", "chases its tail")
        world.after(0, chase)

    world.after(7, chase)
    with pytest.raises(Endless, match=r"at instant 7; the last was .*\.chase, (.|\n)*its tail"):
        world.run(world.now + 10)


def test_a_client_that_never_waits_is_ended_by_name() -> None:
    """Its promises are kept already, so that one act goes on for ever."""
    world = World(1)

    async def hurry() -> None:
        while True:
            await world.within(100, settled())

    world.spawn(hurry())
    with pytest.raises(Endless, match="at instant 0; "):
        world.run(world.now + 10)


def test_a_storm_of_events_within_one_step_is_ended_by_its_lines() -> None:
    world = World(1)

    def storm() -> None:
        while True:
            world.note("west", "< RangeRead")

    world.after(3, storm)
    with pytest.raises(Endless, match=r"west +< RangeRead"):
        world.run(world.now + 10)


def test_a_run_that_goes_on_and_on_is_ended() -> None:
    world = World(1, deeds_max=1_000)

    def tick() -> None:
        world.after(1, tick)

    tick()
    with pytest.raises(Endless, match=r"1001 deeds by instant \d+; the last was .*\.tick"):
        world.run(world.now + 100_000)


def test_as_much_over_many_instants_is_no_storm() -> None:
    world = World(1)
    ticks: list[int] = []

    def tick() -> None:
        ticks.append(world.now)
        world.after(1, tick)

    tick()
    world.run(world.now + DEEDS_AT_ONCE_MAX)
    assert len(ticks) == DEEDS_AT_ONCE_MAX + 1
