"""DescribeCluster (key 60): who the brokers are (KIP-700). Versions 0-2."""

from brokers.api.context import Context
from brokers.api.operations import CLUSTER_OPERATIONS
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Instant
from brokers.wire.messages.cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

KEY = 60
VERSIONS = (0, 2)
BROKERS, CONTROLLERS = 1, 2  # endpoint types


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, DescribeClusterRequest)
    if message.endpoint_type != BROKERS:
        return [Reply(request.ticket, _refused(message.endpoint_type))]
    response = DescribeClusterResponse(
        cluster_id=context.cluster_id,
        controller_id=context.config.node_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
                is_fenced=broker.fenced,
            )
            for _, broker in sorted(context.image.brokers.items())
            if message.include_fenced_brokers or not broker.fenced
        ],
    )
    if message.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return [Reply(request.ticket, response)]


def _refused(endpoint_type: int) -> DescribeClusterResponse:
    error = KafkaError.UNSUPPORTED_ENDPOINT_TYPE
    because = f"unknown endpoint type {endpoint_type}"
    if endpoint_type == CONTROLLERS:
        error = KafkaError.MISMATCHED_ENDPOINT_TYPE
        because = "this listener serves brokers' clients, not controllers'"
    return DescribeClusterResponse(error_code=error, error_message=because)
