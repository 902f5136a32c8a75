"""Promotions, failovers and reversals of a link's mirror topics: of one at once, of several by a list.

A command of several topics is written to the metadata log first, in one proposal (`records/stop_list.py`): so all are
stopped or none, whatever crashes, and however many proposals that takes. The link coordinator stops what the list has,
under the command's decision id and reason, and removes it when nothing is left; whoever becomes link coordinator
meanwhile goes on. A mirror's record tells whether the mirror is left, and each step replaces the version of it that is
known. So a topic is stopped once, and not after somebody has cancelled that.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.document_commands import PutDocuments
from linker.control.failover import Answered, MirrorFailover
from linker.control.link_settings import LinkSettings
from linker.control.mirror_refusals import (
    changed_meanwhile,
    coordinated_elsewhere,
    deleted_meanwhile,
    overtaken,
)
from linker.control.mirror_topic import MirrorTopic
from linker.errors import LinkRefusal
from linker.records.mirror_record import CutKind
from linker.records.mirror_state import TRANSITIONS, MirrorTrigger
from linker.records.stop_list import (
    STOP_LIST_KIND,
    ListedTopic,
    Stop,
    StopList,
    decode_stop_list,
    in_parts,
    listed,
    put,
    removals,
)
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 1_000


@dataclass(slots=True)
class _Open:
    """A list of the metadata log. Who asked is told of what was `refused` when no crash can lead to another end."""

    list: StopList
    left: dict[str, ListedTopic]
    refused: dict[str, LinkRefusal] = field(default_factory=dict)
    is_closing: bool = False


_Waiting: TypeAlias = dict[tuple[str, str], Answered]  # by decision id and topic


def trigger_of(kind: CutKind) -> MirrorTrigger:
    """What a command of this kind does to a mirror's state."""
    if kind.is_reversal:
        return MirrorTrigger.REVERSE
    return MirrorTrigger.PROMOTE if kind.is_proven else MirrorTrigger.FAILOVER


class StopLists:
    """Of one link. Only the link coordinator has lists open."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        mirrors: Mapping[str, MirrorTopic],
        failovers: Mapping[str, MirrorFailover],
    ) -> None:
        self._region = region
        self._link = link
        self._mirrors = mirrors
        self._failovers = failovers
        self._open: dict[str, _Open] = {}
        self._waiting: _Waiting = {}  # who asked here

    @property
    def names(self) -> list[str]:
        """Of the documents in the metadata log."""
        return list(self._open)

    def stop_of(self, topic: str) -> Stop | None:
        """The command by which a mirror is to be stopped, and which has not come to it; None if there is none."""
        found = (one.list.stop for one in self._open.values() if topic in one.left)
        return next(found, None)

    @property
    def left(self) -> list[tuple[Stop, int]]:
        """The commands that have not come to all of their topics, each with the number of those."""
        found = Counter[Stop]()
        for one in self._open.values():
            found[one.list.stop] += len(one.left)
        return [(stop, count) for stop, count in found.items() if count]

    # --- what operators ask ---

    def is_asked(self, decision_id: str) -> bool:
        """Whether a command of several topics has this id, and is under way."""
        asked = {each for each, _ in self._waiting}
        return decision_id in asked | {
            one.list.stop.asked.decision_id for one in self._open.values()
        }

    def begin(self, topic: str, stop: Stop, answered: Answered, now: Instant) -> Effects:
        """Of one topic, at once. A promotion and a reversal are answered when they are pending."""
        failover = self._failovers[topic]
        if stop.kind.is_proven:
            return failover.promote(stop.kind, stop.timeout_ms, stop.asked, answered, now)
        return failover.failover(stop.asked, answered, now)

    def to_list(self, stop: Stop, mirrors: Iterable[MirrorTopic]) -> list[MirrorTopic]:
        """Those to write down before any is stopped; empty where there are not several."""
        found = [one for one in mirrors if self._can_begin(one, stop) and self._is_new(one, stop)]
        return found if len(found) > 1 else []

    def _can_begin(self, mirror: MirrorTopic, stop: Stop) -> bool:
        record = mirror.record
        is_possible = (record.state, trigger_of(stop.kind)) in TRANSITIONS
        return is_possible and mirror.is_made and not record.halted and record.cut is None

    def _is_new(self, mirror: MirrorTopic, stop: Stop) -> bool:
        known = self.stop_of(mirror.topic)
        return not mirror.is_halted and (known is None or known.kind is not stop.kind)

    def expect(self, topic: str, stop: Stop, answered: Answered, now: Instant) -> Effects:
        """A topic that `write` lists; `answered` is as of `begin`."""
        self._waiting[stop.asked.decision_id, topic] = answered
        return []

    def write(self, stop: Stop, mirrors: Sequence[MirrorTopic]) -> Effects:
        """From this proposal on, all of them are stopped whatever crashes."""
        records = [one.record for one in mirrors]
        lists = list(in_parts(self._link.name, stop, records))
        written = partial(self._on_written, lists)
        return [self._region.propose(PutDocuments(tuple(map(put, lists))), written)]

    def _on_written(self, lists: Sequence[StopList], result: object, now: Instant) -> Effects:
        if not isinstance(result, Refusal):
            return self.follow([one.name for one in lists], now)
        effects: Effects = []
        for one in lists:
            for each in one.topics:
                effects += self._answer(one, each.topic, changed_meanwhile(each.topic, result), now)
        return effects

    def _answer(
        self, stop_list: StopList, topic: str, refusal: LinkRefusal | None, now: Instant
    ) -> Effects:
        answered = self._waiting.pop((stop_list.stop.asked.decision_id, topic), None)
        return answered(refusal, now) if answered is not None else []

    # --- the metadata log ---

    def coordinator_changed(self, now: Instant) -> Effects:
        """This broker has become the link coordinator, or is it no longer."""
        if self._region.is_coordinator:
            return self.follow(None, now)
        self._open.clear()
        waiting, self._waiting = self._waiting, {}
        return [
            effect
            for (_, topic), answered in waiting.items()
            for effect in answered(coordinated_elsewhere(topic), now)
        ]

    def follow(self, names: Iterable[str] | None, now: Instant) -> Effects:
        """These documents may be new, or removed; None: all of this link."""
        if not self._region.is_coordinator:
            return []
        documents = self._region.view.image.documents
        if names is None:
            names = [name for kind, name in documents if kind == STOP_LIST_KIND]
        effects: Effects = []
        for name in names:
            document = documents.get((STOP_LIST_KIND, name))
            if document is None:
                effects += self._close(name, now)
            elif name not in self._open:
                found = decode_stop_list(document.body)
                effects += self._go_on(found, now) if found.link == self._link.name else []
        return effects

    def mirrors_changed(self, topics: Collection[str]) -> Effects:
        """The records of these mirrors are new, or gone."""
        effects: Effects = []
        for one in list(self._open.values()):
            found = [each for each in topics if each in one.left]
            for topic in found:
                if not self._is_left(one.left[topic]):
                    del one.left[topic]
            effects += self._close_if_done(one) if found else []
        return effects

    def _is_left(self, topic: ListedTopic) -> bool:
        mirror = self._mirrors.get(topic.topic)
        return mirror is not None and topic.is_left(mirror.record)

    def _close(self, name: str, now: Instant) -> Effects:
        """It is removed: what was refused is not done later by anybody."""
        one = self._open.pop(name, None)
        if one is None:
            return []
        refused = one.refused.items()
        return [
            each
            for topic, refusal in refused
            for each in self._answer(one.list, topic, refusal, now)
        ]

    def _close_if_done(self, one: _Open) -> Effects:
        if one.left or one.is_closing:
            return []
        one.is_closing = True
        (change,) = removals([one.list.name])
        return self._region.put(change, partial(self._on_removed, one))

    def _on_removed(self, one: _Open, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is None:
            return self.follow([one.list.name], now)
        one.is_closing = False
        self._region.timers.set(now + RETRY_MS, partial(self._remove_again, one))
        return []

    def _remove_again(self, one: _Open, now: Instant) -> Effects:
        is_open = self._open.get(one.list.name) is one
        return self._close_if_done(one) if is_open else []

    # --- the topics of a list ---

    def _go_on(self, stop_list: StopList, now: Instant) -> Effects:
        """All at once: each proposal carries as many as it may."""
        one = _Open(stop_list, {each.topic: each for each in stop_list.topics})
        self._open[stop_list.name] = one
        effects: Effects = []
        for each in stop_list.topics:
            effects += self._begin(one, each, now)
        return effects + self._close_if_done(one)

    def _begin(self, one: _Open, each: ListedTopic, now: Instant) -> Effects:
        """Or find that it is not left: it was stopped already, is gone, or somebody has decided otherwise."""
        if self._open.get(one.list.name) is not one:
            return []
        if self._is_left(each):
            return self.begin(each.topic, one.list.stop, partial(self._on_answered, one, each), now)
        one.left.pop(each.topic, None)
        refusal = self._otherwise(one.list.stop, each.topic)
        return self._answer(one.list, each.topic, refusal, now) + self._close_if_done(one)

    def _otherwise(self, stop: Stop, topic: str) -> LinkRefusal | None:
        """What became of a topic that is not left; None if it is what was asked for."""
        mirror = self._mirrors.get(topic)
        if mirror is None:
            return deleted_meanwhile(topic)
        is_done = listed(mirror.record).decision_id == stop.asked.decision_id
        return None if is_done else overtaken(mirror)

    def _on_answered(
        self, one: _Open, each: ListedTopic, refusal: LinkRefusal | None, now: Instant
    ) -> Effects:
        if refusal is None or self._open.get(one.list.name) is not one:
            return self._answer(one.list, each.topic, refusal, now)
        if each.topic not in one.left:
            return self._answer(one.list, each.topic, refusal, now)
        mirror = self._mirrors.get(each.topic)
        if mirror is not None and self._is_left(each) and self._can_begin(mirror, one.list.stop):
            # Another command is in its way, or nobody knows what the metadata log holds.
            self._region.timers.set(now + RETRY_MS, partial(self._begin, one, each))
            return []
        del one.left[each.topic]
        one.refused[each.topic] = refusal
        return self._close_if_done(one)
