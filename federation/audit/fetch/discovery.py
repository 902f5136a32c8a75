"""Which replicas live brokers have: where each starts, and how large it is."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from federation.audit.fetch.compactions import compactions
from federation.audit.fetch.connection import ask
from federation.audit.fetch.fetched_replica import FetchedReplica
from federation.audit.fetch.messages import (
    DESCRIBE_LOG_DIRS,
    FETCH,
    OFFSET_NOT_AVAILABLE,
    OFFSET_OUT_OF_RANGE,
    Fetched,
    fetch_answer,
    fetch_request,
    sizes_answer,
    sizes_request,
)
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.compaction import Compaction

AT_ONCE = 1_000
LATE_SECONDS = 10.0
AGAIN_SECONDS = 0.1


def replicas(
    addresses: Mapping[int, str], wanted: Mapping[Key, Iterable[int]], ends: Mapping[Key, int]
) -> dict[Key, list[FetchedReplica]]:
    """The wanted replicas (node ids by partition) of brokers that answer; `ends` are the region's high watermarks."""
    by_node: dict[int, dict[Key, int]] = defaultdict(dict)
    for key, nodes in wanted.items():
        for node in nodes:
            if key in ends and node in addresses:
                by_node[node][key] = ends[key]
    found: dict[Key, list[FetchedReplica]] = defaultdict(list)
    for node, offsets in sorted(by_node.items()):
        for one in _of_node(node, addresses[node], offsets):
            found[one.key].append(one)
    return dict(found)


def _of_node(node: int, address: str, ends: Mapping[Key, int]) -> Iterator[FetchedReplica]:
    try:
        sizes = sizes_answer(ask(address, *DESCRIBE_LOG_DIRS, sizes_request()))
        lacks = _compactions(address, ends)
        left = iter(ends.items())
        while some := dict(islice(left, AT_ONCE)):
            for key, answer in _probed(address, some).items():
                size = sizes.get(key, 0)
                where = *key, node, address
                found = FetchedReplica(*where, answer.log_start, ends[key], size)
                yield found._replace(compaction=lacks.get(key))
    except OSError:
        return  # who does not answer is not there: the partition's verdict says so


def _compactions(address: str, keys: Iterable[Key]) -> Mapping[Key, Compaction]:
    """Of a broker that knows no such request, nothing is known."""
    try:
        return compactions(address, keys)
    except OSError:
        return {}


def _probed(address: str, ends: Mapping[Key, int]) -> dict[Key, Fetched]:
    """What a fetch at each partition's high watermark says; a follower that lags behind is asked again."""
    found: dict[Key, Fetched] = {}
    left = dict(ends)
    give_up = time.monotonic() + LATE_SECONDS
    while left and time.monotonic() < give_up:
        request = fetch_request(left, partition_bytes=1, wait_ms=0, min_bytes=0)
        answer = fetch_answer(ask(address, *FETCH, request))
        for key, one in answer.items():
            if one.error not in (OFFSET_NOT_AVAILABLE, OFFSET_OUT_OF_RANGE):
                left.pop(key, None)
            if not one.error and key in ends:
                found[key] = one
        if left:
            time.sleep(AGAIN_SECONDS)
    return found
