"""What a link hears of a write that was begun and did not reach the replicas in sync."""

from collections.abc import Callable

import pytest

from brokers.config.broker_config import from_settings
from brokers.continuations import Continuations
from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.ids import UNASSIGNED_DIRECTORY
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.image.image import Image
from brokers.node.mirror_writes import MirrorWrites
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.region import PlaceBatches, PlaceRefused
from brokers.timers import Timers
from tests.unit.brokers.partition.replicas import NOW, PARTITION
from tests.unit.brokers.partition.test_mirror import LINK, copied
from tests.unit.brokers.partition.test_replica import holding, place, placed


class Metadata:
    """The image alone."""

    image = Image("region")


def writes(replica: Replica) -> MirrorWrites:
    partitions = HostedPartitions(Metadata())
    partitions.all[PARTITION] = replica
    config = from_settings({"node.id": 1, "log.dirs": "d", "listeners": "PLAINTEXT://h:1"})
    directories = OwnDirectories((), UNASSIGNED_DIRECTORY)
    return MirrorWrites(config, partitions, Continuations(), Timers(), directories)


def superseded(replica: Replica) -> list[Effect]:
    return place(replica, placed(leader=2, leader_epoch=4), LINK)


def broken(replica: Replica) -> list[Effect]:
    return replica.failed("the device reports errors", NOW)


@pytest.mark.parametrize(
    ("happens", "error", "because"),
    [
        (
            superseded,
            KafkaError.NOT_LEADER_OR_FOLLOWER,
            "another broker may lead it by now, or it was truncated",
        ),
        (broken, KafkaError.KAFKA_STORAGE_ERROR, "the disk refused the write"),
    ],
)
def test_a_disk_is_blamed_for_what_a_disk_did_alone(
    happens: Callable[[Replica], list[Effect]], error: KafkaError, because: str
) -> None:
    replica, _ = holding(placed())
    place(replica, placed(), LINK)
    begun = writes(replica).perform(PlaceBatches(5, LINK, PARTITION, 0, copied(0)), NOW)
    assert not any(isinstance(effect, PlaceRefused) for effect in begun)
    (refused,) = (each for each in happens(replica) if isinstance(each, PlaceRefused))
    assert refused == PlaceRefused(5, PARTITION, error, because, -1)
