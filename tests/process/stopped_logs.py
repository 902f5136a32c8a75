"""What lies on the disks of all replicas of a partition, once their nodes are stopped.

KIP-1279's tests compare the segment files of a mirror with those of its source. Here those of all replicas on both
sides are compared, and what lies beside the segments is compared with their batches.

A log that is cut where a segment begins keeps that segment, as Kafka's does, and what comes next goes into it. A side
that was not cut there goes on in the segment before while it has room. So a segment may begin at a cut on one side
only. All others begin at the same offsets: a mirror seals segments where its source does, and its followers have the
same settings.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from brokers.records.batch import BatchHeader, iter_headers
from brokers.storage.segments.segment_digest import DigestRow, decode
from tests.compat.java.together import Tools

OF_A_SEGMENT = (".log", ".index", ".timeindex")
OF_A_LOG = ("leader-epoch-checkpoint", "partition.metadata")
DUMP = "DumpLogSegments"
COMPLAINTS = ("mismatch", "not found", "out of order")


@dataclass(frozen=True)
class StoppedLog:
    """The folder of a replica whose node was stopped as it should be; nothing was compacted, nothing is expired."""

    folder: Path

    @cached_property
    def segments(self) -> dict[int, bytes]:
        """By base offset, ascending."""
        return {int(path.stem): path.read_bytes() for path in sorted(self.folder.glob("*.log"))}

    @cached_property
    def headers(self) -> dict[int, list[BatchHeader]]:
        """Of the batches in each segment."""
        return {
            base: [header for _, header in iter_headers(data)]
            for base, data in self.segments.items()
        }

    def check(self) -> None:
        """The files fit each other."""
        self._check_bases()
        self._check_names()
        self._check_digests()
        self._check_epochs()

    def _check_bases(self) -> None:
        """Each segment begins where the one before ends, and has whole batches only."""
        end = 0
        for base, headers in self.headers.items():
            assert base == end, f"{self.folder}: a segment begins at {base}, not at {end}"
            size = sum(header.length for header in headers)
            assert size == len(self.segments[base]), f"{self.folder}: {base} ends in a torn batch"
            for header in headers:
                assert header.base_offset == end, (self.folder, header)
                end = header.next_offset

    @property
    def end(self) -> int:
        return max(header.next_offset for each in self.headers.values() for header in each)

    def _check_names(self) -> None:
        """No file of a segment is missing, and none is left of one that was cut, but for those that await deletion."""
        found = {path.name for path in self.folder.iterdir() if path.suffix != ".deleted"}
        needed = {f"{base:020}{suffix}" for base in self.segments for suffix in OF_A_SEGMENT}
        needed |= {*OF_A_LOG, f"{self.end:020}.snapshot"}
        beside = {
            f"{base:020}{suffix}" for base in self.segments for suffix in (".snapshot", ".digest")
        }
        assert needed <= found <= needed | beside, (self.folder, sorted(found ^ needed))

    def _check_digests(self) -> None:
        """They are of the batches that are there now."""
        for path in self.folder.glob("*.digest"):
            _, rows, _ = decode(path.read_bytes())
            assert _outline(rows) == _outline(self.headers[int(path.stem)]), path

    def _check_epochs(self) -> None:
        """The checkpoint has where each leader epoch of the batches begins, and perhaps one that wrote nothing yet."""
        written: dict[int, int] = {}
        for headers in self.headers.values():
            for header in headers:
                written.setdefault(header.leader_epoch, header.base_offset)
        version, count, *lines = (self.folder / OF_A_LOG[0]).read_text().splitlines()
        told = {int(epoch): int(first) for epoch, first in map(str.split, lines)}
        assert (version, int(count)) == ("0", len(told)), lines
        assert told.items() >= written.items(), (self.folder, told, written)
        beyond = {epoch: first for epoch, first in told.items() if epoch not in written}
        assert all(epoch > max(written) and first == self.end for epoch, first in beyond.items()), (
            self.folder,
            told,
            written,
        )


def check_same(folders: Iterable[Path], cut: int) -> list[int]:
    """All hold the same bytes, in the same segments but for one that may begin at the cut -> their base offsets."""
    first, *others = [StoppedLog(folder) for folder in folders]
    for log in (first, *others):
        log.check()
    agreed = [base for base in first.segments if base != cut]
    for log in others:
        bases = [base for base in log.segments if base != cut]
        assert bases == agreed, (first.folder, agreed, log.folder, bases)
        assert _data(log) == _data(first), f"{log.folder} differs from {first.folder}"
    return agreed


def _outline(batches: Iterable[BatchHeader | DigestRow]) -> list[tuple[int, ...]]:
    return [(one.base_offset, one.length, one.leader_epoch, one.crc) for one in batches]


def _data(log: StoppedLog) -> bytes:
    return b"".join(log.segments.values())


def check_by_kafka(folders: Sequence[Path]) -> None:
    """Kafka's own tool reads each record, finds each index entry where the log has it, and opens each index."""
    logs = _files(folders, ".log")
    indexes = _files(folders, ".index", ".timeindex")
    with Tools() as tools:
        read = tools(DUMP, "--deep-iteration", "--files", ",".join(logs))
        found = tools(DUMP, "--files", ",".join(indexes))
        opened = tools(DUMP, "--index-sanity-check", "--files", ",".join(indexes))
    batches = sum(len(each) for path in folders for each in StoppedLog(path).headers.values())
    assert read.count("isvalid: true") == batches and "isvalid: false" not in read
    for complaint in COMPLAINTS:
        assert complaint not in found.lower(), found
    assert found.count("offset: ") > len(indexes)
    sound = re.findall(r"^(.+) (?:passed sanity check|is empty)\.$", opened, re.MULTILINE)
    assert sound == indexes, opened


def _files(folders: Iterable[Path], *suffixes: str) -> list[str]:
    return [
        str(path)
        for folder in folders
        for path in sorted(folder.iterdir())
        if path.suffix in suffixes
    ]
