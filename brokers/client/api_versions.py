"""The APIs and versions that a broker serves, by its ApiVersions response (KIP-35). Kafka's `NodeApiVersions`."""

from brokers.wire.codec import API_NAMES, VERSIONS
from brokers.wire.messages.api_versions import ApiVersionsResponse
from brokers.wire.primitives import WireError


class NoCommonVersion(WireError):
    """The broker does not serve the API, or no common version has all fields of the request. Nothing was sent."""


class NodeApiVersions:
    """The versions of one connection; on the next one, the broker may be of another release."""

    def __init__(self, response: ApiVersionsResponse) -> None:
        self._served = {
            api.api_key: (api.min_version, api.max_version) for api in response.api_keys
        }

    def serves(self, key: int) -> bool:
        """Whether the broker serves the API at any version."""
        return key in self._served

    def latest_usable(self, key: int, highest: int | None = None) -> int:
        """The highest common version; this side's highest is `highest`, or the codec's where it is None.

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
