"""Cuts from a mirror partition's log what its source does not have, and ends the leader epoch in which it had that.

Followers have acknowledged what is cut, so nothing counts that they have said in this leader epoch. The partition is
offline until the next one.
"""

from functools import partial
from typing import Final

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs
from brokers.region import Placed, PlaceRefused, TruncateMirror
from linker.data.mirror_link import Divergence, ReplicatorHost
from linker.region_client import Done, Effects, RegionClient

RETRY_MS: Final = 500


def begin(
    region: RegionClient,
    host: ReplicatorHost,
    writer: str,
    partition: TopicPartition,
    offset: Offset,
    done: Done,
    now: Instant,
) -> Effects:
    """`done` receives a `Refusal` of the truncation; None once the partition has another leader epoch, or leader, or is
    not to be truncated any more."""

    def sealed(refusal: Refusal | None, at: Instant) -> Effects:
        is_to_be = host.on_divergence(partition, offset) is Divergence.TRUNCATE
        if refusal is not None or not is_to_be:
            return done(refusal, at)
        return [
            region.ask(lambda ticket: TruncateMirror(ticket, writer, partition, offset), answered)
        ]

    def answered(answer: Placed | PlaceRefused, now: Instant) -> Effects:
        if isinstance(answer, PlaceRefused):
            return done(Refusal(answer.error, answer.because), now)
        because = f"its source has other records from offset {offset} on"
        changed = Changed(f"mirror {partition}", "truncated", because)
        state = region.view.partition_state(partition)
        epoch = state.leader_epoch if state is not None else -1
        return [changed, *_end_epoch(region, partition, epoch, done, now)]

    return host.before_cut(partition, sealed, now)


def _end_epoch(
    region: RegionClient,
    partition: TopicPartition,
    epoch: LeaderEpoch,
    done: Done,
    now: Instant,
) -> Effects:
    """Ask for the next leader epoch until it is there."""
    state = region.view.partition_state(partition)
    if state is None or not state.is_leader or state.leader_epoch != epoch:
        return done(None, now)
    again = partial(_end_epoch, region, partition, epoch, done)

    def raised(result: object, at: Instant) -> Effects:
        if isinstance(result, Refusal):
            region.timers.set(at + RETRY_MS, again)
            return []
        return again(at)

    wanted = {partition.partition: epoch + 1}
    command = RaiseLeaderEpochs(topic=partition.topic, leader_epochs=wanted)
    return region.raise_leader_epochs(command, raised)
