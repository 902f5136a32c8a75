"""ApiVersions (key 18): the APIs and versions that are served, and the region's features. Versions 0-4.

A request of an unknown version is answered by the server itself, in version 0's layout with error 35 (the body
can't be parsed); see `unsupported`. Features whose lowest level is 0 are left out before version 4 (KAFKA-17011).
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Listener, Request
from brokers.ids import Instant
from brokers.metadata.cluster.broker_registration import FEATURES
from brokers.metadata.log.raft_manager import RaftManager
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

Advertised: TypeAlias = Callable[[Listener], Mapping[int, tuple[int, int]]]

KEY = ApiKey.API_VERSIONS
VERSIONS = (0, 4)
NAMES_CLIENT_FROM = 3
ZERO_FEATURES_FROM = 4
_CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")  # KIP-511


class ApiVersionsHandler:
    """Answers ApiVersions requests."""

    def __init__(self, raft: RaftManager, advertised: Advertised) -> None:
        """`advertised` gives the APIs of a listener: key -> first and last version."""
        self._raft = raft
        self._advertised = advertised

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, ApiVersionsRequest)
        if request.api_version >= NAMES_CLIENT_FROM and not _names_software(message):
            refused = ApiVersionsResponse(error_code=KafkaError.INVALID_REQUEST)
            return [Reply(request.ticket, refused)]
        return [Reply(request.ticket, self._response(request))]

    def _response(self, request: Request) -> ApiVersionsResponse:
        version = request.api_version
        response = ApiVersionsResponse(finalized_features_epoch=self._raft.committed_offset)
        for key, (lowest, highest) in self._advertised(request.listener).items():
            response.api_keys.append(
                ApiVersion(api_key=key, min_version=lowest, max_version=highest)
            )
        for feature in FEATURES:
            if feature.lowest > 0 or version >= ZERO_FEATURES_FROM:
                response.supported_features.append(
                    SupportedFeatureKey(
                        name=feature.name, min_version=feature.lowest, max_version=feature.highest
                    )
                )
        for name, level in sorted(self._raft.finalized_features.items()):
            response.finalized_features.append(
                FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            )
        return response


def unsupported() -> ApiVersionsResponse:
    """The answer, in version 0's layout, to a version of this request that is not served (KIP-511)."""
    own = ApiVersion(api_key=KEY, min_version=VERSIONS[0], max_version=VERSIONS[1])
    return ApiVersionsResponse(error_code=KafkaError.UNSUPPORTED_VERSION, api_keys=[own])


def _names_software(message: ApiVersionsRequest) -> bool:
    names = (message.client_software_name, message.client_software_version)
    return all(_CLIENT_SOFTWARE.fullmatch(name) for name in names)
