"""What a stream of a source has read ahead, when it ends or an answer raises."""

from typing import Any

from brokers.errors import KafkaError
from brokers.region import HighWatermarkRead
from linker.containment import Containment
from tests.unit.linker.data.test_source_replicator import CHUNK, Stage


def test_a_stream_that_ends_gives_back_what_it_has_of_the_budget_and_waits_for_nothing() -> None:
    """Whether the region was asked or not: what raises in between loses the questions that were made before."""
    stage = Stage(4)
    for partition in range(4):
        stage.region.ends[partition] = 100
        stage.subscribe(partition + 1, partition)
    stage.credit(1 << 20)
    stage.read()
    assert len(stage.reads) == 3 and len(stage.chunks) == 1
    assert stage.budget.held_bytes == 3 * CHUNK + len(stage.chunks[0].data)
    stage.source.close()
    assert stage.budget.held_bytes == 0
    stage.read()
    assert stage.budget.held_bytes == 0 and len(stage.reads) == 2
    assert not stage.client._waiting


def test_a_read_that_raises_is_contained() -> None:
    raised: list[Exception] = []

    def failed(error: Exception, now: int) -> list[Any]:
        raised.append(error)
        return []

    stage = Stage(contained=Containment(failed))
    stage.region.ends[0] = 5
    stage.subscribe()
    stage.credit(10_000)
    (asked,) = stage.reads
    answer = HighWatermarkRead(asked.ticket, asked.partition, 0, b"no batch", 1, KafkaError.NONE)
    assert stage.client.answered(answer, 5) == []
    assert len(raised) == 1
