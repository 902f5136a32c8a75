"""The version of each API that a broker and this side both speak."""

import pytest

from brokers.client.api_versions import NoCommonVersion, NodeApiVersions
from brokers.wire.codec import VERSIONS
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersion, ApiVersionsResponse

UNKNOWN = 12_345


def broker(**served: tuple[int, int]) -> NodeApiVersions:
    keys = [
        ApiVersion(api_key=ApiKey[name], min_version=first, max_version=last)
        for name, (first, last) in served.items()
    ]
    unknown = ApiVersion(api_key=UNKNOWN, max_version=3)
    return NodeApiVersions(ApiVersionsResponse(api_keys=[*keys, unknown]))


def test_the_highest_common_version_is_the_lower_one_of_the_two_highest() -> None:
    metadata = broker(METADATA=(0, 9))
    assert metadata.latest_usable(ApiKey.METADATA) == 9
    assert metadata.latest_usable(ApiKey.METADATA, 7) == 7
    newer = broker(METADATA=(0, 99))
    assert newer.latest_usable(ApiKey.METADATA) == VERSIONS[ApiKey.METADATA][1]


def test_an_api_that_the_broker_does_not_name_is_not_served() -> None:
    versions = broker(METADATA=(0, 9))
    assert versions.serves(ApiKey.METADATA) and not versions.serves(ApiKey.FETCH)
    with pytest.raises(NoCommonVersion, match=r"does not serve Fetch \(API 1\)"):
        versions.latest_usable(ApiKey.FETCH)


@pytest.mark.parametrize(
    ("served", "highest"), [((14, 99), None), ((9, 12), 8), ((-3, -1), None), ((12, 9), None)]
)
def test_ranges_that_do_not_meet_have_no_common_version(
    served: tuple[int, int], highest: int | None
) -> None:
    with pytest.raises(NoCommonVersion, match=r"of Metadata \(API 3\)"):
        broker(METADATA=served).latest_usable(ApiKey.METADATA, highest)


def test_the_codec_cannot_speak_below_its_own_lowest_version() -> None:
    lowest, _ = VERSIONS[ApiKey.FETCH]
    assert lowest > 0
    with pytest.raises(NoCommonVersion):
        broker(FETCH=(0, lowest - 1)).latest_usable(ApiKey.FETCH)
