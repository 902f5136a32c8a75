"""The regions that mirror topics of this one, and may take them over, as their links have said.

Any broker of the source may be told. What it is told is written once the topics of which it was told before, that they
were taken over, are read-only: who sees the record in the metadata log has seen those before.
"""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset
from brokers.metadata.commands.document_commands import DocumentChange
from linker.control.source_fencing import SourceFencing
from linker.control.source_holds import Holder
from linker.data.credit import StreamSender
from linker.frames import MirroredTopics
from linker.records.destination import (
    DestinationIndex,
    DestinationRecord,
    delete,
    put,
)
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 500
DESTINATIONS_MAX: Final = 100


class _Told(NamedTuple):
    record: DestinationRecord
    sender: StreamSender  # of the stream on which it came


class SourceDestinations:
    """One per broker. Without `link.fencing.enable` of the node nothing is taken over, and nothing is recorded.

    `began_at`: whatever is below it in the metadata log was there before this process.
    """

    def __init__(self, region: RegionClient, fencing: SourceFencing) -> None:
        self.began_at: Offset = 0
        self._region = region
        self._fencing = fencing
        self._index = DestinationIndex()
        self._told: dict[str, _Told] = {}  # until it is in the metadata log
        self._senders: dict[str, StreamSender] = {}  # of whom was told last

    @property
    def is_enabled(self) -> bool:
        return self._fencing.is_enabled

    @property
    def records(self) -> Mapping[str, DestinationRecord]:
        return self._index.records

    @property
    def versions(self) -> Mapping[str, Offset]:
        """Of the records."""
        return self._index.versions

    def is_heard(self, name: str) -> bool:
        """Whether the stream on which this broker was told is open: the link tells of each change."""
        return name in self._senders and self._senders[name].stream is not None

    def follow(self, changed: Collection[tuple[str, str]]) -> None:
        """These documents may have changed."""
        self._index.follow(self._region.view.image, changed)

    # --- a destination says what it mirrors ---

    def told(
        self, frame: MirroredTopics, holder: Holder, sender: StreamSender, now: Instant
    ) -> Effects:
        """These topics and no others; what it has taken over, it has said before on the same stream."""
        if not self.is_enabled or not holder.is_named:
            return []
        record = DestinationRecord(
            cluster_id=holder.cluster_id,
            link=holder.link,
            topic_ids=frozenset(UUID(bytes=each) for each in frame.topic_ids),
            told_at=now,
        )
        if record.name not in self.records and len(self.records) >= DESTINATIONS_MAX:
            because = f"{DESTINATIONS_MAX} links of other regions mirror topics of this one already"
            return [Changed(f"destination {record.name}", "not recorded", because)]
        self._told[record.name] = _Told(record, sender)
        open_ones = ((name, one) for name, one in self._senders.items() if one.stream is not None)
        self._senders = {**dict(open_ones), record.name: sender}
        return self._fencing.when_settled(partial(self._write, record.name), now)

    def _write(self, name: str, now: Instant) -> Effects:
        """What was told last of this name, unless the metadata log has it."""
        told = self._told.pop(name, None)
        if told is None:
            return []
        known, version = self.records.get(name), self.versions.get(name, 0)
        is_same = known is not None and known.topic_ids == told.record.topic_ids
        if is_same and not self._is_older(version):
            return []
        if not told.record.topic_ids:
            change = None if known is None else delete(known, version)
        else:
            change = put(told.record, version)
        return [] if change is None else self._put(change, told)

    def _put(self, change: DocumentChange, told: _Told) -> Effects:
        def written(refusal: Refusal | None, at: Instant) -> Effects:
            if refusal is not None and told.sender.stream is not None:
                self._told.setdefault(change.name, told)
                self._region.timers.set(at + RETRY_MS, partial(self._write, change.name))
            return []  # on a stream that is closed another broker may have been told otherwise since

        return self._region.put(change, written)

    # --- this region lives ---

    def _is_older(self, version: Offset) -> bool:
        """Whether a broker of this region has started since."""
        brokers = self._region.view.image.brokers.values()
        return any(version < one.broker_epoch for one in brokers) or version < self.began_at

    @property
    def older(self) -> list[str]:
        """Records that are older than a broker of this region, and are not being written."""
        found = (name for name, version in self.versions.items() if self._is_older(version))
        return [name for name in found if name not in self._told]

    def again(self, name: str) -> DocumentChange:
        """The change that writes a record once more, as it is."""
        return put(self.records[name], self.versions[name])
