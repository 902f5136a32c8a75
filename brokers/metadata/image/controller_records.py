"""A controller's registration to and from its record (KIP-919)."""

from brokers.metadata.image.image import ControllerImage, Endpoint, FeatureRange
from brokers.wire.messages.metadata_records import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)


def controller_record(controller: ControllerImage) -> RegisterControllerRecord:
    """The record of a controller's registration."""
    return RegisterControllerRecord(
        controller_id=controller.id,
        incarnation_id=controller.incarnation,
        end_points=[
            ControllerEndpoint(name=each.name, host=each.host, port=each.port, security_protocol=0)
            for each in controller.endpoints
        ],
        features=[
            ControllerFeature(
                name=each.name,
                min_supported_version=each.lowest,
                max_supported_version=each.highest,
            )
            for each in controller.features
        ],
    )


def controller_of(record: RegisterControllerRecord) -> ControllerImage:
    """The controller of a record."""
    return ControllerImage(
        id=record.controller_id,
        incarnation=record.incarnation_id,
        endpoints=tuple(Endpoint(each.name, each.host, each.port) for each in record.end_points),
        features=tuple(
            FeatureRange(each.name, each.min_supported_version, each.max_supported_version)
            for each in record.features
        ),
    )
