"""UpdateFeatures (Kafka's FeatureControlManager, KIP-584): sets all levels of a request, or none."""

from collections.abc import Iterable
from enum import IntEnum

from brokers.errors import KafkaError, Refusal
from brokers.metadata.cluster.broker_registration import (
    CAUSEWAY_VERSION,
    FEATURES,
    METADATA_VERSION,
)
from brokers.metadata.commands.broker_commands import FeatureUpdate, UpdateFeatures
from brokers.metadata.commands.controller_result import ControllerResult, once
from brokers.metadata.image.image import BrokerImage, ControllerImage, Image
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import FeatureLevelRecord

KRAFT_VERSION = "kraft.version"
_NEVER_LOWERED = CAUSEWAY_VERSION, METADATA_VERSION


class UpgradeType(IntEnum):
    """The changes that an operator allows, by Kafka's codes."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def update_features(image: Image, command: UpdateFeatures) -> ControllerResult:
    items = {item.name: item for item in command.items}
    records: list[Message] = []
    for name, is_repeated in once(item.name for item in command.items):
        if is_repeated:
            raise Refusal(KafkaError.INVALID_REQUEST, f"{name} is named twice")
        item = items[name]
        _check(image, item)
        if item.level != image.features.get(name, 0):
            records.append(FeatureLevelRecord(name=name, feature_level=item.level))
    return ControllerResult(() if command.validate_only else tuple(records), None)


def _check(image: Image, item: FeatureUpdate) -> None:
    if item.upgrade_type not in tuple(UpgradeType):
        raise _invalid(item, f"there is no upgrade type {item.upgrade_type}")
    if item.name == KRAFT_VERSION:
        raise _invalid(item, "it is raised by itself when every voter has shown its directory")
    _check_support(image, item)
    have = image.features.get(item.name, 0)
    if item.level > have and item.upgrade_type != UpgradeType.UPGRADE:
        raise _invalid(item, f"it is at {have}, and a downgrade was asked for")
    if item.level < have and item.upgrade_type == UpgradeType.UPGRADE:
        raise _invalid(item, f"it is at {have}: a downgrade must be asked for as one")
    if item.level < have and item.name in _NEVER_LOWERED:
        raise _invalid(
            item, f"it is at {have}, and the metadata log may hold what {item.level} cannot"
        )


def _check_support(image: Image, item: FeatureUpdate) -> None:
    known = next((feature for feature in FEATURES if feature.name == item.name), None)
    if known is None:
        raise _invalid(item, "the active controller does not support this feature")
    if not known.lowest <= item.level <= known.highest:
        raise _invalid(item, f"the active controller supports {known.lowest} to {known.highest}")
    nodes: Iterable[BrokerImage | ControllerImage] = (
        *image.brokers.values(),
        *image.controllers.values(),
    )
    for each in nodes:
        ranges = {feature.name: feature for feature in each.features}
        own = ranges.get(item.name)
        if item.level and (own is None or not own.lowest <= item.level <= own.highest):
            raise _invalid(item, f"node {each.id} does not support it: upgrade that node first")


def _invalid(item: FeatureUpdate, because: str) -> Refusal:
    return Refusal(
        KafkaError.INVALID_UPDATE_VERSION, f"{item.name} cannot become {item.level}: {because}"
    )
