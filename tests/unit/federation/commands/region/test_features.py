"""`causeway region features`: what brokers support, what is finalized, and what is refused before it is asked."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from brokers.wire.messages.api_versions import (
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.features import UpdatableFeatureResult, UpdateFeaturesResponse
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double

OURS = {"causeway.version": (0, 1), "kraft.version": (0, 1), "metadata.version": (7, 30)}
LEVELS = {"kraft.version": 1, "metadata.version": 25}


def versions(supported: Mapping[str, tuple[int, int]], epoch: int = 5) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        supported_features=[
            SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in supported.items()
        ],
        finalized_features_epoch=epoch,
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in LEVELS.items()
        ],
    )


class Region:
    """One or two brokers, each a double; the second, where there is one, may be of another release."""

    def __init__(self, *others: Mapping[str, tuple[int, int]], newest: int = 2) -> None:
        self.asked: list[Any] = []
        self.response = UpdateFeaturesResponse(error_message=None)
        self._others, self._newest = others, newest
        self._ports: list[int] = []

    def run(self, *arguments: str) -> Any:
        with self._brokers() as first:
            return first.run("region", "features", *arguments)

    @contextmanager
    def _brokers(self) -> Iterator[BrokerDouble]:
        answers = {60: (2, self._cluster), 57: (self._newest, self._update)}
        with ExitStack() as stack:
            doubles = [
                stack.enter_context(broker_double(answers, versions(ranges)))
                for ranges in (OURS, *self._others)
            ]
            self._ports = [int(each.bootstrap.rpartition(":")[2]) for each in doubles]
            yield doubles[0]

    def _cluster(self, request: Any) -> DescribeClusterResponse:
        brokers = [
            DescribeClusterBroker(broker_id=number, host="127.0.0.1", port=port)
            for number, port in enumerate(self._ports, start=1)
        ]
        gone = DescribeClusterBroker(broker_id=9, host="127.0.0.1", port=1, is_fenced=True)
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=[*brokers, gone])

    def _update(self, request: Any) -> UpdateFeaturesResponse:
        updates = [(each.feature, each.max_version_level) for each in request.feature_updates]
        self.asked.append((updates, request.validate_only))
        return self.response


def test_levels_are_shown_with_what_each_node_supports_and_what_could_rise() -> None:
    older = {**OURS, "metadata.version": (7, 29)}
    del older["causeway.version"]
    found = json.loads(Region(older).run("describe", "--json").stdout)
    assert found["nodes"] == [1, 2]
    assert found["silent"] == {"9": "fenced"}
    assert {each["feature"]: (each["finalized"], each["highest"]) for each in found["features"]} == {
        "causeway.version": (0, 0), "kraft.version": (1, 1), "metadata.version": (25, 29),
    }  # fmt: skip
    ran = Region().run("describe")
    assert ran.exit_code == 0
    upgrade = "region features upgrade --feature causeway.version=1 --feature metadata.version=30"
    assert upgrade in ran.output
    assert "node 9 does not answer: fenced" in ran.output


def test_levels_that_are_named_are_raised_all_in_one_request() -> None:
    region = Region()
    ran = region.run(
        "upgrade", "--feature", "causeway.version=1", "--feature", "metadata.version=26"
    )
    assert ran.exit_code == 0, ran.output
    assert "metadata.version: raised from 25 to 26" in ran.output
    changes = [("causeway.version", 1), ("metadata.version", 26)]
    assert region.asked == [(changes, False)]
    tried = region.run("upgrade", "--latest", "--dry-run", "--json")
    assert json.loads(tried.stdout) == {
        "features": [
            {"feature": "causeway.version", "from": 0, "to": 1},
            {"feature": "metadata.version", "from": 25, "to": 30},
        ],
        "unchanged": [],
        "validate_only": True,
    }  # fmt: skip
    assert region.asked[-1] == ([("causeway.version", 1), ("metadata.version", 30)], True)


def test_what_is_there_already_is_not_asked_for() -> None:
    region = Region()
    ran = region.run("upgrade", "--feature", "metadata.version=25")
    assert (ran.exit_code, region.asked) == (0, [])
    assert "metadata.version: at 25 already" in ran.output


@pytest.mark.parametrize(
    ("item", "because"),
    [
        ("metadata.version=24", "it is not lowered to 24"),
        ("metadata.version=30", "nodes 2 do not support it, 29 is the highest that all do"),
        ("causeway.version=1", "nodes 2 do not support it"),
        ("no.version=1", "the region knows no feature no.version"),
    ],
)
def test_a_level_that_is_lower_or_not_supported_everywhere_is_refused(
    item: str, because: str
) -> None:
    region = Region({"kraft.version": (0, 1), "metadata.version": (7, 29)})
    ran = region.run("upgrade", "--feature", item)
    assert (ran.exit_code, region.asked) == (1, [])
    assert because in ran.output
    assert "Next: " in ran.output


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("--feature", "metadata.version"), ("--feature", "metadata.version=-1"),
        ("--feature", "metadata.version=99999"), ("--feature", "metadata.version=4.3"), ("--feature", "=1"),
        ("--feature", "metadata.version=30", "--feature", "metadata.version=30"),
        ("--feature", "metadata.version=30", "--latest"),
    ],
)  # fmt: skip
def test_what_is_no_level_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    region = Region()
    assert region.run("upgrade", *arguments).exit_code == 2
    assert region.asked == []


def test_what_the_region_refuses_is_told() -> None:
    region = Region()
    region.response = UpdateFeaturesResponse(error_code=95, error_message="node 3 is older")
    ran = region.run("upgrade", "--latest")
    assert ran.exit_code == 1
    assert "node 3 is older (INVALID_UPDATE_VERSION)" in ran.output
    old = Region(newest=1)
    refused = UpdatableFeatureResult(feature="metadata.version", error_code=95, error_message="no")
    old.response = UpdateFeaturesResponse(error_message=None, results=[refused])
    assert "no (INVALID_UPDATE_VERSION)" in old.run("upgrade", "--latest").output


def test_brokers_that_cannot_check_only_are_not_asked_to() -> None:
    region = Region(newest=0)
    ran = region.run("upgrade", "--latest", "--dry-run")
    assert (ran.exit_code, region.asked) == (1, [])
    assert "cannot check only" in ran.output
