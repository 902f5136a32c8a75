"""kio, generated from Kafka's own descriptors by other people, reads and writes the same bytes."""

import io
import pkgutil
import re
from importlib import import_module
from random import Random
from typing import Any

import pytest
from kio.serial import entity_reader, entity_writer

from brokers.wire import codec
from brokers.wire.decoding import compile_decoder
from brokers.wire.encoding import compile_encoder
from brokers.wire.layout import Layout
from tests.unit.brokers.wire.samples import OWN_KEYS, Sampler, all_layouts, is_own

SAMPLES = 25
CONTROL_RECORDS = {
    "LeaderChangeMessage": "leader_change_message",
    "SnapshotHeaderRecord": "snapshot_header_record",
    "SnapshotFooterRecord": "snapshot_footer_record",
    "KRaftVersionRecord": "k_raft_version_record",
    "VotersRecord": "voters_record",
}
# Versions that kio has and Kafka 4.3 has not released.
UNRELEASED = {"InitProducerId": 1}


def module_of(api: str) -> str:
    """kio's package for an API."""
    return "kio.schema." + re.sub(r"(?<!^)(?=[A-Z])", "_", api).lower()


def kio_class(name: str, version: int) -> type[Any] | None:
    """kio's class for one of our messages, None if it has none (metadata and group records, our own APIs)."""
    if is_own(codec.SCHEMAS[name]):
        return None
    if name in CONTROL_RECORDS:
        module, side = f"kio.schema.{CONTROL_RECORDS[name]}", "data"
    elif match := re.fullmatch(r"(.*)(Request|Response)", name):
        module, side = module_of(match[1]), match[2].lower()
    else:
        return None
    found: type[Any] = getattr(import_module(f"{module}.v{version}.{side}"), name)
    return found


@pytest.mark.parametrize("api", [codec.API_NAMES[key] for key in codec.VERSIONS if key < OWN_KEYS])
def test_the_versions_are_kafkas(api: str) -> None:
    modules = pkgutil.iter_modules(import_module(module_of(api)).__path__)
    theirs = sorted(int(each.name[1:]) for each in modules)
    first, last = codec.SCHEMAS[f"{api}Request"].versions
    assert [*range(first, last + 1 + UNRELEASED.get(api, 0))] == theirs


def layouts_of(name: str) -> list[Layout]:
    versions = codec.SCHEMAS[name].versions
    return [codec.layout(name, version) for version in range(versions.first, versions.last + 1)]


@pytest.mark.parametrize(
    "name", [name for name in codec.SCHEMAS if kio_class(name, codec.SCHEMAS[name].versions.last)]
)
def test_every_message_has_the_same_bytes_in_kio(name: str) -> None:
    for layout in layouts_of(name):
        oracle = kio_class(name, layout.version)
        assert oracle is not None
        read, write = entity_reader(oracle), entity_writer(oracle)
        encode, decode = compile_encoder(layout), compile_decoder(layout)
        sampler = Sampler(Random(f"{name} {layout.version}"), own_tags=False)
        for _ in range(SAMPLES):
            message = sampler.message(layout)
            ours = b"".join(encode(message))
            theirs, size = read(ours, 0)
            assert size == len(ours), layout.title
            buffer = io.BytesIO()
            write(buffer, theirs)
            assert buffer.getvalue() == ours, (layout.title, message, theirs)
            assert decode(ours, 0, len(ours)) == (message, len(ours)), layout.title


def test_every_rpc_and_control_record_is_compared() -> None:
    compared = {layout.schema.family for layout in all_layouts() if kio_class(*_key(layout))}
    families = {layout.schema.family for layout in all_layouts()}
    assert families - compared == {"metadata_records", "group_records", "links"}


def _key(layout: Layout) -> tuple[str, int]:
    return layout.schema.name, layout.version
