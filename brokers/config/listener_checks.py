"""Checks across settings of listeners, each of which is valid by itself. The texts are Kafka's where it has them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.config.listeners import SecurityProtocol, parse_listeners
from brokers.ids import DEFAULT_LISTENER

if TYPE_CHECKING:
    from brokers.config.broker_config import BrokerConfig


def listener_problems(config: "BrokerConfig") -> Iterator[str]:
    """One sentence a problem, beginning with the setting's name."""
    yield from _role_problems(config)
    yield from _protocol_problems(config)
    yield from _port_problems(config)
    yield from _advertised_problems(config)
    if config.is_broker:
        yield from _inter_broker_problems(config)


def _role_problems(config: "BrokerConfig") -> Iterator[str]:
    known, of_controllers = config.listeners_by_name, config.controller_names
    controllers = [name for name in known if name in of_controllers]
    if not config.is_controller and controllers:
        yield (
            f"listeners: {', '.join(controllers)} is in controller.listener.names, and must not appear here "
            "when running KRaft with just the broker role"
        )
    if not config.is_broker and len(controllers) < len(known):
        yield (
            "listeners: must only contain KRaft controller listeners from controller.listener.names "
            "when process.roles=controller"
        )
    if len(controllers) > 1:
        yield "listeners: one controller listener is enough"


def _protocol_problems(config: "BrokerConfig") -> Iterator[str]:
    protocols = config.protocols_by_name
    is_own_map = "listener_security_protocol_map" in config.model_fields_set
    for name in config.listeners_by_name:
        protocol = protocols.get(name)
        if protocol is None:
            yield (
                f"listeners: No security protocol defined for listener {name}; "
                f"add {name}:PLAINTEXT to listener.security.protocol.map"
            )
        elif protocol is not SecurityProtocol.PLAINTEXT:
            setting = "listener.security.protocol.map" if is_own_map else "listeners"
            yield (
                f"{setting}: listener {name} has the security protocol {protocol.name}, "
                "and only PLAINTEXT is supported"
            )
    if config.security_inter_broker_protocol != SecurityProtocol.PLAINTEXT.name:
        yield (
            f"security.inter.broker.protocol: {config.security_inter_broker_protocol} is not supported, "
            "only PLAINTEXT is"
        )


def _port_problems(config: "BrokerConfig") -> Iterator[str]:
    hosts: dict[int, list[str]] = {}
    for where in config.listeners_by_name.values():
        hosts.setdefault(where.port, []).append(where.host)
    for port, same in hosts.items():
        is_dual_stack = sorted(":" in host for host in same) == [False, True]
        if port and len(same) > 1 and not is_dual_stack:
            yield (
                "listeners: Each listener must have a different port unless exactly one listener has an IPv4 "
                f"address and the other IPv6 address, listeners: {config.listeners}, port: {port}"
            )


def _advertised_problems(config: "BrokerConfig") -> Iterator[str]:
    if config.advertised_listeners is None:
        return
    known, named = config.listeners_by_name, parse_listeners(config.advertised_listeners)
    if not set(named) <= set(known):
        yield (
            "advertised.listeners: listener names must be equal to or a subset of the ones defined in listeners. "
            f"Found {','.join(named)}. The valid options based on the current configuration are {','.join(known)}"
        )
    if not config.is_broker and not set(named) <= set(config.controller_names):
        yield "advertised.listeners: clients are not told of a node without the role broker"


def _inter_broker_problems(config: "BrokerConfig") -> Iterator[str]:
    name = config.inter_broker_name
    advertised = [each for each in config.advertised_by_name if each in config.broker_names]
    both = {"inter_broker_listener_name", "security_inter_broker_protocol"}
    if both <= config.model_fields_set:
        yield (
            "inter.broker.listener.name: Only one of inter.broker.listener.name and "
            "security.inter.broker.protocol should be set."
        )
    if name in config.controller_names:
        yield f"controller.listener.names: must not contain the inter.broker.listener.name {name}"
    elif not advertised:
        setting = "listeners" if config.advertised_listeners is None else "advertised.listeners"
        yield (
            f"{setting}: There must be at least one broker advertised listener. "
            "Perhaps all listeners appear in controller.listener.names?"
        )
    elif name not in advertised:
        default = "" if name != DEFAULT_LISTENER else f" (the default is {DEFAULT_LISTENER})"
        yield (
            "inter.broker.listener.name: must be a listener name defined in advertised.listeners"
            f"{default}. The valid options based on currently configured listeners are {','.join(advertised)}"
        )
