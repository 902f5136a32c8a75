"""A follower is slow only if it was nowhere near the leader's end for as long as it may be."""

from brokers.partition.remote_replica import LastFetch, RemoteReplica

LAG = 1_000


def fetch(state: RemoteReplica, offset: int, leader_end: int, now: int) -> None:
    contact = state.last_fetch
    contact.at = now
    state.fetched(offset, 0, leader_end, 7, contact, now)


def test_one_that_was_never_heard_of_is_not_caught_up() -> None:
    assert not RemoteReplica().is_caught_up(0, 5_000, LAG)


def test_whoever_is_level_is_caught_up_however_long_ago_it_asked() -> None:
    state = RemoteReplica()
    fetch(state, 10, 10, now=0)
    assert state.is_caught_up(10, 1_000_000, LAG)
    assert not state.is_caught_up(11, 1_000_000, LAG)


def test_one_append_behind_for_ever_is_not_slow() -> None:
    state = RemoteReplica()
    for step in range(20):
        fetch(state, step, step + 1, now=step * 500)
        assert step == 0 or state.is_caught_up(step + 2, step * 500 + 400, LAG)


def test_one_that_never_comes_to_where_the_leader_was_is_slow() -> None:
    state = RemoteReplica()
    for step in range(20):
        fetch(state, step, 100 * (step + 1), now=step * 500)
    assert not state.is_caught_up(2_000, 10_000, LAG)


def test_an_idle_partition_was_level_when_its_session_last_asked() -> None:
    state = RemoteReplica(last_fetch=LastFetch())
    fetch(state, 10, 10, now=0)
    state.last_fetch.at = 60_000  # a request that said nothing of this partition
    state.before_append(10)
    assert state.is_caught_up(11, 60_900, LAG)
    assert not state.is_caught_up(11, 61_100, LAG)


def test_one_that_lags_is_not_excused_by_its_session() -> None:
    state = RemoteReplica()
    fetch(state, 9, 10, now=0)
    state.last_fetch.at = 60_000
    state.before_append(10)
    assert not state.is_caught_up(11, 60_001, LAG)
