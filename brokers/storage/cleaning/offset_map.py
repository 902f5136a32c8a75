"""The last offset of each key, in a fixed number of bytes an entry (Kafka's SkimpyOffsetMap).

A key is known by two hashes: one chooses a bucket, the other, of 64 bits, is stored there. They are Python's own of
bytes, SipHash with a random secret a process (PEP 456), so that nobody can choose keys which are taken for one another;
two keys are by chance with less than one in 10^9 for ten million of them. An entry is the stored hash and the offset
above the first in 32 bits: 12 bytes, where Kafka's takes 24.

Buckets are of a fixed number of entries, which `bytearray.find` searches at C speed; a key whose bucket is full is in
the next one.

A cleaning of few records, whose keys fit into the same memory as they are, uses a dict.
"""

from array import array
from collections.abc import Sequence
from struct import Struct
from typing import Final

from brokers.ids import Offset

ENTRY_BYTES: Final = 12
BUCKET: Final = 32  # entries
_HASH: Final = Struct("=q")
_HASH_BYTES: Final = _HASH.size
_BUCKET_BYTES: Final = BUCKET * _HASH_BYTES
_SALT: Final = b"\x00bucket"
RELATIVE_MAX: Final = 2**32 - 1
SMALL_ENTRY_BYTES: Final = 200


class OffsetMap:
    """Offsets ascend from `first` on, and are less than 2^32 above it."""

    __slots__ = ("_buckets", "_counts", "_hashes", "_offsets", "first", "keys_max", "size")

    def __init__(self, entries: int, load_factor: float, first: Offset) -> None:
        """Room for `entries`, of which `load_factor` at most are used."""
        self._buckets = max(1, entries // BUCKET)
        self.keys_max = max(1, int(self._buckets * BUCKET * load_factor))
        self.first = first
        self.size = 0
        self._hashes = bytearray(self._buckets * _BUCKET_BYTES)
        self._offsets = array("I", bytes(4)) * (self._buckets * BUCKET)
        self._counts = bytearray(self._buckets)

    def put(self, key: bytes, offset: Offset) -> None:
        """The last offset of the key; `size` must be below `keys_max`."""
        stored = _HASH.pack(hash(key))
        bucket = hash(key + _SALT) % self._buckets
        hashes, counts = self._hashes, self._counts
        while True:
            start = bucket * _BUCKET_BYTES
            count = counts[bucket]
            end = start + count * _HASH_BYTES
            at = hashes.find(stored, start, end)
            while at >= 0 and at % _HASH_BYTES:
                at = hashes.find(stored, at + 1, end)
            if at >= 0:
                self._offsets[at // _HASH_BYTES] = offset - self.first
                return
            if count < BUCKET:
                hashes[end : end + _HASH_BYTES] = stored
                self._offsets[end // _HASH_BYTES] = offset - self.first
                counts[bucket] = count + 1
                self.size += 1
                return
            bucket = (bucket + 1) % self._buckets

    def put_all(self, keys: Sequence[bytes | None], base: Offset) -> None:
        """The keys of records at `base` and the offsets that follow; None: a record without one."""
        for offset, key in enumerate(keys, base):
            if key is not None:
                self.put(key, offset)

    def has_room(self, keys: int) -> bool:
        """Whether so many more keys fit in."""
        return self.size + keys <= self.keys_max

    def get(self, key: bytes) -> Offset:
        """The last offset of the key; -1 for one that is not in the map."""
        stored = _HASH.pack(hash(key))
        bucket = hash(key + _SALT) % self._buckets
        hashes, counts = self._hashes, self._counts
        while True:
            start = bucket * _BUCKET_BYTES
            count = counts[bucket]
            end = start + count * _HASH_BYTES
            at = hashes.find(stored, start, end)
            while at >= 0 and at % _HASH_BYTES:
                at = hashes.find(stored, at + 1, end)
            if at >= 0:
                return self.first + self._offsets[at // _HASH_BYTES]
            if count < BUCKET:
                return -1
            bucket = (bucket + 1) % self._buckets


class SmallOffsetMap:
    """The same in a dict, which is several times faster and takes about `SMALL_ENTRY_BYTES` and the key an entry."""

    __slots__ = ("_bytes_max", "_key_bytes", "_offsets", "first")

    def __init__(self, bytes_max: int, first: Offset) -> None:
        self._bytes_max = bytes_max
        self._key_bytes = 0  # about
        self._offsets: dict[bytes, Offset] = {}
        self.first = first

    @property
    def size(self) -> int:
        return len(self._offsets)

    @property
    def keys_max(self) -> int:
        """If keys go on as they are."""
        key_bytes = self._key_bytes // max(1, self.size)
        return self._bytes_max // (SMALL_ENTRY_BYTES + key_bytes)

    def put(self, key: bytes, offset: Offset) -> None:
        """The last offset of the key."""
        if key not in self._offsets:
            self._key_bytes += len(key)
        self._offsets[key] = offset

    def put_all(self, keys: Sequence[bytes | None], base: Offset) -> None:
        """The keys of records at `base` and the offsets that follow; None: a record without one."""
        offsets, before = self._offsets, len(self._offsets)
        if None in keys:
            offsets.update((key, at) for at, key in enumerate(keys, base) if key is not None)
        else:
            offsets.update(zip(keys, range(base, base + len(keys)), strict=True))  # type: ignore[arg-type]
        added = len(offsets) - before
        if added:
            self._key_bytes += added * sum(len(key) for key in keys if key) // len(keys)

    def has_room(self, keys: int) -> bool:
        """Whether so many more keys fit in."""
        return self.size + keys <= self.keys_max

    def get(self, key: bytes) -> Offset:
        """The last offset of the key; -1 for one that is not in the map."""
        return self._offsets.get(key, -1)
