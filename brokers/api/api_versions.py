"""ApiVersions (key 18): which APIs and versions we speak, and the region's features. Versions 0-4.

A request of an unknown version is answered by the server itself, in version 0's layout with error 35 (the body
can't be parsed); see `unsupported`. Features whose lowest level is 0 are left out before version 4 (KAFKA-17011).
"""

import re

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.cluster.broker_registration import FEATURES
from brokers.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

KEY = 18
VERSIONS = (0, 4)
NAMES_CLIENT_FROM = 3
ZERO_FEATURES_FROM = 4
_CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")  # KIP-511


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, ApiVersionsRequest)
    if request.api_version >= NAMES_CLIENT_FROM and not _names_software(message):
        refused = ApiVersionsResponse(error_code=KafkaError.INVALID_REQUEST)
        return [Reply(request.ticket, refused)]
    return [Reply(request.ticket, _response(context, request))]


def unsupported() -> ApiVersionsResponse:
    """The answer, in version 0's layout, to a version of this request that we don't know (KIP-511)."""
    own = ApiVersion(api_key=KEY, min_version=VERSIONS[0], max_version=VERSIONS[1])
    return ApiVersionsResponse(error_code=KafkaError.UNSUPPORTED_VERSION, api_keys=[own])


def _names_software(message: ApiVersionsRequest) -> bool:
    names = (message.client_software_name, message.client_software_version)
    return all(_CLIENT_SOFTWARE.fullmatch(name) for name in names)


def _response(context: Context, request: Request) -> ApiVersionsResponse:
    from brokers.api.versions import advertised  # gathered from every API file, this one included

    version = request.api_version
    response = ApiVersionsResponse(finalized_features_epoch=context.plane.committed_offset)
    for key, (lowest, highest) in advertised(request.listener).items():
        response.api_keys.append(ApiVersion(api_key=key, min_version=lowest, max_version=highest))
    for feature in FEATURES:
        if feature.lowest > 0 or version >= ZERO_FEATURES_FROM:
            response.supported_features.append(
                SupportedFeatureKey(
                    name=feature.name, min_version=feature.lowest, max_version=feature.highest
                )
            )
    for name, level in sorted(context.plane.finalized_features.items()):
        response.finalized_features.append(
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
        )
    return response
