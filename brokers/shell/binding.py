"""Binds a node's ports before anything is started; port 0 becomes the port that the system chose."""

import socket

from brokers.config.broker_config import BrokerConfig, ConfigError
from brokers.config.endpoints import Address, endpoint


def bind(config: BrokerConfig) -> tuple[dict[str, socket.socket], BrokerConfig]:
    """The sockets of `listeners`, by name; raises ConfigError for an address that cannot be bound."""
    bound: dict[str, socket.socket] = {}
    try:
        for name, where in config.listeners_by_name.items():
            bound[name] = _bind(where)
    except OSError as error:
        for each in bound.values():
            each.close()
        raise ConfigError([f"listeners: can't listen on {name}://{where}: {error}"]) from None
    chosen = ",".join(f"{name}://{bound_address(each)}" for name, each in bound.items())
    return bound, config.model_copy(update={"listeners": chosen})


def bind_http(config: BrokerConfig, name: str) -> tuple[socket.socket | None, BrokerConfig]:
    """The same for `metrics.listener` or `rest.listener`; None where there is none."""
    field = name.replace(".", "_")
    wanted = getattr(config, field)
    if wanted is None:
        return None, config
    try:
        bound = _bind(endpoint(wanted))
    except OSError as error:
        raise ConfigError([f"{name}: can't listen on {wanted}: {error}"]) from None
    return bound, config.model_copy(update={field: bound_address(bound)})


def bound_address(bound: socket.socket) -> str:
    """HOST:PORT of a socket."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _bind(where: Address) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in where.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(where)
    except OSError:
        bound.close()
        raise
    return bound
