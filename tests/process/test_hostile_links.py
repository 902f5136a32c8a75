"""Peers of a link, and operators, that ask for all a node has: limited, the node unharmed and small."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import grpc
import grpc.aio
import httpx
import psutil
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from brokers.ids import TopicPartition
from linker.frames import TOPICS_MAX, Credit, Frame, Hello, Subscribe, TopicState, WatchTopics
from linker.shell.options import MIB, OPEN_METHOD
from linker.wire import frames
from linker.wire.administration import SERVICE_PREFIX
from linker.wire.v1 import admin_pb2
from tests.process.hostile_peers import (
    announcements,
    endless_headers,
    floods,
    garbage,
    half_requests,
    huge_bodies,
    random_commands,
)
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

RESIDENT_MAX = 300 * MIB
STREAMS, PARTITIONS, SUBSCRIPTIONS = 60, 12, 3_000
GREEDY = Hello("link", "id", "attacker", chunk_bytes=2**32 - 1)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    ports = {"rest.listener": "127.0.0.1:0", "metrics.listener": "127.0.0.1:0"}
    running = NodeProcess(tmp_path, ports)
    running.start()
    yield running
    running.stop()
    assert "Traceback" not in running.log()


def resident(node: NodeProcess) -> int:
    return int(psutil.Process(node.pid).memory_info().rss)


@asynccontextmanager
async def stream(node: NodeProcess) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(node.told["link"]) as channel:
        open_stream: Any = channel.stream_stream
        yield open_stream(OPEN_METHOD)()


async def say(call: Any, *said: Frame) -> None:
    for frame in said:
        await call.write(frames.encode(frame))


async def topic_id(node: NodeProcess, topic: str) -> bytes:
    async with stream(node) as call:
        await say(call, GREEDY, WatchTopics((topic,)))
        while True:
            frame = frames.decode(await call.read())
            if isinstance(frame, TopicState):
                return frame.topic_id


async def never_read(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    """All data of a topic, with more credit than there is data anywhere, and nothing is read."""
    async with stream(node) as call:
        subscriptions = [
            Subscribe(number + 1, TopicPartition(topic, number), identity, 0, (), False)
            for number in range(PARTITIONS)
        ]
        await say(call, GREEDY, Credit(2**63 - 1), *subscriptions)
        await done.wait()


async def many_subscriptions(
    node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event
) -> None:
    """Of the same partitions, again and again, without credit."""
    async with stream(node) as call:
        await say(call, GREEDY)
        for number in range(SUBSCRIPTIONS):
            partition = TopicPartition(topic, number % PARTITIONS)
            await say(call, Subscribe(number + 1, partition, identity, 0, (), False))
        await done.wait()


async def long_names(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    async with stream(node) as call:
        with pytest.raises((grpc.aio.AioRpcError, asyncio.InvalidStateError)):
            await subscribe_by_long_names(call, identity)
        await done.wait()


async def subscribe_by_long_names(call: Any, identity: bytes) -> None:
    await say(call, GREEDY)
    for number in range(600):
        name = TopicPartition("n" * MIB, number)
        await say(call, Subscribe(number + 1, name, identity, 0, (), False))


async def many_names(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    async with stream(node) as call:
        await say(call, GREEDY)
        for turn in range(20):
            await say(call, WatchTopics(tuple(f"{turn}-{name}" for name in range(TOPICS_MAX))))
        await done.wait()


async def long_command(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    async with grpc.aio.insecure_channel(node.told["admin"]) as channel:
        ask: Any = channel.unary_unary
        with pytest.raises(grpc.aio.AioRpcError, match="larger than max"):
            await ask(SERVICE_PREFIX + "DescribeLink")(bytes(500 * MIB))


async def one_topic_often(
    node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event
) -> None:
    async with grpc.aio.insecure_channel(node.told["admin"]) as channel:
        ask: Any = channel.unary_unary
        request = admin_pb2.DescribeReplicasRequest(topics=[topic] * TOPICS_MAX).SerializeToString()
        for _ in range(5):
            reply = await until_in_time(lambda: ask(SERVICE_PREFIX + "DescribeReplicas")(request))
            assert len(admin_pb2.ReplicasReply.FromString(reply).replicas) == PARTITIONS


async def until_in_time(ask: Callable[[], Awaitable[bytes]]) -> bytes:
    """The answer. All attackers are one process of this address: where they keep it from sending the request in a
    second, the node gives the request up, as others wait, and a client asks again.
    """
    while True:
        try:
            return await ask()
        except grpc.aio.AioRpcError as error:
            if error.code() != grpc.StatusCode.DEADLINE_EXCEEDED:
                raise


Attack = Callable[[NodeProcess, str, bytes, asyncio.Event], Awaitable[None]]


async def attack(node: NodeProcess, topic: str, *attacks: Attack) -> tuple[int, float]:
    """The most memory of the node meanwhile, and the longest wait of a client; each attack comes to its end."""
    done = asyncio.Event()
    identity = await topic_id(node, topic)
    tasks = [asyncio.create_task(one(node, topic, identity, done)) for one in attacks]
    most, longest = resident(node), 0.0
    admin = AdminClient({"bootstrap.servers": node.address})
    for _ in range(40):
        began = perf_counter()
        await asyncio.to_thread(admin.list_topics, timeout=30)
        longest = max(longest, perf_counter() - began)
        assert await is_healthy(node)
        most = max(most, resident(node))
        await asyncio.wait(tasks, timeout=0.1)
    done.set()
    await asyncio.gather(*tasks)
    return most, longest


async def is_healthy(node: NodeProcess) -> bool:
    async with httpx.AsyncClient(timeout=30) as client:
        answer = await client.get(f"http://{node.told['metrics']}/health")
        return answer.status_code == 200


@pytest.fixture
def topic(node: NodeProcess) -> str:
    """30 MB of it."""
    create_topic(node.address, "orders", PARTITIONS)
    producer = Producer({"bootstrap.servers": node.address, "linger.ms": 50})
    for number in range(300):
        producer.produce("orders", bytes(100_000), partition=number % PARTITIONS)
    assert producer.flush(30) == 0
    return "orders"


def test_all_attacks_at_once_leave_a_node_small_and_its_clients_served(
    node: NodeProcess, topic: str, record_property: Callable[[str, object], None]
) -> None:
    attacks = (
        *[never_read] * STREAMS, many_subscriptions, long_names, many_names, many_names, long_command, one_topic_often,
        garbage, floods, random_commands, half_requests, huge_bodies, endless_headers, announcements,
    )  # fmt: skip
    most, longest = asyncio.run(attack(node, topic, *attacks))
    record_property("resident", most)
    print(f"at most {most / MIB:.0f} MiB resident; the longest wait of a client {longest:.3f} s")
    assert most < RESIDENT_MAX, f"{most / MIB:.0f} MiB"
