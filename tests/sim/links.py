"""The streams between regions, as a gRPC shell keeps them: frames in order, an end that is heard of or is not.

Streams that a core dialed have its numbers, which are negative; those that its host accepted have the host's.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from brokers.ids import Instant
from linker.errors import LinkError
from linker.events import (
    ChunkSent,
    CloseStream,
    Dial,
    FrameArrived,
    Send,
    Stream,
    StreamAccepted,
    StreamDialed,
    StreamLost,
)
from linker.frames import Chunk, Declined, Frame
from linker.wire import frames
from tests.sim.network import Network, Pipe

if TYPE_CHECKING:
    from tests.sim.nodes import Node

DIALER, ACCEPTOR = 0, 1


class Joined:
    """One stream between two processes: what each calls it, and the pipe."""

    def __init__(
        self, pipe: Pipe, nodes: tuple["Node", "Node"], names: tuple[Stream, Stream]
    ) -> None:
        self.pipe = pipe
        self.nodes = nodes
        self.names = names
        for end in (DIALER, ACCEPTOR):
            pipe.lost[end] = lambda why, end=end: nodes[end].streams.lost(
                names[end], LinkError.UNKNOWN, why
            )

    def send(self, sender: int, frame: Frame) -> None:
        """As bytes: nothing is shared between processes."""
        receiver = 1 - sender
        data = frames.encode(frame)
        if isinstance(frame, Declined):
            self.nodes[sender].streams.on_declined(frame)
        left = self.pipe.send(sender, lambda: self._arrive(receiver, data), len(data))
        if isinstance(frame, Chunk):
            self.nodes[sender].streams.on_chunk()
            node, name, life = self.nodes[sender], self.names[sender], self.nodes[sender].life
            node.world.at(left, lambda: node.streams.chunk_left(life, name))

    def _arrive(self, receiver: int, data: bytes) -> None:
        frame = frames.decode(data)
        assert frame is not None, data[:80]
        self.nodes[receiver].deliver(FrameArrived(self.names[receiver], frame))
        if isinstance(frame, Chunk):
            self.nodes[1 - receiver].on_word()


class Streams:
    """All streams of one process, in both roles. `directory` says which node answers at an address."""

    def __init__(self, node: "Node", network: Network) -> None:
        self.directory: dict[str, Node] = {}
        self.on_chunk: Callable[[], None] = lambda: None  # before one is sent
        self.on_declined: Callable[[Declined], None] = lambda frame: None  # as this one is sent
        self._node = node
        self._network = network
        self._joined: dict[Stream, Joined] = {}
        self._last: Stream = 0

    def perform(self, effect: Dial | Send | CloseStream) -> None:
        match effect:
            case Dial():
                self._dial(effect)
            case Send(stream, frame):
                if stream in self._joined:
                    self._joined[stream].send(DIALER if stream < 0 else ACCEPTOR, frame)
            case CloseStream(stream):
                joined = self._joined.pop(stream, None)
                if joined is not None:
                    joined.pipe.close(DIALER if stream < 0 else ACCEPTOR)

    def _dial(self, dial: Dial) -> None:
        """Answered when the other process is there, refused when it is not, silent while the path is blocked."""
        peer = self._peer(dial)
        world, life = self._node.world, self._node.life
        arrives = self._network.arrival(self._node.place, peer.place)
        late = world.now + dial.timeout_ms
        if arrives > late:
            world.at(late, lambda: self._refused(life, dial.stream, LinkError.TIMEOUT_ERROR))
        else:
            world.at(arrives, lambda: self._reach(life, peer, dial.stream))

    def _peer(self, dial: Dial) -> "Node":
        """Discovery asks the addresses in turn, and takes the first that answers in time."""
        if dial.endpoint:
            return self.directory[dial.endpoint]
        peers = [self.directory[address] for address in dial.bootstrap_servers]
        due = self._node.world.now + dial.timeout_ms // len(peers)
        return next((peer for peer in peers if peer.up and self._answers(peer, due)), peers[0])

    def _answers(self, peer: "Node", due: Instant) -> bool:
        """The paths there and back let something through by then."""
        here, there = self._node.place, peer.place
        return max(self._network.opens(here, there), self._network.opens(there, here)) <= due

    def _reach(self, life: int, peer: "Node", stream: Stream) -> None:
        if life != self._node.life or not self._node.alive:
            return
        if not peer.up:
            self._refused(life, stream, LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR)
            return
        pipe = self._network.pipe(self._node.place, peer.place)
        joined = Joined(pipe, (self._node, peer), (stream, peer.streams.new_name()))
        self._joined[stream] = joined
        peer.streams.accept(joined)
        pipe.send(ACCEPTOR, lambda: self._node.deliver(StreamDialed(stream)))

    def _refused(self, life: int, stream: Stream, error: LinkError) -> None:
        if life == self._node.life:
            self._node.deliver(StreamLost(stream, error, "no connection"))

    def new_name(self) -> Stream:
        self._last += 1
        return self._last

    def accept(self, joined: Joined) -> None:
        name = joined.names[ACCEPTOR]
        self._joined[name] = joined
        self._node.deliver(StreamAccepted(name))

    def lost(self, stream: Stream, error: LinkError, because: str) -> None:
        if self._joined.pop(stream, None) is not None:
            self._node.deliver(StreamLost(stream, error, because))

    def chunk_left(self, life: int, stream: Stream) -> None:
        if life == self._node.life and stream in self._joined:
            self._node.deliver(ChunkSent(stream))

    def die(self, *, silently: bool) -> None:
        self._joined.clear()
        self._network.die(self._node.place, silently=silently)
