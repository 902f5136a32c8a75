"""What the clients of a region did and were told."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from brokers.effects import Changed
from brokers.ids import BrokerId, LeaderEpoch, Offset, TopicPartition
from brokers.partition.leadership import LATE_EXPANSION
from tests.sim.evidence import Batch
from tests.sim.statements import Acknowledged, Place


@dataclass
class RegionStatements:
    """Values begin with their producer's name and a number: `name:number:`."""

    region: str
    loses: bool = False  # elects uncleanly
    is_compacted: bool = False  # its logs are
    rewrites: bool = False  # what lies at an offset may be another record later
    never_in_sync: frozenset[BrokerId] = frozenset()  # observers of the topics that clients make
    acknowledged: list[Acknowledged] = field(default_factory=list)
    sent: dict[bytes, None] = field(default_factory=dict)
    idempotent: dict[str, bool] = field(default_factory=dict)  # by producer
    # What lies where, as clients were told: by an acknowledgement of all in-sync replicas, or by a fetch.
    known: dict[Place, bytes] = field(default_factory=dict)
    read: dict[Place, bytes] = field(default_factory=dict)
    # What readers make of compacted topics: (reader, partition) -> key -> (offset, value) of the last one.
    tables: dict[tuple[str, TopicPartition], dict[bytes, tuple[Offset, bytes]]] = field(
        default_factory=dict
    )
    reached: dict[tuple[str, TopicPartition], Offset] = field(default_factory=dict)  # by readers
    leaders: dict[tuple[TopicPartition, LeaderEpoch], BrokerId] = field(default_factory=dict)
    # The largest high watermark that a leader told, by its epoch.
    marks: dict[TopicPartition, dict[LeaderEpoch, Offset]] = field(default_factory=dict)
    # To what they may fall back, where another region took the topic over: all of them, or those up to an epoch.
    cuts: Mapping[TopicPartition, Offset] | None = None
    cut_in: dict[TopicPartition, LeaderEpoch] = field(default_factory=dict)
    # Whether a record may be gone, and another one take its place, as a takeover has cut it.
    is_cut: Callable[[TopicPartition, Offset, bytes], bool] = lambda partition, offset, value: False
    committed: dict[tuple[str, TopicPartition], Offset] = field(default_factory=dict)
    is_linked: bool = False  # a link moves its groups while they have no members here
    tried: dict[tuple[str, TopicPartition], Offset] = field(default_factory=dict)  # to commit
    trims: dict[TopicPartition, Offset] = field(default_factory=dict)  # asked for, at most
    # Hears of each, for mirrors of other names.
    on_trim: Callable[[TopicPartition, Offset], None] = lambda partition, offset: None
    # Whether a log may begin there, beyond what was asked: a mirror, by who judges its log starts.
    may_begin: Callable[[TopicPartition, Offset], bool] = lambda partition, start: False
    # Where a mirror began, if not where its source did.
    began: Callable[[TopicPartition], Offset] = lambda partition: 0
    made: dict[str, int] = field(default_factory=dict)  # topic -> partitions it has at least
    dropped: dict[str, None] = field(default_factory=dict)  # topics that are gone
    doubtful: dict[str, None] = field(default_factory=dict)  # nobody knows whether they are
    contradictions: list[tuple[str, str]] = field(default_factory=list)  # invariant, what was told
    # Who judges each batch that a reader gets.
    on_batch_read: Callable[[TopicPartition, Batch], None] = lambda partition, batch: None

    def contradicts(self, invariant: str, told: str) -> None:
        """No region that keeps its invariants would have said so."""
        self.contradictions.append((invariant, told))

    def place(self, partition: TopicPartition, offset: Offset) -> Place:
        return Place(self.region, partition, offset)

    def is_idempotent(self, value: bytes) -> bool:
        return self.idempotent.get(value.partition(b":")[0].decode("latin-1"), False)

    # --- records ---

    def was_stored(self, partition: TopicPartition, offset: Offset, value: bytes) -> None:
        """Acknowledged by every in-sync replica."""
        place = self.place(partition, offset)
        self.acknowledged.append(Acknowledged(value, place))
        self._know(place, value, "acknowledged")

    def was_consumed(
        self, who: str, partition: TopicPartition, key: bytes, offset: Offset, value: bytes
    ) -> None:
        """By somebody who keeps the last one of each key."""
        table = self.tables.setdefault((who, partition), {})
        if offset > table.get(key, (-1, b""))[0]:
            table[key] = offset, value

    def has_reached(self, who: str, partition: TopicPartition, offset: Offset) -> None:
        """Everything below has been read, or was not there."""
        self.reached[who, partition] = max(offset, self.reached.get((who, partition), 0))

    def begins_again(self, who: str, partition: TopicPartition) -> None:
        """A reader has dropped what it had."""
        self.tables.pop((who, partition), None)
        self.reached.pop((who, partition), None)

    def was_read(self, partition: TopicPartition, offset: Offset, value: bytes) -> None:
        place = self.place(partition, offset)
        self.read[place] = value
        self._know(place, value, "read")

    def _know(self, place: Place, value: bytes, how: str) -> None:
        """Whichever replica told it, and whenever, it is the same."""
        before = self.known.setdefault(place, value)
        if before == value or self.rewrites:
            return
        if any(self.is_cut(place.partition, place.offset, each) for each in (before, value)):
            self.known[place] = value
        else:
            told = f"{place.partition}@{place.offset}: known as {before[:40]!r}, {how} as {value[:40]!r}"
            self.contradicts("P2", told)

    def tries_trim(self, partition: TopicPartition, offset: Offset) -> None:
        """What lies below may be gone from now on, and nothing else."""
        self.trims[partition] = max(offset, self.trims.get(partition, 0))
        self.on_trim(partition, offset)

    def told_start(self, partition: TopicPartition, log_start_offset: Offset) -> None:
        """By a leader or a follower."""
        asked = max(self.trims.get(partition, 0), self.began(partition))
        if log_start_offset > asked and not self.may_begin(partition, log_start_offset):
            told = f"{partition} begins at {log_start_offset}, and was to be deleted up to {asked}"
            self.contradicts("P8", told)

    # --- leaders ---

    def told_in_sync(self, partition: TopicPartition, brokers: Iterable[BrokerId]) -> None:
        """By any broker."""
        observers = self.never_in_sync.intersection(brokers)
        if observers and not partition.topic.startswith("__"):
            told = f"{partition} is in sync on {sorted(observers)}, which only observe"
            self.contradicts("observers", told)

    def told_change(self, change: Changed) -> None:
        """By a node, to its operator."""
        if change.to == LATE_EXPANSION:
            self.contradicts("in time", f"{change.what}: {change.why}")

    def has_led(self, partition: TopicPartition, epoch: LeaderEpoch, node: BrokerId) -> None:
        """It answered what only the leader of this epoch answers."""
        before = self.leaders.setdefault((partition, epoch), node)
        if before != node:
            told = f"{partition} was led by {before} and by {node} in leader epoch {epoch}"
            self.contradicts("one leader", told)

    def mark_of(
        self, partition: TopicPartition, epoch: LeaderEpoch
    ) -> Mapping[LeaderEpoch, Offset]:
        """The high watermark that the leader of this epoch has told until now."""
        return {epoch: self.marks.get(partition, {}).get(epoch, 0)}

    def marks_before(
        self, partition: TopicPartition, epoch: LeaderEpoch
    ) -> Mapping[LeaderEpoch, Offset]:
        """The same of all leaders up to this epoch."""
        marks = self.marks.get(partition, {})
        return {led: mark for led, mark in marks.items() if led <= epoch}

    def told_mark(
        self,
        partition: TopicPartition,
        epoch: LeaderEpoch,
        mark: Offset,
        before: Mapping[LeaderEpoch, Offset],
    ) -> None:
        """By a leader that was asked when `before` had been told."""
        stays = (self._stays(partition, *each) for each in before.items())
        if mark < (known := max(stays, default=0)):
            told = f"{partition}: high watermark {mark} in leader epoch {epoch}, after {known}"
            self.contradicts("high watermark", told)
        marks = self.marks.setdefault(partition, {})
        marks[epoch] = max(mark, marks.get(epoch, 0))

    def _stays(self, partition: TopicPartition, led: LeaderEpoch, mark: Offset) -> Offset:
        """What is still known of a high watermark that the leader of `led` has told.

        A leader cuts its log just before its leader epoch ends, so that falls back within the last of those, too. One
        that has been compacted may begin anew.
        """
        if self.cuts is None or led > self.cut_in.get(partition, led):
            return mark
        return 0 if self.is_compacted else min(mark, self.cuts.get(partition, 0))

    def was_taken_over(self, cuts: Mapping[TopicPartition, Offset]) -> None:
        """From now on the region may be restored."""
        self.cuts, self.cut_in = cuts, {}

    def is_restored(self, partition: TopicPartition, epoch: LeaderEpoch) -> None:
        """Every log has been cut, in this leader epoch or before."""
        if self.cuts is not None:
            self.cut_in.setdefault(partition, epoch)

    # --- groups ---

    def tries(self, group: str, partition: TopicPartition, offset: Offset) -> None:
        """To commit: nobody else may take the group further than that."""
        self.tried[group, partition] = max(offset, self.tried.get((group, partition), 0))

    def commits(self, group: str, partition: TopicPartition, offset: Offset) -> None:
        self.committed[group, partition] = offset

    def found(self, group: str, partition: TopicPartition, offset: Offset) -> None:
        """What a member that joined was told; a group of one only moves forwards."""
        wanted = self.committed.get((group, partition), -1)
        if offset < wanted and not self.is_linked:
            told = f"{group} committed {wanted} of {partition} and was then told {offset}"
            self.contradicts("P1", told)
