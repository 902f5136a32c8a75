"""The APIs and versions that a broker serves, as it answers ApiVersions (KIP-35). Kafka's `NodeApiVersions`."""

from brokers.wire.codec import API_NAMES, VERSIONS
from brokers.wire.messages.api_versions import ApiVersionsResponse
from brokers.wire.primitives import WireError


class NoCommonVersion(WireError):
    """The broker lacks an API, or no version of it says what the request says. Nothing was sent."""


class NodeApiVersions:
    """Of one connection: a broker that comes back may be of another release."""

    def __init__(self, response: ApiVersionsResponse) -> None:
        self._served = {
            api.api_key: (api.min_version, api.max_version) for api in response.api_keys
        }

    def serves(self, key: int) -> bool:
        """Whether the broker names the API, at whatever versions."""
        return key in self._served

    def latest_usable(self, key: int, highest: int | None = None) -> int:
        """The highest version that both sides know; `highest` is this side's, without it the codec's.

        Raises NoCommonVersion.
        """
        lowest, known = VERSIONS[key]
        own = known if highest is None else highest
        if key not in self._served:
            raise NoCommonVersion(f"the broker does not serve {API_NAMES[key]} (API {key})")
        first, last = self._served[key]
        version = min(own, last)
        if version < max(lowest, first):
            raise NoCommonVersion(
                f"the broker serves versions {first} to {last} of {API_NAMES[key]} (API {key}), "
                f"this side {lowest} to {own}"
            )
        return version
