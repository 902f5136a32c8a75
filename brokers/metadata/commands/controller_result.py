"""What the rules produce: records to be written, and what to tell the asker once they are committed."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from brokers.errors import KafkaError, Refusal
from brokers.wire.message import Message

# More would make one batch of the metadata log too large; the number is Kafka's.
RECORDS_MAX = 10_000

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ControllerResult:
    """`records` go into one batch, so they take effect together or not at all."""

    records: tuple[Message, ...] = field(repr=False)
    result: object


class RecordBudget:
    """How many records one command may still produce."""

    def __init__(self) -> None:
        self._left = RECORDS_MAX

    def take(self, count: int) -> None:
        if count > self._left:
            because = f"one request may change at most {RECORDS_MAX} partitions and settings"
            raise Refusal(KafkaError.POLICY_VIOLATION, because)
        self._left -= count


def once(keys: Iterable[Key]) -> Iterator[tuple[Key, bool]]:
    """Each key in order of its first appearance, and whether it appeared again."""
    counts: dict[Key, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    for key, count in counts.items():
        yield key, count > 1
