"""A commit of many partitions is loaded in one go, and gives what its records give one by one."""

import random
import struct

import pytest

from brokers.groups.commit_runs import RUN_MIN, commit_runs
from brokers.groups.coordinator_loader import GroupLoader
from brokers.groups.records import OffsetCommitRecord, encode
from brokers.ids import OffsetAndMetadata, TopicPartition
from brokers.records.batch import HEADER_SIZE, BatchError
from brokers.records.builder import NewRecord, build_batch
from brokers.records.raw_records import OpenedBatch

Pair = tuple[bytes, bytes | None]


def commit(rng: random.Random, group: str, topic: str, count: int) -> list[Pair]:
    return [
        encode(
            OffsetCommitRecord(
                group,
                TopicPartition(topic, partition),
                OffsetAndMetadata(rng.randrange(2**40), 3, "", 1_700_000_000_000),
            )
        )
        for partition in rng.sample(range(100_000), count)
    ]


def batch(pairs: list[Pair], times: list[int] | None = None) -> OpenedBatch:
    made = [
        NewRecord(key, value, (), 0 if times is None else times[number])
        for number, (key, value) in enumerate(pairs)
    ]
    return OpenedBatch(bytes(build_batch(made, timestamp=0)[HEADER_SIZE:]), len(made))


def offsets(*batches: OpenedBatch) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
    loader = GroupLoader(0)
    for each in batches:
        loader.replay(each)
    return {group.id: dict(group.offsets) for group in loader.groups()}


@pytest.mark.parametrize("count", [1, RUN_MIN - 1, RUN_MIN, 64, 65, 1_000, 9_000])
def test_a_commit_is_made_of_few_runs(rng: random.Random, count: int) -> None:
    pairs = commit(rng, "g", "t", count)
    runs, position, left = commit_runs(*batch(pairs))
    found = [each for run in runs for each in run.stored]
    assert found == [
        (struct.unpack(">i", key[-4:])[0], value) for key, value in pairs[: count - left]
    ]
    # The length of an offset within the batch has one byte up to 63, two up to 8,191.
    assert left == (
        count if count < RUN_MIN else count - 64 if count == 65 else max(0, count - 8_192)
    )
    assert (position == len(batch(pairs).data)) == (left == 0)


def spoiled(rng: random.Random, pair: Pair) -> Pair:
    """Another record in the middle of a commit."""
    key, value = pair
    assert value is not None
    longer = OffsetCommitRecord("g", TopicPartition("t", 5), OffsetAndMetadata(1, 2, "metadata", 3))
    own_expiry = OffsetCommitRecord("g", TopicPartition("t", 6), OffsetAndMetadata(1), 9)
    return rng.choice(
        [
            (key, None),
            encode(longer),
            encode(own_expiry),
            (key.replace(b"g", b"h", 1), value),
            (key.replace(b"t", b"u", 1), value),
            (key[:-1], value),
            (b"\0\2" + key[2:], value),
            (b"\0\0" + key[2:], value),
            (key, value[:1] + b"\2" + value[2:]),
            (key, value[:15] + b"\1" + value[16:]),
            (key, value[:-1]),
        ]
    )


def test_whatever_lies_in_between_the_result_is_that_of_record_by_record(
    rng: random.Random,
) -> None:
    for _ in range(400):
        pairs = commit(rng, "g", "t", rng.randrange(1, 200))
        pairs += commit(rng, "other", "t", rng.choice([0, 0, 20]))
        for _ in range(rng.choice([0, 0, 1, 3])):
            at = rng.randrange(len(pairs))
            if pairs[at][1] is not None:
                pairs[at] = spoiled(rng, pairs[at])
        times = [rng.choice([0, 0, 1, 5_000])] * len(pairs)
        if rng.random() < 0.3:
            times[rng.randrange(len(times))] += rng.choice([1, 100])
        one_by_one = offsets(*(batch([pair]) for pair in pairs))
        assert offsets(batch(pairs, times)) == one_by_one


def test_of_a_damaged_batch_nothing_is_taken(rng: random.Random) -> None:
    whole = batch(commit(rng, "g", "t", 100))
    for data in (whole.data[:-1], whole.data + b"\0", whole.data[:-30] + b"\1" * 30):
        loader = GroupLoader(0)
        with pytest.raises(BatchError):
            loader.replay(OpenedBatch(data, whole.record_count))
        assert loader.groups() == []
    more = OpenedBatch(whole.data, whole.record_count + 1)
    with pytest.raises(BatchError):
        GroupLoader(0).replay(more)
