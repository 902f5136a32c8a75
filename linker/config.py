"""The settings of a link, by the names of Confluent Cluster Linking; all problems are reported at once.

A setting whose behaviour does not exist yet is known by name, and accepts only the value of the present behaviour.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from linker.config_values import (
    KIB,
    MIB,
    SYNCED_BY_DEFAULT,
    addresses,
    choice,
    flag,
    groups,
    number,
    only,
    prefix,
    priorities,
    start,
    synced,
    topic_filters,
)
from linker.filters import Filter
from linker.frames import Pace


class LinkConfigError(ValueError):
    """All problems of a link's configuration, one per line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class HolePolicy(Enum):
    """What a mirror does when its source has deleted what it does not hold yet. Ours (`mirror.hole.policy`)."""

    CONTINUE_AND_RECORD = "continue-and-record"
    PAUSE = "pause"
    FAIL = "fail"


class DivergencePolicy(Enum):
    """What a mirror does that holds what its source does not have any more. Ours (`mirror.divergence.policy`)."""

    FAIL = "fail"
    TRUNCATE = "truncate"  # back to what they have in common; what is removed is sealed first


@dataclass(frozen=True, slots=True)
class LinkConfigDef:
    """`immutable`: can be set only when the link is created."""

    default: str
    parse: Callable[[str], Any]
    immutable: bool = False


# Of what does not exist yet, with the value that asks for nothing.
_SASL: Final = (
    "sasl.mechanism", "sasl.jaas.config", "local.sasl.mechanism", "local.sasl.jaas.config",
)  # fmt: skip
_ACLS: Final = {"acl.sync.enable": "false", "acl.sync.ms": "5000", "acl.filters": ""}
# Names that begin so have no value that could be given.
_UNSUPPORTED_PREFIXES: Final = {
    "ssl.": "TLS", "local.ssl.": "TLS", "sasl.": "SASL", "local.sasl.": "SASL",
}  # fmt: skip
_PROTOCOLS: Final = choice("PLAINTEXT", known=("SSL", "SASL_PLAINTEXT", "SASL_SSL"))

# Of a link whose `link.mode` is SOURCE.
OF_A_SOURCE: Final = (
    "bootstrap.servers", "link.mode", "connection.mode", "security.protocol", "cluster.link.paused",
    "availability.check.ms", "availability.check.consecutive.failure.threshold", "request.timeout.ms",
    "retry.backoff.ms", "num.cluster.link.fetchers", "local.listener.name", "local.security.protocol",
    "replica.socket.receive.buffer.bytes",
)  # fmt: skip

# What the source has to know of version 5 of the protocol.
PACES: Final = (
    "replica.fetch.min.bytes", "replica.fetch.wait.max.ms", "link.compression.type", "mirror.priority",
)  # fmt: skip

# Of the end that dials.
OF_A_DIALER: Final = ("replica.socket.receive.buffer.bytes",)

# Names of Confluent's for settings that it has for a broker, not for a link.
ALIASES: Final = {
    "confluent.cluster.link.io.max.bytes.per.second": "io.max.bytes.per.second",
    "local.listener": "local.listener.name",
}

SETTINGS: Final[Mapping[str, LinkConfigDef]] = {
    "bootstrap.servers": LinkConfigDef("", lambda text: addresses(text) if text else ()),
    "link.mode": LinkConfigDef(
        "DESTINATION", choice("DESTINATION", "SOURCE", "BIDIRECTIONAL"), True
    ),
    "connection.mode": LinkConfigDef("OUTBOUND", choice("OUTBOUND", "INBOUND"), True),
    "security.protocol": LinkConfigDef("PLAINTEXT", _PROTOCOLS),
    # A link reads the logs of its own region without a connection, so these are compared with what there is, no more.
    "local.listener.name": LinkConfigDef("", str),
    "local.security.protocol": LinkConfigDef("PLAINTEXT", _PROTOCOLS),
    "cluster.link.paused": LinkConfigDef("false", flag),
    "cluster.link.prefix": LinkConfigDef("", prefix, True),
    "cluster.link.retry.timeout.ms": LinkConfigDef("300000", number(1)),
    "availability.check.ms": LinkConfigDef("60000", number(1)),
    "availability.check.consecutive.failure.threshold": LinkConfigDef("5", number(1)),
    "mirror.start.offset.spec": LinkConfigDef("earliest", start),
    "mirror.priority": LinkConfigDef("", priorities),
    "mirror.hole.policy": LinkConfigDef(
        "continue-and-record", choice(*(policy.value for policy in HolePolicy))
    ),
    "mirror.divergence.policy": LinkConfigDef(
        "fail", choice(*(policy.value for policy in DivergencePolicy))
    ),
    # Whether the source keeps what its mirrors here do not hold yet, beyond its own retention: bytes of a partition,
    # and the age of a record. Ours.
    "retention.hold.enable": LinkConfigDef("false", flag),
    "retention.hold.max.bytes": LinkConfigDef(str(1 << 30), number(1, 2**53)),
    "retention.hold.max.ms": LinkConfigDef(str(14 * 86_400_000), number(1, 2**53)),
    "consumer.offset.sync.enable": LinkConfigDef("false", flag),
    "consumer.offset.sync.ms": LinkConfigDef("30000", number(1000)),
    "consumer.offset.group.filters": LinkConfigDef("", groups),
    "topic.config.sync.ms": LinkConfigDef("5000", number(1000)),
    "topic.config.sync.include": LinkConfigDef(",".join(SYNCED_BY_DEFAULT), synced),
    "replica.fetch.max.bytes": LinkConfigDef("1048576", number(64 * KIB, 16 * MIB)),
    # Bytes of chunks under way on a stream. Where nobody sets it, it grows with the round trip, as sockets' buffers do.
    "replica.fetch.response.max.bytes": LinkConfigDef("33554432", number(MIB, 1 << 30)),
    # Pauses between the attempts of a partition grow from retry.backoff.ms to this.
    "replica.fetch.backoff.ms": LinkConfigDef("1000", number(1)),
    # A stream on which the source has said nothing for that long is opened anew.
    "replica.socket.timeout.ms": LinkConfigDef("30000", number(1000)),
    "replica.socket.receive.buffer.bytes": LinkConfigDef("-1", number(-1)),  # -1: the system's
    # The states of source topics are asked for again after that long, though nothing was said to have changed.
    "metadata.max.age.ms": LinkConfigDef("300000", number(1000)),
    "replica.fetch.min.bytes": LinkConfigDef("1", number(1, 16 * MIB)),
    "replica.fetch.wait.max.ms": LinkConfigDef("500", number(0, 60_000)),
    "link.compression.type": LinkConfigDef("none", choice("none", "zstd")),
    "request.timeout.ms": LinkConfigDef("30000", number(100)),
    "retry.backoff.ms": LinkConfigDef("100", number(1)),
    "num.cluster.link.fetchers": LinkConfigDef("1", number(1, 16)),
    "io.max.bytes.per.second": LinkConfigDef("0", number(0, 2**63 - 1)),
    "source.fencing.enable": LinkConfigDef("true", flag),
    "consumer.group.prefix.enable": LinkConfigDef("false", flag, True),
    "auto.create.mirror.topics.enable": LinkConfigDef("false", flag),
    "auto.create.mirror.topics.filters": LinkConfigDef("", topic_filters),
    **{name: LinkConfigDef(default, only(default, "ACLs")) for name, default in _ACLS.items()},
    **{name: LinkConfigDef("", only("", "SASL")) for name in _SASL},
}


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """A valid configuration: `given` is the operator's text; `value` returns parsed values."""

    given: Mapping[str, str]
    _values: Mapping[str, Any] = field(repr=False, compare=False)

    def value(self, name: str) -> Any:
        return self._values[name]

    def number(self, name: str) -> int:
        value = self._values[name]
        assert isinstance(value, int), name
        return value

    @property
    def bootstrap_servers(self) -> tuple[str, ...]:
        return tuple(self._values["bootstrap.servers"])

    @property
    def is_source(self) -> bool:
        """Whether this region is the link's source, and has the link in order to dial (`link.mode`)."""
        return bool(self._values["link.mode"] == "SOURCE")

    @property
    def is_bidirectional(self) -> bool:
        """Whether the other region has a link of this name, too: each may mirror topics of the other."""
        return bool(self._values["link.mode"] == "BIDIRECTIONAL")

    @property
    def is_dialed(self) -> bool:
        """Whether the other region dials (`connection.mode` is INBOUND)."""
        return bool(self._values["connection.mode"] == "INBOUND")

    @property
    def paused(self) -> bool:
        return bool(self._values["cluster.link.paused"])

    @property
    def prefix(self) -> str:
        return str(self._values["cluster.link.prefix"])

    @property
    def group_prefix(self) -> str:
        """What the names of groups get in this region (`consumer.group.prefix.enable`)."""
        return self.prefix if self._values["consumer.group.prefix.enable"] else ""

    @property
    def pace(self) -> Pace:
        """How the source sends chunks."""
        return Pace(
            self.number("replica.fetch.min.bytes"),
            self.number("replica.fetch.wait.max.ms"),
            self._values["link.compression.type"] == "zstd",
        )

    @property
    def paces(self) -> tuple[str, ...]:
        """The settings by which the source sends otherwise than an older release would, of those that were given."""
        return tuple(name for name in PACES if name in self.given)

    @property
    def window_bytes(self) -> int:
        """Of chunks under way on a stream."""
        return self.number("replica.fetch.response.max.bytes")

    @property
    def is_window_fixed(self) -> bool:
        """Whether an operator has said how much that is. Else it begins so, and grows with the round trip."""
        return "replica.fetch.response.max.bytes" in self.given

    @property
    def retry_pauses(self) -> tuple[int, int]:
        """Milliseconds between the attempts of a partition: the first pause, and the longest."""
        return self.number("retry.backoff.ms"), self.number("replica.fetch.backoff.ms")

    def weight_of(self, source_topic: str) -> int:
        """A topic's share of the link's bytes among the others (`mirror.priority`, ours)."""
        matching = [
            weight for one, weight in self._values["mirror.priority"] if one.matches(source_topic)
        ]
        return max(matching, default=1)

    @property
    def start(self) -> str | int:
        """Where new mirrors begin: earliest, latest, or milliseconds since 1970."""
        value = self._values["mirror.start.offset.spec"]
        assert isinstance(value, str | int)
        return value

    @property
    def fences_source(self) -> bool:
        """Whether the source is told what was promoted or failed over, and is read-only then. Ours."""
        return bool(self._values["source.fencing.enable"])

    def bytes_per_second(self, default: int) -> int:
        """What each broker of the destination asks for at most; 0: no limit. `default` is that of the broker."""
        is_given = "io.max.bytes.per.second" in self.given
        return self.number("io.max.bytes.per.second") if is_given else default

    @property
    def holds_retention(self) -> bool:
        """Whether the source is asked to keep what its mirrors do not hold yet."""
        return bool(self._values["retention.hold.enable"])

    @property
    def hole_policy(self) -> HolePolicy:
        return HolePolicy(self._values["mirror.hole.policy"])

    @property
    def divergence_policy(self) -> DivergencePolicy:
        return DivergencePolicy(self._values["mirror.divergence.policy"])

    @property
    def group_filters(self) -> tuple[Filter, ...]:
        """The filters of groups whose offsets are copied; none while that is disabled."""
        enabled = self._values["consumer.offset.sync.enable"]
        return tuple(self._values["consumer.offset.group.filters"]) if enabled else ()

    @property
    def topic_filters(self) -> tuple[Filter, ...]:
        """The filters of topics whose mirrors are created by themselves; none while that is disabled."""
        enabled = self._values["auto.create.mirror.topics.enable"]
        return tuple(self._values["auto.create.mirror.topics.filters"]) if enabled else ()

    def effective(self) -> Iterator[tuple[str, str, bool]]:
        """(name, value as text, whether it is the default) of every setting that may be set."""
        for name, setting in SETTINGS.items():
            yield name, self.given.get(name, setting.default), name not in self.given


def parse(given: Mapping[str, str]) -> LinkConfig:
    """Raises LinkConfigError with all problems."""
    given, problems = _without_aliases(given)
    problems += [_unknown(name) for name in sorted(given) if name not in SETTINGS]
    values: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        text = given.get(name, setting.default)
        try:
            values[name] = setting.parse(text)
        except ValueError as error:
            problems.append(f"{name}: {error} (given {text!r})")
    if {"bootstrap.servers", "link.mode", "connection.mode"} <= values.keys():
        problems += [*_mode_problems(values), *_misplaced(given, values)]
    problems += [*_filter_problems(values), *_prefix_problems(values)]
    if problems:
        raise LinkConfigError(problems)
    return LinkConfig(dict(given), values)


def _unknown(name: str) -> str:
    needs = next(
        (what for prefix, what in _UNSUPPORTED_PREFIXES.items() if name.startswith(prefix)), None
    )
    return f"{name}: " + (
        f"needs {needs}, which there is not yet" if needs else "unknown link configuration"
    )


def _without_aliases(given: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """By our names; and a problem for each that is given under both."""
    twice = [name for name in given if ALIASES.get(name) in given]
    named = {ALIASES.get(name, name): text for name, text in given.items()}
    return named, [
        f"{name}: another name of {ALIASES[name]}, which is given, too" for name in twice
    ]


def _mode_problems(values: Mapping[str, Any]) -> Iterator[str]:
    """Who dials, and whom."""
    is_source, is_dialed = values["link.mode"] == "SOURCE", values["connection.mode"] == "INBOUND"
    if is_source and is_dialed:
        yield "connection.mode: with link.mode=SOURCE it is OUTBOUND; the destination's is INBOUND then"
    elif is_dialed and values["bootstrap.servers"]:
        yield "bootstrap.servers: not with connection.mode=INBOUND, where the source dials"
    elif not is_dialed and not values["bootstrap.servers"]:
        yield "bootstrap.servers: required, the Kafka listeners of the other region"


def _filter_problems(values: Mapping[str, Any]) -> Iterator[str]:
    name = "auto.create.mirror.topics.filters"
    if values.get("auto.create.mirror.topics.enable") and values.get(name) == ():
        yield f"{name}: required with auto.create.mirror.topics.enable=true, else nothing is mirrored"


def _prefix_problems(values: Mapping[str, Any]) -> Iterator[str]:
    name = "consumer.group.prefix.enable"
    if not values.get(name):
        return
    if values.get("link.mode") == "BIDIRECTIONAL":
        yield f"{name}: not with link.mode=BIDIRECTIONAL, where a group has one name in both regions"
    elif not values.get("cluster.link.prefix"):
        yield f"{name}: needs cluster.link.prefix"


def _misplaced(given: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[str]:
    """What has no effect in this region is refused."""
    if values["link.mode"] == "SOURCE":
        for name in sorted(set(given) - set(OF_A_SOURCE)):
            yield f"{name}: has an effect in the destination region only: set it there"
    if values["connection.mode"] == "INBOUND":
        for name in sorted(set(given) & set(OF_A_DIALER)):
            yield f"{name}: not with connection.mode=INBOUND, where the source dials"


def altered(config: LinkConfig, changes: Mapping[str, str], deletes: tuple[str, ...]) -> LinkConfig:
    """The configuration with some values set and others at their defaults; raises LinkConfigError."""
    changes, twice = _without_aliases(changes)
    deletes = tuple(ALIASES.get(name, name) for name in deletes)
    problems = [
        f"{name}: can only be set when the link is created"
        for name in (*changes, *deletes)
        if name in SETTINGS and SETTINGS[name].immutable
        if changes.get(name, SETTINGS[name].default)
        != config.given.get(name, SETTINGS[name].default)
    ]
    problems += [_unknown(name) for name in deletes if name not in SETTINGS]
    problems += [f"{name}: both set and deleted" for name in deletes if name in changes]
    given = {name: text for name, text in config.given.items() if name not in deletes}
    try:
        fresh = parse({**given, **changes})
    except LinkConfigError as error:
        raise LinkConfigError([*twice, *problems, *error.problems]) from None
    if problems or twice:
        raise LinkConfigError([*twice, *problems])
    return fresh
