"""Appends the records of a tail to a topic, each once, with headers that say where it came from.

What was appended before is found in the topic itself, by those headers: so a replay that was interrupted goes on where
it ended, from any machine, once what it had sent last is committed. Within one replay the producer is idempotent. Two
replays of a tail at a time append twice.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from brokers.ids import Offset
from brokers.records.batch import SEQUENCE_MODULUS
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from federation.commands.answers import Failure
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.stores import Tail
from federation.commands.orphans.topics import EARLIEST, TopicClient

ORPHAN: Final = b"causeway.orphan"  # the tail's name
OFFSET: Final = b"causeway.orphan.offset"
EPOCH: Final = b"causeway.orphan.leader.epoch"
CLUSTER: Final = b"causeway.orphan.cluster"
BATCH_RECORDS: Final = 500
BATCH_BYTES: Final = 512 << 10

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Target:
    """`partition`: where a tail's records go. `before`: the offsets, in the tail, of those that the topic has."""

    partition: int
    before: frozenset[Offset]


def find_target(client: TopicClient, tail: Tail) -> Target:
    """Where an earlier replay began, this one goes on, whatever partitions the topic was given since.

    Waits for the leader of each partition that an earlier one may have chosen. Raises Failure where one stays away.
    """
    chosen, *earlier = _choices(client, tail)
    found = {each: _replayed_before(client, tail, each) for each in (chosen, *earlier)}
    partition = next((each for each, offsets in found.items() if offsets), chosen)
    return Target(partition, frozenset().union(*found.values()))


def _choices(client: TopicClient, tail: Tail) -> list[int]:
    """The partition of the tail's number, modulo how many there are; then those of when there were fewer of them."""
    number, count = tail.orphan.partition, client.partition_count
    if client.topic != tail.orphan.topic:
        return list(dict.fromkeys(number % fewer for fewer in range(count, 0, -1)))
    if number >= count:
        raise Failure(
            f"{client.topic} has {count} partitions there, and {tail.name} is of partition {number}",
            hint="replay it to a side topic",
        )
    return [number]


def _replayed_before(client: TopicClient, tail: Tail, partition: int) -> set[Offset]:
    """The offsets, in the tail, of records that a partition has from an earlier replay."""
    since = client.offset_at(partition, EARLIEST)
    if client.topic == tail.orphan.topic:
        # The cut: all that was written since lies above it.
        since = max(since, tail.orphan.base_offset)
    name = tail.name.encode()
    found = set()
    for _, batch in client.appended_batches(partition, since):
        for record in open_batch(batch):
            headers = dict(record.headers)
            if headers.get(ORPHAN) == name:
                found.add(int(headers[OFFSET] or b"-1"))
    return found


def replay(
    client: TopicClient,
    tail: Tail,
    orphans: Iterable[OrphanRecord],
    cluster_id: str,
    progress: Progress,
) -> tuple[int, int]:
    """(records appended, records that were there already). Raises Failure."""
    target = find_target(client, tail)
    producer_id, producer_epoch = client.new_producer(target.partition)
    appended = there = 0
    for group in _groups(orphans):
        new = [each for each in group if each.record.offset not in target.before]
        there += len(group) - len(new)
        if new:
            records = [_provenance(each, tail, cluster_id) for each in new]
            batch = build_batch(
                records,
                timestamp=new[0].record.timestamp,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                base_sequence=appended % SEQUENCE_MODULUS,
            )
            client.append(target.partition, batch)
            appended += len(new)
        progress(appended + there)
    return appended, there


def _groups(orphans: Iterable[OrphanRecord]) -> Iterator[list[OrphanRecord]]:
    group: list[OrphanRecord] = []
    size = 0
    for orphan in orphans:
        group.append(orphan)
        size += len(orphan.record.value or b"")
        if len(group) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _provenance(orphan: OrphanRecord, tail: Tail, cluster_id: str) -> NewRecord:
    record = orphan.record
    origin = (
        (ORPHAN, tail.name.encode()),
        (CLUSTER, cluster_id.encode()),
        (OFFSET, b"%d" % record.offset),
        (EPOCH, b"%d" % orphan.leader_epoch),
    )
    return NewRecord(record.key, record.value, (*record.headers, *origin), record.timestamp)
