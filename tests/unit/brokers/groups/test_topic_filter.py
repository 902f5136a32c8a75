"""What members subscribe to is read once for a whole request or look, however many offsets there are."""

from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.requests import CommitResult
from brokers.ids import OffsetAndMetadata, TopicPartition
from tests.playbooks.groups.consumer import subscription
from tests.playbooks.groups.world import World, offsets_by_group
from tests.unit.brokers.groups.requests import commit
from tests.unit.brokers.groups.stable import stable

INTERVAL_MS = 1_000
PARTITIONS = [TopicPartition("u", index) for index in range(50)]


class Metadata(bytes):
    """Counts how often it is looked into."""

    looks = 0

    def __len__(self) -> int:
        Metadata.looks += 1
        return super().__len__()


def a_group_with_offsets_of_what_it_does_not_read() -> World:
    world = World(
        GroupCoordinatorConfig(initial_rebalance_delay_ms=0, expiry_interval_ms=INTERVAL_MS)
    )
    protocols = (("range", Metadata(subscription(["t"]))),)
    leader, _ = stable(world, "a", "b", protocols=protocols)
    offsets = {partition: OffsetAndMetadata(1) for partition in PARTITIONS}
    answer = world.answer("commit", commit(offsets=offsets, generation=1, member_id=leader))
    assert isinstance(answer, CommitResult) and not any(answer.errors.values())
    Metadata.looks = 0
    return world


def test_subscriptions_are_read_once_for_all_offsets_that_are_to_be_deleted() -> None:
    world = a_group_with_offsets_of_what_it_does_not_read()
    ticket = world.ticket("delete offsets")
    world.perform(world.coordinator.delete_offsets(ticket, "g", PARTITIONS, world.now))
    world.write_all()
    assert offsets_by_group(world.coordinator) == {}
    assert 0 < Metadata.looks < len(PARTITIONS)


def test_subscriptions_are_read_once_in_a_look_for_offsets_that_expired() -> None:
    world = a_group_with_offsets_of_what_it_does_not_read()
    world.wait(INTERVAL_MS)
    assert len(offsets_by_group(world.coordinator)["g"]) == len(PARTITIONS)
    assert 0 < Metadata.looks < len(PARTITIONS)
