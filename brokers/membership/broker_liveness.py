"""The active controller tells a broker that is gone from one that is slow.

    heard --connection closed, or silent for long--> silent --asked where it serves clients--> refused: gone, fence it
      ^________________heard again_____________________|                              \\--> anything else: ask again

Nobody listens where a process was killed, and the machine says so at once; a process that stalls still has its
listener, and keeps its leaderships until its session ends. A refusal alone is not enough: between controllers and
brokers may be a firewall that refuses. So it counts only against a broker that stays silent meanwhile.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from brokers.events import AskFailure
from brokers.ids import BrokerId, Instant, Peer, Ticket

LATE_MS = 1_000  # a broker asks for metadata twice a second
TIMEOUT_MS = 1_000  # of one question
AGAIN_MS = 25  # after a connection that was accepted and lost: the process may be ending just now
STALLED_MS = 500  # after silence, between questions
# How long a broker must have been silent for a refusal to count: it may only have changed its connection, or not have
# found this controller yet.
SILENT_MS = 50
NEVER_HEARD_MS = 250


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask this broker anything -> `probed`."""

    peer: Peer


@dataclass(frozen=True, slots=True)
class Fence:
    """This registration's process is gone."""

    peer: Peer
    broker_epoch: int


ProbeEffect: TypeAlias = Probe | Fence


@dataclass(slots=True)
class _Watched:
    peer: Peer
    broker_epoch: int
    heard_at: Instant  # or since when it could have been
    was_heard: bool = False
    ticket: Ticket | None = None  # of what it asked last
    asking: bool = False
    ask_at: Instant = 0
    suspected: bool = False

    @property
    def silence_ms(self) -> int:
        return SILENT_MS if self.was_heard else NEVER_HEARD_MS


class BrokerLiveness:
    """`watch` while this node is the active controller, `rest` when it is no more."""

    def __init__(self) -> None:
        self._watched: dict[BrokerId, _Watched] = {}
        self._is_watching = False

    @property
    def deadline(self) -> Instant | None:
        return min(
            (each.ask_at for each in self._watched.values() if not each.asking), default=None
        )

    def watch(
        self, unfenced: Mapping[BrokerId, tuple[Peer, int]], now: Instant
    ) -> list[ProbeEffect]:
        """Brokers that the region counts on, by where they serve clients, and their broker epochs.

        A new controller asks all of them at once: the one before may have been the one that is gone.
        """
        for broker_id in [each for each in self._watched if each not in unfenced]:
            del self._watched[broker_id]
        for broker_id, (peer, broker_epoch) in unfenced.items():
            known = self._watched.get(broker_id)
            if known is None or (known.peer, known.broker_epoch) != (peer, broker_epoch):
                fresh = _Watched(peer, broker_epoch, heard_at=now, ask_at=now + LATE_MS)
                self._watched[broker_id] = fresh
                if not self._is_watching:
                    fresh.suspected, fresh.ask_at = True, now
        self._is_watching = True
        return self.on_time(now)

    def rest(self) -> None:
        self._watched.clear()
        self._is_watching = False

    def heard(self, broker_id: BrokerId, ticket: Ticket, now: Instant) -> None:
        """The broker has asked this node something, by a request that may be parked here."""
        watched = self._watched.get(broker_id)
        if watched is not None:
            watched.heard_at, watched.was_heard, watched.ticket = now, True, ticket
            watched.suspected, watched.ask_at = False, now + LATE_MS

    def disconnected(self, tickets: Collection[Ticket], now: Instant) -> list[ProbeEffect]:
        """Connections are lost on which these were not answered yet."""
        for watched in self._watched.values():
            if watched.ticket in tickets:
                watched.ticket, watched.suspected = None, True
                watched.heard_at = watched.ask_at = now
        return self.on_time(now)

    def on_time(self, now: Instant) -> list[ProbeEffect]:
        effects: list[ProbeEffect] = []
        for watched in self._watched.values():
            if not watched.asking and watched.ask_at <= now:
                watched.asking = watched.suspected = True
                effects.append(Probe(watched.peer))
        return effects

    def probed(self, peer: Peer, failure: AskFailure, now: Instant) -> list[ProbeEffect]:
        watched = self._watched.get(peer.node_id)
        if watched is None or watched.peer != peer:
            return []
        watched.asking = False
        if not watched.suspected:
            return []  # it was heard meanwhile
        match failure:
            case AskFailure.REFUSED:
                return self._refused(watched, now)
            case AskFailure.CLOSED:
                watched.ask_at = now + AGAIN_MS
            case AskFailure.NONE:
                watched.ask_at = now + LATE_MS
            case _:
                watched.ask_at = now + STALLED_MS
        return []

    def _refused(self, watched: _Watched, now: Instant) -> list[ProbeEffect]:
        silent_at = watched.heard_at + watched.silence_ms
        if now < silent_at:
            watched.ask_at = silent_at
            return []
        watched.ask_at = now + STALLED_MS  # should the fencing come to nothing
        return [Fence(watched.peer, watched.broker_epoch)]
