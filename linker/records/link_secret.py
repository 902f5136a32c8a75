"""The secret by which a destination knows the source that dials it.

The destination makes it, shows it once, and keeps its digest; the source keeps it, and sends it in Announce. Without
TLS whoever reads the connection reads it, too.
"""

from base64 import urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from brokers.ports import Rng

SECRET_BYTES: Final = 24
SECRET_CHARACTERS_MAX: Final = 100


def new_secret(rng: Rng) -> str:
    """`rng` is the node's: the operating system's generator."""
    return urlsafe_b64encode(rng.randbytes(SECRET_BYTES)).decode()


def digest_of(secret: str) -> str:
    """What is stored of a secret that is random: no salt or slow hash is needed."""
    return sha256(secret.encode()).hexdigest()


def is_secret(digest: str, secret: str) -> bool:
    """Whether this is the secret with that digest; takes as long for any other."""
    return compare_digest(digest, digest_of(secret))
