"""Sessions of brokers, as the active controller remembers them."""

import pytest

from brokers.metadata.commands.broker_commands import FenceBroker
from brokers.metadata.controller.broker_heartbeat_manager import BrokerHeartbeatManager
from tests.unit.brokers.metadata.images import Region

SESSION, LOOK = 9_000, 1_000


def watching(now: int = 0) -> tuple[Region, BrokerHeartbeatManager]:
    region = Region(brokers=3)
    heartbeats = BrokerHeartbeatManager(1, SESSION)
    heartbeats.start(region.image, now)
    return region, heartbeats


def looks(heartbeats: BrokerHeartbeatManager, region: Region, until: int) -> list[FenceBroker]:
    """What is found by looking whenever it is time."""
    found: list[FenceBroker] = []
    while heartbeats.deadline is not None and heartbeats.deadline <= until:
        found += heartbeats.on_time(region.image, heartbeats.deadline)
    return found


def test_whoever_is_silent_for_a_session_is_fenced_once() -> None:
    region, heartbeats = watching()
    assert looks(heartbeats, region, SESSION) == []
    heartbeats.touch(3, SESSION)
    (found,) = looks(heartbeats, region, SESSION + 2 * LOOK)
    assert found == region.fencing(2)
    assert not heartbeats.has_session(2, SESSION + 2 * LOOK)
    assert looks(heartbeats, region, SESSION + 5 * LOOK) == []


def test_frequent_heartbeats_of_others_hide_nobodys_silence() -> None:
    region, heartbeats = watching()
    found: list[FenceBroker] = []
    for now in range(0, SESSION + 3 * LOOK, 100):
        heartbeats.touch(3, now)
        found += looks(heartbeats, region, now)
    assert found == [region.fencing(2)]


def test_its_own_broker_has_no_session_of_an_earlier_life_and_an_endless_one_of_this() -> None:
    region, heartbeats = watching()
    assert not heartbeats.has_session(1, 0)
    heartbeats.touch(1, 0)
    assert heartbeats.has_session(1, 100 * SESSION)
    assert region.fencing(1) not in looks(heartbeats, region, 3 * SESSION)


def test_a_controller_that_was_away_blames_nobody() -> None:
    region, heartbeats = watching()
    woken = 60_000
    assert list(heartbeats.on_time(region.image, woken)) == []
    assert heartbeats.has_session(2, woken)
    found = looks(heartbeats, region, woken + SESSION + LOOK)
    assert {each.broker_id for each in found} == {2, 3}, "who is expired afterwards is fenced"


def test_only_a_controller_with_others_to_watch_looks_at_the_clock() -> None:
    region = Region(brokers=1)
    heartbeats = BrokerHeartbeatManager(1, SESSION)
    heartbeats.start(region.image, 0)
    heartbeats.touch(1, 0)
    assert heartbeats.deadline is None
    heartbeats.touch(2, 0)
    assert heartbeats.deadline == LOOK
    heartbeats.stop()
    assert heartbeats.deadline is None and not heartbeats.has_session(2, 0)
    assert list(heartbeats.on_time(region.image, 10 * SESSION)) == []


@pytest.mark.parametrize("then", ["fenced", "unregistered"])
def test_who_is_gone_already_is_not_fenced_again(then: str) -> None:
    region, heartbeats = watching()
    region.fence(2, 3)
    if then == "unregistered":
        del region.image.brokers[2]
    assert looks(heartbeats, region, 2 * SESSION) == []


def test_those_that_were_given_up_are_counted() -> None:
    region, heartbeats = watching()
    assert heartbeats.timed_out == 0
    looks(heartbeats, region, 2 * SESSION)
    assert heartbeats.timed_out == 2
    heartbeats.stop()
    heartbeats.start(region.image, 2 * SESSION)
    looks(heartbeats, region, 4 * SESSION)
    assert heartbeats.timed_out == 4
