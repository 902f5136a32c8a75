"""One file of a disk in memory, and what a power cut leaves of it."""

from dataclasses import dataclass, field

from brokers.ports import Rng

SECTOR = 512


@dataclass(slots=True)
class StoredFile:
    content: bytearray = field(default_factory=bytearray)
    synced: int = 0  # this many bytes survive a crash for certain
    named: bool = False  # the name does
    dropped: list[range] = field(default_factory=list)  # what failed syncs left in memory only
    former: bytes | None = None  # what a crash may bring back in its place, until it is synced
    preallocated: int = 0  # the bytes of disk that it has taken


@dataclass(frozen=True, slots=True)
class SimRange:
    """`FileRange` of a file in memory."""

    file: StoredFile
    position: int
    size: int

    def __len__(self) -> int:
        return self.size

    def __bytes__(self) -> bytes:
        return bytes(memoryview(self.file.content)[self.position : self.position + self.size])


class SimReader:
    """`FileReader` of a disk in memory; it keeps the file that it has opened."""

    def __init__(self, file: StoredFile) -> None:
        self._file = file

    def read(self, position: int, size: int) -> bytes:
        return bytes(memoryview(self._file.content)[position : position + size])

    def close(self) -> None:
        pass


def tear(file: StoredFile, rng: Rng) -> None:
    unsynced = len(file.content) - file.synced
    if unsynced == 0:
        return
    if rng.random() < 0.1:  # its size had reached the disk, and nothing of the data
        file.content[file.synced :] = bytes(unsynced)
        return
    kept = file.synced + rng.randrange(0, unsynced + 1)
    del file.content[kept:]
    garbled = min(rng.randrange(0, 4) * SECTOR, kept - file.synced)
    if garbled and rng.random() < 0.3:
        zeros = rng.random() < 0.5
        file.content[kept - garbled :] = bytes(garbled) if zeros else rng.randbytes(garbled)


def drop(file: StoredFile) -> None:
    for gone in file.dropped:
        kept = min(gone.stop, len(file.content)) - gone.start
        if kept > 0:
            file.content[gone.start : gone.start + kept] = bytes(kept)
    file.dropped.clear()
