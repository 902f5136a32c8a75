"""What cannot be done between two real regions: each refusal names its error and what to do, and both regions go on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.process.test_rest import LINK, PARTITIONS, TIMEOUT_S, TOPIC, Rest, held, linked, produce

BACK = "east-west"


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[tuple[Rest, Rest]]:
    west, east = Rest(tmp_path / "west"), Rest(tmp_path / "east")
    yield west, east
    for region in (west, east):
        if region.node.is_running():
            region.stop()
        assert "Traceback" not in region.node.log()


def configs(**settings: str) -> list[dict[str, str]]:
    return [{"name": key.replace("_", "."), "value": value} for key, value in settings.items()]


def create(region: Rest, link: str, expected: int, other: str = "", **settings: str) -> Any:
    body = {"configs": configs(**settings), **({"source_cluster_id": other} if other else {})}
    return region.post("/links", body, expected, link_name=link)


def change(region: Rest, verb: str, topic: str, link: str = LINK) -> Any:
    """The outcome for this topic, or the refusal of the command."""
    path, body = f"/links/{link}/mirrors:{verb}", {"mirror_topic_names": [topic]}
    answer = region.client.post(path, json=body).json()
    return answer["data"][0] if "data" in answer else answer


def is_refused(answer: Any, *said: str) -> bool:
    text = " ".join(str(each) for each in answer.values())
    return bool(answer["error_code"]) and all(each in text for each in said)


def can_write(region: Rest) -> bool:
    """Whether the first partition takes a record."""
    errors: list[Any] = []
    producer = Producer({"bootstrap.servers": region.node.address, "message.timeout.ms": 10_000})
    producer.produce(TOPIC, b"more", partition=0, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(TIMEOUT_S) == 0
    return errors[0] is None


def test_each_is_refused_with_what_to_do_and_the_data_stays(regions: tuple[Rest, Rest]) -> None:
    west, east = regions
    linked(west, east)
    east.wait(lambda: held(east) == dict.fromkeys(range(PARTITIONS), 0))
    to_west = {"bootstrap_servers": west.node.address}

    other = create(east, "other", 400, "north", **to_west)
    assert is_refused(other, "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR", "north")
    assert is_refused(create(east, LINK, 409, **to_west), "CLUSTER_LINK_EXISTS")
    dialed = create(west, LINK, 400, link_mode="SOURCE", bootstrap_servers=east.node.address)
    assert is_refused(dialed, "secret")
    internal = {"source_topic_name": "__consumer_offsets"}
    answer = east.post(f"/links/{LINK}/mirrors", internal, 400)
    assert is_refused(answer, "POLICY_VIOLATION")

    assert is_refused(change(east, "failover", "own"), "UNKNOWN_TOPIC_OR_PARTITION")
    answer = change(east, "reverse-and-start-mirror", TOPIC)
    assert is_refused(answer, "INVALID_REQUEST", "BIDIRECTIONAL")
    create(west, BACK, 201, bootstrap_servers=east.node.address)
    answer = change(west, "truncate-and-restore", TOPIC, BACK)
    assert is_refused(answer, "REMOTE_MIRROR_NOT_FOUND_ERROR", "STOPPED")

    produce(west, 1)
    east.wait(lambda: held(east) == dict.fromkeys(range(PARTITIONS), 0))
    assert east.status() == "ACTIVE"
    west.delete(f"/links/{BACK}")
    west.stop()
    assert change(east, "promote", TOPIC)["error_code"] is None
    assert east.status() == "PENDING_STOPPED"
    assert not can_write(east)
    assert change(east, "cancel", TOPIC)["error_code"] is None
    assert east.status() in ("ACTIVE", "SOURCE_UNAVAILABLE") and not can_write(east)
    failed_over = change(east, "failover", TOPIC)
    assert failed_over["error_code"] is None and east.status() == "STOPPED"
    assert can_write(east)
