"""What a rule returns for a command: records to append, and the response to send once these are committed."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from brokers.errors import KafkaError, Refusal
from brokers.wire.message import Message

# Kafka's limit: more records would make one batch of the metadata log too large.
RECORDS_MAX = 10_000

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ControllerResult:
    """Kafka's ControllerResult. `records` are appended in one batch, so all or none of them take effect."""

    records: tuple[Message, ...] = field(repr=False)
    result: object


class RecordBudget:
    """Counts how many records one command may still produce."""

    def __init__(self) -> None:
        self._left = RECORDS_MAX

    def take(self, count: int) -> None:
        """Raises Refusal POLICY_VIOLATION when the command exceeds `RECORDS_MAX`."""
        if count > self._left:
            because = f"one request may change at most {RECORDS_MAX} partitions and settings"
            raise Refusal(KafkaError.POLICY_VIOLATION, because)
        self._left -= count


def once(keys: Iterable[Key]) -> Iterator[tuple[Key, bool]]:
    """Each key in order of its first occurrence, and whether it occurs again."""
    counts: dict[Key, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    for key, count in counts.items():
        yield key, count > 1
