"""The features of a region, as its brokers tell of them: levels that are finalized, and those that each supports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.description import BrokerDescription
from federation.commands.region.requests import describe_brokers


@dataclass(slots=True)
class SupportedFeature:
    """`supported` is, by node, the lowest and the highest level; a node that is missing there does not know it."""

    name: str
    finalized: int = 0  # 0: off
    supported: dict[int, tuple[int, int]] = field(default_factory=dict)

    def highest(self, nodes: Sequence[int]) -> int:
        """The highest level that all these nodes support."""
        return min((self.supported.get(node, (0, 0))[1] for node in nodes), default=0)


@dataclass(frozen=True, slots=True)
class RegionFeatures:
    """`nodes` have answered; `silent` are registered, and have not, each with the reason."""

    features: Mapping[str, SupportedFeature]
    nodes: tuple[int, ...]
    silent: Mapping[int, str]


def describe_features(client: Client) -> RegionFeatures:
    """As the brokers say that are not fenced, each asked itself: supported ranges are one node's."""
    supported: dict[int, ApiVersionsResponse] = {}
    silent: dict[int, str] = {}
    for broker in describe_brokers(client):
        try:
            supported[broker.id] = _versions(broker)
        except NoAnswer as error:
            silent[broker.id] = "fenced" if broker.fenced else str(error)
    found: dict[str, SupportedFeature] = {}
    for node, versions in supported.items():
        for each in versions.supported_features:
            feature = found.setdefault(each.name, SupportedFeature(each.name))
            feature.supported[node] = (each.min_version, each.max_version)
    newest = max(supported.values(), key=lambda one: one.finalized_features_epoch, default=None)
    for level in newest.finalized_features if newest is not None else ():
        feature = found.setdefault(level.name, SupportedFeature(level.name))
        feature.finalized = level.max_version_level
    return RegionFeatures(dict(sorted(found.items())), tuple(sorted(supported)), silent)


def _versions(broker: BrokerDescription) -> ApiVersionsResponse:
    with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS, QUICK_SECONDS) as client:
        request = ApiVersionsRequest(
            client_software_name="causeway", client_software_version="features"
        )
        response: ApiVersionsResponse = client.ask(ApiKey.API_VERSIONS, request)
        return response
