"""Fetch sessions are Kafka's (KIP-227): who is listed, what an epoch must be, when a session ends."""

from uuid import UUID

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.replication.fetch_sessions import (
    EPOCH_MAX,
    FULL,
    SESSIONLESS,
    SESSIONS_PER_BROKER_MAX,
    STALE_MS,
    FetchSessionCache,
)
from brokers.wire.messages.fetch import FetchPartition

TOPIC = UUID(int=1)


def refused(sessions: FetchSessionCache, *asked: int) -> KafkaError:
    with pytest.raises(Refusal) as caught:
        sessions.find(*asked)
    return caught.value.error


def test_a_full_request_begins_a_session_and_the_next_ones_go_on_with_it() -> None:
    sessions = FetchSessionCache()
    session = sessions.find(0, FULL, 2, 20)
    assert session.id > 0
    assert sessions.find(session.id, 1, 2, 20) is session
    assert sessions.find(session.id, 2, 2, 20) is session
    assert refused(sessions, session.id, 2, 2, 20) is KafkaError.INVALID_FETCH_SESSION_EPOCH
    assert refused(sessions, session.id, 4, 2, 20) is KafkaError.INVALID_FETCH_SESSION_EPOCH


def test_epochs_wrap_to_one() -> None:
    sessions = FetchSessionCache()
    session = sessions.find(0, FULL, 2, 20)
    session.next_epoch = EPOCH_MAX
    sessions.find(session.id, EPOCH_MAX, 2, 20)
    assert session.next_epoch == 1


def test_a_session_belongs_to_one_life_of_one_broker() -> None:
    sessions = FetchSessionCache()
    session = sessions.find(0, FULL, 2, 20)
    assert refused(sessions, session.id, 1, 3, 20) is KafkaError.FETCH_SESSION_ID_NOT_FOUND
    assert refused(sessions, session.id, 1, 2, 21) is KafkaError.FETCH_SESSION_ID_NOT_FOUND
    assert refused(sessions, 99, 1, 2, 20) is KafkaError.FETCH_SESSION_ID_NOT_FOUND


def test_a_full_request_ends_the_session_that_it_names() -> None:
    sessions = FetchSessionCache()
    first = sessions.find(0, FULL, 2, 20)
    second = sessions.find(first.id, FULL, 2, 20)
    assert refused(sessions, first.id, 1, 2, 20) is KafkaError.FETCH_SESSION_ID_NOT_FOUND
    assert len(sessions) == 1
    sessions.find(second.id, SESSIONLESS, 2, 20)
    assert len(sessions) == 0


def test_a_stranger_ends_nobody_elses_session() -> None:
    sessions = FetchSessionCache()
    session = sessions.find(0, FULL, 2, 20)
    sessions.find(session.id, FULL, 3, 30)
    assert sessions.find(session.id, 1, 2, 20) is session


def test_a_new_life_ends_the_sessions_of_the_old_one() -> None:
    sessions = FetchSessionCache()
    sessions.find(0, FULL, 2, 20)
    sessions.find(0, FULL, 2, 20)
    sessions.find(0, FULL, 2, 25)
    assert len(sessions) == 1


def test_no_broker_has_more_sessions_than_it_could_want() -> None:
    sessions = FetchSessionCache()
    first = sessions.find(0, FULL, 2, 20)
    for _ in range(SESSIONS_PER_BROKER_MAX):
        sessions.find(0, FULL, 2, 20)
    assert len(sessions) == SESSIONS_PER_BROKER_MAX
    assert refused(sessions, first.id, 1, 2, 20) is KafkaError.FETCH_SESSION_ID_NOT_FOUND


def test_as_many_fetchers_as_there_may_be_keep_their_sessions() -> None:
    """Each has two lanes, and each lane a session."""
    sessions = FetchSessionCache()
    fetchers = 1_000  # num.replica.fetchers allows no more
    begun = [sessions.find(0, FULL, 2, 20) for _ in range(2 * fetchers)]
    assert all(sessions.find(each.id, 1, 2, 20) is each for each in begun)


def test_of_too_many_sessions_those_go_that_asked_longest_ago() -> None:
    sessions = FetchSessionCache()
    begun = [sessions.find(0, FULL, 2, 20) for _ in range(SESSIONS_PER_BROKER_MAX)]
    for number, session in enumerate(reversed(begun)):
        session.last_fetch.at = number
    sessions.find(0, FULL, 2, 20)
    assert refused(sessions, begun[-1].id, 1, 2, 20) is KafkaError.FETCH_SESSION_ID_NOT_FOUND
    assert sessions.find(begun[0].id, 1, 2, 20) is begun[0]


def test_a_session_that_is_not_gone_on_with_ends_when_its_broker_begins_another() -> None:
    """The answer that named it was lost."""
    sessions = FetchSessionCache()
    lost, used = sessions.find(0, FULL, 2, 20), sessions.find(0, FULL, 2, 20)
    lost.last_fetch.at, used.last_fetch.at = 0, STALE_MS + 1
    sessions.find(0, FULL, 2, 20)
    assert refused(sessions, lost.id, 1, 2, 20) is KafkaError.FETCH_SESSION_ID_NOT_FOUND
    assert sessions.find(used.id, 1, 2, 20) is used


def test_what_is_listed_is_news_and_what_is_forgotten_is_not() -> None:
    session = FetchSessionCache().find(0, FULL, 2, 20)
    cached = session.update(TOPIC, FetchPartition(partition=3, fetch_offset=5, high_watermark=4))
    assert list(session.changed) == [cached]
    assert cached.sent == (4, -1)
    again = session.update(TOPIC, FetchPartition(partition=3, fetch_offset=9))
    assert again is cached and cached.fetch.fetch_offset == 9
    assert cached.sent == (4, -1)  # it did not say what it knows
    session.forget(TOPIC, 3)
    assert (len(session), session.changed) == (0, {})
