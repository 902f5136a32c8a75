"""A leader that no controller answers: it goes on while its followers do, and else sends its clients away."""

from typing import Any

from brokers.api import metadata
from brokers.errors import KafkaError
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.unit.brokers.api.test_replicated import Region

SESSION_MS, MOMENT_MS = 9_000, 1_000
AWAY = KafkaError.NOT_LEADER_OR_FOLLOWER


def region() -> Region:
    """The controller has answered, and all is in sync."""
    made = Region()
    for broker in (2, 3):
        made.follow(broker, 0)
    hear(made)
    return made


def hear(region: Region) -> None:
    region.broker.parts.replication.isolation.on_heartbeat(region.now)


def let_pass(region: Region, milliseconds: int, *, asking: tuple[int, ...] = ()) -> None:
    """Followers that ask do so all the time."""
    for _ in range(milliseconds // MOMENT_MS):
        region.wait(MOMENT_MS)
        for broker in asking:
            region.follow(broker, region.replica.log.log_end_offset)


def strand(region: Region) -> None:
    let_pass(region, SESSION_MS + MOMENT_MS, asking=(2,))
    assert region.replica.is_isolated


def read(region: Region, offset: int) -> Any:
    return region.consume(offset).responses[0].partitions[0]


def told_leader(region: Region) -> tuple[int, int]:
    message = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    (partition,) = region.ask(metadata, 12, message).topics[0].partitions
    return partition.leader_id, partition.error_code


def test_nobody_waits_for_what_cannot_be_committed() -> None:
    stranded = region()
    ticket = stranded.put(timeout_ms=60_000)
    strand(stranded)
    assert stranded.put_answer(ticket).error_code == AWAY
    later = stranded.put(version=10)
    item = stranded.put_answer(later)
    assert item.error_code == AWAY
    assert item.current_leader is None, "who leads it does not know"
    assert stranded.replica.log.log_end_offset == 1


def test_readers_get_what_is_committed_and_are_then_sent_away() -> None:
    stranded = region()
    stranded.put()
    for broker in (2, 3):
        stranded.follow(broker, 1)
    strand(stranded)
    assert (read(stranded, 0).error_code, read(stranded, 0).high_watermark) == (0, 1)
    assert read(stranded, 1).error_code == AWAY
    assert read(stranded, 50).error_code == AWAY, "another leader may have come that far"


def test_it_does_not_say_that_it_leads() -> None:
    stranded = region()
    assert told_leader(stranded) == (1, 0)
    strand(stranded)
    assert told_leader(stranded) == (-1, KafkaError.LEADER_NOT_AVAILABLE)


def test_while_all_in_sync_replicas_ask_it_goes_on_without_a_controller() -> None:
    alone = region()
    let_pass(alone, 5 * SESSION_MS, asking=(2, 3))
    ticket = alone.put()
    for broker in (2, 3):
        alone.follow(broker, 1)
    assert alone.put_answer(ticket).error_code == 0
    assert told_leader(alone) == (1, 0)


def test_silent_followers_alone_strand_nobody() -> None:
    """The controller would take them out of the in-sync set."""
    heard = region()
    for _ in range(30):
        let_pass(heard, MOMENT_MS)
        hear(heard)
    assert not heard.replica.is_isolated


def test_who_is_answered_again_leads_as_before_if_nobody_else_does() -> None:
    back = region()
    strand(back)
    hear(back)
    ticket = back.put()
    for broker in (2, 3):
        back.follow(broker, 1)
    assert back.put_answer(ticket).error_code == 0
    assert told_leader(back) == (1, 0)


def test_who_leads_with_nobody_else_in_sync_goes_on() -> None:
    """No other could have been elected."""
    single = region()
    single.brokers(2, 3, fenced=True)
    single.place(leader=1, isr=(1,))
    let_pass(single, 4 * SESSION_MS)  # beyond the time for which it would wait for the others
    assert single.put_answer(single.put()).error_code == 0


def test_whoever_it_asked_to_let_in_is_heard_of_too() -> None:
    """The controller may have let them in, and its answer be lost: nothing is committed without them."""
    asking = region()
    asking.place(leader=1, isr=(1,))
    assert asking.replica.leadership.isr_state.maximal_isr == (1, 2, 3)
    let_pass(asking, 2 * SESSION_MS)
    assert asking.put_answer(asking.put()).error_code == AWAY
