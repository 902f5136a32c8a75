"""The brokers' sessions, in the memory of the active controller and lost with its leadership.

A session without a heartbeat expires, and the broker is fenced. A controller that was itself paused (a suspended
machine, a long step) received no heartbeats meanwhile: the time by which its check was late is added to every session.
The session of its own broker does not expire.
"""

from collections.abc import Sequence

from brokers.ids import BrokerId, Instant
from brokers.metadata.commands.broker_commands import FenceBroker
from brokers.metadata.image.image import Image

CHECKS_PER_SESSION = 9  # frequent checks distinguish this node's own pauses from the brokers'
LATE_MS = 250  # a check that is later than this means that this node was paused


class BrokerHeartbeatManager:
    """Kafka's BrokerHeartbeatManager: `start` when this node becomes the active controller, `stop` when it resigns."""

    def __init__(self, node_id: BrokerId, session_ms: int) -> None:
        self.deadline: Instant | None = None  # when to check for expired sessions
        self.timed_out = 0  # expired sessions since this process began
        self._node_id = node_id
        self._session_ms = session_ms
        self._last_contact: dict[BrokerId, Instant] = {}

    def start(self, image: Image, now: Instant) -> None:
        """Every unfenced broker gets a session from now on, as the time of its last heartbeat is unknown.

        This node's broker has none until it registers: its registration in the image is of an earlier process.
        """
        self._last_contact = {
            broker.id: now
            for broker in image.brokers.values()
            if not broker.fenced and broker.id != self._node_id
        }
        self._set_deadline(now)

    def stop(self) -> None:
        self._last_contact.clear()
        self.deadline = None

    def touch(self, broker_id: BrokerId, now: Instant) -> None:
        """The broker has registered or sent a heartbeat."""
        self._last_contact[broker_id] = now
        if self.deadline is None:
            self._set_deadline(now)

    def remove(self, broker_id: BrokerId) -> None:
        """The broker was fenced or unregistered: another process may register its id at once."""
        self._last_contact.pop(broker_id, None)

    def has_session(self, broker_id: BrokerId, now: Instant) -> bool:
        contact_at = self._last_contact.get(broker_id)
        if contact_at is None or broker_id == self._node_id:
            return contact_at is not None
        return now - contact_at <= self._session_ms

    def on_time(self, image: Image, now: Instant) -> Sequence[FenceBroker]:
        """The commands that fence brokers whose session has expired."""
        if self.deadline is None or now < self.deadline:
            return ()
        self._extend_sessions(now - self.deadline)
        expired = [each for each in self._last_contact if not self.has_session(each, now)]
        self.timed_out += len(expired)
        for broker_id in expired:
            self.remove(broker_id)
        self._set_deadline(now)
        brokers = (image.brokers.get(each) for each in expired)
        return [
            FenceBroker(broker.id, broker.broker_epoch)
            for broker in brokers
            if broker is not None and not broker.fenced
        ]

    def _extend_sessions(self, late_ms: int) -> None:
        if late_ms > LATE_MS:
            self._last_contact = {each: at + late_ms for each, at in self._last_contact.items()}

    def _set_deadline(self, now: Instant) -> None:
        has_others = any(broker_id != self._node_id for broker_id in self._last_contact)
        self.deadline = now + max(1, self._session_ms // CHECKS_PER_SESSION) if has_others else None
