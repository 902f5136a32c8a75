"""Committed offsets are the same, whether they were decoded before or are kept as the log has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.groups.committed_offsets import CommittedOffsets
from brokers.groups.coordinator_loader import GroupLoader
from brokers.groups.records import OffsetCommitRecord, encode
from brokers.ids import OffsetAndMetadata, TopicPartition
from tests.playbooks.groups.world import opened

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
OFFSETS = st.builds(
    OffsetAndMetadata,
    st.integers(0, 2**63 - 1),
    st.integers(-1, 2**31 - 1),
    st.sampled_from(["", "m", "größer", "x" * 300]),
    st.integers(0, 2**63 - 1),
)
COMMITS = st.tuples(
    st.sampled_from(["g", "h"]),
    st.sampled_from([T0, T1, U0, TopicPartition("t", 2**31 - 1)]),
    st.none() | OFFSETS,
    st.none() | st.integers(0, 2**62),
)


def loaded(*commits: OffsetCommitRecord) -> dict[str, CommittedOffsets]:
    loader = GroupLoader(0)
    loader.replay(opened([encode(commit) for commit in commits]))
    assert loader.report() == []
    return {group.id: group.offsets for group in loader.groups()}


@given(st.lists(COMMITS, max_size=30))
def test_what_was_loaded_is_what_was_committed(
    commits: list[tuple[str, TopicPartition, OffsetAndMetadata | None, int | None]],
) -> None:
    records, wanted = [], dict[str, dict[TopicPartition, OffsetAndMetadata]]()
    expiries: dict[tuple[str, TopicPartition], int | None] = {}
    for group, partition, offset, expires_at in commits:
        of_group = wanted.setdefault(group, {})
        of_group.pop(partition, None)
        if offset is not None:
            # The version that has an expiry has no leader epoch.
            kept = offset if expires_at is None else offset._replace(leader_epoch=-1)
            of_group[partition] = kept
            expiries[group, partition] = expires_at
        records.append(OffsetCommitRecord(group, partition, offset, expires_at))
    found = loaded(*records)
    assert found == {group: offsets for group, offsets in wanted.items() if offsets}
    for group, offsets in found.items():
        assert len(offsets) == len(wanted[group]) == len(list(offsets))
        assert {partition: (at, until) for partition, at, until in offsets.times()} == {
            partition: (offset.committed_at, expiries[group, partition])
            for partition, offset in wanted[group].items()
        }


def test_the_newest_commit_counts_for_what_expires_too() -> None:
    stored = OffsetAndMetadata(5, committed_at=1)
    found = loaded(
        OffsetCommitRecord("g", T0, stored),
        OffsetCommitRecord("g", T0, stored, expires_at=9),
        OffsetCommitRecord("g", T1, stored, expires_at=9),
        OffsetCommitRecord("g", T1, stored),
    )["g"]
    assert list(found.times()) == [(T0, 1, 9), (T1, 1, None)]


def test_an_offset_that_was_deleted_may_be_committed_again_in_the_same_load() -> None:
    stored = OffsetAndMetadata(7, committed_at=3)
    found = loaded(
        OffsetCommitRecord("g", T0, OffsetAndMetadata(5)),
        OffsetCommitRecord("g", T0, None),
        OffsetCommitRecord("g", T0, stored),
    )
    assert found == {"g": {T0: stored}}


def test_a_copy_stays_as_it_is() -> None:
    offsets = loaded(OffsetCommitRecord("g", T0, OffsetAndMetadata(5, committed_at=1)))["g"]
    before = offsets.copy()
    offsets[T1] = OffsetAndMetadata(6)
    del offsets[T0]
    assert before == {T0: OffsetAndMetadata(5, committed_at=1)}
    assert offsets == {T1: OffsetAndMetadata(6)}


def test_partitions_are_found_by_topic() -> None:
    offsets = CommittedOffsets()
    for partition in (T0, T1, U0):
        offsets[partition] = OffsetAndMetadata(1)
    del offsets[U0]
    assert offsets.within(["t", "none"]) == [T0, T1]
    assert offsets.within(["u"]) == []
    with pytest.raises(KeyError):
        offsets[U0]
    assert offsets.get(TopicPartition("none", 0)) is None
