"""What users of compaction rely on, as Kafka's published log cleaner integration tests show it, on real nodes.

Each test names the scenario there. Left out are those of the message formats 0 and 1, which these brokers refuse.
"""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from tests.process.asking import until
from tests.process.nodes import BrokerProcess
from tests.process.scrapes import Scrape
from tests.process.test_compaction import (
    CLEANER,
    TIMEOUT_S,
    checkpoint,
    create,
    produced,
    read,
)

SMALL = 20_000  # bytes of a segment
ROLL = 40  # records of 1,000 bytes, two segments
NODE = "1"
MANAGER = "kafka_log_logcleanermanager_"
Keyed = list[tuple[bytes, bytes | None]]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """Each scenario has a topic of its own."""
    settings = CLEANER | {
        "metrics.listener": "127.0.0.1:0",
        "log.cleaner.io.buffer.size": 4_096,
        "log.segment.delete.delay.ms": 100,
    }
    process = BrokerProcess(tmp_path_factory.mktemp("node"), settings)
    process.start()
    yield process
    process.kill()
    assert "Traceback" not in process.log()


def alter(node: BrokerProcess, kind: ResourceType, name: str, key: str, value: object) -> None:
    entry = ConfigEntry(key, str(value), incremental_operation=AlterConfigOpType.SET)
    place = ConfigResource(kind, name, incremental_configs=[entry])
    client = AdminClient({"bootstrap.servers": node.address})
    client.incremental_alter_configs([place])[place].result(TIMEOUT_S)


def wait(node: BrokerProcess, is_so: Callable[[], bool]) -> None:
    until(is_so, TIMEOUT_S, lambda: node.log()[-2_000:])


def table(rng: random.Random, keys: int, count: int, size: int = 200) -> Keyed:
    return [(b"key-%d" % rng.randrange(keys), rng.randbytes(size)) for _ in range(count)]


def latest(records: Keyed) -> dict[bytes, bytes]:
    """The table that these changes make."""
    last = dict(records)
    return {key: value for key, value in last.items() if value is not None}


def found(node: BrokerProcess, topic: str) -> Keyed:
    return [(key or b"", value) for _, key, value in read(node, topic)]


def rolled(node: BrokerProcess, topic: str, rng: random.Random) -> Keyed:
    """Records of a key of their own fill the active segment, so that all before is no longer in it."""
    more: Keyed = [(b"roll", rng.randbytes(1_000)) for _ in range(ROLL)]
    for start in range(0, ROLL, 10):  # a batch may not be larger than a segment
        produced(node, topic, more[start : start + 10], "none")
    return more


def produced_at(node: BrokerProcess, topic: str, records: Keyed, timestamp: int) -> None:
    """Records that say that they are older."""
    producer = Producer({"bootstrap.servers": node.address, "batch.num.messages": 10})
    failed: list[KafkaError] = []
    for key, value in records:
        producer.produce(
            topic, value, key, timestamp=timestamp,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )  # fmt: skip
    assert producer.flush(TIMEOUT_S) == 0 and failed == []


def test_compact_and_delete_together(node: BrokerProcess, rng: random.Random) -> None:
    """testCleansCombinedCompactAndDeleteTopic: cleaned first; what is too old goes, be it the last of its key."""
    create(
        node, "both", cleanup_policy="compact,delete", internal_segment_bytes=SMALL,
        retention_ms=86_400_000,
    )  # fmt: skip
    written = table(rng, 20, 500)
    produced(node, "both", written, "none")
    written += rolled(node, "both", rng)
    wait(node, lambda: checkpoint(node, "both-0") >= 500)
    left = found(node, "both")
    assert latest(left) == latest(written) and len(left) < len(written)
    alter(node, ResourceType.TOPIC, "both", "retention.ms", 1)
    wait(node, lambda: {key for key, _ in found(node, "both")} <= {b"roll"})


def test_deletion_markers_are_kept_for_a_while(node: BrokerProcess, rng: random.Random) -> None:
    """testCleanerTest with deletes: a reader sees the markers until their horizon, and no deleted key after it."""
    create(
        node, "markers", cleanup_policy="compact", internal_segment_bytes=SMALL,
        delete_retention_ms=86_400_000,
    )  # fmt: skip
    written = table(rng, 20, 200)
    written += [(b"key-%d" % number, None) for number in range(0, 20, 2)]
    produced(node, "markers", written, "none")
    deleted = {key for key, value in written if value is None}
    written += rolled(node, "markers", rng)
    wait(node, lambda: checkpoint(node, "markers-0") >= 210)
    left = found(node, "markers")
    assert latest(left) == latest(written)
    assert {key for key, value in left if value is None} == deleted

    # The horizon is in the batches of these markers; newer ones get theirs from the setting as it is then.
    def are_gone() -> bool:
        rolled(node, "markers", rng)
        return not deleted & {key for key, _ in found(node, "markers")}

    alter(node, ResourceType.TOPIC, "markers", "delete.retention.ms", 0)
    produced(node, "markers", [(key, None) for key in sorted(deleted)], "none")
    wait(node, are_gone)


def test_a_record_waits_no_longer_than_the_maximum_lag(
    node: BrokerProcess, rng: random.Random
) -> None:
    """testMaxLogCompactionLag: a log that is not dirty enough, and whose active segment is not full, is cleaned."""
    create(
        node, "overdue", cleanup_policy="compact", min_cleanable_dirty_ratio="1.0",
        max_compaction_lag_ms=1_000,
    )  # fmt: skip
    produced(node, "overdue", table(rng, 10, 100), "none")

    def is_cleaned() -> bool:
        produced(
            node, "overdue", table(rng, 10, 1), "none"
        )  # what is due is rolled when more comes
        return checkpoint(node, "overdue-0") >= 100

    wait(node, is_cleaned)
    assert len(found(node, "overdue")) < 100


def test_a_record_is_left_for_the_minimum_lag(node: BrokerProcess, rng: random.Random) -> None:
    """LogCleanerLagIntegrationTest: what is younger is not cleaned, what is older is, in the same log."""
    lag_ms = 3_600_000
    create(
        node, "young", cleanup_policy="compact", internal_segment_bytes=SMALL,
        min_compaction_lag_ms=lag_ms, message_timestamp_after_max_ms=2**62,
    )  # fmt: skip
    old = table(rng, 20, 300)
    old += [(b"old-roll", rng.randbytes(1_000)) for _ in range(ROLL)]
    produced_at(node, "young", old, int(time.time() * 1_000) - 2 * lag_ms)
    young = table(rng, 20, 300)
    produced(node, "young", young, "none")
    rolled(node, "young", rng)
    wait(node, lambda: checkpoint(node, "young-0") >= 300)
    left = found(node, "young")
    assert latest(left).items() >= latest(old + young).items()
    assert [pair for pair in left if pair in young] == young, "a young record was cleaned"
    assert len([pair for pair in left if pair in old[:300]]) <= 20
    alter(node, ResourceType.TOPIC, "young", "min.compaction.lag.ms", 0)
    wait(node, lambda: len([pair for pair in found(node, "young") if pair in young]) <= 20)


def test_the_policy_changes_while_the_node_runs(node: BrokerProcess, rng: random.Random) -> None:
    """A topic that was deleted from becomes compacted, and the other way round."""
    create(node, "policy", cleanup_policy="delete", internal_segment_bytes=SMALL)
    written = table(rng, 20, 500)
    produced(node, "policy", written, "none")
    written += rolled(node, "policy", rng)
    assert checkpoint(node, "policy-0") == 0
    alter(node, ResourceType.TOPIC, "policy", "cleanup.policy", "compact")
    wait(node, lambda: checkpoint(node, "policy-0") >= 500)
    assert latest(found(node, "policy")) == latest(written)
    with pytest.raises(KafkaException) as refused:
        keyless(node, "policy")
    assert refused.value.args[0].code() == KafkaError.INVALID_RECORD
    alter(node, ResourceType.TOPIC, "policy", "cleanup.policy", "delete")
    keyless(node, "policy")
    alter(node, ResourceType.TOPIC, "policy", "retention.ms", 1)
    wait(node, lambda: len(found(node, "policy")) <= ROLL)


def keyless(node: BrokerProcess, topic: str) -> None:
    producer = Producer({"bootstrap.servers": node.address})
    errors: list[KafkaError | None] = []
    producer.produce(topic, b"no key", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(TIMEOUT_S) == 0
    if errors[0] is not None:
        raise KafkaException(errors[0])


def test_the_cleaner_is_configured_while_it_runs(node: BrokerProcess, rng: random.Random) -> None:
    """cleanerConfigUpdateTest: buffers, threads and messages of another size, without a restart."""
    create(node, "tuned", cleanup_policy="compact", internal_segment_bytes=SMALL)
    for key, value in (
        ("log.cleaner.threads", 2),
        ("log.cleaner.io.buffer.size", 8_192),
        ("log.cleaner.dedupe.buffer.size", 4 << 20),
        ("log.cleaner.io.max.bytes.per.second", 10_000_000.0),
    ):
        alter(node, ResourceType.BROKER, NODE, key, value)
    written = table(rng, 20, 500)
    produced(node, "tuned", written, "none")
    written += rolled(node, "tuned", rng)
    wait(node, lambda: checkpoint(node, "tuned-0") >= 500)
    assert latest(found(node, "tuned")) == latest(written)
    with pytest.raises(KafkaException):
        alter(node, ResourceType.BROKER, NODE, "log.cleaner.threads", 0)


def test_a_message_above_the_buffer_is_cleaned(node: BrokerProcess, rng: random.Random) -> None:
    """testCleanerWithLargeMessage: one that is many times `log.cleaner.io.buffer.size`."""
    create(
        node, "large", cleanup_policy="compact", internal_segment_bytes=400_000,
        max_message_bytes=350_000,
    )  # fmt: skip
    written: Keyed = [(b"large", rng.randbytes(300_000)) for _ in range(3)]
    written += table(rng, 20, 300)
    produced(node, "large", written[:1], "none")
    for record in written[1:3]:
        produced(node, "large", [record], "lz4")
    produced(node, "large", written[3:], "none")
    written.append((b"roll", rng.randbytes(300_000)))
    for _ in range(2):
        produced(node, "large", written[-1:], "none")
    wait(node, lambda: checkpoint(node, "large-0") >= 303)
    left = found(node, "large")
    assert latest(left) == latest(written)
    assert [pair for pair in left if pair[0] == b"large"] == written[2:3]


def test_a_damaged_log_is_told_of_and_the_others_are_cleaned(
    node: BrokerProcess, rng: random.Random
) -> None:
    """testMarksPartitionsAsOfflineAndPopulatesUncleanableMetrics."""
    metrics = node.told["metrics"]
    before = Scrape(metrics).total(f"{MANAGER}uncleanable_partitions_count")
    create(
        node, "damaged", cleanup_policy="compact", internal_segment_bytes=SMALL,
        min_cleanable_dirty_ratio="1.0",
    )  # fmt: skip
    produced(node, "damaged", table(rng, 20, 500), "none")
    rolled(node, "damaged", rng)
    segment = min((node.data / "damaged-0").glob("*.log"))
    damage(segment)
    alter(node, ResourceType.TOPIC, "damaged", "min.cleanable.dirty.ratio", 0)

    def is_told() -> bool:
        page = Scrape(metrics)
        count = page.total(f"{MANAGER}uncleanable_partitions_count")
        return count == before + 1 and page.total(f"{MANAGER}uncleanable_bytes") > SMALL

    wait(node, is_told)
    assert "damaged-0" in node.log()
    create(node, "sound", cleanup_policy="compact", internal_segment_bytes=SMALL)
    produced(node, "sound", table(rng, 20, 500), "none")
    rolled(node, "sound", rng)
    wait(node, lambda: checkpoint(node, "sound-0") >= 500)
    assert checkpoint(node, "damaged-0") == 0


def damage(segment: Path) -> None:
    """A byte in the middle, as a disk that forgets has it."""
    with segment.open("r+b") as file:
        file.seek(segment.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 0xFF]))
