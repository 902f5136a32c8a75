"""A Kafka client as bytes on a connection: requests of drawn versions, pipelined, answers in order.

`ask` gives the response, or None when the connection ended or the answer did not come in time: then nobody knows
whether the deed was done.
"""

from collections import deque
from typing import Any

from brokers.wire.codec import decode_response
from brokers.wire.frames import RequestHeader, encode_request_frame, parse_response_header
from brokers.wire.message import Message
from tests.sim.listeners import LENGTH_BYTES
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.world import Promise, World

CLIENT, SERVER = 0, 1
ANSWER_MS = 6_000

# A few versions of each API: old and new layouts, both kinds of headers. Compiling all would cost seconds.
VERSIONS = {
    0: (3, 8, 12),
    1: (4, 11, 12),
    2: (1, 7),
    3: (9, 12),
    8: (2, 8),
    9: (1, 7),
    10: (0, 3),
    11: (5, 9),
    12: (3, 4),
    13: (3, 5),
    14: (3, 5),
    19: (4, 7),
    20: (3, 5),
    21: (1, 2),
    22: (1, 4),
    23: (4,),
    37: (1, 3),
    43: (1, 2),
    44: (0, 1),
    45: (0,),
    55: (2,),
    75: (0,),
    80: (1,),
    81: (0,),
}  # fmt: skip


class Client:
    """One connection of one client to one node; a new one is made when it broke."""

    def __init__(self, world: World, network: Network, name: str) -> None:
        self.world = world
        self.name = name
        self.rng = world.rng(f"client {name}")
        self._network = network
        self._pipe: Any = None
        self._server: Any = None
        self._asked: deque[tuple[RequestHeader, Promise]] = deque()
        self._last_correlation = 0

    async def connect(self, node: Node) -> bool:
        """Whether the node took the connection."""
        self.close()
        await self.world.sleep(self._network.arrival(self.name, node.place) - self.world.now)
        if not node.up:
            return False
        self._pipe, self._server = node.listener.accept(self.name, self._on_frame)
        self._pipe.lost[CLIENT] = self._on_lost
        return True

    @property
    def connected(self) -> bool:
        return self._pipe is not None

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.close(CLIENT)
            self._on_lost("closed by us")

    def send(self, key: int, message: Message, version: int | None = None) -> Promise:
        """The answer, in its time; None when it never comes. Without a version, one is drawn."""
        promise = Promise()
        if self._pipe is None:
            promise.settle(None)
            return promise
        self._last_correlation += 1
        version = self.rng.choice(VERSIONS[key]) if version is None else version
        header = RequestHeader(key, version, self._last_correlation, self.name)
        chunks = encode_request_frame(header, message)
        frame = bytearray(b"".join(bytes(chunk) for chunk in chunks)[LENGTH_BYTES:])
        self._asked.append((header, promise))
        server = self._server
        self._pipe.send(CLIENT, lambda: server.on_frame(frame), len(frame))
        return promise

    async def ask(
        self,
        key: int,
        message: Message,
        timeout_ms: int = ANSWER_MS,
        *,
        version: int | None = None,
    ) -> Any:
        """One answer; a connection whose answer is late is given up: it would be taken for another's."""
        promise = self.world.within(timeout_ms, self.send(key, message, version))
        answer = await promise
        if answer is None:
            self.close()
        return answer

    def _on_frame(self, data: bytes) -> None:
        if not self._asked:
            return  # given up meanwhile
        header, promise = self._asked.popleft()
        correlation, position = parse_response_header(header.api_key, header.api_version, data)
        assert correlation == header.correlation_id, (correlation, header)
        promise.settle(decode_response(header.api_key, header.api_version, data, position))

    def _on_lost(self, _: str) -> None:
        self._pipe = None
        asked, self._asked = self._asked, deque()
        for _header, promise in asked:
            promise.settle(None)
