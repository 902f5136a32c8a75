"""The committed metadata of a region that runs, read from its active controller as an observer reads it.

First the controller's snapshot, where its log begins with one (FetchSnapshot, KIP-630), then its log up to the high
watermark (Fetch, KIP-595). Reading changes nothing in the region.
"""

from dataclasses import dataclass
from typing import Any, Final

from brokers.errors import error_from_code
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_batches import read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay
from brokers.quorum.ids import METADATA_TOPIC_ID
from brokers.quorum.messages import PARTITION, TOPIC
from brokers.quorum.voters import VoterSet, voters_of
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.control_records import VotersRecord
from brokers.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from brokers.wire.messages.quorum_snapshots import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartition,
    FetchSnapshotRequestTopic,
    SnapshotId,
)
from federation.commands.answers import Failure
from federation.commands.region.client import Client

FETCH_BYTES: Final = 8 << 20
_HINT: Final = "try again; a quorum without an active controller has nothing to read"


@dataclass(slots=True)
class CommittedMetadata:
    """`leader_epoch` is that of the last record in `image`; `voters`: where the log holds a voter set."""

    image: Image
    leader_epoch: int = 0
    voters: VoterSet | None = None


def committed_metadata(client: Client, cluster_id: str) -> CommittedMetadata:
    """Raises Failure, or NoAnswer."""
    address, leader_epoch = _active_controller(client)
    with Client(address) as controller:
        return _Reader(controller, cluster_id, leader_epoch).read()


def _active_controller(client: Client) -> tuple[str, int]:
    """Where the active controller listens to nodes, and its epoch."""
    topic = DescribeQuorumRequestTopic(
        topic_name=TOPIC, partitions=[DescribeQuorumRequestPartition(partition_index=PARTITION)]
    )
    answer = client.ask(ApiKey.DESCRIBE_QUORUM, DescribeQuorumRequest(topics=[topic]))
    found = None if answer.error_code else answer.topics[0].partitions[0]
    if found is None or found.error_code:
        raise Failure("no controller is active", hint=_HINT)
    for node in answer.nodes:
        if node.node_id == found.leader_id and node.listeners:
            return f"{node.listeners[0].host}:{node.listeners[0].port}", found.leader_epoch
    raise Failure(
        f"node {found.leader_id}, the active controller, has no listener for other nodes",
        hint="stop the node, and take the backup from its disk: --config FILE of that node",
    )


class _Reader:
    def __init__(self, client: Client, cluster_id: str, leader_epoch: int) -> None:
        self._client = client
        self._leader_epoch = leader_epoch
        self._found = CommittedMetadata(Image(cluster_id))

    def read(self) -> CommittedMetadata:
        while True:
            data = self._fetch()
            if data.snapshot_id is not None:
                self._take_snapshot(data.snapshot_id)
                continue
            before = self._found.image.next_offset
            self._replay(bytes(data.records or b""))
            if self._found.image.next_offset >= data.high_watermark:
                return self._found
            if self._found.image.next_offset == before:
                because = f"the controller sends nothing from offset {before} on"
                raise Failure(f"the metadata log can't be read: {because}", hint=_HINT)

    def _fetch(self) -> Any:
        found = self._found
        partition = FetchPartition(
            partition=PARTITION,
            current_leader_epoch=self._leader_epoch,
            fetch_offset=found.image.next_offset,
            last_fetched_epoch=found.leader_epoch,
            partition_max_bytes=FETCH_BYTES,
        )
        topic = FetchTopic(topic=TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
        request = FetchRequest(
            cluster_id=found.image.cluster_id,
            max_wait_ms=0,
            max_bytes=FETCH_BYTES,
            topics=[topic],
        )
        answer = self._client.ask(ApiKey.FETCH, request)
        data = None if answer.error_code else answer.responses[0].partitions[0]
        if data is None or data.error_code or data.diverging_epoch is not None:
            code = answer.error_code if data is None else data.error_code
            raise Failure(
                f"the metadata log can't be read: {error_from_code(code).name}; another controller may be active now",
                hint=_HINT,
            )
        return data

    def _replay(self, data: bytes) -> None:
        found = self._found
        try:
            for header, messages in read_batches(data):
                if header.next_offset <= found.image.next_offset:
                    continue
                replay(found.image, () if header.is_control else messages, header.next_offset)
                found.leader_epoch = header.leader_epoch
                for each in messages if header.is_control else ():
                    if isinstance(each, VotersRecord):
                        found.voters = voters_of(each)
        except MetadataLogError as error:
            raise Failure(
                f"the metadata log can't be read by this release: {error}",
                hint="use the `causeway` of the release that the region runs",
            ) from error

    def _take_snapshot(self, wanted: Any) -> None:
        data = bytearray()
        while True:
            part = self._snapshot_part(wanted, len(data))
            data += part.unaligned_records
            if len(data) >= part.size:
                break
            if not part.unaligned_records:
                raise Failure(
                    "the snapshot can't be read: the controller sends no more of it", hint=_HINT
                )
        try:
            image = snapshot.decode(data, self._found.image.cluster_id, wanted.end_offset)
            voters = snapshot.voters_in(data)
        except MetadataLogError as error:
            raise Failure(f"the snapshot can't be read: {error}", hint=_HINT) from error
        self._found = CommittedMetadata(image, wanted.epoch, voters)

    def _snapshot_part(self, wanted: Any, position: int) -> Any:
        partition = FetchSnapshotRequestPartition(
            partition=PARTITION,
            current_leader_epoch=self._leader_epoch,
            snapshot_id=SnapshotId(end_offset=wanted.end_offset, epoch=wanted.epoch),
            position=position,
        )
        request = FetchSnapshotRequest(
            cluster_id=self._found.image.cluster_id,
            max_bytes=FETCH_BYTES,
            topics=[FetchSnapshotRequestTopic(name=TOPIC, partitions=[partition])],
        )
        answer = self._client.ask(ApiKey.FETCH_SNAPSHOT, request)
        part = None if answer.error_code else answer.topics[0].partitions[0]
        if part is None or part.error_code:
            code = answer.error_code if part is None else part.error_code
            raise Failure(f"the snapshot can't be read: {error_from_code(code).name}", hint=_HINT)
        return part
