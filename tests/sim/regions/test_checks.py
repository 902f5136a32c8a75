"""Checkers are checked: evidence of a region that kept everything is damaged, and the right invariant must be named."""

import pytest

from brokers.effects import Changed
from brokers.ids import METADATA_PARTITION, BrokerId, TopicPartition
from brokers.partition.leadership import LATE_EXPANSION
from brokers.records.builder import NewRecord, build_batch
from tests.sim.disks import Disk
from tests.sim.evidence import batches
from tests.sim.regions.checking import Broken, Evidence
from tests.sim.regions.statements import RegionStatements
from tests.sim.statements import Acknowledged
from tests.sim.world import START

PARTITION = TopicPartition("orders", 0)
NODES = (1, 2, 3)


class Scene:
    """Three replicas hold offsets 0 to 5 in three batches; all is acknowledged, and read."""

    def __init__(self) -> None:
        self.statements = RegionStatements("west", idempotent={"p": True}, made={"orders": 1})
        self.evidence = Evidence(self.statements)
        self.evidence.replicas[PARTITION] = NODES
        for number in NODES:
            self.evidence.disks[number] = self._disk(number)
            for base in (0, 2, 4):
                self.write(number, base, b"p:%d:" % base, b"p:%d:" % (base + 1))
            self.write(number, 0, b"a topic", partition=METADATA_PARTITION)
        for offset in range(6):
            self.statements.was_stored(PARTITION, offset, b"p:%d:" % offset)
            self.statements.was_read(PARTITION, offset, b"p:%d:" % offset)

    def _disk(self, number: BrokerId) -> Disk:
        disk = Disk(lambda path, data: self.evidence.witness(number, path, data))
        for partition in (PARTITION, METADATA_PARTITION):
            disk.make_directory(str(partition))
        return disk

    def write(
        self,
        number: BrokerId,
        base: int,
        *values: bytes,
        leader_epoch: int = 0,
        partition: TopicPartition = PARTITION,
    ) -> None:
        records = [NewRecord(key=None, value=value) for value in values]
        batch = build_batch(records, timestamp=START, base_offset=base, leader_epoch=leader_epoch)
        self.evidence.disks[number].append(f"{partition}/{0:020}.log", [batch])

    def keep_only(self, number: BrokerId, *bases: int) -> None:
        """The log of a replica is left with these batches."""
        disk = self.evidence.disks[number]
        kept = {batch.base_offset: batch.data for batch in batches(disk, PARTITION)}
        path = f"{PARTITION}/{0:020}.log"
        disk.remove(path)
        disk.append(path, [kept[base] for base in bases])

    def verdict(self) -> str:
        """The invariant that is found broken; empty if none is."""
        try:
            self.evidence.check_end()
        except Broken as broken:
            return broken.invariant
        return ""


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_the_undamaged_scene_keeps_every_invariant(scene: Scene) -> None:
    assert scene.verdict() == ""


def test_an_acknowledged_record_that_one_replica_has_lost_breaks_p1(scene: Scene) -> None:
    scene.keep_only(2, 0, 2)
    assert scene.verdict() == "P1"


def test_what_was_to_be_deleted_may_be_gone_and_may_be_there(scene: Scene) -> None:
    scene.statements.tries_trim(PARTITION, 2)
    scene.keep_only(2, 2, 4)
    assert scene.verdict() == ""


def test_what_lies_above_the_deleted_must_be_there(scene: Scene) -> None:
    scene.statements.tries_trim(PARTITION, 2)
    scene.keep_only(2, 0, 2)
    assert scene.verdict() == "P1"


def test_a_deleted_offset_holds_nothing_else(scene: Scene) -> None:
    scene.statements.tries_trim(PARTITION, 4)
    scene.statements.acknowledged.append(
        Acknowledged(b"p:9:", scene.statements.place(PARTITION, 1))
    )
    assert scene.verdict() == "P1"


def test_a_log_that_begins_above_what_was_to_be_deleted_breaks_p8(scene: Scene) -> None:
    scene.statements.tries_trim(PARTITION, 3)
    scene.statements.told_start(PARTITION, 3)
    assert scene.verdict() == ""
    scene.statements.told_start(PARTITION, 4)
    assert scene.verdict() == "P8"


def test_an_observer_that_nothing_promotes_is_never_in_sync(scene: Scene) -> None:
    scene.statements.never_in_sync = frozenset({3})
    scene.statements.told_in_sync(TopicPartition("__consumer_offsets", 0), (1, 3))
    scene.statements.told_in_sync(PARTITION, (1, 2))
    assert scene.verdict() == ""
    scene.statements.told_in_sync(PARTITION, (1, 3))
    assert scene.verdict() == "observers"


def test_a_replica_that_is_asked_for_when_its_leader_looks_around_was_forgotten(
    scene: Scene,
) -> None:
    scene.statements.told_change(Changed(f"in-sync set of {PARTITION}", "(1, 2, 3)"))
    assert scene.verdict() == ""
    scene.statements.told_change(Changed(f"in-sync set of {PARTITION}", LATE_EXPANSION))
    assert scene.verdict() == "in time"


def test_a_record_that_was_read_and_is_gone_breaks_p3(scene: Scene) -> None:
    scene.statements.acknowledged.clear()
    for number in NODES:
        scene.keep_only(number, 0, 2)
    assert scene.verdict() == "P3"


def test_two_clients_that_know_different_records_of_one_offset_break_p2(scene: Scene) -> None:
    scene.statements.was_read(PARTITION, 3, b"p:9:")
    with pytest.raises(Broken, match=r"^P2"):
        scene.evidence.hear_clients()


def test_an_acknowledgement_of_what_was_read_as_something_else_breaks_p2(scene: Scene) -> None:
    scene.statements.was_stored(PARTITION, 5, b"p:6:")
    assert scene.verdict() == "P2"


def test_replicas_that_differ_break_p2_though_no_client_saw_it(scene: Scene) -> None:
    scene.write(1, 6, b"p:6:", leader_epoch=1)
    scene.write(2, 6, b"p:7:", leader_epoch=2)
    assert scene.verdict() == "P2"


def test_a_hole_in_a_log_breaks_p8(scene: Scene) -> None:
    scene.statements.acknowledged.clear()
    scene.statements.read.clear()
    scene.keep_only(3, 0, 4)
    assert scene.verdict() == "P8"


def test_a_hole_below_the_start_of_a_log_is_none(scene: Scene) -> None:
    scene.statements.tries_trim(PARTITION, 4)
    scene.keep_only(3, 0, 4)
    assert scene.verdict() == "P8"
    line = f"0\n1\n{PARTITION.topic} {PARTITION.partition} 4\n".encode()
    scene.evidence.disks[3].replace("log-start-offset-checkpoint", line)
    scene.evidence.values.clear()
    assert scene.verdict() == ""


def test_a_value_that_is_stored_twice_breaks_p10(scene: Scene) -> None:
    for number in NODES:
        scene.write(number, 6, b"p:5:")
    assert scene.verdict() == "P10"


def test_a_plain_producers_retry_may_be_stored_twice(scene: Scene) -> None:
    scene.statements.idempotent["p"] = False
    for number in NODES:
        scene.write(number, 6, b"p:5:")
    assert scene.verdict() == ""


def test_two_batches_of_one_leader_epoch_at_one_offset_are_found_at_once(scene: Scene) -> None:
    scene.write(1, 6, b"p:6:")
    with pytest.raises(Broken, match=r"^one leader"):
        scene.write(2, 6, b"p:7:")


def test_another_leader_epoch_may_write_the_offset_anew(scene: Scene) -> None:
    scene.write(1, 6, b"p:6:")
    scene.keep_only(1, 0, 2, 4)
    for number in NODES:
        scene.write(number, 6, b"p:7:", leader_epoch=1)
    assert scene.verdict() == ""


def test_two_metadata_logs_of_one_epoch_are_found_at_once(scene: Scene) -> None:
    scene.write(1, 1, b"this", partition=METADATA_PARTITION)
    with pytest.raises(Broken, match=r"__cluster_metadata-0@1"):
        scene.write(2, 1, b"that", partition=METADATA_PARTITION)


def test_metadata_logs_that_differ_by_epoch_are_found_at_the_end(scene: Scene) -> None:
    scene.write(1, 1, b"this", partition=METADATA_PARTITION)
    scene.write(2, 1, b"that", partition=METADATA_PARTITION, leader_epoch=1)
    assert scene.verdict() == "metadata"


def test_two_nodes_that_answer_as_leaders_of_one_epoch_are_found(scene: Scene) -> None:
    scene.statements.has_led(PARTITION, 4, 1)
    scene.statements.has_led(PARTITION, 5, 2)
    assert scene.verdict() == ""
    scene.statements.has_led(PARTITION, 4, 3)
    assert scene.verdict() == "one leader"


def test_a_high_watermark_that_goes_back_is_found(scene: Scene) -> None:
    scene.statements.told_mark(PARTITION, 4, 10, before={})
    assert scene.statements.marks_before(PARTITION, 5) == {4: 10}
    scene.statements.told_mark(PARTITION, 5, 9, before={4: 10})
    assert scene.verdict() == "high watermark"


def test_a_high_watermark_goes_back_to_where_another_region_took_the_topic_over(
    scene: Scene,
) -> None:
    statements = scene.statements
    statements.told_mark(PARTITION, 4, 10, before={})
    statements.was_taken_over({PARTITION: 7})
    statements.told_mark(PARTITION, 5, 7, statements.marks_before(PARTITION, 5))
    assert scene.verdict() == ""
    statements.told_mark(PARTITION, 6, 6, statements.marks_before(PARTITION, 6))
    assert scene.verdict() == "high watermark"


def test_it_goes_back_once(scene: Scene) -> None:
    statements = scene.statements
    statements.told_mark(PARTITION, 4, 10, before={})
    statements.was_taken_over({PARTITION: 7})
    statements.is_restored(PARTITION, 5)
    statements.told_mark(PARTITION, 6, 9, statements.marks_before(PARTITION, 6))
    assert scene.verdict() == ""
    statements.told_mark(PARTITION, 7, 8, statements.marks_before(PARTITION, 7))
    assert scene.verdict() == "high watermark"


def test_within_a_leader_epoch_that_began_later_it_does_not(scene: Scene) -> None:
    statements = scene.statements
    statements.was_taken_over({PARTITION: 7})
    statements.is_restored(PARTITION, 5)
    statements.told_mark(PARTITION, 6, 10, before={})
    statements.told_mark(PARTITION, 6, 9, statements.mark_of(PARTITION, 6))
    assert scene.verdict() == "high watermark"


def test_a_leader_of_an_earlier_epoch_may_know_less(scene: Scene) -> None:
    scene.statements.told_mark(PARTITION, 5, 10, before={})
    before = scene.statements.marks_before(PARTITION, 4)
    scene.statements.told_mark(PARTITION, 4, 9, before)
    assert scene.verdict() == ""


def test_a_group_that_was_set_back_breaks_p1(scene: Scene) -> None:
    scene.statements.commits("readers", PARTITION, 4)
    scene.statements.found("readers", PARTITION, 4)
    assert scene.verdict() == ""
    scene.statements.found("readers", PARTITION, 3)
    assert scene.verdict() == "P1"


def test_a_topic_that_was_made_and_is_gone_is_found(scene: Scene) -> None:
    scene.statements.made["extra"] = 2
    assert scene.verdict() == "metadata"
    scene.statements.doubtful["extra"] = None
    assert scene.verdict() == ""


def test_a_topic_that_was_deleted_and_is_there_is_found(scene: Scene) -> None:
    scene.statements.doubtful["orders"] = scene.statements.dropped["orders"] = None
    assert scene.verdict() == "metadata"


def test_every_finding_says_which_law_and_what_was_seen(scene: Scene) -> None:
    scene.keep_only(2, 0, 2)
    with pytest.raises(
        Broken, match=r"P1 is broken: A record acknowledged(.|\n)*p:4:(.|\n)*node 2"
    ):
        scene.evidence.check_end()
