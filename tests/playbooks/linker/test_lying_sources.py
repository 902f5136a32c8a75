"""Sources that lie to a whole node: it lives, what it holds stays, and an honest source goes on where it was."""

from typing import Any

import pytest

from brokers.ids import OffsetAndMetadata, TopicPartition
from linker.errors import MirrorError
from linker.frames import (
    Agreed,
    Beacon,
    Brokers,
    Chunk,
    Credit,
    Declined,
    Former,
    GroupOffsets,
    Hello,
    OffsetBounds,
    Refused,
    SourceBroker,
    TopicState,
    Welcome,
)
from linker.hold_frames import RetentionHeld
from linker.records.mirror_state import MirrorState
from linker.reversal_frames import ReversalRefused, ReversalsChecked
from tests.playbooks.linker import clients
from tests.playbooks.linker.liars import Liar, Lie, commits, instead, of
from tests.playbooks.linker.world import caught_up, linked

INT32, INT64, OFFSET_MAX = 2**31 - 1, 2**63 - 1, 2**62
ID = b"0123456789abcdef"
FOREIGN = Former("cluster-north", ID, 7)


def bounds(**changes: int) -> Any:
    return lambda known: known._replace(**changes)


def stray(partition: int) -> Lie:
    return commits(lambda tp, one: (tp._replace(partition=partition), one))


LIES: dict[str, Lie] = {
    # who and what
    "another region": of(Welcome, cluster_id="cluster-north"),
    "the destination itself": of(Welcome, cluster_id="cluster-east"),
    "a version of nobody": of(Welcome, version=4_000),
    "version 0": of(Welcome, version=0),
    "a broker below none": of(Welcome, broker_id=-7),
    "no answer but a command": instead(Welcome, Hello("l", "i", "c")),
    "a refusal with a long reason": instead(Welcome, Refused("NO_SUCH_CODE", "y" * 100_000)),
    "brokers at no address": instead(Beacon, Brokers(9, (SourceBroker(1, "nowhere:9092"),))),
    "brokers below none": instead(Beacon, Brokers(9, (SourceBroker(-5, "west:9092"),))),
    "one broker often": instead(Beacon, Brokers(9, (SourceBroker(1, "west:9092"),) * 1_000)),
    "no broker": instead(Beacon, Brokers(OFFSET_MAX, ())),
    # topics
    "no partition": of(TopicState, partition_count=0),
    "partitions without end": of(TopicState, partition_count=INT32),
    "partitions beyond what there may be": of(TopicState, partition_count=200_000),
    "leaders that are none": of(TopicState, leaders=(INT32, -9)),
    "leader epochs below none": of(TopicState, leader_epochs=(-7,)),
    "the newest leader epochs": of(TopicState, leader_epochs=(1 << 30,) * 2),
    "a thousand origins": of(TopicState, origins=("x",) * 1_000),
    "settings that are none": of(TopicState, configs={"retention.ms": "soon", "no.such": "1"}),
    "a long setting": of(TopicState, configs={"k" * 10_000: "v" * 100_000}),
    "a mirror of another": of(TopicState, former=FOREIGN),
    "a reversal to another": of(TopicState, reversing=FOREIGN),
    "metadata of the end": of(TopicState, metadata_offset=OFFSET_MAX),
    # groups
    "an offset beyond all": commits(lambda tp, one: (tp, one._replace(offset=INT64))),
    "an offset below none": commits(lambda tp, one: (tp, one._replace(offset=-9))),
    "a partition below none": stray(-1),
    "a partition beyond all": stray(INT32),
    "a commit of another topic": commits(lambda tp, one: (TopicPartition("own", 0), one)),
    "the last epoch": commits(lambda tp, one: (tp, one._replace(leader_epoch=INT32))),
    "long metadata": commits(lambda tp, one: (tp, one._replace(metadata="m" * 1_000_000))),
    "a time before all": commits(lambda tp, one: (tp, OffsetAndMetadata(1, 0, "", -(2**63)))),
    "a time after all": commits(lambda tp, one: (tp, OffsetAndMetadata(1, 0, "", INT64))),
    "a group without a name": of(GroupOffsets, group=""),
    "another's group deleted": of(GroupOffsets, deleted=(TopicPartition("own", 0),)),
    # logs
    "batches of nobody": of(Chunk, subscription=4_000),
    "bytes that are no batch": of(Chunk, data=bytes(300)),
    "half a batch": of(Chunk, data=lambda data: bytes(data[:-7])),
    "a batch that is damaged": of(Chunk, data=lambda data: bytes(data[:-1]) + b"~"),
    "a chunk of nothing": of(Chunk, data=b"\0"),
    "offsets backwards": of(Chunk, next_offset=0),
    "a chunk from the end": of(Chunk, offset=OFFSET_MAX, next_offset=OFFSET_MAX),
    "an epoch below none": of(Chunk, leader_epoch=-5),
    "a high watermark of the end": of(Chunk, bounds=bounds(high_watermark=OFFSET_MAX)),
    "a log that begins above its end": of(Beacon, bounds=((1, OffsetBounds(9, 1, 1)),)),
    "a clock of the end": of(Beacon, clock=INT64),
    "an agreement of nobody": of(Agreed, subscription=4_000),
    "agreed beyond the log": of(Agreed, start_offset=1_000_000),
    "agreed before the log": of(Agreed, start_offset=0),
    "declined without a reason": instead(Agreed, Declined(1, MirrorError.NO_ERROR, "")),
    # what nobody has asked for
    "a hold of nobody": instead(Beacon, RetentionHeld(-1, -1, "why")),
    "a reversal refused": instead(Beacon, ReversalRefused("orders", INT64, "NO", "because")),
    "reversals checked": instead(Beacon, ReversalsChecked(1, (ReversalRefused("own", 1, "NO", "because"),))),
    "credit": instead(Beacon, Credit(INT64)),
    "garbage": instead(Beacon, b"\xff" * 100),
}  # fmt: skip

# What a source may say, and what cannot be taken back.
FAILED = {"no partition": MirrorError.SOURCE_PARTITIONS_DECREASED}


def follow(world: Liar) -> None:
    """All that a source says, in streams that are open and in new ones."""
    clients.commit(world.source, "readers", "orders", 0, 1)
    clients.send(world.source, "orders", 0, b"c", b"d")
    world.run(1_500)
    clients.set_config(world.source, "orders", "retention.ms", "9000000")
    world.cut()
    world.run(1_500)


def mirrored() -> Liar:
    world = Liar()
    world.start()
    clients.create_topic(world.source, "orders", 2)
    clients.create_topic(world.destination, "own")
    linked(world, consumer_offset_sync_enable="true", consumer_offset_sync_ms="1000")
    clients.send(world.source, "orders", 0, b"a", b"b")
    clients.send(world.destination, "own", 0, b"mine")
    world.run_until(lambda: caught_up(world))
    return world


@pytest.mark.parametrize("lie", LIES)
def test_a_node_outlives_what_a_source_says_and_its_logs_do_too(lie: str) -> None:
    world = mirrored()
    log, own = (world.destination.log(topic, 0) for topic in ("orders", "own"))
    world.lie = LIES[lie]
    follow(world)
    assert world.lies > 0
    assert world.destination.log("orders", 0).startswith(log)
    assert world.destination.log("own", 0) == own
    assert clients.send(world.destination, "own", 0, b"more") == (0, 1)
    world.destination.stop()
    world.destination.start()
    world.lie = None
    world.cut()
    clients.send(world.source, "orders", 0, b"e")
    if lie in FAILED:
        world.run(5_000)
        assert world.destination.mirror("orders").record.error is FAILED[lie]
        return
    world.run_until(lambda: caught_up(world))
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)
    assert world.destination.mirror("orders").shown is MirrorState.ACTIVE
