"""How long the hole ledger and the decision records outlive their topics; and lists of topics to stop, their links.

Whoever audits a copy of a topic that was deleted still needs to know what its mirror skipped. A topic that is made anew
under the same name has a ledger of its own: entries name the topic's id.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from brokers.ids import Instant
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from linker.records.decision import DECISION_KIND, all_decisions
from linker.records.hole_ledger import LEDGER_KINDS, Hole, decode_hole, put
from linker.records.stop_list import left_behind, removals
from linker.region_client import Effects, RegionClient

CHECK_INTERVAL_MS: Final = 3_600_000


class LedgerRetention:
    """Marks the entries of deleted topics, and removes them `retention_ms` later; -1 keeps them for ever.

    A decision record is removed so long after the decision, unless it is the last one about a topic that exists.
    """

    def __init__(self, region: RegionClient, retention_ms: int) -> None:
        self._region = region
        self._retention_ms = retention_ms

    def begin(self, now: Instant) -> Effects:
        """From now on at intervals, too: a topic may have been deleted while no node was there to see it."""
        self._region.timers.set(now + CHECK_INTERVAL_MS, self.begin)
        return self.check(now) if self._region.is_coordinator else []

    def check(self, now: Instant) -> Effects:
        """A refused change is made by the next check."""
        lists = removals(left_behind(self._region.view.image))
        changes = (*self._changes(now), *self._decisions(now), *lists)
        return [self._region.propose(PutDocuments(changes), lambda _, __: [])] if changes else []

    def _changes(self, now: Instant) -> Iterator[DocumentChange]:
        for (kind, name), document in list(self._region.view.image.documents.items()):
            if kind not in LEDGER_KINDS:
                continue
            hole = decode_hole(document.body)
            if hole.deleted_at is None:
                if not self._exists(hole):
                    yield put(replace(hole, deleted_at=now))
                    yield DocumentChange(kind=kind, name=name, body=None)
            elif 0 <= self._retention_ms <= now - hole.deleted_at:
                yield DocumentChange(kind=kind, name=name, body=None)

    def _decisions(self, now: Instant) -> Iterator[DocumentChange]:
        image = self._region.view.image
        decisions = list(all_decisions(image))
        last = {
            one.topic_id: one.name for one in sorted(decisions, key=lambda each: each.generation)
        }
        for one in decisions:
            is_last = last[one.topic_id] == one.name and one.topic_id in image.topics_by_id
            if not is_last and 0 <= self._retention_ms <= now - one.done_at:
                yield DocumentChange(kind=DECISION_KIND, name=one.name, body=None)

    def _exists(self, hole: Hole) -> bool:
        topic = self._region.view.image.topics_by_name.get(hole.partition.topic)
        return topic is not None and hole.is_of(topic.id)
