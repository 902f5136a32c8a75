"""Replicas read from a broker: the same bytes as from files, and a clear error for whatever goes wrong."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from federation.audit import plan
from federation.audit.comparison.compare import compare
from federation.audit.comparison.findings import Class, Side
from federation.audit.comparison.unit import Unit, UnitCopy, UnitOutcome, unit_from_row
from federation.audit.cut.bounds import AuditedReplica, Bounds
from federation.audit.fetch import discovery, reading
from federation.audit.fetch.fetched_replica import FetchedReplica
from federation.audit.fetch.messages import OFFSET_NOT_AVAILABLE
from federation.audit.fetch.spool import spooled
from federation.audit.segments.batches import Part
from federation.audit.segments.compaction import Compaction
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.headers import OFFSET_MAX
from federation.audit.segments.replica import FetchRange, ReadableReplica
from federation.audit.segments.replica_log import discover
from tests.spark import generate
from tests.unit.federation.audit.fetch.broker import Answered, Broker, framed

KEY = ("flights", 3)
MADE = generate.batches(random.Random(5), 60, codec="lz4")
END = MADE[-1].next_offset
WHOLE = b"".join(one.encoded() for one in MADE)


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker(KEY, MADE)
    yield broker
    broker.close()


def replica(broker: Broker) -> FetchedReplica:
    found = discovery.replicas({1: broker.address}, {KEY: [1]}, {KEY: END})
    return found[KEY][0]


def read(broker: Broker, start: int = 0, stop: int = END) -> bytes:
    return b"".join(reading.batches(broker.address, KEY, start, stop))


def alone(log: ReadableReplica) -> Bounds:
    return Bounds(log, 0, END, END, True, (AuditedReplica(log, 0, END),), END)


@pytest.mark.parametrize("max_bytes", [1, 333, 4_000, 1 << 20])
def test_every_byte_comes_however_little_fits_in_an_answer(broker: Broker, max_bytes: int) -> None:
    broker.max_bytes = max_bytes
    assert read(broker) == WHOLE
    assert broker.connections == 1


def test_a_range_has_the_batches_that_hold_its_offsets(broker: Broker) -> None:
    wanted = MADE[10:20]
    start, stop = wanted[0].base_offset, wanted[-1].next_offset
    assert read(broker, start, stop) == b"".join(one.encoded() for one in wanted)
    middle = wanted[0].next_offset - 1
    assert read(broker, middle, stop)[:8] == struct.pack(">q", wanted[0].base_offset)


def test_discovery_says_where_a_replica_starts_and_how_large_it_is(broker: Broker) -> None:
    broker.high_watermarks = [END - 1, END - 1]  # a follower that lags is asked again
    found = replica(broker)
    expected = FetchedReplica(*KEY, 1, broker.address, 0, END, len(WHOLE))
    assert found == expected._replace(compaction=Compaction())
    assert broker.fetches == 3
    assert discovery.replicas({1: "127.0.0.1:1"}, {KEY: [1, 2]}, {KEY: END}) == {}


def test_a_partition_is_split_where_batches_begin(broker: Broker, tmp_path: Path) -> None:
    fetched = replica(broker)
    bases = {one.base_offset for one in MADE}
    found = fetched.boundaries(0, END, len(WHOLE) // 5)
    assert len(found) >= 4
    assert set(found) <= bases
    generate.write_partition(
        str(tmp_path), *KEY, generate.cut_in_segments(generate.stored(MADE), set())
    )
    files = discover([DataDir(str(tmp_path))])[KEY][0]
    for offset in range(END + 1):
        assert (fetched.first_at(offset) is None) == (files.first_at(offset) is None)
        expected = files.first_covering(offset).offset
        assert fetched.first_covering(offset).offset == expected


def test_units_of_fetched_and_of_stored_replicas_are_compared(
    broker: Broker, tmp_path: Path
) -> None:
    generate.write_partition(
        str(tmp_path), *KEY, generate.cut_in_segments(generate.stored(MADE), set())
    )
    files = discover([DataDir(str(tmp_path))])[KEY][0]
    for source, mirror in ((replica(broker), files), (files, replica(broker))):
        units = list(plan.units(alone(source), alone(mirror), len(WHOLE) // 5))
        assert len(units) >= 4
        assert [unit_from_row(unit) for unit in units] == units
        outcomes = [compare(unit, payload=False) for unit in units]
        assert sum(one.batches for one in outcomes) == len(MADE)
        assert all(one.source_digest == one.mirror_digest and not one.findings for one in outcomes)


def outcome(broker: Broker, tmp_path: Path) -> UnitOutcome:
    """A stored source against a mirror that is fetched."""
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(WHOLE)
    stored = UnitCopy(Side.SOURCE, "node 1", (Part(str(path), 0, len(WHOLE), 0, END),))
    where = FetchRange(broker.address, "node 2", *KEY, 0, END, 0, len(WHOLE))
    return compare(Unit(*KEY, 0, END, (stored, UnitCopy(Side.MIRROR, "node 2", (), where))), False)


def test_what_is_not_committed_yet_on_a_follower_is_asked_for_again(
    broker: Broker, tmp_path: Path
) -> None:
    broker.high_watermarks = [0, MADE[9].next_offset, MADE[9].next_offset]
    broker.errors = [0, 0, OFFSET_NOT_AVAILABLE]
    found = outcome(broker, tmp_path)
    assert (found.findings, found.batches) == ((), len(MADE))


def test_a_damaged_batch_is_found_as_in_a_file(broker: Broker, tmp_path: Path) -> None:
    whole = MADE[7].encoded()

    def damaged(number: int, body: bytes) -> bytes:
        return framed(number, body.replace(whole, generate.flipped(whole, len(whole) - 3)))

    broker.answered = damaged
    (found,) = outcome(broker, tmp_path).findings
    assert (found.kind, found.side, found.from_offset) == (
        Class.DAMAGED,
        Side.MIRROR,
        MADE[7].base_offset,
    )


@pytest.mark.parametrize(
    ("error", "because"),
    [(56, "KAFKA_STORAGE_ERROR"), (6, "NOT_LEADER_OR_FOLLOWER"), (99, "error 99")],
)
def test_what_a_broker_refuses_is_unreadable(
    broker: Broker, tmp_path: Path, error: int, because: str
) -> None:
    broker.errors = [error]
    (found,) = outcome(broker, tmp_path).findings
    assert (found.kind, found.side) == (Class.UNREADABLE, Side.MIRROR)
    assert because in found.evidence


def test_a_log_start_that_rose_meanwhile_is_a_file_that_went_away(
    broker: Broker, tmp_path: Path
) -> None:
    broker.log_start = MADE[3].base_offset
    assert f"{KEY[0]}-{KEY[1]} on {broker.address}" in outcome(broker, tmp_path).missing_file


def huge(number: int, body: bytes) -> bytes:
    return struct.pack(">ii", 2**31 - 1, number)


def negative(number: int, body: bytes) -> bytes:
    return struct.pack(">ii", -1, number)


def another(number: int, body: bytes) -> bytes:
    return framed(number + 1, body)


def torn(number: int, body: bytes) -> bytes:
    return framed(number, body[: len(body) // 2])


def nothing(number: int, body: bytes) -> bytes:
    return framed(number, b"")


@pytest.mark.parametrize("answered", [huge, negative, another, torn, nothing])
def test_an_answer_that_is_none_is_unreadable(
    broker: Broker, tmp_path: Path, answered: Answered
) -> None:
    broker.answered = answered
    (found,) = outcome(broker, tmp_path).findings
    assert (found.kind, found.side) == (Class.UNREADABLE, Side.MIRROR)


@pytest.mark.parametrize("delta", [-5, -(2**31)])
def test_a_header_that_leads_nowhere_is_unreadable(broker: Broker, delta: int) -> None:
    one = MADE[0].encoded()
    bad = one[:23] + struct.pack(">i", delta) + one[27:]
    broker.answered = lambda number, body: framed(number, body.replace(one, bad))
    with pytest.raises(OSError, match="no whole batch"):
        read(broker)


def test_a_connection_that_the_broker_closed_is_opened_again(broker: Broker) -> None:
    assert read(broker) == WHOLE
    broker.hang_up()
    assert read(broker) == WHOLE
    assert broker.connections == 2


def test_the_newest_records_are_found_as_in_a_file(broker: Broker, tmp_path: Path) -> None:
    generate.write_partition(
        str(tmp_path), *KEY, generate.cut_in_segments(generate.stored(MADE), set())
    )
    files = discover([DataDir(str(tmp_path))])[KEY][0]
    fetched = replica(broker)
    for before_ms in (0, MADE[30].max_timestamp, OFFSET_MAX):
        found = fetched.newest_below(0, END, before_ms)
        assert found == files.newest_below(0, END, before_ms)
    with spooled(fetched.stretch(fetched.first_covering(0), fetched.end)) as parts:
        assert b"".join(Path(part.path).read_bytes() for part in parts) == WHOLE
