"""UpdateFeatures (key 57): levels of features are finalized, all that are asked for or none (KIP-584). Versions 0-2."""

from collections.abc import Iterator

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.cluster.feature_control import KRAFT_VERSION, UpgradeType
from brokers.metadata.commands.broker_commands import FeatureUpdate, UpdateFeatures
from brokers.wire.messages.features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

KEY = 57
VERSIONS = (0, 2)
NAMES_UPGRADE_TYPE_FROM = 1
ALL_OR_NONE_FROM = 2  # no result for each feature any more


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message, version = request.message, request.api_version
    assert isinstance(message, UpdateFeaturesRequest)

    def then(result: Refusal | None, now: Instant) -> list[Effect]:
        response = UpdateFeaturesResponse(error_message=None)
        if result is not None:
            response.error_code, response.error_message = result.error, result.because
        elif version < ALL_OR_NONE_FROM:
            response.results = [
                UpdatableFeatureResult(feature=each.feature, error_message=None)
                for each in message.feature_updates
            ]
        return [Reply(request.ticket, response)]

    items = tuple(_changes(context, message, version))
    return context.propose(UpdateFeatures(items, message.validate_only), then, now)


def _changes(
    context: Context, message: UpdateFeaturesRequest, version: int
) -> Iterator[FeatureUpdate]:
    """But for kraft.version where it is so already: the quorum keeps that one, and no image has it."""
    kraft_version = context.plane.finalized_features.get(KRAFT_VERSION, 0)
    for each in message.feature_updates:
        if each.feature == KRAFT_VERSION and each.max_version_level == kraft_version:
            continue
        upgrade_type = each.upgrade_type
        if version < NAMES_UPGRADE_TYPE_FROM:
            down = each.allow_downgrade
            upgrade_type = UpgradeType.SAFE_DOWNGRADE if down else UpgradeType.UPGRADE
        yield FeatureUpdate(each.feature, each.max_version_level, upgrade_type)
