"""What a link commits for a group, and when it commits the same again."""

import random
from typing import Any
from uuid import UUID

import pytest

from brokers.errors import KafkaError
from brokers.ids import Offset, OffsetAndMetadata, TopicPartition
from brokers.metadata.image.image import Image, PartitionImage, TopicImage
from brokers.region import CommitOffsets, MirrorPartitionStatus, OffsetsPlaced
from linker.control.group_sync import GATHER_MS, RENEW_MS, GroupSync, clamp
from linker.control.link_settings import LinkSettings
from linker.control.mirror_reports import MirrorReports
from linker.frames import GroupOffsets
from linker.records.link_state import LinkRecord
from linker.region_client import RegionClient

START = 1_700_000_000_000
ORDERS = TopicPartition("orders", 0)


class Region:
    """The destination: a partition with [2, 8), and offsets that are stamped when they are made."""

    broker_id = 1

    def __init__(self) -> None:
        self.offsets: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self.image = Image("east")
        placed = PartitionImage(1, 0, 0, (1,), (1,))
        self.image.topics_by_name["orders"] = TopicImage("orders", UUID(int=1), (placed,))


CONFIGS = {"bootstrap.servers": "source:9092", "consumer.offset.sync.enable": "true"}


class Follower:
    """A follower, its clock, and every commit it made."""

    def __init__(self) -> None:
        self.region = Region()
        self.client = RegionClient(self.region, random.Random(1))  # type: ignore[arg-type]
        self.link = LinkSettings(LinkRecord("west-east", "id", "", CONFIGS, START), 1)
        self.client.is_coordinator = True
        status = MirrorPartitionStatus(0, 0, 2, 8, 8, -1)
        reports = MirrorReports(
            self.client, lambda topic: None, lambda topic: None, lambda place, now: status
        )
        self.mirrors = {"orders": "orders"}
        self.groups = GroupSync(self.client, self.link, self.mirrors.get, lambda: reports, list)
        self.commits: list[Offset] = []
        self.refusals: dict[str, KafkaError] = {}  # by group
        self.now = START

    def hear(self, offset: Offset, group: str = "billing") -> None:
        committed = {ORDERS: OffsetAndMetadata(offset, committed_at=START)}
        self._take(self.groups.on_offsets(GroupOffsets(group, committed), self.now))
        self.pass_time(GATHER_MS)

    def pass_time(self, milliseconds: int) -> None:
        until = self.now + milliseconds
        while (due := self.client.timers.deadline) is not None and due <= until:
            self.now = max(self.now, due)
            for act in self.client.timers.due(self.now):
                self._take(act(self.now))
        self.now = until

    def _take(self, effects: list[Any]) -> None:
        for effect in effects:
            if isinstance(effect, CommitOffsets) and effect.group in self.refusals:
                refused = OffsetsPlaced(effect.ticket, self.refusals[effect.group])
                self._take(self.client.answered(refused, self.now))
            elif isinstance(effect, CommitOffsets):
                made = {
                    key: value._replace(committed_at=self.now)
                    for key, value in effect.offsets.items()
                }
                self.region.offsets.setdefault(effect.group, {}).update(made)
                self.commits.append(made[ORDERS].offset)
                placed = OffsetsPlaced(effect.ticket, KafkaError.NONE)
                self._take(self.client.answered(placed, self.now))


def test_a_commit_is_made_once_and_renewed_before_it_could_expire() -> None:
    follower = Follower()
    follower.hear(5)
    assert follower.commits == [5]
    follower.pass_time(RENEW_MS - 2 * GATHER_MS)
    assert follower.commits == [5]
    follower.pass_time(6 * RENEW_MS)
    assert len(follower.commits) >= 6 and set(follower.commits) == {5}
    age = follower.now - follower.region.offsets["billing"][ORDERS].committed_at
    assert age <= 2 * RENEW_MS


@pytest.mark.parametrize("error", [KafkaError.NON_EMPTY_GROUP, KafkaError.NOT_COORDINATOR])
def test_no_group_waits_for_another_one_that_cannot_be_committed(error: KafkaError) -> None:
    follower = Follower()
    follower.refusals["busy"] = error
    follower.hear(3, "busy")
    follower.pass_time(10 * GATHER_MS)
    follower.hear(5)
    assert follower.commits == [5]


def test_a_group_whose_coordinator_moves_is_committed_within_a_second() -> None:
    follower = Follower()
    follower.refusals["billing"] = KafkaError.NOT_COORDINATOR
    follower.hear(5)
    assert follower.groups.refused == {"billing": KafkaError.NOT_COORDINATOR}
    follower.refusals.clear()
    follower.pass_time(1_000 - GATHER_MS)
    assert (follower.commits, follower.groups.refused) == ([5], {})


def test_what_came_before_the_mirror_is_committed_when_it_is_there() -> None:
    follower = Follower()
    follower.mirrors.clear()
    follower.hear(5)
    assert follower.commits == []
    follower.mirrors["orders"] = "orders"
    follower.groups.mirror_added("orders", follower.now)
    follower.pass_time(GATHER_MS)
    assert follower.commits == [5]


def test_the_same_commit_again_is_not_made_again() -> None:
    follower = Follower()
    follower.hear(5)
    follower.hear(5)
    follower.hear(6)
    assert follower.commits == [5, 6]


def test_a_commit_is_clamped_to_what_the_mirror_holds() -> None:
    assert [clamp(offset, 2, 8) for offset in (0, 2, 5, 8, 9)] == [2, 2, 5, 8, 8]


def test_a_commit_beyond_the_source_s_log_does_not_keep_a_topic_unsettled() -> None:
    """Kafka takes any offset: such a group would never let a promotion or a reversal of the topic end."""
    follower = Follower()
    follower.hear(600)
    assert (follower.commits, follower.groups.settled(ORDERS.topic, follower.now)) == ([8], True)
    committed = {ORDERS: OffsetAndMetadata(7, committed_at=START)}
    follower.groups.on_offsets(GroupOffsets("billing", committed), follower.now)
    assert not follower.groups.settled(ORDERS.topic, follower.now)  # until it is committed
    follower.pass_time(GATHER_MS)
    assert (follower.commits, follower.groups.settled(ORDERS.topic, follower.now)) == ([8, 7], True)


def test_a_commit_below_the_mirror_s_log_start_is_not_moved_up_to_it() -> None:
    """The group would skip what lies between: records that it has not read."""
    follower = Follower()
    follower.hear(1)
    assert follower.commits == []
    assert follower.groups.before_start == {"billing": [(ORDERS, 1)]}
    assert follower.groups.settled(ORDERS.topic, follower.now)
    follower.hear(2)
    assert (follower.commits, follower.groups.before_start) == ([2], {})


@pytest.mark.parametrize(
    "off",
    [
        {},
        {
            "consumer.offset.sync.enable": "true",
            "consumer.offset.group.filters": '{"groupFilters":[{"name":"other",'
            '"patternType":"LITERAL","filterType":"INCLUDE"}]}',
        },
    ],
)
def test_a_group_that_is_carried_no_more_is_left_where_an_operator_puts_it(
    off: dict[str, str],
) -> None:
    follower = Follower()
    follower.hear(5)
    configs = {"bootstrap.servers": "source:9092", **off}
    follower.link.adopt(LinkRecord("west-east", "id", "", configs, START), 2)
    follower.groups.narrow()
    follower.region.offsets["billing"][ORDERS] = OffsetAndMetadata(3, committed_at=follower.now)
    follower.pass_time(2 * RENEW_MS)
    follower.hear(7)  # under way while the filters changed
    assert follower.commits == [5]
