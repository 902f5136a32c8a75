"""What a broker says of its logs' compaction, and answers that say nothing or are none."""

import struct
from collections.abc import Iterator

import pytest

from brokers.wire import codec
from brokers.wire.messages import log_dirs
from federation.audit.cut.bounds import AuditedReplica
from federation.audit.fetch import discovery
from federation.audit.fetch.compactions import AT_ONCE, answer, compactions, request
from federation.audit.segments.compaction import Compaction
from tests.unit.federation.audit.fetch.broker import Broker
from tests.unit.federation.audit.fetch.test_fetch import END, KEY, MADE


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker(KEY, MADE)
    yield broker
    broker.close()


def encoded(*results: log_dirs.DescribeLogDirsResult) -> bytes:
    chunks = codec.encode_response(35, 2, log_dirs.DescribeLogDirsResponse(results=list(results)))
    return b"\0" + b"".join(one for one in chunks if isinstance(one, bytes | memoryview))


def test_the_broker_s_own_code_reads_the_request() -> None:
    keys = [("flights", 3), ("flights", 200), ("größer" * 30, 0)]
    (tags, *body) = request(keys)
    asked = codec.decode_request(35, 2, bytes(body), 0)
    assert tags == 0 and isinstance(asked, log_dirs.DescribeLogDirsRequest)
    assert [(one.topic, index) for one in asked.topics or () for index in one.partitions] == keys


def test_what_is_said_of_many_logs_in_several_directories() -> None:
    said = {
        name: [
            log_dirs.DescribeLogDirsPartition(
                partition_index=index, complete_from=index << 40, markers_from=index
            )
            for index in range(200)
        ]
        for name in ("a" * 249, "b")
    }
    results = [
        log_dirs.DescribeLogDirsResult(
            log_dir=f"/{name}", topics=[log_dirs.DescribeLogDirsTopic(name=name, partitions=rows)]
        )
        for name, rows in said.items()
    ]
    offline = log_dirs.DescribeLogDirsResult(log_dir="/c", error_code=56)
    found = answer(memoryview(encoded(offline, *results)))
    assert found == {
        (name, index): Compaction(index << 40, index) for name in said for index in range(200)
    }


def test_many_logs_are_asked_for_in_several_requests(broker: Broker) -> None:
    broker.compaction = Compaction(17, 9)
    keys = [("other", index) for index in range(AT_ONCE + 1)]
    assert compactions(broker.address, [*keys, KEY]) == {KEY: Compaction(17, 9)}


def test_who_says_only_half_of_it_says_nothing() -> None:
    half = log_dirs.DescribeLogDirsPartition(partition_index=0, complete_from=5)
    topic = log_dirs.DescribeLogDirsTopic(name="a", partitions=[half])
    result = log_dirs.DescribeLogDirsResult(log_dir="/a", topics=[topic])
    assert answer(memoryview(encoded(result))) == {}


@pytest.mark.parametrize("cut", [0, 1, 5, 20, -1])
def test_an_answer_that_is_none_is_an_error(cut: int) -> None:
    log = log_dirs.DescribeLogDirsPartition(partition_index=0, complete_from=5, markers_from=5)
    topic = log_dirs.DescribeLogDirsTopic(name="abc", partitions=[log])
    result = log_dirs.DescribeLogDirsResult(log_dir="/data", topics=[topic])
    with pytest.raises(OSError, match="no DescribeLogDirs response"):
        answer(memoryview(encoded(result)[:cut]))
    with pytest.raises(OSError, match="no DescribeLogDirs response"):
        answer(memoryview(b"\0" + struct.pack(">i", 0) + b"\xff" * 9))


def replica(broker: Broker) -> AuditedReplica:
    (log,) = discovery.replicas({1: broker.address}, {KEY: [1]}, {KEY: END})[KEY]
    clean = log.compaction.complete_from if log.compaction is not None else -1
    return AuditedReplica(log, 0, END, clean)


def test_a_log_that_was_compacted_meanwhile_is_noticed(broker: Broker) -> None:
    before = replica(broker)
    assert not before.compacted_meanwhile(is_compacted=True)
    broker.compaction = Compaction(17, 0)
    assert before.compacted_meanwhile(is_compacted=True)
    assert not replica(broker).compacted_meanwhile(is_compacted=True)


@pytest.mark.parametrize("version", [1, 4])
def test_what_a_broker_never_said_has_not_changed(broker: Broker, version: int) -> None:
    broker.compaction, broker.log_dirs_version = None, version
    found = replica(broker)
    assert found.clean == -1 and not found.compacted_meanwhile(is_compacted=True)


@pytest.mark.parametrize("complete_from", [0, 17])
@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_broker_that_does_not_answer_any_more_may_have_compacted_the_log(
    broker: Broker, complete_from: int, is_compacted: bool
) -> None:
    """Of a topic that is compacted, and where it had done so before."""
    broker.compaction = Compaction(complete_from, 0)
    found = replica(broker)
    broker.log_dirs_version = 0  # it ends connections instead of answering
    may_have = is_compacted or complete_from > 0
    assert found.compacted_meanwhile(is_compacted=is_compacted) == may_have
