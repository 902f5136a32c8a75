"""Promotes observers into the in-sync set while it lacks members, and demotes them when the members are back."""

from brokers.config.replica_placement import PromotionPolicy
from brokers.ids import BrokerId
from brokers.metadata.image.image import PartitionImage
from brokers.metadata.partitions.leader_elector import LeaderElector
from brokers.metadata.partitions.replica_rules import ReplicaRules


def promoted(
    partition: PartitionImage, rules: ReplicaRules, elector: LeaderElector
) -> PartitionImage:
    """The partition with the observers promoted that its policy requires.

    Only the leader knows which observers have caught up, so all are promoted until enough have joined the in-sync set.
    No observer is demoted while that would leave too few in sync, or no other available replica to lead.
    """
    observers = partition.all_observers
    if not observers:
        return partition
    joined = tuple(member for member in partition.isr if member in observers)
    missing = _missing(partition, observers, len(joined), rules)
    if missing > len(joined):
        return _with(partition, observers, observers)
    if missing > 0 or not _can_demote(partition, joined, rules, elector):
        return _with(partition, observers, joined)
    followers = tuple(member for member in partition.isr if member not in observers)
    return _with(partition, observers, ())._replace(isr=followers)


def _missing(
    partition: PartitionImage, observers: tuple[BrokerId, ...], joined: int, rules: ReplicaRules
) -> int:
    """How many observers the in-sync set needs."""
    followers = len(partition.isr) - joined
    match rules.placement.policy if rules.placement is not None else None:
        case PromotionPolicy.UNDER_MIN_ISR:
            return rules.min_isr - followers
        case PromotionPolicy.UNDER_REPLICATED:
            return len(partition.replicas) - len(observers) - followers
        case _:
            return len(observers) if partition.leader in observers else 0


def _can_demote(
    partition: PartitionImage,
    joined: tuple[BrokerId, ...],
    rules: ReplicaRules,
    elector: LeaderElector,
) -> bool:
    followers = [member for member in partition.isr if member not in joined]
    return not joined or (
        len(followers) >= partition.effective_min_isr(rules.min_isr)
        and any(elector.is_available(partition, each) for each in followers)
    )


def _with(
    partition: PartitionImage, observers: tuple[BrokerId, ...], promoted: tuple[BrokerId, ...]
) -> PartitionImage:
    rest = tuple(observer for observer in observers if observer not in promoted)
    chosen = tuple(observer for observer in observers if observer in promoted)
    return partition._replace(observers=rest, promoted=chosen)
