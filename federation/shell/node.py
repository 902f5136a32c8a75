"""The process of a node: a broker and its links in one event loop."""

import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokers.config.broker_config import BrokerConfig, ConfigError
from brokers.config.endpoints import Address, endpoint
from brokers.ids import Instant
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.node.broker import Broker
from brokers.ports import Rng
from brokers.shell.binding import bind_http
from brokers.shell.identity import IdentityError
from brokers.shell.node import Core, NodeRefused
from brokers.shell.process import run
from brokers.shell.settings import load_config, overrides_of
from federation.node import LinkerDue, RegionNode
from federation.shell.limits import (
    chunk_bytes_max,
    command_limits,
    connection_limits,
    node_limits,
    stream_limits,
)
from federation.shell.link_metrics import LinkMetrics
from federation.shell.orphan_files import OrphanFiles
from linker.linker import Linker
from linker.shell.admin_server import AdminServer
from linker.shell.client import Dialer
from linker.shell.link_server import LinkServer
from linker.shell.streams import Streams

if TYPE_CHECKING:
    from linker.shell.rest.server import RestServer

# Without a setting: any free port, which the node prints on stdout and the broker advertises.
DEFAULT_LISTENER = "127.0.0.1:0"


class NotStarted(Exception):
    """The problems of the settings, or the reason why the node cannot start with them; one a line."""


def main(path: Path, overrides: Sequence[str] = ()) -> None:
    """Runs until SIGTERM or SIGINT; raises NotStarted. `overrides` are KEY=VALUE."""
    try:
        run(load_config(path, overrides_of(overrides)), LinkServices)
    except UnicodeDecodeError as error:
        raise NotStarted(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except (ConfigError, IdentityError, MetadataLogError, NodeRefused, OSError) as error:
        raise NotStarted(str(error)) from error


class LinkServices:
    """What runs beside the broker: the linker, the streams between regions, and administration over gRPC."""

    def __init__(self, config: BrokerConfig, feed: Callable[[Any], None]) -> None:
        self._config = config
        self._streams = Streams(
            feed,
            config.link_queued_max_bytes,
            chunk_bytes_max=chunk_bytes_max(config),
        )
        self._links = LinkServer(self._streams, feed, stream_limits(config))
        self._orphans = OrphanFiles(config.directories)
        self._admin = AdminServer(feed, command_limits(config), self._orphans)
        self._metrics: LinkMetrics | None = None  # once there is a linker
        self._rest_socket: socket.socket | None = None
        self._rest: RestServer | None = None  # once its region is known
        self._dialer = Dialer(self._streams, chunk_bytes_max(config))
        own = {LinkerDue: feed}
        self.perform = own | self._streams.perform | self._admin.perform | self._dialer.perform

    def bind(self) -> BrokerConfig:
        """Binds all listeners; returns the configuration with their real ports. Raises ConfigError."""
        link = _bind(self._links, "link.listener", self._config.link_listener)
        admin = _bind(self._admin, "admin.listener", self._config.admin_listener)
        update = {"link_listener": link, "admin_listener": admin}
        self._rest_socket, config = bind_http(self._config, "rest.listener")
        return config.model_copy(update=update)

    def compose(self, broker: Broker, rng: Rng) -> Core:
        config = self._config
        linker = Linker(
            broker.view,
            rng,
            config.mirror_hole_retention_ms,
            config.link_queued_max_bytes,
            is_fencing_enabled=config.link_fencing_enable,
            hold_limits=config.hold_limits,
            startup_wait_ms=config.link_source_startup_wait_ms,
            limits=node_limits(config),
        )
        self._metrics = LinkMetrics(linker, self._orphans)
        self._rest = _rest_server(self._rest_socket, self._admin, broker.view.cluster_id, config)
        return RegionNode(broker, linker)

    def metrics_text(self, now: Instant) -> Iterator[str]:
        """For the page `/metrics`."""
        return self._metrics.text(now) if self._metrics is not None else iter(())

    async def start(self) -> None:
        await self._links.start()
        await self._admin.start()
        if self._rest is not None:
            await self._rest.start()

    async def stop(self) -> None:
        await self._dialer.stop()
        if self._rest is not None:
            await self._rest.stop()
        await self._admin.stop()
        await self._links.stop()


def _rest_server(
    bound: socket.socket | None, admin: AdminServer, cluster_id: str, config: BrokerConfig
) -> "RestServer | None":
    if bound is None:
        return None
    from linker.shell.rest.server import RestServer  # its libraries cost 0.4 s, and memory

    limits = (command_limits(config), connection_limits(config))
    return RestServer(bound, admin, cluster_id, *limits)


def _bind(server: LinkServer | AdminServer, name: str, wanted: str | None) -> str:
    """The address with its real port. Raises ConfigError."""
    address = wanted or DEFAULT_LISTENER
    try:
        port = server.bind(address)
    except RuntimeError as error:
        raise ConfigError([f"{name}: can't listen on {address}: {error}"]) from None
    return str(Address(endpoint(address).host, port))
