"""What must be true of a mirror, when the faults are over and all replicas of each region are equal."""

from collections.abc import Iterable, Iterator, Mapping

from brokers.ids import BrokerId, Offset, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, batches, log_start
from tests.sim.linked.federation import Region
from tests.sim.linked.names import SAME, Names
from tests.sim.regions.checks import end_of
from tests.sim.regions.compacted_logs import complete_from
from tests.sim.regions.inspection import Inspector

GroupOffsets = Mapping[tuple[str, TopicPartition], Offset]


def leading_disk(region: Region, inspector: Inspector, partition: TopicPartition) -> Disk:
    """Of the leader; of a replica while there is none. All are equal by then, but for where they start: what a
    DeleteRecords has deleted on one of them only, as its leader died, was never confirmed, and the next leader has it.
    """
    leader: BrokerId
    replicas: tuple[BrokerId, ...]
    leader, _, replicas, _ = inspector.agreed[partition]
    return region.node(leader if leader in replicas else replicas[0]).disk


def behind(
    partitions: Iterable[TopicPartition],
    source: Mapping[TopicPartition, Disk],
    mirror: Mapping[TopicPartition, Disk],
    began: Mapping[TopicPartition, Offset],
    names: Names = SAME,
) -> Iterator[str]:
    """How the mirror differs from its source, which never held anything below where it `began`."""
    for partition in partitions:
        there, here = source.get(partition), mirror.get(names.here(partition))
        if here is None or there is None:
            yield f"{partition} is not in both regions"
            continue
        ends = end_of(there, partition), end_of(here, names.here(partition))
        starts = log_start(there, partition), log_start(here, names.here(partition))
        if ends[0] != ends[1]:
            yield f"{partition} ends at {ends[0]}, its mirror at {ends[1]}"
        elif starts[0] > max(starts[1], began.get(partition, 0)):
            yield f"{partition} starts at {starts[0]}, its mirror at {starts[1]}"


def different(
    partition: TopicPartition,
    there: Disk,
    here: Disk,
    end: Offset | None = None,
    names: Names = SAME,
) -> Iterator[str]:
    """Batches below `end` that one side has and the other has not, or has with other bytes.

    Of a compacted topic from where neither side has removed anything; below that each is judged by what was written.
    """
    mirror = names.here(partition)
    start = max(log_start(there, partition), log_start(here, mirror))
    start = max(start, complete_from(there, partition), complete_from(here, mirror))
    known = {each.base_offset: each for each in _held(there, partition, start, end)}
    found = {each.base_offset: each for each in _held(here, mirror, start, end)}
    for offset in sorted(known.keys() | found.keys()):
        if offset not in found:
            yield f"{partition}@{offset} is missing at the mirror"
        elif offset not in known:
            yield f"{partition}@{offset} is at the mirror only"
        elif known[offset].data != found[offset].data:
            yield f"{partition}@{offset} has other bytes at the mirror"


def _held(
    disk: Disk, partition: TopicPartition, start: Offset, end: Offset | None
) -> Iterator[Batch]:
    for batch in batches(disk, partition):
        if batch.next_offset > start and (end is None or batch.next_offset <= end):
            yield batch


def uncarried(
    there: GroupOffsets,
    here: GroupOffsets,
    ends: Mapping[TopicPartition, Offset],
    starts: Mapping[TopicPartition, Offset],
    own: GroupOffsets,
    names: Names = SAME,
) -> Iterator[str]:
    """Group offsets that are not the source's, as far as the mirror's data goes (P6).

    `ends`, `starts`: the mirror's, by the partitions of the source. `own`: how far members in the mirror's region have
    come by themselves.
    """
    for (group, partition), offset in there.items():
        if partition not in ends or offset < starts[partition]:
            continue
        wanted = min(offset, ends[partition])
        mirror = names.group(group), names.here(partition)
        known = here.get(mirror, -1)
        if known != wanted and not wanted < known <= own.get(mirror, -1):
            yield f"{group} of {partition} stands at {wanted}, at the mirror at {known}"
