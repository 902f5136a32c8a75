"""DescribeCluster (key 60): who the brokers are (KIP-700), or, at a controller's listener, the controllers (KIP-919).

Versions 0-2.
"""

from collections.abc import Iterator

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Listener, Request
from brokers.ids import Instant
from brokers.security.authorized_operations import CLUSTER_OPERATIONS
from brokers.wire.messages.cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

KEY = 60
VERSIONS = (0, 2)
BROKERS, CONTROLLERS = 1, 2  # endpoint types
NOBODY = -1


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, DescribeClusterRequest)
    is_controllers = request.listener is Listener.CONTROLLER
    if message.endpoint_type != (CONTROLLERS if is_controllers else BROKERS):
        return [Reply(request.ticket, _refused(message.endpoint_type))]
    response = _controllers(context) if is_controllers else _brokers(context, message)
    if message.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return [Reply(request.ticket, response)]


def _brokers(context: Context, message: DescribeClusterRequest) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        endpoint_type=BROKERS,
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


def _controllers(context: Context) -> DescribeClusterResponse:
    known = context.plane.controller
    return DescribeClusterResponse(
        endpoint_type=CONTROLLERS,
        cluster_id=context.cluster_id,
        controller_id=NOBODY if known is None else known.node_id,
        brokers=list(_registered(context)),
    )


def _registered(context: Context) -> Iterator[DescribeClusterBroker]:
    """At the listener that they have in common with this one."""
    name = context.config.controller_listener
    for _, controller in sorted(context.image.controllers.items()):
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
