"""The operator log: one record of each change that somebody asked for, in the batch of the change itself.

What nobody asked for, as an election after a failure, is not in it. Its bounds are settings of the active controller,
which writes them into the record, so that every node keeps the same entries.
"""

from typing import Final

from brokers.config.broker_config import BrokerConfig
from brokers.ids import Instant
from brokers.metadata.cluster.broker_registration import CAUSEWAY_VERSION
from brokers.metadata.commands.broker_commands import UpdateFeatures
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.image.image import Image, Operation
from brokers.metadata.image.operation_records import operation_record
from brokers.wire.message import Message

OPERATION_LOG_FROM: Final = (
    1  # level of causeway.version; nodes of older releases stop at the record
)
RESOURCES_MAX: Final = 100
DETAILS_MAX: Final = 2_000  # characters
_NAME_MAX: Final = 300


def is_written(image: Image) -> bool:
    """Whether the region's level of causeway.version lets it write the operator log."""
    return image.features.get(CAUSEWAY_VERSION, 0) >= OPERATION_LOG_FROM


def begins_it(command: Command) -> bool:
    """Whether a command raises the level to one that has the log: it is its first entry.

    No node stops at the record behind the level's: each supports the level, or it would be refused.
    """
    return isinstance(command, UpdateFeatures) and any(
        item.name == CAUSEWAY_VERSION and item.level >= OPERATION_LOG_FROM for item in command.items
    )


def operation_records(
    config: BrokerConfig, image: Image, command: RecordOperation, now: Instant
) -> tuple[Message, ...]:
    """The record of a change, where `is_written` or `begins_it`; none where the log is switched off."""
    kept_max = config.operation_log_max_entries
    if kept_max == 0:
        return ()
    number = image.operations[-1].number + 1 if image.operations else 0
    operation = Operation(
        number=number,
        time=now,
        origin=command.origin,
        operation=command.operation,
        resources=tuple(
            (kind, name[:_NAME_MAX]) for kind, name in command.resources[:RESOURCES_MAX]
        ),
        details=_details(command),
    )
    return (operation_record(operation, _oldest(config, image, number, now)),)


def _oldest(config: BrokerConfig, image: Image, number: int, now: Instant) -> int:
    """By number and age; clocks of controllers may differ, so all before an entry that is old are dropped with it."""
    by_count = (
        number + 1 - config.operation_log_max_entries if config.operation_log_max_entries > 0 else 0
    )
    if config.operation_log_retention_ms < 0:
        return max(0, by_count)
    too_old = now - config.operation_log_retention_ms
    by_age = next((each.number for each in image.operations if each.time >= too_old), number)
    return max(0, by_count, by_age)


def _details(command: RecordOperation) -> str:
    left_out = len(command.resources) - RESOURCES_MAX
    details = command.details
    if left_out > 0:
        details = f"and {left_out} more; {details}"
    return details if len(details) <= DETAILS_MAX else f"{details[: DETAILS_MAX - 3]}..."
