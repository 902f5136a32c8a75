"""The ids of topics and directories, as Kafka writes them: base64 of a UUID, URL-safe and without padding."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID

_LENGTH = 22


def id_text(identity: UUID) -> str:
    return urlsafe_b64encode(identity.bytes).decode().rstrip("=")


def parse_id(text: str) -> UUID:
    """Raises ValueError for what is no such text."""
    if len(text) != _LENGTH:
        raise ValueError(f"{text!r} has not {_LENGTH} characters")
    return UUID(bytes=urlsafe_b64decode(text + "=="))
