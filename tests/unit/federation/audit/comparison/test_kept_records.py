"""Replicas that clean apart from one another, of which one is away at times: in a model of three logs."""

from dataclasses import dataclass, field
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.audit.comparison.by_key import KeyTable, Latest, differences
from federation.audit.comparison.findings import Class, Finding, Side
from federation.audit.comparison.kept_records import kept_records
from federation.audit.comparison.unit import Unit, UnitCopy
from tests.quick import examples

END = 1_000
UNIT = Unit("t", 0, 0, END, (), by_key=True)
KEYS = "abc"


def table(number: int, markers_from: int, clean: int = END, **last: int) -> KeyTable:
    """The last offset of each key; a negative one is a deletion marker's."""
    copy = UnitCopy(Side.SOURCE, f"node {number}", (), clean=clean, markers_from=markers_from)
    latest = {key.encode(): Latest(abs(offset), offset < 0) for key, offset in last.items()}
    return KeyTable(copy, END, {one.offset: one.offset for one in latest.values()}, latest)


def judged(*tables: KeyTable) -> tuple[list[tuple[int, str]], list[Finding]]:
    """Offset and replica of what is kept, and what the first one and the others differ in."""
    kept = kept_records(UNIT, tables)
    assert all(one.kind is Class.MARKER_MISSED and one.records == 1 for one in kept)
    first, *others = tables
    found = [one for other in others for one in differences(UNIT, first, other)]
    return [(one.from_offset, one.replica) for one in kept], found


@pytest.mark.parametrize("away", range(3))
def test_a_record_whose_marker_one_replica_missed_is_named(away: int) -> None:
    tables = [
        table(number, 60, a=40) if number == away else table(number, 55) for number in range(3)
    ]
    assert judged(*tables) == ([(40, f"source node {away}")], [])


@pytest.mark.parametrize(
    ("away", "in_step", "is_explained"),
    [(60, 55, True), (42, 42, True), (41, 55, False), (60, 41, False), (0, 55, False)],
)
def test_only_below_what_both_logs_say_a_marker_can_be_gone(
    away: int, in_step: int, is_explained: bool
) -> None:
    kept, found = judged(table(1, away, a=40), table(2, in_step), table(3, in_step))
    assert bool(kept) == is_explained and bool(found) != is_explained


@pytest.mark.parametrize(("away", "is_explained"), [(51, True), (50, False)])
def test_a_marker_that_is_still_there_proves_it(away: int, is_explained: bool) -> None:
    for others in ([table(2, 0, a=-50)], [table(2, 60), table(3, 0, a=-50)]):
        kept, found = judged(table(1, away, a=40), *others)
        assert bool(kept) == is_explained and bool(found) != is_explained


def test_a_live_key_that_most_replicas_have_is_lost_where_it_is_lacking() -> None:
    kept, found = judged(table(1, 60, a=40), table(2, 60), table(3, 60, a=40))
    assert kept == [] and [(one.kind, one.from_offset) for one in found] == [
        (Class.MISSING_ON_MIRROR, 40)
    ]
    assert judged(table(1, 60, a=40), table(2, 60))[1]  # nobody can tell


def test_a_replica_with_every_marker_knows_that_the_key_lives() -> None:
    kept, found = judged(table(1, 0, a=40), table(2, 60), table(3, 60))
    assert kept == [] and len(found) == 2


def test_two_that_were_away_keep_what_each_had() -> None:
    tables = [table(1, 60, a=40), table(2, 60, a=20), *(table(number, 55) for number in (3, 4, 5))]
    assert judged(*tables) == ([(20, "source node 2"), (40, "source node 1")], [])


def test_a_record_that_a_later_one_may_have_replaced_is_not_called_deleted() -> None:
    cleaned_beyond = table(2, 60, clean=END + 5)
    kept, found = judged(table(1, 60, a=40), cleaned_beyond, table(3, 55, clean=END + 5))
    assert kept == [] and {one.kind for one in found} == {Class.NOT_ASKED}


def test_a_damaged_copy_has_no_say() -> None:
    damaged = table(3, 60)
    damaged.troubles.append(Finding("t", 0, 5, 6, Class.DAMAGED, Side.SOURCE))
    kept, found = judged(table(1, 60, a=40), table(2, 60), damaged)
    assert kept == [] and found


@dataclass
class Replica:
    """A log whose markers may go at the second cleaning (`delete.retention.ms` is 0). `records`: the offsets, with the
    key, in capitals for a marker."""

    number: int
    records: dict[int, str] = field(default_factory=dict)
    end: int = 0
    markers_from: int = 0
    aged: set[int] = field(default_factory=set)

    def append(self, key: str) -> None:
        self.records[self.end] = key
        self.end += 1

    def clean(self) -> None:
        """All but the last record, which is in the active segment."""
        seen: set[str] = set()
        for offset in sorted(self.records, reverse=True):
            key = self.records[offset]
            if offset < self.end - 1:
                is_gone = key.isupper() and offset in self.aged
                self.aged.add(offset)
                if key.lower() in seen or is_gone:
                    del self.records[offset]
                if is_gone and key.lower() not in seen:
                    self.markers_from = max(self.markers_from, offset + 1)
                seen.add(key.lower())

    def copy(self, leader: "Replica") -> None:
        for offset in sorted(one for one in leader.records if one >= self.end):
            if offset > self.end:
                self.markers_from = offset + 1
            self.records[offset], self.end = leader.records[offset], offset + 1

    def table(self) -> KeyTable:
        last = {key.lower(): offset for offset, key in sorted(self.records.items())}
        signed = {key: -at if self.records[at].isupper() else at for key, at in last.items()}
        return table(self.number, self.markers_from, **signed)


APPENDS = st.lists(st.sampled_from([*KEYS, *KEYS.upper()]), min_size=1, max_size=3)
CLEANINGS = st.lists(st.sampled_from(["clean 0", "clean 1", "clean 2", "clean all"]), max_size=3)
ACTS = st.lists(
    st.tuples(APPENDS, CLEANINGS, st.sampled_from([[], ["copy"]])).map(chain.from_iterable),
    max_size=10,
).map(lambda rounds: [*chain.from_iterable(rounds)])


def after(acts: list[str]) -> list[Replica]:
    """0 and 1 are in sync always; 2 copies when it is told to, and at the end."""
    logs = [Replica(number) for number in range(3)]
    for act in ["z", *acts, "z", "clean all", "z"]:
        if act == "copy":
            logs[2].copy(logs[0])
        elif act == "clean all":
            for log in (*logs, *logs):
                log.clean()
        elif act.startswith("clean"):
            logs[int(act[-1])].clean()
        else:
            for log in logs[:2]:
                log.append(act)
    logs[2].copy(logs[0])
    return logs


@examples(300)
@given(ACTS)
def test_what_cleanings_and_absence_do_is_never_a_fault(acts: list[str]) -> None:
    kept, found = judged(*(log.table() for log in after(acts)))
    assert found == [] and {replica for _, replica in kept} <= {"source node 2"}


@examples(300)
@given(ACTS, st.integers(0, 2), st.data())
def test_a_live_key_that_one_replica_lost_is_always_found(
    acts: list[str], where: int, data: st.DataObject
) -> None:
    logs = after(acts)
    last = {key.lower(): key for _, key in sorted(logs[0].records.items())}
    lost = data.draw(st.sampled_from(sorted(key for key in last.values() if key.islower())))
    log = logs[where]
    log.records = {at: key for at, key in log.records.items() if key.lower() != lost}
    found = judged(*(one.table() for one in logs))[1]
    assert found and all("the last record" in one.evidence for one in found)
