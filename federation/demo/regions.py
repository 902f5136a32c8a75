"""The operator's part of the demo: topics, links, mirrors and failovers, and killing regions.

Links and mirrors are administered over the gRPC service that `causeway link` and `causeway mirror` use.
"""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import grpc
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from federation.local.layout import Federation, Region
from linker.wire.v1 import admin_pb2, admin_pb2_grpc

LINK = "west-to-east"
_TIMEOUT_S = 20.0
# Of a restore: members of groups read the topic, or a broker that has just started does not know yet.
_GROUPS_IN_THE_WAY = ("CONSUMER_GROUP_IN_USE_ERROR", "COORDINATOR_NOT_AVAILABLE")
_EVERY_GROUP = '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}'


class DemoError(Exception):
    """A step of the demo failed; the message says how."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """A mirror topic as its region describes it; -1 for unknown numbers."""

    state: str
    mirrored: int
    lag_records: int
    lag_ms: int
    cut: dict[int, int]


def create_topic(region: Region, topic: str, partitions: int) -> None:
    """Creates a topic with Kafka's admin API. Raises DemoError when the region refuses."""
    admin = AdminClient({"bootstrap.servers": region.bootstrap, "log_level": 0})
    for created in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        try:
            created.result(_TIMEOUT_S)
        except KafkaException as refusal:
            raise DemoError(f"{region.name} does not create {topic}: {refusal}") from refusal


def kill(federation: Federation, name: str) -> None:
    """Ends every node of a region with SIGKILL."""
    for region, node in federation.nodes():
        if region.name == name and node.pid is not None:
            os.kill(node.pid, signal.SIGKILL)


class LinkAdmin:
    """The administration of one region's links."""

    def __init__(self, region: Region) -> None:
        self._channel = grpc.insecure_channel(region.admin)
        self._admin = admin_pb2_grpc.AdminStub(self._channel)  # type: ignore[no-untyped-call]  # generated

    def __enter__(self) -> "LinkAdmin":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._channel.close()

    def _ask(self, method: Callable[..., Any], request: object) -> Any:
        """The reply; raises DemoError when the region refuses or does not answer."""
        try:
            reply = method(request, timeout=_TIMEOUT_S)
        except grpc.RpcError as error:
            raise DemoError(f"the region does not answer: {error.code().name}") from error
        _check(reply.error)
        return reply

    def link(self, source: Region, topic: str) -> None:
        """Create the link from `source`, and a mirror of one topic."""
        configs = {
            "bootstrap.servers": source.bootstrap,
            "consumer.offset.sync.enable": "true",
            "consumer.offset.sync.ms": "1000",
            "consumer.offset.group.filters": _EVERY_GROUP,
        }
        self._ask(
            self._admin.CreateLink, admin_pb2.CreateLinkRequest(link_name=LINK, configs=configs)
        )
        self._ask(
            self._admin.CreateMirror,
            admin_pb2.CreateMirrorRequest(link_name=LINK, mirror_topic=topic),
        )

    def link_from(self, bootstrap_servers: str, name: str) -> None:
        """Create a link without mirrors."""
        configs = {"bootstrap.servers": bootstrap_servers}
        request = admin_pb2.CreateLinkRequest(link_name=name, configs=configs)
        self._ask(self._admin.CreateLink, request)

    def is_taken_over(self, topic: str) -> bool:
        """Whether this region knows that another one writes the topic now."""
        request = admin_pb2.DescribeMirrorRequest(mirror_topic=topic)
        try:
            reply = self._admin.DescribeMirror(request, timeout=_TIMEOUT_S)
        except grpc.RpcError as error:
            raise DemoError(f"the region does not answer: {error.code().name}") from error
        return "taken over" in reply.error.message

    def restore(self, topic: str, link: str) -> None:
        """truncate-and-restore, until the topic is a mirror. Members that the kill left end with their session."""
        request = admin_pb2.MirrorsRequest(link_name=link, mirror_topics=[topic])
        until = time.monotonic() + _TIMEOUT_S
        while True:
            (asked,) = self._ask(self._admin.TruncateAndRestoreMirrors, request).topics
            if asked.error.code not in _GROUPS_IN_THE_WAY or time.monotonic() > until:
                break
            time.sleep(0.1)
        _check(asked.error)
        while (mirror := self.mirror(topic)).state != "ACTIVE":
            if time.monotonic() > until:
                raise DemoError(f"{topic} is not restored: it is {mirror.state}")
            time.sleep(0.02)

    def ends(self, topic: str) -> dict[int, int]:
        """The log end offset of each partition."""
        request = admin_pb2.DescribeReplicasRequest(topics=[topic])
        replicas = self._ask(self._admin.DescribeReplicas, request).replicas
        return {one.partition: one.log_end_offset for one in replicas if one.is_leader}

    def mirror(self, topic: str) -> Mirror:
        request = admin_pb2.DescribeMirrorRequest(mirror_topic=topic)
        reply = self._ask(self._admin.DescribeMirror, request)
        lags = reply.mirror.mirror_lags
        return Mirror(
            reply.mirror.mirror_status,
            sum(max(0, one.local_log_end_offset) for one in lags),
            _sum_if_known([one.lag for one in lags]),
            max([one.lag_ms for one in lags], default=-1),
            {one.partition: one.offset for one in reply.mirror.cut.partitions},
        )

    def fail_over(self, topic: str) -> dict[int, int]:
        """Make the mirror writable now; returns the cut, partition -> offset."""
        request = admin_pb2.MirrorsRequest(link_name=LINK, mirror_topics=[topic])
        reply = self._ask(self._admin.FailoverMirrors, request)
        for one in reply.topics:
            _check(one.error)
        until = time.monotonic() + _TIMEOUT_S
        while (mirror := self.mirror(topic)).state != "STOPPED":
            if time.monotonic() > until:
                raise DemoError(f"the failover of {topic} does not end: it is {mirror.state}")
            time.sleep(0.005)
        return mirror.cut


def _check(error: admin_pb2.Error) -> None:
    if error.code:
        raise DemoError(f"{error.code}: {error.message} {error.hint}".strip())


def _sum_if_known(values: list[int]) -> int:
    return -1 if not values or min(values) < 0 else sum(values)
