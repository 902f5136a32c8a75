"""Entries of the operator log to and from their records."""

from brokers.metadata.image.image import Operation
from brokers.security.origin import Origin
from brokers.wire.messages.metadata_records import OperationRecord, OperationResource


def operation_record(operation: Operation, oldest: int) -> OperationRecord:
    """`oldest`: the number of the first entry that is kept."""
    return OperationRecord(
        number=operation.number,
        oldest=oldest,
        time=operation.time,
        principal=operation.origin.principal,
        client_id=operation.origin.client_id,
        host=operation.origin.host,
        operation=operation.operation,
        resources=[
            OperationResource(resource_type=kind, name=name) for kind, name in operation.resources
        ],
        details=operation.details,
    )


def operation_of(record: OperationRecord) -> Operation:
    return Operation(
        number=record.number,
        time=record.time,
        origin=Origin(record.principal, record.client_id, record.host),
        operation=record.operation,
        resources=tuple((each.resource_type, each.name) for each in record.resources),
        details=record.details,
    )
