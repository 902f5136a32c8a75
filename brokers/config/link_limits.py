"""What links and mirrors of other regions may take of a node. All keys but one are ours."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MIB = 1 << 20
DAY_MS = 86_400_000
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

Bound = Annotated[int, Field(ge=0, le=INT64_MAX)]


class LinkLimits(BaseModel):
    """Those of `BrokerConfig` that concern links."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # How long the hole ledger of a mirror topic is kept once the topic is deleted; -1: for ever.
    mirror_hole_retention_ms: Annotated[
        int, Field(ge=-1, le=INT64_MAX, alias="mirror.hole.retention.ms")
    ] = 30 * DAY_MS
    # For the streams of other regions' links: how many may be open, in all and of one address, and the bytes that
    # may wait to be sent on all of them, of chunks and of everything else each.
    link_max_streams: Annotated[int, Field(ge=1, le=INT32_MAX, alias="link.max.streams")] = 256
    link_max_streams_per_ip: Annotated[
        int, Field(ge=1, le=INT32_MAX, alias="link.max.streams.per.ip")
    ] = 64
    link_queued_max_bytes: Annotated[
        int, Field(ge=1 * MIB, le=INT32_MAX, alias="link.queued.max.bytes")
    ] = 32 * MIB
    # By how much the windows of all streams of links to this node may grow beyond what each begins with.
    link_window_growth_max_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="link.window.growth.max.bytes")
    ] = 128 * MIB
    # What each link copies to this node in a second, unless the link has a limit of its own; 0: no limit. The
    # name is Confluent's.
    link_io_max_bytes_per_second: Annotated[
        Bound, Field(alias="confluent.cluster.link.io.max.bytes.per.second")
    ] = 0
    # Whether a region that mirrors topics of this one, and has failed them over, makes them read-only here.
    link_fencing_enable: Annotated[bool, Field(alias="link.fencing.enable")] = True
    # How long producers wait at a start of the region for the links of regions that mirror their topics, and may have
    # taken them over meanwhile. 0: not at all.
    link_source_startup_wait_ms: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="link.source.startup.wait.ms")
    ] = 5_000
    # What retention may keep for mirrors in other regions that ask for it: bytes of all partitions of this broker, and
    # the age of records. 0: nothing.
    link_retention_hold_max_bytes: Annotated[
        Bound, Field(alias="link.retention.hold.max.bytes")
    ] = 10 << 30
    link_retention_hold_max_ms: Annotated[Bound, Field(alias="link.retention.hold.max.ms")] = (
        30 * DAY_MS
    )
