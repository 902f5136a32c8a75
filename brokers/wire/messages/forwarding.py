"""Generated from schema/forwarding.txt by brokers.wire.generate; do not edit."""

from __future__ import annotations

from brokers.wire.message import Message


class EnvelopeRequest(Message):
    """API 58, version 0."""

    __slots__ = ("request_data", "request_principal", "client_host_address")

    def __init__(
        self,
        *,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address


class EnvelopeResponse(Message):
    """API 58, version 0."""

    __slots__ = ("response_data", "error_code", "metadata_offset", "highest_version")

    def __init__(
        self,
        *,
        response_data: bytes | None = None,
        error_code: int = 0,
        metadata_offset: int = -1,
        highest_version: int = -1,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
        self.metadata_offset = metadata_offset
        self.highest_version = highest_version


class DefaultPrincipalData(Message):
    """Version 0."""

    __slots__ = ("principal_type", "name", "token_authenticated")

    def __init__(
        self,
        *,
        principal_type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.principal_type = principal_type
        self.name = name
        self.token_authenticated = token_authenticated
