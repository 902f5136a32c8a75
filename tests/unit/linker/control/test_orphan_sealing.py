"""When a broker says that the tail of its replica is sealed, as its log moves on."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch, Offset
from brokers.partition.partition_state import PartitionState
from brokers.region import Placed, PlaceRefused, SealOrphans
from linker.control.orphan_sealing import RETRY_MS, OrphanSealing
from linker.records.mirror_record import MirrorRecord, RestorePoint
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient

POINT = RestorePoint(5, 9, LeaderEpoch(3))
RECORD = MirrorRecord(
    topic="orders",
    link="west-east",
    source_topic="orders",
    source_topic_id=UUID(int=7),
    created_at=0,
    state=MirrorState.PENDING_SETUP_FOR_RESTORE,
    since=0,
    restore=(POINT,),
)
CUTTING = replace(RECORD, state=MirrorState.PENDING_RESTORE)


def log(end: Offset, *epochs: tuple[LeaderEpoch, Offset]) -> PartitionState:
    return PartitionState(0, end, 0, 0, LeaderEpoch(3), epochs or ((3, 0),), (0,), True)


class Broker:
    """It holds a replica of the only partition. `sealed`: what it was asked to seal, from where up to where."""

    broker_id = 1

    def __init__(self, state: PartitionState | None, record: MirrorRecord = RECORD) -> None:
        self.state = state
        self.sealed: list[tuple[Offset, Offset]] = []
        self.client = RegionClient(self, random.Random(1))  # type: ignore[arg-type]
        self.sealing = OrphanSealing(self.client, "orders")
        self.told: list[Refusal | None] = []
        self.asked: list[SealOrphans] = []
        self.now = 1_000
        self.take(self.sealing.follow(record, 1, self.now))

    def partition_state(self, partition: object) -> PartitionState | None:
        return self.state

    def topic_config(self, topic: str, name: str) -> str:
        return "delete"

    def take(self, effects: Effects) -> None:
        self.asked += [each for each in effects if isinstance(each, SealOrphans)]

    def answer(self, because: str = "") -> None:
        asked = self.asked.pop(0)
        answer: Any = Placed(
            asked.ticket, asked.partition, asked.end, size=asked.end - asked.offset
        )
        if because:
            error = KafkaError.KAFKA_STORAGE_ERROR
            answer = PlaceRefused(asked.ticket, asked.partition, error, because, -1)
        else:
            self.sealed.append((asked.offset, asked.end))
        self.take(self.client.answered(answer, self.now))

    def moves_on(self, state: PartitionState) -> None:
        """The log is another, and some time goes by."""
        self.state = state
        self.now += RETRY_MS
        for act in self.client.timers.due(self.now):
            self.take(act(self.now))

    def cuts(self) -> None:
        self.take(self.sealing.before_cut(0, self.hear, self.now))

    def hear(self, refusal: Refusal | None, now: Instant) -> Sequence[Any]:
        self.told.append(refusal)
        return []


def test_a_tail_is_sealed_from_the_restore_point_up_to_its_end() -> None:
    broker = Broker(log(9))
    assert dict(broker.sealing.sealed) == {}
    broker.answer()
    assert broker.sealed == [(5, 9)]
    assert dict(broker.sealing.sealed) == {0: 4}


def test_a_follower_seals_once_it_has_all_that_its_leader_has() -> None:
    broker = Broker(log(7))
    assert broker.asked == [] and dict(broker.sealing.sealed) == {}
    broker.moves_on(log(9))
    broker.answer()
    assert (broker.sealed, dict(broker.sealing.sealed)) == ([(5, 9)], {0: 4})


def test_what_comes_after_that_is_sealed_too() -> None:
    broker = Broker(log(9))
    broker.answer()
    broker.moves_on(log(11))
    assert dict(broker.sealing.sealed) == {}
    broker.answer()
    assert broker.sealed == [(5, 9), (9, 11)]
    assert dict(broker.sealing.sealed) == {0: 6}


def test_a_log_that_was_cut_and_filled_again_is_sealed_again() -> None:
    """It ends where it did, and has other records from 7 on: of another leader epoch."""
    broker = Broker(log(9, (2, 0)))
    broker.answer()
    broker.moves_on(log(9, (2, 0), (3, 7)))
    assert dict(broker.sealing.sealed) == {}
    broker.answer()
    assert broker.sealed == [(5, 9), (7, 9)]


def test_a_log_that_is_cut_while_it_is_sealed_is_sealed_again() -> None:
    broker = Broker(log(9, (2, 0)))
    broker.state = log(9, (2, 0), (3, 7))
    broker.answer()
    assert dict(broker.sealing.sealed) == {}
    broker.moves_on(broker.state)
    broker.answer()
    assert (broker.sealed, dict(broker.sealing.sealed)) == ([(5, 9), (5, 9)], {0: 4})


def test_what_has_no_tail_and_what_is_of_the_source_has_nothing_to_seal() -> None:
    for state in (log(20, (3, 0), (4, 5)), log(5)):
        broker = Broker(state, replace(RECORD, restore=(RestorePoint(5, 5, LeaderEpoch(3)),)))
        assert broker.asked == [] and dict(broker.sealing.sealed) == {0: 0}


def test_a_closed_log_is_not_said_to_be_sealed() -> None:
    broker = Broker(log(9))
    broker.answer()
    broker.state = log(9)._replace(online=False)
    assert dict(broker.sealing.sealed) == {}


def test_whoever_cuts_a_log_has_sealed_it_first() -> None:
    """It came into sync after the others had sealed theirs, and leads now."""
    broker = Broker(log(9), CUTTING)
    broker.cuts()
    assert broker.told == []
    broker.answer()
    assert (broker.sealed, broker.told) == ([(5, 9)], [None])


def test_nothing_is_cut_whose_tail_cannot_be_sealed() -> None:
    broker = Broker(log(9), CUTTING)
    broker.cuts()
    broker.answer("no space left")
    assert [str(each) for each in broker.told] == [
        str(Refusal(KafkaError.KAFKA_STORAGE_ERROR, "no space left"))
    ]


def test_nothing_is_cut_that_is_not_restored_any_more() -> None:
    broker = Broker(log(9), CUTTING)
    broker.cuts()
    broker.sealing.close()
    broker.answer()
    (told,) = broker.told
    assert told is not None and told.because == "it is not restored any more"
