"""What a node asks of others, as `brokers/shell/peers.py` sends it: a connection for each peer and channel.

An `Ask` crosses the simulated network as bytes and reaches the other node's listener as a request of a client does.
It fails as real ones do: REFUSED where the machine is there and nobody listens, CLOSED when the connection is lost,
TIMEOUT when nothing comes back; then the channel's connection is given up.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokers.config.endpoints import Address
from brokers.effects import Ask
from brokers.events import Answered, AskFailure, Listener
from brokers.ids import Instant, Peer, Ticket
from brokers.wire.codec import decode_response
from brokers.wire.frames import (
    LENGTH_BYTES,
    RequestHeader,
    encode_request_frame,
    parse_response_header,
)
from brokers.wire.message import Message
from tests.sim.listeners import SERVER, Connection
from tests.sim.network import Network, Pipe

if TYPE_CHECKING:
    from tests.sim.nodes import Node

ASKER = 0  # the end of each pipe that is the asking node's


@dataclass(frozen=True, slots=True)
class _Waiting:
    ticket: Ticket
    header: RequestHeader
    due: Instant  # of the world


class Channel:
    """One connection, or the attempt at one, and who waits for answers on it, in order."""

    def __init__(self, peers: "Peers", peer: Peer, name: str) -> None:
        self._peers = peers
        self._peer = peer
        self._name = name
        self._waiting: deque[_Waiting] = deque()
        self._unsent: list[bytearray] = []
        self._pipe: Pipe | None = None
        self._server: Connection | None = None
        self._is_connected = False
        self._ended = False
        self._last_correlation = 0
        self._connect()

    # --- out ---

    def send(self, ask: Ask) -> None:
        assert isinstance(ask.message, Message)
        world = self._peers.node.world
        self._last_correlation += 1
        client_id = f"broker-{self._peers.node.config.node_id}-{self._name}"
        header = RequestHeader(ask.api_key, ask.api_version, self._last_correlation, client_id)
        chunks = encode_request_frame(header, ask.message)
        frame = bytearray(b"".join(bytes(chunk) for chunk in chunks)[LENGTH_BYTES:])
        due = world.now + ask.timeout_ms
        self._waiting.append(_Waiting(ask.ticket, header, due))
        self._peers.at(due, self._on_time)
        if self._is_connected:
            self._put(frame)
        else:
            self._unsent.append(frame)

    def _put(self, frame: bytearray) -> None:
        pipe, server = self._pipe, self._server
        assert pipe is not None and server is not None
        pipe.send(ASKER, lambda: server.on_frame(frame), len(frame))

    # --- the connection ---

    def _connect(self) -> None:
        peers, there = self._peers, self._peers.reached_by(self._peer)
        if there is None:  # no such host
            peers.at(peers.node.world.now, lambda: self.end(AskFailure.CLOSED))
            return
        node, kind = there
        arrives = peers.network.arrival(peers.node.place, node.place)
        peers.node.world.at(arrives, lambda: self._reach(node, kind))

    def _reach(self, node: "Node", kind: Listener) -> None:
        """The other machine's kernel answers, if it runs."""
        if self._ended or not node.has_power:
            return
        own = self._peers.node
        if not node.listens(kind):
            refused = self._peers.network.arrival(node.place, own.place)
            self._peers.at(refused, lambda: self.end(AskFailure.REFUSED))
            return
        self._pipe, self._server = node.listener.accept(own.place, self._on_frame, kind)
        self._pipe.lost[ASKER] = lambda _: self.end(AskFailure.CLOSED)
        self._pipe.send(SERVER, self._on_connected)

    def _on_connected(self) -> None:
        self._is_connected = True
        unsent, self._unsent = self._unsent, []
        for frame in unsent:
            self._put(frame)

    # --- in ---

    def _on_frame(self, data: bytes) -> None:
        if self._ended:
            return
        first = self._waiting.popleft()
        key, version, sent, _ = first.header
        correlation, position = parse_response_header(key, version, data)
        assert correlation == sent, (correlation, first)
        message = decode_response(key, version, data, position)
        self._peers.node.deliver(Answered(first.ticket, message))

    # --- the end ---

    def _on_time(self) -> None:
        now = self._peers.node.world.now
        if self._ended or not any(each.due <= now for each in self._waiting):
            return
        late = [each for each in self._waiting if each.due <= now]
        self._waiting = deque(each for each in self._waiting if each.due > now)
        if self._pipe is not None:
            self._pipe.close(ASKER)
        self.end(AskFailure.CLOSED)
        for each in late:
            self._peers.node.deliver(Answered(each.ticket, None, AskFailure.TIMEOUT))

    def abandon(self) -> None:
        """The process is gone: what the network still has for it concerns nobody."""
        self._ended = True

    def end(self, failure: AskFailure) -> None:
        """Everybody who still waits hears why."""
        if self._ended:
            return
        self._ended = True
        self._peers.forget(self._peer, self._name)
        for each in self._waiting:
            self._peers.node.deliver(Answered(each.ticket, None, failure))
        self._waiting.clear()


class Peers:
    """All channels of one process. `directory` says who listens where."""

    def __init__(self, node: "Node", network: Network) -> None:
        self.node = node
        self.network = network
        self.directory: dict[Address, tuple[Node, Listener]] = {}
        self._channels: dict[tuple[Peer, str], Channel] = {}

    def ask(self, ask: Ask) -> None:
        channel = self._channels.get((ask.peer, ask.channel))
        if channel is None:
            channel = self._channels[ask.peer, ask.channel] = Channel(self, ask.peer, ask.channel)
        channel.send(ask)

    def reached_by(self, peer: Peer) -> "tuple[Node, Listener] | None":
        return self.directory.get(Address(peer.host, peer.port))

    def at(self, instant: Instant, act: Callable[[], None]) -> None:
        """In this life, and not while the process stands still."""
        life = self.node.life
        self.node.world.at(instant, lambda: self.node.when_awake(life, act))

    def forget(self, peer: Peer, name: str) -> None:
        """The channel has ended: the next one who asks gets a new one."""
        self._channels.pop((peer, name), None)

    def die(self) -> None:
        for channel in self._channels.values():
            channel.abandon()
        self._channels.clear()
