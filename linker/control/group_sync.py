"""Consumer groups at the destination: the source's committed offsets, never past the mirror's data (P6).

The offset committed here is min(source's commit, high watermark). It is computed again as the mirror advances, and
committed only while the group has no members in this region. A commit below the mirror's log start is not copied, where
KIP-1279 would move it up: the group would skip records that it has not read, and nobody would know.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.ids import Instant, Offset, OffsetAndMetadata, TopicPartition
from brokers.region import CommitOffsets, DeleteOffsets, OffsetsPlaced
from linker.control.group_clamp import STAMP_NOW, Offsets, clamp
from linker.control.link_settings import LinkSettings
from linker.control.mirror_reports import MirrorReports
from linker.errors import TaskError
from linker.filters import admits
from linker.frames import GroupOffsets
from linker.region_client import Effects, RegionClient

# Commits of a busy group are made together; clamped ones are computed again this often.
GATHER_MS: Final = 100
# A group whose commit was refused, as while its coordinator moves, is asked again after this long.
RETRY_MS: Final = 500
# A group without members here would lose its offsets (KIP-211), though it is used at the source: they are renewed.
RENEW_MS: Final = 24 * 3_600_000


class GroupSync:
    """All groups of one link, by their names in this region."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        mirror_of: Callable[[str], str | None],
        reports: Callable[[], MirrorReports],
        ask_again: Callable[[], Effects],
    ) -> None:
        """`mirror_of` returns the topic that takes the offsets of a source topic, or None. `ask_again` has the source
        send all offsets once more."""
        self.in_use: dict[str, None] = {}  # groups that have members in this region
        self.refused: dict[str, KafkaError] = {}
        self.active_at_source: dict[str, bool] = {}  # whether it has members there, as last heard
        # Committed offsets at the source that lie below the log starts of the mirrors: they are not copied.
        self.before_start: dict[str, list[tuple[TopicPartition, Offset]]] = {}
        # The groups in `before_start` of which the operator's log knows.
        self._logged: set[str] = set()
        self._region = region
        self._link = link
        self._mirror_of = mirror_of
        self._reports = reports
        self._ask_again = ask_again
        self._asking_again: int | None = None  # the timer
        # Source topics whose offsets it has sent, and may not send again.
        self._forgotten: set[str] = set()
        # What was committed here last, and when; the group may have moved since.
        self._placed: dict[str, dict[TopicPartition, tuple[Offset, Instant]]] = {}
        self._moved: dict[str, None] = {}  # groups that have had members here since then
        self._is_asking = self._asks_again = False  # how far the mirrors are
        self._committed: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self._deleted: dict[str, set[TopicPartition]] = {}  # at the source, and not here yet
        self._dirty: dict[str, None] = {}
        self._committing: dict[str, None] = {}
        self._resting: dict[str, Instant] = {}  # until when what was not committed is not tried
        self._timer: int | None = None
        self._due: Instant = 0
        self._renewal: int | None = None
        self._settled: list[Callable[[Instant], Effects]] = []

    def on_offsets(self, frame: GroupOffsets, now: Instant) -> Effects:
        is_wanted = admits(self._link.config.group_filters, frame.group)
        if not is_wanted or not self._region.is_coordinator:
            return []  # it was sent before the filters, or the coordinator, changed
        group = self._link.config.group_prefix + frame.group
        if frame.is_active is not None:
            self.active_at_source[group] = frame.is_active
        if not frame.offsets and not frame.deleted:
            return []
        committed = self._committed.setdefault(group, {})
        committed.update(frame.offsets)
        gone = self._deleted.setdefault(group, set())
        gone.difference_update(frame.offsets)
        # What this link has not committed here since it began is left to expire (KIP-211): it is not renewed.
        gone.update(key for key in frame.deleted if committed.pop(key, None) is not None)
        self._dirty[group] = None
        self._arm(now, GATHER_MS)
        if self._renewal is None:
            self._renewal = self._region.timers.set(now + RENEW_MS, self._renew)
        return []

    def narrow(self) -> None:
        """The filters are new: the offsets of groups that they leave out are not copied any more."""
        config = self._link.config
        filters, prefix = config.group_filters, config.group_prefix
        for group in list(self._committed):
            if not admits(filters, group.removeprefix(prefix)):
                self._forget_group(group)

    def of_topic(self, source_topic: str) -> Iterator[tuple[str, TopicPartition, Offset]]:
        """(group, partition of the source, offset) of what is committed at the source, as last heard."""
        for group, offsets in sorted(self._committed.items()):
            for key, committed in sorted(offsets.items()):
                if key.topic == source_topic:
                    yield group, key, committed.offset

    def placed(self, group: str, mirror: TopicPartition) -> Offset:
        """Where the group stands here by the last commit of this link; -1: it has none."""
        return self._placed.get(group, {}).get(mirror, (-1, 0))[0]

    def forget_all(self) -> None:
        """Another broker is the link coordinator: the source's brokers send it everything anew."""
        self._forgotten.clear()
        for group in list(self._committed):
            self._forget_group(group)

    def _forget_group(self, group: str) -> None:
        for known in (
            self._committed, self._deleted, self._dirty, self._placed, self._moved, self._resting,
            self.in_use, self.refused, self.active_at_source, self.before_start,
        ):  # fmt: skip
            known.pop(group, None)
        self._logged.discard(group)

    def mirror_added(self, source_topic: str, now: Instant) -> None:
        """It has a mirror now: what came for it before could not be copied."""
        if source_topic in self._forgotten and self._asking_again is None:
            self._asking_again = self._region.timers.set(now + GATHER_MS, self._on_asking_again)
        self._forgotten.discard(source_topic)
        for group, offsets in self._committed.items():
            if any(key.topic == source_topic for key in offsets):
                self._dirty[group] = None
                self._arm(now, GATHER_MS)

    def forget(self, source_topic: str, mirror: str) -> None:
        """The mirror has ended: a new one of the same name may be another topic, at other offsets; if it is the same
        one, its groups have moved without this link."""
        self._forgotten.add(source_topic)
        for placed in self._placed.values():
            for partition in [one for one in placed if one.topic == mirror]:
                del placed[partition]
        for group, offsets in self._committed.items():
            kept = {key: value for key, value in offsets.items() if key.topic != source_topic}
            self._committed[group] = kept

    def _on_asking_again(self, now: Instant) -> Effects:
        """A source that has watched the topic all the time, for the filters of the link, sends nothing by itself."""
        self._asking_again = None
        return self._ask_again() if self._region.is_coordinator else []

    def _renew(self, now: Instant) -> Effects:
        self._renewal = self._region.timers.set(now + RENEW_MS, self._renew)
        self._dirty.update(dict.fromkeys(self._committed))
        return self.flush(now)

    def settled(self, source_topic: str, now: Instant) -> bool:
        """Whether every commit received for this topic is committed here, as far as its mirror goes, except for groups
        in use. For a mirror that has caught up that is in full, but for commits beyond the source's log, which Kafka
        takes, too."""
        return not (self._committing or self._is_asking) and not any(
            self._lacks(group, source_topic, now)
            for group in self._dirty
            if group not in self.in_use
        )

    def _lacks(self, group: str, source_topic: str, now: Instant) -> bool:
        if any(key.topic == source_topic for key in self._deleted.get(group, ())):
            return True
        return any(
            group in self._moved or self._is_behind(group, key, committed.offset, now)
            for key, committed in self._committed[group].items()
            if key.topic == source_topic
        )

    def _is_behind(self, group: str, key: TopicPartition, committed: Offset, now: Instant) -> bool:
        """Whether the group does not stand where the mirror lets it."""
        partition = self._mirror_place(key)
        state = self._reports().of(partition, now) if partition is not None else None
        if partition is None or state is None or state.log_end_offset < 0:
            return True
        if committed < state.log_start_offset:
            return False  # it is not carried
        target = clamp(committed, state.log_start_offset, state.high_watermark)
        return self.placed(group, partition) != target

    def settle(self, then: Callable[[Instant], Effects], now: Instant) -> Effects:
        """Commit what can be committed now; `then` runs when all commits are answered.

        Groups that had members a moment ago are tried, too: they may have left.
        """
        self._resting.clear()
        self._settled.append(then)
        return self.flush(now)

    def flush(self, now: Instant) -> Effects:
        """Commit for every group that may be behind, as far as the mirrors' data goes, which their leaders know."""
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
        if self._is_asking:
            self._asks_again = True
            return []
        self._is_asking, self._asks_again = True, False
        return self._reports().collect(self._mirrors_of(self._dirty), self._on_collected, now)

    def _mirrors_of(self, groups: Iterable[str]) -> list[str]:
        topics = dict.fromkeys(key.topic for group in groups for key in self._committed[group])
        return [mirror for topic in topics if (mirror := self._mirror_of(topic)) is not None]

    def _on_collected(self, now: Instant) -> Effects:
        self._is_asking = False
        if self._asks_again:
            return self.flush(now)  # the mirrors may be further than they have said
        effects: Effects = []
        for group in list(self._dirty):
            if group not in self._committing and self._resting.get(group, now) <= now:
                effects += self._delete(group, now) or self._commit(group, now)
        if self._dirty:
            due = min(self._resting.get(group, now) for group in self._dirty)
            self._arm(now, max(GATHER_MS, due - now))
        return effects + self._settle(now)

    def _settle(self, now: Instant) -> Effects:
        if self._committing or self._is_asking:
            return []
        settled, self._settled = self._settled, []
        return [effect for then in settled for effect in then(now)]

    def _commit(self, group: str, now: Instant) -> Effects:
        targets, complete = self._targets(group, now)
        if complete:
            del self._dirty[group]
        effects = self._log_before_start(group)
        placed = self._placed.get(group, {})
        behind = {
            key: value
            for key, value in targets.items()
            if key not in placed
            or group in self._moved
            or placed[key][0] != value.offset
            or now - placed[key][1] >= RENEW_MS
        }
        if not behind:
            self.in_use.pop(group, None)
            return effects
        self._dirty[group] = None  # until the commit is answered
        self._committing[group] = None
        return [
            *effects,
            self._region.ask(
                lambda ticket: CommitOffsets(ticket, group, behind),
                partial(self._on_placed, group, behind),
            ),
        ]

    def _delete(self, group: str, now: Instant) -> Effects:
        """What the source's group has no offset for any more; its commits follow once that is answered."""
        placed = self._placed.get(group, {})
        deleted = {
            mirror: key
            for key in self._deleted.get(group, ())
            if (mirror := self._mirror_place(key)) is not None and mirror in placed
        }
        if not deleted:
            self._deleted.pop(group, None)
            return []
        self._committing[group] = None
        partitions = tuple(sorted(deleted))
        return [
            self._region.ask(
                lambda ticket: DeleteOffsets(ticket, group, partitions),
                partial(self._on_deleted, group, deleted),
            )
        ]

    def _mirror_place(self, source: TopicPartition) -> TopicPartition | None:
        topic = self._mirror_of(source.topic)
        return TopicPartition(topic, source.partition) if topic is not None else None

    def _on_deleted(
        self,
        group: str,
        deleted: Mapping[TopicPartition, TopicPartition],
        answer: OffsetsPlaced,
        now: Instant,
    ) -> Effects:
        """`deleted`: the source's partitions by those of the mirrors."""
        if answer.error is KafkaError.NONE and group in self._deleted:
            self._deleted[group].difference_update(deleted.values())
            for partition in deleted:
                self._placed.get(group, {}).pop(partition, None)
        return self._on_placed(group, {}, answer, now)

    def _targets(self, group: str, now: Instant) -> tuple[Offsets, bool]:
        """What the group's offsets here should be, and whether that is all the source committed.

        An offset below the mirror's log start is not carried: moved up to it, the group would skip what lies between.
        """
        targets, complete = {}, True
        self.before_start[group] = []
        for key, committed in self._committed[group].items():
            topic = self._mirror_of(key.topic)
            if topic is None:
                continue
            partition = TopicPartition(topic, key.partition)
            state = self._reports().of(partition, now)
            if state is None or state.log_end_offset < 0:  # offline
                complete = False
                continue
            if committed.offset < state.log_start_offset:
                self.before_start[group].append((partition, committed.offset))
                continue
            target = clamp(committed.offset, state.log_start_offset, state.high_watermark)
            complete = complete and target >= committed.offset
            leader_epoch = committed.leader_epoch if target == committed.offset else -1
            targets[partition] = committed._replace(
                offset=target, leader_epoch=leader_epoch, committed_at=STAMP_NOW
            )
        return targets, complete

    def _log_before_start(self, group: str) -> Effects:
        """Once for each group whose offsets stay behind."""
        found = self.before_start[group]
        if not found:
            del self.before_start[group]
            self._logged.discard(group)
            return []
        if group in self._logged:
            return []
        self._logged.add(group)
        places = ", ".join(f"{offset} of {partition}" for partition, offset in found)
        what = f"link {self._link.name} group {group}"
        return [Changed(what, "not carried", f"the mirror begins after {places}")]

    def _skip(self, group: str, now: Instant) -> Effects:
        known, self.in_use[group] = group in self.in_use, None
        self._resting[group] = now + self._period()
        self._moved[group] = None  # its members may commit otherwise
        if known:
            return []
        because = "the group has members here; its offsets are its own until they leave"
        return [Changed(f"link {self._link.name} group {group}", "skipped", because)]

    def _on_placed(
        self, group: str, offsets: Offsets, answer: OffsetsPlaced, now: Instant
    ) -> Effects:
        del self._committing[group]
        effects: Effects = []
        if group not in self._committed:
            return self._settle(now)  # it is not copied any more
        if answer.error is KafkaError.NONE:
            placed = self._placed.setdefault(group, {})
            placed.update({key: (value.offset, now) for key, value in offsets.items()})
            self.in_use.pop(group, None)
            self.refused.pop(group, None)
            if offsets:
                self._moved.pop(group, None)
        elif answer.error is KafkaError.NON_EMPTY_GROUP:
            effects += self._skip(group, now)
        else:
            self.in_use.pop(group, None)  # nobody has said that its members are still there
            effects += self._not_carried(group, answer.error, now)
        self._arm(now, max(GATHER_MS, self._resting.get(group, now) - now))
        return effects + self._settle(now)

    def _not_carried(self, group: str, error: KafkaError, now: Instant) -> Effects:
        self._resting[group] = now + RETRY_MS
        if self.refused.get(group) is error:
            return []
        self.refused[group] = error
        return [Changed(f"link {self._link.name} group {group}", "not carried", error.name)]

    def _period(self) -> int:
        return self._link.config.number("consumer.offset.sync.ms")

    def _arm(self, now: Instant, pause_ms: int) -> None:
        """The earliest counts: no group waits for another one that rests."""
        due = now + pause_ms
        if self._timer is not None and due < self._due:
            self._region.timers.cancel(self._timer)
            self._timer = None
        if self._timer is None:
            self._timer, self._due = self._region.timers.set(due, self._on_time), due

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return self.flush(now)

    @property
    def task_error(self) -> TaskError:
        if self.refused:
            return TaskError.INTERNAL_ERROR
        return TaskError.CONSUMER_GROUP_IN_USE_ERROR if self.in_use else TaskError.NO_ERROR
