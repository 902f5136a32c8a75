"""A link at its destination: creates its parts, and passes events to each of them. It decides nothing itself."""

from collections.abc import Callable, Iterable, Mapping

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset, TopicPartition
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from linker.control.connection import Phase, SourceConnection
from linker.control.failover import MirrorFailover
from linker.control.group_sync import GroupSync
from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import MirrorTopic
from linker.control.mirror_topics import MirrorTopics
from linker.control.source_topics import SourceTopics
from linker.data.destination_stream import DestinationStream
from linker.errors import LinkError
from linker.events import Stream
from linker.frames import (
    Agreed,
    Beacon,
    Chunk,
    Declined,
    Frame,
    GroupOffsets,
    TopicState,
    WatchGroups,
)
from linker.records.link_state import LINK_KIND, LinkRecord
from linker.region_client import Effects, RegionClient


class LinkCoordinator:
    """One link of this region."""

    def __init__(
        self,
        region: RegionClient,
        record: LinkRecord,
        version: Offset,
        new_stream: Callable[[], Stream],
    ) -> None:
        self.settings = LinkSettings(record, version)
        self.stream = DestinationStream()
        self.groups = GroupSync(
            region, self.settings, lambda topic: self.mirror_topics.mirror_of(topic)
        )
        self.mirror_topics = MirrorTopics(region, self.settings, self.stream, self.groups)
        self.source_topics = SourceTopics(
            self.settings, self.stream, lambda: self.mirror_topics.source_topics
        )
        self.connection = SourceConnection(
            region, self.settings, self.stream.sender, new_stream, self
        )
        self.creating: list[str] = []  # mirrors whose topics are being made: the link must stay
        self.is_being_deleted = False  # no mirror may be added
        self._region = region

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def mirrors(self) -> Mapping[str, MirrorTopic]:
        return self.mirror_topics.by_name

    @property
    def failovers(self) -> Mapping[str, MirrorFailover]:
        return self.mirror_topics.failovers

    # --- the metadata log ---

    def begin(self, now: Instant) -> Effects:
        """The link is new, or its node has started."""
        return self.follow_documents(now) + self.connection.reconsider(now)

    def adopt(self, record: LinkRecord, version: Offset, now: Instant) -> Effects:
        """The metadata log has a newer record of this link."""
        before = self.settings.adopt(record, version)
        config = self.settings.config
        self.groups.narrow()
        if (before.bootstrap_servers, before.paused, before.value("replica.fetch.max.bytes")) != (
            config.bootstrap_servers,
            config.paused,
            config.value("replica.fetch.max.bytes"),
        ):
            return self.connection.reconsider(now)
        effects: Effects = []
        if before.group_filters != config.group_filters:
            effects += self.stream.sender.send(WatchGroups(config.group_filters))
        return effects + self.mirror_topics.follow_settings(now)

    def follow_documents(self, now: Instant) -> Effects:
        """Adopt the records of this link's mirrors from the metadata log."""
        return self.mirror_topics.follow_documents(now) + self.source_topics.watch()

    # --- the region ---

    def partition_advanced(self, partition: TopicPartition, now: Instant) -> Effects:
        return self.mirror_topics.partition_advanced(partition, now)

    def topics_changed(
        self, changed: Iterable[str], deleted: Iterable[str], now: Instant
    ) -> Effects:
        return self.mirror_topics.topics_changed(changed, deleted, now)

    def brokers_changed(self, now: Instant) -> Effects:
        """A broker of this region was registered or unregistered."""
        return self.connection.brokers_changed(now)

    # --- the stream ---

    def on_dialed(self, now: Instant) -> Effects:
        return self.connection.on_dialed(now)

    def on_lost(self, error: LinkError, because: str, now: Instant) -> Effects:
        return self.connection.on_lost(error, because, now)

    def close(self, now: Instant) -> Effects:
        """The link is deleted."""
        return self.connection.close(now)

    def on_open(self, source_cluster_id: str, now: Instant) -> Effects:
        """The source has answered as expected."""
        effects: Effects = [
            *self.stream.open(),
            *self.stream.sender.send(WatchGroups(self.settings.config.group_filters)),
        ]
        effects += self.source_topics.opened()
        effects += self.mirror_topics.opened(now)
        if self.settings.record.source_cluster_id != source_cluster_id:
            effects.append(self._record_source(source_cluster_id))
        return effects + self.source_topics.tried(now)

    def on_closed(self, now: Instant) -> Effects:
        """The stream was lost, or could not be opened."""
        self.stream.close()
        return self.mirror_topics.closed(now) + self.source_topics.closed(now)

    def _record_source(self, source_cluster_id: str) -> object:
        """From now on only this region is accepted as the source."""
        known = self.settings.record
        record = LinkRecord(
            known.name, known.link_id, source_cluster_id, known.configs, known.created_at
        )
        item = DocumentChange(
            kind=LINK_KIND,
            name=self.name,
            body=record.encode(),
            expected_version=self.settings.version,
        )
        return self._region.propose(PutDocuments((item,)), self._on_source_recorded)

    def _on_source_recorded(self, result: object, now: Instant) -> Effects:
        if isinstance(result, Refusal):
            return [Changed(f"link {self.name}", "source not recorded", result.because)]
        return []

    def on_frame(self, frame: Frame, now: Instant) -> Effects:
        self.connection.frame_received()
        if self.connection.phase is Phase.GREETING:
            return self.connection.on_greeting(frame, now)
        match frame:
            case Chunk() | Beacon() | Agreed() | Declined():
                return self.stream.on_frame(frame, now)
            case TopicState():
                effects = self.mirror_topics.on_source_state(frame, now)
                return effects + self.source_topics.answered(frame, now)
            case GroupOffsets():
                return self.groups.on_offsets(frame, now)
            case _:
                return []  # a newer source may send frames that this release does not know
