"""Bugs that others had, for the storms to find."""

from brokers.effects import Effect
from brokers.ids import Instant, Offset
from brokers.partition.isr_state import IsrState
from brokers.partition.replica import Replica
from tests.playbooks.replication.node import Node
from tests.playbooks.replication.storms import Plant


def _cut_to_the_high_watermark(nodes: list[Node]) -> None:
    """What followers did before KIP-101: what is above their own, possibly old, high watermark may be gone."""
    epochs: dict[Replica, int] = {}

    def on_placed(node: Node, replica: Replica) -> list[Effect]:
        is_new = epochs.get(replica) != replica.leader_epoch
        epochs[replica] = replica.leader_epoch
        if is_new and replica.follows and replica.log is not None:
            effects = replica.truncate(replica.high_watermark)
            if replica.log is None and replica.source is not None:
                replica.source.failed(node.world.now)
            return effects
        return []

    for node in nodes:
        node.on_placed = on_placed


class Forgetful(IsrState):
    """Counts whom the controller has confirmed, and forgets whom it was asked to add (before KIP-497)."""

    __slots__ = ()

    def committed_offset(
        self, written: Offset, leader_end: Offset, min_insync: int, now: Instant
    ) -> Offset | None:
        if len(self.isr) < self.min_isr(min_insync):
            return None
        ends = [self.followers[each].log_end_offset for each in self.isr if each in self.followers]
        return min([written, *ends])


def _forget_whom_was_asked_for(nodes: list[Node]) -> None:
    def on_placed(node: Node, replica: Replica) -> list[Effect]:
        if replica.leadership is not None:
            replica.leadership.isr_state.__class__ = Forgetful
        return []

    for node in nodes:
        node.on_placed = on_placed


def _let_anyone_in(nodes: list[Node]) -> None:
    for node in nodes:
        node.minds_epochs = False


CUT_TO_HIGH_WATERMARK = Plant(_cut_to_the_high_watermark)
FORGET_PENDING = Plant(_forget_whom_was_asked_for)
# A node must be back before the controller hears of what it was in its earlier life.
IGNORE_BROKER_EPOCH = Plant(
    _let_anyone_in, minds_epochs=False, controller_ms=(1_000,), restart_ms=(100,), sync=(False,)
)
