"""UpdateFeatures (key 57): levels of features are finalized, all that are asked for or none (KIP-584). Versions 0-2."""

from collections.abc import Iterator

from brokers.api.controller_apis import ControllerApi
from brokers.api.ports import ControllerPort
from brokers.errors import Refusal
from brokers.events import Request
from brokers.metadata.cluster.feature_control import KRAFT_VERSION, UpgradeType
from brokers.metadata.commands.broker_commands import FeatureUpdate, UpdateFeatures
from brokers.metadata.log.raft_manager import RaftManager
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

KEY = ApiKey.UPDATE_FEATURES
VERSIONS = (0, 2)
NAMES_UPGRADE_TYPE_FROM = 1
ALL_OR_NONE_FROM = 2  # no result for each feature any more


class UpdateFeaturesHandler(ControllerApi):
    """Answers UpdateFeatures requests."""

    def __init__(self, controller: ControllerPort, raft: RaftManager) -> None:
        super().__init__(controller)
        self._raft = raft

    def command(self, request: Request) -> UpdateFeatures:
        message = request.message
        assert isinstance(message, UpdateFeaturesRequest)
        items = tuple(self._updates(message, request.api_version))
        return UpdateFeatures(items, message.validate_only)

    def response(self, request: Request, result: None) -> UpdateFeaturesResponse:
        message = request.message
        assert isinstance(message, UpdateFeaturesRequest)
        response = UpdateFeaturesResponse(error_message=None)
        if request.api_version < ALL_OR_NONE_FROM:
            response.results = [
                UpdatableFeatureResult(feature=each.feature, error_message=None)
                for each in message.feature_updates
            ]
        return response

    def refusal(self, request: Request, refusal: Refusal) -> UpdateFeaturesResponse:
        return UpdateFeaturesResponse(error_code=refusal.error, error_message=refusal.because)

    def _updates(self, message: UpdateFeaturesRequest, version: int) -> Iterator[FeatureUpdate]:
        """Without an update of kraft.version to its current level, which the quorum keeps and the image lacks."""
        kraft_version = self._raft.finalized_features.get(KRAFT_VERSION, 0)
        for each in message.feature_updates:
            if each.feature == KRAFT_VERSION and each.max_version_level == kraft_version:
                continue
            upgrade_type = each.upgrade_type
            if version < NAMES_UPGRADE_TYPE_FROM:
                down = each.allow_downgrade
                upgrade_type = UpgradeType.SAFE_DOWNGRADE if down else UpgradeType.UPGRADE
            yield FeatureUpdate(each.feature, each.max_version_level, upgrade_type)
