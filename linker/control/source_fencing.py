"""A topic that another region has taken over is read-only here: its source is fenced by the link's generation.

Kafka and its mirroring tools have no such thing: an old primary that returns goes on taking writes that nobody sees.
The broker that hears of it takes no write from then on, also while the region has no quorum that could write it down.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final
from uuid import UUID

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    SetTopicWriter,
    Superseder,
    superseded_by,
)
from brokers.metadata.image.image import ImageDelta
from brokers.region import HoldWrites
from linker.control.write_holds import WriteHolds
from linker.frames import Superseded, SupersededTopic
from linker.records.mirror_record import MIRROR_KIND, decode_mirror
from linker.records.mirror_state import MirrorState
from linker.records.unfenced_topic import UNFENCED_KIND, unfenced_generation
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 500
GENERATION_MAX: Final = 2**31 - 1
# Records that say what this region knows: its own takeover of the topic, and an operator's word.
_DECIDED_UPON: Final = (MIRROR_KIND, UNFENCED_KIND)
_OWNER: Final = "superseded"  # of its holds
_CLUSTER_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,249}")


class SourceFencing:
    """One per broker. `is_enabled`: `link.fencing.enable` of the node."""

    def __init__(self, region: RegionClient, holds: WriteHolds, *, is_enabled: bool) -> None:
        self._region = region
        self._holds = holds
        self.is_enabled = is_enabled
        self._heard: dict[
            str, tuple[SupersededTopic, str]
        ] = {}  # not read-only yet; by which region
        self._asking: set[str] = set()
        self._retries = 0  # of topics, that will be asked for again
        self._settled: list[Callable[[Instant], Effects]] = []

    def superseded(self, frame: Superseded, cluster_id: str, now: Instant) -> Effects:
        """Region `cluster_id`, which mirrors topics of this one, has taken these over."""
        if not self.is_enabled or not _CLUSTER_ID.fullmatch(cluster_id):
            return []
        return self._take(dict.fromkeys(frame.topics), cluster_id, now)

    def when_settled(self, then: Callable[[Instant], Effects], now: Instant) -> Effects:
        """`then` runs once everything that was said to be taken over is read-only in the metadata log."""
        if not self._asking and not self._retries:
            return then(now)
        self._settled.append(then)
        return []

    def _look(self, now: Instant) -> Effects:
        if self._asking or self._retries:
            return []
        settled, self._settled = self._settled, []
        return [effect for then in settled for effect in then(now)]

    def _take(self, topics: Iterable[SupersededTopic], cluster_id: str, now: Instant) -> Effects:
        """Hold writes first, then have the controller write it down."""
        known = len(self._heard)
        effects = [effect for topic in topics for effect in self._fence(topic, cluster_id, now)]
        return [self._hold(), *effects] if len(self._heard) > known else effects

    def _fence(self, topic: SupersededTopic, cluster_id: str, now: Instant) -> Effects:
        if topic.topic in self._asking or not self._is_news(topic):
            return []
        self._asking.add(topic.topic)
        heard = self._heard.get(topic.topic)
        if heard is None or heard[0].generation < topic.generation:
            self._heard[topic.topic] = topic, cluster_id
        superseder = Superseder(topic.generation, cluster_id)
        image, name = self._region.view.image, topic.topic
        decided_upon = {(kind, name): image.document_version(kind, name) for kind in _DECIDED_UPON}
        command = SetTopicWriter(
            topic=name,
            expected_writer=None,
            writer=superseded_by(superseder),
            topic_id=UUID(bytes=topic.topic_id),
            expected_versions=decided_upon,
        )
        return self._region.set_writer(command, partial(self._on_fenced, topic, cluster_id))

    def _hold(self) -> HoldWrites:
        """Writes to what was heard of wait, until the topic is read-only or that is overruled."""
        topics = frozenset(UUID(bytes=one.topic_id) for one, _ in self._heard.values())
        by = ", ".join(dict.fromkeys(by for _, by in self._heard.values()))
        return self._holds.hold(_OWNER, topics, f"region {by} has taken the topic over")

    def _is_news(self, topic: SupersededTopic) -> bool:
        """Whether producers write the topic here, by no later decision than that of the other region."""
        image = self._region.view.image
        placed = image.topics_by_name.get(topic.topic)
        if placed is None or placed.is_internal or placed.writer is not None:
            return False
        if placed.id.bytes != topic.topic_id or not 0 < topic.generation <= GENERATION_MAX:
            return False
        known = max(
            self._generation(topic.topic), unfenced_generation(image, topic.topic, placed.id)
        )
        return topic.generation > known

    def _generation(self, topic: str) -> int:
        """The generation in which this region took the topic over itself; 0 if it did not.

        It has taken it over from the cut on: its producers write before the record is STOPPED.
        """
        document = self._region.view.image.documents.get((MIRROR_KIND, topic))
        if document is None:
            return 0
        record = decode_mirror(topic, document.body)
        is_cut = record.state is MirrorState.PENDING_STOPPED and record.cut is not None
        return record.generation if is_cut or record.state is MirrorState.STOPPED else 0

    def _on_fenced(
        self, topic: SupersededTopic, cluster_id: str, result: object, now: Instant
    ) -> Effects:
        self._asking.discard(topic.topic)
        if isinstance(result, Refusal):
            self._retries += 1
            self._region.timers.set(now + RETRY_MS, partial(self._retry, topic, cluster_id))
            return []
        why = f"region {cluster_id} has taken it over, in generation {topic.generation}"
        return [Changed(f"topic {topic.topic}", "read-only", why), *self._look(now)]

    def _retry(self, topic: SupersededTopic, cluster_id: str, now: Instant) -> Effects:
        self._retries -= 1
        return self._take([topic], cluster_id, now) + self._look(now)

    def follow(self, delta: ImageDelta) -> Effects:
        """What is read-only by now needs no hold; what an operator said of a deleted topic is of no use."""
        settled = [name for name, (topic, _) in self._heard.items() if not self._is_news(topic)]
        for name in settled:
            del self._heard[name]
        return ([self._hold()] if settled else []) + self._forget(delta.topics_deleted)

    def _forget(self, topics: Iterable[str]) -> Effects:
        """One that is left, as it was changed meanwhile, has no effect: it is of another topic id."""
        image = self._region.view.image
        versions = {name: image.document_version(UNFENCED_KIND, name) for name in topics}
        changes = tuple(
            DocumentChange(kind=UNFENCED_KIND, name=name, body=None, expected_version=version)
            for name, version in versions.items()
            if version
        )
        if not changes or not self._region.is_coordinator:
            return []
        return [self._region.propose(PutDocuments(changes), lambda *_: [])]
