"""A directory that `kafka-storage format` prepared: a node starts in it, with Kafka's own configuration file."""

from collections.abc import Callable
from pathlib import Path

from tests.process.test_listeners import free_ports
from tests.process.test_server_properties import FromProperties, works

CLUSTER = "abcdefghijklmnopqrstuv"


def test_a_node_starts_where_kafka_storage_has_formatted(
    tool: Callable[..., str], tmp_path: Path
) -> None:
    broker, controller = free_ports(2)
    words = {"broker": broker, "controller": controller}
    node = FromProperties(tmp_path / "node", "kafka_server", words)
    options = ("--standalone", "--cluster-id", CLUSTER, "--config", str(node.file))
    tool("kafka.tools.StorageTool", "format", *options)
    node.start()
    try:
        works(broker)
    finally:
        node.kill()
    meta = (node.file.parent / "kraft-combined-logs" / "meta.properties").read_text()
    assert f"cluster.id={CLUSTER}" in meta
