"""What a coordinator asks of its runtime. All its other effects go to the host as they are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.ids import Instant, Ticket

AppendCallback: TypeAlias = "Callable[[KafkaError, Instant], list[CoordinatorEffect]]"


@dataclass(frozen=True, slots=True)
class CoordinatorReply:
    """The reply to a request. Each ticket gets one, unless its client has disconnected."""

    ticket: Ticket
    response: object


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append (key, value or None) to one partition of the coordinator's topic, as one batch.

    `callback` is called once. With NONE: the batch is below the high watermark; in the order of the appends to that
    partition. With NOT_COORDINATOR: the partition has been unloaded, and whether the batch is committed is not known.
    With another error: the batch was refused, and nothing has happened since, so the callback can take back what was
    changed for it.
    """

    partition: int
    records: tuple[tuple[bytes, bytes | None], ...] = field(repr=False)
    callback: AppendCallback = field(repr=False, compare=False)


CoordinatorEffect: TypeAlias = "CoordinatorReply | AppendRecords | Effect"
