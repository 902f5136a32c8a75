"""What a region says of itself: asked of its administration, read from its metadata log, or out of a file.

The audit itself shares no code with the system; what a region claims is the system's to say, so it is gathered here.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from brokers.ids import METADATA_PARTITION, Instant
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_batches import read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay
from brokers.metadata.log.snapshot_pointer import POINTER_NAME
from brokers.quorum.ids import snapshot_id
from brokers.records.batch import HEADER_SIZE, LENGTH_FROM
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.facts.region_facts import RegionFacts, parse
from federation.audit.segments import data_dir
from federation.commands.link.messages import as_dict
from linker.administration.region_facts import region_facts
from linker.shell.administrator import QUICK_SECONDS, Administrator, Unreachable, find_endpoint
from linker.shell.discovery import DiscoveryError
from linker.wire.replies import region as to_message
from linker.wire.v1 import admin_pb2 as pb


class NoFacts(Exception):
    """The region's facts can't be had; the message says why."""


def from_file(path: str) -> RegionFacts:
    """Raises NoFacts."""
    try:
        return parse(Path(path).read_bytes())
    except OSError as error:
        raise NoFacts(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise NoFacts(f"{path} does not hold a region's facts: {error}") from error


def find(region: AuditedRegion) -> RegionFacts:
    """From the region, if it answers; else from the metadata log in its directories. Raises NoFacts."""
    because = []
    if region.bootstrap:
        try:
            return parse(ask(region.bootstrap))
        except NoFacts as error:
            because.append(str(error))
    try:
        return parse(of_directories(region.data_dirs))
    except NoFacts as error:
        raise NoFacts("; ".join([*because, str(error)])) from error


def ask(bootstrap: str) -> str:
    """The facts of a region that runs, as JSON; raises NoFacts."""
    try:
        with Administrator(find_endpoint(bootstrap)) as administrator:
            reply = administrator.ask("DescribeRegion", pb.DescribeRegionRequest(), QUICK_SECONDS)
    except (DiscoveryError, Unreachable) as error:
        raise NoFacts(str(error)) from error
    return json.dumps(as_dict(reply.region))


def of_directories(paths: Sequence[str]) -> str:
    """The same of a region that is down, from that metadata log in its directories that reaches furthest.

    A node's own configuration file is not there: a topic's value that only that file sets counts as Kafka's default.
    """
    images = [image for path in paths if (image := _image(path)) is not None]
    if not images:
        raise NoFacts(
            f"no {METADATA_PARTITION} in {', '.join(paths)}: name a controller's directory"
        )
    newest = max(images, key=lambda image: image.next_offset)
    now: Instant = time.time_ns() // 1_000_000
    facts = region_facts(newest, partial(_topic_configs, newest), now)
    return json.dumps(as_dict(to_message(facts)))


def _topic_configs(image: Image, topic: str) -> Mapping[str, str]:
    """A topic's own values, else the cluster's dynamic ones, else Kafka's defaults."""
    own = image.config((ResourceType.TOPIC, topic))
    dynamic = image.config((ResourceType.BROKER, ""))
    return {
        name: own.get(name, dynamic.get(key.broker_key or "", key.default))
        for name, key in TOPIC_KEYS.items()
    }


def _image(path: str) -> Image | None:
    """The metadata in one directory, or None where it holds none; raises NoFacts where it is damaged."""
    folder = os.path.join(path, str(METADATA_PARTITION))
    if not os.path.isdir(folder):
        return None
    try:
        image = _snapshot(path)
        for name in sorted(name for name in os.listdir(folder) if name.endswith(".log")):
            _replay(image, Path(folder, name).read_bytes())
    except (OSError, MetadataLogError) as error:
        raise NoFacts(f"{folder}: {error}") from error
    return image


def _snapshot(path: str) -> Image:
    image = Image(data_dir.identify(path).cluster_id)
    pointer = Path(path, POINTER_NAME)
    if not pointer.exists():
        return image
    name = pointer.read_text()
    found = snapshot_id(name)
    if found is None:
        raise MetadataLogError(f"{name!r} is not the name of a snapshot")
    return snapshot.decode(Path(path, name).read_bytes(), image.cluster_id, found.end_offset)


def _replay(image: Image, data: bytes) -> None:
    """A batch that is torn at the end of the log was never committed."""
    for header, messages in read_batches(memoryview(data)[: _whole(data)]):
        if header.next_offset > image.next_offset:
            if header.base_offset != image.next_offset:
                raise MetadataLogError(f"offset {image.next_offset} is missing in the metadata log")
            replay(image, () if header.is_control else messages, header.next_offset)


def _whole(data: bytes) -> int:
    """Where the last whole batch ends."""
    end = 0
    while end + LENGTH_FROM <= len(data):
        size = LENGTH_FROM + int.from_bytes(data[end + 8 : end + LENGTH_FROM], "big")
        if size < HEADER_SIZE or end + size > len(data):
            break
        end += size
    return end
