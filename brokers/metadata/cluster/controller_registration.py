"""ControllerRegistration: a controller's endpoints and supported features, in the metadata log (KIP-919)."""

from brokers.metadata.commands.broker_commands import RegisterController
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.image.controller_records import controller_record
from brokers.metadata.image.image import ControllerImage, Endpoint, FeatureRange, Image


def register_controller(image: Image, command: RegisterController) -> ControllerResult:
    """Replaces a controller's registration; an equal registration needs no record."""
    controller = ControllerImage(
        id=command.controller_id,
        incarnation=command.incarnation,
        endpoints=tuple(Endpoint(*each) for each in command.endpoints),
        features=tuple(FeatureRange(*each) for each in command.features),
    )
    if image.controllers.get(controller.id) == controller:
        return ControllerResult((), None)
    return ControllerResult((controller_record(controller),), None)
