"""A follower's fetches, and what comes of them: appends, cuts, snapshots, a new leader (KIP-595, 630).

Always: one fetch at a time; what it asks for is what this member has on its disk; it cuts by epochs, never by offsets
alone, and never below the high watermark.

An observer that knows no leader asks one voter after another; whoever isn't the leader says who is.
"""

from dataclasses import dataclass
from typing import Any

from brokers.effects import Changed, Effect, End
from brokers.errors import KafkaError, error_from_code
from brokers.events import Answered, AskFailure
from brokers.ids import Instant, LeaderEpoch, Offset, Peer, Ticket
from brokers.log.log import Log
from brokers.quorum.config import LOG_CONFIG
from brokers.quorum.control_records import MetadataLogError, checked_batches, control_messages
from brokers.quorum.epoch_states import FollowerState, LeaderState, UnattachedState
from brokers.quorum.ids import METADATA_TOPIC_ID, SnapshotId
from brokers.quorum.messages import FETCH_CHANNEL, PARTITION, TOPIC, ask, only_partition, told_peers
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.snapshot_fetcher import SnapshotFetcher
from brokers.records.batch import BatchHeader
from brokers.timers import earliest
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)

_STRANGER = (
    "{} is of another region: correct controller.quorum.voters, or give this node the cluster.id and the log.dirs of "
    "that region"
)


@dataclass(frozen=True, slots=True)
class _Asked:
    ticket: Ticket
    peer: Peer
    leader_epoch: LeaderEpoch
    next_offset: Offset


class LogFetcher:
    """`settle` sends the next fetch as soon as it may be sent; it is called after everything that happens."""

    def __init__(self, member: QuorumState, downloading: SnapshotFetcher) -> None:
        self._member = member
        self._downloading = downloading
        self._asked: _Asked | None = None
        self._next_at: Instant = 0
        self._failures = 0  # in a row, of the connection
        self._asked_voters = 0  # by an observer that looks for the leader
        self._has_accepted = False  # anything, in this life
        self._damaged_at: Offset | None = None  # where the answers are damaged; told once

    @property
    def deadline(self) -> Instant | None:
        member = self._member
        next_at = self._next_at if self._may_ask else None
        if member.may_stand or isinstance(member.role, UnattachedState | LeaderState):
            return next_at
        return earliest(next_at, member.role.until)

    def on_time(self, now: Instant) -> list[Effect]:
        """An observer whose leader is silent, or that led before, looks for another; a voter stands for election."""
        member = self._member
        is_lasting = member.may_stand or isinstance(member.role, UnattachedState | LeaderState)
        return [] if is_lasting or now < member.role.until else self._lose(now)

    def settle(self, now: Instant) -> list[Effect]:
        if self._asked is not None and not self._is_current(self._asked):
            self._asked = None  # its answer will say nothing about this epoch's leader
            self._next_at = now
        if not self._may_ask or now < self._next_at:
            return []
        member, log, peer = self._member, self._member.log, self._target()
        assert log is not None and peer is not None
        self._asked = _Asked(member.new_ticket(), peer, member.leader_epoch, log.log_end_offset)
        config = member.config
        is_sought = isinstance(member.role, UnattachedState)
        timeout_ms = config.request_timeout_ms // 4 if is_sought else config.fetch_timeout_ms
        return [
            ask(
                self._asked.ticket,
                peer,
                FETCH_CHANNEL,
                ApiKey.FETCH,
                self._question(log),
                timeout_ms,
            )
        ]

    @property
    def _may_ask(self) -> bool:
        log = self._member.log
        is_free = self._asked is None and not self._downloading.is_busy
        return is_free and log is not None and self.is_safe(log) and self._target() is not None

    def is_safe(self, log: Log) -> bool:
        """What a member asks for it is taken to have: so all of it must be on the disk first."""
        return log.written_offset == log.log_end_offset

    def _is_current(self, asked: _Asked) -> bool:
        member = self._member
        if asked.leader_epoch != member.leader_epoch:
            return False
        if isinstance(member.role, UnattachedState):
            return not member.may_stand
        return member.leader == asked.peer

    def _target(self) -> Peer | None:
        member = self._member
        if isinstance(member.role, FollowerState):
            return member.role.leader
        others = member.other_voters()
        if member.may_stand or not isinstance(member.role, UnattachedState) or not others:
            return None
        return others[self._asked_voters % len(others)]

    def _question(self, log: Log) -> FetchRequest:
        config = self._member.config
        partition = FetchPartition(
            partition=PARTITION,
            current_leader_epoch=self._member.leader_epoch,
            fetch_offset=log.log_end_offset,
            last_fetched_epoch=self._member.last_epoch,
            log_start_offset=log.log_start_offset,
            partition_max_bytes=config.fetch_bytes_max,
            replica_directory_id=config.directory,
            high_watermark=self._member.high_watermark,
        )
        return FetchRequest(
            cluster_id=config.cluster_id,
            replica_state=ReplicaState(replica_id=config.node_id, replica_epoch=-1),
            max_wait_ms=0
            if isinstance(self._member.role, UnattachedState)
            else config.fetch_wait_max_ms,
            min_bytes=1,
            max_bytes=config.fetch_bytes_max,
            topics=[FetchTopic(topic=TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])],
        )

    # --- answers ---

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None for an answer to something else."""
        asked = self._asked
        if asked is None or asked.ticket != answered.ticket:
            return None
        self._asked = None
        if not self._is_current(asked):
            return []
        message = answered.message
        if not isinstance(message, FetchResponse):
            self._look_elsewhere(asked.peer)
            return self._unanswered(answered.failure, now)
        if message.error_code == KafkaError.INCONSISTENT_CLUSTER_ID and not self._has_accepted:
            return [End(_STRANGER.format(f"{asked.peer.host}:{asked.peer.port}"))]
        answer = None if message.error_code else only_partition(message.responses)
        if answer is None:
            return self._unanswered(AskFailure.UNREADABLE, now)
        for peer in told_peers(message):
            self._member.met(peer)
        self._failures = 0
        if answer.error_code:
            return self._refused(asked, answer, now)
        return self._accept(asked, answer, now)

    def _unanswered(self, failure: AskFailure, now: Instant) -> list[Effect]:
        """A leader whose process is gone refuses: no need to wait until it has been silent for long."""
        self._failures += 1
        is_first = self._failures == 1 and failure is not AskFailure.UNREADABLE
        self._next_at = now if is_first else now + self._member.config.retry_backoff_ms
        if not self._member.may_stand:
            is_sought = isinstance(self._member.role, UnattachedState)
            if failure is AskFailure.REFUSED or is_sought or not is_first:
                return self._lose(now)
        elif failure is AskFailure.REFUSED:
            self._hasten(now)
        return []

    def _look_elsewhere(self, peer: Peer) -> None:
        """The leader, too, may have moved."""
        member = self._member
        member.missed(peer.node_id)
        if isinstance(member.role, FollowerState):
            member.role.leader = member.peer(peer.node_id) or peer

    def _hasten(self, now: Instant) -> None:
        """Stop waiting for the leader, in turn with the others, who have heard the same."""
        member = self._member
        if isinstance(member.role, FollowerState):
            member.role.has_fetched = False  # and does not stand by it when another asks
            delay = member.turn() + (member.backoff() if member.failures else 0)
            member.role.until = min(member.role.until, now + delay)

    def _lose(self, now: Instant) -> list[Effect]:
        """An observer looks for the leader, at the next voter."""
        self._asked = None
        self._asked_voters += 1
        self._next_at = max(self._next_at, now + self._member.config.retry_backoff_ms)
        if isinstance(self._member.role, UnattachedState):
            return []
        return self._member.unattach(self._member.leader_epoch, now)

    def _refused(self, asked: _Asked, answer: PartitionData, now: Instant) -> list[Effect]:
        member, told = self._member, answer.current_leader
        error = error_from_code(answer.error_code)
        self._next_at = now + member.config.retry_backoff_ms
        if told is not None:
            effects = member.hear_of(told.leader_epoch, told.leader_id, now)
            if effects:
                self._next_at = now
                return effects
        if not member.may_stand:
            return self._lose(now)
        if error is KafkaError.NOT_LEADER_OR_FOLLOWER and asked.leader_epoch == member.leader_epoch:
            self._hasten(now)  # it led, and has resigned
        return []

    def _damaged(self, asked: _Asked, why: str, now: Instant) -> list[Effect]:
        """The leader's disk or its memory is bad, not this node's: ask again.

        Such an answer is no sign of life. Where all voters get no other, they elect one whose disk is good.
        """
        was_at, self._damaged_at = self._damaged_at, asked.next_offset
        effects = self._lose(now) if isinstance(self._member.role, UnattachedState) else []
        self._next_at = now + self._member.config.fetch_wait_max_ms
        if was_at == asked.next_offset:
            return effects
        because = f"what node {asked.peer.node_id} sends is damaged ({why}): asking again"
        return [Changed("metadata log", "behind", because), *effects]

    def _accept(self, asked: _Asked, answer: PartitionData, now: Instant) -> list[Effect]:
        member = self._member
        batches, damage = _whole(answer.records, asked.next_offset)
        if damage and not batches:
            return self._damaged(asked, damage, now)
        self._has_accepted = True
        effects: list[Effect] = []
        if isinstance(member.role, UnattachedState):
            if not member.is_first_in(asked.leader_epoch, asked.peer.node_id):
                return self._lose(now)
            effects = member.follow(asked.peer, asked.leader_epoch, now)
        assert isinstance(member.role, FollowerState)
        member.role.has_fetched, member.failures = True, 0
        member.found_leader()
        member.role.told_committed = answer.high_watermark
        member.role.until = now + member.config.fetch_timeout_ms
        if answer.diverging_epoch is not None and answer.diverging_epoch.epoch >= 0:
            return effects + self.cut(
                answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset
            )
        if answer.snapshot_id is not None and answer.snapshot_id.end_offset >= 0:
            found = SnapshotId(answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
            return effects + self._download(found, now)
        effects += self._append(batches, now)
        self._advance(answer.high_watermark)
        return effects

    def _download(self, found: SnapshotId, now: Instant) -> list[Effect]:
        member = self._member
        if found.end_offset <= member.high_watermark:
            raise MetadataLogError(
                f"the leader of epoch {member.leader_epoch} offers a snapshot that ends at"
                f" {found.end_offset}; here all below {member.high_watermark} is committed, and differs"
            )
        return self._downloading.begin(found, now)

    def _advance(self, high_watermark: Offset) -> None:
        member = self._member
        assert member.log is not None
        reached = min(high_watermark, member.log.log_end_offset)
        member.high_watermark = max(member.high_watermark, reached)

    # --- what is appended ---

    def _append(self, batches: list[tuple[BatchHeader, memoryview]], now: Instant) -> list[Effect]:
        member, log = self._member, self._member.log
        assert log is not None
        headers: list[BatchHeader] = []
        buffers: list[memoryview] = []
        next_offset = log.log_end_offset
        for header, batch in batches:
            if header.base_offset < next_offset or header.leader_epoch > member.leader_epoch:
                break  # not what was asked for: the next fetch will tell
            headers.append(header)
            buffers.append(batch)
            next_offset = header.next_offset
            if header.is_control:
                member.voters.note(header.base_offset, control_messages(batch))
        if not headers:
            return []
        sync = member.config.may_vote
        return [*log.append(headers, buffers, now, config=LOG_CONFIG, sync=sync)]

    # --- what is cut ---

    def cut(self, leader_epoch: LeaderEpoch, end_offset: Offset) -> list[Effect]:
        """Back to where this log may agree with the leader's, which ends `leader_epoch` at `end_offset`."""
        member, log = self._member, self._member.log
        assert log is not None
        offset = max(self.agreed(log, leader_epoch, end_offset), log.log_start_offset)
        effects = [] if offset < member.high_watermark else log.truncate(offset)
        if not effects:
            raise MetadataLogError(
                f"the leader of epoch {member.leader_epoch} wants this log cut at {offset}; it ends at"
                f" {log.log_end_offset}, and all below {member.high_watermark} is committed"
            )
        if offset < log.log_end_offset:  # else an epoch was forgotten whose records a crash took
            member.log = None
            member.voters.cut(offset)
        return [*effects]

    def agreed(self, log: Log, leader_epoch: LeaderEpoch, end_offset: Offset) -> Offset:
        """Where `leader_epoch`, or the largest one below it that is in this log, ends: here, and at the leader."""
        own_epoch, own_end = log.epochs.end_offset_for(leader_epoch, log.log_end_offset)
        if own_epoch < 0:
            return min(end_offset, log.log_end_offset)
        return min(own_end, end_offset) if own_epoch == leader_epoch else own_end


def _whole(records: Any, next_offset: Offset) -> tuple[list[tuple[BatchHeader, memoryview]], str]:
    """What is new of the batches before the first that is damaged, and what is wrong with that one."""
    found: list[tuple[BatchHeader, memoryview]] = []
    try:
        for header, batch in checked_batches(_bytes(records)):
            if header.next_offset > next_offset:  # else a whole batch, asked for from its middle
                found.append((header, batch))
    except MetadataLogError as error:
        return found, str(error)
    return found, ""


def _bytes(records: Any) -> bytes | memoryview:
    """Record bytes of an answer: one slice, or none."""
    if records is None:
        return b""
    return records if isinstance(records, bytes | memoryview) else bytes(records)
