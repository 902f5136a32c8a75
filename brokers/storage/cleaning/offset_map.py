"""The last offset of each key, in a fixed number of bytes an entry (Kafka's SkimpyOffsetMap).

A key is known by its `KeyHashes`: 64 bits are stored, all 96 choose the places where they may lie. Two keys are taken
for one another by chance with less than one in 10^9 for ten million of them. An entry is what is stored, and the offset
above the first in 32 bits: 12 bytes, where Kafka's takes 24.

The table has open addresses and double hashing. Many keys at a time are put and looked up, each step for all of them.
"""

from typing import Final

import numpy as np

from brokers.ids import Offset
from brokers.records.record_columns import Flags, Numbers
from brokers.storage.cleaning.key_hashes import Hashes, KeyHashes

ENTRY_BYTES: Final = 12
RELATIVE_MAX: Final = 2**32 - 1
ENTRIES_MIN: Final = 31
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(RELATIVE_MAX)


class OffsetMap:
    """Offsets ascend from `first` on, and are less than 2^32 above it."""

    __slots__ = ("_hashes", "_offsets", "entries", "first", "keys_max", "size")

    def __init__(self, entries: int, load_factor: float, first: Offset) -> None:
        """Room for `entries` or a few less, of which `load_factor` at most are used, and one at least is not."""
        self.entries = _prime_below(max(entries, ENTRIES_MIN))
        self.keys_max = max(1, min(int(self.entries * load_factor), self.entries - 1))
        self.first = first
        self.size = 0
        self._hashes: Hashes = np.zeros(self.entries, np.uint64)  # 0: free
        self._offsets = np.zeros(self.entries, np.uint32)

    def put_all(self, keys: KeyHashes, offsets: Numbers) -> tuple[Numbers, Flags]:
        """The last offsets of these keys, which may come again; there must be room for all of them.

        Returns (offsets that are not the last ones of their keys any more, which of these are); an offset may be among
        the former that came only now, and is the last one all the same.
        """
        stored, places, steps = self._hashed(keys)
        relative = (offsets - self.first).astype(np.uint32)
        rows, ends = np.arange(len(places)), places.copy()
        superseded = [np.zeros(0, np.int64)]
        while rows.size:
            found = self._hashes[places]
            is_free = found == 0
            if is_free.any():
                # Of several keys that take one place the last one has it. Equal keys stay together to their end.
                self._hashes[places[is_free]] = stored[is_free]
                self._offsets[places[is_free]] = relative[rows[is_free]]
                found = self._hashes[places]
                is_first = is_free & (self._offsets[places] == relative[rows])
                self.size += int(np.count_nonzero(is_first & (found == stored)))
            is_here = found == stored
            here, at = rows[is_here], places[is_here]
            superseded.append(self._offsets[at].astype(np.int64))
            self._offsets[at] = relative[here]  # in order: the last one stays
            ends[here] = at
            rest = (~is_here).nonzero()[0]
            rows, stored, steps = rows[rest], stored[rest], steps[rest]
            places = self._next(places[rest], steps)
        return np.concatenate(superseded) + self.first, self._offsets[ends] == relative

    def get_all(self, keys: KeyHashes) -> Numbers:
        """The last offset of each key; -1 for one that is not in the map."""
        stored, places, steps = self._hashed(keys)
        out = np.full(len(places), -1, np.int64)
        rows = np.arange(len(places))
        while rows.size:
            found = self._hashes[places]
            is_here = found == stored
            out[rows[is_here]] = self._offsets[places[is_here]].astype(np.int64) + self.first
            rest = (~is_here & (found != 0)).nonzero()[0]
            rows, stored, steps = rows[rest], stored[rest], steps[rest]
            places = self._next(places[rest], steps)
        return out

    def has_room(self, keys: int) -> bool:
        """Whether so many more keys fit in."""
        return self.size + keys <= self.keys_max

    def _hashed(self, keys: KeyHashes) -> tuple[Hashes, Numbers, Numbers]:
        """(what is stored, the first places, the steps from one place to the next)."""
        places = (keys.chosen * np.uint64(self.entries)) >> _HALF
        steps = ((keys.stored & _LOW) * np.uint64(self.entries - 1)) >> _HALF
        return keys.stored, places.astype(np.int64), steps.astype(np.int64) + 1

    def _next(self, places: Numbers, steps: Numbers) -> Numbers:
        places = places + steps
        places[places >= self.entries] -= self.entries
        return places


def _prime_below(number: int) -> int:
    """The largest prime up to `number`: any step then leads to every place."""
    while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
        number -= 1
    return number
