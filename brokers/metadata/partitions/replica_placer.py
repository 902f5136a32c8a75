"""Chooses the brokers of a new partition's replicas (Kafka's ReplicaPlacer).

Leaders are spread evenly; replicas over racks, then over hosts, then evenly. A broker that is fenced or in controlled
shutdown, or whose disks are nearly full (`is_cordoned`), gets a replica only where no other broker is left. A
`ReplicaPlacement` fixes the number of replicas per rack.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from brokers.config.replica_placement import RackCount, ReplicaPlacement
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId
from brokers.metadata.image.image import BrokerImage, Image


class Assignment(NamedTuple):
    """The brokers of a partition's replicas, the preferred leader first, `observers` last."""

    replicas: tuple[BrokerId, ...]
    observers: tuple[BrokerId, ...] = ()


def place(
    image: Image,
    *,
    start: int,
    count: int,
    wanted: int | ReplicaPlacement,
    preferred_racks: Sequence[str] = (),
) -> list[Assignment]:
    """`count` partitions with `wanted` replicas each, or by a placement.

    Topics start at different brokers: after those that the image has, and `start` further on.

    Raises Refusal INVALID_REPLICATION_FACTOR where the brokers do not suffice.
    """
    if isinstance(wanted, int):
        _check_factor(image, wanted)
    else:
        check_placement(image, wanted)
    placer = _Placer(image, preferred_racks, start + len(image.topics_by_name))
    return [placer.place(index, wanted) for index in range(count)]


def extended(
    image: Image,
    partitions: Sequence[Sequence[BrokerId]],
    factor: int,
    active: Collection[BrokerId],
) -> list[tuple[BrokerId, ...]]:
    """The partitions' replicas, extended to `factor` with `active` brokers."""
    placer = _Placer(image, (), len(image.topics_by_name))
    return [placer.extend(replicas, factor, active) for replicas in partitions]


def crowding(image: Image, assignments: Sequence[Assignment]) -> str | None:
    """A warning for the operator where replicas of a partition share a host, else None."""
    crowded = sum(_shares_a_host(image, assignment.replicas) for assignment in assignments)
    if not crowded:
        return None
    return (
        f"{crowded} of {len(assignments)} partitions have several copies on one host, for want of other hosts:"
        " add brokers on hosts of their own and reassign"
    )


def _shares_a_host(image: Image, replicas: Iterable[BrokerId]) -> bool:
    brokers = [image.brokers[replica] for replica in replicas if replica in image.brokers]
    hosts = [broker.host_label for broker in brokers if broker.host_label is not None]
    return len(set(hosts)) < len(hosts)


def _check_factor(image: Image, factor: int) -> None:
    known, active = len(image.brokers), any(broker.is_active for broker in image.brokers.values())
    if factor > known:
        _refuse(f"replication factor {factor} needs as many brokers; {known} are registered")
    if not active:
        _refuse(f"all of the {known} registered brokers are fenced or shut down")


def check_placement(image: Image, wanted: ReplicaPlacement) -> None:
    """Raises Refusal INVALID_REPLICATION_FACTOR unless the brokers that are alive can meet the placement."""
    have = Counter(broker.rack for broker in image.brokers.values())
    alive = Counter(broker.rack for broker in image.brokers.values() if broker.is_active)
    need = Counter[str]()
    for each in (*wanted.replicas, *wanted.observers):
        need[each.rack] += each.count
    for rack, count in need.items():
        if not have[rack]:
            known = ", ".join(sorted({each for each in have if each is not None})) or "none"
            _refuse(f"no broker is in rack {rack}, which the placement names; racks are: {known}")
        if have[rack] < count:
            _refuse(
                f"the placement wants {count} copies in rack {rack}, which has {have[rack]} brokers:"
                " add brokers there or lower its count"
            )
        if alive[rack] < count:
            _refuse(
                f"the placement wants {count} copies in rack {rack}, where {alive[rack]} of {have[rack]} brokers are"
                " neither fenced nor shutting down: start the others or lower its count"
            )


def _refuse(because: str) -> None:
    raise Refusal(KafkaError.INVALID_REPLICATION_FACTOR, because)


class _Placer:
    """Goes round the brokers, rack by rack, and counts the leaders and replicas that each has got."""

    def __init__(self, image: Image, preferred_racks: Sequence[str], start: int) -> None:
        self._brokers = list(_striped(image))
        self._start = start
        self._turn = {broker.id: turn for turn, broker in enumerate(self._brokers)}
        self._led = Counter[BrokerId]()
        self._held = Counter[BrokerId]()
        ranks = {rack: rank for rank, rack in enumerate(preferred_racks)}
        self._rank = {
            broker.id: ranks.get(broker.rack or "", len(ranks)) for broker in self._brokers
        }

    def place(self, index: int, wanted: int | ReplicaPlacement) -> Assignment:
        if isinstance(wanted, int):
            taken = [self._leader(index, self._brokers)]
            self._follow(taken, self._brokers, wanted - 1)
            return self._count(taken, ())
        racks = {each.rack for each in wanted.replicas}
        leader = self._leader(index, [each for each in self._brokers if each.rack in racks])
        taken = [leader]
        for each in wanted.replicas:
            self._follow_in(taken, each, each.count - (leader.rack == each.rack))
        replicas = len(taken)
        for each in wanted.observers:
            self._follow_in(taken, each, each.count)
        return self._count(taken, tuple(broker.id for broker in taken[replicas:]))

    def extend(
        self, replicas: Sequence[BrokerId], factor: int, active: Collection[BrokerId]
    ) -> tuple[BrokerId, ...]:
        taken = [broker for broker in self._brokers if broker.id in replicas]
        candidates = [broker for broker in self._brokers if broker.id in active]
        had = len(taken)
        self._follow(taken, candidates, factor - len(replicas))
        added = tuple(broker.id for broker in taken[had:])
        self._held.update((*replicas, *added))
        return (*replicas, *added)

    def _leader(self, index: int, candidates: list[BrokerImage]) -> BrokerImage:
        leader = min(
            (broker for broker in candidates if broker.is_active),
            key=lambda broker: (
                broker.is_cordoned,
                self._rank[broker.id],
                self._led[broker.id],
                (self._turn[broker.id] - self._start - index) % len(self._brokers),
            ),
        )
        self._led[leader.id] += 1
        return leader

    def _follow_in(self, taken: list[BrokerImage], rack: RackCount, count: int) -> None:
        self._follow(taken, [each for each in self._brokers if each.rack == rack.rack], count)

    def _follow(self, taken: list[BrokerImage], candidates: list[BrokerImage], count: int) -> None:
        """Adds `count` candidates, from the racks and hosts with the fewest replicas."""
        for _ in range(count):
            racks = Counter(broker.rack for broker in taken)
            hosts = Counter(broker.host_label for broker in taken if broker.host_label is not None)
            # All brokers of the present replicas may be unregistered.
            turn = self._turn[taken[0].id] if taken else self._start
            chosen = min(
                (broker for broker in candidates if broker not in taken),
                key=lambda broker: (
                    not broker.is_active,
                    broker.is_cordoned,
                    racks[broker.rack],
                    hosts[broker.host_label] if broker.host_label is not None else 0,
                    self._held[broker.id],
                    (self._turn[broker.id] - turn) % len(self._brokers),
                ),
            )
            taken.append(chosen)

    def _count(self, taken: list[BrokerImage], observers: tuple[BrokerId, ...]) -> Assignment:
        replicas = tuple(broker.id for broker in taken)
        self._held.update(replicas)
        return Assignment(replicas, observers)


def _striped(image: Image) -> Iterator[BrokerImage]:
    """The first broker of each rack, then the second of each."""
    racks: dict[str, list[BrokerImage]] = {}
    for _, broker in sorted(image.brokers.items()):
        racks.setdefault(broker.rack or "", []).append(broker)
    for stripe in zip_longest(*(racks[rack] for rack in sorted(racks))):
        yield from (broker for broker in stripe if broker is not None)
