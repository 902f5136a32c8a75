"""A node's metadata from the first effect to the first answer, step by step, and through a disk that refuses."""

import pytest

from brokers.effects import (
    Append,
    Changed,
    LoadState,
    OpenLog,
    ReadRange,
    SaveEpochs,
    SaveState,
    TrimLog,
)
from brokers.errors import KafkaError, Refusal
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded, StateSaved, Written
from brokers.ids import METADATA_PARTITION
from brokers.metadata.commands.topic_commands import CreateTopics, DeleteTopics, NewTopic
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.log.effects import MetadataReady, MetadataUpdated
from brokers.metadata.log.raft_lifecycle import RETRY_MS
from brokers.quorum.ids import METADATA_TOPIC_ID
from tests.playbooks.metadata.host import NOW, Host, settings

QUORUM = "__cluster_metadata-0/quorum-state"
VOTER = "__cluster_metadata-0/was-voter"
POINTER = "__cluster_metadata-0/latest-checkpoint"


def create(*names: str) -> CreateTopics:
    return CreateTopics(tuple(NewTopic(name=name) for name in names))


def kinds(effects) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def test_a_first_start_votes_leads_registers_and_is_ready() -> None:
    host = Host()
    plane, disk = host.plane, host.disk
    first = plane.on_started(NOW)
    assert first == [
        LoadState(QUORUM),
        LoadState(VOTER),
        LoadState(POINTER),
        OpenLog(METADATA_PARTITION, METADATA_TOPIC_ID.bytes, sync=True),
    ]
    assert plane.on_event(StateLoaded(QUORUM, None), NOW) == []
    assert plane.on_event(StateLoaded(VOTER, None), NOW) == []
    assert plane.on_event(StateLoaded(POINTER, None), NOW) == []
    (vote,) = plane.on_event(LogOpened(METADATA_PARTITION, disk.open()), NOW)
    assert isinstance(vote, SaveState) and vote.name == QUORUM
    assert b'"leaderEpoch":1' in bytes(vote.data) and b'"votedId":1' in bytes(vote.data)

    leads, epochs, leader_change = plane.on_event(StateSaved(QUORUM), NOW)
    assert leads == Changed("quorum member", "leader", "of epoch 1")
    assert epochs == SaveEpochs(METADATA_PARTITION, ((1, 0),))
    assert isinstance(leader_change, Append) and leader_change.sync
    assert leader_change.headers[0].is_control

    (registration,) = plane.on_event(Written(METADATA_PARTITION, 1), NOW)
    assert isinstance(registration, Append) and registration.headers[0].base_offset == 1
    assert plane.propose(create("early"), 7, NOW)[0].result.error is KafkaError.KAFKA_STORAGE_ERROR

    changed, ready = plane.on_event(Written(METADATA_PARTITION, 5), NOW)
    assert changed == MetadataUpdated(plane.image.everything()) and ready == MetadataReady()
    broker = plane.image.brokers[1]
    assert (broker.broker_epoch, broker.fenced, broker.host, broker.port) == (
        3,
        False,
        "127.0.0.1",
        9092,
    )
    assert plane.image.features == {"causeway.version": 1, "metadata.version": 30}


def test_a_command_is_answered_after_its_sync_and_after_the_change_is_told() -> None:
    host = Host().start()
    effects = host.plane.propose(create("a"), 5, NOW)
    assert kinds(effects) == ["Append"]
    assert "a" not in host.plane.image.topics_by_name
    changed, decided = host.plane.on_event(
        Written(METADATA_PARTITION, effects[0].headers[0].next_offset), NOW
    )
    assert changed.delta.topics_created == ("a",)
    assert decided.token == 5 and decided.result[0].error is KafkaError.NONE
    assert "a" in host.plane.image.topics_by_name


def test_a_refusal_that_rests_on_an_uncommitted_decision_waits_for_it() -> None:
    host = Host().start()
    host.told.clear()
    host.ask(create("a"), 1).ask(create("a"), 2)
    assert host.told == [], "that the topic exists is not committed"
    host.settle()
    assert [effect.token for effect in host.told if isinstance(effect, CommandCompleted)] == [1, 2]
    assert host.told[-1].result[0].error is KafkaError.TOPIC_ALREADY_EXISTS


def test_decisions_are_made_on_top_of_those_still_on_their_way() -> None:
    host = Host().start()
    host.told.clear()
    host.ask(create("a"), 1).ask(DeleteTopics(("a",)), 2).ask(create("a"), 3).settle()
    results = [effect.result[0] for effect in host.told if isinstance(effect, CommandCompleted)]
    assert [result.error for result in results] == [KafkaError.NONE] * 3
    assert results[0].topic_id != results[2].topic_id
    assert host.plane.image.topics_by_name["a"].id == results[2].topic_id


def test_a_written_report_for_a_part_commits_only_that_part() -> None:
    host = Host().start()
    host.told.clear()
    host.ask(create("a"), 1)
    middle = host.plane.log_end_offset
    host.ask(create("b"), 2)
    effects = host.plane.on_event(Written(METADATA_PARTITION, middle), NOW)
    assert [effect.token for effect in effects if isinstance(effect, CommandCompleted)] == [1]


def test_a_second_life_leads_a_new_epoch_and_raises_its_leaderships() -> None:
    host = Host().start()
    host.decide(create("a"))
    again = Host(host.crash(), seed=2).start()
    assert again.plane.leader_epoch == 2
    assert again.plane.image.topics_by_name["a"].partitions[0].leader_epoch == 1
    assert again.plane.image.brokers[1].broker_epoch > host.plane.image.brokers[1].broker_epoch
    assert again.plane.image.brokers[1].incarnation != host.plane.image.brokers[1].incarnation


def test_an_epoch_is_above_the_logs_even_if_the_vote_file_is_lost() -> None:
    host = Host().start()
    del host.disk.states[QUORUM]
    assert Host(host.crash(), seed=2).start().plane.leader_epoch == 2


def test_a_disk_that_refuses_answers_everyone_and_is_tried_again() -> None:
    host = Host().start()
    host.decide(create("kept"))
    host.told.clear()
    host.failing = "no space left"
    host.ask(create("a"), 1).ask(create("b"), 2).settle()
    assert host.told[0] == Changed("metadata log", "offline", "no space left")
    refusals = [effect.result for effect in host.told[1:]]
    assert [refusal.error for refusal in refusals] == [KafkaError.KAFKA_STORAGE_ERROR] * 2
    assert "kept" in host.plane.image.topics_by_name, "what is known stays readable"
    (decided,) = host.plane.propose(create("c"), 3, NOW)
    assert isinstance(decided.result, Refusal) and decided.result.because == "no space left"

    assert host.plane.deadline == NOW + RETRY_MS
    assert host.plane.on_time(NOW + RETRY_MS - 1) == []
    host.failing = None
    host.now = NOW + RETRY_MS
    host.take(host.plane.on_time(host.now))
    host.settle()
    assert host.plane.deadline is None
    assert host.told[-1] == Changed("metadata log", "online", "the disk takes writes again")
    assert host.decide(create("a"))[0].error is KafkaError.NONE


def test_a_disk_that_still_refuses_is_tried_again_and_again() -> None:
    host = Host().start()
    host.failing = "broken"
    host.ask(create("a"), 1).settle()
    for attempt in range(1, 4):
        host.now = host.plane.deadline
        host.take(host.plane.on_time(host.now))
        host.settle()
        assert host.plane.deadline == NOW + RETRY_MS * (attempt + 1)


def test_what_was_refused_but_reached_the_disk_is_told_when_the_disk_comes_back() -> None:
    host = Host().start()
    host.ask(create("ghost"), 1)
    host.disk.perform(host.todo[0])  # written, but the report is lost
    host.failing = "flaky"
    host.settle()
    host.failing = None
    host.told.clear()
    host.take(host.plane.on_time(host.plane.deadline))
    host.settle()
    (changed,) = [effect for effect in host.told if isinstance(effect, MetadataUpdated)]
    assert changed.delta.topics_created == ("ghost",)
    assert host.decide(create("ghost"))[0].error is KafkaError.TOPIC_ALREADY_EXISTS


def test_a_failed_read_of_the_log_is_a_refusal_of_the_disk() -> None:
    host = Host().start()
    host.decide(create("a"))
    again = Host(host.crash(), seed=2)
    again.take(again.plane.on_started(NOW))
    while not isinstance(again.todo[0], ReadRange):
        again.step()
    read = again.todo.popleft()
    event = RangeRead(
        read.ticket, METADATA_PARTITION, b"", read.offset, KafkaError.KAFKA_STORAGE_ERROR
    )
    (changed,) = again.plane.on_event(event, NOW)
    assert changed.to == "offline"
    again.take(again.plane.on_time(again.plane.deadline))
    again.settle()
    assert "a" in again.plane.image.topics_by_name


def test_a_damaged_batch_stops_the_node() -> None:
    host = Host().start()
    host.decide(create("a"))
    damaged = bytearray(host.disk.batches[-1])
    damaged[-1] ^= 1
    host.disk.batches[-1] = bytes(damaged)
    with pytest.raises(MetadataLogError, match="checksum"):
        Host(host.crash(), seed=2).start()


def test_a_log_that_reads_as_empty_where_it_should_not_stops_the_node() -> None:
    host = Host().start()
    again = Host(host.crash(), seed=2)
    again.take(again.plane.on_started(NOW))
    while not isinstance(again.todo[0], ReadRange):
        again.step()
    read = again.todo.popleft()
    with pytest.raises(MetadataLogError, match="nothing at 0"):
        again.plane.on_event(RangeRead(read.ticket, METADATA_PARTITION, b"", read.offset), NOW)


def snapshotted() -> Host:
    host = Host().start()
    host.decide(create("a", "b"))
    host.take(host.plane.checkpoint(NOW))
    return host.settle()


def test_a_snapshot_is_durable_then_named_then_the_log_is_trimmed() -> None:
    host = Host().start()
    host.decide(create("a"))
    (save,) = host.plane.checkpoint(NOW)
    end = host.plane.image.next_offset
    assert save.name == f"__cluster_metadata-0/{end:020}-0000000001.checkpoint"
    assert host.plane.checkpoint(NOW) == [], "one at a time"
    (point,) = host.plane.on_event(StateSaved(save.name), NOW)
    assert point == SaveState(POINTER, save.name.encode())
    trim = host.plane.on_event(StateSaved(POINTER), NOW)
    assert TrimLog(METADATA_PARTITION, end) in trim
    assert host.plane.checkpoint(NOW) == [], "nothing has changed since"


def test_the_next_snapshot_replaces_the_last() -> None:
    host = snapshotted()
    host.decide(create("c"))
    host.take(host.plane.checkpoint(NOW))
    host.settle()
    names = [name for name in host.disk.states if name.endswith(".checkpoint")]
    assert names == [host.disk.states[POINTER].decode()]
    again = Host(host.crash(), seed=2).start()
    assert sorted(again.plane.image.topics_by_name) == ["a", "b", "c"]


def test_a_missing_snapshot_stops_the_node() -> None:
    host = snapshotted()
    del host.disk.states[host.disk.states[POINTER].decode()]
    with pytest.raises(MetadataLogError, match="is missing"):
        Host(host.crash(), seed=2).start()


def test_a_damaged_snapshot_stops_the_node() -> None:
    host = snapshotted()
    name = host.disk.states[POINTER].decode()
    host.disk.states[name] = host.disk.states[name][:-3]
    with pytest.raises(MetadataLogError):
        Host(host.crash(), seed=2).start()


def test_a_pointer_that_names_no_snapshot_stops_the_node() -> None:
    host = snapshotted()
    host.disk.states[POINTER] = b"\xff\xfe"
    with pytest.raises(MetadataLogError, match="not the name of a snapshot"):
        Host(host.crash(), seed=2).start()


def test_a_trimmed_log_without_its_snapshot_stops_the_node() -> None:
    host = snapshotted()
    del host.disk.states[POINTER]
    with pytest.raises(MetadataLogError, match="snapshot or a part of the log is missing"):
        Host(host.crash(), seed=2).start()


def test_a_snapshot_is_due_after_so_many_bytes_of_log() -> None:
    host = Host(
        config=settings(**{"metadata.log.max.record.bytes.between.snapshots": 2_000})
    ).start()
    for number in range(40):
        host.decide(create(f"topic-{number}"))
    assert host.disk.start > 0
    assert POINTER in host.disk.states
    assert len(b"".join(host.disk.batches)) < 3_000
    again = Host(host.crash(), seed=2).start()
    assert len(again.plane.image.topics_by_name) == 40


def test_a_snapshot_that_the_disk_refused_is_taken_later() -> None:
    host = Host(config=settings(**{"metadata.log.max.record.bytes.between.snapshots": 600})).start()
    while not any(isinstance(effect, SaveState) for effect in host.todo):
        host.ask(create(f"t{len(host.disk.batches)}")).step()
    host.failing = "full"
    host.settle()
    host.failing = None
    host.take(host.plane.on_time(host.plane.deadline))
    host.settle()
    host.decide(create("one-more"))
    assert POINTER in host.disk.states


def test_answers_to_questions_that_were_given_up_are_ignored() -> None:
    host = Host().start()
    plane = host.plane
    assert plane.on_event(StateSaved(QUORUM), NOW) == []
    assert plane.on_event(StateSaved("something else"), NOW) == []
    assert plane.on_event(StateLoaded(POINTER, b"x"), NOW) == []
    assert plane.on_event(RangeRead(-1, METADATA_PARTITION, b"", 0), NOW) == []
    assert plane.on_event(LogFailed(METADATA_PARTITION, "late"), NOW)[0].to == "offline"
    assert plane.on_event(LogFailed(METADATA_PARTITION, "later"), NOW) == []
    assert plane.on_event(Written(METADATA_PARTITION, 2), NOW) == []
    assert plane.checkpoint(NOW) == []
    assert plane.log_end_offset == plane.image.next_offset


def test_repairs_of_the_log_are_told() -> None:
    host = Host()
    host.plane.on_started(NOW)
    opened = LogOpened(METADATA_PARTITION, host.disk.open(), repairs=("cut 7 bytes",))
    assert host.plane.on_event(opened, NOW) == [Changed("metadata log", "repaired", "cut 7 bytes")]


def test_a_report_that_comes_twice_while_the_log_is_read_changes_nothing() -> None:
    host = Host().start()
    host.decide(create("a"))
    again = Host(host.crash(), seed=2)
    again.take(again.plane.on_started(NOW))
    while not isinstance(again.todo[0], ReadRange):
        again.step()
    assert again.plane.on_event(Written(METADATA_PARTITION, again.plane.log_end_offset), NOW) == []
    again.settle()
    assert again.plane.image.topics_by_name["a"].partitions[0].leader_epoch == 1


def test_the_same_seed_gives_the_same_effects() -> None:
    first, second = (Host(seed=9).start() for _ in range(2))
    assert first.disk.batches == second.disk.batches
    assert first.decide(create("a")) == second.decide(create("a"))
