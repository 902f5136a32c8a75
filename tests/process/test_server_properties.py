"""A `server.properties` that ran Kafka runs a node: Kafka's own, Strimzi's and Bitnami's, with real clients."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from federation.cli import main
from tests.process.nodes import BrokerProcess
from tests.process.test_listeners import free_ports

FILES = Path(__file__).with_name("server_properties")
PROTOCOLS = "CONTROLPLANE-9090:PLAINTEXT,REPLICATION-9091:PLAINTEXT,PLAIN-9092:PLAINTEXT"
WITHOUT_TLS = f"listener.security.protocol.map={PROTOCOLS}"
FORMATTED = "version=1\ncluster.id=abcdefghijklmnopqrstuv\nnode.id={}\ndirectory.id={}\n"
Start = Callable[..., "FromProperties"]


class FromProperties(BrokerProcess):
    """`python -m brokers` with one of `FILES`, filled in."""

    def __init__(self, directory: Path, name: str, words: dict[str, object]) -> None:
        super().__init__(directory)
        directory.mkdir(exist_ok=True)
        text = (FILES / f"{name}.properties").read_text()
        for word, value in (words | {"directory": directory}).items():
            text = text.replace(f"{{{word}}}", str(value))
        self.file = directory / "server.properties"
        self.file.write_text(text)

    def start(self, *overrides: str) -> None:
        options = [word for each in overrides for word in ("--override", each)]
        with (self._directory / "log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "brokers", "--config", str(self.file), *options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the node did not start: {self.log()[-2000:]}"
        self.told = json.loads(line)

    def checked(self, *overrides: str, exit_code: int) -> dict[str, tuple[str, str]]:
        """(verdict, why) of each key, as `region config check` says."""
        options = [word for each in overrides for word in ("--override", each)]
        words = ["region", "config", "check", str(self.file), *options, "--json"]
        ran = CliRunner().invoke(main, words)
        assert ran.exit_code == exit_code, ran.output
        return {
            each["key"]: (each["verdict"], each["why"]) for each in json.loads(ran.stdout)["keys"]
        }


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., FromProperties]]:
    made: list[FromProperties] = []

    def node(name: str, **words: object) -> FromProperties:
        made.append(FromProperties(tmp_path / name, name, words))
        return made[-1]

    yield node
    for each in made:
        if each.is_running():
            each.kill()


def works(port: int) -> None:
    """A stock producer writes, and a stock admin client sees the topic."""
    address = {"bootstrap.servers": f"localhost:{port}"}
    producer = Producer({**address, "acks": "all"})
    producer.produce("t", b"hello")
    assert producer.flush(60) == 0
    assert "t" in AdminClient(address).list_topics(timeout=60).topics


def warned(node: FromProperties) -> set[str]:
    lines = [line for line in node.log().splitlines() if " has no effect: " in line]
    keys = [line.split("brokers.shell.process: ")[1].split("=")[0] for line in lines]
    assert len(keys) == len(set(keys)), keys
    return set(keys)


def test_kafkas_combined_file_starts_a_region(make: Start) -> None:
    broker, controller = free_ports(2)
    node = make("kafka_server", broker=broker, controller=controller)
    keys = node.checked(exit_code=0)
    node.start()
    works(broker)
    without = {key for key, (verdict, _) in keys.items() if verdict == "no effect"}
    assert without == warned(node) and {"num.io.threads", "num.network.threads"} <= without
    assert keys["log.retention.hours"] == ("works", "sets log.retention.ms")


def test_kafkas_broker_finds_kafkas_controller(make: Start) -> None:
    broker, controller = free_ports(2)
    names = (("kafka_controller", "kraft-controller-logs"), ("kafka_broker", "kraft-broker-logs"))
    nodes = []
    for node_id, (name, logs) in enumerate(names, 1):
        node = make(name, broker=broker, controller=controller)
        (_, why) = node.checked(exit_code=1)["cluster.id"]
        assert "kafka-storage format" in why
        folder = node.file.parent / logs
        folder.mkdir()
        meta = FORMATTED.format(node_id, f"{node_id}bcdefghijklmnopqrstuv")
        (folder / "meta.properties").write_text(meta)
        node.checked(exit_code=0)
        nodes.append(node)
    for node in nodes:
        node.start()
    works(broker)
    nodes[1].kill()
    nodes[1].start()  # it has no voters in its log, and asks again
    works(broker)


def test_strimzis_file_starts_once_its_listeners_have_no_tls(make: Start, tmp_path: Path) -> None:
    broker, internal, controller = free_ports(3)
    node = make("strimzi", broker=broker, internal=internal, controller=controller)
    (node.file.parent / "init").mkdir()
    (node.file.parent / "init" / "rack.id").write_text("zone-a")
    refused = {
        key: why
        for key, (verdict, why) in node.checked(exit_code=1).items()
        if verdict == "refused"
    }
    assert list(refused) == ["listener.security.protocol.map"] and "CONTROLPLANE-9090" in str(
        refused
    )
    node.checked(WITHOUT_TLS, exit_code=0)
    node.start(WITHOUT_TLS)
    works(broker)
    assert "listener.name.controlplane-9090.ssl.client.auth" in warned(node)


def test_bitnamis_file_starts_a_region(make: Start) -> None:
    broker, internal, controller = free_ports(3)
    node = make("bitnami", broker=broker, internal=internal, controller=controller)
    assert node.checked(exit_code=0)["logs.dir"][0] == "unknown"
    node.start()
    works(broker)
    assert {"logs.dir", "sasl.enabled.mechanisms"} <= warned(node)
    topics = AdminClient({"bootstrap.servers": f"localhost:{broker}"})
    with pytest.raises(Exception, match="TOPIC_DELETION_DISABLED"):
        topics.delete_topics(["t"])["t"].result(60)
