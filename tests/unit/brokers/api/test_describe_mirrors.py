"""What a broker says of mirrors comes to the link coordinator as it was said."""

from brokers.api import describe_mirrors
from brokers.region import MirrorPartitionStatus, MirrorStatus
from brokers.wire.messages.links import DescribedMirror, DescribeMirrorsResponse
from tests.kernel.requests import as_read

PARTITION = MirrorPartitionStatus(
    index=1, leader_epoch=2, log_start_offset=3, log_end_offset=9, high_watermark=8, last_epoch=2,
    source_high_watermark=11, source_clock=12, lag_ms=13, since_received_ms=14, is_running=True,
    is_caught_up=True, is_drained=True, trouble="why", common_offset=7, is_following=True, is_unreached=True,
    lag_bytes=15, origin_lag_ms=16, source_began_at=4, is_lower_bound=True, origin_lag=17,
    origin_lag_bytes=18, is_origin_lower_bound=True,
)  # fmt: skip
MIRROR = MirrorStatus(
    "orders",
    record_version=5,
    partitions=(PARTITION,),
    clamped=((0, 1),),
    sealed={1: 130, 2: 0},
    because="waits",
    committed=(("billing", 1, 9),),
    heard=((0, 1), (3, 2)),
)


def test_a_status_is_the_same_at_the_other_end() -> None:
    response = describe_mirrors.to_response([MIRROR])
    heard = as_read(describe_mirrors.KEY, describe_mirrors.VERSIONS[1], response)
    assert describe_mirrors.from_response(heard) == (MIRROR,)


def test_what_an_older_release_does_not_say_is_unknown() -> None:
    response = DescribeMirrorsResponse()
    assert describe_mirrors.from_response(response) == ()
    bare = MirrorPartitionStatus(0, 0, 0, 0, 0, 0)
    assert (bare.lag_bytes, bare.origin_lag_ms, bare.common_offset) == (-1, -1, -1)
    older = DescribedMirror(topic="orders", sealed_partitions=[0, 2])
    (heard,) = describe_mirrors.from_response(DescribeMirrorsResponse(mirrors=[older]))
    assert heard.sealed == {0: -1, 2: -1}
