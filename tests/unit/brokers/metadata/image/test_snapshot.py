"""An image as a file."""

from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import Refusal
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.image import snapshot
from brokers.metadata.image.record_batches import read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.quorum.voters import QuorumEndpoint, Voter, VoterSet
from tests.playbooks.metadata.asks import commands
from tests.unit.brokers.metadata.images import Region


@given(st.lists(commands, max_size=15))
def test_a_snapshot_is_the_image(asked: list) -> None:
    region = Region(brokers=2)
    for command in asked:
        try:
            region.do(command)
        except Refusal:
            continue
    end = region.image.next_offset
    data = snapshot.encode(region.image, 3, 99)
    assert vars(snapshot.decode(data, "region-one", end)) == vars(region.image)


def test_a_snapshot_begins_and_ends_with_its_control_records_and_counts_from_0() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t", partition_count=2_500),)))
    batches = list(read_batches(snapshot.encode(region.image, 3, 99)))
    assert [header.is_control for header, _ in batches] == [True, False, False, False, True]
    assert batches[0][0].base_offset == 0
    assert all(a.next_offset == b.base_offset for (a, _), (b, _) in pairwise(batches))
    assert {header.leader_epoch for header, _ in batches} == {3}


def test_a_snapshot_says_who_votes_where_the_log_has_said_so() -> None:
    image = Region().image
    voters = VoterSet(
        [Voter(1, UUID(int=11), (QuorumEndpoint("CONTROLLER", "here", 9093),)), Voter(2)]
    )
    data = snapshot.encode(image, 3, 99, voters=voters)
    assert snapshot.voters_in(data) == voters
    assert vars(snapshot.decode(data, "region-one", image.next_offset)) == vars(image)
    assert snapshot.voters_in(snapshot.encode(image, 3, 99)) is None
    assert snapshot.voters_in(b"") is None


def test_a_file_that_is_not_whole_is_refused_wherever_it_ends() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t"),)))
    data = snapshot.encode(region.image, 3, 99)
    ends = [0]
    for header, _ in read_batches(data):
        ends.append(ends[-1] + header.length)
    for end in [*ends[:-1], len(data) - 1, 70]:
        with pytest.raises(MetadataLogError):
            snapshot.decode(data[:end], "region-one", 5)
    with pytest.raises(MetadataLogError):
        snapshot.decode(data + data, "region-one", 5)
