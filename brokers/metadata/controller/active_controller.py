"""The active controller: decides ahead of the disk, and tells the results once they are committed.

It decides on `ahead`, the image with everything that it has decided, while `image` has only what is committed. When it
ceases to be active, what is on its way may yet be committed by another, or be cut off: nobody knows.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch, Offset, Ticket
from brokers.metadata.commands.commands import Command
from brokers.metadata.controller.controller import Controller
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.image.record_serde import encode
from brokers.metadata.image.replay import replay
from brokers.timers import earliest
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import NoOpRecord
from brokers.wire.primitives import WireError


@dataclass(frozen=True, slots=True)
class CommandCompleted:
    """The command with this token is committed, or refused. `next_offset` is where an image has it."""

    token: Ticket
    result: object | Refusal
    next_offset: Offset = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    """A decision on its way to the disk; committed when everything below `next_offset` is."""

    next_offset: Offset
    records: tuple[Message, ...] = field(repr=False)
    token: Ticket | None
    result: object | Refusal


class ActiveController:
    """Active from `begin` to `end`. `idle_ms`: after so long without a record it writes one that says nothing."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._ahead: Image | None = None
        self._entries: deque[_Entry] = deque()
        self._is_watching = False
        self._idle_ms: int | None = None
        self._wrote_at: Instant = 0
        self.leader_epoch: LeaderEpoch = -1

    @property
    def is_active(self) -> bool:
        return self._ahead is not None

    @property
    def ahead(self) -> Image:
        """While it is active."""
        assert self._ahead is not None
        return self._ahead

    @property
    def is_settled(self) -> bool:
        """Everything decided is committed."""
        return not self._entries

    @property
    def deadline(self) -> Instant | None:
        if not self.is_active:
            return None
        idle_at = None if self._idle_ms is None else self._wrote_at + self._idle_ms
        return earliest(idle_at, self._controller.deadline if self._is_watching else None)

    def begin(
        self,
        image: Image,
        leader_epoch: LeaderEpoch,
        now: Instant,
        *,
        idle_ms: int | None,
        has_company: bool,
    ) -> None:
        """From here on; `image` has everything that is committed. A lone node keeps no sessions of others."""
        self._ahead = image.copy()
        self.leader_epoch = leader_epoch
        self._idle_ms, self._wrote_at = idle_ms, now
        self._is_watching = has_company
        if has_company:
            self._controller.activate(self._ahead, now)

    def end(self, refusal: Refusal) -> list[CommandCompleted]:
        """Who waits hears that the outcome is unknown."""
        waiting, self._entries = self._entries, deque()
        self._ahead = None
        self._controller.deactivate()
        return [CommandCompleted(each.token, refusal) for each in waiting if each.token is not None]

    def own_commands(self, now: Instant) -> Sequence[Command]:
        """What the controller asks of itself."""
        return () if not self._is_watching else self._controller.on_time(self.ahead, now)

    def is_idle(self, now: Instant) -> bool:
        return self._idle_ms is not None and now >= self._wrote_at + self._idle_ms

    def decide(
        self, command: Command, token: Ticket | None, log_end_offset: Offset, now: Instant
    ) -> tuple[bytes, ...]:
        """The values of the records to append at the log's end, in one batch; maybe none."""
        records: tuple[Message, ...] = ()
        values: tuple[bytes, ...] = ()
        result: object | Refusal
        try:
            decision = self._controller.decide(self.ahead, command, log_end_offset, now)
            # Before anything relies on it: what other nodes ask for may have no place in a record.
            values = tuple(map(encode, decision.records))
            records, result = decision.records, decision.result
        except Refusal as refusal:
            result = refusal
        except WireError as error:
            result = Refusal(KafkaError.INVALID_REQUEST, str(error))
        next_offset = log_end_offset + len(records)
        if records:
            replay(self.ahead, records, next_offset)
            self._wrote_at = now
        # Even what writes nothing waits its turn: it may go by a decision that is not committed yet.
        self._entries.append(_Entry(next_offset, records, token, result))
        return values

    def pass_time(self, log_end_offset: Offset, now: Instant) -> tuple[bytes, ...]:
        """A record that says nothing, so that it can be seen how old what is committed is."""
        self._wrote_at = now
        records = (NoOpRecord(),)
        self._entries.append(_Entry(log_end_offset + 1, records, None, None))
        return tuple(map(encode, records))

    def committed(
        self, image: Image, high_watermark: Offset
    ) -> list[CommandCompleted | ImageDelta]:
        """Apply what is committed now to `image`, and tell it, in order."""
        told: list[CommandCompleted | ImageDelta] = []
        while self._entries and self._entries[0].next_offset <= high_watermark:
            entry = self._entries.popleft()
            if entry.records:
                delta = replay(image, entry.records, entry.next_offset)
                if delta != ImageDelta():
                    told.append(delta)
            if entry.token is not None:
                told.append(CommandCompleted(entry.token, entry.result, entry.next_offset))
        return told
