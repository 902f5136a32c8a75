"""When `causeway mirror lost` may call its list exact: nothing is missing that the source is known to have held."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.commands.lost.coverage import OffsetRange, gaps, parse_name
from federation.commands.lost.sealing_records import SealingRecords, discarded_tails
from federation.commands.lost.search import OldLog, PartitionLoss, judge
from federation.commands.orphans.stores import Stores, Tail, TailCopy
from linker.wire.v1 import admin_pb2 as pb

CUT, END, EPOCH = (
    10,
    17,
    1 << 16,
)  # the cut of partition 0, the source's high watermark then, the first epoch after it
NOON = 1_800_000_000_000


def tail(first: int = CUT, end: int = END, epoch: int = 0) -> Tail:
    name = f"orders-0/{first}-{end}.e{epoch}"
    epochs = [pb.OrphanEpoch(leader_epoch=epoch, start_offset=first)]
    orphan = pb.Orphan(
        name=name,
        topic="orders",
        partition=0,
        base_offset=first,
        next_offset=end,
        leader_epochs=epochs,
    )
    return Tail(name, (TailCopy(1, "", orphan),))


def discarding(*names: str, at_ms: int = NOON) -> pb.Operation:
    resources = [pb.ChangedResource(resource_type="orphan", name=name) for name in names]
    return pb.Operation(operation="DiscardOrphans", time_ms=at_ms, resources=resources)


def judged(
    *tails: Tail,
    log: OldLog | None = None,
    records: int = END - CUT,
    missing: int = END - CUT,
    cuts: tuple[tuple[int, int], ...] = (),
    discarded: tuple[str, ...] = (),
) -> PartitionLoss:
    """A source that was restored, unless `log` says otherwise."""
    cut = pb.CutPartition(partition=0, offset=CUT, missing=missing, leader_epoch=EPOCH)
    loss = PartitionLoss(0, CUT, records=records)
    ledger = tuple((0, OffsetRange(*each)) for each in cuts)
    gone = discarded_tails([discarding(*discarded)], "orders")
    known = SealingRecords(ledger, gone)
    judge(cut, loss, Stores(tails, {}), known, log or OldLog(0, is_restored=True))
    return loss


def old_log(start: int, end: int) -> OldLog:
    begin = max(start, CUT)
    return OldLog(start, OffsetRange(begin, end) if begin < end else None)


@pytest.mark.parametrize(
    "loss",
    [
        judged(tail()),
        judged(tail(), cuts=((CUT, END),)),
        judged(log=old_log(0, END)),
        judged(log=old_log(0, END), missing=-1),
        judged(tail(), log=old_log(0, END)),  # sealed, and not cut yet
        judged(tail(CUT, 13), log=old_log(13, END)),
        judged(tail(4, END)),  # what is in common ends before the cut
        judged(records=0, missing=0),
        judged(records=0, missing=-1),
        judged(log=old_log(0, 8), records=0, missing=0),
        # Of a compacted log whose first batch beyond the cut was gone; the ledger has where the tail began.
        judged(tail(12, END), cuts=((CUT, END),)),
        # What its new source has deleted since.
        judged(tail(), log=OldLog(30)),
        # Sealed, and cut, in a later history.
        judged(tail(), tail(30, 35, EPOCH), cuts=((CUT, END), (30, 35))),
        # It was sealed anew after the restore was taken back.
        judged(tail(), discarded=(tail().name,)),
        judged(log=old_log(0, END), discarded=(tail().name,)),
        # Of another partition, of another topic, of a later history, and of before the cut.
        judged(
            tail(),
            discarded=("orders-1/10-17.e0", "bills-0/10-17.e0", "orders-0/20-30.e65536", "orders-0/0-9.e0"),
        ),
    ],
)  # fmt: skip
def test_all_that_was_there_is_exact(loss: PartitionLoss) -> None:
    assert (loss.because, loss.missing) == ("", 0)


NOWHERE = "are in no log and in no orphan tail of the source any more"
DISCARDED = (
    "orphan tail orders-0/10-17.e0 with offsets [10, 17) was discarded at 2027-01-15T08:00:00.000Z"
)


@pytest.mark.parametrize(
    ("loss", "missing", "because"),
    [
        # Discarded: by the operator log; where that has forgotten it, by the ledger, or by what was known at the cut.
        (judged(records=0, discarded=(tail().name,)), 7, DISCARDED),
        (judged(records=0, missing=-1, discarded=(tail().name,)), 7, DISCARDED),
        (judged(records=0, missing=0, cuts=((CUT, END),)), 7, f"offsets [10, 17) {NOWHERE}"),
        (judged(records=0), 7, f"offsets [10, 17) {NOWHERE}"),
        (judged(tail(CUT, 13), records=3, discarded=(tail(13).name,)), 4, "orders-0/13-17.e0"),
        # Retention or DeleteRecords before it was sealed: the tail begins where the log did.
        (judged(tail(13), records=4), 3, f"offsets [10, 13) {NOWHERE}"),
        (judged(tail(13), records=4, cuts=((13, END),)), 3, f"offsets [10, 13) {NOWHERE}"),
        (judged(tail(13), records=4, missing=-1), 3, f"offsets [10, 13) {NOWHERE}"),
        (judged(tail(13), log=old_log(13, END), records=4, missing=0), 3, "offsets [10, 13) "),
        # The same, and not sealed yet.
        (judged(log=old_log(13, END), records=4), 3, f"offsets [10, 13) {NOWHERE}"),
        (judged(log=old_log(20, 20), records=0, missing=0), 10, f"offsets [10, 20) {NOWHERE}"),
        # A tail in the middle is gone, and its end.
        (judged(tail(CUT, 12), tail(15), records=4), 3, f"offsets [12, 15) {NOWHERE}"),
        (judged(tail(CUT, 15), records=5), 2, f"offsets [15, 17) {NOWHERE}"),
        (judged(log=old_log(0, 15), records=5), 2, f"offsets [15, 17) {NOWHERE}"),
        # All offsets are there, and not all records.
        (judged(tail(), records=5), 0, "7 records were known of at the cut, and 5 of them"),
    ],
)  # fmt: skip
def test_what_is_missing_is_told(loss: PartitionLoss, missing: int, because: str) -> None:
    assert because in loss.because
    assert loss.missing == missing


def test_a_discarded_tail_is_told_once_when_it_went_last() -> None:
    """Each broker tells of its own copies, and once more after a crash."""
    names = tail().name, "orders-0/0-3.e0", "bills-0/10-17.e0", "not a tail"
    log = [discarding(*names), discarding(tail().name, at_ms=NOON + 5), pb.Operation()]
    found = discarded_tails(log, "orders")
    assert [(one.tail.name, one.at_ms) for one in found] == [
        (tail().name, NOON + 5),
        ("orders-0/0-3.e0", NOON),
    ]


def test_the_name_of_a_tail_says_what_it_held() -> None:
    found = parse_name("a-b.c-12/345-678.e9")
    assert found is not None
    assert (found.topic, found.partition, found.offsets, found.last_epoch) == (
        "a-b.c",
        12,
        OffsetRange(345, 678),
        9,
    )
    for name in ("orders-0", "orders-0/1-2", "orders-0/1-2.ex", "orders/1-2.e3", ""):
        assert parse_name(name) is None


RANGES = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(
    lambda ends: OffsetRange(min(ends), max(ends))
)


@given(RANGES, st.lists(RANGES, max_size=5))
def test_gaps_are_what_no_range_holds(wanted: OffsetRange, held: list[OffsetRange]) -> None:
    def offsets(ranges: Any) -> list[int]:
        return [offset for one in ranges for offset in range(one.start, one.end)]

    there = set(offsets(held))
    found = list(gaps(wanted, held))
    assert offsets(found) == [one for one in offsets([wanted]) if one not in there]
    assert all(one.start < one.end for one in found)
