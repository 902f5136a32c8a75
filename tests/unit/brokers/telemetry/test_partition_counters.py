"""Changes of the metadata, counted once each by those whose business they are."""

from uuid import UUID

from brokers.metadata.commands.replica_commands import RECOVERED, RECOVERING
from brokers.metadata.image.image import NO_LEADER, Image, ImageDelta, PartitionImage, TopicImage
from brokers.telemetry.partition_counters import PartitionCounters

REPLICAS = (1, 2, 3)


def placed(leader: int, isr: tuple[int, ...], elr: tuple[int, ...] = ()) -> PartitionImage:
    return PartitionImage(leader, 1, 1, REPLICAS, isr, elr)


class Region:
    """`now` is what the metadata says of topic t from now on, to every node."""

    def __init__(self, *partitions: tuple[int, tuple[int, ...]]) -> None:
        self.image = Image("c")
        self.nodes = {node: PartitionCounters(node) for node in REPLICAS}
        self._epoch = 0
        self.now(*partitions)

    def now(
        self,
        *partitions: tuple[int, tuple[int, ...]],
        topic_id: int = 1,
        recovery_state: int = RECOVERED,
    ) -> None:
        self._epoch += 1
        before = self.image.topics_by_name.get("t")
        placed = tuple(
            PartitionImage(
                leader, self._epoch, self._epoch, REPLICAS, isr, recovery_state=recovery_state
            )
            for leader, isr in partitions
        )
        self.image.topics_by_name["t"] = TopicImage("t", UUID(int=topic_id), placed)
        is_new = before is None or before.id != UUID(int=topic_id)
        delta = ImageDelta(
            topics_created=("t",) if is_new else (),
            topics_deleted=("t",) if is_new and before is not None else (),
            topics_changed=() if is_new else ("t",),
        )
        for changes in self.nodes.values():
            changes.follow(self.image, delta)

    def counted(self, field: str) -> list[int]:
        return [getattr(changes, field) for changes in self.nodes.values()]


def test_what_was_so_from_the_start_is_no_change() -> None:
    region = Region((1, (1,)), (NO_LEADER, ()))
    region.now((1, (1,)), (NO_LEADER, ()))
    for field in ("isr_shrinks", "isr_expands", "elections", "unclean_elections"):
        assert region.counted(field) == [0, 0, 0]


def test_in_sync_sets_are_counted_by_their_leaders_alone() -> None:
    region = Region((1, (1, 2, 3)), (2, (1, 2, 3)))
    region.now((1, (1, 2)), (2, (2,)))
    assert region.counted("isr_shrinks") == [1, 1, 0]
    region.now((1, (1, 2, 3)), (2, (2,)))
    assert region.counted("isr_expands") == [1, 0, 0]
    assert region.counted("isr_shrinks") == [1, 1, 0]
    assert region.counted("elections") == [0, 0, 0]


def test_a_replica_that_is_moved_away_has_not_fallen_behind() -> None:
    """And the one that came instead has joined, though the in-sync set is as large as it was."""
    changes, image = PartitionCounters(1), Image("c")
    moving = placed(1, (1, 2))._replace(adding=(3,), removing=(2,))
    for one in (moving, placed(1, (1, 3))._replace(replicas=(1, 3))):
        image.topics_by_name["t"] = TopicImage("t", UUID(int=1), (one,))
        changes.follow(image, ImageDelta(topics_changed=("t",)))
    assert (changes.isr_shrinks, changes.isr_expands) == (0, 1)
    image.topics_by_name["t"] = TopicImage(
        "t", UUID(int=1), (placed(1, (1,))._replace(replicas=(1,)),)
    )
    changes.follow(image, ImageDelta(topics_changed=("t",)))
    assert (changes.isr_shrinks, changes.isr_expands) == (0, 1), "one replica less was asked for"


def test_elections_are_counted_by_every_node_and_unclean_ones_apart() -> None:
    region = Region((1, (1, 2)), (1, (1, 2)))
    region.now((2, (2,)), (1, (1, 2)))
    assert region.counted("elections") == [1, 1, 1]
    assert region.counted("unclean_elections") == [0, 0, 0]
    region.now((NO_LEADER, (2,)), (1, (1, 2)))
    assert region.counted("elections") == [1, 1, 1]
    region.now((3, (3,)), (1, (1, 2)), recovery_state=RECOVERING)
    assert region.counted("elections") == [2, 2, 2]
    assert region.counted("unclean_elections") == [1, 1, 1]
    region.now((3, (3,)), (1, (1, 2)))
    assert region.counted("unclean_elections") == [1, 1, 1], "it has recovered"


def test_a_replica_that_a_reassignment_adds_is_a_clean_choice() -> None:
    """It joins the in-sync set, the others leave and it leads, all in one change."""
    changes, image = PartitionCounters(1), Image("c")
    moving = placed(1, (1,))._replace(replicas=(2, 1), adding=(2,), removing=(1,))
    for one in (moving, placed(2, (2,))._replace(replicas=(2,))):
        image.topics_by_name["t"] = TopicImage("t", UUID(int=1), (one,))
        changes.follow(image, ImageDelta(topics_changed=("t",)))
    assert (changes.elections, changes.elr_elections, changes.unclean_elections) == (1, 0, 0)


def test_an_eligible_leader_replica_is_a_clean_choice() -> None:
    changes, image = PartitionCounters(1), Image("c")
    for one in (placed(1, (1,), (2,)), placed(NO_LEADER, (), (1, 2)), placed(2, (2,))):
        image.topics_by_name["t"] = TopicImage("t", UUID(int=1), (one,))
        changes.follow(image, ImageDelta(topics_changed=("t",)))
    assert (changes.elections, changes.elr_elections, changes.unclean_elections) == (1, 1, 0)


def test_a_topic_made_again_under_its_name_has_no_past() -> None:
    region = Region((1, (1, 2, 3)))
    region.now((2, (2,)), topic_id=2)
    assert region.counted("elections") == [0, 0, 0]
    assert region.counted("isr_shrinks") == [0, 0, 0]
