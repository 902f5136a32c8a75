"""Generated from schema/sasl.txt by brokers.wire.generate; do not edit."""

from __future__ import annotations

from brokers.wire.message import EMPTY, Message


class SaslHandshakeRequest(Message):
    """API 17, versions 0 to 1."""

    __slots__ = ("mechanism",)

    def __init__(
        self,
        *,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism


class SaslHandshakeResponse(Message):
    """API 17, versions 0 to 1."""

    __slots__ = ("error_code", "mechanisms")

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: list[str] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is EMPTY else mechanisms


class SaslAuthenticateRequest(Message):
    """API 36, versions 0 to 2."""

    __slots__ = ("auth_bytes",)

    def __init__(
        self,
        *,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes


class SaslAuthenticateResponse(Message):
    """API 36, versions 0 to 2."""

    __slots__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms")

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
