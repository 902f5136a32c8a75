"""The hand-built frames and parsers against two independent implementations of the protocol, kio and kafka-python."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch
from kio.schema.request_header.v1.header import RequestHeader
from kio.serial import entity_reader

from tests.bench import answers, frames, report
from tests.bench.connection import Connection
from tests.bench.targets import Kind, Target

TOPIC = "bench-1"
FRAMES = {
    ("produce", "ProduceRequest", 7): frames.produce(TOPIC, 3, 5) + b"12345",
    ("fetch", "FetchRequest", 11): frames.fetch(
        TOPIC, {0: 7, 5: 9}, max_wait_ms=500, max_bytes=1000, partition_max_bytes=100
    ),
    ("list_offsets", "ListOffsetsRequest", 1): frames.list_offsets(TOPIC, 12),
    ("create_topics", "CreateTopicsRequest", 4): frames.create_topics([TOPIC, "other"], 12),
    ("delete_topics", "DeleteTopicsRequest", 3): frames.delete_topics(TOPIC, "other"),
    ("api_versions", "ApiVersionsRequest", 0): frames.api_versions(),
    ("metadata", "MetadataRequest", 4): frames.metadata(TOPIC, "other"),
}


def check_frame(name: tuple[str, str, int]) -> Any:
    """The message that kio finds in a frame, which it must fill to the last byte."""
    api, entity, version = name
    whole = memoryview(bytes(FRAMES[name]))
    assert int.from_bytes(whole[:4], "big") == len(whole) - 4
    header, header_bytes = entity_reader(RequestHeader)(whole, 4)
    assert header.request_api_version == version
    kind = getattr(import_module(f"kio.schema.{api}.v{version}.request"), entity)
    message, message_bytes = entity_reader(kind)(whole, 4 + header_bytes)
    assert header.request_api_key == kind.__api_key__
    assert 4 + header_bytes + message_bytes == len(whole)
    return message


@pytest.mark.parametrize("name", FRAMES, ids=lambda name: name[0])
def test_a_frame_is_one_whole_request(name: tuple[str, str, int]) -> None:
    check_frame(name)


def test_produce_asks_for_all_acknowledgements_and_carries_the_batch() -> None:
    message = check_frame(("produce", "ProduceRequest", 7))
    (topic,) = message.topic_data
    (partition,) = topic.partition_data
    assert (message.acks, topic.name, partition.index, partition.records) == (
        -1,
        TOPIC,
        3,
        b"12345",
    )


def test_fetch_asks_for_each_partition_where_its_reader_stands() -> None:
    message = check_frame(("fetch", "FetchRequest", 11))
    (topic,) = message.topics
    assert [(p.partition, p.fetch_offset) for p in topic.partitions] == [(0, 7), (5, 9)]
    assert (message.max_bytes, message.min_bytes, message.session_epoch) == (1000, 1, -1)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=40), st.integers(0, 2**41))
def test_kafka_python_reads_a_batch_as_it_was_built(values: list[bytes], timestamp_ms: int) -> None:
    read = DefaultRecordBatch(frames.batch(values, timestamp_ms))
    assert read.validate_crc()
    assert [(r.offset, r.timestamp, r.value) for r in read] == [
        (offset, timestamp_ms, value) for offset, value in enumerate(values)
    ]


@given(st.lists(st.lists(st.binary(max_size=200), min_size=1, max_size=9), max_size=5), st.data())
def test_batches_are_found_whole_intact_and_with_their_values(
    contents: list[list[bytes]], data: st.DataObject
) -> None:
    built = [frames.batch(values, 1) for values in contents]
    joined = b"".join(built)
    cut = data.draw(st.integers(0, len(joined)))
    whole = sum(sum(map(len, built[: n + 1])) <= cut for n in range(len(built)))
    found = list(answers.batches(memoryview(joined[:cut])))
    assert [list(answers.values(batch)) for batch in found] == contents[:whole]
    assert all(answers.intact(batch) for batch in found)


@given(st.binary(min_size=1, max_size=100), st.data())
def test_a_flipped_bit_under_the_checksum_is_seen(value: bytes, data: st.DataObject) -> None:
    batch = bytearray(frames.batch([value], 1))
    at = data.draw(st.integers(answers.CRC_FROM, len(batch) - 1))
    batch[at] ^= 1 << data.draw(st.integers(0, 7))
    assert not answers.intact(answers.Batch(0, 1, memoryview(batch)))


@contextmanager
def broker_saying(*replies: bytes) -> Iterator[str]:
    """A listener that answers one connection with `replies`, says no more and reads what else comes."""

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"".join(replies))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def reply(correlation: int, body: bytes) -> bytes:
    return (4 + len(body)).to_bytes(4, "big") + correlation.to_bytes(4, "big") + body


def test_answers_come_in_the_order_of_the_requests() -> None:
    with (
        broker_saying(reply(1, b"first"), reply(2, b"second")) as address,
        Connection(address) as connection,
    ):
        connection.send(frames.api_versions())
        connection.send(frames.api_versions())
        assert connection.in_flight == 2
        assert (bytes(connection.receive()), bytes(connection.receive())) == (b"first", b"second")


def test_a_broker_that_hangs_up_is_an_error() -> None:
    with (
        broker_saying(reply(1, b"all")[:-1]) as address,
        Connection(address) as connection,
        pytest.raises(ConnectionError),
    ):
        connection.ask(frames.api_versions())


def test_an_error_code_makes_the_figures_void() -> None:
    code = answers.UNKNOWN_TOPIC_OR_PARTITION.to_bytes(2, "big")
    body = b"\0\0\0\1" + frames.text(TOPIC) + b"\0\0\0\1" + bytes(4) + code + bytes(24)
    with pytest.raises(answers.Refused, match="error code 3"):
        answers.produced(memoryview(body))


@pytest.mark.parametrize(
    ("kind", "ours", "theirs", "met"),
    [
        (Kind.AT_LEAST, 300.0, 200.0, True),
        (Kind.AT_LEAST, 299.0, 200.0, False),
        (Kind.AT_MOST, 300.0, 200.0, True),
        (Kind.AT_MOST, 301.0, 200.0, False),
        (Kind.AT_MOST, 300.0, None, None),
        (Kind.ALONE, 1.5, None, True),
        (Kind.ALONE, 1.6, 1000.0, False),
        (Kind.ALONE_AT_LEAST, 1.5, None, True),
        (Kind.ALONE_AT_LEAST, 1.4, 0.1, False),
    ],
)
def test_a_target_is_met_at_its_bound(
    kind: Kind, ours: float, theirs: float | None, met: bool | None
) -> None:
    assert Target("figure", kind, 1.5).met(ours, theirs) is met


def test_a_row_compares_medians_with_the_figure_that_its_target_names() -> None:
    runs = {
        "link": {
            "causeway": [{"mb_per_s": 300.0}, {"mb_per_s": 500.0}, {"mb_per_s": 400.0}],
            "kafka": [{"mb_per_s": 50.0, "moving_mb_per_s": 100.0}],
        }
    }
    (row,) = report.rows(runs)
    assert (row.ours, row.theirs, row.ratio, row.met) == (400, 100, 4, True)


def test_every_measure_names_itself() -> None:
    assert len({measure.title for measure in report.ALL.values()}) == len(report.ALL)
