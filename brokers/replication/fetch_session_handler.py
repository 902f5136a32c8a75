"""The follower's side of a fetch session: what the leader has been told, and what it must be told next (KIP-227)."""

from dataclasses import dataclass, field
from uuid import UUID

from brokers.replication.fetch_sessions import EPOCH_MAX, FULL, Key
from brokers.replication.partition_fetch import PartitionFetch
from brokers.replication.settings import ReplicationSettings
from brokers.wire.messages.fetch import FetchRequest, FetchTopic, ForgottenTopic


@dataclass(slots=True)
class FetchSessionHandler:
    """`members` are asked for, `listed` are those the leader knows of; the rest is how to get from one to the other."""

    members: dict[Key, PartitionFetch] = field(default_factory=dict)
    listed: dict[Key, None] = field(default_factory=dict)
    _session_id: int = 0
    _epoch: int = FULL
    _to_list: dict[Key, None] = field(default_factory=dict)
    _to_forget: dict[Key, None] = field(default_factory=dict)

    def put(self, following: PartitionFetch) -> None:
        """Ask for it with the next request: it is new here, or its offsets are."""
        self.members[following.key] = following
        self._to_list[following.key] = None
        self._to_forget.pop(following.key, None)

    def take_out(self, key: Key) -> None:
        """Ask for it no more."""
        self.members.pop(key, None)
        self._to_list.pop(key, None)
        if key in self.listed:
            self._to_forget[key] = None

    def meant(self, key: Key) -> PartitionFetch | None:
        """Who an answer is for. One that was moved, or put in anew, since it was listed here is not asked for yet: the
        answer is to an older question.
        """
        if key not in self.listed or key in self._to_list:
            return None
        return self.members.get(key)

    def reset(self) -> None:
        """The session is lost, or may be: the next request says everything, and ends the one that there was."""
        self._epoch = FULL
        self.listed.clear()
        self._to_list.clear()
        self._to_forget.clear()

    def opened(self, session_id: int) -> None:
        """A request was answered; a leader that keeps no sessions answers with id 0."""
        self._session_id = session_id
        if session_id == 0:
            self.reset()
        else:
            self._epoch = 1 if self._epoch == EPOCH_MAX else self._epoch + 1

    def fill(self, request: FetchRequest, settings: ReplicationSettings) -> None:
        """What has to be said is in the request then, and counts as said."""
        request.session_id, request.session_epoch = self._session_id, self._epoch
        keys = list(self.members) if self._epoch == FULL else list(self._to_list)
        topics: dict[UUID, FetchTopic] = {}
        for key in keys:
            topic = topics.get(key[0])
            if topic is None:
                topic = topics[key[0]] = FetchTopic(topic_id=key[0])
                request.topics.append(topic)
            topic.partitions.append(self.members[key].item(settings))
            self.listed[key] = None
        forgotten: dict[UUID, ForgottenTopic] = {}
        for key in self._to_forget:
            gone = forgotten.get(key[0])
            if gone is None:
                gone = forgotten[key[0]] = ForgottenTopic(topic_id=key[0])
                request.forgotten_topics_data.append(gone)
            gone.partitions.append(key[1])
            self.listed.pop(key, None)
        self._to_list.clear()
        self._to_forget.clear()
