"""Who sends a request (Kafka's KafkaPrincipal)."""

from typing import NamedTuple

USER = "User"


class KafkaPrincipal(NamedTuple):
    """Printed as `User:name`. `token_authenticated`: known by a delegation token (KIP-48)."""

    principal_type: str
    name: str
    token_authenticated: bool = False

    def __str__(self) -> str:
        return f"{self.principal_type}:{self.name}"


ANONYMOUS = KafkaPrincipal(USER, "ANONYMOUS")  # everybody on a PLAINTEXT listener
