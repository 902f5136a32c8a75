"""Topics whose writes wait, through the whole broker."""

from uuid import UUID

import pytest

from brokers.api import produce
from brokers.errors import KafkaError
from brokers.events import Disconnected
from brokers.region import HoldWrites
from tests.unit.brokers.api.test_produce import VERSIONS, end, request
from tests.unit.brokers.api.whole import HUNG_UP, Whole
from tests.unit.brokers.partition.replicas import batch

NOTHING: frozenset[UUID] = frozenset()


@pytest.fixture
def whole() -> Whole:
    """Writes to its topic wait."""
    one = Whole()
    one.create("t", 2)
    one.feed(HoldWrites(frozenset([one.topic_id("t")]), "somebody has to say first"))
    return one


def begin(whole: Whole, version: int = 9, **fields: object) -> int:
    return whole.start(produce, version, request(whole, version, [(0, batch(1))], **fields))


def code(whole: Whole, ticket: int) -> tuple[int, str | None]:
    item = whole.answers[ticket].responses[0].partition_responses[0]
    return item.error_code, item.error_message


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_waits_until_its_topic_is_free(whole: Whole, version: int) -> None:
    ticket = begin(whole, version)
    assert ticket not in whole.answers
    assert end(whole) == 0
    whole.feed(HoldWrites(NOTHING))
    assert code(whole, ticket)[0] == 0
    assert end(whole) == 1


def test_it_goes_on_waiting_while_others_are_freed(whole: Whole) -> None:
    whole.create("other")
    both = frozenset([whole.topic_id("t"), whole.topic_id("other")])
    whole.feed(HoldWrites(both))
    ticket = begin(whole)
    whole.feed(HoldWrites(both - {whole.topic_id("other")}))
    assert ticket not in whole.answers
    whole.feed(HoldWrites(both - {whole.topic_id("t")}))
    assert code(whole, ticket)[0] == 0


def test_it_is_refused_when_its_time_is_up_and_says_why(whole: Whole) -> None:
    ticket = begin(whole, timeout_ms=300)
    whole.wait(299)
    assert ticket not in whole.answers
    whole.wait(1)
    assert code(whole, ticket) == (KafkaError.NOT_ENOUGH_REPLICAS, "somebody has to say first")
    whole.feed(HoldWrites(NOTHING))
    assert end(whole) == 0


def test_without_acknowledgements_the_connection_is_closed_when_its_time_is_up(
    whole: Whole,
) -> None:
    ticket = begin(whole, acks=0, timeout_ms=300)
    whole.wait(300)
    assert whole.answers[ticket] == HUNG_UP


def test_nothing_is_appended_for_a_client_that_is_gone(whole: Whole) -> None:
    ticket = begin(whole)
    whole.feed(Disconnected((ticket,)))
    assert whole.broker.parts.held_writes.waiting == 0
    whole.feed(HoldWrites(NOTHING))
    whole.wait(2_000)
    assert end(whole) == 0
    assert ticket not in whole.answers
