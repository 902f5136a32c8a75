"""Who leads, in KIP-966's order, and where leaders should be."""

import pytest

from brokers.metadata.image.image import NO_LEADER, PartitionImage
from brokers.metadata.partitions.leader_elector import Election, ElectionResult, LeaderElector
from tests.unit.brokers.metadata.images import Region

RACKS = {1: "a", 2: "b", 3: "c", 4: None}


def elector(*, out: tuple[int, ...] = (), racks: tuple[str, ...] = ()) -> LeaderElector:
    region = Region(brokers=0)
    for broker_id, rack in RACKS.items():
        region.register(broker_id, rack=rack)
    return LeaderElector(region.image, racks, out=out)


def partition(leader: int = 1, isr: tuple[int, ...] = (1, 2, 3), **more: object) -> PartitionImage:
    return PartitionImage(leader, 5, 5, (1, 2, 3), isr)._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("was", "out", "election", "elected"),
    [
        (partition(), (), Election.ANY, ElectionResult(1)),
        (partition(leader=3), (), Election.ANY, ElectionResult(3)),
        (partition(leader=3), (), Election.UNCLEAN, ElectionResult(3)),
        (partition(leader=3), (), Election.PREFERRED, ElectionResult(1)),
        (partition(leader=3), (1,), Election.PREFERRED, ElectionResult(3)),
        (partition(), (1,), Election.ANY, ElectionResult(2)),
        (partition(isr=(1, 3)), (1,), Election.ANY, ElectionResult(3)),
        (partition(isr=(1,), elr=(2,)), (1,), Election.ANY, ElectionResult(NO_LEADER)),
        (partition(NO_LEADER, (), elr=(3, 2)), (), Election.ANY, ElectionResult(2)),
        (partition(NO_LEADER, (), elr=(3, 2)), (2,), Election.PREFERRED, ElectionResult(3)),
        (
            partition(NO_LEADER, (), elr=(3,), last_known_elr=(2,)),
            (3,),
            Election.ANY,
            ElectionResult(-1),
        ),
        (partition(NO_LEADER, (), last_known_elr=(2,)), (), Election.ANY, ElectionResult(2, True)),
        (partition(NO_LEADER, (), last_known_elr=(2,)), (2,), Election.ANY, ElectionResult(-1)),
        (partition(NO_LEADER, (), elr=(3,)), (3,), Election.UNCLEAN, ElectionResult(1, True)),
        (
            partition(NO_LEADER, (), last_known_elr=(2,)),
            (),
            Election.UNCLEAN,
            ElectionResult(2, True),
        ),
        (partition(NO_LEADER, ()), (1, 2, 3), Election.UNCLEAN, ElectionResult(NO_LEADER)),
    ],
)
def test_the_order_of_elections(
    was: PartitionImage, out: tuple[int, ...], election: Election, elected: ElectionResult
) -> None:
    assert elector(out=out).elect(was, election) == elected


def test_a_broker_that_shuts_down_or_is_fenced_leads_nothing_new() -> None:
    region = Region(brokers=3)
    region.topic("t", (2, 1, 3))
    region.beat(2, want_shut_down=True)
    region.fence(1)
    assert region.image.brokers[2].in_controlled_shutdown
    assert LeaderElector(region.image).active == {3}
    assert LeaderElector(region.image, back=(1,)).active == {1, 3}


def test_leaders_are_preferred_by_rack_then_as_assigned_observers_last() -> None:
    prefers = elector(racks=("c", "b"))
    assert list(prefers.order(partition())) == [3, 2, 1]
    assert list(prefers.order(partition(observers=(3,)))) == [2, 1, 3]
    assert list(elector().order(partition(promoted=(1,)))) == [2, 3, 1]
    assert prefers.elect(partition(), Election.ANY) == ElectionResult(1), (
        "nobody is moved for nothing"
    )
    assert prefers.elect(partition(), Election.PREFERRED) == ElectionResult(3)


def test_a_leader_moves_to_a_better_rack_but_not_within_its_own() -> None:
    prefers = elector(racks=("c", "b"), out=(3,))
    assert prefers.elect(partition(leader=1), Election.PREFERRED) == ElectionResult(2)
    assert prefers.elect(partition(leader=2), Election.PREFERRED) == ElectionResult(2)
    outside = elector(racks=("x",), out=(1,))
    assert outside.elect(partition(leader=3), Election.PREFERRED) == ElectionResult(3)
