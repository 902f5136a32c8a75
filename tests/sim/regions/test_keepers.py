"""The storm spares whoever alone keeps what was acknowledged: in the runs, too, that showed where it did not."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from brokers.ids import METADATA_PARTITION, TopicPartition
from brokers.metadata.image.image import NO_LEADER, Image, PartitionImage, TopicImage
from brokers.metadata.image.partition_records import change_record
from brokers.metadata.image.record_batches import data_batch
from tests.sim.disks import Disk
from tests.sim.regions.keepers import candidates, in_sync, undecided
from tests.sim.regions.runs import RegionRun

PARTITION = TopicPartition("orders", 0)
TOPIC = UUID(int=1)
PLACED = PartitionImage(2, 1, 1, replicas=(1, 2, 3), isr=(2,))


def acknowledged(seed: int, **changes: Any) -> int:
    """How many records a run acknowledged, none of which it lost."""
    return (
        RegionRun(seed, adjust=lambda scenario: replace(scenario, **changes)).execute().acknowledged
    )


def after(*changes: PartitionImage) -> list[PartitionImage]:
    """What may be decided yet, where a controller's log holds these changes of a partition behind the image."""
    image = Image("west")
    image.topics_by_name["orders"] = TopicImage("orders", TOPIC, (PLACED,))
    image.next_offset = 10
    disk = Disk(lambda path, data: None)
    disk.make_directory(str(METADATA_PARTITION))
    was = PLACED
    for offset, to in enumerate(changes, start=10):
        record = change_record(TOPIC, 0, was, to)
        assert record is not None
        batch = data_batch([record], base_offset=offset, leader_epoch=1, now=0)
        disk.append(f"{METADATA_PARTITION}/{0:020}.log", [batch])
        was = to
    found = list(undecided(image, disk))
    assert all(partition == PARTITION for partition, _ in found)
    return [placed for _, placed in found]


def test_what_a_controller_wrote_may_be_decided_yet() -> None:
    wider = PLACED._replace(isr=(2, 3), partition_epoch=2)
    widest = PLACED._replace(isr=(2, 3, 1), partition_epoch=3)
    assert after(wider, widest) == [wider, widest]


def test_the_last_leader_counts_where_nobody_is_in_sync() -> None:
    deserted = PLACED._replace(leader=NO_LEADER, isr=(), last_known_elr=(2,))
    assert in_sync(deserted) == candidates(deserted) == (2,)


def test_the_last_leader_is_no_keeper_beside_an_eligible_replica_but_may_be_chosen_later() -> None:
    left = PLACED._replace(leader=NO_LEADER, isr=(), elr=(3,), last_known_elr=(2,))
    assert in_sync(left) == (3,)
    assert candidates(left) == (3, 2)


def test_the_disk_of_a_last_leader_is_not_taken() -> None:
    assert acknowledged(2209, reseats=True, wipe_mean_ms=5_000, crash_mean_ms=6_000) > 0


def test_who_came_in_sync_by_a_decision_that_nobody_has_heard_of_keeps_power() -> None:
    assert acknowledged(3016, full_disk_mean_ms=6_000, ailing_disk_mean_ms=6_000) > 0
