"""The stream from a source, as the destination's replicators use it: subscriptions, credit, beacons and the clock."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from brokers.ids import Instant, Offset
from linker.data.byte_rate import ByteRate
from linker.data.credit import CreditWindow, StreamSender
from linker.data.lag import SourceClock
from linker.frames import Agreed, AskBeacon, Beacon, Chunk, Declined
from linker.offset_bounds import OffsetBounds
from linker.protocol_versions import SPOKEN
from linker.region_client import Effects
from linker.window_budget import WindowBudget

DataFrame: TypeAlias = Chunk | Agreed | Declined | Beacon


class Subscriber(Protocol):
    """Receives the frames of one subscription."""

    def on_chunk(self, chunk: Chunk, now: Instant) -> Effects: ...

    def on_agreed(self, frame: Agreed, now: Instant) -> Effects: ...

    def on_declined(self, frame: Declined, now: Instant) -> Effects: ...

    def on_bounds(self, bounds: OffsetBounds, clock: Instant, now: Instant) -> Effects: ...


class DestinationStream:
    """Open from `open` to `close`. Frames that are sent while it is closed are dropped."""

    def __init__(
        self,
        window_bytes: Callable[[], int] = lambda: 0,
        rate: ByteRate | None = None,
        budget: Callable[[], WindowBudget | None] = lambda: None,
        on_excess: Callable[[Instant], Effects] = lambda now: [],
    ) -> None:
        """`window_bytes`: how many bytes of chunks may be under way, asked whenever it opens; `budget`: of which that
        grows with the round trip, if it does; `on_excess`: what is done with a source that sends more than it may."""
        self.sender = StreamSender()
        self.window = CreditWindow(self.sender, 0, rate)
        self._rate = rate
        self.clock = SourceClock()
        self.beacon_clock = SourceClock()  # in beacons alone: those tell of all that is watched
        self.is_open = False
        self.version = SPOKEN.newest  # of the protocol, once it is open
        self._window_bytes, self._budget = window_bytes, budget
        self._on_excess = on_excess
        self._subscribers: dict[int, Subscriber] = {}
        self._subscriptions = 0
        self._nonce = 0
        self._beacons_asked: dict[int, Callable[[Instant], Effects]] = {}

    def open(
        self, version: int = SPOKEN.newest, round_trip_ms: int = 0, now: Instant = 0
    ) -> Effects:
        """The source has answered the handshake, after so many milliseconds."""
        self.is_open, self.version = True, version
        self.window = CreditWindow(
            self.sender, self._window_bytes(), self._rate, self._budget(), round_trip_ms
        )
        return [*self.window.open(now)]

    def close(self) -> None:
        """The stream was lost, or could not be opened."""
        self.is_open = False
        self.window.close()
        self._beacons_asked.clear()

    def subscribe(self, subscriber: Subscriber) -> int:
        """Returns the number of a new subscription, whose frames go to the subscriber."""
        self._subscriptions += 1
        self._subscribers[self._subscriptions] = subscriber
        return self._subscriptions

    def unsubscribe(self, subscription: int) -> None:
        """Frames with this number are dropped from now on."""
        self._subscribers.pop(subscription, None)

    def ask_beacon(
        self, then: Callable[[Instant], Effects], topic: str = "", metadata_offset: Offset = 0
    ) -> Effects:
        """Asks the source for a beacon. `then` runs when it arrives, and never if the stream is lost before.

        With a `topic` that nobody writes since `metadata_offset`, it comes once all of it on this stream is committed.
        """
        self._nonce += 1
        self._beacons_asked[self._nonce] = then
        return [*self.sender.send(AskBeacon(self._nonce, topic, metadata_offset))]

    def on_frame(self, frame: DataFrame, now: Instant) -> Effects:
        match frame:
            case Chunk() if not self.window.admits(len(frame.data)):
                return self._on_excess(now)
            case Chunk(subscription=subscription, clock=clock):
                self.clock.update(clock, now)
                subscriber = self._subscribers.get(subscription)
                if subscriber is None:
                    return [*self.window.release(len(frame.data))]
                return subscriber.on_chunk(frame, now)
            case Beacon():
                return self._on_beacon(frame, now)
            case Agreed(subscription=subscription, clock=clock):
                self.clock.update(clock, now)
                subscriber = self._subscribers.get(subscription)
                return subscriber.on_agreed(frame, now) if subscriber is not None else []
            case Declined(subscription=subscription):
                subscriber = self._subscribers.get(subscription)
                return subscriber.on_declined(frame, now) if subscriber is not None else []

    def _on_beacon(self, frame: Beacon, now: Instant) -> Effects:
        self.clock.update(frame.clock, now)
        self.beacon_clock.update(frame.clock, now)
        effects: Effects = []
        for subscription, bounds in frame.bounds:
            subscriber = self._subscribers.get(subscription)
            if subscriber is not None:
                effects += subscriber.on_bounds(bounds, frame.clock, now)
        asked = self._beacons_asked.pop(frame.nonce, None)
        return effects + (asked(now) if asked is not None else [])
