"""A replica in its roles: what it acknowledges, commits, refuses and gives up."""

import pytest

from brokers.effects import Effect, SaveEpochs, TruncateLog
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from brokers.log.config import LogConfig
from brokers.log.epochs import EpochHistory
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.metadata.image.image import PartitionImage
from brokers.partition import leader
from brokers.partition.isr_state import PendingIsr
from brokers.partition.remote_replica import LastFetch
from brokers.partition.replica import ALL_REPLICAS, CUTTING, Replica
from tests.unit.brokers.partition.replicas import NOW, PARTITION, batch


class Region:
    """`Others` for node 1: 2 and 3 may join; what is proposed is written down."""

    node_id = 1
    lag_ms_max = 1_000

    def __init__(self) -> None:
        self.proposed: list[tuple[int, ...]] = []
        self.last: PendingIsr | None = None
        self.advances = 0

    def is_isr_eligible(self, broker: int, broker_epoch: int) -> bool:
        return broker in (2, 3)

    def propose(self, replica: Replica, proposal: PendingIsr) -> None:
        self.last = proposal
        self.proposed.append(proposal.members)

    def advanced(self, replica: Replica) -> list[Effect]:
        self.advances += 1
        return []


def placed(leader: int = 1, leader_epoch: int = 3, **fields: object) -> PartitionImage:
    values = {"partition_epoch": 1, "replicas": (1, 2, 3), "isr": (1, 2, 3), **fields}
    return PartitionImage(leader=leader, leader_epoch=leader_epoch, **values)


def log(end: int = 0, start: int = 0, checkpoint: int = 0, epochs: tuple = ()) -> Log:
    return Log(
        PARTITION,
        bytes(16),
        segments=[Segment(start)],
        log_start_offset=start,
        log_end_offset=end,
        high_watermark_checkpoint=checkpoint,
        epochs=EpochHistory(epochs),
    )


def holding(
    placement: PartitionImage, *, end: int = 0, min_insync: int = 1, checkpoint: int = 0
) -> tuple[Replica, Region]:
    region = Region()
    replica = Replica(
        PARTITION,
        topic_id=bytes(16),
        leader_epoch=placement.leader_epoch,
        writer=None,
        config=LogConfig(min_insync_replicas=min_insync),
        host=region,
    )
    place(replica, placement)
    replica.opened(log(end, checkpoint=checkpoint), NOW)
    return replica, region


def place(replica: Replica, placement: PartitionImage, writer: str | None = None) -> list[Effect]:
    act = replica.make_leader if placement.leader == 1 else replica.make_follower
    return act(placement, writer, NOW)


def fetch(replica: Replica, broker: int, offset: int, now: Instant = NOW) -> None:
    assert replica.leadership is not None
    replica.leadership.fetched(broker, offset, 0, broker * 10, LastFetch(now), now)


def append(replica: Replica, acks: int, heard: list[KafkaError], count: int = 1) -> int:
    done = leader.append(replica, batch(count), 9, NOW)

    def then(error: KafkaError, now: Instant) -> list[Effect]:
        heard.append(error)
        return []

    replica.acknowledge(done.next_offset, acks, then)
    return done.next_offset


def test_alone_everything_that_is_written_is_committed() -> None:
    replica, region = holding(placed(replicas=(1,), isr=(1,)), end=4)
    assert (replica.high_watermark, replica.leadership) == (4, None)
    heard: list[KafkaError] = []
    end = append(replica, 1, heard)
    replica.written(end, NOW)
    assert (replica.high_watermark, heard) == (5, [KafkaError.NONE])
    assert region.proposed == []


def test_with_others_each_acks_waits_for_what_it_asks() -> None:
    replica, region = holding(placed())
    one: list[KafkaError] = []
    every: list[KafkaError] = []
    end = append(replica, 1, one)
    assert append(replica, ALL_REPLICAS, every) == end + 1
    replica.written(end + 1, NOW)
    assert (one, every, replica.high_watermark) == ([KafkaError.NONE], [], 0)
    fetch(replica, 2, end + 1)
    fetch(replica, 3, end)
    assert (every, replica.high_watermark) == ([], end)
    fetch(replica, 3, end + 1)
    assert every == [KafkaError.NONE]
    assert region.advances == 2


def test_followers_hear_of_an_append_before_it_is_written() -> None:
    replica, _ = holding(placed())

    class Watcher:
        moves = 0

        def moved(self) -> None:
            self.moves += 1

    watcher = Watcher()
    replica.delayed.watch(watcher)
    append(replica, 1, [])
    assert watcher.moves == 1


def test_too_few_in_sync_refuse_and_freeze() -> None:
    replica, _ = holding(placed(isr=(1,)), min_insync=2)
    assert replica.leadership is not None
    with pytest.raises(Refusal) as caught:
        replica.leadership.require_in_sync()
    assert caught.value.error is KafkaError.NOT_ENOUGH_REPLICAS
    replica.written(append(replica, 1, []), NOW)
    assert replica.high_watermark == 0
    assert not replica.has_enough_in_sync


def test_a_follower_that_came_up_is_proposed_and_counts() -> None:
    replica, region = holding(placed(isr=(1, 2)))
    end = append(replica, 1, [])
    replica.written(end, NOW)
    fetch(replica, 2, end)
    fetch(replica, 3, end)
    assert region.proposed == [(1, 2, 3)]
    assert region.last is not None and replica.leadership is not None
    replica.leadership.on_response(region.last, KafkaError.NONE, 2, (1, 2, 3), NOW)
    assert replica.leadership.isr_state.isr == (1, 2, 3)


def test_a_follower_is_proposed_again_where_its_partition_changed_meanwhile() -> None:
    replica, region = holding(placed(isr=(1, 2)))
    fetch(replica, 3, 0)
    assert region.last is not None and replica.leadership is not None
    replica.leadership.on_response(region.last, KafkaError.INVALID_UPDATE_VERSION, -1, (), NOW)
    assert region.proposed == [(1, 2, 3)]
    place(replica, placed(isr=(1, 2), partition_epoch=2))
    assert region.proposed == [(1, 2, 3), (1, 2, 3)]
    assert region.last.partition_epoch == 2


def test_a_member_that_fell_behind_is_not_proposed_again_as_soon_as_it_is_out() -> None:
    replica, region = holding(placed(isr=(1, 3)), min_insync=2)
    fetch(replica, 3, 0)
    replica.written(append(replica, 1, []), NOW)
    assert replica.leadership is not None
    later = NOW + region.lag_ms_max + 1
    fetch(replica, 3, 0, later)
    replica.leadership.shrink(later)
    replica.make_leader(placed(isr=(1,), partition_epoch=2), None, later)
    assert region.proposed == [(1,)]


def test_a_leadership_that_ends_tells_whoever_waited() -> None:
    replica, _ = holding(placed())
    heard: list[KafkaError] = []
    append(replica, ALL_REPLICAS, heard)
    place(replica, placed(leader=2, leader_epoch=4, partition_epoch=2))
    assert heard == [KafkaError.NOT_LEADER_OR_FOLLOWER]
    with pytest.raises(Refusal) as caught:
        replica.require_leader()
    assert caught.value.error is KafkaError.NOT_LEADER_OR_FOLLOWER


def test_a_new_leader_notes_its_epoch_and_is_not_settled_until_it_is_committed() -> None:
    replica, _ = holding(placed(leader=2), end=7, checkpoint=3)
    assert (replica.follows, replica.high_watermark, replica.is_settled) == (True, 3, True)
    effects = place(replica, placed(leader_epoch=4, partition_epoch=2))
    assert effects == [SaveEpochs(PARTITION, ((4, 7),))]
    assert not replica.is_settled
    fetch(replica, 2, 7)
    fetch(replica, 3, 6)
    assert (replica.high_watermark, replica.is_settled) == (6, False)
    fetch(replica, 3, 7)
    assert (replica.high_watermark, replica.is_settled) == (7, True)


def test_news_of_a_leadership_do_not_begin_another() -> None:
    replica, region = holding(placed(), end=5)
    fetch(replica, 2, 5)
    before = replica.leadership
    assert place(replica, placed(partition_epoch=2, isr=(1, 2))) == []
    assert replica.leadership is before
    assert replica.high_watermark == 0  # 3 is out, but would be back soon
    replica.advance(NOW + region.lag_ms_max + 1)
    assert replica.high_watermark == 5


def test_a_follower_commits_what_its_leader_says_and_it_has() -> None:
    replica, region = holding(placed(leader=2), end=10)
    replica.update_leader_high_watermark(8, NOW)
    assert replica.high_watermark == 8
    replica.update_leader_high_watermark(15, NOW)
    assert replica.high_watermark == 10
    assert region.advances == 2
    place(replica, placed(leader=3, leader_epoch=4, partition_epoch=2))
    assert replica.leader_high_watermark == 0


def test_a_cut_lowers_the_high_watermark_with_the_end_only() -> None:
    replica, _ = holding(placed(leader=2), end=10)
    replica.update_leader_high_watermark(8, NOW)
    effects = replica.truncate(6)
    assert effects == [TruncateLog(PARTITION, 6, ())]
    assert (replica.log, replica.offline) == (None, CUTTING)
    replica.opened(log(6), NOW)
    assert (replica.high_watermark, replica.offline) == (6, "")


def test_a_leader_whose_disk_lost_what_it_gave_out_leads_no_more_in_that_epoch() -> None:
    replica, _ = holding(placed(), end=4)
    append(replica, 1, [], count=3)
    assert replica.leadership is not None
    replica.leadership.on_sent(7)
    replica.failed("the disk is full", NOW)
    replica.opened(log(5), NOW)
    assert replica.log is None and "another must lead" in replica.offline
    place(replica, placed(leader=2, leader_epoch=4, partition_epoch=2))
    assert replica.log is not None and replica.log.log_end_offset == 5


def test_a_leader_whose_disk_kept_everything_leads_on() -> None:
    replica, _ = holding(placed(), end=4)
    append(replica, 1, [], count=3)
    assert replica.leadership is not None
    replica.leadership.on_sent(5)
    replica.failed("the disk is full", NOW)
    replica.opened(log(5), NOW)
    assert replica.log is not None and replica.offline == ""


def test_what_is_trimmed_everywhere_is_known_by_the_lowest_live_replica() -> None:
    replica, _ = holding(placed(replicas=(1, 2, 3, 9), isr=(1, 2, 3)), end=10)
    for broker in (2, 3):
        fetch(replica, broker, 10)
    replica.trim(6)
    assert replica.low_watermark() == 0
    assert replica.leadership is not None
    replica.leadership.fetched(2, 10, 6, 20, LastFetch(NOW), NOW)
    assert replica.low_watermark() == 0
    replica.leadership.fetched(3, 10, 8, 30, LastFetch(NOW), NOW)
    assert replica.low_watermark() == 6  # 9 is not there, and not waited for


def test_what_who_leads_next_may_have_is_known_by_the_lowest_replica_in_sync() -> None:
    """Alive or not: it may be elected. One that is not in sync is not."""
    replica, region = holding(placed(isr=(1, 2)), end=10)
    replica.trim(6)
    assert replica.in_sync_log_start == 0, "2 has not told yet"
    assert replica.leadership is not None
    for broker, log_start, lowest in ((3, 0, 0), (2, 4, 4), (2, 6, 6), (2, 9, 6)):
        advances = region.advances
        end = 10 if broker == 2 else 5
        replica.leadership.fetched(broker, end, log_start, broker * 10, LastFetch(NOW), NOW)
        assert replica.in_sync_log_start == lowest
        heard = region.advances > advances
        assert heard == (log_start > 0), "what watches the log has to hear of it"
    replica.leadership.fetched(3, 10, 5, 30, LastFetch(NOW), NOW)
    assert region.proposed == [], "it may lead next, and has what mirrors have deleted"
    replica.leadership.fetched(3, 10, 6, 30, LastFetch(NOW), NOW)
    assert region.proposed == [(1, 2, 3)]
    alone, _ = holding(placed(replicas=(1,), isr=(1,)), end=4)
    alone.trim(3)
    assert alone.in_sync_log_start == 3


def test_a_mirror_begins_no_epoch_of_its_own() -> None:
    replica, _ = holding(placed(leader=2), end=7)
    effects = place(replica, placed(leader_epoch=4, partition_epoch=2), writer="link")
    assert effects == []
    effects = place(replica, placed(leader_epoch=5, partition_epoch=3), writer=None)
    assert effects == [SaveEpochs(PARTITION, ((5, 7),))]
