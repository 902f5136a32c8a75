"""Apache Kafka as two regions of one node; MirrorMaker 2 reaches west straight or through a proxy's port."""

from pathlib import Path

from tests.bench import processes
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import DESTINATION, SOURCE

PROTOCOLS = "listener.security.protocol.map"


class KafkaWan(Kafka):
    """Its west has a listener of its own for who comes through the proxy, under whose address it advertises itself."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._behind = f"127.0.0.1:{processes.free_port()}"
        self.ports = (processes.free_port(),)
        self._through_proxy = False

    def reached(self, *, through_proxy: bool) -> tuple[str, ...]:
        self._through_proxy = through_proxy
        return (self._behind,)

    def link(self, topic: str) -> None:
        """It stands beside east, as its manual wants it."""
        west = self._proxy if self._through_proxy else self._addresses[SOURCE]
        self._mirror.start(topic, west, self._addresses[DESTINATION])

    @property
    def _proxy(self) -> str:
        return f"127.0.0.1:{self.ports[0]}"

    def _places(self, name: str) -> dict[str, str]:
        places = super()._places(name)
        if name == SOURCE:
            places["listeners"] += f",WAN://{self._behind}"
            places["advertised.listeners"] += f",WAN://{self._proxy}"
            places[PROTOCOLS] = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,WAN:PLAINTEXT"
        return places
