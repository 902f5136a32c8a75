"""Sealed tails that an operator replays to where the topic is written now, with the product's own client.

It is killed once, having sent something and not waited for the answer; and it gives up where a region does not answer.
The operator begins it again.
"""

import json
from collections import Counter
from collections.abc import Coroutine, Iterator
from types import TracebackType
from typing import Any

from brokers.wire.message import Message
from federation.commands.answers import Failure
from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.provenance import EPOCH, OFFSET, ORPHAN, old_partition_of
from federation.commands.orphans.reading import OrphanRecord, records_in
from federation.commands.orphans.replay import replay
from federation.commands.orphans.stores import Tail, TailCopy
from federation.commands.orphans.topics import TopicClient
from federation.commands.region.client import NoAnswer
from linker.wire.v1 import admin_pb2 as pb
from tests.sim.clients import VERSIONS, Client
from tests.sim.disks import Disk
from tests.sim.evidence import batches
from tests.sim.linked.cut_backs import CutBackOperator
from tests.sim.linked.federation import Region
from tests.sim.linked.link_changes import Logs
from tests.sim.linked.orphans import folders
from tests.sim.regions.cluster import DATA_PORT, TOPIC, place
from tests.sim.world import Promise

ANSWER_MS = 30_000  # as the product's client waits
AGAIN_MS = 2_000  # what a killed client had sent has arrived
CLUSTER = "west"
ASKS_MAX = 14  # of a replay, before it is killed


class Interrupted(Exception):
    """The replaying process was killed."""


class _Process:
    """A blocking client: the world goes on while it waits for something. `asks_left`: until it is killed."""

    def __init__(self, region: Region, asks_left: int) -> None:
        self.region = region
        self.asks_left = asks_left

    def wait_for(self, coroutine: Coroutine[Promise, None, Any]) -> Any:
        world = self.region.world
        ended = world.spawn(coroutine)
        world.run(world.now + 2 * ANSWER_MS, lambda: ended.done)
        return ended.value

    def sleep(self, seconds: float) -> None:
        world = self.region.world
        world.run(world.now + int(seconds * 1_000))

    def clock(self) -> float:
        return self.region.world.now / 1_000

    def connect(self, addresses: str) -> "_Connection":
        numbers = {f"{place(one)}:{DATA_PORT}": one for one in self.region.brokers}
        for address in addresses.split(","):
            client = Client(self.region.world, self.region.network, "replay")
            if self.wait_for(client.connect(self.region.node(numbers[address]))):
                return _Connection(self, client, address)
        raise NoAnswer(addresses)


class _Connection:
    """To one broker."""

    def __init__(self, process: _Process, client: Client, address: str) -> None:
        self._process = process
        self._client = client
        self._address = address

    def __enter__(self) -> "_Connection":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def ask(self, api_key: int, message: Message) -> Any:
        version = VERSIONS[api_key][-1]
        self._process.asks_left -= 1
        if not self._process.asks_left:
            self._client.send(api_key, message, version)
            raise Interrupted
        asked = self._client.ask(api_key, message, ANSWER_MS, version=version)
        answer = self._process.wait_for(asked)
        if answer is None:
            raise NoAnswer(self._address)
        return answer


class ReplayingOperator(CutBackOperator):
    """Of what the first region had beyond a failover's cut."""

    async def restore_with_tails(self) -> None:
        await self.begin()
        await self.end("failover")
        await self._world.sleep(1_500)
        await self.restore()

    async def replay_tails(self) -> None:
        """Until a replay has come to its end."""
        asks_left = self._world.rng("replay").randrange(1, ASKS_MAX)
        while True:
            process = _Process(self._ends.destination, asks_left)
            try:
                for tail, records in self._tails():
                    self._replay(process, tail, records)
            except (Interrupted, Failure, NoAnswer) as error:
                self._world.note("replay", f"ends: {type(error).__name__} {error}")
                asks_left = 0
                await self._world.sleep(AGAIN_MS)
            else:
                return

    def _replay(self, process: _Process, tail: Tail, records: list[OrphanRecord]) -> None:
        """As `causeway orphans replay` does, of what the region that took over has not."""
        bootstrap = self._ends.destination.bootstrap_servers
        source, since = old_partition_of(tail, CLUSTER), tail.orphan.base_offset
        with TopicClient(
            bootstrap, TOPIC, connect=process.connect, clock=process.clock, sleep=process.sleep
        ) as client:
            found = Successors.read(client, source, since).classify(records)
            chosen = [each for each, kind in found if kind is OrphanClass.UNIQUE]
            appended, there = replay(client, tail, chosen, CLUSTER, lambda done: None)
        self._world.note("replay", f"{tail.name}: {appended} appended, {there} were there")

    def _tails(self) -> list[tuple[Tail, list[OrphanRecord]]]:
        """By name; each from one of its copies."""
        found: dict[str, tuple[Tail, list[OrphanRecord]]] = {}
        for node in self._ends.source.nodes.values():
            for tail, records in _tails_of(node.disk):
                found.setdefault(tail.name, (tail, records))
        return [found[name] for name in sorted(found)]

    def not_once(self, logs: Logs) -> Iterator[str]:
        """Each record of a tail lies in the topic, by its headers and with its value."""
        wanted = {
            (tail.name, one.record.offset, one.leader_epoch, one.record.value)
            for tail, records in self._tails()
            for one in records
        }
        if not wanted:
            yield "nothing was sealed"
        here = logs[self._ends.destination.region]
        counts = Counter(
            _origin(record)
            for partition in self._ends.source.partitions()
            for batch in batches(here[partition], partition)
            for record in batch.records()
            if ORPHAN in dict(record.headers)
        )
        for each in sorted(wanted | counts.keys()):
            if (each in wanted, counts[each]) != (True, 1):
                yield f"{each} was replayed {counts[each]} times"


def _origin(record: Any) -> tuple[str, int, int, bytes | None]:
    headers = dict(record.headers)
    return headers[ORPHAN].decode(), int(headers[OFFSET]), int(headers[EPOCH]), record.value


def _tails_of(disk: Disk) -> Iterator[tuple[Tail, list[OrphanRecord]]]:
    """As the broker of this disk describes them, and their records."""
    for folder in folders(disk):
        manifest = json.loads(_whole(disk, f"{folder}/manifest.json"))
        data = b"".join(_whole(disk, f"{folder}/{file['file']}") for file in manifest["files"])
        fields = ("topic", "partition", "base_offset", "next_offset", "records")
        name = folder.removeprefix("orphans/")
        orphan = pb.Orphan(name=name, **{each: manifest[each] for each in fields})
        yield Tail(name, (TailCopy(0, "", orphan),)), list(records_in(memoryview(data)))


def _whole(disk: Disk, path: str) -> bytes:
    return bytes(disk.read(path, 0, disk.size(path)))
