"""What regions say of the history of one topic: each broker is asked for the partitions that it leads."""

from dataclasses import dataclass
from typing import Any

from brokers.ids import LeaderEpoch, Offset
from federation.commands.addresses import UNREACHABLE_EXIT
from federation.commands.answers import Failure
from federation.commands.each_broker import ask_each
from linker.wire.v1 import admin_pb2 as pb


@dataclass(frozen=True, slots=True)
class History:
    """One partition in one region: leader epochs with their first offsets, ascending."""

    region: str  # its cluster id
    partition: int
    log_start: Offset
    log_end: Offset
    epochs: tuple[tuple[LeaderEpoch, Offset], ...]


@dataclass(frozen=True, slots=True)
class RegionHistory:
    """`decisions` are `pb.Decision`, the oldest first. `silent`: brokers that did not answer, and why."""

    region: str
    mirror_status: str
    origins: tuple[str, ...]
    partitions: tuple[History, ...]
    decisions: tuple[Any, ...]
    silent: dict[int, str]


def history_of(bootstrap: str, topic: str) -> RegionHistory:
    """Raises Failure where no broker has an answer."""
    replies: list[Any] = []
    request = pb.DescribeLineageRequest(topic=topic)
    try:
        silent = ask_each(
            bootstrap, "DescribeLineage", request, lambda *told: replies.append(told[2])
        )
    except Failure as failure:
        because, code = f"{bootstrap}: {failure.message}", failure.exit_code
        raise Failure(because, hint=failure.hint, exit_code=code) from failure
    if not replies:
        why = "; ".join(f"broker {broker} did not answer: {why}" for broker, why in silent.items())
        because = f"{bootstrap}: {why or 'it has no brokers'}"
        raise Failure(because, hint="check the address", exit_code=UNREACHABLE_EXIT)
    newest = max(replies, key=lambda reply: len(reply.decisions))
    partitions = (_history(reply.cluster_id, one) for reply in replies for one in reply.partitions)
    return RegionHistory(
        newest.cluster_id,
        newest.mirror_status,
        tuple(newest.origins),
        tuple(sorted(partitions, key=lambda one: one.partition)),
        tuple(newest.decisions),
        silent,
    )


def _history(region: str, told: Any) -> History:
    epochs = tuple((one.leader_epoch, one.start_offset) for one in told.leader_epochs)
    return History(region, told.partition, told.log_start_offset, told.log_end_offset, epochs)
