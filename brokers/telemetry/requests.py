"""The counts of `Traffic` as text: Kafka's kafka.network:type=RequestMetrics, kafka.server:type=BrokerTopicMetrics."""

from collections.abc import Iterator, Mapping
from typing import Final

from brokers.errors import KafkaError
from brokers.metadata.image.image import Image
from brokers.telemetry.durations import Durations
from brokers.telemetry.exposition import family, head, labelled, sample
from brokers.telemetry.request_times import PARTS
from brokers.telemetry.topics import TopicsTraffic
from brokers.telemetry.traffic import FETCH, FETCH_CONSUMER, FETCH_FOLLOWER, Api, Traffic

_REQUEST: Final = "kafka_network_requestmetrics_"
_TOPIC: Final = "kafka_server_brokertopicmetrics_"
_ERROR_NAMES: Final = {error.value: error.name for error in KafkaError}
_QUANTILES: Final = {
    0.5: "0.50", 0.75: "0.75", 0.95: "0.95", 0.98: "0.98", 0.99: "0.99", 0.999: "0.999",
}  # fmt: skip
# As in Kafka, a request counts once for each partition in it, and errors that redirect a client are no failures.
TOPIC_COUNTERS: Final[Mapping[str, tuple[str, str]]] = {
    "bytesin": ("bytes_in", "Bytes of record batches that producers wrote"),
    "bytesout": ("bytes_out", "Bytes of record batches that consumers were sent"),
    "messagesin": ("messages_in", "Records that producers wrote"),
    "totalproducerequests": ("produces", "Partitions that produce requests named"),
    "totalfetchrequests": ("fetches", "Partitions that fetch requests were answered for"),
    "failedproducerequests": ("failed_produces", "Those of them that the broker failed"),
    "failedfetchrequests": ("failed_fetches", "Those of them that the broker failed"),
}


def traffic_text(traffic: Traffic, image: Image, now: float) -> Iterator[str]:
    yield from _requests(traffic.apis)
    yield from _errors(traffic.apis)
    yield from _times(traffic.apis, now)
    yield from _topics(traffic.topics, image)


def _requests(apis: Mapping[str, Api]) -> Iterator[str]:
    counted: dict[tuple[str, int], int] = {}
    for request, api in _named(apis):
        for version, count in api.versions.items():
            counted[request, version] = counted.get((request, version), 0) + count
    samples = (
        (count, labelled(request=request, version=version))
        for (request, version), count in sorted(counted.items())
    )
    yield from family(_REQUEST + "requests_total", "counter", "Requests answered", samples)


def _errors(apis: Mapping[str, Api]) -> Iterator[str]:
    counted: dict[tuple[str, str], int] = {}
    for request, api in _named(apis):
        for code, count in api.errors.items():
            key = (request, _ERROR_NAMES.get(code, str(code)))
            counted[key] = counted.get(key, 0) + count
    samples = (
        (count, labelled(request=request, error=error))
        for (request, error), count in sorted(counted.items())
    )
    about = "Error codes in answers, all that an answer holds; NONE is success"
    yield from family(_REQUEST + "errors_total", "counter", about, samples)


def _named(apis: Mapping[str, Api]) -> Iterator[tuple[str, Api]]:
    """The counts by name. As in Kafka, a fetch counts as Fetch, and as FetchConsumer or FetchFollower."""
    for request, api in apis.items():
        yield request, api
        if request in (FETCH_CONSUMER, FETCH_FOLLOWER):
            yield FETCH, api


def _times(apis: Mapping[str, Api], now: float) -> Iterator[str]:
    """All times of a request, and its parts. Quantiles are of the last minutes."""
    by_name = sorted(apis.items())
    name = _REQUEST + "totaltimems"
    yield head(name, "summary", "Milliseconds from a request to the end of its answer")
    for request, api in by_name:
        total = api.times.total
        yield from _summary(name, request, total, total.total, total, now)
    for index, (part, about) in enumerate(PARTS.items()):
        name = _REQUEST + part
        yield head(name, "summary", about)
        for request, api in by_name:
            _, durations, spent = list(api.times.by_name())[index]
            yield from _summary(name, request, durations, spent, api.times.total, now)


def _summary(
    name: str, request: str, durations: Durations, spent: float, total: Durations, now: float
) -> Iterator[str]:
    """As many as of `total`: a part that took no time was not added."""
    values = durations.quantiles(tuple(_QUANTILES), now, total.recent(now))
    for quantile, value in zip(_QUANTILES.values(), values, strict=True):
        yield sample(name, round(value * 1000, 3), labelled(request=request, quantile=quantile))
    labels = labelled(request=request)
    yield sample(name + "_sum", round(spent * 1000, 3), labels)
    yield sample(name + "_count", total.count, labels)


def _topics(topics: TopicsTraffic, image: Image) -> Iterator[str]:
    """Samples without the label `topic` are of all topics, including deleted ones."""
    total, by_name = topics.by_name(image)
    for name, (field, about) in TOPIC_COUNTERS.items():
        full_name = f"{_TOPIC}{name}_total"
        yield head(full_name, "counter", about)
        yield sample(full_name, getattr(total, field))
        for topic, traffic in by_name.items():
            yield sample(full_name, getattr(traffic, field), labelled(topic=topic))
    name = _TOPIC + "replicationbytesout_total"
    about = "Bytes of record batches that followers were sent"
    yield from family(name, "counter", about, iter([(topics.replication_bytes_out, "")]))
