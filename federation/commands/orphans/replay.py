"""Appends the records of a tail to a topic, each once, with headers that say where it came from.

What was appended before is found in the topic itself, by those headers (`provenance`): so a replay that was
interrupted goes on where it ended, from any machine, once what it had sent last is committed. Within one replay the
producer is idempotent. Two replays of a tail at a time append twice.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from brokers.records.batch import SEQUENCE_MODULUS
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from federation.commands.answers import Failure
from federation.commands.orphans.provenance import ReplayedOrphans, old_partition_of, provenance
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.stores import Tail
from federation.commands.orphans.topics import EARLIEST, TopicClient

BATCH_RECORDS: Final = 500
BATCH_BYTES: Final = 512 << 10

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Target:
    """`partition`: where a tail's records go. `before`: those that the topic has from earlier replays."""

    partition: int
    before: ReplayedOrphans


def find_target(client: TopicClient, tail: Tail, cluster_id: str) -> Target:
    """Where an earlier replay began, this one goes on, whatever partitions the topic was given since.

    Waits for the leader of each partition that an earlier one may have chosen. Raises Failure where one stays away.
    """
    choices = _choices(client, tail)
    before, begun = ReplayedOrphans(old_partition_of(tail, cluster_id)), []
    for each in choices:
        _read_replayed(client, tail, each, before)
        if tail.name in before.tails:
            begun.append(each)
    return Target((begun or choices)[0], before)


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


def _read_replayed(
    client: TopicClient, tail: Tail, partition: int, before: ReplayedOrphans
) -> None:
    """`before` gets what a partition has from earlier replays."""
    since = client.offset_at(partition, EARLIEST)
    if client.topic == tail.orphan.topic:
        # The cut: all that was written since lies above it.
        since = max(since, tail.orphan.base_offset)
    for _, batch in client.appended_batches(partition, since):
        for record in open_batch(batch):
            before.add(record)


def replay(
    client: TopicClient,
    tail: Tail,
    orphans: Iterable[OrphanRecord],
    cluster_id: str,
    progress: Progress,
) -> tuple[int, int]:
    """(records appended, records that were there already). Raises Failure."""
    target = find_target(client, tail, cluster_id)
    producer_id, producer_epoch = client.new_producer(target.partition)
    appended = there = 0
    for group in _groups(orphans):
        new = [each for each in group if not target.before.has(each)]
        there += len(group) - len(new)
        if new:
            records = [_copy(each, tail, cluster_id) for each in new]
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


def _copy(orphan: OrphanRecord, tail: Tail, cluster_id: str) -> NewRecord:
    record = orphan.record
    headers = (*record.headers, *provenance(orphan, tail.name, cluster_id))
    return NewRecord(record.key, record.value, headers, record.timestamp)
