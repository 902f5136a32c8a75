"""kafka-python, which compiles Kafka's own descriptors, has the same bytes and the same fields."""

import re
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

import pytest

from brokers.wire import codec
from brokers.wire.decoding import compile_decoder
from brokers.wire.encoding import compile_encoder
from brokers.wire.messages.api_versions import ApiVersionsResponse
from brokers.wire.tables import NEVER_FLEXIBLE, Field, Versions
from tests.unit.brokers.wire.samples import OWN_TAGS, Sampler, is_own

SAMPLES = 25
MODULES = (
    "admin.acl",
    "admin.client_quotas",
    "admin.cluster",
    "admin.configs",
    "admin.groups",
    "admin.topics",
    "admin.transactions",
    "admin.users",
    "consumer.fetch",
    "consumer.group",
    "consumer.offsets",
    "metadata.api_versions",
    "metadata.find_coordinator",
    "metadata.metadata",
    "producer.produce",
    "producer.transaction",
    "sasl",
)
# What only brokers and controllers send each other is not in kafka-python.
BETWEEN_NODES = (
    "AddRaftVoter",
    "AllocateProducerIds",
    "AlterPartition",
    "AssignReplicasToDirs",
    "BeginQuorumEpoch",
    "BrokerHeartbeat",
    "BrokerRegistration",
    "ControllerRegistration",
    "EndQuorumEpoch",
    "Envelope",
    "FetchSnapshot",
    "RemoveRaftVoter",
    "UnregisterBroker",
    "UpdateRaftVoter",
    "Vote",
)
NOT_THERE = ("ConsumerGroupDescribe",)  # an oracle of its own has it: `kio`
# Where kafka-python's copy of a descriptor says something else than Kafka does.
CHANGED_BY_KAFKA_PYTHON = {
    ("authorized_operations", "bitfield"): ("authorized_operations", "int32"),
    ("cluster_authorized_operations", "int32"): ("authorized_operations", "int32"),
    ("topic_authorized_operations", "int32"): ("authorized_operations", "int32"),
}
OTHER_DEFAULTS = {("ListOffsetsRequest", "replica_id"), ("CreatePartitionsRequest", "assignments")}
# Kafka's descriptors have no upper bound where we name the last version.
OPEN = 1 << 15


def kafka_python_classes() -> dict[str, Any]:
    """Its classes for messages that we have too."""
    modules = [import_module(f"kafka.protocol.{name}") for name in MODULES]
    return {
        name: getattr(module, name)
        for name in codec.SCHEMAS
        for module in modules
        if hasattr(module, name)
    }


ORACLES = kafka_python_classes()


def test_most_messages_are_compared() -> None:
    missing = [n for n, schema in codec.SCHEMAS.items() if n not in ORACLES and not is_own(schema)]
    rpcs = {name for name in missing if name.endswith(("Request", "Response"))}
    assert rpcs == {
        f"{api}{side}" for api in (*BETWEEN_NODES, *NOT_THERE) for side in ("Request", "Response")
    }


@pytest.mark.parametrize("name", ORACLES)
def test_every_message_has_the_same_bytes_in_kafka_python(name: str) -> None:
    oracle, versions = ORACLES[name], codec.SCHEMAS[name].versions
    for version in range(versions.first, min(versions.last, oracle.max_version) + 1):
        layout = codec.layout(name, version)
        encode, decode = compile_encoder(layout), compile_decoder(layout)
        sampler = Sampler(Random(f"{name} {version}"), own_tags=False)
        for _ in range(SAMPLES):
            message = sampler.message(layout)
            if isinstance(message, ApiVersionsResponse):
                message.error_code = 0  # with any other its decoder takes the body for v0
            ours = b"".join(encode(message))
            theirs = oracle.decode(ours, version=version)
            theirs._header = None  # which its own decoder forgets to set
            assert bytes(theirs.encode(version=version)) == ours, (layout.title, message)
            assert decode(ours, 0, len(ours)) == (message, len(ours)), layout.title


class Facts(NamedTuple):
    """What two descriptions of a field must agree on; `type` is empty for structs."""

    name: str
    type: str
    is_array: bool
    versions: Versions
    nullable: Versions | None
    tag: int | None
    default: str | None
    # It means nothing where a field is always there, and is left out of our tables then.
    ignorable: bool | None


@pytest.mark.parametrize("name", ORACLES)
def test_every_field_is_described_as_in_the_descriptors(name: str) -> None:
    schema, descriptor = codec.SCHEMAS[name], ORACLES[name].json
    flexible = _versions(descriptor["flexibleVersions"])
    assert schema.first_flexible == (flexible.first if flexible else NEVER_FLEXIBLE)
    structs = {struct["name"]: struct["fields"] for struct in descriptor.get("commonStructs", [])}
    ours = _our_fields(name, name, schema.versions)
    theirs = _their_fields(descriptor["fields"], structs, schema.versions)
    kafkas = (facts for facts in ours if facts.tag is None or facts.tag < OWN_TAGS)
    assert [_leveled(name, facts) for facts in kafkas] == [
        _leveled(name, facts) for facts in theirs
    ]


def _leveled(message: str, facts: Facts) -> Facts:
    """Facts without kafka-python's own changes."""
    name, kind = CHANGED_BY_KAFKA_PYTHON.get((facts.name, facts.type), (facts.name, facts.type))
    default = None if (message, name) in OTHER_DEFAULTS else facts.default
    return facts._replace(name=name, type=kind, default=default)


def _our_fields(message: str, struct: str, outer: Versions) -> Iterator[Facts]:
    family = codec.layout(message, codec.SCHEMAS[message].versions.first).family
    for field in family.structs[struct].fields:
        versions = _clip(field.versions, outer)
        yield _our_facts(field, versions, outer)
        if field.type in family.structs:
            yield from _our_fields(message, field.type, versions)


def _our_facts(field: Field, versions: Versions, outer: Versions) -> Facts:
    nullable = _clip(field.nullable, versions)
    return Facts(
        field.name,
        "" if field.type[0].isupper() else field.type,
        field.is_array,
        versions,
        nullable if nullable.first <= nullable.last else None,
        field.tag,
        field.default,
        field.ignorable if versions != outer else None,
    )


def _their_fields(
    fields: list[dict[str, Any]], structs: dict[str, Any], outer: Versions
) -> Iterator[Facts]:
    for field in fields:
        versions = _clip(_versions(field["versions"]) or Versions(1, 0), outer)
        if versions.first > versions.last:
            continue
        kind = field["type"].removeprefix("[]")
        nullable = _clip(
            _versions(field.get("nullableVersions", "none")) or Versions(1, 0), versions
        )
        yield Facts(
            _snake_case(field["name"]),
            "" if kind[0].isupper() else kind,
            field["type"].startswith("[]"),
            versions,
            nullable if nullable.first <= nullable.last else None,
            field.get("tag"),
            _default(field.get("default")),
            bool(field.get("ignorable")) if versions != outer else None,
        )
        yield from _their_fields(field.get("fields") or structs.get(kind, []), structs, versions)


def _default(value: object) -> str | None:
    """A default in our notation; None for a type's own."""
    if value is None or value in ("", "0", 0, "false", False):
        return None
    text = str(value).lower()
    return str(int(text, 0)) if re.fullmatch(r"-?(0x)?[0-9a-f]+", text) else text


def _versions(text: str) -> Versions | None:
    if text == "none":
        return None
    first, dash, last = text.rstrip("+").partition("-")
    return Versions(int(first), OPEN if text.endswith("+") else int(last if dash else first))


def _clip(versions: Versions, outer: Versions) -> Versions:
    return Versions(max(versions.first, outer.first), min(versions.last, outer.last))


def _snake_case(name: str) -> str:
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()
