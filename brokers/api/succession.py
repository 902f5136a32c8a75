"""Who leads next, while a leader shuts down: said to clients before it happens, so that they are there in time.

A leader that shuts down is known to all before it hands over. Meanwhile it acknowledges what arrives, and names the one
after it (KIP-951); a client that looks at this moves without an error, so without its backoff. Who is named lets such
requests wait until it leads: they come after all that the old leader took, and the order of a client is kept.
"""

from collections.abc import Iterable

from brokers.api.context import Context
from brokers.api.leaders import CurrentLeader
from brokers.ids import TopicPartition
from brokers.metadata.departures import without
from brokers.metadata.elections import Election, Electorate
from brokers.metadata.image import NO_LEADER


def successor(context: Context, partition: TopicPartition) -> CurrentLeader | None:
    """As the controller will decide; None where the leader stays, or nobody can take over without a loss."""
    image = context.image
    placed = image.partition(partition)
    if placed is None or placed.leader not in context.handover.leaving:
        return None
    electorate = Electorate(image, context.config.preferred_racks, out=(placed.leader,))
    leader, is_unclean = electorate.elect(without(placed, placed.leader), Election.ANY)
    if leader == NO_LEADER or is_unclean:
        return None
    return CurrentLeader(leader, placed.leader_epoch + 1, image.brokers[leader])


def is_early(context: Context, partitions: Iterable[TopicPartition]) -> bool:
    """Whether any of them is one that this node will lead in a moment."""
    if not context.handover.leaving:
        return False
    after = (successor(context, partition) for partition in partitions)
    return any(each is not None and each.leader == context.config.node_id for each in after)
