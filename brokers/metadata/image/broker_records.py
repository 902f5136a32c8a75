"""A broker's registration to and from its records."""

from dataclasses import replace

from brokers.metadata.image.image import BrokerImage, Endpoint, FeatureRange
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.wire.messages.metadata_records import (
    BrokerEndpoint,
    BrokerFeature,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)

# The values of `fenced` and `in_controlled_shutdown` in a BrokerRegistrationChangeRecord; 0: unchanged.
_FLAGS = {1: True, -1: False}


def registration_record(broker: BrokerImage) -> RegisterBrokerRecord:
    """The record of a whole registration."""
    return RegisterBrokerRecord(
        broker_id=broker.id,
        incarnation_id=broker.incarnation,
        broker_epoch=broker.broker_epoch,
        end_points=[
            BrokerEndpoint(name=each.name, host=each.host, port=each.port, security_protocol=0)
            for each in broker.endpoints
        ],
        features=[
            BrokerFeature(
                name=each.name,
                min_supported_version=each.lowest,
                max_supported_version=each.highest,
            )
            for each in broker.features
        ],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.log_dirs),
        cordoned_log_dirs=list(broker.cordoned_log_dirs) or None,
        host_label=broker.host_label,
    )


def broker_of(record: RegisterBrokerRecord) -> BrokerImage:
    """The broker of a record. Raises MetadataLogError for a record without an endpoint."""
    if not record.end_points:
        raise MetadataLogError(f"broker {record.broker_id} registers without an address")
    return BrokerImage(
        id=record.broker_id,
        broker_epoch=record.broker_epoch,
        incarnation=record.incarnation_id,
        endpoints=tuple(Endpoint(each.name, each.host, each.port) for each in record.end_points),
        rack=record.rack,
        host_label=record.host_label,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        features=tuple(
            FeatureRange(each.name, each.min_supported_version, each.max_supported_version)
            for each in record.features
        ),
        log_dirs=tuple(record.log_dirs),
        cordoned_log_dirs=tuple(record.cordoned_log_dirs or ()),
    )


def broker_changed_by(was: BrokerImage, record: BrokerRegistrationChangeRecord) -> BrokerImage:
    """The broker after a change record."""
    return replace(
        was,
        fenced=_FLAGS.get(record.fenced, was.fenced),
        in_controlled_shutdown=_FLAGS.get(
            record.in_controlled_shutdown, was.in_controlled_shutdown
        ),
        log_dirs=tuple(record.log_dirs) or was.log_dirs,
        cordoned_log_dirs=(
            was.cordoned_log_dirs
            if record.cordoned_log_dirs is None
            else tuple(record.cordoned_log_dirs)
        ),
    )
