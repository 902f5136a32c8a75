"""Connections by listener."""

from prometheus_client.parser import text_string_to_metric_families

from brokers.telemetry.connections import (
    WINDOW_SECONDS,
    EventRate,
    ListenerConnections,
    connections_text,
)


def test_a_rate_is_of_the_last_minute_at_most() -> None:
    rate = EventRate(0.0)
    for second in range(30):
        rate.add(float(second))
    assert rate.per_second(30.0) == 1.0
    assert rate.per_second(WINDOW_SECONDS * 2) == 0.0
    assert rate.count == 30


def test_a_rate_of_a_first_moment_is_not_endless() -> None:
    rate = EventRate(100.0)
    rate.add(100.0)
    assert rate.per_second(100.0) == 1.0


def test_names_and_labels_are_those_of_the_exporter() -> None:
    listener = ListenerConnections(0.0)
    for _ in range(3):
        listener.created.add(1.0)
    listener.closed.add(2.0)
    page = "".join(connections_text({"PLAINTEXT": listener}, 10.0))
    found = {
        sample.name: sample.value
        for each in text_string_to_metric_families(page)
        for sample in each.samples
        if sample.labels == {"listener": "PLAINTEXT", "networkProcessor": "0"}
    }
    prefix = "kafka_server_socket_server_metrics_connection_"
    assert found == {
        prefix + "count": 2,
        prefix + "creation_total": 3,
        prefix + "creation_rate": 0.3,
        prefix + "close_total": 1,
        prefix + "close_rate": 0.1,
    }
