"""Checkers are checked: evidence of a federation that kept everything is damaged, and the right one must speak."""

from dataclasses import replace
from uuid import UUID

import pytest

from brokers.groups.records import OffsetCommitRecord, encode
from brokers.ids import OFFSETS_TOPIC, OffsetAndMetadata, TopicPartition
from brokers.records.builder import NewRecord, build_batch
from linker.answers import MirrorDescription
from linker.records.hole_ledger import Hole, HoleCause
from linker.records.mirror_record import Cut, CutKind, CutPartition, MirrorRecord
from linker.records.mirror_state import MirrorState
from tests.sim import checking
from tests.sim.disks import Disk
from tests.sim.evidence import Chronicle, Region, batches
from tests.sim.statements import Acknowledged, Place, Statements
from tests.sim.world import START

PARTITION = TopicPartition("orders", 0)
OFFSETS = TopicPartition(OFFSETS_TOPIC, 0)
CUT = CutPartition(offset=4, source_high_watermark=4, source_clock=START, leader_epoch=5)


class Scene:
    """West holds offsets 0 to 5 in three batches; east mirrored two, was cut at 4, and wrote one of its own."""

    def __init__(self) -> None:
        self.statements = Statements(
            idempotent={"p": True}, mirror_asked=True, ending_asked=True, moved=True
        )
        self.evidence = checking.Evidence(
            statements=self.statements,
            chronicle=Chronicle(),
            regions={},
            source="west",
            destination="east",
            durable=True,
        )
        for name in ("west", "east"):
            self.evidence.regions[name] = Region(name, self._disk(name))
        for base in (0, 2, 4):
            self.write("west", base, 0, b"p:%d:" % base, b"p:%d:" % (base + 1))
        for base in (0, 2):
            self.write("east", base, 0, b"p:%d:" % base, b"p:%d:" % (base + 1))
        self.write("east", 4, 5, b"p:100:")
        for offset in range(6):
            place = Place("west", PARTITION, offset)
            self.statements.acknowledged.append(Acknowledged(b"p:%d:" % offset, place))
            self.statements.was_read(place, b"p:%d:" % offset)
        self.told(CUT)

    def _disk(self, region: str) -> Disk:
        disk = Disk(lambda path, data: self._witness(region, path, data))
        for folder in (str(PARTITION), str(OFFSETS)):
            disk.make_directory(folder)
        return disk

    def _witness(self, region: str, path: str, data: bytes) -> None:
        for partition, batch in self.evidence.chronicle.witness(region, path, data):
            checking.check_write(self.evidence, region, partition, batch)

    def write(self, region: str, base: int, leader_epoch: int, *values: bytes) -> None:
        records = [NewRecord(key=None, value=value) for value in values]
        batch = build_batch(records, timestamp=START, base_offset=base, leader_epoch=leader_epoch)
        self.disk(region).append(f"{PARTITION}/{0:020}.log", [batch])

    def disk(self, region: str) -> Disk:
        return self.evidence.regions[region].disk

    def keep_only(self, region: str, *bases: int) -> None:
        """The log is left with these batches, in this order."""
        kept = {batch.base_offset: batch.data for batch in batches(self.disk(region), PARTITION)}
        path = f"{PARTITION}/{0:020}.log"
        self.disk(region).remove(path)
        self.disk(region).append(path, [kept[base] for base in bases])

    def start(self, region: str, offset: int) -> None:
        text = f"0\n1\n{PARTITION.topic} {PARTITION.partition} {offset}\n"
        self.disk(region).append("log-start-offset-checkpoint", [text.encode()])

    def commit(self, offset: int) -> None:
        """A link carries an offset to east."""
        key, value = encode(OffsetCommitRecord("readers", PARTITION, OffsetAndMetadata(offset)))
        batch = build_batch([NewRecord(key=key, value=value)], timestamp=START)
        self.disk("east").append(f"{OFFSETS}/{0:020}.log", [batch])

    def told(
        self, cut: CutPartition | None, *holes: Hole, kind: CutKind = CutKind.FAILOVER
    ) -> None:
        record = MirrorRecord(
            topic=PARTITION.topic,
            link="link",
            source_topic=PARTITION.topic,
            source_topic_id=UUID(int=1),
            created_at=START,
            state=MirrorState.ACTIVE if cut is None else MirrorState.STOPPED,
            since=START,
            cut=None if cut is None else Cut(kind, START, (cut,)),
        )
        self.statements.mirror = MirrorDescription(
            record=record, shown=record.state, reason="", lags=(), holes=holes
        )

    def verdict(self) -> str:
        """The promise that is found broken; empty if none is."""
        try:
            checking.check_end(self.evidence)
        except checking.Broken as broken:
            return broken.promise
        return ""


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_the_undamaged_scene_keeps_every_promise(scene: Scene) -> None:
    assert scene.verdict() == ""


def test_an_acknowledged_record_that_is_gone_breaks_p1(scene: Scene) -> None:
    scene.keep_only("west", 0, 2)
    assert scene.verdict() == "P1"


def test_without_syncs_a_power_cut_may_take_it(scene: Scene) -> None:
    scene.keep_only("west", 0, 2)
    scene.evidence.durable = False
    assert scene.verdict() == ""


def test_an_acknowledged_record_at_another_offset_breaks_p1(scene: Scene) -> None:
    place = Place("west", PARTITION, 3)
    scene.statements.acknowledged.append(Acknowledged(b"p:2:", place))
    assert scene.verdict() == "P1"


def test_a_batch_that_the_source_never_had_breaks_p2_at_once(scene: Scene) -> None:
    scene.statements.ending_asked = False
    with pytest.raises(checking.Broken, match=r"^P2"):
        scene.write("east", 5, 0, b"p:7:")


def test_a_mirror_that_differs_below_the_cut_breaks_p2(scene: Scene) -> None:
    scene.keep_only("east", 0)
    scene.write("east", 2, 0, b"p:2:", b"p:4:")
    assert scene.verdict() == "P2"


def test_another_leader_epoch_in_a_mirrored_batch_breaks_p2(scene: Scene) -> None:
    scene.keep_only("east", 0)
    scene.write("east", 2, 1, b"p:2:", b"p:3:")
    assert scene.verdict() == "P2"


def test_a_cut_through_a_batch_breaks_p2(scene: Scene) -> None:
    scene.told(replace(CUT, offset=3))
    assert scene.verdict() == "P2"


def test_a_record_that_was_read_and_is_gone_breaks_p3(scene: Scene) -> None:
    scene.statements.acknowledged.clear()
    scene.keep_only("west", 0, 2)
    assert scene.verdict() == "P3"


def test_two_readers_who_saw_different_records_break_p3(scene: Scene) -> None:
    scene.statements.was_read(Place("west", PARTITION, 0), b"p:9:")
    assert scene.verdict() == "P3"


def test_an_intruder_that_was_told_of_success_breaks_p4(scene: Scene) -> None:
    scene.statements.foreign_writes.append("intruder:1:")
    assert scene.verdict() == "P4"


def test_a_foreign_writers_record_below_the_cut_breaks_p4(scene: Scene) -> None:
    scene.keep_only("east", 0)
    scene.write("west", 2, 0, b"intruder:1:", b"p:3:")
    scene.write("east", 2, 0, b"intruder:1:", b"p:3:")
    scene.statements.acknowledged.clear()
    scene.statements.read.clear()
    assert scene.verdict() == "P4"


def test_a_foreign_writers_record_after_the_cut_is_as_good_as_any(scene: Scene) -> None:
    scene.write("east", 5, 5, b"intruder:1:")
    assert scene.verdict() == ""


def test_a_cut_that_is_too_high_breaks_p5(scene: Scene) -> None:
    scene.keep_only("east", 0, 2)
    scene.told(replace(CUT, offset=6))
    assert scene.verdict() == "P5"


def test_a_lost_record_that_is_here_breaks_p5(scene: Scene) -> None:
    scene.write("east", 5, 5, b"p:4:")
    assert scene.verdict() == "P5"


def test_a_new_record_in_an_old_leader_epoch_breaks_p5(scene: Scene) -> None:
    scene.write("east", 5, 4, b"p:101:")
    assert scene.verdict() == "P5"


def test_a_promotion_with_records_missing_breaks_p5(scene: Scene) -> None:
    scene.told(replace(CUT, source_high_watermark=6), kind=CutKind.PROMOTE)
    assert scene.verdict() == "P5"


def test_a_planned_promotion_below_its_sources_end_breaks_p5(scene: Scene) -> None:
    scene.statements.planned = True
    scene.told(CUT, kind=CutKind.PROMOTE)
    assert scene.verdict() == "P5"


def test_a_group_that_is_carried_past_the_mirrors_data_breaks_p6(scene: Scene) -> None:
    scene.statements.moved = False
    scene.statements.tries_commit("west", "readers", PARTITION, 6)
    with pytest.raises(checking.Broken, match=r"^P6"):
        scene.commit(6)


def test_a_group_that_is_carried_past_its_own_commit_breaks_p6(scene: Scene) -> None:
    scene.statements.moved = False
    scene.statements.tries_commit("west", "readers", PARTITION, 2)
    with pytest.raises(checking.Broken, match=r"^P6"):
        scene.commit(3)


def test_a_group_that_is_moved_up_to_where_a_mirror_starts_breaks_p6(scene: Scene) -> None:
    """A mirror that began at the latest offset lacks what the group has not read yet."""
    scene.statements.moved = False
    scene.statements.tries_commit("west", "readers", PARTITION, 2)
    scene.start("east", 4)
    with pytest.raises(checking.Broken, match=r"^P6"):
        scene.commit(4)


def test_a_group_that_is_moved_by_others_once_it_lives_here_breaks_p6(scene: Scene) -> None:
    scene.statements.tries_commit("east", "readers", PARTITION, 4)
    scene.commit(4)
    with pytest.raises(checking.Broken, match=r"^P6"):
        scene.commit(3)


def test_data_that_a_crash_took_from_under_a_group_breaks_p6(scene: Scene) -> None:
    scene.statements.moved = False
    scene.statements.tries_commit("west", "readers", PARTITION, 4)
    scene.commit(4)
    scene.keep_only("east", 0)
    with pytest.raises(checking.Broken, match=r"^P6"):
        checking.check_restart(scene.evidence, "east")


def test_data_that_was_deleted_up_to_where_the_group_stands_may_be_gone(scene: Scene) -> None:
    """The log begins anew where its checkpoint says, though a crash took the empty file that said it too."""
    scene.statements.moved = False
    scene.statements.tries_commit("west", "readers", PARTITION, 4)
    scene.commit(4)
    scene.disk("east").remove(f"{PARTITION}/{0:020}.log")
    with pytest.raises(checking.Broken, match=r"^P6"):
        checking.check_restart(scene.evidence, "east")
    scene.disk("east").append("log-start-offset-checkpoint", [b"0\n1\norders 0 4\n"])
    checking.check_restart(scene.evidence, "east")


def test_a_member_that_was_sent_past_the_cut_breaks_p6(scene: Scene) -> None:
    scene.statements.found_offset("east", "readers", PARTITION, 5)
    assert scene.verdict() == "P6"


def test_a_skipped_range_that_is_not_in_the_ledger_breaks_p8(scene: Scene) -> None:
    scene.keep_only("east", 2, 4)
    scene.evidence.chronicle.written["east", PARTITION].pop(0, None)
    scene.statements.acknowledged.clear()
    assert scene.verdict() == "P8"


def test_a_mirror_that_has_let_go_of_its_beginning_breaks_p8(scene: Scene) -> None:
    scene.keep_only("east", 2, 4)
    scene.statements.acknowledged.clear()
    assert scene.verdict() == "P8"
    scene.statements.tries_trim("west", PARTITION, 2)
    assert scene.verdict() == ""


def test_an_acknowledged_record_that_someone_deleted_may_be_gone(scene: Scene) -> None:
    scene.keep_only("west", 2, 4)
    assert scene.verdict() == "P1"
    scene.statements.tries_trim("west", PARTITION, 2)
    assert scene.verdict() == ""


def test_a_skipped_range_that_is_in_the_ledger_is_no_secret(scene: Scene) -> None:
    scene.keep_only("east", 2, 4)
    scene.evidence.chronicle.written["east", PARTITION].pop(0, None)
    scene.told(CUT, Hole(PARTITION, 0, 2, HoleCause.SOURCE_LOG_START, START))
    assert scene.verdict() == ""


def test_a_value_that_is_stored_twice_breaks_p10(scene: Scene) -> None:
    scene.write("west", 6, 0, b"p:5:")
    assert scene.verdict() == "P10"


def test_a_retry_that_was_stored_again_after_the_failover_breaks_p10(scene: Scene) -> None:
    scene.write("east", 5, 5, b"p:3:")
    assert scene.verdict() == "P10"


def test_a_plain_producers_retry_may_be_stored_twice(scene: Scene) -> None:
    scene.statements.idempotent["p"] = False
    scene.write("west", 6, 0, b"p:5:")
    assert scene.verdict() == ""


def test_what_was_sent_under_two_producer_ids_may_be_stored_twice(scene: Scene) -> None:
    scene.write("west", 6, 0, b"p:5:")
    scene.statements.renamed[b"p:4:"] = None
    assert scene.verdict() == "P10"
    scene.statements.renamed[b"p:5:"] = None
    assert scene.verdict() == ""


def test_every_finding_says_which_promise_and_what_was_seen(scene: Scene) -> None:
    scene.keep_only("west", 0, 2)
    with pytest.raises(checking.Broken, match=r"P1 is broken: A record acknowledged(.|\n)*p:4:"):
        checking.check_end(scene.evidence)
