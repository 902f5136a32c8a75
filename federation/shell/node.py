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
from federation.shell.orphan_files import OrphanFiles
from linker.linker import Linker
from linker.shell.admin_server import AdminServer
from linker.shell.client import Dialer
from linker.shell.link_server import LinkServer, StreamLimits
from linker.shell.streams import Streams

# Without a setting: any free port, which the node prints on stdout and the broker advertises.
DEFAULT_LISTENER = "127.0.0.1:0"


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
        self._streams = Streams(feed, config.link_queued_max_bytes)
        limits = StreamLimits(config.link_max_streams, config.link_max_streams_per_ip)
        self._links = LinkServer(self._streams, feed, limits)
        self._admin = AdminServer(feed, disks=OrphanFiles(config.directories))
        self._dialer = Dialer(self._streams, config.socket_request_max_bytes)
        self.perform = self._streams.perform | self._admin.perform | self._dialer.perform

    def bind(self) -> BrokerConfig:
        """Binds both listeners; returns the configuration with their real ports. Raises ConfigError."""
        link = _bind(self._links, "link.listener", self._config.link_listener)
        admin = _bind(self._admin, "admin.listener", self._config.admin_listener)
        return self._config.model_copy(update={"link_listener": link, "admin_listener": admin})

    def compose(self, broker: Broker, rng: Rng) -> Core:
        config = self._config
        linker = Linker(
            broker.view,
            rng,
            config.mirror_hole_retention_ms,
            config.link_queued_max_bytes,
            is_fencing_enabled=config.link_fencing_enable,
        )
        return RegionNode(broker, linker)

    async def start(self) -> None:
        await self._links.start()
        await self._admin.start()

    async def stop(self) -> None:
        await self._dialer.stop()
        await self._admin.stop()
        await self._links.stop()


def _bind(server: LinkServer | AdminServer, name: str, wanted: str | None) -> str:
    """The address with its real port. Raises ConfigError."""
    address = wanted or DEFAULT_LISTENER
    try:
        port = server.bind(address)
    except RuntimeError as error:
        raise ConfigError([f"{name}: can't listen on {address}: {error}"]) from None
    return str(Address(endpoint(address).host, port))
