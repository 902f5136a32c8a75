"""The hole ledger of topics that exist no more, without a link and without an event that says so."""

import random
from types import SimpleNamespace
from uuid import UUID

from brokers.ids import TopicPartition
from brokers.metadata.image.image import Document, Image
from brokers.region import Propose
from linker.control.ledger_retention import CHECK_INTERVAL_MS, LedgerRetention
from linker.records.hole_ledger import HOLE_KIND, Hole, HoleCause, decode_hole, put
from linker.region_client import Effects, RegionClient

NOW = 1_800_000_000_000


class Region:
    """Its metadata, changed by what is proposed to it."""

    def __init__(self, *holes: Hole, retention_ms: int) -> None:
        self.image = Image("c")
        for hole in holes:
            self._put(put(hole).name, put(hole).body)
        self.client = RegionClient(SimpleNamespace(image=self.image), random.Random(1))  # type: ignore[arg-type]
        self.client.is_coordinator = True
        self.retention = LedgerRetention(self.client, retention_ms)

    def perform(self, effects: Effects) -> None:
        for effect in effects:
            assert isinstance(effect, Propose)
            for change in effect.command.items:
                self._put(change.name, change.body)

    def _put(self, name: str, body: bytes | None) -> None:
        if body is None:
            del self.image.documents[HOLE_KIND, name]
        else:
            self.image.documents[HOLE_KIND, name] = Document(HOLE_KIND, name, 1, body)

    def deleted(self) -> list[int | None]:
        return [decode_hole(one.body).deleted_at for one in self.image.documents.values()]


def hole(base: int, topic_id: UUID | None = None, deleted_at: int | None = None) -> Hole:
    place = TopicPartition("gone", 0), base, base + 9
    return Hole(*place, HoleCause.SOURCE_LOG_START, 1, topic_id, deleted_at)


def test_a_ledger_without_a_topic_is_marked_when_the_node_starts_whatever_release_wrote_it() -> (
    None
):
    region = Region(hole(0), hole(20, UUID(int=5)), retention_ms=10)
    region.perform(region.retention.begin(NOW))
    assert region.deleted() == [NOW, NOW]
    assert region.retention.check(NOW + 9) == []
    region.perform(region.retention.check(NOW + 10))
    assert region.deleted() == []


def test_it_looks_again_by_itself() -> None:
    region = Region(hole(0, deleted_at=NOW), retention_ms=CHECK_INTERVAL_MS)
    assert region.retention.begin(NOW) == []
    due = NOW + CHECK_INTERVAL_MS
    assert region.client.timers.deadline == due
    for act in region.client.timers.due(due):
        region.perform(act(due))
    assert region.deleted() == []
    assert region.client.timers.deadline == due + CHECK_INTERVAL_MS


def test_two_topics_of_one_name_that_were_deleted_keep_their_entries_apart() -> None:
    first = hole(0, UUID(int=1), NOW)
    region = Region(first, hole(0, UUID(int=2)), retention_ms=-1)
    region.perform(region.retention.check(NOW + 5))
    assert sorted(map(str, region.deleted())) == [str(NOW), str(NOW + 5)]


def test_an_entry_is_what_was_recorded() -> None:
    for one in (hole(3), hole(3, UUID(int=7)), hole(3, UUID(int=7), NOW)):
        body = put(one).body
        assert body is not None
        assert decode_hole(body) == one
