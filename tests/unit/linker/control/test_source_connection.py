"""A stream to a source: what is under way on it, and a source that sends more."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from linker.control.connection import Phase
from linker.control.link_settings import LinkSettings
from linker.control.source_connection import SourceConnection
from linker.data.byte_rate import ByteRate
from linker.errors import LinkError
from linker.events import CloseStream, Dial
from linker.frames import Chunk, Credit, Welcome
from linker.node_limits import NodeLimits
from linker.offset_bounds import OffsetBounds
from linker.records.link_state import LinkRecord
from linker.region_client import RegionClient

MIB = 1 << 20
GROWTH = 128 * MIB


class Host:
    """What a link hears of its streams."""

    def __init__(self) -> None:
        self.failed: list[tuple[LinkError, str]] = []

    def endpoint_for(self, connection: SourceConnection) -> str:
        return ""

    def on_open(self, connection: SourceConnection, welcome: Welcome, now: int) -> list[Any]:
        return []

    def on_closed(self, connection: SourceConnection, now: int) -> list[Any]:
        return []

    def on_failed(self, connection: SourceConnection, error: LinkError, because: str) -> list[Any]:
        self.failed.append((error, because))
        return []

    def on_refused(self, connection: SourceConnection, error: LinkError, because: str) -> list[Any]:
        raise AssertionError(because)


class Hoarder:
    """Of a log that takes nothing."""

    def __init__(self) -> None:
        self.chunks = 0

    def on_chunk(self, chunk: Chunk, now: int) -> list[Any]:
        self.chunks += 1
        return []


def opened(**configs: str) -> tuple[SourceConnection, Host, list[Any]]:
    view = SimpleNamespace(cluster_id="east", broker_id=1)
    region = RegionClient(view, Random(1), NodeLimits(GROWTH))  # type: ignore[arg-type]
    given = {"bootstrap.servers": "west:9092", **configs}
    link = LinkSettings(LinkRecord("west-east", "id", "", given, 0), 0)
    connection = SourceConnection(
        region, link, lambda: -7, host := Host(), ByteRate(region, lambda: 0)
    )
    effects = [*connection.open(0), *connection.on_dialed(10)]
    return connection, host, effects + connection.on_greeting(Welcome("west"), 90)


def chunk(connection: SourceConnection, subscription: int) -> list[Any]:
    bounds = OffsetBounds(0, 10, 10)
    sent = Chunk(subscription, 0, 1, 0, False, bounds, 0, bytes(MIB))
    return connection.data.on_frame(sent, 100)


@pytest.mark.parametrize(
    ("configs", "begins", "largest"),
    [
        ({}, 32 * MIB, 32 * MIB + GROWTH),
        ({"replica.fetch.response.max.bytes": str(32 * MIB)}, 32 * MIB, 32 * MIB),
        ({"replica.fetch.response.max.bytes": str(8 * MIB)}, 8 * MIB, 8 * MIB),
    ],
)
def test_what_an_operator_sets_is_the_window_else_it_begins_small_and_may_grow(
    configs: dict[str, str], begins: int, largest: int
) -> None:
    _, _, effects = opened(**configs)
    granted = [each.frame for each in effects if isinstance(getattr(each, "frame", None), Credit)]
    assert granted == [Credit(begins)]
    assert [each.window_bytes for each in effects if isinstance(each, Dial)] == [largest]


def test_a_source_that_sends_more_than_it_may_is_hung_up_on() -> None:
    connection, host, _ = opened(**{"replica.fetch.response.max.bytes": str(8 * MIB)})
    number = connection.data.subscribe(hoarder := Hoarder())  # type: ignore[arg-type]
    for _ in range(12):  # as much as a source reads at once may come beyond
        assert chunk(connection, number) == []
    assert CloseStream(-7) in chunk(connection, number)
    assert (connection.phase, connection.data.is_open) == (Phase.RESTING, False)
    assert hoarder.chunks == 12
    assert host.failed == [(LinkError.UNKNOWN, "the source has sent more than it was granted")]
