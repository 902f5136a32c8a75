"""The process of a node: a broker and its links in one event loop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brokers.config.broker_config import BrokerConfig, ConfigError, parse
from brokers.config.endpoints import Address, endpoint
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.node.broker import Broker
from brokers.ports import Rng
from brokers.shell.identity import IdentityError
from brokers.shell.node import Core, NodeRefused
from brokers.shell.process import run
from federation.node import RegionNode
from linker.linker import Linker
from linker.shell.client import Dialer
from linker.shell.server import LinkServer
from linker.shell.streams import Streams

# Without the setting: any free port, which the node prints on stdout and the broker advertises.
DEFAULT_ADMIN_LISTENER = "127.0.0.1:0"


class NotStarted(Exception):
    """The problems of the settings, or the reason why the node cannot start with them; one a line."""


def main(path: Path) -> None:
    """Runs until SIGTERM or SIGINT; raises NotStarted."""
    try:
        run(parse(path.read_text(encoding="utf-8")), LinkServices)
    except UnicodeDecodeError as error:
        raise NotStarted(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except (ConfigError, IdentityError, MetadataLogError, NodeRefused, OSError) as error:
        raise NotStarted(str(error)) from error


class LinkServices:
    """What runs beside the broker: the linker, the streams between regions, and administration over gRPC."""

    def __init__(self, config: BrokerConfig, feed: Callable[[Any], None]) -> None:
        self._config = config
        self._streams = Streams(feed)
        self._server = LinkServer(self._streams, feed, config.socket_request_max_bytes)
        self._dialer = Dialer(self._streams, config.socket_request_max_bytes)
        self.perform = self._streams.perform | self._server.perform | self._dialer.perform

    def bind(self) -> BrokerConfig:
        """Binds the admin listener; returns the configuration with its real port. Raises ConfigError."""
        wanted = self._config.admin_listener or DEFAULT_ADMIN_LISTENER
        try:
            port = self._server.bind(wanted)
        except RuntimeError as error:
            raise ConfigError([f"admin.listener: can't listen on {wanted}: {error}"]) from None
        chosen = Address(endpoint(wanted).host, port)
        return self._config.model_copy(update={"admin_listener": str(chosen)})

    def compose(self, broker: Broker, rng: Rng) -> Core:
        linker = Linker(broker.view, rng, self._config.mirror_hole_retention_ms)
        return RegionNode(broker, linker)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._dialer.stop()
        await self._server.stop()
