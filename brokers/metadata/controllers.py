"""Controllers that say where they are reached and which features they support, in the metadata log (KIP-919)."""

from brokers.metadata.broker_commands import RegisterController
from brokers.metadata.decision import Decision
from brokers.metadata.image import ControllerImage, Endpoint, FeatureRange, Image
from brokers.wire.messages.metadata_records import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)


def register_controller(image: Image, command: RegisterController) -> Decision:
    """The newest word of a controller counts; one that says the same again is in the log already."""
    controller = ControllerImage(
        id=command.controller_id,
        incarnation=command.incarnation,
        endpoints=tuple(Endpoint(*each) for each in command.endpoints),
        features=tuple(FeatureRange(*each) for each in command.features),
    )
    if image.controllers.get(controller.id) == controller:
        return Decision((), None)
    return Decision((controller_record(controller),), None)


def controller_record(controller: ControllerImage) -> RegisterControllerRecord:
    """All of a controller."""
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
    """The controller that a record describes."""
    return ControllerImage(
        id=record.controller_id,
        incarnation=record.incarnation_id,
        endpoints=tuple(Endpoint(each.name, each.host, each.port) for each in record.end_points),
        features=tuple(
            FeatureRange(each.name, each.min_supported_version, each.max_supported_version)
            for each in record.features
        ),
    )
