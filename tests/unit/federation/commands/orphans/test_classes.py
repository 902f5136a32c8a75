"""Which orphan records the new primary has, too."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from brokers.ids import Buffer, Offset
from brokers.records.batch import BatchHeader, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.provenance import OldPartition, provenance
from federation.commands.orphans.reading import OrphanRecord

WEST = OldPartition("west", "orders", 3)
TAIL = "orders-3/10-14.e0"
EARLY, LATE = 1_000, 2_000
PRODUCER = {"producer_id": 7, "producer_epoch": 0}


class Topic:
    """A topic of the new primary."""

    def __init__(self, *batches: bytearray) -> None:
        self._batches = batches

    def batches(self, partition: int, offset: Offset) -> Iterator[tuple[BatchHeader, Buffer]]:
        assert partition == 3
        for batch in self._batches:
            yield parse_header(batch), batch


def batch(*values: bytes, at: int = EARLY, offset: Offset = 10, sequence: int = -1) -> bytearray:
    producer = PRODUCER if sequence >= 0 else {}
    return build_batch(
        [NewRecord(b"k", value) for value in values],
        timestamp=at,
        base_offset=offset,
        base_sequence=sequence,
        **producer,
    )


def orphans(data: bytearray, *, control: bool = False) -> list[OrphanRecord]:
    header = parse_header(data)
    return [
        OrphanRecord(
            record,
            header.leader_epoch,
            header.producer_id,
            header.producer_epoch,
            -1 if header.base_sequence < 0 else header.base_sequence + index,
            control,
            header.is_transactional,
        )
        for index, record in enumerate(open_batch(data))
    ]


def classes(there: Topic, tail: list[OrphanRecord]) -> list[OrphanClass]:
    found = Successors.read(there, WEST, 10)  # type: ignore[arg-type]
    return [one for _, one in found.classify(tail)]


def test_what_was_sent_again_with_its_time_is_present() -> None:
    there = Topic(batch(b"a", b"b"))
    assert classes(there, orphans(batch(b"b", b"c"))) == [OrphanClass.PRESENT, OrphanClass.UNIQUE]


def test_a_tail_that_a_failover_kept_in_the_log_is_present_and_not_replayed() -> None:
    """It was sealed, and a failover in PENDING_RESTORE came before its leader cut it."""
    tail = batch(b"a", b"a", b"b")
    assert set(classes(Topic(tail), orphans(tail))) == {OrphanClass.PRESENT}


def test_a_record_below_the_cut_is_no_successor() -> None:
    there = Topic(batch(b"a", b"b", offset=9))  # offsets 9 and 10
    assert classes(there, orphans(batch(b"a", b"b"))) == [OrphanClass.UNIQUE, OrphanClass.PRESENT]


def test_the_same_content_at_another_time_may_be_another_event() -> None:
    there = Topic(batch(b"a", at=LATE))
    assert classes(there, orphans(batch(b"a"))) == [OrphanClass.RESENT]


def test_the_same_sequence_of_the_same_producer_is_present_at_any_time() -> None:
    there = Topic(batch(b"a", at=LATE, sequence=5))
    assert classes(there, orphans(batch(b"a", sequence=5))) == [OrphanClass.PRESENT]
    assert classes(there, orphans(batch(b"a", sequence=6))) == [OrphanClass.RESENT]


def test_the_same_sequence_with_other_content_is_another_producer() -> None:
    """Each region gives out producer ids of its own."""
    there = Topic(batch(b"x", sequence=5))
    assert classes(there, orphans(batch(b"a", sequence=5))) == [OrphanClass.UNIQUE]


def test_what_is_there_once_accounts_for_one() -> None:
    there = Topic(batch(b"a"))
    assert classes(there, orphans(batch(b"a", b"a"))) == [OrphanClass.PRESENT, OrphanClass.UNIQUE]


@pytest.mark.parametrize("is_control", [True, False])
def test_markers_and_transactions_are_neither(is_control: bool) -> None:
    data = build_batch([NewRecord(b"k", b"a")], timestamp=EARLY, transactional=not is_control)
    wanted = OrphanClass.CONTROL if is_control else OrphanClass.TRANSACTIONAL
    assert classes(Topic(batch(b"a")), orphans(data, control=is_control)) == [wanted]


def test_what_a_compacted_topic_may_have_had_is_not_called_unique() -> None:
    later = batch(b"later", at=LATE, offset=14)
    (only,) = orphans(batch(b"orphan"))
    other = replace(only, record=only.record._replace(key=b"other"))
    assert classes(Topic(later), [only, other]) == [OrphanClass.REPLACED, OrphanClass.UNIQUE]
    whole = batch(b"later", at=LATE, offset=10)  # nothing is missing there
    assert classes(Topic(whole), [only]) == [OrphanClass.UNIQUE]


def replayed(
    *orphans: OrphanRecord,
    tail: str = TAIL,
    region: str = "west",
    at: int = EARLY,
    offset: Offset = 10,
) -> bytearray:
    """As a replay appends them."""
    records = [
        NewRecord(
            each.record.key,
            each.record.value,
            (*each.record.headers, *provenance(each, tail, region)),
        )
        for each in orphans
    ]
    return build_batch(records, timestamp=at, base_offset=offset)


def test_what_was_replayed_to_the_topic_is_not_replayed_again() -> None:
    tail = orphans(batch(b"a", b"b"))
    assert classes(Topic(replayed(tail[0])), tail) == [OrphanClass.REPLAYED, OrphanClass.UNIQUE]
    # The topic may give its own times to what is appended.
    assert classes(Topic(replayed(*tail, at=LATE)), tail) == [OrphanClass.REPLAYED] * 2


def test_a_record_that_was_an_orphan_twice_is_known_by_its_last_origin() -> None:
    """It was replayed once, and the region that had it then was taken over as well."""
    (first,) = orphans(batch(b"a"))
    again = orphans(replayed(first, tail="orders-3/4-5.e0", region="east"))
    assert classes(Topic(replayed(*again)), again) == [OrphanClass.REPLAYED]


def test_a_replay_changes_the_class_of_no_other_orphan() -> None:
    """Three of one content: the first was sent again, and the second is replayed."""
    tail = orphans(batch(b"a", b"a", b"a"))
    there = Topic(batch(b"a", at=LATE), replayed(tail[1], offset=11))
    assert classes(there, tail) == [
        OrphanClass.RESENT,
        OrphanClass.REPLAYED,
        OrphanClass.UNIQUE,
    ]


def test_what_was_asked_to_be_replayed_though_it_was_there_is_replayed() -> None:
    tail = orphans(batch(b"a"))
    assert classes(Topic(batch(b"a"), replayed(*tail)), tail) == [OrphanClass.REPLAYED]
    cut_off = orphans(build_batch([NewRecord(b"k", b"a")], timestamp=EARLY, transactional=True))
    assert classes(Topic(replayed(*cut_off)), cut_off) == [OrphanClass.REPLAYED]


def test_a_tail_of_another_partition_is_another_one() -> None:
    tail = orphans(batch(b"a"))
    for other in ("orders-33/10-14.e0", "orders-2/10-14.e0", "bills-3/10-14.e0"):
        assert classes(Topic(replayed(*tail, tail=other)), tail) == [OrphanClass.UNIQUE]


def test_another_region_has_the_same_record_if_all_of_it_is_the_same() -> None:
    """Two mirrors of one source seal what it lost; two topics of one name have nothing in common."""
    tail = orphans(batch(b"a"))
    assert classes(Topic(replayed(*tail, region="south")), tail) == [OrphanClass.REPLAYED]
    elsewhere = replayed(*orphans(batch(b"b")), region="south")
    later = replayed(*tail, region="south", at=LATE, offset=11)
    assert classes(Topic(elsewhere, later), tail) == [OrphanClass.UNIQUE]


def test_a_producers_headers_are_no_proof() -> None:
    """It may have copied those of a record that it has read, or have made them up."""
    tail = orphans(batch(b"a"))
    origin = provenance(tail[0], TAIL, "west")
    others = (
        NewRecord(b"k", b"corrected", origin),
        NewRecord(b"k", b"a", origin[:3]),
        NewRecord(b"k", b"a", (*origin, (b"trace", b"1"))),
        NewRecord(b"k", b"a", (*origin[:2], (origin[2][0], b"ten"), origin[3])),
        NewRecord(b"k", b"a", (*origin[:3], (origin[3][0], None))),
    )
    there = Topic(build_batch(others, timestamp=EARLY, base_offset=10))
    assert classes(there, tail) == [OrphanClass.UNIQUE]
