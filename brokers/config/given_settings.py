"""From what a node's file gives to the fields of `BrokerConfig`: synonyms, and keys without effect or refused."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from brokers.config.kafka_keys import KAFKA_KEYS, KeyVerdict, is_secret, kafka_key

# Kafka's synonyms, the first of which that is given counts: (the field's key, others, what one of their units is)
_SYNONYMS: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = (
    ("log.retention.ms", (("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000))),
    ("log.roll.ms", (("log.roll.hours", 3_600_000),)),
    ("log.roll.jitter.ms", (("log.roll.jitter.hours", 3_600_000),)),
)
SYNONYMS: Mapping[str, str] = {
    **{other: key for key, others in _SYNONYMS for other, _ in others},
    "broker.id": "node.id",
    "log.dir": "log.dirs",
}
_NO_ZOOKEEPER = (
    "a region keeps its metadata in its own quorum, as Kafka 4 does. Take out every key of zookeeper, and give "
    "process.roles=broker,controller with controller.listener.names and a listener of that name (for a region of "
    "several controllers also controller.quorum.voters). Bring the topics over with MirrorMaker 2, or move the old "
    "cluster to KRaft first, with Kafka 3.9"
)


class Given(NamedTuple):
    """`fields` are for `BrokerConfig`, by Kafka's names; `others` are the rest, whose values have no effect or were
    moved into a field. Secrets are left out."""

    fields: dict[str, Any]
    others: dict[str, str]
    problems: list[str]


def sort_out(settings: Mapping[str, Any], fields: Collection[str], *, takes_unknown: bool) -> Given:
    """Judges every key by its name and verdict; a value that a field refuses is not seen here."""
    given = Given({}, {}, [])
    for name, value in settings.items():
        is_known = name in SYNONYMS or kafka_key(name) is not None
        if name in fields or not (is_known or takes_unknown):
            given.fields[name] = value  # an unknown key is refused with the fields
        elif not is_secret(name):
            given.others[name] = str(value)
    given.problems.extend(_refusals(settings, fields))
    _fill_synonyms(settings, given)
    return given


def verdict(name: str, fields: Collection[str]) -> tuple[KeyVerdict, str]:
    """What becomes of a key whose value is not refused, and why."""
    if name in fields:
        return KeyVerdict.WORKS, ""
    if name in SYNONYMS:
        return KeyVerdict.WORKS, f"sets {SYNONYMS[name]}"
    key = kafka_key(name)
    if key is None:
        return (
            KeyVerdict.UNKNOWN,
            f"neither Kafka 4.3 nor this release knows it{similar(name, fields)}",
        )
    if key.verdict is KeyVerdict.REFUSED:
        return KeyVerdict.WORKS, "this value asks for nothing that is not there"
    return key.verdict, key.why


def uses(name: str, fields: Collection[str]) -> bool:
    """Whether a key's value is looked at."""
    key = kafka_key(name)
    return (
        name in fields
        or name in SYNONYMS
        or (key is not None and key.verdict is KeyVerdict.REFUSED)
    )


def similar(name: str, fields: Collection[str]) -> str:
    """A question for whoever misspelt a key; empty if none is like it."""
    found = get_close_matches(name, [*fields, *KAFKA_KEYS, *SYNONYMS], n=1, cutoff=0.85)
    return f"; did you mean {found[0]}?" if found else ""


def _refusals(settings: Mapping[str, Any], fields: Collection[str]) -> Iterator[str]:
    for name, value in settings.items():
        key = None if name in fields else kafka_key(name)
        if key is not None and key.refuses(value):
            yield f"{name}: {key.why}"
    wants_zookeeper = "process.roles" not in settings and "zookeeper.connect" in settings
    if wants_zookeeper or _is_true(settings.get("zookeeper.metadata.migration.enable")):
        yield f"zookeeper.connect: {_NO_ZOOKEEPER}"


def _fill_synonyms(settings: Mapping[str, Any], given: Given) -> None:
    if "log.dir" in settings:
        given.fields.setdefault("log.dirs", settings["log.dir"])
    if "broker.id" in settings:
        _fill_node_id(settings, given)
    for key, others in _SYNONYMS:
        for other, unit in others:
            if other in settings and key not in given.fields:
                number = _whole(settings[other])
                if number is None:
                    problem = f"{other}: Input should be a whole number (given {settings[other]!r})"
                    given.problems.append(problem)
                else:
                    given.fields[key] = -1 if number < 0 else number * unit


def _fill_node_id(settings: Mapping[str, Any], given: Given) -> None:
    old = _whole(settings["broker.id"])
    new = given.fields.setdefault("node.id", settings["broker.id"] if old is None else old)
    if _whole(new) != old:
        given.problems.append(f"broker.id: is {old}, and node.id {new}; give one of them")


def _whole(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool | float) else int(value)
    except ValueError:
        return None


def _is_true(value: Any) -> bool:
    return str(value).strip().lower() == "true"
