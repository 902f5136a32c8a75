"""Replicas go round the brokers: leaders even, racks and hosts apart, and as a placement says."""

import json
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.config.replica_placement import ReplicaPlacement, parse
from brokers.errors import KafkaError, Refusal
from brokers.ids import TopicPartition
from brokers.metadata.commands.replica_commands import AlterPartitionReassignments, Reassignment
from brokers.metadata.image.image import Image
from brokers.metadata.partitions.replica_placer import Assignment, crowding, place
from brokers.metadata.topics.assignments import check_assignment, with_roles
from tests.unit.brokers.metadata.images import Region


def placement(replicas: dict[str, int], observers: dict[str, int] | None = None) -> Any:
    def entries(counts: dict[str, int]) -> list[dict[str, Any]]:
        return [{"count": count, "constraints": {"rack": rack}} for rack, count in counts.items()]

    text = {"version": 2, "replicas": entries(replicas), "observers": entries(observers or {})}
    return parse(json.dumps(text))


def image_of(*racks: str | None, hosts: tuple[str | None, ...] = ()) -> Image:
    """Broker i is in the i-th rack, on the i-th host."""
    region = Region(brokers=0)
    for index, rack in enumerate(racks):
        host = hosts[index] if hosts else None
        region.register(index + 1, rack=rack, host_label=host)
    return region.image


def placed(image: Image, wanted: int | ReplicaPlacement, count: int = 1, **more: Any) -> Any:
    return place(image, start=0, count=count, wanted=wanted, **more)


def refusal(image: Image, wanted: int | ReplicaPlacement) -> Refusal:
    with pytest.raises(Refusal) as refused:
        placed(image, wanted)
    return refused.value


@given(brokers=st.integers(1, 5), count=st.integers(1, 30), first=st.integers(0, 7), data=st.data())
def test_replicas_are_distinct_and_leaders_even(
    brokers: int, count: int, first: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, brokers))
    image = Region(brokers=brokers).image
    made = place(image, start=first, count=count, wanted=factor)
    check_assignment(image, [each.replicas for each in made])
    assert len(made) == count and all(len(each.replicas) == factor for each in made)
    led = [sum(each.replicas[0] == broker for each in made) for broker in image.brokers]
    held = [sum(broker in each.replicas for each in made) for broker in image.brokers]
    assert max(led) - min(led) <= 1 and max(held) - min(held) <= 2


racks = st.lists(st.sampled_from("abc"), min_size=1, max_size=7)


@given(racks=racks, count=st.integers(1, 12), data=st.data())
def test_copies_are_spread_over_racks_as_far_as_these_reach(
    racks: list[str], count: int, data: st.DataObject
) -> None:
    image = image_of(*racks)
    factor = data.draw(st.integers(1, len(racks)))
    for replicas, _ in placed(image, factor, count):
        used = Counter(image.brokers[each].rack for each in replicas)
        assert len(used) == min(factor, len(set(racks)))
        for rack, copies in used.items():  # no rack has two more than one that has room
            room = [each for each in set(racks) if used[each] < racks.count(each)]
            assert all(copies <= used[other] + 1 for other in room), (rack, used)


@given(data=st.data(), count=st.integers(1, 12))
def test_copies_are_on_hosts_of_their_own_while_there_are_enough(
    data: st.DataObject, count: int
) -> None:
    hosts = data.draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=7))
    image = image_of(*["a"] * len(hosts), hosts=tuple(hosts))
    factor = data.draw(st.integers(1, len(hosts)))
    made = placed(image, factor, count)
    for replicas, _ in made:
        assert len({image.brokers[each].host_label for each in replicas}) == min(
            factor, len(set(hosts))
        )
    assert (crowding(image, made) is not None) == (factor > len(set(hosts)))


def test_a_warning_tells_how_many_partitions_share_a_host_and_what_to_do() -> None:
    image = image_of("a", "b", "c", hosts=("x", "x", None))
    warning = crowding(image, [Assignment((1, 2)), Assignment((1, 3)), Assignment((2, 9))])
    assert warning is not None and warning.startswith("1 of 3 partitions") and "add" in warning


def test_brokers_out_of_service_get_copies_last_and_leaderships_never() -> None:
    region = Region(brokers=4)
    region.topic("t", (4,))
    region.fence(1)
    region.beat(4, want_shut_down=True)
    for replicas, _ in placed(region.image, 2, count=6):
        assert set(replicas) == {2, 3}
    for replicas, _ in placed(region.image, 3, count=6):
        assert {2, 3} < set(replicas) and replicas[0] in (2, 3)


def test_too_few_brokers_are_told_by_number() -> None:
    refused = refusal(Region(brokers=1).image, 2)
    assert refused.error is KafkaError.INVALID_REPLICATION_FACTOR
    assert "1 are registered" in refused.because
    region = Region(brokers=2)
    region.fence(1, 2)
    assert "all of the 2" in refusal(region.image, 1).because


def test_each_rack_gets_what_the_placement_says() -> None:
    image = image_of("west", "west", "west", "east", "east", "north")
    wanted = placement({"west": 2, "north": 1}, {"east": 1, "west": 1})
    made = placed(image, wanted, count=12)
    for replicas, observers in made:
        at = [image.brokers[each].rack for each in replicas]
        assert Counter(at[:3]) == {"west": 2, "north": 1} and Counter(at[3:]) == {
            "east": 1,
            "west": 1,
        }
        assert observers == replicas[3:] and len(set(replicas)) == 5
        assert with_roles(image, replicas, wanted) == Assignment(replicas, observers)
    led = Counter(replicas[0] for replicas, _ in made)
    assert set(led) == {1, 2, 3, 6} and max(led.values()) - min(led.values()) <= 1


def test_leaders_are_in_the_best_rack_there_is() -> None:
    image = image_of("west", "west", "east", "east")
    made = placed(image, 2, count=8, preferred_racks=("north", "east"))
    assert Counter(replicas[0] for replicas, _ in made) == {3: 4, 4: 4}


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (placement({"south": 1}), "no broker is in rack south"),
        (placement({"west": 3}), "3 copies in rack west, which has 2"),
        (placement({"west": 2}, {"west": 1}), "3 copies in rack west"),
        (
            placement({"east": 1}, {"west": 2}),
            "in rack east, where 0 of 1 brokers are neither fenced",
        ),
        (placement({"west": 1}, {"east": 1}), "start the others or lower its count"),
    ],
)
def test_what_cannot_be_met_is_refused_with_what_to_do(wanted: ReplicaPlacement, says: str) -> None:
    region = Region(brokers=0)
    for broker_id, rack in {1: "west", 2: "west", 3: "east", 4: None}.items():
        region.register(broker_id, rack=rack)
    region.fence(3)
    refused = refusal(region.image, wanted)
    assert refused.error is KafkaError.INVALID_REPLICATION_FACTOR and says in refused.because


@pytest.mark.parametrize("replicas", [(1, 3), (1, 2, 4), (3, 1, 2), (1, 2)])
def test_an_assignment_keeps_to_the_placement(replicas: tuple[int, ...]) -> None:
    image = image_of("west", "west", "east", None)
    with pytest.raises(Refusal) as refused:
        with_roles(image, replicas, placement({"west": 2}, {"east": 1}))
    assert refused.value.error is KafkaError.INVALID_REPLICA_ASSIGNMENT
    assert "in rack" in refused.value.because


def short_of_space(*broker_ids: int, brokers: int = 3) -> Region:
    region = Region(brokers=brokers)
    for broker in broker_ids:
        region.beat(broker, cordoned_dirs=region.image.brokers[broker].log_dirs)
    return region


def test_brokers_whose_disks_are_nearly_full_get_replicas_only_where_no_other_is_left() -> None:
    image = short_of_space(2).image
    for assignment in placed(image, 2, count=6):
        assert set(assignment.replicas) == {1, 3}
    for assignment in placed(image, 3, count=6):
        assert assignment.replicas[0] != 2 and assignment.replicas[-1] == 2
    assert len(placed(short_of_space(1, 2, 3).image, 3, count=2)) == 2


def test_a_broker_with_one_disk_that_has_room_gets_replicas() -> None:
    region = short_of_space()
    dirs = (UUID(int=901), UUID(int=902))
    region.register(2, directory=None, log_dirs=dirs)
    region.beat(2, cordoned_dirs=dirs[:1])
    assert {replica for each in placed(region.image, 3) for replica in each.replicas} == {1, 2, 3}
    assert not region.image.brokers[2].is_cordoned


def test_who_names_such_a_broker_for_a_new_replica_is_refused() -> None:
    region = short_of_space(2)
    with pytest.raises(Refusal, match="broker 2 takes no new replicas") as refused:
        check_assignment(region.image, [(1, 2)])
    assert refused.value.error is KafkaError.INVALID_REPLICA_ASSIGNMENT


def test_a_reassignment_may_keep_a_replica_there_and_adds_none() -> None:
    region = short_of_space()
    region.topic("here", (1, 2))
    region.topic("there", (1, 3))
    region.beat(2, cordoned_dirs=region.image.brokers[2].log_dirs)

    def moved(topic: str) -> KafkaError:
        item = Reassignment(TopicPartition(topic, 0), (2, 3))
        (outcome,) = region.do(AlterPartitionReassignments((item,)))  # type: ignore[misc]
        return outcome.error

    assert moved("here") is KafkaError.NONE
    assert moved("there") is KafkaError.INVALID_REPLICA_ASSIGNMENT
