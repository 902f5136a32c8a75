"""`python -m tests.bench.metering`: what a node that measures its requests spends on each one, in processor time.

Requests of three kinds are answered at once, with a `Meter` and without: the difference is the meter's.
"""

import gc
import time
from collections.abc import Callable
from typing import Any

from brokers.effects import Reply
from brokers.events import Disconnected, Request
from brokers.records.builder import NewRecord, build_batch
from brokers.shell.meter import Meter
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from brokers.wire.messages.groups import HeartbeatRequest, HeartbeatResponse
from brokers.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

REQUESTS, ROUNDS = 20_000, 9
_BATCH = build_batch([NewRecord(b"key", b"value")] * 3, timestamp=0)
_SENT = [TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=_BATCH)])]
_KEPT = [TopicProduceResponse(name="t", partition_responses=[PartitionProduceResponse(index=0)])]
_FOUND = [
    FetchableTopicResponse(topic="t", partitions=[PartitionData(partition_index=0, records=_BATCH)])
]
KINDS: dict[ApiKey, tuple[int, Any, Any]] = {
    ApiKey.PRODUCE: (9, ProduceRequest(topic_data=_SENT), ProduceResponse(responses=_KEPT)),
    ApiKey.FETCH: (12, FetchRequest(), FetchResponse(responses=_FOUND)),
    ApiKey.HEARTBEAT: (4, HeartbeatRequest(), HeartbeatResponse()),
}


class Answering:
    """A node and its server in one: a request is answered, and the answer sent, before `feed` returns."""

    is_feeding = False

    def __init__(self, answer: Any) -> None:
        self.sent: Callable[[int, float], None] | None = None
        self.queued: dict[int, Any] = {}
        self.reply_to: Callable[[Reply], None] = lambda effect: self.reply(effect.ticket, None)
        self._answer = answer

    def feed(self, event: Request | Disconnected) -> None:
        assert isinstance(event, Request)
        self.reply_to(Reply(event.ticket, self._answer))

    def reply(self, ticket: int, message: object | None) -> None:
        if self.sent is not None:
            self.sent(ticket, time.perf_counter())


def nanoseconds(key: ApiKey, *, is_metered: bool) -> float:
    """Of one request."""
    version, message, answer = KINDS[key]
    node: Any = Answering(answer)
    feed = node.feed
    if is_metered:
        meter = Meter(node)
        node.reply_to = meter.perform(node)[Reply]
        feed = meter.feed
    requests = [Request(n, int(key), version, "c", "h", message) for n in range(REQUESTS)]
    gc.disable()
    began = time.thread_time_ns()
    for each in requests:
        feed(each)
    spent = time.thread_time_ns() - began
    gc.enable()
    return spent / REQUESTS


def main() -> None:
    for key in KINDS:
        without, with_it = (
            min(nanoseconds(key, is_metered=is_metered) for _ in range(ROUNDS))
            for is_metered in (False, True)
        )
        print(f"{key.name.lower():10} {(with_it - without) / 1000:.2f} µs")


if __name__ == "__main__":
    main()
