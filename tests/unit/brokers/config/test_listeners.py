"""Listeners as Kafka's settings describe them: what they come to, and what is refused in which words."""

import pytest

from brokers.config.broker_config import BrokerConfig, ConfigError, from_settings
from brokers.config.listeners import SecurityProtocol

LEAST = {"node.id": 1, "log.dirs": "data"}
MANY = {"cluster.id": "one", "controller.quorum.voters": "1@h:93,2@i:93,3@j:93"}
THREE = "INTERNAL://10.0.0.1:91,CLIENTS://:92,CONTROLLER://10.0.0.1:93"
MAP = "INTERNAL:PLAINTEXT, clients:PLAINTEXT,CONTROLLER:PLAINTEXT"


def config(**changed: str) -> BrokerConfig:
    return from_settings(LEAST | {name.replace("_", "."): value for name, value in changed.items()})


def problems(**changed: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        config(**changed)
    return refused.value.problems


def test_by_default_there_is_one_listener_and_brokers_use_it_too() -> None:
    (only,) = config().broker_listeners
    assert (only.name, only.protocol) == ("PLAINTEXT", SecurityProtocol.PLAINTEXT)
    assert only.address == only.advertised == ("127.0.0.1", 9092)
    assert config().inter_broker_name == "PLAINTEXT"


def test_each_listener_has_an_address_to_bind_and_one_to_advertise() -> None:
    node = config(
        listeners="CLIENTS://:92,internal://10.0.0.1:91,CONTROLLER://10.0.0.1:93",
        advertised_listeners="CLIENTS://example.org:19092,INTERNAL://b1:91,CONTROLLER://b1:93",
        listener_security_protocol_map=MAP,
        inter_broker_listener_name="Internal",
    )
    assert [(each.name, each.address, each.advertised) for each in node.broker_listeners] == [
        ("INTERNAL", ("10.0.0.1", 91), ("b1", 91)),
        ("CLIENTS", ("", 92), ("example.org", 19092)),
    ], "the one at which brokers reach one another comes first"
    assert node.advertised_address == ("b1", 91)
    assert (node.controller_listener, node.controller_address) == ("CONTROLLER", ("b1", 93))


def test_once_advertised_listeners_are_set_the_others_are_not_advertised() -> None:
    node = config(
        listeners=THREE,
        advertised_listeners="INTERNAL://b1:91",
        listener_security_protocol_map=MAP,
        inter_broker_listener_name="INTERNAL",
    )
    assert {each.name: each.advertised for each in node.broker_listeners} == {
        "INTERNAL": ("b1", 91),
        "CLIENTS": None,
    }
    assert node.controller_address == ("10.0.0.1", 93)


def test_without_a_map_security_protocols_and_controller_listeners_need_no_entry() -> None:
    node = config(listeners="PLAINTEXT://h:1,ONE://h:2", controller_listener_names="one,TWO")
    assert node.controller_listener == "ONE"
    assert config(listeners="PLAINTEXT://h:1,ONE://[::1]:1", controller_listener_names="ONE")


REFUSED: list[tuple[dict[str, str], str]] = [
    (
        {"listeners": "PLAINTEXT://h:1,CLIENTS://h:2"},
        "listeners: No security protocol defined for listener CLIENTS; add CLIENTS:PLAINTEXT to "
        "listener.security.protocol.map",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CONTROLLER://h:2", "listener_security_protocol_map": "PLAINTEXT:PLAINTEXT"},
        "listeners: No security protocol defined for listener CONTROLLER; add CONTROLLER:PLAINTEXT to "
        "listener.security.protocol.map",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,SASL_SSL://h:2"},
        "listeners: listener SASL_SSL has the security protocol SASL_SSL, and only PLAINTEXT is supported",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CLIENTS://h:2",
         "listener_security_protocol_map": "PLAINTEXT:PLAINTEXT,CLIENTS:SSL"},
        "listener.security.protocol.map: listener CLIENTS has the security protocol SSL, "
        "and only PLAINTEXT is supported",
    ),
    (
        {"listener_security_protocol_map": "PLAINTEXT:TLS"},
        "listener.security.protocol.map: Value error, Invalid security protocol `TLS`; "
        "Kafka has PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL (given 'PLAINTEXT:TLS')",
    ),
    (
        {"listener_security_protocol_map": "PLAINTEXT"},
        "listener.security.protocol.map: Value error, 'PLAINTEXT': give NAME:PROTOCOL (given 'PLAINTEXT')",
    ),
    (
        {"listener_security_protocol_map": "a:PLAINTEXT,A:SSL"},
        "listener.security.protocol.map: Value error, listener A is given twice (given 'a:PLAINTEXT,A:SSL')",
    ),
    (
        {"security_inter_broker_protocol": "SASL_SSL", "listeners": "PLAINTEXT://h:1"},
        "security.inter.broker.protocol: SASL_SSL is not supported, only PLAINTEXT is",
    ),
    (
        {"security_inter_broker_protocol": "TLS"},
        "security.inter.broker.protocol: Value error, Invalid security protocol `TLS`; "
        "Kafka has PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL (given 'TLS')",
    ),
    (
        {"security_inter_broker_protocol": "PLAINTEXT", "inter_broker_listener_name": "PLAINTEXT"},
        "inter.broker.listener.name: Only one of inter.broker.listener.name and "
        "security.inter.broker.protocol should be set.",
    ),
    (
        {"inter_broker_listener_name": "INTERNAL"},
        "inter.broker.listener.name: must be a listener name defined in advertised.listeners. "
        "The valid options based on currently configured listeners are PLAINTEXT",
    ),
    (
        {"listeners": THREE, "listener_security_protocol_map": MAP},
        "inter.broker.listener.name: must be a listener name defined in advertised.listeners "
        "(the default is PLAINTEXT). "
        "The valid options based on currently configured listeners are INTERNAL,CLIENTS",
    ),
    (
        {"listeners": THREE, "listener_security_protocol_map": MAP, "inter_broker_listener_name": "CLIENTS",
         "advertised_listeners": "INTERNAL://b1:91"},
        "inter.broker.listener.name: must be a listener name defined in advertised.listeners. "
        "The valid options based on currently configured listeners are INTERNAL",
    ),
    (
        {"inter_broker_listener_name": "CONTROLLER", "listeners": "PLAINTEXT://h:1,CONTROLLER://h:2"},
        "controller.listener.names: must not contain the inter.broker.listener.name CONTROLLER",
    ),
    (
        {"listeners": "CONTROLLER://h:2"},
        "listeners: There must be at least one broker advertised listener. "
        "Perhaps all listeners appear in controller.listener.names?",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CONTROLLER://h:2", "advertised_listeners": "CONTROLLER://b:2"},
        "advertised.listeners: There must be at least one broker advertised listener. "
        "Perhaps all listeners appear in controller.listener.names?",
    ),
    (
        {"advertised_listeners": "PLAINTEXT://b:1,CLIENTS://b:2"},
        "advertised.listeners: listener names must be equal to or a subset of the ones defined in listeners. "
        "Found PLAINTEXT,CLIENTS. The valid options based on the current configuration are PLAINTEXT",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CONTROLLER://h:1"},
        "listeners: Each listener must have a different port unless exactly one listener has an IPv4 address "
        "and the other IPv6 address, listeners: PLAINTEXT://h:1,CONTROLLER://h:1, port: 1",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,plaintext://h:2"},
        "listeners: Value error, Each listener must have a unique name, and PLAINTEXT is given twice "
        "(given 'PLAINTEXT://h:1,plaintext://h:2')",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,ONE://h:2,TWO://h:3", "controller_listener_names": "ONE,TWO"},
        "listeners: one controller listener is enough",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CONTROLLER://h:2", "process_roles": "broker", **MANY},
        "listeners: CONTROLLER is in controller.listener.names, and must not appear here when running KRaft "
        "with just the broker role",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CONTROLLER://h:93", "process_roles": "controller", **MANY},
        "listeners: must only contain KRaft controller listeners from controller.listener.names "
        "when process.roles=controller",
    ),
    (
        {"listeners": "PLAINTEXT://h:1,CONTROLLER://h:93", "process_roles": "controller", **MANY,
         "advertised_listeners": "PLAINTEXT://h:1"},
        "advertised.listeners: clients are not told of a node without the role broker",
    ),
    (
        {"listeners": THREE, "listener_security_protocol_map": MAP, "inter_broker_listener_name": "INTERNAL",
         **MANY},
        "advertised.listeners: give the host at which clients and the other nodes reach this one; "
        "CLIENTS is at every interface",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "problem"), REFUSED)
def test_what_is_refused_is_refused_by_the_setting_that_names_it(
    changed: dict[str, str], problem: str
) -> None:
    assert problem in problems(**changed)


@pytest.mark.parametrize("port", ["0", "1"])
def test_the_system_may_choose_several_ports_and_ipv4_and_ipv6_may_share_one(port: str) -> None:
    host = "h" if port == "0" else "[::1]"
    node = config(listeners=f"PLAINTEXT://h:{port},CONTROLLER://{host}:{port}")
    assert node.controller_listener == "CONTROLLER"
