"""Voters are added, removed, moved and replaced, one at a time (KIP-853)."""

from uuid import UUID

import pytest

from brokers.errors import KafkaError
from brokers.events import Request
from brokers.quorum.control_records import control_messages
from brokers.quorum.messages import only_partition
from brokers.quorum.voters import QuorumEndpoint
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.control_records import KRaftVersionRecord, VotersRecord
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from tests.playbooks.quorum.storm import Operator
from tests.playbooks.quorum.world import World


def settled(voters: int = 3, seed: int = 1, **more: int) -> tuple[World, Operator]:
    world = World(seed, voters=voters, **more)
    world.settle()
    world.run(1_000)
    return world, Operator(world)


def voters_of(world: World) -> tuple[int, ...]:
    assert world.leader is not None
    return world.leader.raft.voters.latest.ids


def controls(world: World, node_id: int) -> list[type]:
    return [
        type(message)
        for header, batch in world.disks[node_id].batches
        if header.is_control
        for message in control_messages(batch)
        if isinstance(message, KRaftVersionRecord | VotersRecord)
    ]


def test_the_configured_voters_are_recorded_once_all_have_shown_their_disks() -> None:
    world = World(1, voters=3)
    world.crash(3)
    world.run(5_000)
    assert world.leader.raft.voters.kraft_version == 0
    world.start(3)
    world.run(1_000)
    recorded = {voter.id: voter.directory for voter in world.leader.raft.voters.latest}
    assert recorded == {node_id: disk.directory for node_id, disk in world.disks.items()}
    assert controls(world, world.leader.id) == [KRaftVersionRecord, VotersRecord]


def test_a_lone_voter_records_nothing_until_it_gets_company() -> None:
    world, operator = settled(voters=1)
    assert controls(world, 1) == []
    for node_id in (11, 12):
        world.add_node(node_id, may_vote=True)
        world.run(1_000)
        answer = operator.answered(operator.add(node_id))
        assert answer.error_code == KafkaError.NONE, answer.error_message
    assert voters_of(world) == (1, 11, 12)
    world.crash(1)
    world.settle()
    assert world.leader.id in (11, 12)


def test_a_voter_is_added_when_it_has_the_log_and_counts_from_then_on() -> None:
    world, operator = settled()
    world.add_node(20, may_vote=True)
    world.run(500)
    assert operator.answered(operator.add(20)).error_code == KafkaError.NONE
    assert voters_of(world) == (1, 2, 3, 20)
    for node_id in (1, 2):
        world.crash(node_id)
    world.run(8_000)
    assert not any(life.raft.is_settled for life in world.lives.values()), "two of four"
    world.start(1)
    world.settle()


def test_a_voter_that_does_not_answer_or_keep_up_is_not_added() -> None:
    world, operator = settled()
    world.add_node(20, may_vote=True)
    world.crash(20)
    answer = operator.answered(operator.add(20))
    assert (
        answer.error_code == KafkaError.REQUEST_TIMED_OUT
        and "does not answer" in answer.error_message
    )
    world.add_node(21, may_vote=True)
    world.network.scenario.cuts.update((21, leader) for leader in (1, 2, 3))
    answer = operator.answered(operator.add(21))
    assert answer.error_code == KafkaError.REQUEST_TIMED_OUT
    assert voters_of(world) == (1, 2, 3)


def test_one_change_at_a_time() -> None:
    world, operator = settled()
    for node_id in (20, 21):
        world.add_node(node_id, may_vote=True)
    world.run(500)
    first, second = operator.add(20), operator.add(21)
    assert operator.answered(second).error_code == KafkaError.REQUEST_TIMED_OUT
    assert operator.answered(first).error_code == KafkaError.NONE
    assert voters_of(world) == (1, 2, 3, 20)


def test_an_early_answer_comes_when_the_record_is_written() -> None:
    world, operator = settled()
    world.add_node(20, may_vote=True)
    world.run(500)
    answer = operator.answered(operator.add(20, ack_when_committed=False))
    assert answer.error_code == KafkaError.NONE and voters_of(world) == (1, 2, 3, 20)


def test_what_can_not_be_is_refused() -> None:
    world, operator = settled()
    answer = operator.answered(operator.add(2))
    assert answer.error_code == KafkaError.DUPLICATE_VOTER
    answer = operator.answered(operator.remove(9, UUID(int=9)))
    assert answer.error_code == KafkaError.VOTER_NOT_FOUND
    answer = operator.answered(operator.remove(2, UUID(int=9)))
    assert answer.error_code == KafkaError.VOTER_NOT_FOUND, "another disk is another voter"
    world.add_node(20, may_vote=True)
    answer = operator.answered(operator.add(20, listeners=[]))
    assert answer.error_code == KafkaError.INVALID_REQUEST
    answer = operator.answered(operator.add(20, cluster_id="another"))
    assert answer.error_code == KafkaError.INCONSISTENT_CLUSTER_ID


def test_the_last_voter_stays() -> None:
    world, operator = settled(voters=1)
    answer = operator.answered(operator.remove(1, world.disks[1].directory))
    assert answer.error_code == KafkaError.INVALID_REQUEST and "last voter" in answer.error_message


def test_a_voter_without_whom_there_would_be_no_majority_stays() -> None:
    world, operator = settled(voters=5)
    gone = [each for each in range(1, 6) if each != world.leader.id][:2]
    for node_id in gone:
        world.crash(node_id)
    world.run(3_500)
    (left, _) = (each for each in range(1, 6) if each not in (*gone, world.leader.id))
    answer = operator.answered(operator.remove(left, world.disks[left].directory))
    assert answer.error_code == KafkaError.REQUEST_TIMED_OUT and "heard of" in answer.error_message
    for node_id in (*gone, left):
        answer = operator.answered(operator.remove(node_id, world.disks[node_id].directory))
        assert answer.error_code == KafkaError.NONE
    assert len(voters_of(world)) == 2


def test_a_leader_that_removes_itself_leads_until_that_is_committed() -> None:
    world, operator = settled()
    before = world.leader.id
    answer = operator.answered(operator.remove(before, world.disks[before].directory))
    assert answer.error_code == KafkaError.NONE
    took = world.run_until(lambda: world.leader is not None and world.leader.raft.is_settled, 5_000)
    assert took < 500, "it has said who had best follow it"
    assert world.leader.id != before and before not in voters_of(world)
    world.settle()
    assert world.lives[before].raft.leader.node_id == world.leader.id, "it goes on as an observer"


def test_a_removed_voter_does_not_disturb_the_others() -> None:
    world, operator = settled()
    removed = next(each for each in (1, 2, 3) if each != world.leader.id)
    assert (
        operator.answered(operator.remove(removed, world.disks[removed].directory)).error_code == 0
    )
    world.run(1_000)
    epoch = world.leader.raft.leader_epoch
    world.crash(removed)
    world.start(removed)
    world.run(10_000)
    assert world.leader.raft.leader_epoch == epoch and removed not in voters_of(world)


def test_a_disk_that_comes_back_empty_votes_again_as_another_once_the_old_one_is_removed() -> None:
    world, _ = settled()
    lost = next(each for each in (1, 2, 3) if each != world.leader.id)
    old = world.disks[lost].directory
    world.wipe(lost)
    world.start(lost)
    world.run_until(
        lambda: (
            world.leader.raft.voters.latest.get(lost) is not None
            and world.leader.raft.voters.latest.get(lost).directory == world.disks[lost].directory
        ),
        20_000,
    )
    assert world.disks[lost].directory != old
    world.settle()


def test_two_nodes_with_one_id_do_not_take_turns() -> None:
    world, _ = settled(voters=5)
    lost = next(each for each in (1, 2, 3) if each != world.leader.id)
    right = world.lives[lost]
    world.disks[lost] = world.new_disk()
    impostor = world.start(lost)
    world.run(10_000)
    world.crash(world.leader.id)
    world.run(10_000)
    voters = world.leader.raft.voters.latest
    assert voters.get(lost).directory == right.disk.directory
    warned = [change for change in impostor.changes if "two nodes have the id" in change.why]
    assert len(warned) == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_voter_that_moved_has_its_record_corrected(seed: int) -> None:
    world, _ = settled(seed=seed)
    for node_id in (1, 2, 3):
        world.crash(node_id)
        world.places[node_id] = QuorumEndpoint("CONTROLLER", f"elsewhere-{node_id}", 9093)
        world.start(node_id)
        world.run_until(
            lambda moved=node_id: all(
                life.raft.voters.latest.get(moved).endpoints == (world.places[moved],)
                for life in world.lives.values()
            ),
            20_000,
        )
    assert voters_of(world) == (1, 2, 3)


def test_the_quorum_is_described_by_its_leader() -> None:
    world, operator = settled(observers=1)
    partitions = [DescribeQuorumRequestPartition(partition_index=0)]
    message = DescribeQuorumRequest(
        topics=[DescribeQuorumRequestTopic(topic_name="__cluster_metadata", partitions=partitions)]
    )
    leader = world.leader
    leader.take_request(Request(-9, ApiKey.DESCRIBE_QUORUM, 2, None, "sim", message))
    answer = operator.answered(-9)
    partition = only_partition(answer.topics)
    end = leader.raft.log.log_end_offset
    assert (partition.leader_id, partition.leader_epoch) == (leader.id, leader.raft.leader_epoch)
    assert partition.high_watermark == end
    assert [each.replica_id for each in partition.current_voters] == [1, 2, 3]
    assert {each.log_end_offset for each in partition.current_voters} == {end}
    assert [each.replica_id for each in partition.observers] == [4]
    assert all(
        leader.now - each.last_caught_up_timestamp < 2_000
        for each in (*partition.current_voters, *partition.observers)
    )
    assert [node.node_id for node in answer.nodes] == [1, 2, 3]
    other = next(life for life in world.lives.values() if life is not leader)
    other.take_request(Request(-10, ApiKey.DESCRIBE_QUORUM, 2, None, "sim", message))
    refused = only_partition(operator.answered(-10).topics)
    assert refused.error_code == KafkaError.NOT_LEADER_OR_FOLLOWER
