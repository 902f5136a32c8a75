"""The follower's side of a fetch session: what the leader knows, and what the next request adds (KIP-227)."""

from dataclasses import dataclass, field
from uuid import UUID

from brokers.replication.fetch_sessions import EPOCH_MAX, FULL, Key
from brokers.replication.partition_fetch import PartitionFetch
from brokers.replication.settings import ReplicationSettings
from brokers.wire.messages.fetch import FetchRequest, FetchTopic, ForgottenTopic


@dataclass(slots=True)
class FetchSessionHandler:
    """`partitions` are to be fetched, `listed` are those in the leader's session."""

    partitions: dict[Key, PartitionFetch] = field(default_factory=dict)
    listed: dict[Key, None] = field(default_factory=dict)
    _session_id: int = 0
    _epoch: int = FULL
    _to_add: dict[Key, None] = field(default_factory=dict)
    _to_forget: dict[Key, None] = field(default_factory=dict)

    def add(self, fetch: PartitionFetch) -> None:
        """List the partition in the next request: it or its offsets are new."""
        self.partitions[fetch.key] = fetch
        self._to_add[fetch.key] = None
        self._to_forget.pop(fetch.key, None)

    def remove(self, key: Key) -> None:
        """Remove the partition from the session."""
        self.partitions.pop(key, None)
        self._to_add.pop(key, None)
        if key in self.listed:
            self._to_forget[key] = None

    def fetch_for(self, key: Key) -> PartitionFetch | None:
        """The fetch that a response item is for; None if it was removed or added again since the request was sent."""
        if key not in self.listed or key in self._to_add:
            return None
        return self.partitions.get(key)

    def reset(self) -> None:
        """The session may be lost: the next request is a full one, which also ends the old session."""
        self._epoch = FULL
        self.listed.clear()
        self._to_add.clear()
        self._to_forget.clear()

    def on_response(self, session_id: int) -> None:
        """A response came; its id is 0 if the leader keeps no session."""
        self._session_id = session_id
        if session_id == 0:
            self.reset()
        else:
            self._epoch = 1 if self._epoch == EPOCH_MAX else self._epoch + 1

    def fill(self, request: FetchRequest, settings: ReplicationSettings) -> None:
        """Add the changes of the session to a request that is sent now."""
        request.session_id, request.session_epoch = self._session_id, self._epoch
        keys = list(self.partitions) if self._epoch == FULL else list(self._to_add)
        topics: dict[UUID, FetchTopic] = {}
        for key in keys:
            topic = topics.get(key[0])
            if topic is None:
                topic = topics[key[0]] = FetchTopic(topic_id=key[0])
                request.topics.append(topic)
            topic.partitions.append(self.partitions[key].item(settings))
            self.listed[key] = None
        forgotten: dict[UUID, ForgottenTopic] = {}
        for key in self._to_forget:
            gone = forgotten.get(key[0])
            if gone is None:
                gone = forgotten[key[0]] = ForgottenTopic(topic_id=key[0])
                request.forgotten_topics_data.append(gone)
            gone.partitions.append(key[1])
            self.listed.pop(key, None)
        self._to_add.clear()
        self._to_forget.clear()
