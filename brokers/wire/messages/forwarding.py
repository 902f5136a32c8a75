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

    __slots__ = ("response_data", "error_code")

    def __init__(
        self,
        *,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
