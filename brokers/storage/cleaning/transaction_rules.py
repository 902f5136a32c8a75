"""Aborted transactions in a log, and when a marker is of no use any more (Kafka's CleanedTransactionMetadata; KIP-98).

The data of an aborted transaction goes at once. A marker goes once no data of its transaction is left before it, as the
batch of a deletion marker does: when its horizon has passed.
"""

from bisect import bisect_right
from collections import defaultdict
from operator import itemgetter
from struct import Struct
from typing import Final

from brokers.ids import Offset, ProducerId
from brokers.records.batch import BatchHeader
from brokers.records.raw_records import damaged

ABORT: Final = 0
COMMIT: Final = 1
_first_of = itemgetter(0)
_MARKER_KEY: Final = Struct(">hh")  # version, type


class TransactionRules:
    """`learn` every batch first, then `is_discarded` of every batch, both in the order of the log."""

    def __init__(self) -> None:
        self._begun: dict[ProducerId, Offset] = {}
        # Of each producer, (first offset, offset of the marker) of its aborted transactions, ascending.
        self._aborted: defaultdict[ProducerId, list[tuple[Offset, Offset]]] = defaultdict(list)
        self._with_data: dict[ProducerId, None] = {}  # in the transaction that is being read

    def learn(self, header: BatchHeader, marker: int | None) -> None:
        """`marker` is the type of a control batch, if it ends a transaction."""
        if not header.is_control:
            if header.is_transactional:
                self._begun.setdefault(header.producer_id, header.base_offset)
            return
        first = self._begun.pop(header.producer_id, None) if marker is not None else None
        if marker == ABORT and first is not None:
            self._aborted[header.producer_id].append((first, header.base_offset))

    def is_discarded(self, header: BatchHeader, marker: int | None) -> bool:
        """Whether a data batch was aborted, or a marker ends a transaction of which no data is left."""
        if not header.is_transactional and not header.is_control:
            return False
        if not header.is_control:
            self._with_data[header.producer_id] = None
            return self.is_aborted(header)
        if marker is None:
            return False
        had_data = header.producer_id in self._with_data
        self._with_data.pop(header.producer_id, None)
        return not had_data

    def is_aborted(self, header: BatchHeader) -> bool:
        """Whether a data batch belongs to an aborted transaction."""
        if not header.is_transactional:
            return False
        aborted = self._aborted.get(header.producer_id, ())
        before = bisect_right(aborted, header.base_offset, key=_first_of)
        return before > 0 and header.base_offset < aborted[before - 1][1]


def marker_type(key: bytes | None) -> int | None:
    """The type of a transaction marker by the key of its record; None for other control records."""
    if key is None or len(key) < _MARKER_KEY.size:
        raise damaged("a control record without a type")
    version, kind = _MARKER_KEY.unpack_from(key)
    return kind if version >= 0 and kind in (ABORT, COMMIT) else None
