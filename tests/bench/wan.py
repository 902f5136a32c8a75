"""A link over a wide area: two regions, and between them a proxy that delays both ways.

Figures are taken at round trips of 0, 20, 80 and 200 ms (`..._0ms` and so on). The proxy is a process of its own on the
same processors (`tests.process.delay_proxies`), so its rate and the link's depend on how many there are. `wan-3` has
regions of three nodes, three replicas of everything, and a proxy before each node of the source; the others have
regions of one node. `wan-3` and `wan` let pass what comes; in `wan-line` all connections share a line of 4 Gbit/s,
which leaves the processors idle in between. In `wan-core` both regions share one processor, without the proxy as well,
and the proxy has another one: so it shows what the distance costs, and not what the proxy takes from the regions. The
page cache is full each time (`memory`), and the source's log is in it: what is under way, and the mirror's log, would
else take memory that the host gives slowly, and the link alone less of it.

- `local_mb_per_s`: 4 GB (`wan-3`: 2 GB) in 12 partitions without the proxy, from the first record that arrives to the
  last; before each round trip (`local_mb_per_s_0ms` and so on), and for `wan-line` once. The link's own rate is the
  median of these: two trials of the same differ by more than what is looked for where other machines share processors
- `mb_per_s`: the same through the proxy; `proxy_mb_per_s` is what one TCP connection gets through it, both ends idle
  otherwise
- `of_possible`: `mb_per_s` by the smaller of the link's own rate and the proxy's
- `second_half_mb_per_s`, `second_half_of_possible`: the same from when half of the records have arrived, when the
  link's window has the size that it keeps
- `cpu_s_per_gb`, `proxy_cpu_s_per_gb`: processor time of both regions, and of the proxy; `busy_s_per_gb`: of all that
  the machine did, the kernel's interrupts included. `local_...` are those without the proxy
- `processors_mb_per_s`: what the processors would allow if they were never idle, by `busy_s_per_gb`; `of_processors`:
  `mb_per_s` by it
- `record_p50_ms`, `record_p99_ms`: one record at a time on a link that is idle otherwise, 50 a second, from before it
  is sent to when a consumer of the mirror has it; `proxy_round_trip_ms`: what one message takes through the proxy and
  back
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Protocol

from tests.bench import crossing, memory, processors, wan_proxy
from tests.bench.client import Figures
from tests.bench.processes import Meter
from tests.bench.systems import DESTINATION, SOURCE, Linked
from tests.bench.wan_proxy import Distance, Proxy
from tests.bench.work import Size

LINE_BYTES_PER_SECOND = 500_000_000


class Wide(Linked, Protocol):
    """Regions of which links reach west through `ports`, where proxies listen, one for each node; or straight."""

    ports: tuple[int, ...]

    def reached(self, *, through_proxy: bool) -> tuple[str, ...]:
        """Links that are made from now on reach west so; the addresses behind the proxies."""


def wan(system: Wide, size: Size) -> Figures:
    """At each round trip, without the proxy and through it in turn (`_beside_local`)."""
    much = replace(size, large_batches=size.wide_batches, linked_s=size.wide_s)
    figures: Figures = {}
    for round_trip_ms in size.round_trips_ms:
        figures |= _named(_beside_local(system, much, Distance(round_trip_ms)), round_trip_ms)
        figures |= _named(_records(system, much, Distance(round_trip_ms)), round_trip_ms)
    return figures | _shares(figures, size)


def wan_3(system: Wide, size: Size) -> Figures:
    """Of regions with three replicas, of which the page cache has to hold all."""
    return wan(system, replace(size, wide_batches=size.large_batches))


def wan_line(system: Wide, size: Size) -> Figures:
    """In bulk alone: a record's delay behind a full line is the line's."""
    much = replace(size, large_batches=size.wide_batches)
    figures = _local(system, much)
    for round_trip_ms in size.round_trips_ms:
        distance = Distance(round_trip_ms, LINE_BYTES_PER_SECOND)
        figures |= _named(_in_bulk(system, much, distance), round_trip_ms)
    return figures | _shares(figures, size)


def wan_core(system: Wide, size: Size) -> Figures:
    """Without `of_processors`, which would say nothing, as one of them is the proxy's."""
    much = replace(size, large_batches=size.wide_batches, linked_s=size.wide_s)
    regions_on, proxy_on = processors.pair()
    pids = [pid for name in (SOURCE, DESTINATION) for pid in system.region(name).pids]
    figures: Figures = {}
    with processors.confined(pids, regions_on):
        for round_trip_ms in size.round_trips_ms:
            distance = Distance(round_trip_ms, processor=proxy_on)
            found = _beside_local(system, much, distance) | _records(system, much, distance)
            del found["processors_mb_per_s"], found["of_processors"]
            figures |= _named(found, round_trip_ms)
    return figures | _shares(figures, size)


def _shares(figures: Figures, size: Size) -> Figures:
    """What came through the proxy, by the smaller of the link's own rate and the proxy's."""
    local = median(rate for name, rate in figures.items() if name.startswith("local_mb_per_s"))
    possible = {
        trip: min(local, figures[f"proxy_mb_per_s_{trip}ms"]) for trip in size.round_trips_ms
    }
    return {
        f"{part}of_possible_{trip}ms": figures[f"{part}mb_per_s_{trip}ms"] / possible[trip]
        for trip in size.round_trips_ms
        for part in ("", "second_half_")
    }


def _named(figures: Figures, round_trip_ms: float) -> Figures:
    return {f"{name}_{round_trip_ms}ms": value for name, value in figures.items()}


def _full() -> AbstractContextManager[None]:
    return memory.full_page_cache(Path(tempfile.gettempdir()))


def _local(system: Wide, size: Size) -> Figures:
    system.reached(through_proxy=False)
    moved = crossing.catch_up(system, size, _full())
    return {
        f"local_{name}": moved[f"moving_{name}"]
        for name in ("mb_per_s", "cpu_s_per_gb", "busy_s_per_gb")
    }


def _beside_local(system: Wide, size: Size, distance: Distance) -> Figures:
    """What a processor does in a second changes within minutes where other machines share it, so both are measured."""
    return _local(system, size) | _in_bulk(system, size, distance)


def _in_bulk(system: Wide, size: Size, distance: Distance) -> Figures:
    proxy_mb_per_s = wan_proxy.rate(distance)
    with _reached(system, distance) as proxy:
        meter = Meter((proxy.pid,))
        moved = crossing.catch_up(system, size, _full())
        proxy_cpu_s_per_gb = meter.cpu_s() * 1000 / size.large_batches
    busy_s = moved["moving_busy_s_per_gb"]
    processors_mb_per_s = 1000 * (os.cpu_count() or 1) / busy_s
    return {
        "proxy_mb_per_s": proxy_mb_per_s,
        "mb_per_s": moved["moving_mb_per_s"],
        "second_half_mb_per_s": moved["second_half_mb_per_s"],
        "cpu_s_per_gb": moved["moving_cpu_s_per_gb"],
        "proxy_cpu_s_per_gb": proxy_cpu_s_per_gb,
        "busy_s_per_gb": busy_s,
        "processors_mb_per_s": processors_mb_per_s,
        "of_processors": moved["moving_mb_per_s"] / processors_mb_per_s,
        "peak_mb": moved["peak_mb"],
    }


def _records(system: Wide, size: Size, distance: Distance) -> Figures:
    """One at a time, on a link that is idle otherwise."""
    proxy_ms = wan_proxy.round_trip_ms(distance)
    with _reached(system, distance):
        os.sync()  # the disk does not write what was copied before
        delays = crossing.one_at_a_time(system, size)
    found = {f"record_{name}": delays[name] for name in ("p50_ms", "p99_ms")}
    return found | {"proxy_round_trip_ms": proxy_ms}


@contextmanager
def _reached(system: Wide, distance: Distance) -> Iterator[Proxy]:
    """While it lasts, links reach west through a proxy."""
    with wan_proxy.running(distance, system.reached(through_proxy=True), system.ports) as proxy:
        yield proxy
