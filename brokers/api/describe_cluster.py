"""DescribeCluster (key 60): who the brokers are (KIP-700), or, at a controller's listener, the controllers (KIP-919).

Versions 0-2.
"""

from collections.abc import Iterator

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Listener, Request
from brokers.ids import Instant
from brokers.metadata.log.raft_manager import RaftManager
from brokers.partition.hosted_partitions import MetadataCache
from brokers.security.authorized_operations import CLUSTER_OPERATIONS
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

KEY = ApiKey.DESCRIBE_CLUSTER
VERSIONS = (0, 2)
BROKERS, CONTROLLERS = 1, 2  # endpoint types
NOBODY = -1


class DescribeClusterHandler:
    """Answers DescribeCluster requests."""

    def __init__(self, config: BrokerConfig, metadata: MetadataCache, raft: RaftManager) -> None:
        self._config = config
        self._metadata = metadata
        self._raft = raft

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeClusterRequest)
        is_controllers = request.listener is Listener.CONTROLLER
        if message.endpoint_type != (CONTROLLERS if is_controllers else BROKERS):
            return [Reply(request.ticket, _refused(message.endpoint_type))]
        response = (
            self._controllers() if is_controllers else self._brokers(message, request.listener_name)
        )
        if message.include_cluster_authorized_operations:
            response.cluster_authorized_operations = CLUSTER_OPERATIONS
        return [Reply(request.ticket, response)]

    def _brokers(
        self, message: DescribeClusterRequest, listener_name: str
    ) -> DescribeClusterResponse:
        """The brokers that clients of this listener can reach."""
        return DescribeClusterResponse(
            endpoint_type=BROKERS,
            cluster_id=self._metadata.image.cluster_id,
            controller_id=self._config.node_id,
            brokers=[
                DescribeClusterBroker(
                    broker_id=broker.id,
                    host=at.host,
                    port=at.port,
                    rack=broker.rack,
                    is_fenced=broker.fenced,
                )
                for _, broker in sorted(self._metadata.image.brokers.items())
                if (at := broker.endpoint(listener_name)) is not None
                and (message.include_fenced_brokers or not broker.fenced)
            ],
        )

    def _controllers(self) -> DescribeClusterResponse:
        known = self._raft.controller
        return DescribeClusterResponse(
            endpoint_type=CONTROLLERS,
            cluster_id=self._metadata.image.cluster_id,
            controller_id=NOBODY if known is None else known.node_id,
            brokers=list(self._registered()),
        )

    def _registered(self) -> Iterator[DescribeClusterBroker]:
        """At the listener that they have in common with this one."""
        name = self._config.controller_listener
        for _, controller in sorted(self._metadata.image.controllers.items()):
            for endpoint in controller.endpoints:
                if endpoint.name == name:
                    yield DescribeClusterBroker(
                        broker_id=controller.id, host=endpoint.host, port=endpoint.port, rack=None
                    )


def _refused(endpoint_type: int) -> DescribeClusterResponse:
    error = KafkaError.UNSUPPORTED_ENDPOINT_TYPE
    because = f"unknown endpoint type {endpoint_type}"
    if endpoint_type in (BROKERS, CONTROLLERS):
        error = KafkaError.MISMATCHED_ENDPOINT_TYPE
        wanted = "controllers" if endpoint_type == BROKERS else "brokers"
        because = f"this listener is for clients of {wanted}"
    return DescribeClusterResponse(error_code=error, error_message=because)
