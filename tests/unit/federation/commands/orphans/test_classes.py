"""Which orphan records the new primary has, too."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from brokers.ids import Buffer, Offset
from brokers.records.batch import BatchHeader, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.reading import OrphanRecord

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
    found = Successors.read(there, 3, 10)  # type: ignore[arg-type]
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
