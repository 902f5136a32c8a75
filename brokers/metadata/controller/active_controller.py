"""The active controller: decides before the disk has written, and reports results once they are committed.

Decisions are based on `ahead`, the image with all decisions, committed or not; `image` has committed records only. When
this node ceases to be active, another leader may commit or truncate the records in flight: their outcome is unknown.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch, Offset, Ticket
from brokers.metadata.commands.commands import Command
from brokers.metadata.controller.controller import Controller
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.image.record_batches import value_batch
from brokers.metadata.image.record_serde import encode
from brokers.metadata.image.replay import replay
from brokers.security.origin import Origin
from brokers.timers import earliest
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import NoOpRecord
from brokers.wire.primitives import WireError


@dataclass(frozen=True, slots=True)
class CommandCompleted:
    """The command with this token is committed, or refused. An image has it from `next_offset` on."""

    token: Ticket
    result: object | Refusal
    next_offset: Offset = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    """A decision in flight; committed when the high watermark reaches `next_offset`."""

    next_offset: Offset
    records: tuple[Message, ...] = field(repr=False)
    token: Ticket | None
    result: object | Refusal


class ActiveController:
    """Active from `begin` to `end`. After `idle_ms` without a record a NoOpRecord is due."""

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
        """The image with all decisions; only while active."""
        assert self._ahead is not None
        return self._ahead

    @property
    def is_settled(self) -> bool:
        """Whether every decision is committed."""
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
        """This node becomes active; `image` has every committed record. A lone node keeps no broker sessions."""
        self._ahead = image.copy()
        self.leader_epoch = leader_epoch
        self._idle_ms, self._wrote_at = idle_ms, now
        self._is_watching = has_company
        if has_company:
            self._controller.activate(self._ahead, now)

    def end(self, refusal: Refusal) -> list[CommandCompleted]:
        """This node is no longer active: the commands in flight fail with `refusal`."""
        waiting, self._entries = self._entries, deque()
        self._ahead = None
        self._controller.deactivate()
        return [CommandCompleted(each.token, refusal) for each in waiting if each.token is not None]

    def own_commands(self, now: Instant) -> Sequence[Command]:
        """The controller's own commands that are due."""
        return () if not self._is_watching else self._controller.on_time(self.ahead, now)

    def is_idle(self, now: Instant) -> bool:
        return self._idle_ms is not None and now >= self._wrote_at + self._idle_ms

    def decide(
        self,
        command: Command,
        token: Ticket | None,
        log_end_offset: Offset,
        now: Instant,
        origin: Origin | None = None,
    ) -> bytearray | None:
        """The batch to append at the log's end; None for a result without records.

        What changes at the request of `origin` is in the operator log, too.
        """
        records: tuple[Message, ...] = ()
        values: tuple[bytes, ...] = ()
        result: object | Refusal
        try:
            decision = self._controller.decide(self.ahead, command, log_end_offset, now)
            # Encoded before the decision takes effect: a value from another node may be too large for a record.
            decided, result = decision.records, decision.result
            if decided and origin is not None:
                decided += self._controller.operation_records(
                    self.ahead, origin, command, result, now
                )
            values = tuple(map(encode, decided))
            records = decided
        except Refusal as refusal:
            result = refusal
        except WireError as error:
            result = Refusal(KafkaError.INVALID_REQUEST, str(error))
        next_offset = log_end_offset + len(records)
        if records:
            replay(self.ahead, records, next_offset)
            self._wrote_at = now
        # A result without records waits as well: it may depend on a decision that is not committed yet.
        self._entries.append(_Entry(next_offset, records, token, result))
        return self._batch(values, log_end_offset, now) if values else None

    def no_op(self, log_end_offset: Offset, now: Instant) -> bytearray:
        """The batch of a NoOpRecord, so that the age of the committed metadata can be measured."""
        self._wrote_at = now
        records = (NoOpRecord(),)
        self._entries.append(_Entry(log_end_offset + 1, records, None, None))
        return self._batch(tuple(map(encode, records)), log_end_offset, now)

    def _batch(self, values: tuple[bytes, ...], base_offset: Offset, now: Instant) -> bytearray:
        epoch = self.leader_epoch
        return value_batch(values, base_offset=base_offset, leader_epoch=epoch, now=now)

    def committed(
        self, image: Image, high_watermark: Offset
    ) -> list[CommandCompleted | ImageDelta]:
        """Applies the decisions below the high watermark to `image` -> deltas and results, in order."""
        done: list[CommandCompleted | ImageDelta] = []
        while self._entries and self._entries[0].next_offset <= high_watermark:
            entry = self._entries.popleft()
            if entry.records:
                delta = replay(image, entry.records, entry.next_offset)
                if delta != ImageDelta():
                    done.append(delta)
            if entry.token is not None:
                done.append(CommandCompleted(entry.token, entry.result, entry.next_offset))
        return done
