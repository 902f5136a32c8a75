"""The settings of a link, by the names of Confluent Cluster Linking; all problems are reported at once.

A setting whose behaviour does not exist yet is known by name, and accepts only the value of the present behaviour.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from linker.filters import EVERYTHING, Filter, parse_filters

KIB: Final = 1 << 10
MIB: Final = 1 << 20
PREFIX_LENGTH_MAX: Final = 12

# Copied also if `topic.config.sync.include` leaves them out: with another value the mirror could not hold the source's
# batches, or would not be the same topic to a reader.
ALWAYS_SYNCED: Final = ("cleanup.policy", "max.message.bytes", "message.timestamp.type")
SYNCED_BY_DEFAULT: Final = (
    *ALWAYS_SYNCED, "delete.retention.ms", "retention.bytes", "retention.ms", "segment.bytes", "segment.ms",
)  # fmt: skip
SYNCABLE: Final = (
    *SYNCED_BY_DEFAULT,
    "compression.type",
    "max.compaction.lag.ms",
    "min.compaction.lag.ms",
)

_ADDRESS = re.compile(r"^(\[[0-9a-fA-F:]+\]|[^:/\[\]\s]+):([0-9]{1,5})$")


class LinkConfigError(ValueError):
    """All problems of a link's configuration, one per line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def _addresses(text: str) -> tuple[str, ...]:
    addresses = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [
        one
        for one in addresses
        if not (found := _ADDRESS.match(one)) or not 0 < int(found[2]) < 65536
    ]
    if wrong or not addresses:
        raise ValueError("give HOST:PORT, several separated by commas")
    return addresses


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _number(low: int, high: int = 2**31 - 1) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,19}", text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(text)

    return parse


def _choice(*choices: str, known: tuple[str, ...] = ()) -> Callable[[str], str]:
    """`known` are values of Cluster Linking that are not supported yet."""

    def parse(text: str) -> str:
        if text in known:
            raise ValueError(f"{text} is not supported yet; supported: {', '.join(choices)}")
        if text not in choices:
            raise ValueError(f"one of {', '.join((*choices, *known))}")
        return text

    return parse


def _only(value: str, instead: str = "") -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() != value:
            raise ValueError(f"only {value or 'nothing'} is supported yet{instead}")
        return text

    return parse


def _prefix(text: str) -> str:
    if len(text) > PREFIX_LENGTH_MAX or not re.fullmatch(r"[A-Za-z0-9._-]*", text):
        raise ValueError(f"at most {PREFIX_LENGTH_MAX} of A-Z a-z 0-9 . _ -")
    return text


def _start(text: str) -> str:
    if text not in ("earliest", "latest"):
        raise ValueError("earliest or latest; a point in time is not supported yet")
    return text


def _synced(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if wrong := [name for name in names if name not in SYNCABLE]:
        raise ValueError(
            f"cannot be kept in step: {', '.join(wrong)}; can be: {', '.join(SYNCABLE)}"
        )
    return tuple(dict.fromkeys((*ALWAYS_SYNCED, *names)))


def _groups(text: str) -> tuple[Filter, ...]:
    return parse_filters(text, "groupFilters") if text else EVERYTHING


def _topic_filters(text: str) -> tuple[Filter, ...]:
    return parse_filters(text, "topicFilters") if text else ()


class HolePolicy(Enum):
    """What a mirror does when its source has deleted what it does not hold yet. Ours (`mirror.hole.policy`)."""

    CONTINUE_AND_RECORD = "continue-and-record"
    PAUSE = "pause"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class LinkConfigDef:
    """`immutable`: can be set only when the link is created."""

    default: str
    parse: Callable[[str], Any]
    immutable: bool = False


_UNSUPPORTED_TUNING: Final = (
    "metadata.max.age.ms", "replica.fetch.min.bytes", "replica.fetch.wait.max.ms",
    "replica.fetch.response.max.bytes", "replica.fetch.backoff.ms", "replica.socket.timeout.ms",
    "replica.socket.receive.buffer.bytes", "sasl.mechanism", "sasl.jaas.config", "local.listener.name",
    "local.listener", "local.security.protocol", "local.sasl.mechanism", "local.sasl.jaas.config",
    "acl.sync.ms", "acl.filters",
)  # fmt: skip

# Of a link whose `link.mode` is SOURCE.
OF_A_SOURCE: Final = (
    "bootstrap.servers", "link.mode", "connection.mode", "security.protocol", "cluster.link.paused",
    "availability.check.ms", "availability.check.consecutive.failure.threshold", "request.timeout.ms",
    "retry.backoff.ms", "num.cluster.link.fetchers",
)  # fmt: skip

# Names of Confluent's for settings that it has for a broker, not for a link.
ALIASES: Final = {
    "confluent.cluster.link.io.max.bytes.per.second": "io.max.bytes.per.second",
}

SETTINGS: Final[Mapping[str, LinkConfigDef]] = {
    "bootstrap.servers": LinkConfigDef("", lambda text: _addresses(text) if text else ()),
    "link.mode": LinkConfigDef(
        "DESTINATION", _choice("DESTINATION", "SOURCE", known=("BIDIRECTIONAL",)), True
    ),
    "connection.mode": LinkConfigDef("OUTBOUND", _choice("OUTBOUND", "INBOUND"), True),
    "security.protocol": LinkConfigDef(
        "PLAINTEXT", _choice("PLAINTEXT", known=("SSL", "SASL_PLAINTEXT", "SASL_SSL"))
    ),
    "cluster.link.paused": LinkConfigDef("false", _flag),
    "cluster.link.prefix": LinkConfigDef("", _prefix, True),
    "cluster.link.retry.timeout.ms": LinkConfigDef("300000", _number(1)),
    "availability.check.ms": LinkConfigDef("60000", _number(1)),
    "availability.check.consecutive.failure.threshold": LinkConfigDef("5", _number(1)),
    "mirror.start.offset.spec": LinkConfigDef("earliest", _start),
    "mirror.hole.policy": LinkConfigDef(
        "continue-and-record", _choice(*(policy.value for policy in HolePolicy))
    ),
    "consumer.offset.sync.enable": LinkConfigDef("false", _flag),
    "consumer.offset.sync.ms": LinkConfigDef("30000", _number(1000)),
    "consumer.offset.group.filters": LinkConfigDef("", _groups),
    "topic.config.sync.ms": LinkConfigDef("5000", _number(1000)),
    "topic.config.sync.include": LinkConfigDef(",".join(SYNCED_BY_DEFAULT), _synced),
    "replica.fetch.max.bytes": LinkConfigDef("1048576", _number(64 * KIB, 16 * MIB)),
    "request.timeout.ms": LinkConfigDef("30000", _number(100)),
    "retry.backoff.ms": LinkConfigDef("100", _number(1)),
    "num.cluster.link.fetchers": LinkConfigDef("1", _number(1, 16)),
    "io.max.bytes.per.second": LinkConfigDef("0", _number(0, 2**53)),
    "source.fencing.enable": LinkConfigDef("true", _flag),
    "consumer.group.prefix.enable": LinkConfigDef("false", _only("false")),
    "acl.sync.enable": LinkConfigDef("false", _only("false")),
    "auto.create.mirror.topics.enable": LinkConfigDef("false", _flag),
    "auto.create.mirror.topics.filters": LinkConfigDef("", _topic_filters),
    **{name: LinkConfigDef("", _only("")) for name in _UNSUPPORTED_TUNING},
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
    def from_latest(self) -> bool:
        return bool(self._values["mirror.start.offset.spec"] == "latest")

    @property
    def fences_source(self) -> bool:
        """Whether the source is told what was promoted or failed over, and is read-only then. Ours."""
        return bool(self._values["source.fencing.enable"])

    @property
    def hole_policy(self) -> HolePolicy:
        return HolePolicy(self._values["mirror.hole.policy"])

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
    problems += [
        f"{name}: unknown link configuration" for name in sorted(given) if name not in SETTINGS
    ]
    values: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        text = given.get(name, setting.default)
        try:
            values[name] = setting.parse(text)
        except ValueError as error:
            problems.append(f"{name}: {error} (given {text!r})")
    if {"bootstrap.servers", "link.mode", "connection.mode"} <= values.keys():
        problems += [*_mode_problems(values), *_misplaced(given, values)]
    problems += _filter_problems(values)
    if problems:
        raise LinkConfigError(problems)
    return LinkConfig(dict(given), values)


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


def _misplaced(given: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[str]:
    """What has no effect in this region is refused."""
    if values["link.mode"] == "SOURCE":
        for name in sorted(set(given) - set(OF_A_SOURCE)):
            yield f"{name}: has an effect in the destination region only: set it there"


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
    problems += [f"{name}: unknown link configuration" for name in deletes if name not in SETTINGS]
    problems += [f"{name}: both set and deleted" for name in deletes if name in changes]
    given = {name: text for name, text in config.given.items() if name not in deletes}
    try:
        fresh = parse({**given, **changes})
    except LinkConfigError as error:
        raise LinkConfigError([*twice, *problems, *error.problems]) from None
    if problems or twice:
        raise LinkConfigError([*twice, *problems])
    return fresh
