"""What becomes of the broker keys of Kafka 4.3 that `BrokerConfig` has no field for.

A key without effect here may be given: the node warns of it once, with the reason. A key is refused where running
without its effect would break what its operator relies on; its default, which asks for nothing, may be given. Tests
compare all names with Kafka's own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from brokers.config.key_reasons import NO_EFFECT, REFUSED, REMOVED, UNLISTED, UNLISTED_REFUSED

_SECRETS = (
    "password",
    "passphrase",
    "secret",
    "sasl.jaas.config",
    "secret.key",
    "keystore.key",
    "certificate.chain",
    "truststore.certificates",
)


class KeyVerdict(Enum):
    """What becomes of a key in a node's file."""

    WORKS = "works"
    NO_EFFECT = "no effect"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class KafkaKey:
    """A key of Kafka's without a field. `default` is the one value that a refused key may have."""

    name: str
    verdict: KeyVerdict
    why: str
    default: str = ""

    def refuses(self, value: object) -> bool:
        given = str(value).strip()
        return self.verdict is KeyVerdict.REFUSED and given.lower() != self.default.lower()


def kafka_key(name: str) -> KafkaKey | None:
    """By its name or prefix; None for a key that neither Kafka 4.3 nor its releases before had."""
    known = KAFKA_KEYS.get(name)
    if known is None:
        for prefix, (kind, why) in _PREFIXES.items():
            if name.startswith(prefix):
                return KafkaKey(name, kind, why)
    return known


def is_secret(name: str) -> bool:
    """Whether the value of a key must not be shown: Kafka's type PASSWORD, and plugins' keys that look like it."""
    return name.endswith(_SECRETS)


def _keys() -> Iterator[KafkaKey]:
    for why, names in (*NO_EFFECT.items(), *REMOVED.items(), *UNLISTED.items()):
        for name in names.split():
            yield KafkaKey(name, KeyVerdict.NO_EFFECT, why)
    for why, defaults in (*REFUSED.items(), *UNLISTED_REFUSED.items()):
        for name, default in defaults.items():
            yield KafkaKey(name, KeyVerdict.REFUSED, why, default)


KAFKA_KEYS: Mapping[str, KafkaKey] = {key.name: key for key in _keys()}

_SECURED = "only listeners of PLAINTEXT are served; one that needs this is refused by its protocol"
_PLUGIN = "it is of a plugin that does not run here"
_PREFIXES: Mapping[str, tuple[KeyVerdict, str]] = {
    "listener.name.": (
        KeyVerdict.NO_EFFECT,
        "settings of one listener are of TLS and SASL, or of limits that count for all listeners here",
    ),
    "ssl.": (KeyVerdict.NO_EFFECT, _SECURED),
    "sasl.": (KeyVerdict.NO_EFFECT, _SECURED),
    "config.providers": (KeyVerdict.WORKS, ""),
    "rsm.config.": (KeyVerdict.NO_EFFECT, "there is no remote storage"),
    "rlmm.config.": (KeyVerdict.NO_EFFECT, "there is no remote storage"),
    "zookeeper.": (KeyVerdict.NO_EFFECT, "the region keeps its metadata in its own quorum"),
    "cruise.control.metrics.": (KeyVerdict.NO_EFFECT, _PLUGIN),
    "prometheus.metrics.reporter.": (KeyVerdict.NO_EFFECT, _PLUGIN),
    "strimzi.": (KeyVerdict.NO_EFFECT, _PLUGIN),
    "client.quota.callback.static.": (KeyVerdict.NO_EFFECT, _PLUGIN),
}
