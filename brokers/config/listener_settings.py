"""The settings of a node's listeners, and what follows from them."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from brokers.config import endpoints
from brokers.config.endpoints import Address
from brokers.config.listeners import (
    DEFAULT_PROTOCOL_MAP,
    ListenerConfig,
    SecurityProtocol,
    parse_listeners,
    parse_protocol,
    parse_protocol_map,
)
from brokers.ids import DEFAULT_LISTENER

_SECURED = frozenset(("SSL", "SASL_PLAINTEXT", "SASL_SSL"))


class ListenerSettings(BaseModel):
    """Those of `BrokerConfig` that concern listeners. Names of listeners are in capitals, as Kafka makes them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    listeners: str = "PLAINTEXT://127.0.0.1:9092"
    # Where clients and other nodes reach each listener; None: the address that it binds.
    advertised_listeners: Annotated[str | None, Field(alias="advertised.listeners")] = None
    listener_security_protocol_map: Annotated[
        str, Field(alias="listener.security.protocol.map")
    ] = DEFAULT_PROTOCOL_MAP
    # The listener at which brokers reach one another; None: the one that has the name of the security protocol.
    inter_broker_listener_name: Annotated[
        str | None, Field(min_length=1, alias="inter.broker.listener.name")
    ] = None
    security_inter_broker_protocol: Annotated[
        str, Field(alias="security.inter.broker.protocol")
    ] = DEFAULT_LISTENER
    controller_listener_names: Annotated[str, Field(alias="controller.listener.names")] = (
        "CONTROLLER"
    )

    @field_validator("listeners", "advertised_listeners")
    @classmethod
    def _listeners(cls, value: str | None) -> str | None:
        if value is not None:
            parse_listeners(value)
        return value

    @field_validator("listener_security_protocol_map")
    @classmethod
    def _protocol_map(cls, value: str) -> str:
        parse_protocol_map(value)
        return value

    @field_validator("security_inter_broker_protocol")
    @classmethod
    def _protocol(cls, value: str) -> str:
        return parse_protocol(value).name

    @field_validator("controller_listener_names")
    @classmethod
    def _names(cls, value: str) -> str:
        if not all(endpoints.names(value)):
            raise ValueError("give at least one name")
        return value

    @property
    def listeners_by_name(self) -> dict[str, Address]:
        """The address that each listener binds."""
        return parse_listeners(self.listeners)

    @property
    def controller_names(self) -> tuple[str, ...]:
        """The names of controller listeners in this region."""
        return endpoints.names(self.controller_listener_names.upper())

    @property
    def broker_names(self) -> tuple[str, ...]:
        """The listeners of this node that serve clients and other brokers."""
        return tuple(name for name in self.listeners_by_name if name not in self.controller_names)

    @property
    def inter_broker_name(self) -> str:
        """The listener at which brokers reach one another."""
        name = self.inter_broker_listener_name
        return self.security_inter_broker_protocol if name is None else name.upper()

    @property
    def protocols_by_name(self) -> Mapping[str, SecurityProtocol]:
        """`listener.security.protocol.map`, or its default.

        By default controller listeners are PLAINTEXT, unless a listener has the name of another protocol.
        """
        known = parse_protocol_map(self.listener_security_protocol_map)
        is_set = "listener_security_protocol_map" in self.model_fields_set
        if is_set or _SECURED & {*self.controller_names, *self.listeners_by_name}:
            return known
        return {**known, **dict.fromkeys(self.controller_names, SecurityProtocol.PLAINTEXT)}

    @property
    def advertised_by_name(self) -> Mapping[str, Address]:
        """Where each listener that is advertised is reached.

        Once `advertised.listeners` is set, it leaves out the listeners for clients that it does not name. A
        controller's listener is always advertised, by default at the address that it binds.
        """
        bound = self.listeners_by_name
        if self.advertised_listeners is None:
            return bound
        named = parse_listeners(self.advertised_listeners)
        return {
            name: named.get(name, where)
            for name, where in bound.items()
            if name in named or name in self.controller_names
        }

    @property
    def broker_listeners(self) -> tuple[ListenerConfig, ...]:
        """The listeners that serve clients and other brokers, the inter-broker one first."""
        bound, protocols, advertised = (
            self.listeners_by_name,
            self.protocols_by_name,
            self.advertised_by_name,
        )
        return tuple(
            ListenerConfig(name, protocols[name], bound[name], advertised.get(name))
            for name in sorted(self.broker_names, key=self.inter_broker_name.__ne__)
        )

    @property
    def controller_listener(self) -> str | None:
        """The name of this node's own controller listener, if it has one."""
        return next(
            (name for name in self.listeners_by_name if name in self.controller_names), None
        )

    @property
    def controller_address(self) -> Address | None:
        """Where other nodes reach this one as a controller."""
        name = self.controller_listener
        return None if name is None else self.advertised_by_name[name]

    @property
    def advertised_address(self) -> Address:
        """Where other brokers reach this one."""
        return self.advertised_by_name[self.inter_broker_name]
