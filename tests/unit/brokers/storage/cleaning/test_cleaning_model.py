"""Random logs are cleaned, killed and cut off from power at every change of the disk, and compared with a model.

The model is a list of records. Whatever happens, what can be read is a part of it, at its offsets and in its order,
with the last record of each key, unless that is a deletion marker whose time is over; and no key has a value again
after its marker is gone.
"""

import random
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field

import pytest

from brokers.compaction import CleaningLimits
from brokers.ids import Buffer
from brokers.log.config import LogConfig
from brokers.records.batch import HEADER_SIZE, iter_headers, pack_header, parse_header, renew_crc
from brokers.records.builder import NewRecord, build_batch
from brokers.records.recompression import compress
from brokers.records.record import open_batch
from brokers.storage.cleaning.log_cleaning import LogCleaning
from brokers.storage.storage import Storage
from tests.kernel.cleaning import MakeCleaning
from tests.quick import some
from tests.sim.fused import Fused
from tests.unit.brokers.storage.driver import NOW, Driver

RETENTION_MS = 1_000
CONFIG = LogConfig(
    segment_bytes=900, compact=True, delete_expired=False, delete_retention_ms=RETENTION_MS
)


class Killed(BaseException):
    """The process ends here."""


class Mortal(Fused):
    """The process is killed at a change of the disk. Several removals, or renames, happen in any order."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.fuse: int | None = None
        self._rng = rng

    def burn(self) -> None:
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self.fuse = None
                self.end_process()
                raise Killed

    def remove_several(self, paths: list[str]) -> None:
        super().remove_several(self._rng.sample(paths, len(paths)))

    def rename_several(self, renames: list[tuple[str, str]]) -> None:
        super().rename_several(self._rng.sample(renames, len(renames)))

    def begin_changes(
        self, removed: Sequence[str], renames: Sequence[tuple[str, str]]
    ) -> Callable[[], None]:
        removed, renames = list(removed), list(renames)
        return super().begin_changes(
            self._rng.sample(removed, len(removed)), self._rng.sample(renames, len(renames))
        )


@dataclass
class Model:
    """What was appended: (key, value) by offset, and when each marker may go at the earliest."""

    records: dict[int, tuple[bytes, bytes | None]] = field(default_factory=dict)

    def last(self) -> dict[bytes, int]:
        return {key: offset for offset, (key, _) in self.records.items()}


class Story:
    """One log through its lives."""

    def __init__(
        self,
        rng: random.Random,
        make_cleaning: MakeCleaning = LogCleaning,
        make_storage: Callable[..., Storage] = Storage,
    ) -> None:
        self.rng = rng
        self.made = {"make_cleaning": make_cleaning, "make_storage": make_storage}
        self.disk = Mortal(rng)
        self.model = Model()
        self.now = NOW
        self.sequences: dict[int, int] = {}
        self.markers: dict[int, int] = {}  # offset -> since when it is in a log that was cleaned
        keys = rng.choice([40, 400, 4_000])
        self.limits = CleaningLimits(12 * keys, 0.9, rng.choice([100, 5_000]), 1e12)
        self.start()

    def fork(self) -> "Story":
        """Another life over a copy of the disk, after a restart."""
        other = copy(self)
        other.disk, other.model = deepcopy((self.disk, self.model))
        other.markers, other.sequences = dict(self.markers), dict(self.sequences)
        other.start()
        other.driver.sync()
        other.driver.digest()
        return other

    def start(self) -> None:
        self.driver = Driver(self.disk, CONFIG, limits=self.limits, **self.made)

    def write(self) -> None:
        for _ in range(self.rng.randrange(1, 25)):
            self._append()
        self.driver.sync()
        self.driver.digest()

    def _append(self) -> None:
        rng, base = self.rng, self.driver.log.log_end_offset
        made = []
        for _ in range(rng.randrange(1, 6)):
            key = b"%d" % rng.randrange(0, rng.choice([3, 30, 300]))
            value = None if rng.random() < 0.2 else rng.randbytes(rng.choice([0, 5, 90]))
            self.model.records[base + len(made)] = key, value
            made.append(NewRecord(key, value, timestamp=self.now + rng.randrange(-9, 9)))
        fields = {}
        if rng.random() < 0.3:
            producer = rng.randrange(1, 4)
            first = self.sequences.get(producer, 0)
            fields = {"producer_id": producer, "producer_epoch": 0, "base_sequence": first}
            self.sequences[producer] = first + len(made)
        batch = build_batch(made, timestamp=self.now, base_offset=base, leader_epoch=0, **fields)
        self.driver.append(_packed(batch, rng.choice([0, 0, 1, 2, 3, 4])), sync=True)

    def clean(self) -> None:
        """A producer goes on meanwhile."""
        self.driver.begin_cleaning(now=self.now)
        for _ in self.driver.cleaning_steps():
            if self.disk.fuse is None and self.rng.random() < 0.2:
                self._append()
                self.driver.sync()
        self.driver.digest()

    def live(self, fuse: int) -> bool:
        """Clean, and perhaps be killed -> whether it was."""
        self.disk.fuse = fuse
        try:
            self.clean()
        except Killed:
            return True
        finally:
            self.disk.fuse = None
        return False

    def restart(self) -> None:
        if self.rng.random() < 0.5:
            self.disk.crash(self.rng)
        self.start()

    def read(self) -> dict[int, tuple[bytes | None, bytes | None]]:
        data: Buffer = self.driver.read_all()
        return {
            record.offset: (record.key, record.value)
            for at, header in iter_headers(data)
            for record in open_batch(data[at : at + header.length])
        }

    def check(self) -> None:
        found, model = self.read(), self.model.records
        assert list(found) == sorted(found)
        moved = {offset for offset, record in found.items() if model.get(offset) != record}
        assert moved == set(), "records that were never written at these offsets"
        last = self.model.last()
        for key, offset in last.items():
            value = model[offset][1]
            if offset in found:
                continue
            assert value is None, f"the last record of {key!r}, at {offset}, is gone"
            assert all(record[0] != key for record in found.values()), f"{key!r} has come back"
            first_seen = self.markers.get(offset)
            is_over = first_seen is not None and self.now >= first_seen + RETENTION_MS
            assert is_over, f"the marker of {key!r}, at {offset}, went too early"
        assert self.driver.log.log_end_offset == max(model) + 1
        self._check_batches()
        self._check_sequences()

    def _check_batches(self) -> None:
        """Segments begin where their first batch does or before, and indexes lead to each batch."""
        for offset in [*self.read()][:: self.rng.randrange(3, 20)]:
            first = parse_header(self.driver.read(offset).data)
            assert first.base_offset <= offset < first.next_offset

    def _check_sequences(self) -> None:
        """From the batches alone, without a snapshot, the last sequence of each producer is known."""
        last = {}
        for _, header in iter_headers(self.driver.read_all()):
            if header.producer_id >= 0:
                last[header.producer_id] = header.last_sequence
        wanted = {each: end - 1 for each, end in self.sequences.items()}
        assert last == wanted, "the last sequence of a producer"

    def note_markers(self) -> None:
        """Those that were below the end of a cleaning: their time counts from then on at the latest."""
        for offset, (_, value) in self.model.records.items():
            if value is None and offset < self.driver.log.segments[-1].base_offset:
                self.markers.setdefault(offset, self.now)


def _packed(batch: bytearray, codec: int) -> bytearray:
    if codec == 0:
        return batch
    header = parse_header(batch)
    out = bytearray(HEADER_SIZE) + compress(codec, bytes(batch[HEADER_SIZE:]), 1)
    pack_header(out, header._replace(length=len(out), attributes=header.attributes | codec))
    renew_crc(out, 0, len(out))
    return out


@pytest.mark.parametrize("seed", some(range(16), quick=4))
def test_a_log_that_is_cleaned_again_and_again_is_its_model(seed: int) -> None:
    assert len(told(Story(random.Random(seed)))) > 6


def told(story: Story) -> dict[int, tuple[bytes, bytes | None]]:
    """Several cleanings of what several writings leave -> all that was written."""
    for _ in range(6):
        story.write()
        story.note_markers()
        story.clean()
        story.check()
        story.now += story.rng.choice([1, RETENTION_MS // 2, RETENTION_MS])
    return story.model.records


@pytest.mark.parametrize("seed", some(range(5)))
def test_a_kill_or_a_power_cut_at_every_change_of_the_disk(seed: int) -> None:
    story = Story(random.Random(seed))
    for _ in range(2):
        story.write()
        story.note_markers()
        story.clean()
        story.now += story.rng.choice([1, RETENTION_MS])
    story.write()
    story.note_markers()
    fuse, was_killed = 0, True
    while was_killed:
        life = story.fork()
        was_killed = life.live(fuse)
        life.restart()
        life.check()
        life.driver.sync()
        life.driver.digest()
        life.clean()
        life.check()
        names = life.driver.files_in()
        assert not [name for name in names if name.endswith((".cleaned", ".swap", ".tmp"))]
        fuse += 1
    assert fuse > 5
