"""Checks at events are checked: disks of two regions that keep everything are changed by hand, and one must speak."""

import json
from collections.abc import Callable
from functools import partial

import pytest

from brokers.ids import BrokerId, TopicPartition
from brokers.records.builder import NewRecord, build_batch
from linker.records.mirror_record import Cut, CutKind, CutPartition
from tests.sim.disks import Disk
from tests.sim.evidence import LOG_STARTS, Batch, batches, log_starts, parse
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.runs import Adjust
from tests.sim.linked.scenario import compacting_everywhere
from tests.sim.linked.transition_runs import TransitionRun
from tests.sim.regions.cluster import TOPIC
from tests.sim.world import START

SEED = 3  # its regions have two brokers, and two replicas are to be in sync
PARTITION = TopicPartition(TOPIC, 0)
PRODUCER = 999


class CompactedRun(TransitionRun):
    def _adjusted(self, seed: int) -> Adjust:
        calmed = super()._adjusted(seed)
        return lambda scenario: compacting_everywhere(seed)(calmed(scenario))


class Scene:
    """`west` and its mirror `east`, just now: no time passes any more."""

    def __init__(self, make_run: type[TransitionRun] = TransitionRun, *, more_ms: int = 0) -> None:
        run = make_run("create", seed=SEED)
        run.perform()
        run._pass(3_000 + more_ms)
        self.west, self.east = run.federation.first.regions
        self.one, self.other = self.west.brokers

    def log(self, region: Region, number: BrokerId) -> list[Batch]:
        return batches(region.node(number).disk, PARTITION)

    def path(self, region: Region, number: BrokerId) -> str:
        """Of the last segment."""
        names = region.node(number).disk.list(str(PARTITION))
        return f"{PARTITION}/{[name for name in names if name.endswith('.log')][-1]}"

    def write(self, region: Region, number: BrokerId, *written: Batch) -> None:
        disk, path = region.node(number).disk, self.path(region, number)
        disk.append(path, [each.data for each in written])

    def next_batch(
        self, *, skips: int = 0, epoch: int = 0, sequence: int = -1, key: bytes | None = None
    ) -> Batch:
        """Of one record, behind the log of `one` in `west`."""
        last = self.log(self.west, self.one)[-1]
        producer = (PRODUCER, 0) if sequence >= 0 else (-1, -1)
        data = build_batch(
            [NewRecord(key=key, value=b"hand:0.0:")],
            timestamp=START,
            base_offset=last.next_offset + skips,
            leader_epoch=last.leader_epoch + epoch,
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=sequence,
        )
        (batch,) = parse(bytes(data))
        return batch

    def truncate(self, number: BrokerId, count: int = 1) -> None:
        """In `west`, by some batches."""
        disk, path = self.west.node(number).disk, self.path(self.west, number)
        size = sum(len(each.data) for each in self.log(self.west, number)[-count:])
        disk.truncate(path, disk.size(path) - size)

    def seal(self, number: BrokerId, batch: Batch) -> None:
        disk, folder = self.west.node(number).disk, f"orphans/{PARTITION}/0-1.e0"
        disk.make_directory(folder)
        disk.append(f"{folder}/0.log", [batch.data])
        said = {"topic": TOPIC, "partition": 0, "files": [{"file": "0.log"}]}
        disk.replace(f"{folder}/manifest.json", json.dumps(said).encode())

    def start_at(self, region: Region, number: BrokerId, offset: int) -> None:
        disk = region.node(number).disk
        starts = log_starts(disk) | {PARTITION: offset}
        lines = [f"{each.topic} {each.partition} {start}" for each, start in starts.items()]
        disk.replace(LOG_STARTS, "\n".join(["0", str(len(lines)), *lines, ""]).encode())


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    for region in (scene.west, scene.east):
        assert len(region.brokers) == region.scenario.min_insync == 2
        assert len({len(scene.log(region, each)) for each in region.brokers}) == 1
    assert len(scene.log(scene.east, scene.east.brokers[0])) > 3
    return scene


def finding(act: Callable[[], None]) -> str:
    """What is said of it; nothing if nobody objects."""
    try:
        act()
    except MirrorBroken as found:
        return str(found)
    return ""


# --- P3 ---


def test_what_every_replica_has_may_be_read(scene: Scene) -> None:
    for region in (scene.west, scene.east):
        for batch in scene.log(region, region.brokers[0]):
            read = partial(region.statements.on_batch_read, PARTITION, batch)
            assert not finding(read)


def test_what_one_of_two_replicas_has_may_not_be_read(scene: Scene) -> None:
    batch = scene.next_batch()
    scene.write(scene.west, scene.one, batch)
    told = finding(lambda: scene.west.statements.on_batch_read(PARTITION, batch))
    assert told.startswith("P3 in west") and "of 2 in-sync replicas have written it" in told


def test_what_nobody_knows_to_be_committed_may_not_be_read(scene: Scene) -> None:
    batch = scene.next_batch()
    for number in scene.west.brokers:
        scene.write(scene.west, number, batch)
    told = finding(lambda: scene.west.statements.on_batch_read(PARTITION, batch))
    assert told.startswith("P3 in west") and "above the high watermark" in told


def test_what_nobody_has_written_may_not_be_read(scene: Scene) -> None:
    batch = scene.log(scene.west, scene.one)[0]
    other = batch._replace(data=batch.data[:-1] + bytes([batch.data[-1] ^ 1]))
    told = finding(lambda: scene.west.statements.on_batch_read(PARTITION, other))
    assert told.startswith("P3 in west") and "with bytes that nobody has written" in told


def test_nobody_writes_in_a_later_epoch_where_something_was_read(scene: Scene) -> None:
    last = scene.log(scene.west, scene.one)[-1]
    again = scene.next_batch(skips=last.base_offset - last.next_offset, epoch=1)
    assert again.base_offset == last.base_offset
    scene.west.statements.on_batch_read(PARTITION, last)
    told = finding(lambda: scene.write(scene.west, scene.one, again))
    assert told.startswith("P3 in west") and "was read in leader epoch" in told


def taken_over(scene: Scene, offset: int, epoch: int) -> None:
    """Of `west`: the partition, at an offset; the winner's log goes on in a leader epoch."""
    cut = CutPartition(offset, -1, -1, epoch)
    scene.west.fails_over(Cut(CutKind.FAILOVER, START, (cut,)))


def test_beyond_a_declared_cut_somebody_does(scene: Scene) -> None:
    last = scene.log(scene.west, scene.one)[-1]
    again = scene.next_batch(skips=last.base_offset - last.next_offset, epoch=1)
    scene.west.statements.on_batch_read(PARTITION, last)
    taken_over(scene, last.base_offset, again.leader_epoch)
    told = finding(lambda: scene.write(scene.west, scene.one, again))
    assert not told.startswith("P3")  # the log had it still, which is another matter


@pytest.mark.parametrize(("beyond", "later"), [(1, 1), (0, 0)])
def test_below_it_nobody_does_nor_where_the_winner_has_written(
    scene: Scene, beyond: int, later: int
) -> None:
    last = scene.log(scene.west, scene.one)[-1]
    again = scene.next_batch(skips=last.base_offset - last.next_offset, epoch=1)
    scene.west.statements.on_batch_read(PARTITION, last)
    taken_over(scene, last.base_offset + beyond, last.leader_epoch + later)
    told = finding(lambda: scene.write(scene.west, scene.one, again))
    assert told.startswith("P3 in west") and "was read in leader epoch" in told


def test_a_record_beyond_a_declared_cut_may_be_another_later(scene: Scene) -> None:
    last = scene.log(scene.west, scene.one)[-1]
    (offset, value), *_ = last.values()
    statements = scene.west.statements
    taken_over(scene, last.base_offset, last.leader_epoch + 1)
    statements.known.clear()
    for each in (value, b"another", value):
        statements.was_read(PARTITION, offset, each)
    assert not statements.contradictions


def test_below_it_it_may_not(scene: Scene) -> None:
    last = scene.log(scene.west, scene.one)[-1]
    (offset, value), *_ = last.values()
    statements = scene.west.statements
    taken_over(scene, last.next_offset, last.leader_epoch + 1)
    statements.known.clear()
    for each in (value, b"another"):
        statements.was_read(PARTITION, offset, each)
    assert [promise for promise, _ in statements.contradictions] == ["P2"]


# --- P5 ---


def test_what_is_acknowledged_is_not_truncated(scene: Scene) -> None:
    told = finding(lambda: scene.truncate(scene.one))
    assert told.startswith("P5 in west") and "it is not sealed" in told


def test_what_is_sealed_is(scene: Scene) -> None:
    batch = scene.log(scene.west, scene.one)[-1]
    scene.seal(scene.other, batch)
    disk = scene.west.node(scene.other).disk
    disk.sync(f"orphans/{PARTITION}/0-1.e0/0.log")
    assert not finding(lambda: scene.truncate(scene.one))


def test_what_a_loss_of_power_would_take_from_the_store_is_not_sealed(scene: Scene) -> None:
    scene.seal(scene.other, scene.log(scene.west, scene.one)[-1])
    assert "it is not sealed" in finding(lambda: scene.truncate(scene.one))


def test_what_one_replica_has_alone_may_be_truncated(scene: Scene) -> None:
    scene.write(scene.west, scene.one, scene.next_batch())
    assert not finding(lambda: scene.truncate(scene.one))


def test_what_all_replicas_have_may_not_though_nobody_was_told(scene: Scene) -> None:
    batch = scene.next_batch()
    for number in scene.west.brokers:
        scene.write(scene.west, number, batch)
    assert "it is not sealed" in finding(lambda: scene.truncate(scene.one))


def test_what_lies_below_a_log_start_goes_away_if_somebody_asked_for_that(scene: Scene) -> None:
    end = scene.log(scene.west, scene.one)[-1].next_offset
    disk, path = scene.west.node(scene.one).disk, scene.path(scene.west, scene.one)
    scene.start_at(scene.west, scene.one, end)
    scene.west.statements.tries_trim(PARTITION, end)
    assert not finding(lambda: disk.remove(path))


def test_and_not_otherwise(scene: Scene) -> None:
    end = scene.log(scene.west, scene.one)[-1].next_offset
    disk, path = scene.west.node(scene.one).disk, scene.path(scene.west, scene.one)
    scene.start_at(scene.west, scene.one, end)
    assert "it is not sealed" in finding(lambda: disk.rename(path, f"{path}.deleted"))


def test_a_log_moves_away_as_long_as_another_node_has_one(scene: Scene) -> None:
    def move(number: BrokerId) -> str:
        disk = scene.west.node(number).disk
        return finding(lambda: disk.rename(str(PARTITION), f"{PARTITION}.0-delete"))

    assert not move(scene.one)
    assert "it is not sealed" in move(scene.other)


# --- P8 ---


def test_nothing_is_written_behind_a_gap(scene: Scene) -> None:
    batch = scene.next_batch(skips=1)
    told = finding(lambda: scene.write(scene.west, scene.one, batch))
    assert told.startswith("P8 in west") and "which is not in the ledger" in told


def test_no_log_lacks_what_another_one_has(scene: Scene) -> None:
    first = scene.next_batch()
    scene.write(scene.west, scene.one, first)
    told = finding(lambda: scene.write(scene.west, scene.other, scene.next_batch()))
    assert told.startswith("P8 in west") and "has nothing at" in told


def test_a_mirror_does_not_begin_above_its_source(scene: Scene) -> None:
    number = scene.east.brokers[0]
    told = finding(lambda: scene.start_at(scene.east, number, 1))
    assert told.startswith("P8 in east") and "begin at 1, its source at 0" in told


def test_nor_above_its_own_end(scene: Scene) -> None:
    number = scene.east.brokers[0]
    told = finding(lambda: scene.start_at(scene.east, number, 1_000))
    assert told.startswith("P8 in east") and "which is not in the ledger" in told


def test_it_begins_where_somebody_has_deleted_what_was_below(scene: Scene) -> None:
    scene.east.statements.tries_trim(PARTITION, 1)
    assert not finding(lambda: scene.start_at(scene.east, scene.east.brokers[0], 1))


# --- P8 of compacted logs ---


@pytest.fixture(scope="module")
def compacted() -> Scene:
    return Scene(CompactedRun, more_ms=3_500)


def rewritten(scene: Scene, left_out: Batch) -> str:
    """The last segment of a replica is copied anew, but for one batch."""
    number = scene.other
    disk, path = scene.west.node(number).disk, scene.path(scene.west, number)
    lost = list(parse(bytes(disk.read(path, 0, disk.size(path)))))
    disk.truncate(path, 0)
    told = [
        finding(partial(scene.write, scene.west, number, each)) for each in lost if each != left_out
    ]
    disk.truncate(path, 0)
    scene.write(scene.west, number, *lost)
    return "".join(told)


def tail(scene: Scene) -> list[Batch]:
    """The last segment of that replica."""
    disk, path = scene.west.node(scene.other).disk, scene.path(scene.west, scene.other)
    return list(parse(bytes(disk.read(path, 0, disk.size(path)))))


def is_replaced(batch: Batch, later: list[Batch]) -> bool:
    keys = {record.key for each in later for record in each.records()}
    return all(record.key in keys for record in batch.records())


def test_what_a_later_record_has_replaced_need_not_be_copied(compacted: Scene) -> None:
    written = tail(compacted)
    replaced = [each for each in written if is_replaced(each, written[written.index(each) + 1 :])]
    assert replaced
    for each in replaced:
        assert not rewritten(compacted, each)


def test_what_nothing_has_replaced_must_be(compacted: Scene) -> None:
    written = tail(compacted)
    latest = [
        each for each in written[:-1] if not is_replaced(each, written[written.index(each) + 1 :])
    ]
    assert latest
    for each in latest:
        told = rewritten(compacted, each)
        assert told.startswith("P8 in west") and "the last one of its key" in told


def test_so_must_what_is_replaced_by_what_is_not_committed(compacted: Scene) -> None:
    first = compacted.next_batch(key=b"hand")
    compacted.write(compacted.west, compacted.one, first)
    later = compacted.next_batch(key=b"hand")
    told = finding(lambda: compacted.write(compacted.west, compacted.other, later))
    assert told.startswith("P8 in west") and "the last one of its key" in told


def test_a_client_may_be_told_a_start_behind_which_only_replaced_records_lie(
    compacted: Scene,
) -> None:
    """The hole of a mirror whose source was trimmed to 4 may end at 6, where the next batch begins."""
    statements = compacted.east.statements
    written = compacted.log(compacted.east, compacted.east.brokers[0])
    latest = {record.key: record.offset for batch in written for record in batch.records()}
    assert min(latest.values()) > 0
    statements.told_start(PARTITION, min(latest.values()))
    assert not statements.contradictions
    statements.told_start(PARTITION, written[-1].next_offset)
    assert [invariant for invariant, _ in statements.contradictions] == ["P8"]
    statements.contradictions.clear()


# --- P10 ---


def test_a_retry_is_not_stored_twice(scene: Scene) -> None:
    scene.write(scene.west, scene.one, scene.next_batch(sequence=0))
    told = finding(lambda: scene.write(scene.west, scene.one, scene.next_batch(sequence=0)))
    assert told.startswith("P10 in west") and "writes sequence 0 of producer 999" in told


def test_not_after_a_loss_of_power_either(scene: Scene) -> None:
    disk: Disk = scene.west.node(scene.one).disk
    scene.write(scene.west, scene.one, scene.next_batch(sequence=0))
    disk.sync(scene.path(scene.west, scene.one))
    scene.west.node(scene.one).cut_power()
    told = finding(lambda: scene.write(scene.west, scene.one, scene.next_batch(sequence=0)))
    assert told.startswith("P10 in west")


def test_it_is_stored_again_where_the_first_one_was_cut_from_the_log(scene: Scene) -> None:
    scene.write(scene.west, scene.one, scene.next_batch())
    scene.write(scene.west, scene.one, scene.next_batch(sequence=0))
    scene.truncate(scene.one, 2)
    again = scene.next_batch(sequence=0, epoch=1)
    assert not finding(lambda: scene.write(scene.west, scene.one, again))
