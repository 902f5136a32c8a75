"""Which brokers were heard of lately: the memory of the active controller, lost with its leadership.

Silence ends a session; the plane then proposes to fence the broker. A controller that was itself away (a machine that
was paused, a long step) has heard nobody meanwhile and must not blame them: what it slept beyond its deadline is
added to every session. Its own broker lives as long as it does, so that one's session has no end.
"""

from collections.abc import Sequence

from brokers.ids import BrokerId, Instant
from brokers.metadata.commands.broker_commands import FenceBroker
from brokers.metadata.image.image import Image

CHECKS_PER_SESSION = 9  # in one session: looking often tells this node's own absence from theirs
LATE_MS = 250  # a look that is later than this was not just late


class BrokerHeartbeatManager:
    """Sessions of brokers; `watch` when this node becomes the active controller, `rest` when it no longer is."""

    def __init__(self, node_id: BrokerId, session_ms: int) -> None:
        self.deadline: Instant | None = None  # when to look for sessions that have ended
        self.timed_out = 0  # sessions that silence ended, since this process began
        self._node_id = node_id
        self._session_ms = session_ms
        self._last_contact: dict[BrokerId, Instant] = {}

    def start(self, image: Image, now: Instant) -> None:
        """Everyone the region counts on has a session from now on: nobody knows when he was heard last.

        This node's broker has none until it registers: what the image has of it is of an earlier life.
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
        """The broker registered, or sent a heartbeat in its present life."""
        self._last_contact[broker_id] = now
        if self.deadline is None:
            self._set_deadline(now)

    def remove(self, broker_id: BrokerId) -> None:
        """It was fenced or unregistered: its id may be taken at once."""
        self._last_contact.pop(broker_id, None)

    def has_session(self, broker_id: BrokerId, now: Instant) -> bool:
        contact_at = self._last_contact.get(broker_id)
        if contact_at is None or broker_id == self._node_id:
            return contact_at is not None
        return now - contact_at <= self._session_ms

    def on_time(self, image: Image, now: Instant) -> Sequence[FenceBroker]:
        """What to propose about brokers whose session has ended."""
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
