"""A follower's fetches: it appends, truncates, fetches a snapshot, or finds another leader (KIP-595, 630).

Always: one fetch at a time; the fetch offset is the end of the written log (by a voter also synced); it truncates by
epochs, never by offsets alone, and never below the high watermark.

An observer that knows no leader sends Fetch to one voter after another, then to the bootstrap controllers; one that
is not the leader names it.
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
from brokers.quorum.messages import (
    FETCH_CHANNEL,
    PARTITION,
    TOPIC,
    ask,
    only_partition,
    peers_of,
)
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

_OTHER_REGION = (
    "{} is of another region: correct controller.quorum.voters, or give this node the cluster.id and the log.dirs of "
    "that region"
)


@dataclass(frozen=True, slots=True)
class _Fetch:
    ticket: Ticket
    peer: Peer
    leader_epoch: LeaderEpoch
    next_offset: Offset


class LogFetcher:
    """`settle` sends the next fetch when it is due; it is called after every step."""

    def __init__(self, quorum: QuorumState, snapshots: SnapshotFetcher) -> None:
        self._quorum = quorum
        self._snapshots = snapshots
        self._fetch: _Fetch | None = None
        self._next_at: Instant = 0
        self._failures = 0  # consecutive fetches without a response
        self._voters_tried = 0  # by an observer that has no leader
        self._has_accepted = False  # a response, since the process started
        self._corrupt_at: Offset | None = None  # reported once

    @property
    def deadline(self) -> Instant | None:
        quorum = self._quorum
        next_at = self._next_at if self._may_fetch else None
        if quorum.is_electable or isinstance(quorum.state, UnattachedState | LeaderState):
            return next_at
        return earliest(next_at, quorum.state.until)

    def on_time(self, now: Instant) -> list[Effect]:
        """An observer whose leader is silent, or that resigned, looks for a leader (a voter: `elections`)."""
        quorum = self._quorum
        is_lasting = quorum.is_electable or isinstance(quorum.state, UnattachedState | LeaderState)
        return [] if is_lasting or now < quorum.state.until else self._find_leader(now)

    def settle(self, now: Instant) -> list[Effect]:
        if self._fetch is not None and not self._is_current(self._fetch):
            self._fetch = None  # its answer is not from this epoch's leader
            self._next_at = now
        if not self._may_fetch or now < self._next_at:
            return []
        quorum, log, peer = self._quorum, self._quorum.log, self._peer()
        assert log is not None and peer is not None
        self._fetch = _Fetch(quorum.new_ticket(), peer, quorum.leader_epoch, log.log_end_offset)
        config = quorum.config
        is_searching = isinstance(quorum.state, UnattachedState)
        timeout_ms = config.request_timeout_ms // 4 if is_searching else config.fetch_timeout_ms
        ticket, request = self._fetch.ticket, self._request(log)
        return [ask(ticket, peer, FETCH_CHANNEL, ApiKey.FETCH, request, timeout_ms)]

    @property
    def _may_fetch(self) -> bool:
        log = self._quorum.log
        is_free = self._fetch is None and not self._snapshots.is_busy
        return is_free and log is not None and self.is_synced(log) and self._peer() is not None

    def is_synced(self, log: Log) -> bool:
        """The leader counts everything below the fetch offset as held by this replica, so all must be on disk."""
        return log.written_offset == log.log_end_offset

    def _is_current(self, fetch: _Fetch) -> bool:
        quorum = self._quorum
        if fetch.leader_epoch != quorum.leader_epoch:
            return False
        if isinstance(quorum.state, UnattachedState):
            return not quorum.is_electable
        return quorum.leader == fetch.peer

    def _peer(self) -> Peer | None:
        quorum = self._quorum
        if isinstance(quorum.state, FollowerState):
            return quorum.state.leader
        others = [*quorum.other_voters(), *quorum.config.bootstrap]
        if quorum.is_electable or not isinstance(quorum.state, UnattachedState) or not others:
            return None
        return others[self._voters_tried % len(others)]

    def _request(self, log: Log) -> FetchRequest:
        config = self._quorum.config
        partition = FetchPartition(
            partition=PARTITION,
            current_leader_epoch=self._quorum.leader_epoch,
            fetch_offset=log.log_end_offset,
            last_fetched_epoch=self._quorum.last_epoch,
            log_start_offset=log.log_start_offset,
            partition_max_bytes=config.fetch_bytes_max,
            replica_directory_id=config.directory,
            high_watermark=self._quorum.high_watermark,
        )
        return FetchRequest(
            cluster_id=config.cluster_id,
            replica_state=ReplicaState(replica_id=config.node_id, replica_epoch=-1),
            max_wait_ms=0
            if isinstance(self._quorum.state, UnattachedState)
            else config.fetch_wait_max_ms,
            min_bytes=1,
            max_bytes=config.fetch_bytes_max,
            topics=[FetchTopic(topic=TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])],
        )

    # --- responses ---

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None if this module did not send the request."""
        fetch = self._fetch
        if fetch is None or fetch.ticket != answered.ticket:
            return None
        self._fetch = None
        if not self._is_current(fetch):
            return []
        message = answered.message
        if not isinstance(message, FetchResponse):
            self._try_next_endpoint(fetch.peer)
            return self._on_failure(answered.failure, now)
        if message.error_code == KafkaError.INCONSISTENT_CLUSTER_ID and not self._has_accepted:
            return [End(_OTHER_REGION.format(f"{fetch.peer.host}:{fetch.peer.port}"))]
        answer = None if message.error_code else only_partition(message.responses)
        if answer is None:
            return self._on_failure(AskFailure.UNREADABLE, now)
        for peer in peers_of(message):
            self._quorum.update_endpoint(peer)
        self._failures = 0
        if answer.error_code:
            return self._on_error(fetch, answer, now)
        return self._accept(fetch, answer, now)

    def _on_failure(self, failure: AskFailure, now: Instant) -> list[Effect]:
        """A refused connection means that the leader's process is gone: do not wait for the fetch timeout."""
        self._failures += 1
        is_first = self._failures == 1 and failure is not AskFailure.UNREADABLE
        self._next_at = now if is_first else now + self._quorum.config.retry_backoff_ms
        if not self._quorum.is_electable:
            is_searching = isinstance(self._quorum.state, UnattachedState)
            if failure is AskFailure.REFUSED or is_searching or not is_first:
                return self._find_leader(now)
        elif failure is AskFailure.REFUSED:
            self._shorten_fetch_timeout(now)
        return []

    def _try_next_endpoint(self, peer: Peer) -> None:
        """Try another of the leader's endpoints: it may have moved."""
        quorum = self._quorum
        quorum.endpoint_failed(peer.node_id)
        if isinstance(quorum.state, FollowerState):
            quorum.state.leader = quorum.peer(peer.node_id) or peer

    def _shorten_fetch_timeout(self, now: Instant) -> None:
        """Start an election soon instead of at the fetch timeout, at another time than the other voters."""
        quorum = self._quorum
        if isinstance(quorum.state, FollowerState):
            quorum.state.has_fetched = False  # so that it grants a pre-vote
            delay = quorum.staggered_delay() + (quorum.backoff() if quorum.failures else 0)
            quorum.state.until = min(quorum.state.until, now + delay)

    def _find_leader(self, now: Instant) -> list[Effect]:
        """An observer sends its next Fetch to the next voter."""
        self._fetch = None
        self._voters_tried += 1
        self._next_at = max(self._next_at, now + self._quorum.config.retry_backoff_ms)
        if isinstance(self._quorum.state, UnattachedState):
            return []
        return self._quorum.become_unattached(self._quorum.leader_epoch, now)

    def _on_error(self, fetch: _Fetch, answer: PartitionData, now: Instant) -> list[Effect]:
        quorum, leader = self._quorum, answer.current_leader
        error = error_from_code(answer.error_code)
        self._next_at = now + quorum.config.retry_backoff_ms
        if leader is not None:
            effects = quorum.maybe_transition(leader.leader_epoch, leader.leader_id, now)
            if effects:
                self._next_at = now
                return effects
        if not quorum.is_electable:
            return self._find_leader(now)
        if error is KafkaError.NOT_LEADER_OR_FOLLOWER and fetch.leader_epoch == quorum.leader_epoch:
            self._shorten_fetch_timeout(now)  # the leader has resigned
        return []

    def _on_corrupt(self, fetch: _Fetch, why: str, now: Instant) -> list[Effect]:
        """The leader's disk or memory is bad, not this node's: fetch again.

        The response does not extend the fetch timeout: if all voters get such ones, they elect another leader.
        """
        was_at, self._corrupt_at = self._corrupt_at, fetch.next_offset
        effects = self._find_leader(now) if isinstance(self._quorum.state, UnattachedState) else []
        self._next_at = now + self._quorum.config.fetch_wait_max_ms
        if was_at == fetch.next_offset:
            return effects
        because = f"what node {fetch.peer.node_id} sends is damaged ({why}): asking again"
        return [Changed("metadata log", "behind", because), *effects]

    def _accept(self, fetch: _Fetch, answer: PartitionData, now: Instant) -> list[Effect]:
        quorum = self._quorum
        batches, damage = _new_batches(answer.records, fetch.next_offset)
        if damage and not batches:
            return self._on_corrupt(fetch, damage, now)
        self._has_accepted = True
        effects: list[Effect] = []
        if isinstance(quorum.state, UnattachedState):
            leader = _leader(fetch.peer, answer)
            if leader is None or not quorum.has_consistent_leader(
                fetch.leader_epoch, leader.node_id
            ):
                return self._find_leader(now)
            effects = quorum.become_follower(leader, fetch.leader_epoch, now)
        assert isinstance(quorum.state, FollowerState)
        quorum.state.has_fetched, quorum.failures = True, 0
        quorum.leader_answered()
        quorum.state.leader_high_watermark = answer.high_watermark
        quorum.state.until = now + quorum.config.fetch_timeout_ms
        if answer.diverging_epoch is not None and answer.diverging_epoch.epoch >= 0:
            return effects + self.truncate(
                answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset
            )
        if answer.snapshot_id is not None and answer.snapshot_id.end_offset >= 0:
            found = SnapshotId(answer.snapshot_id.end_offset, answer.snapshot_id.epoch)
            return effects + self._download(found, now)
        effects += self._append(batches, now)
        self._advance(answer.high_watermark)
        return effects

    def _download(self, found: SnapshotId, now: Instant) -> list[Effect]:
        quorum = self._quorum
        if found.end_offset <= quorum.high_watermark:
            raise MetadataLogError(
                f"the leader of epoch {quorum.leader_epoch} offers a snapshot that ends at"
                f" {found.end_offset}; here all below {quorum.high_watermark} is committed, and differs"
            )
        return self._snapshots.begin(found, now)

    def _advance(self, high_watermark: Offset) -> None:
        quorum = self._quorum
        assert quorum.log is not None
        reached = min(high_watermark, quorum.log.log_end_offset)
        quorum.high_watermark = max(quorum.high_watermark, reached)

    # --- appending ---

    def _append(self, batches: list[tuple[BatchHeader, memoryview]], now: Instant) -> list[Effect]:
        quorum, log = self._quorum, self._quorum.log
        assert log is not None
        headers: list[BatchHeader] = []
        buffers: list[memoryview] = []
        next_offset = log.log_end_offset
        for header, batch in batches:
            if header.base_offset < next_offset or header.leader_epoch > quorum.leader_epoch:
                break  # not what was fetched; the next fetch corrects it
            headers.append(header)
            buffers.append(batch)
            next_offset = header.next_offset
            if header.is_control:
                quorum.voters.add_records(header.base_offset, control_messages(batch))
        if not headers:
            return []
        sync = quorum.config.may_vote
        return [*log.append(headers, buffers, now, config=LOG_CONFIG, sync=sync)]

    # --- truncating ---

    def truncate(self, leader_epoch: LeaderEpoch, end_offset: Offset) -> list[Effect]:
        """Truncate to where this log may agree with the leader's, in which `leader_epoch` ends at `end_offset`."""
        quorum, log = self._quorum, self._quorum.log
        assert log is not None
        offset = max(self.truncation_offset(log, leader_epoch, end_offset), log.log_start_offset)
        effects = [] if offset < quorum.high_watermark else log.truncate(offset)
        if not effects:
            raise MetadataLogError(
                f"the leader of epoch {quorum.leader_epoch} wants this log cut at {offset}; it ends at"
                f" {log.log_end_offset}, and all below {quorum.high_watermark} is committed"
            )
        if offset < log.log_end_offset:  # else only the epoch entry of lost records was dropped
            quorum.log = None
            quorum.voters.truncate_new_entries(offset)
        return [*effects]

    def truncation_offset(self, log: Log, leader_epoch: LeaderEpoch, end_offset: Offset) -> Offset:
        """The end of `leader_epoch` in both logs, or of the largest smaller epoch in this log."""
        own_epoch, own_end = log.epochs.end_offset_for(leader_epoch, log.log_end_offset)
        if own_epoch < 0:
            return min(end_offset, log.log_end_offset)
        return min(own_end, end_offset) if own_epoch == leader_epoch else own_end


def _leader(peer: Peer, answer: PartitionData) -> Peer | None:
    """The leader that accepted a fetch. Where its address was all that was known of it, it says who it is."""
    if peer.node_id >= 0:
        return peer
    told = answer.current_leader
    return None if told is None or told.leader_id < 0 else peer._replace(node_id=told.leader_id)


def _new_batches(
    records: Any, next_offset: Offset
) -> tuple[list[tuple[BatchHeader, memoryview]], str]:
    """The new batches before the first corrupt one, and what is wrong with that one."""
    found: list[tuple[BatchHeader, memoryview]] = []
    try:
        for header, batch in checked_batches(_bytes(records)):
            if header.next_offset > next_offset:  # else `next_offset` lies inside a batch
                found.append((header, batch))
    except MetadataLogError as error:
        return found, str(error)
    return found, ""


def _bytes(records: Any) -> bytes | memoryview:
    """The record bytes of a response."""
    if records is None:
        return b""
    return records if isinstance(records, bytes | memoryview) else bytes(records)
